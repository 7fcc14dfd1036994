//! Arithmetic of encrypted arrays: operators, sums, shifts, refreshes.

use pyo3::prelude::*;

use crate::array::PyCiphertext;
use crate::elementwise::{self, Operand, WideOperation};
use crate::natural::Whole;
use crate::operators;
use crate::reduce::{self, Axes};
use crate::refresh;

#[pymethods]
impl PyCiphertext {
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

    /// Adds public numbers of more bits than float64 has: the sums ``high + low``, which are not rounded. CKKS
    /// only. ``x + y`` with arrays of NumPy keeps 49 bits.
    ///
    /// Parameters
    /// ----------
    /// high, low : array_like
    ///     Two numbers, or two arrays that broadcast to the shape.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///
    /// Raises
    /// ------
    /// DTypeError
    ///     If the context computes with integers, or an argument is encrypted.
    /// ShapeError
    ///     If one argument is a number and the other one an array, or one does not broadcast.
    ///
    /// Examples
    /// --------
    /// >>> from fractions import Fraction
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_precise_1024")
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> third = Fraction(1, 3)
    /// >>> low = float(third - Fraction(float(third)))
    /// >>> x = server.receive(client.encrypt_wide([0.5], [0.0]))
    /// >>> x = x.add_wide(float(third), low)
    /// >>> high, low = client.decrypt_wide(x)
    /// >>> abs(Fraction(high[0]) + Fraction(low[0]) - Fraction(5, 6)) < Fraction(1, 2**70)
    /// True
    fn add_wide(&self, high: &Bound<'_, PyAny>, low: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::wide(self, [high, low], WideOperation::Add)
    }

    /// Multiplies by public numbers of more bits than float64 has, as :meth:`add_wide`. It takes one level.
    ///
    /// Parameters
    /// ----------
    /// high, low : array_like
    ///     As of :meth:`add_wide`.
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///
    /// Raises
    /// ------
    /// DTypeError, ShapeError
    ///     As of :meth:`add_wide`.
    /// CapacityExhausted
    ///     If there is no level for the product.
    fn multiply_wide(&self, high: &Bound<'_, PyAny>, low: &Bound<'_, PyAny>) -> PyResult<Self> {
        elementwise::wide(self, [high, low], WideOperation::Multiply)
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
}
