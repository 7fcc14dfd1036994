//! Contexts with explicit steps, as classes of the Python package.

use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use windlass::rlwe::Limits;
use windlass::rlwe::context::os_rng;
use windlass::rlwe::{Assurance, SecretDistribution};
use windlass::schemes::explicit::{Chain, Ciphertext, Client, Context, Encoding, Plaintext, Scale, Server, Values};

use crate::array_layout::in_words;
use crate::error::plain;
use crate::natural::{Natural, Whole};
use crate::numbers::{self, Slice};
use crate::runtime::{long, quick};

/// CKKS or BGV with every step given by the caller: moduli, scales, relinearisations, rescalings, levels.
///
/// Made by :meth:`ckks` and :meth:`bgv`. No operation changes an operand to make it fit: what does not fit is
/// refused. For experiments, and for programs of compilers that place these steps
/// (:func:`windlass.heir.load` with ``run="as written"``). Objects stay in one process: they have no files and
/// no pickles.
///
/// Each number in ``moduli`` is one step of the chain. A prime of 25 to 50 bits that is 1 modulo ``2 * n`` is
/// used as it is. Any other number up to 2^50 stands for the nearest such prime, and a larger one for two primes
/// whose product is near it. :attr:`steps` says which primes they are.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.ExplicitContext.ckks(8192, [2**50, 2**40, 2**40], special=[2**50])
/// >>> client, server = context.generate_keys(rotations=[1])
/// >>> x = client.encrypt([0.5, 0.25], level=2, scale=2.0**40)
/// >>> product = server.multiply(x, server.rotate(x, 1))
/// >>> product.size, product.level, product.scale == 2.0**80
/// (3, 2, True)
/// >>> product = server.rescale(server.relinearize(product))
/// >>> product.size, product.level
/// (2, 1)
/// >>> client.decrypt(product).real[:2].round(6)
/// array([0.125, 0.125])
#[pyclass(frozen, name = "ExplicitContext", module = "windlass")]
pub struct PyExplicitContext {
    context: Arc<Context>,
}

/// The holder of the secret key of an :class:`ExplicitContext`.
///
/// Made by :meth:`ExplicitContext.generate_keys`.
#[pyclass(frozen, name = "ExplicitClient", module = "windlass")]
pub struct PyExplicitClient {
    client: Client,
}

/// Evaluation with explicit steps.
///
/// Made by :meth:`ExplicitContext.generate_keys`. Operands of a sum or product have one level. Summands have one
/// scale.
#[pyclass(frozen, name = "ExplicitServer", module = "windlass")]
pub struct PyExplicitServer {
    server: Server,
}

/// A public vector, encoded at a level and a scale.
///
/// Made by :meth:`ExplicitContext.encode`.
#[pyclass(frozen, name = "ExplicitPlaintext", module = "windlass")]
pub struct PyExplicitPlaintext {
    plaintext: Plaintext,
}

/// An encrypted vector with its level and scale: 2 polynomials, or 3 before relinearisation.
///
/// Made by :meth:`ExplicitClient.encrypt` and the methods of :class:`ExplicitServer`.
#[pyclass(frozen, name = "ExplicitCiphertext", module = "windlass")]
pub struct PyExplicitCiphertext {
    ciphertext: Ciphertext,
}

/// A scale in Python: a real number in CKKS, a plaintext factor in BGV.
#[derive(IntoPyObject)]
enum PyScale {
    Real(f64),
    Factor(u64),
}

impl From<Scale> for PyScale {
    fn from(scale: Scale) -> Self {
        match scale {
            Scale::Real(scale) => Self::Real(scale.high()),
            Scale::Factor(factor) => Self::Factor(factor),
        }
    }
}

/// The scale of an argument: of the kind that the context has.
fn scale_of(context: &Context, given: &Bound<'_, PyAny>) -> PyResult<Scale> {
    match context.encoding() {
        Encoding::Ckks => Ok(Scale::real(given.extract::<f64>()?)),
        Encoding::Bgv { .. } => Ok(Scale::Factor(given.extract::<Natural>()?.0)),
    }
}

/// A vector of the kind that the context has.
fn vector(operation: &'static str, context: &Context, given: &Bound<'_, PyAny>) -> PyResult<Values> {
    let py = given.py();
    let modulus = match context.encoding() {
        Encoding::Ckks => None,
        Encoding::Bgv { modulus } => Some(modulus),
    };
    let given = numbers::values(given, modulus.is_some())?;
    given.check(py, operation, modulus)?;
    if given.shape().len() > 1 {
        let message = format!("a vector is expected, not an array of shape {}", in_words(given.shape()));
        return Err(plain(py, "ShapeError", message));
    }
    Ok(match given.slice()? {
        Slice::Signed(list) => Values::Integers(list.to_vec()),
        Slice::Unsigned(list) => Values::Integers(list.iter().map(|&x| x as i64).collect()),
        Slice::Real(list) => list.into(),
        Slice::Complex(list) => Values::Complex(list.to_vec()),
    })
}

/// Numbers of Python as moduli.
fn moduli_of(given: Vec<Natural>) -> Vec<u64> {
    given.into_iter().map(|modulus| modulus.0).collect()
}

fn make(
    py: Python<'_>,
    n: Natural,
    (moduli, special): (Vec<Natural>, Vec<Natural>),
    insecure: bool,
    encoding: Encoding,
) -> PyResult<PyExplicitContext> {
    let assurance = match insecure {
        true => Assurance::Insecure { name: "insecure_explicit".to_owned() },
        false => Assurance::Secure,
    };
    let n = usize::try_from(n.0).unwrap_or(usize::MAX);
    let (moduli, special) = (moduli_of(moduli), moduli_of(special));
    let chain = Chain { n, moduli, special, secret: SecretDistribution::Ternary, assurance };
    Ok(PyExplicitContext { context: quick(py, || Context::new(&chain, encoding))? })
}

#[pymethods]
impl PyExplicitContext {
    /// CKKS: complex numbers in n/2 slots.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     The ring dimension, a power of two.
    /// moduli : sequence of int
    ///     The steps of the chain. The last one is dropped first.
    /// special : sequence of int
    ///     The special moduli of key switching.
    /// insecure : bool
    ///     Allows less than 128 bits of security: see :attr:`security`.
    ///
    /// Returns
    /// -------
    /// ExplicitContext
    ///
    /// Raises
    /// ------
    /// InsecureParameters
    ///     For less than 128 bits of security.
    /// ParameterError
    ///     If no primes fit.
    #[staticmethod]
    #[pyo3(signature = (n, moduli, *, special, insecure=false))]
    fn ckks(py: Python<'_>, n: Natural, moduli: Vec<Natural>, special: Vec<Natural>, insecure: bool) -> PyResult<Self> {
        make(py, n, (moduli, special), insecure, Encoding::Ckks)
    }

    /// BGV: integers modulo a prime in n slots, two rows of n/2.
    ///
    /// Parameters
    /// ----------
    /// n, moduli, special, insecure
    ///     As of :meth:`ckks`.
    /// modulus : int
    ///     The plaintext modulus, a prime that is 1 modulo ``2 * n``.
    ///
    /// Returns
    /// -------
    /// ExplicitContext
    ///
    /// Raises
    /// ------
    /// InsecureParameters, ParameterError
    ///     As of :meth:`ckks`.
    #[staticmethod]
    #[pyo3(signature = (n, moduli, *, special, modulus, insecure=false))]
    fn bgv(
        py: Python<'_>,
        n: Natural,
        moduli: Vec<Natural>,
        special: Vec<Natural>,
        modulus: Natural,
        insecure: bool,
    ) -> PyResult<Self> {
        make(py, n, (moduli, special), insecure, Encoding::Bgv { modulus: modulus.0 })
    }

    /// The primes of each step, that of level 0 first.
    #[getter]
    fn steps(&self) -> Vec<Vec<u64>> {
        (0..=self.context.top_level()).filter_map(|level| self.context.step(level).ok()).collect()
    }

    /// The highest level: the number of steps less 1.
    #[getter]
    fn top_level(&self) -> usize {
        self.context.top_level()
    }

    /// The number of slots that a rotation moves: n/2.
    #[getter]
    fn slots(&self) -> usize {
        self.context.row_slots()
    }

    /// The security in bits.
    #[getter]
    fn security(&self) -> f64 {
        self.context.security().bits
    }

    /// Makes keys.
    ///
    /// Parameters
    /// ----------
    /// rotations : sequence of int
    ///     The amounts by which the server rotates.
    /// relinearisation : bool
    ///     Whether the server relinearises.
    /// scale_tolerance : float, optional
    ///     CKKS: the relative difference up to which scales of summands count as equal, 2^-30 by default. The
    ///     difference is counted in the bound on the error.
    ///
    /// Returns
    /// -------
    /// (ExplicitClient, ExplicitServer)
    #[pyo3(signature = (*, rotations=Vec::new(), relinearisation=true, scale_tolerance=None))]
    fn generate_keys(
        &self,
        py: Python<'_>,
        rotations: Vec<Whole>,
        relinearisation: bool,
        scale_tolerance: Option<f64>,
    ) -> PyResult<(PyExplicitClient, PyExplicitServer)> {
        let context = Arc::clone(&self.context);
        let rotations: Vec<i64> = rotations.iter().map(|amount| amount.0).collect();
        let made = long(py, None, "keys", move |_| {
            let mut rng = os_rng()?;
            let tolerance = scale_tolerance.unwrap_or(Server::SCALE_TOLERANCE);
            Limits::between(0.0, 1.0).check("the tolerance of scales", tolerance)?;
            let client = Client::generate(&context, &mut rng);
            let keys = Arc::new(client.evaluation_keys(&rotations, relinearisation, &mut rng)?);
            let server = Server::new(&context, keys)?;
            Ok((client, server.with_scale_tolerance(tolerance)?))
        });
        let (client, server) = made?;
        Ok((PyExplicitClient { client }, PyExplicitServer { server }))
    }

    /// Encodes a public vector at a level and a scale.
    ///
    /// Parameters
    /// ----------
    /// values : array_like
    ///     Numbers, or integers for BGV. Their number divides n/2, and they are repeated; n integers fill both rows
    ///     of BGV.
    /// level : int
    /// scale : float or int
    ///     CKKS: the factor between number and plaintext. BGV: the plaintext factor.
    ///
    /// Returns
    /// -------
    /// ExplicitPlaintext
    ///
    /// Raises
    /// ------
    /// ParameterError, DTypeError, ShapeError, ValueRangeError
    ///     If the level, the scale or the values do not fit the context.
    /// CapacityExhausted
    ///     If the values at this scale do not fit the modulus.
    #[pyo3(signature = (values, *, level, scale))]
    fn encode(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        level: Natural,
        scale: &Bound<'_, PyAny>,
    ) -> PyResult<PyExplicitPlaintext> {
        let (values, scale) = (vector("encode", &self.context, values)?, scale_of(&self.context, scale)?);
        let plaintext = quick(py, || self.context.encode(&values, level.0 as usize, scale))?;
        Ok(PyExplicitPlaintext { plaintext })
    }

    fn __repr__(&self) -> String {
        format!("<windlass.ExplicitContext {}>", self.context)
    }
}

#[pymethods]
impl PyExplicitClient {
    /// Encrypts a vector at a level and a scale.
    ///
    /// Parameters
    /// ----------
    /// values, level, scale
    ///     As of :meth:`ExplicitContext.encode`.
    /// bound : float
    ///     CKKS: the largest absolute value. Public.
    ///
    /// Returns
    /// -------
    /// ExplicitCiphertext
    ///
    /// Raises
    /// ------
    /// ParameterError, DTypeError, ShapeError, ValueRangeError, CapacityExhausted
    ///     As of :meth:`ExplicitContext.encode`.
    #[pyo3(signature = (values, *, level, scale, bound=1.0))]
    fn encrypt(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        level: Natural,
        scale: &Bound<'_, PyAny>,
        bound: f64,
    ) -> PyResult<PyExplicitCiphertext> {
        let context = self.client.context();
        let (scale, level) = (scale_of(context, scale)?, level.0 as usize);
        let mut values = vector("encrypt", context, values)?;
        let encrypted = answer(py, || self.client.encrypt(&values, bound, level, scale, &mut os_rng()?));
        values.wipe();
        encrypted
    }

    /// Decrypts all slots.
    ///
    /// **Warning.** Errors of CKKS depend on the secret key. Round what you publish.
    ///
    /// Parameters
    /// ----------
    /// ciphertext : ExplicitCiphertext
    ///     Of 2 or 3 polynomials.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     complex128 of length n/2; in BGV int64 of length n, between -modulus/2 and modulus/2.
    ///
    /// Raises
    /// ------
    /// NotDecryptable
    ///     If the ciphertext holds more than its bound.
    /// OtherContext, OtherKeyPair
    fn decrypt<'py>(&self, py: Python<'py>, ciphertext: &PyExplicitCiphertext) -> PyResult<Bound<'py, PyAny>> {
        Ok(match quick(py, || self.client.decrypt(&ciphertext.ciphertext))? {
            Values::Complex(values) => values.into_pyarray(py).into_any(),
            Values::Integers(values) => values.into_pyarray(py).into_any(),
        })
    }

    fn __repr__(&self) -> String {
        "<windlass.ExplicitClient>".to_owned()
    }
}

/// The result of an operation.
fn answer(
    py: Python<'_>,
    work: impl FnOnce() -> windlass::Result<Ciphertext> + Send,
) -> PyResult<PyExplicitCiphertext> {
    Ok(PyExplicitCiphertext { ciphertext: quick(py, work)? })
}

#[pymethods]
impl PyExplicitServer {
    /// ``a + b``: of 3 polynomials if an operand has 3.
    fn add(
        &self,
        py: Python<'_>,
        a: &PyExplicitCiphertext,
        b: &PyExplicitCiphertext,
    ) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.add(&a.ciphertext, &b.ciphertext))
    }

    /// ``a - b``: of 3 polynomials if an operand has 3.
    fn sub(
        &self,
        py: Python<'_>,
        a: &PyExplicitCiphertext,
        b: &PyExplicitCiphertext,
    ) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.sub(&a.ciphertext, &b.ciphertext))
    }

    /// ``a + b`` for a plaintext.
    fn add_plain(
        &self,
        py: Python<'_>,
        a: &PyExplicitCiphertext,
        b: &PyExplicitPlaintext,
    ) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.add_plain(&a.ciphertext, &b.plaintext))
    }

    /// ``a - b`` for a plaintext.
    fn sub_plain(
        &self,
        py: Python<'_>,
        a: &PyExplicitCiphertext,
        b: &PyExplicitPlaintext,
    ) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.sub_plain(&a.ciphertext, &b.plaintext))
    }

    /// ``-a``.
    fn negate(&self, py: Python<'_>, a: &PyExplicitCiphertext) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.negate(&a.ciphertext))
    }

    /// ``a * b``, of 3 polynomials and the product of both scales.
    fn multiply(
        &self,
        py: Python<'_>,
        a: &PyExplicitCiphertext,
        b: &PyExplicitCiphertext,
    ) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.multiply(&a.ciphertext, &b.ciphertext))
    }

    /// ``a * b`` for a plaintext, with the product of both scales.
    fn multiply_plain(
        &self,
        py: Python<'_>,
        a: &PyExplicitCiphertext,
        b: &PyExplicitPlaintext,
    ) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.multiply_plain(&a.ciphertext, &b.plaintext))
    }

    /// From 3 polynomials to 2.
    fn relinearize(&self, py: Python<'_>, a: &PyExplicitCiphertext) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.relinearize(&a.ciphertext))
    }

    /// Divides by the last step of the chain: the rescaling of CKKS, the modulus switch of BGV.
    fn rescale(&self, py: Python<'_>, a: &PyExplicitCiphertext) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.rescale(&a.ciphertext))
    }

    /// Drops the last steps of the chain. The scale stays.
    #[pyo3(signature = (a, steps=Natural(1)))]
    fn level_reduce(&self, py: Python<'_>, a: &PyExplicitCiphertext, steps: Natural) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.level_reduce(&a.ciphertext, steps.0 as usize))
    }

    /// Moves slot j + amount of each row to slot j.
    fn rotate(&self, py: Python<'_>, a: &PyExplicitCiphertext, amount: Whole) -> PyResult<PyExplicitCiphertext> {
        answer(py, || self.server.rotate(&a.ciphertext, amount.0))
    }

    fn __repr__(&self) -> String {
        "<windlass.ExplicitServer>".to_owned()
    }
}

#[pymethods]
impl PyExplicitPlaintext {
    /// The level.
    #[getter]
    fn level(&self) -> usize {
        self.plaintext.level()
    }

    /// The scale: a float in CKKS, the plaintext factor in BGV.
    #[getter]
    fn scale(&self) -> PyScale {
        self.plaintext.scale().into()
    }
}

#[pymethods]
impl PyExplicitCiphertext {
    /// The number of polynomials: 2, or 3 before relinearisation.
    #[getter]
    fn size(&self) -> usize {
        self.ciphertext.size()
    }

    /// How many steps of the chain can still be dropped.
    #[getter]
    fn level(&self) -> usize {
        self.ciphertext.level()
    }

    /// The scale: a float in CKKS, the plaintext factor in BGV.
    #[getter]
    fn scale(&self) -> PyScale {
        self.ciphertext.scale().into()
    }

    /// log2 of the bound on the noise, in units of the phase.
    #[getter]
    fn noise_bits(&self) -> f64 {
        self.ciphertext.log2_noise()
    }

    /// The bits by which message and noise may still grow.
    #[getter]
    fn room_bits(&self) -> f64 {
        self.ciphertext.room_bits()
    }

    /// CKKS: a bound on the error of every slot. BGV: 0.
    #[getter]
    fn error_bound(&self) -> f64 {
        self.ciphertext.error_bound()
    }

    fn __repr__(&self) -> String {
        let (size, level, scale) = (self.ciphertext.size(), self.ciphertext.level(), self.ciphertext.scale());
        let room = self.ciphertext.room_bits();
        format!(
            "<windlass.ExplicitCiphertext of {size} polynomials, level {level}, scale {scale}, {room:.1} bits of room>"
        )
    }
}
