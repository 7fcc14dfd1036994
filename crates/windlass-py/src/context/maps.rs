//! Linear maps of a context: matrices, shifts, filters, sums.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::circuit::{PyCircuit, Recipe};
use crate::error::{plain, raise};
use crate::matrix::{LinearInner, LinearSpec, Matrix, PyLinear, check_filter};
use crate::natural::{Natural, Whole};
use crate::numbers::{Slice, values};
use crate::runtime::long;
use crate::setting::PyContext;

#[pymethods]
impl PyContext {
    /// Plans the product of a matrix with encrypted vectors.
    ///
    /// Parameters
    /// ----------
    /// matrix : array_like, shape (outputs, inputs)
    ///     Integers, or real or complex numbers for CKKS. Zero diagonals are free. A matrix that is
    ///     larger than a ciphertext becomes a grid of blocks.
    /// bias : array_like, shape (outputs,), optional
    ///     Added to the product.
    /// strategy : str
    ///     ``"automatic"`` chooses the cheapest algorithm. Others have names, which the error for
    ///     an unknown name lists (Halevi and Shoup 2018).
    /// max_keys : int, optional
    ///     The maximum number of keys. With fewer keys the product takes longer.
    /// keys : sequence of int, optional
    ///     The automorphisms whose keys exist already. The plan uses no others.
    /// folding : {"automatic", "never", "always"}
    ///     Whether a matrix with few rows is packed in blocks whose products are added afterwards,
    ///     and a matrix with few columns in blocks that multiply copies of the vector. Both need
    ///     far fewer diagonals and keys. With a named strategy there is no folding. With few
    ///     columns, an array with other slots than its entries (such as a folded product) is
    ///     multiplied by ones first, which takes capacity.
    ///
    ///     **Warning.** After a folded product of a matrix with few rows, the slots beyond the
    ///     outputs hold parts of its sums, which the client sees when it decrypts. If the matrix
    ///     must stay private, use ``"never"`` or multiply the product by ones.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///
    /// Raises
    /// ------
    /// ShapeError, ValueRangeError, DTypeError
    ///     If an argument is not a matrix.
    /// NoParameters
    ///     If the strategy is not possible for this matrix or these keys.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear(np.array([[1, 2], [3, 4]]))
    /// >>> client, server = context.generate_keys(layer)
    /// >>> client.decrypt(layer @ server.receive(client.encrypt([5, 6])))
    /// array([17, 39])
    #[pyo3(signature = (matrix, bias=None, *, strategy="automatic", max_keys=None, keys=None, folding="automatic"))]
    fn linear(
        &self,
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        bias: Option<&Bound<'_, PyAny>>,
        strategy: &str,
        max_keys: Option<Natural>,
        keys: Option<Vec<Natural>>,
        folding: &str,
    ) -> PyResult<PyLinear> {
        let max_keys = max_keys.map(|most| most.0 as usize);
        let keys = keys.map(|keys| keys.into_iter().map(|key| key.0).collect());
        let (strategy, folding, context) = (strategy.to_owned(), folding.to_owned(), Arc::clone(&self.setting));
        let spec = LinearSpec { strategy, max_keys, keys, folding };
        PyLinear::make(py, &context, matrix, bias, spec)
    }

    /// Plans a cyclic shift of vectors, as ``numpy.roll``. If it is named when keys are made,
    /// ``x.roll(shift)`` works.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     Entries of the vectors.
    /// shift : int
    ///     The number of positions that entries are shifted.
    ///
    /// In CKKS the shift is a product with a matrix of zeros and ones. It takes one level of the
    /// depth, for any number of ciphertexts in a row.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.roll(4, 1))
    /// >>> client.decrypt(server.receive(client.encrypt([1, 2, 3, 4])).roll(1))
    /// array([4, 1, 2, 3])
    fn roll(&self, py: Python<'_>, length: Natural, shift: Whole) -> PyResult<PyLinear> {
        let length = length.0 as usize;
        if length == 0 {
            return Err(plain(py, "ShapeError", "a vector without entries has no shift"));
        }
        crate::matrix::check_shift(py, &self.setting, length)?;
        let setting = Arc::clone(&self.setting);
        Ok(PyLinear { inner: long(py, None, "planning", move |_| LinearInner::roll(&setting, length, shift.0))? })
    }

    /// Plans a convolution of vectors with public real numbers (CKKS), as ``numpy.convolve``. It takes
    /// one level, and no matrix of ``length`` columns is made.
    ///
    /// Parameters
    /// ----------
    /// taps : sequence of float
    ///     The filter, at most as long as the vectors.
    /// length : int
    ///     Entries of the vectors.
    /// mode : str
    ///     ``"full"``: all ``length + len(taps) - 1`` outputs; ``"same"``: ``length`` of them, in the
    ///     middle; ``"valid"``: those for which every tap meets an entry.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.approximate(depth=1)
    /// >>> smooth = context.filter([0.25, 0.5, 0.25], 6, mode="valid")
    /// >>> client, server = context.generate_keys(smooth)
    /// >>> x = server.receive(client.encrypt([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    /// >>> client.decrypt(smooth @ x).round(3) + 0.0
    /// array([0.25, 0.5 , 0.25, 0.  ])
    #[pyo3(signature = (taps, length, *, mode="same"))]
    fn filter(&self, py: Python<'_>, taps: &Bound<'_, PyAny>, length: Natural, mode: &str) -> PyResult<PyLinear> {
        if self.setting.is_exact() {
            let message = "filters are of real numbers (CKKS): use Context.linear for a matrix of integers";
            return Err(plain(py, "ParameterError", message));
        }
        let given = values(taps, false)?;
        given.check(py, "taps", None)?;
        let (Slice::Real(list), &[count]) = (given.slice()?, given.shape()) else {
            return Err(plain(py, "ShapeError", "taps are a sequence of real numbers"));
        };
        let (taps, length) = (list.to_vec(), usize::try_from(length.0).unwrap_or(usize::MAX));
        if count == 0 || count > length {
            let message =
                format!("a filter has at least one tap, and at most as many as the {length} entries, not {count}");
            return Err(plain(py, "ShapeError", message));
        }
        let (start, outputs) = match mode {
            "full" => (0, length.saturating_add(count - 1)),
            "same" => ((count - 1) / 2, length),
            "valid" => (count - 1, length - count + 1),
            given => {
                let known = ["full", "same", "valid"].map(str::to_owned).to_vec();
                return Err(raise(py, windlass::Error::UnknownName { what: "mode", given: given.to_owned(), known }));
            }
        };
        check_filter(py, &self.setting, count, outputs)?;
        let setting = Arc::clone(&self.setting);
        let filter = Matrix::Filter { taps, length, start, outputs };
        Ok(PyLinear { inner: long(py, None, "planning", move |_| LinearInner::sparse(&setting, filter))? })
    }

    /// Plans the product of a matrix of real numbers with each of several blocks of a vector (CKKS): many
    /// short rows lie in one ciphertext. It takes one level, and as many diagonals and keys as for one block;
    /// no dense matrix is made.
    ///
    /// Parameters
    /// ----------
    /// matrix : array_like, shape (outputs, inputs)
    /// count : int
    ///     The number of blocks.
    /// stride : int
    ///     Entries from the beginning of a block to that of the next: at least ``outputs`` and ``inputs``.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///     For vectors of ``count * stride`` entries. Entry ``k * stride + i`` of the product is output i of
    ///     block k; entries beyond the outputs of a block are 0.
    ///
    /// Raises
    /// ------
    /// ShapeError
    ///     If the argument is not a matrix, the stride is too small, or the blocks are more than the slots.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.approximate(depth=1)
    /// >>> layer = context.blocks([[1.0, 2.0], [0.5, -0.5]], count=3, stride=2)
    /// >>> client, server = context.generate_keys(layer)
    /// >>> rows = [[0.5, 0.25], [0.0, 1.0], [-1.0, 0.0]]
    /// >>> x = server.receive(client.encrypt([x for row in rows for x in row]))
    /// >>> client.decrypt(layer @ x).reshape(3, 2).round(3) + 0.0
    /// array([[ 1.   ,  0.125],
    ///        [ 2.   , -0.5  ],
    ///        [-1.   , -0.5  ]])
    #[pyo3(signature = (matrix, *, count, stride))]
    fn blocks(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>, count: Natural, stride: Natural) -> PyResult<PyLinear> {
        if self.setting.is_exact() {
            let message = "blocks are of real numbers (CKKS): use Context.linear for a matrix of integers";
            return Err(plain(py, "ParameterError", message));
        }
        let given = values(matrix, false)?;
        given.check(py, "matrix", None)?;
        let (Slice::Real(list), &[rows, columns]) = (given.slice()?, given.shape()) else {
            return Err(plain(py, "ShapeError", "a matrix of real numbers has the shape (outputs, inputs)"));
        };
        let [count, stride] = [count, stride].map(|number| usize::try_from(number.0).unwrap_or(usize::MAX));
        let entries = list.to_vec();
        PyLinear::in_blocks(py, &self.setting, (rows, columns), entries, (count, stride))
    }

    /// Plans the sum of a vector's entries. If it is named when keys are made, ``x.sum()`` works.
    ///
    /// Parameters
    /// ----------
    /// length : int, optional
    ///     Entries of the vectors. In contexts of integers it is not needed. Without it the sum is
    ///     over all slots and every slot holds it, so ``x - x.sum()`` works.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.sum())
    /// >>> client.decrypt(server.receive(client.encrypt([[1, 2], [3, 4]])).sum())
    /// array([3, 7])
    #[pyo3(signature = (length=None))]
    fn sum(&self, py: Python<'_>, length: Option<Natural>) -> PyResult<PyCircuit> {
        let length = length.map_or_else(|| self.setting.slots(), |length| length.0 as usize);
        let recipe = Recipe::Sum { length };
        PyCircuit::make(py, &self.setting, recipe)
    }
}
