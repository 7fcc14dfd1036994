//! Polynomials, and functions of real numbers.

use pyo3::prelude::*;

use crate::array_layout::in_words;
use crate::circuit::{PyCircuit, Recipe};
use crate::error::plain;
use crate::for_circuits::NumpyPolynomial;
use crate::function_recipe::{RealRecipe, recipe};
use crate::natural::Natural;
use crate::numbers::{Slice, values};
use crate::setting::PyContext;

#[pymethods]
impl PyContext {
    /// Plans a polynomial that is evaluated in every slot.
    ///
    /// Parameters
    /// ----------
    /// coefficients : sequence of int or of float, or a polynomial of numpy.polynomial
    ///     The constant coefficient first. CKKS also accepts NumPy's polynomials: those in powers
    ///     unchanged, all others on their domain.
    /// interval : (float, float), optional
    ///     CKKS only: the coefficients are those of Chebyshev polynomials on this interval.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     With an interval, it raises :class:`OutsideInterval` for an array that may lie outside
    ///     (``x.bound``). Choose a wider interval, or state that the values lie inside
    ///     (``x.assume_bound(...)``).
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> cubic = context.polynomial([1, 0, 0, 2])  # 1 + 2 x^3
    /// >>> client, server = context.generate_keys(cubic)
    /// >>> client.decrypt(cubic(server.receive(client.encrypt([1, 2, 3]))))
    /// array([ 3, 17, 55])
    #[pyo3(signature = (coefficients, *, interval=None))]
    fn polynomial(
        &self,
        py: Python<'_>,
        coefficients: &Bound<'_, PyAny>,
        interval: Option<(f64, f64)>,
    ) -> PyResult<PyCircuit> {
        let own = NumpyPolynomial::of(coefficients)?;
        if interval.is_some() && own.is_some() {
            let message = "a polynomial of NumPy already has an interval, its domain: leave interval= out";
            return Err(plain(py, "ParameterError", message));
        }
        let (coefficients, interval) = match &own {
            Some(own) => (&own.coefficients, own.interval),
            None => (coefficients, interval),
        };
        let given = values(coefficients, self.setting.is_exact())?;
        if given.shape().len() != 1 {
            let message =
                format!("coefficients are a list of numbers, not an array of shape {}", in_words(given.shape()));
            return Err(plain(py, "ShapeError", message));
        }
        given.check(py, "coefficients", None)?;
        if interval.is_some() && self.setting.is_exact() {
            let message = "only CKKS has intervals, since polynomials of integers have coefficients of powers: leave interval= out";
            return Err(plain(py, "ParameterError", message));
        }
        let recipe = match given.slice()? {
            Slice::Signed(list) => Recipe::Polynomial(list.to_vec()),
            Slice::Unsigned(list) => Recipe::Polynomial(
                list.iter().map(|&c| (c % self.setting.modulus().unwrap_or(u64::MAX)) as i64).collect(),
            ),
            Slice::Real(list) => Recipe::RealPolynomial { coefficients: list.to_vec(), interval },
            Slice::Complex(_) => return Err(plain(py, "DTypeError", "polynomials have real coefficients")),
        };
        PyCircuit::make(py, &self.setting, recipe)
    }

    /// Plans a function of real numbers (CKKS) with a stated error.
    ///
    /// Parameters
    /// ----------
    /// f : str or callable
    ///     A name: ``"exp"``, ``"log"``, ``"inverse"``, ``"sqrt"``, ``"inverse_sqrt"``,
    ///     ``"sigmoid"``, ``"tanh"``, ``"gelu"``, ``"sign"``, ``"step"``, ``"abs"``, and
    ///     ``"maximum"`` and ``"minimum"`` of two arrays. Or any function that takes and returns a
    ///     float: it is called at 8193 points of the interval.
    /// interval : (float, float)
    ///     The ends of the interval in which the numbers lie.
    /// precision : float
    ///     What is computed is within ``2**-precision`` of the function.
    /// gap : float, optional
    ///     For sign and step: the precision holds for numbers of at least this absolute value; by
    ///     default a 1024th of the largest.
    ///
    ///     **Warning.** A number in the gap gets any value between those of both sides. No error is
    ///     raised.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     Its ``interval``, ``degrees``, ``depth`` and ``approximation_error`` say what it does,
    ///     ``error(x)`` how exact the result will be for an encrypted array.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     For an interval on which the function is not defined.
    /// NoParameters
    ///     If no polynomial reaches the precision; the message says what is reached.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.approximate(depth=6)
    /// >>> sigmoid = context.function("sigmoid", (-8, 8), precision=12)
    /// >>> sigmoid.depth, sigmoid.degrees
    /// (6, [21])
    /// >>> client, server = context.generate_keys(sigmoid)
    /// >>> x = server.receive(client.encrypt([-4.0, 0.0, 4.0], bound=8))
    /// >>> client.decrypt(sigmoid(x)).round(3)
    /// array([0.018, 0.5  , 0.982])
    #[pyo3(signature = (f, interval, precision=20.0, *, gap=None))]
    fn function(
        &self,
        py: Python<'_>,
        f: &Bound<'_, PyAny>,
        interval: (f64, f64),
        precision: f64,
        gap: Option<f64>,
    ) -> PyResult<PyCircuit> {
        PyCircuit::make(py, &self.setting, Recipe::Real(recipe(py, f, interval, precision, gap)?))
    }

    /// Plans the softmax of rows (CKKS): ``exp(x) / exp(x).sum()`` along the last dimension, with a
    /// stated error. No maximum is needed, since the interval is known.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     The number of entries of a row.
    /// interval : (float, float)
    ///     The ends of the interval in which the numbers lie. The errors of ciphertexts grow with
    ///     ``exp(high - low)``.
    /// precision : float
    ///     What is computed is within ``2**-precision`` of the softmax.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> depth = wl.Context.approximate().softmax(3, (-2, 2)).depth
    /// >>> context = wl.Context.approximate(depth=depth)
    /// >>> softmax = context.softmax(3, (-2, 2))
    /// >>> client, server = context.generate_keys(softmax)
    /// >>> x = server.receive(client.encrypt([0.0, 1.0, 2.0], bound=2))
    /// >>> client.decrypt(softmax(x)).round(2)
    /// array([0.09, 0.24, 0.67])
    #[pyo3(signature = (length, interval, precision=10.0))]
    fn softmax(&self, py: Python<'_>, length: Natural, interval: (f64, f64), precision: f64) -> PyResult<PyCircuit> {
        let length = usize::try_from(length.0).unwrap_or(usize::MAX);
        let own = RealRecipe::OfRows { length, largest: None, interval, bits: precision };
        PyCircuit::make(py, &self.setting, Recipe::Real(own))
    }

    /// Plans sorting of rows in descending order (CKKS), or their largest entries, with a stated
    /// error: a network of comparisons.
    ///
    /// Parameters
    /// ----------
    /// length : int
    ///     The number of entries of a row.
    /// interval : (float, float)
    ///     The ends of the interval in which the numbers lie.
    /// precision : float
    ///     Every result is within ``2**-precision`` of the true one.
    /// largest : int, optional
    ///     How many of the largest entries; all by default. One takes ``ceil(log2(length))`` stages,
    ///     all of them ``L * (L + 1) / 2`` for up to ``2**L`` entries.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> depth = wl.Context.approximate().sorting(4, (0, 1), 3, largest=1).depth
    /// >>> depth
    /// 10
    #[pyo3(signature = (length, interval, precision=4.0, *, largest=None))]
    fn sorting(
        &self,
        py: Python<'_>,
        length: Natural,
        interval: (f64, f64),
        precision: f64,
        largest: Option<Natural>,
    ) -> PyResult<PyCircuit> {
        let [length, largest] =
            [length, largest.unwrap_or(length)].map(|count| usize::try_from(count.0).unwrap_or(usize::MAX));
        let own = RealRecipe::OfRows { length, largest: Some(largest), interval, bits: precision };
        PyCircuit::make(py, &self.setting, Recipe::Real(own))
    }

    /// Plans the product of two encrypted matrices (CKKS; Jiang, Kim, Lauter and Song 2018). It takes
    /// three levels.
    ///
    /// Parameters
    /// ----------
    /// size : int
    ///     The number d of rows and of columns.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     It takes two arrays whose rows are matrices, d * d entries row by row
    ///     (``client.encrypt(A.ravel())``).
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> context = wl.Context.approximate(depth=3)
    /// >>> product = context.matrix_product(2)
    /// >>> client, server = context.generate_keys(product)
    /// >>> A, B = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([[0.5, 0.6], [0.7, 0.8]])
    /// >>> a, b = (server.receive(client.encrypt(M.ravel())) for M in (A, B))
    /// >>> client.decrypt(product(a, b)).reshape(2, 2).round(3)
    /// array([[0.19, 0.22],
    ///        [0.43, 0.5 ]])
    fn matrix_product(&self, py: Python<'_>, size: Natural) -> PyResult<PyCircuit> {
        let size = usize::try_from(size.0).unwrap_or(usize::MAX);
        PyCircuit::make(py, &self.setting, Recipe::Real(RealRecipe::MatrixProduct { size }))
    }
}
