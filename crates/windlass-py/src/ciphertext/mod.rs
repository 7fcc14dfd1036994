//! What Python sees of encrypted arrays: what they say of themselves, their rows, files and pickles.

mod arithmetic;

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PySlice, PyTuple};
use windlass::schemes::{Ciphertext, ckks};
use windlass::wire::{CiphertextList, Stored};

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::either::on_kind;
use crate::error::{of_file, plain};
use crate::handle::ServerKind;
use crate::runtime::quick;
use crate::server::PyServer;
use crate::setting::PyContext;

impl PyCiphertext {
    /// The least that a server tells of its exact ciphertexts; `None` for approximate ones.
    fn least(
        &self,
        py: Python<'_>,
        tell: impl Fn(&windlass::Server, &Ciphertext) -> f64 + Send + Sync,
    ) -> PyResult<Option<f64>> {
        let least = |list: &[Ciphertext], kind: &ServerKind| match kind {
            ServerKind::Exact(server) => list.iter().map(|ct| tell(server, ct)).fold(f64::INFINITY, f64::min),
            ServerKind::Approximate(_) => 0.0,
        };
        match (&*self.parts, &self.server) {
            (Parts::Approximate(_), _) => Ok(None),
            (Parts::Exact(list), Some(handle)) => Ok(Some(least(list, &*handle.open(py)?))),
            (Parts::Exact(list), None) => {
                quick(py, || Ok(Some(least(list, &ServerKind::without_keys(&self.setting)?))))
            }
        }
    }
}

#[pymethods]
impl PyCiphertext {
    /// NumPy leaves operators with arrays to this class.
    #[classattr]
    #[pyo3(name = "__array_ufunc__")]
    fn array_ufunc() -> Option<bool> {
        None
    }

    /// The shape of the array; elements of slots count as one entry.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout.dims)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.layout.dims.len()
    }

    /// The number of entries.
    #[getter]
    fn size(&self) -> usize {
        self.layout.count()
    }

    /// The dtype that decryption gives.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::numbers::numpy(py)?.getattr("dtype")?.call1((self.numbers.dtype(),))
    }

    /// Whether entries are elements of slots of higher degree, d coefficients each.
    #[getter]
    fn elements(&self) -> bool {
        self.elements
    }

    /// The number of ciphertexts that hold the array.
    #[getter]
    fn ciphertexts(&self) -> usize {
        self.parts.len()
    }

    /// Bytes of its ciphertexts in memory.
    #[getter]
    fn nbytes(&self) -> usize {
        self.parts.bytes()
    }

    /// The lowest level of its ciphertexts. A ciphertext at level l has the l-th smallest modulus
    /// of the context.
    #[getter]
    fn level(&self) -> usize {
        on_kind!(&*self.parts, list => list.iter().map(|ct| ct.level()).min().unwrap_or(0))
    }

    /// For BGV and BFV, how many bits the noise may still grow. For CKKS, the bits of precision
    /// that are left after the point of the values' bound.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> PyResult<f64> {
        match self.least(py, |server, ct| server.capacity(ct))? {
            Some(capacity) => Ok(capacity),
            None => Ok(self.precision_bits().unwrap_or(0.0)),
        }
    }

    /// CKKS only: an estimate of -log2 of the error of each number; None for integers.
    #[getter]
    fn precision_bits(&self) -> Option<f64> {
        match &*self.parts {
            Parts::Exact(_) => None,
            Parts::Approximate(list) => {
                Some(list.iter().map(ckks::Ciphertext::precision_bits).fold(f64::INFINITY, f64::min))
            }
        }
    }

    /// The number of products in sequence that are left without a refresh. For BGV and BFV it
    /// follows from the noise bound, for products of two factors with the same noise. For CKKS it
    /// is the number of rescalings.
    #[getter]
    fn depth_left(&self, py: Python<'_>) -> PyResult<usize> {
        match (&*self.parts, self.least(py, |server, ct| f64::from(server.depth_left(ct)))?) {
            (Parts::Approximate(list), _) => Ok(list.iter().map(ckks::Ciphertext::products_left).min().unwrap_or(0)),
            (Parts::Exact(_), depth) => Ok(depth.filter(|depth| depth.is_finite()).unwrap_or(0.0) as usize),
        }
    }

    /// The context of the array.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    /// The server that the array is bound to, or None.
    #[getter(server)]
    fn own_server(&self) -> Option<PyServer> {
        self.server.as_ref().map(|handle| PyServer { handle: Arc::clone(handle) })
    }

    /// NumPy leaves operators with arrays of pandas to this class as well.
    #[classattr]
    #[pyo3(name = "__pandas_priority__")]
    fn pandas_priority() -> u32 {
        // More than that of any class of pandas, the largest of which is 4000.
        10_000
    }

    /// Writes the array to a new file, which the command line also reads.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// single : bool
    ///     If true, writes one ciphertext without shape and dtype, as ``windlass refresh`` reads
    ///     it. Otherwise writes an array of at most two dimensions.
    ///
    ///     **Warning.** The file states rows and columns, but not the number of dimensions. An
    ///     array of shape (1, n) loads with the shape (n,), and arrays of shape () and (1, 1) load
    ///     with the shape (1,). Pickles keep shapes.
    ///
    /// Returns
    /// -------
    /// int
    ///     Bytes written.
    ///
    /// Raises
    /// ------
    /// ShapeError
    ///     If the file cannot hold the array. A pickle holds every array.
    /// FileExists
    ///     If the file exists; it is not changed.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.bin"
    /// >>> client, server = context.generate_keys()
    /// >>> _ = client.encrypt([[1, 2], [3, 4]]).save(path)
    /// >>> client.decrypt(context.load_ciphertext(path))
    /// array([[1, 2],
    ///        [3, 4]])
    #[pyo3(signature = (path, *, single=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, single: bool) -> PyResult<u64> {
        if single && self.parts.len() != 1 {
            return Err(plain(
                py,
                "ShapeError",
                format!(
                    "a file with single=True holds one ciphertext, but this array has {}; leave single out",
                    self.parts.len()
                ),
            ));
        }
        if !single && (!self.layout.is_packed() || self.layout.dims.len() > 2 || self.elements) {
            return Err(plain(
                py,
                "ShapeError",
                "a file can hold a vector of numbers or a list of vectors: pickle arrays of other shapes, of ring elements and of sums",
            ));
        }
        let shape = [self.layout.rows, self.layout.length];
        let written = quick(py, || {
            on_kind!((&self.setting.kind, &*self.parts), (context, list) => {
                if single {
                    return context.save(&path, &list[0]);
                }
                let stored = list.iter().cloned().map(Stored::new).collect();
                context.save(&path, &CiphertextList::new(shape, self.number_kind(), stored)?)
            })
        });
        written.map_err(|error| of_file(py, error, &path))
    }

    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = index.py();
        let refuse = || {
            plain(
                py,
                "ShapeError",
                "only rows can be selected from an encrypted array (x[2], x[1:5]), since one ciphertext holds all entries of a row; select entries with a matrix, or decrypt first",
            )
        };
        let dims = &self.layout.dims;
        let least = if self.layout.is_packed() { 2 } else { 1 };
        let (Some((&outer, inner)), true) = (dims.split_first(), dims.len() >= least) else {
            return Err(refuse());
        };
        let (chosen, dims) = if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(outer as isize)?;
            let place = |k: usize| (range.start + k as isize * range.step) as usize;
            let chosen: Vec<usize> = (0..range.slicelength).map(place).collect();
            let dims: Vec<usize> = [chosen.len()].into_iter().chain(inner.iter().copied()).collect();
            (chosen, dims)
        } else {
            if index.is_instance_of::<PyBool>() {
                return Err(refuse());
            }
            let row: isize = index.extract().map_err(|_| refuse())?;
            let place = if row < 0 { row + outer as isize } else { row };
            if place < 0 || place >= outer as isize {
                return Err(PyIndexError::new_err(format!("row {row} of {outer}")));
            }
            (vec![place as usize], inner.to_vec())
        };
        if chosen.is_empty() {
            return Err(plain(py, "ShapeError", "an encrypted array has at least one row"));
        }
        let each = self.layout.rows / outer;
        let rows: Vec<usize> = chosen.iter().flat_map(|&place| place * each..(place + 1) * each).collect();
        let layout = ArrayLayout { dims, rows: rows.len(), length: self.layout.length };
        let parts = self.parts.rows(self.chunks(), &rows);
        Ok(self.result(parts, layout, self.numbers, self.clean).with_spread(self.spread))
    }

    /// NumPy must not make an array of objects of it.
    #[pyo3(signature = (*_arguments, **_options))]
    fn __array__(
        &self,
        py: Python<'_>,
        _arguments: &Bound<'_, PyTuple>,
        _options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let message = "NumPy's functions cannot read an encrypted array; call client.decrypt(x) first, or use + - * @ **, x.sum(), x.mean(), x.var() and x.roll(k)";
        Err(plain(py, "DTypeError", message))
    }

    /// CKKS only: returns the same array with a smaller bound on the absolute values, which the
    /// caller knows. Without it, operations keep a worst-case bound, which grows with every
    /// product, and polynomials refuse an array whose bound is not inside their interval.
    ///
    /// **Warning.** The bound is not checked during the computation. If a value is larger,
    /// decryption of the result raises :class:`NotDecryptable`, or, if the result does not show it,
    /// the errors of the result are larger than ``precision_bits`` states.
    ///
    /// Parameters
    /// ----------
    /// bound : float
    ///     Positive.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.approximate(depth=1)
    /// >>> client, server = context.generate_keys()
    /// >>> x = server.receive(client.encrypt([0.5])) * 8
    /// >>> x.assume_bound(4.0).bound
    /// 4.0
    fn assume_bound(&self, py: Python<'_>, bound: f64) -> PyResult<Self> {
        let Parts::Approximate(list) = &*self.parts else {
            return Err(plain(
                py,
                "ParameterError",
                "only CKKS has bounds on values: integers are computed modulo the plaintext modulus; leave the bound out",
            ));
        };
        if !(bound.is_finite() && bound > 0.0) {
            return Err(plain(
                py,
                "ParameterError",
                format!("the bound is {bound}, but must be a positive finite number"),
            ));
        }
        let parts = Parts::Approximate(list.iter().map(|ct| ct.clone().with_magnitude(bound)).collect());
        Ok(self.result(parts, self.layout.clone(), self.numbers, self.clean).with_spread(self.spread))
    }

    /// CKKS only: a bound on the absolute values; None for integers.
    #[getter]
    fn bound(&self) -> Option<f64> {
        match &*self.parts {
            Parts::Exact(_) => None,
            Parts::Approximate(list) => Some(list.iter().map(ckks::Ciphertext::magnitude).fold(0.0, f64::max)),
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.layout.dims.first().copied().ok_or_else(|| plain(py, "ShapeError", "an encrypted number has no length"))
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, _operator: CompareOp) -> PyResult<bool> {
        let message = "encrypted values cannot be compared to give True or False: context.equal() and context.less(bound) give encrypted zeros and ones; use `a is b` to test for the same object";
        Err(plain(other.py(), "EncryptedComparison", message))
    }

    fn __hash__(slf: &Bound<'_, Self>) -> usize {
        slf.as_ptr() as usize >> 4
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        Err(plain(py, "EncryptedComparison", "an encrypted value is neither true nor false: decrypt it first"))
    }

    fn __repr__(&self) -> String {
        let bound = if self.server.is_some() { "" } else { ", not bound to a server" };
        format!(
            "<windlass.Ciphertext, shape {}, {}, {}, {} ciphertext(s) of level {}{bound}>",
            self.layout.in_words(),
            self.numbers.dtype(),
            self.setting.in_words(),
            self.parts.len(),
            self.level()
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = quick(py, || self.to_bytes())?;
        let parts =
            bytes.into_iter().map(|bytes| crate::pickle::buffer(py, bytes, protocol)).collect::<PyResult<Vec<_>>>()?;
        // Earlier versions read the first three.
        let (length, elements, clean) = (self.layout.length, self.elements, self.clean);
        let flags = match self.spread {
            true => (length, elements, clean, true).into_pyobject(py)?,
            false => (length, elements, clean).into_pyobject(py)?,
        };
        crate::pickle::reduce(
            py,
            "restore_ciphertext",
            (self.setting.state.clone(), parts, self.layout.dims.clone(), self.numbers.dtype(), flags),
        )
    }
}
