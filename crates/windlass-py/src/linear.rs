//! Matrices.

use std::path::PathBuf;
use std::sync::Arc;

use num_complex::Complex64;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rayon::prelude::*;
use windlass::circuits::linear::Prepares;
use windlass::circuits::{ComplexSlots, LinearGrid, LinearPlan, PlanSpec};
use windlass::needs::KeyRequest;
use windlass::ring::kernels::Mapping;
use windlass::{Error, NeedsKeys, Result};

use crate::ciphertext::{Parts, PyCiphertext};
use crate::context::{Kind, Setting};
use crate::error::plain;
use crate::numbers::{Numbers, Slice, values};
use crate::operators::{self, Operand};
use crate::prepared::PyPrepared;
use crate::runtime::{check_memory, long, stopped};
use crate::server::{PyServer, ServerKind};

/// The entries of a matrix, row by row.
pub enum Matrix {
    /// Integers.
    Integers { rows: usize, columns: usize, entries: Vec<i64>, numbers: Numbers },
    /// Real or complex numbers.
    Complex { rows: usize, columns: usize, entries: Vec<Complex64>, numbers: Numbers },
    /// The permutation of a cyclic shift.
    Roll { length: usize, shift: usize },
}

/// What a plan may use.
#[derive(Clone)]
pub struct LinearSpec {
    pub strategy: String,
    pub max_keys: Option<usize>,
    pub keys: Option<Vec<u64>>,
}

impl Default for LinearSpec {
    fn default() -> Self {
        Self { strategy: "automatic".into(), max_keys: None, keys: None }
    }
}

/// A plan of either kind.
enum Plan {
    Exact(LinearPlan),
    Approximate(LinearPlan<ComplexSlots>),
}

/// A matrix with its plan.
pub struct LinearInner {
    pub setting: Arc<Setting>,
    matrix: Matrix,
    spec: LinearSpec,
    plan: Plan,
    /// The bias as it was given, and its numbers.
    bias: Option<(Py<PyAny>, Numbers)>,
}

/// Whatever is asked of the plan of either kind.
macro_rules! on_plan {
    ($inner:expr, |$plan:ident| $body:expr) => {
        match &$inner.plan {
            Plan::Exact($plan) => $body,
            Plan::Approximate($plan) => $body,
        }
    };
}

impl Matrix {
    fn rows(&self) -> usize {
        match self {
            Self::Integers { rows, .. } | Self::Complex { rows, .. } => *rows,
            Self::Roll { length, .. } => *length,
        }
    }

    fn columns(&self) -> usize {
        match self {
            Self::Integers { columns, .. } | Self::Complex { columns, .. } => *columns,
            Self::Roll { length, .. } => *length,
        }
    }

    /// (row, column) of the ones of a cyclic shift: entry i goes to i + shift.
    fn shifts(length: usize, shift: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..length).map(move |row| (row, (row + length - shift) % length))
    }
}

impl LinearInner {
    /// Plans a matrix.
    pub fn new(setting: &Arc<Setting>, matrix: Matrix, spec: LinearSpec) -> Result<Self> {
        let plan_spec = PlanSpec {
            strategy: spec.strategy.parse()?,
            max_keys: spec.max_keys,
            keys: spec.keys.as_ref().map(|keys| keys.iter().copied().collect()),
            ..PlanSpec::default()
        };
        let plan = match &setting.kind {
            Kind::Exact(context) => {
                let grid = match &matrix {
                    Matrix::Integers { columns, entries, .. } => {
                        let rows: Vec<&[i64]> = entries.chunks(*columns).collect();
                        LinearGrid::from_dense(context.ring(), &rows)?
                    }
                    Matrix::Roll { length, shift } => {
                        let ones = Matrix::shifts(*length, *shift).map(|(row, column)| (row, column, 1));
                        LinearGrid::from_sparse(context.ring(), *length, *length, ones)?
                    }
                    Matrix::Complex { .. } => unreachable!("exact contexts take integers"),
                };
                Plan::Exact(LinearPlan::for_grid(&grid, &plan_spec)?)
            }
            Kind::Approximate(context) => {
                let slots = context.vectors(context.slots())?;
                let (rows, columns) = (matrix.rows(), matrix.columns());
                let grid = match &matrix {
                    Matrix::Complex { columns: width, entries, .. } => {
                        let entries = entries.iter().enumerate().map(|(k, &z)| (k / width, k % width, z));
                        LinearGrid::sparse_matrix(&slots, rows, columns, entries)?
                    }
                    Matrix::Roll { length, shift } => {
                        let ones = Matrix::shifts(*length, *shift).map(|(row, column)| (row, column, Complex64::ONE));
                        LinearGrid::sparse_matrix(&slots, rows, columns, ones)?
                    }
                    Matrix::Integers { .. } => unreachable!("approximate contexts take complex numbers"),
                };
                Plan::Approximate(LinearPlan::for_grid(&grid, &plan_spec)?)
            }
        };
        Ok(Self { setting: Arc::clone(setting), matrix, spec, plan, bias: None })
    }

    pub fn key_request(&self) -> KeyRequest {
        on_plan!(self, |plan| plan.key_request())
    }

    fn numbers(&self) -> Option<Numbers> {
        match &self.matrix {
            Matrix::Integers { numbers, .. } | Matrix::Complex { numbers, .. } => Some(*numbers),
            Matrix::Roll { .. } => None,
        }
    }

    /// The product with every row of an encrypted array.
    pub fn apply(
        self: &Arc<Self>,
        py: Python<'_>,
        x: &PyCiphertext,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyCiphertext> {
        x.check_context(py, &self.setting, "matrix product")?;
        if x.layout.length != self.matrix.columns() || !x.layout.is_packed() || x.layout.dims.is_empty() {
            let (rows, columns) = (self.matrix.rows(), self.matrix.columns());
            let message = format!(
                "a matrix of shape ({rows}, {columns}) does not multiply vectors of {} entries",
                x.layout.length
            );
            return Err(plain(py, "ShapeError", message));
        }
        let (server, parts, own, chunks) = (x.server(py)?, Arc::clone(&x.parts), Arc::clone(self), x.chunks());
        let products = long(py, progress, "matrix product", move |ticker| {
            let count = parts.len() / chunks;
            let step = || if ticker.tick(count).is_break() { Err(stopped("matrix product")) } else { Ok(()) };
            Ok(match (&*server, &*parts, &own.plan) {
                (ServerKind::Exact(s), Parts::Exact(list), Plan::Exact(plan)) => {
                    Parts::Exact(rows_of(list, chunks, |row| {
                        let product = match row {
                            [only] if plan.grid().rows() == 1 => vec![s.apply(plan, only)?],
                            _ => s.apply_grid(plan, row)?,
                        };
                        step().map(|()| product)
                    })?)
                }
                (ServerKind::Approximate(s), Parts::Approximate(list), Plan::Approximate(plan)) => {
                    Parts::Approximate(rows_of(list, chunks, |row| {
                        let product = match row {
                            [only] if plan.grid().rows() == 1 => vec![s.apply(plan, only)?],
                            _ => s.apply_grid(plan, row)?,
                        };
                        step().map(|()| product)
                    })?)
                }
                _ => unreachable!("contexts are the same"),
            })
        })?;
        let numbers = self.numbers().map_or(x.numbers, |numbers| x.numbers.joined(numbers));
        let product = x.result(products, x.layout.with_length(self.matrix.rows()), numbers, true);
        match &self.bias {
            None => Ok(product),
            Some((bias, _)) => operators::add(&product, Operand::of(&product, bias.bind(py))?),
        }
    }
}

impl LinearInner {
    /// Constants in memory, for the next products of a server.
    pub fn share_prepared(&self, kind: &ServerKind, memory: Arc<Mapping>) -> Result<()> {
        match (kind, &self.plan) {
            (ServerKind::Exact(s), Plan::Exact(plan)) => s.share_prepared(plan, memory),
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.share_prepared(plan, memory),
            _ => Err(other_scheme()),
        }
    }
}

/// The level that constants are to meet: of no account for exact contexts, whose constants serve all.
fn level_of(py: Python<'_>, inner: &LinearInner, like: Option<&PyCiphertext>) -> PyResult<usize> {
    let Kind::Approximate(context) = &inner.setting.kind else { return Ok(0) };
    let Some(like) = like else { return Ok(context.ckks().top_level()) };
    like.check_context(py, &inner.setting, "prepare")?;
    let (server, parts) = (like.server(py)?, Arc::clone(&like.parts));
    crate::runtime::quick(py, || match (&*server, &*parts) {
        (ServerKind::Approximate(s), Parts::Approximate(list)) => s.engine().level_for(&list[0]),
        _ => Err(other_scheme()),
    })
}

fn other_scheme() -> Error {
    let (left, right) = ("a matrix".to_owned(), "a server of another scheme".to_owned());
    Error::ContextMismatch { operation: "constants", left, right }
}

/// The products of all rows, one after the other in memory; the first by itself, since it converts
/// the constants that the others use.
fn rows_of<C: Sync + Send>(
    list: &[C],
    chunks: usize,
    one: impl Fn(&[C]) -> Result<Vec<C>> + Sync + Send,
) -> Result<Vec<C>> {
    let Some((first, rest)) = list.split_at_checked(chunks) else { return Ok(Vec::new()) };
    let mut all = one(first)?;
    let rest: Vec<Vec<C>> = rest.par_chunks(chunks).map(&one).collect::<Result<_>>()?;
    all.extend(rest.into_iter().flatten());
    Ok(all)
}

/// A matrix, planned: ``layer @ x`` multiplies an encrypted vector, ``layer(x)`` every row of an
/// encrypted array.
///
/// Made by :meth:`Context.linear`; pickled by its entries, and planned again as it was.
#[pyclass(frozen, weakref, name = "LinearPlan", module = "windlass")]
pub struct PyLinear {
    pub inner: Arc<LinearInner>,
}

impl PyLinear {
    /// Checks a matrix and plans it.
    pub fn make(
        py: Python<'_>,
        setting: &Arc<Setting>,
        matrix: &Bound<'_, PyAny>,
        bias: Option<&Bound<'_, PyAny>>,
        spec: LinearSpec,
    ) -> PyResult<Self> {
        let array = values(matrix, setting.is_exact())?;
        let (rows, columns) = match array.shape() {
            [rows, columns] if *rows > 0 && *columns > 0 => (*rows, *columns),
            shape => {
                return Err(plain(
                    py,
                    "ShapeError",
                    format!("a matrix has the shape (outputs, inputs), with at least one of each, and not {shape:?}"),
                ));
            }
        };
        array.check(py, "matrix", setting.modulus())?;
        check_size(py, setting, rows, columns)?;
        let numbers = array.numbers();
        let entries = match array.slice()? {
            Slice::Signed(list) => Matrix::Integers { rows, columns, entries: list.to_vec(), numbers },
            Slice::Unsigned(list) => {
                Matrix::Integers { rows, columns, entries: list.iter().map(|&x| x as i64).collect(), numbers }
            }
            Slice::Real(list) => {
                Matrix::Complex { rows, columns, entries: windlass::schemes::ckks::complex(list), numbers }
            }
            Slice::Complex(list) => Matrix::Complex { rows, columns, entries: list.to_vec(), numbers },
        };
        let own = match bias {
            None => None,
            Some(bias) => {
                let array = values(bias, setting.is_exact())?;
                if array.shape() != [rows] {
                    return Err(plain(
                        py,
                        "ShapeError",
                        format!(
                            "the bias of a matrix with {rows} rows has the shape ({rows},), and not {:?}",
                            array.shape()
                        ),
                    ));
                }
                array.check(py, "bias", setting.modulus())?;
                // A copy: what the caller does with the array later changes nothing here.
                Some((crate::numbers::numpy(py)?.getattr("array")?.call1((bias,))?.unbind(), array.numbers()))
            }
        };
        let setting = Arc::clone(setting);
        let mut inner = long(py, None, "planning", move |_| LinearInner::new(&setting, entries, spec))?;
        inner.bias = own;
        Ok(Self { inner: Arc::new(inner) })
    }
}

/// Refuses matrices whose diagonals would not find room: for each ciphertext of the grid no more than
/// rows and columns together, and no more than slots.
pub fn check_size(py: Python<'_>, setting: &Setting, rows: usize, columns: usize) -> PyResult<()> {
    let slots = setting.slots() as u64;
    let blocks = (rows as u64).div_ceil(slots).saturating_mul((columns as u64).div_ceil(slots));
    let diagonals = (rows as u64).min(slots).saturating_add((columns as u64).min(slots)).min(slots);
    let each = if setting.is_exact() { 8 } else { 16 };
    let entries = (rows as u64).saturating_mul(columns as u64);
    let bytes = blocks.saturating_mul(diagonals).saturating_mul(slots).saturating_add(entries).saturating_mul(each);
    check_memory(py, "the diagonals of the matrix", bytes)
}

#[pymethods]
impl PyLinear {
    /// (outputs, inputs).
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.matrix.rows(), self.inner.matrix.columns())
    }

    /// The entries.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray, shape (outputs, inputs)
    #[getter]
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        matrix_to_numpy(py, &self.inner.matrix)
    }

    /// What is added to the product, if anything is.
    #[getter]
    fn bias(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.inner.bias.as_ref().map(|(bias, _)| bias.clone_ref(py))
    }

    /// How it will be computed, in how much time, with which keys: on this machine.
    fn explain(&self) -> String {
        let prices = self.inner.setting.prices();
        on_plan!(self.inner, |plan| plan.explain_at(&prices))
    }

    /// The name of the algorithm.
    #[getter]
    fn strategy(&self) -> String {
        on_plan!(self.inner, |plan| plan.strategy().to_string())
    }

    /// The automorphisms that need Galois keys, increasing: with just these it runs.
    #[getter]
    fn required_keys(&self) -> Vec<u64> {
        on_plan!(self.inner, |plan| plan.required_keys().into_iter().collect())
    }

    /// The automorphisms that occur in the matrix, which is to say its diagonals.
    #[getter]
    fn diagonals(&self) -> Vec<u64> {
        on_plan!(self.inner, |plan| plan.grid().support())
    }

    /// Bits of capacity that the product takes, key switches aside.
    #[getter]
    fn capacity_bits(&self) -> f64 {
        on_plan!(self.inner, |plan| plan.capacity_bits())
    }

    /// (outputs, inputs) in ciphertexts.
    #[getter]
    fn grid(&self) -> (usize, usize) {
        on_plan!(self.inner, |plan| (plan.grid().rows(), plan.grid().columns()))
    }

    /// How often each operation is used.
    ///
    /// Returns
    /// -------
    /// dict
    fn operations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let count = on_plan!(self.inner, |plan| plan.count());
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
        dict.set_item("constants", on_plan!(self.inner, |plan| plan.constants()))?;
        Ok(dict)
    }

    /// Converts the constants for a server, as the first product would.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    /// like : Ciphertext, optional
    ///     CKKS alone: a ciphertext of the level that they shall meet; without one the highest.
    /// progress : bool or callable, optional
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
            (ServerKind::Exact(s), Plan::Exact(plan)) => s.prepare_at(plan, s.context().params().rlwe().top_level()),
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.prepare_at(plan, level),
            _ => Err(other_scheme()),
        })
    }

    /// The constants, converted for a server's products: to be pickled, or saved.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    ///     One of the context; its own constants are used if it has them.
    /// like : Ciphertext, optional
    ///     CKKS alone: a ciphertext of the level that they shall meet; without one the highest.
    ///
    /// Returns
    /// -------
    /// PreparedPlan
    #[pyo3(signature = (server, like=None))]
    fn prepared(&self, py: Python<'_>, server: &PyServer, like: Option<&PyCiphertext>) -> PyResult<PyPrepared> {
        let (inner, kind, level) = (Arc::clone(&self.inner), server.handle.open(py)?, level_of(py, &self.inner, like)?);
        let bytes = long(py, None, "constants", move |_| match (&*kind, &inner.plan) {
            (ServerKind::Exact(s), Plan::Exact(plan)) => s.prepared_to_bytes(plan),
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.prepared_to_bytes(plan, level),
            _ => Err(other_scheme()),
        })?;
        Ok(PyPrepared { inner: Arc::clone(&self.inner), bytes: Arc::new(Mapping::of_memory(bytes)) })
    }

    /// Writes the constants, converted, to a new file that processes can map.
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
            (ServerKind::Exact(s), Plan::Exact(plan)) => s.save_prepared(plan, &path),
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.save_prepared(plan, level, &path),
            _ => Err(other_scheme()),
        })
    }

    /// Maps the constants in a file that :meth:`save_prepared` wrote: processes that map one file
    /// share one copy of it in memory. It may be removed afterwards, but not written to.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    ///     Which uses them in its next products with this matrix.
    /// path : str or os.PathLike
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     For a file that is not whole or belongs to another context or matrix.
    fn map_prepared(&self, py: Python<'_>, server: &PyServer, path: PathBuf) -> PyResult<()> {
        let (inner, kind) = (Arc::clone(&self.inner), server.handle.open(py)?);
        long(py, None, "constants", move |_| match (&*kind, &inner.plan) {
            (ServerKind::Exact(s), Plan::Exact(plan)) => s.map_prepared(plan, &path),
            (ServerKind::Approximate(s), Plan::Approximate(plan)) => s.map_prepared(plan, &path),
            _ => Err(other_scheme()),
        })
    }

    /// A picture of the diagonals and keys; needs matplotlib.
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
            plain(py, "DTypeError", "an encrypted vector is expected: layer @ server.receive(client.encrypt(x)); in the clear use layer.matrix @ x")
        })?;
        if x.get().layout.dims.len() != 1 {
            return Err(plain(
                py,
                "ShapeError",
                format!(
                    "@ multiplies one vector, and this array has the shape {}: layer(x) multiplies every row of it",
                    x.get().layout.in_words()
                ),
            ));
        }
        self.inner.apply(py, x.get(), None)
    }

    /// The product with every row of an encrypted array.
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

    /// The context.
    #[getter]
    fn context(&self) -> crate::context::PyContext {
        crate::context::PyContext { setting: Arc::clone(&self.inner.setting) }
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
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.get().explain(),))?.extract()
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, _protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let inner = &self.inner;
        let (roll, matrix) = match &inner.matrix {
            Matrix::Roll { length, shift } => (Some((*length, *shift)), py.None().into_bound(py)),
            matrix => (None, matrix_to_numpy(py, matrix)?),
        };
        let spec = (inner.spec.strategy.clone(), inner.spec.max_keys, inner.spec.keys.clone());
        crate::pickle::reduce(py, "restore_linear", (inner.setting.state.clone(), (matrix, self.bias(py)), spec, roll))
    }
}

fn matrix_to_numpy<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyAny>> {
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
        Matrix::Roll { length, shift } => {
            let eye = crate::numbers::numpy(py)?.getattr("eye")?.call1((*length,))?;
            return crate::numbers::numpy(py)?.getattr("roll")?.call1((eye, *shift, 0));
        }
    };
    array.call_method1("reshape", (matrix.rows(), matrix.columns()))
}
