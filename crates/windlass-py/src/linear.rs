//! The Python class of planned matrices.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::ring::kernels::Mapping;

use crate::array::PyCiphertext;
use crate::either::on_kind;
use crate::error::plain;
use crate::handle::ServerKind;
use crate::matrix::{Matrix, Plan, PyLinear, level_of, other_scheme};
use crate::memory::check_memory;
use crate::numbers::Numbers;
use crate::prepared::PyPrepared;
use crate::runtime::{long, quick};
use crate::server::PyServer;
use crate::setting::PyContext;

impl PyLinear {
    /// The dtype of a matrix that was not given.
    fn dtype(&self) -> &'static str {
        if self.inner.setting.is_exact() { "int64" } else { "float64" }
    }
}

#[pymethods]
impl PyLinear {
    /// (outputs, inputs).
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.matrix.rows(), self.inner.matrix.columns())
    }

    /// The entries of the matrix.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray, shape (outputs, inputs)
    #[getter]
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix_to_numpy(py, &self.inner.matrix, self.dtype())
    }

    /// The vector that is added to the product, or None.
    #[getter]
    fn bias(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.inner.bias.as_ref().map(|(bias, _)| bias.clone_ref(py))
    }

    /// Describes the algorithm, its time on this machine, and its keys.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear([[1, 2], [3, 4]])
    /// >>> layer.explain().splitlines()[0]
    /// 'matrix of 2 x 2, direct'
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        quick(py, || {
            let prices = self.inner.setting.prices();
            Ok(self.inner.plan.common().explain_at(&prices))
        })
    }

    /// The name of the algorithm.
    #[getter]
    fn strategy(&self) -> String {
        on_kind!(&self.inner.plan, plan => plan.products().strategy().to_string())
    }

    /// The automorphisms that need Galois keys, in increasing order. No other keys are needed.
    #[getter]
    fn required_keys(&self) -> Vec<u64> {
        self.inner.plan.common().required_keys().into_iter().collect()
    }

    /// Whether the matrix is packed in blocks whose products are added afterwards, which needs
    /// fewer diagonals if it has few rows (Juvekar, Vaikuntanathan, Chandrakasan 2018, section
    /// 4.2).
    #[getter]
    fn folded(&self) -> bool {
        self.inner.is_folded()
    }

    /// The automorphisms of the products: the diagonals that are not zero.
    #[getter]
    fn diagonals(&self) -> Vec<u64> {
        on_kind!(&self.inner.plan, plan => plan.products().grid().support())
    }

    /// Bits of capacity that the product takes, without those of key switches.
    #[getter]
    fn capacity_bits(&self) -> f64 {
        on_kind!(&self.inner.plan, plan => plan.products().capacity_bits())
    }

    /// The levels that a product takes: 1 in CKKS, 0 for integers, whose parameters are planned
    /// with ``linear_maps`` in addition to ``depth``.
    #[getter]
    fn depth(&self) -> usize {
        usize::from(!self.inner.setting.is_exact())
    }

    /// The shape (outputs, inputs) in ciphertexts.
    #[getter]
    fn grid(&self) -> (usize, usize) {
        on_kind!(&self.inner.plan, plan => (plan.products().grid().rows(), plan.products().grid().columns()))
    }

    /// Counts the operations of one product.
    ///
    /// Returns
    /// -------
    /// dict
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear([[1, 2], [3, 4]])
    /// >>> layer.operations()["keys"] == len(layer.required_keys)
    /// True
    fn operations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let count = self.inner.plan.common().count();
        let dict = PyDict::new(py);
        for (name, times) in [
            ("hoist", count.hoists),
            ("hoisted_automorphism", count.hoisted_automorphisms),
            ("giant_step", count.extended_automorphisms),
            ("automorphism", count.automorphisms),
            ("constant_product", count.constant_products),
            ("mod_down", count.mod_downs),
        ] {
            dict.set_item(name, times)?;
        }
        dict.set_item("keys", count.keys)?;
        dict.set_item("constants", on_kind!(&self.inner.plan, plan => plan.products().constants()))?;
        Ok(dict)
    }

    /// Converts the constants for a server now, instead of at the first product.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    /// like : Ciphertext, optional
    ///     CKKS only: a ciphertext at the level of the products; by default the highest level.
    /// progress : bool or callable, optional
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear([[1, 2], [3, 4]])
    /// >>> client, server = context.generate_keys(layer)
    /// >>> layer.prepare(server)
    /// >>> client.decrypt(layer @ server.receive(client.encrypt([1, 1])))
    /// array([3, 7])
    #[pyo3(signature = (server, like=None, *, progress=None))]
    fn prepare(
        &self,
        py: Python<'_>,
        server: &PyServer,
        like: Option<&PyCiphertext>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (inner, kind, level) = (Arc::clone(&self.inner), server.handle.open(py)?, level_of(py, &self.inner, like)?);
        long(py, progress, "constants", move |_| match (&*kind, &inner.plan) {
            (ServerKind::Exact(s), Plan::Exact(plan)) => {
                s.prepare_at(plan.products(), s.context().params().top_level())
            }
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.prepare_at(plan.products(), level),
            _ => Err(other_scheme()),
        })
    }

    /// Returns the constants, converted for the products of a server, for a pickle or a file.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    ///     A server of the context. If it has the constants already, they are used.
    /// like : Ciphertext, optional
    ///     CKKS only: a ciphertext at the level of the products; by default the highest level.
    ///
    /// Returns
    /// -------
    /// PreparedPlan
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear([[1, 2], [3, 4]])
    /// >>> client, server = context.generate_keys(layer)
    /// >>> plan = layer.prepared(server).install(server)
    /// >>> client.decrypt(plan @ server.receive(client.encrypt([1, 1])))
    /// array([3, 7])
    #[pyo3(signature = (server, like=None))]
    fn prepared(&self, py: Python<'_>, server: &PyServer, like: Option<&PyCiphertext>) -> PyResult<PyPrepared> {
        let (inner, kind, level) = (Arc::clone(&self.inner), server.handle.open(py)?, level_of(py, &self.inner, like)?);
        let bytes = long(py, None, "constants", move |_| match (&*kind, &inner.plan) {
            (ServerKind::Exact(s), Plan::Exact(plan)) => s.prepared_to_bytes(plan.products()),
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.prepared_to_bytes(plan.products(), level),
            _ => Err(other_scheme()),
        })?;
        Ok(PyPrepared { inner: Arc::clone(&self.inner), bytes: Arc::new(Mapping::of_memory(bytes)) })
    }

    /// Writes the converted constants to a new file, which processes can map.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    /// path : str or os.PathLike
    /// like : Ciphertext, optional
    ///     As of :meth:`prepared`.
    ///
    /// Returns
    /// -------
    /// int
    ///     Bytes written.
    #[pyo3(signature = (server, path, *, like=None))]
    fn save_prepared(
        &self,
        py: Python<'_>,
        server: &PyServer,
        path: PathBuf,
        like: Option<&PyCiphertext>,
    ) -> PyResult<u64> {
        let (inner, kind, level) = (Arc::clone(&self.inner), server.handle.open(py)?, level_of(py, &self.inner, like)?);
        long(py, None, "constants", move |_| match (&*kind, &inner.plan) {
            (ServerKind::Exact(s), Plan::Exact(plan)) => s.save_prepared(plan.products(), &path),
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.save_prepared(plan.products(), level, &path),
            _ => Err(other_scheme()),
        })
    }

    /// Maps the constants in a file that :meth:`save_prepared` wrote. Processes that map one file
    /// share one copy of it in memory. The file may be removed afterwards.
    ///
    /// **Warning.** If someone writes to the file afterwards, products are wrong without an error.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    ///     The server, which uses them in its next products with this matrix.
    /// path : str or os.PathLike
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file is not whole, or belongs to another context or matrix.
    fn map_prepared(&self, py: Python<'_>, server: &PyServer, path: PathBuf) -> PyResult<()> {
        let (inner, kind) = (Arc::clone(&self.inner), server.handle.open(py)?);
        long(
            py,
            None,
            "constants",
            move |_| on_kind!((&*kind, &inner.plan), (s, plan) => s.open_prepared(plan.products(), &path), else Err(other_scheme())),
        )
    }

    /// Plots the diagonals and keys; needs matplotlib.
    ///
    /// Returns
    /// -------
    /// matplotlib.figure.Figure
    fn plot<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyModule::import(slf.py(), "windlass.plots")?.call_method1("linear", (slf,))
    }

    fn __matmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<PyCiphertext> {
        let py = other.py();
        let x = other.cast::<PyCiphertext>().map_err(|_| {
            plain(py, "DTypeError", "layer @ x needs an encrypted vector: layer @ server.receive(client.encrypt(x)); for a vector in the clear use layer.matrix @ x")
        })?;
        if x.get().layout.dims.len() != 1 {
            return Err(plain(
                py,
                "ShapeError",
                format!(
                    "layer @ x multiplies one vector, but this array has the shape {}: layer(x) multiplies every row",
                    x.get().layout.in_words()
                ),
            ));
        }
        self.inner.apply(py, x.get(), None)
    }

    /// Multiplies every row of an encrypted array by the matrix. Raises :class:`ShapeError` if rows
    /// do not have ``inputs`` entries, and :class:`MissingGaloisKey` before any work.
    ///
    /// Parameters
    /// ----------
    /// x : Ciphertext
    ///     Of shape (..., inputs).
    /// progress : bool or callable, optional
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///     Of shape (..., outputs).
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear([[1, 2], [3, 4]])
    /// >>> client, server = context.generate_keys(layer)
    /// >>> client.decrypt(layer(server.receive(client.encrypt([[1, 0], [0, 1]]))))
    /// array([[1, 3],
    ///        [2, 4]])
    #[pyo3(signature = (x, *, progress=None))]
    fn __call__(
        &self,
        py: Python<'_>,
        x: &PyCiphertext,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyCiphertext> {
        let quiet = pyo3::types::PyBool::new(py, false);
        let progress = progress.or((x.layout.rows == 1).then_some(quiet.as_any()));
        self.inner.apply(py, x, progress)
    }

    /// The context of the plan.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.inner.setting) }
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = self.shape();
        format!(
            "<windlass.LinearPlan ({rows}, {columns}), {}, {} keys, {}>",
            self.strategy(),
            self.required_keys().len(),
            self.inner.setting.in_words()
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.get().explain(slf.py())?,))?.extract()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else { return Ok(false) };
        let other = &other.get().inner;
        if !self.inner.setting.same(&other.setting)
            || self.inner.matrix != other.matrix
            || self.inner.spec != other.spec
        {
            return Ok(false);
        }
        let same = crate::numbers::numpy(py)?.getattr("array_equal")?;
        match (&self.inner.bias, &other.bias) {
            (None, None) => Ok(true),
            (Some((own, _)), Some((others, _))) => same.call1((own, others))?.extract(),
            _ => Ok(false),
        }
    }

    fn __hash__(&self) -> usize {
        self.inner.matrix.rows() + (self.inner.matrix.columns() << 20)
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, _protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let inner = &self.inner;
        if let Matrix::Filter { taps, length, start, outputs } = &inner.matrix {
            let parts = (inner.setting.state.clone(), taps.clone(), *length, *start, *outputs);
            return crate::pickle::reduce(py, "restore_filter", parts);
        }
        if let Matrix::Blocks { columns, entries, count, stride } = &inner.matrix {
            let parts = (inner.setting.state.clone(), *columns, entries.clone(), *count, *stride);
            return crate::pickle::reduce(py, "restore_blocks", parts);
        }
        let (roll, matrix) = match &inner.matrix {
            Matrix::Roll { length, shift } => (Some((*length, *shift)), py.None().into_bound(py)),
            matrix => (None, matrix_to_numpy(py, matrix, self.dtype())?),
        };
        let spec =
            (inner.spec.strategy.clone(), inner.spec.max_keys, inner.spec.keys.clone(), inner.spec.folding.clone());
        crate::pickle::reduce(py, "restore_linear", (inner.setting.state.clone(), (matrix, self.bias(py)), spec, roll))
    }
}

fn matrix_to_numpy<'py>(py: Python<'py>, matrix: &Matrix, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
    let array = match matrix {
        Matrix::Integers { entries, numbers: Numbers::Unsigned, .. } => {
            numpy::PyArray1::from_vec(py, entries.iter().map(|&x| x as u64).collect()).into_any()
        }
        Matrix::Integers { entries, .. } => numpy::PyArray1::from_slice(py, entries).into_any(),
        Matrix::Complex { entries, numbers: Numbers::Complex, .. } => {
            numpy::PyArray1::from_slice(py, entries).into_any()
        }
        Matrix::Complex { entries, .. } => {
            numpy::PyArray1::from_vec(py, entries.iter().map(|z| z.re).collect()).into_any()
        }
        Matrix::Filter { taps, length, start, outputs } => {
            let mut dense = vec![0.0; outputs * length];
            Matrix::filtered(taps, *length, *start, *outputs).for_each(|(i, k, value)| dense[i * length + k] = value);
            numpy::PyArray1::from_vec(py, dense).into_any()
        }
        Matrix::Blocks { columns, entries, count, stride } => {
            let width = count * stride;
            check_memory(
                py,
                "the entries of the matrix",
                (width as u64).saturating_mul(width as u64).saturating_mul(8),
            )?;
            let mut dense = vec![0.0; width * width];
            Matrix::in_blocks(*columns, entries, *count, *stride)
                .for_each(|(i, k, value)| dense[i * width + k] = value);
            numpy::PyArray1::from_vec(py, dense).into_any()
        }
        Matrix::Roll { length, shift } => {
            let eye = crate::numbers::numpy(py)?.getattr("eye")?.call1((*length, py.None(), 0, dtype))?;
            return crate::numbers::numpy(py)?.getattr("roll")?.call1((eye, *shift, 0));
        }
    };
    array.call_method1("reshape", (matrix.rows(), matrix.columns()))
}
