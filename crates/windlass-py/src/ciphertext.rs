//! What Python sees of encrypted arrays.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PySlice, PyTuple};
use windlass::schemes::{Ciphertext, ckks};
use windlass::wire::{CiphertextList, Stored};

use crate::array::{Parts, PyCiphertext};
use crate::elementwise::{self, Operand};
use crate::error::{of_file, plain};
use crate::handle::ServerKind;
use crate::layout::Layout;
use crate::natural::Whole;
use crate::operators;
use crate::reduce::{self, Axes};
use crate::refresh;
use crate::runtime::quick;
use crate::server::PyServer;
use crate::setting::{Kind, PyContext};

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
        match &*self.parts {
            Parts::Exact(list) => list.iter().map(Ciphertext::level).min().unwrap_or(0),
            Parts::Approximate(list) => list.iter().map(ckks::Ciphertext::level).min().unwrap_or(0),
        }
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

    /// The sum over the last dimension or over others, as ``numpy.sum``.
    ///
    /// A sum along the last dimension needs keys: name ``context.sum(length)`` when they are made.
    /// A sum along another dimension needs none. The result can be combined with whole rows, as in
    /// ``x - x.sum() / n`` or ``X - X.sum(keepdims=True) / n``, if every slot holds it: always in
    /// contexts of integers, and in CKKS if the server has the keys of ``context.sum()``.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of int, optional
    ///     The dimensions to sum over: the last one by default, all of them for None (which
    ///     ``numpy.sum(x)`` passes).
    /// dtype, out : None
    ///     Only None is allowed, which ``numpy.sum`` passes.
    /// keepdims : bool
    ///     Whether these dimensions stay, with length 1.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///     The sums. Along the last dimension it has one entry for each row.
    ///
    /// Raises
    /// ------
    /// MissingGaloisKey
    /// ShapeError
    ///     If the array has no such dimension.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.sum())
    /// >>> x = server.receive(client.encrypt([[1, 2], [3, 4]]))
    /// >>> client.decrypt(x.sum())
    /// array([3, 7])
    /// >>> client.decrypt(x.sum(axis=0))
    /// array([4, 6])
    /// >>> int(client.decrypt(np.sum(x)))
    /// 10
    /// >>> client.decrypt(2 * x - x.sum(keepdims=True))
    /// array([[-1,  1],
    ///        [-1,  1]])
    #[pyo3(signature = (axis=Axes::Last, dtype=None, out=None, keepdims=false), text_signature = "($self, axis=-1, dtype=None, out=None, keepdims=False)")]
    fn sum(
        &self,
        py: Python<'_>,
        axis: Axes,
        dtype: Option<&Bound<'_, PyAny>>,
        out: Option<&Bound<'_, PyAny>>,
        keepdims: bool,
    ) -> PyResult<Self> {
        reduce::check_options(dtype, out)?;
        reduce::sum_over(py, self, &axis, keepdims)
    }

    /// CKKS only: the mean over the last dimension or over others, as ``numpy.mean``. It takes one
    /// level and needs the keys of :meth:`sum`.
    ///
    /// Parameters
    /// ----------
    /// axis, dtype, out, keepdims
    ///     As of :meth:`sum`.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///
    /// Raises
    /// ------
    /// DTypeError
    ///     If the context computes with integers, which have no mean modulo q.
    /// MissingGaloisKey, ShapeError, CapacityExhausted
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> context = wl.Context.approximate(depth=1)
    /// >>> client, server = context.generate_keys(context.sum())
    /// >>> x = server.receive(client.encrypt([0.25, 0.5, 0.75]))
    /// >>> bool(np.allclose(client.decrypt(x - x.mean()), [-0.25, 0, 0.25], atol=1e-6))
    /// True
    #[pyo3(signature = (axis=Axes::Last, dtype=None, out=None, keepdims=false), text_signature = "($self, axis=-1, dtype=None, out=None, keepdims=False)")]
    fn mean(
        &self,
        py: Python<'_>,
        axis: Axes,
        dtype: Option<&Bound<'_, PyAny>>,
        out: Option<&Bound<'_, PyAny>>,
        keepdims: bool,
    ) -> PyResult<Self> {
        reduce::check_options(dtype, out)?;
        reduce::mean(py, self, &axis, keepdims)
    }

    /// CKKS only: the variance over the last dimension or over others, as ``numpy.var``: sum((x -
    /// mean)**2) / (n - ddof). It takes two levels. It needs the relinearisation key
    /// (``context.products()``) and, along the last dimension, the keys of ``context.sum()``
    /// without a length, since the mean must be in every slot.
    ///
    /// Parameters
    /// ----------
    /// axis, dtype, out, keepdims
    ///     As of :meth:`sum`.
    /// ddof : float
    ///     What is subtracted from the number of entries.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///
    /// Raises
    /// ------
    /// DTypeError
    ///     If the context computes with integers, which have no variance modulo q, or the numbers
    ///     are complex.
    /// MissingGaloisKey, MissingRelinearisationKey, ShapeError, ParameterError, CapacityExhausted
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> context = wl.Context.approximate(depth=2)
    /// >>> client, server = context.generate_keys(context.sum(), context.products())
    /// >>> x = server.receive(client.encrypt([0.25, 0.5, 0.75]))
    /// >>> bool(np.isclose(client.decrypt(x.var()), np.var([0.25, 0.5, 0.75]), atol=1e-6))
    /// True
    #[pyo3(signature = (axis=Axes::Last, dtype=None, out=None, ddof=0.0, keepdims=false), text_signature = "($self, axis=-1, dtype=None, out=None, ddof=0.0, keepdims=False)")]
    fn var(
        &self,
        py: Python<'_>,
        axis: Axes,
        dtype: Option<&Bound<'_, PyAny>>,
        out: Option<&Bound<'_, PyAny>>,
        ddof: f64,
        keepdims: bool,
    ) -> PyResult<Self> {
        reduce::check_options(dtype, out)?;
        reduce::variance(py, self, &axis, ddof, keepdims)
    }

    /// Entries shifted cyclically along the last dimension, as ``numpy.roll``. Name
    /// ``context.roll(length, shift)`` when keys are made. In CKKS the shift is a product with a
    /// matrix of zeros and ones, so it takes one level of the depth.
    ///
    /// Raises
    /// ------
    /// MissingGaloisKey
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.roll(4, 1))
    /// >>> client.decrypt(server.receive(client.encrypt([1, 2, 3, 4])).roll(1))
    /// array([4, 1, 2, 3])
    fn roll(&self, py: Python<'_>, shift: Whole) -> PyResult<Self> {
        operators::roll(py, self, shift.0)
    }

    /// Refreshes the array: the same values, or those of a table at them, with new capacity. Name
    /// ``context.bootstrapping()`` when keys are made; a table needs no other keys. One refresh
    /// takes about :meth:`Bootstrapping.estimated_seconds` for each ciphertext on one thread.
    ///
    /// In CKKS the result has new levels (:attr:`depth_left`) and a larger error, which
    /// :attr:`precision_bits` counts.
    ///
    /// **Warning.** A result is wrong without an error with probability at most
    /// ``2**-failure_bits`` (:attr:`Bootstrapping.failure_bits`). In CKKS it is also wrong if a number
    /// is above :attr:`bound`, as after a wrong :meth:`assume_bound`.
    ///
    /// Parameters
    /// ----------
    /// table : array_like of int, optional
    ///     A function of the entries, in contexts of integers with a modulus q of at most 256: its
    ///     values at 0, 1, ..., q - 1, each in [-q/2, q). The value at -k is ``table[-k]``, that of
    ///     q - k. A table is free for q = 2; for larger q it takes more time and capacity
    ///     (``docs/how-to/bootstrapping.md``).
    /// progress : bool or callable, optional
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///     Of the same shape.
    ///
    /// Raises
    /// ------
    /// MissingBootstrappingKeys
    /// BootstrapError
    ///     If no capacity would be left, also with the table; in CKKS, if the bound on the numbers is
    ///     above 1. It is raised before any work.
    /// ShapeError
    ///     If the table does not have q values.
    /// ValueRangeError, DTypeError
    ///     If a value of the table is not an integer in [-q/2, q).
    /// ParameterError
    ///     If a table is given in a context with a larger modulus or in CKKS.
    /// NotIntegers
    ///     If a table is given for an array of ring elements.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_boot_105")
    /// >>> client, server = context.generate_keys(context.bootstrapping())
    /// >>> x = server.receive(client.encrypt([0, 1, 1]))
    /// >>> client.decrypt(x.refresh()) % 2
    /// array([0, 1, 1])
    /// >>> client.decrypt(x.refresh(table=[1, 0])) % 2
    /// array([1, 0, 0])
    #[pyo3(signature = (*, table=None, progress=None))]
    fn refresh(
        &self,
        py: Python<'_>,
        table: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        match table {
            None => refresh::plainly(py, self, progress),
            Some(values) => refresh::with_table(py, self, values, progress),
        }
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
        let written = quick(py, || match (&self.setting.kind, &*self.parts) {
            (Kind::Exact(context), Parts::Exact(list)) if single => context.save(&path, &list[0]),
            (Kind::Approximate(context), Parts::Approximate(list)) if single => context.save(&path, &list[0]),
            (Kind::Exact(context), Parts::Exact(list)) => {
                let stored = list.iter().cloned().map(Stored::new).collect();
                context.save(&path, &CiphertextList::new(shape, self.number_kind(), stored)?)
            }
            (Kind::Approximate(context), Parts::Approximate(list)) => {
                let stored = list.iter().cloned().map(Stored::new).collect();
                context.save(&path, &CiphertextList::new(shape, self.number_kind(), stored)?)
            }
            _ => unreachable!("contexts and ciphertexts are of one kind"),
        });
        written.map_err(|error| of_file(py, error, &path))
    }

    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::add(self, Operand::of(self, other)?)
    }

    fn __radd__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::add(self, Operand::of(self, other)?)
    }

    fn __sub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::subtract(self, Operand::of(self, other)?)
    }

    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::add(&elementwise::negate(other.py(), self)?, Operand::of(self, other)?)
    }

    fn __mul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::multiply(self, Operand::of(self, other)?)
    }

    fn __rmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::multiply(self, Operand::of(self, other)?)
    }

    fn __truediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::divide(self, other)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        elementwise::negate(py, self)
    }

    fn __pos__(&self) -> Self {
        self.copied()
    }

    fn __pow__(&self, exponent: &Bound<'_, PyAny>, modulo: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        operators::power(self, exponent, modulo)
    }

    fn __matmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::matmul(self, other)
    }

    fn __rmatmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        operators::matmul_from_left(self, other)
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
        let layout = Layout { dims, rows: rows.len(), length: self.layout.length };
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
