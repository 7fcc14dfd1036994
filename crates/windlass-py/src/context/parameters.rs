//! Contexts from parameters: planned, named, or out of a file.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use windlass::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefreshRequirements, PreciseRefreshSpec};
use windlass::bootstrap::approximate::{RefreshPlan, RefreshRequirements, RefreshSpec};
use windlass::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefreshRequirements};

use crate::error::{of_file, raise};
use crate::for_circuits::asked;
use crate::natural::Natural;
use crate::numbers::prime_power;
use crate::parameters::{Asked, of_all_sets, refresh_json, scheme_of, secure, secure_wide};
use crate::planning;
use crate::runtime::{long, quick};
use crate::setting::{Kind, PyContext, Setting, state};

#[pymethods]
impl PyContext {
    /// Chooses the smallest parameters for a computation with integers.
    ///
    /// Parameters
    /// ----------
    /// modulus : int
    ///     The plaintext modulus, a power of a prime below 2**45.
    ///
    ///     **Warning.** Integers are computed modulo it. A result that is too large wraps around
    ///     without an error.
    /// depth : int, optional
    ///     Multiplications of ciphertexts in sequence; 1 by default.
    /// slots : int
    ///     The minimum number of slots of a ciphertext.
    /// scheme : str
    ///     ``"BGV"`` or ``"BFV"``.
    /// linear_maps : int, optional
    ///     Products with plaintext matrices or vectors in sequence, in addition to the
    ///     multiplications; 1 by default.
    /// capacity : float
    ///     Bits of capacity that must be left after these.
    /// security : float
    ///     Bits of security, from 128 to 256.
    /// m : int, optional
    ///     The cyclotomic index; by default the planner chooses it.
    /// unlimited : bool
    ///     Choose parameters that bootstrap, for circuits of any depth; ``depth`` is then ignored.
    /// max_key_bytes : int, optional
    ///     The maximum bytes of one switching key in memory.
    /// progress : bool or callable, optional
    ///     ``False`` shows no progress bar; a callable is called with (done, count). Only
    ///     ``unlimited`` takes long: a minute or more if neither a named set nor a power of two has
    ///     enough slots and composite rings are searched.
    /// for_ : sequence, optional
    ///     Instead of ``depth`` and ``linear_maps``: the steps of the computation in order. A step
    ///     is a matrix (an array of two dimensions), a polynomial of ``numpy.polynomial``, a number
    ///     of products, or a circuit or layer of another context of integers.
    /// parties : int, optional
    ///     For a key that so many parties hold together (:mod:`windlass.parties`), with room for the noise of
    ///     decryptions with 40 bits of statistical security for 1024 of them.
    ///
    /// Returns
    /// -------
    /// Context
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     If no parameters suffice; the message says what the last candidate lacked.
    /// ParameterError
    ///     If an argument is out of range, such as a modulus that is not a power of a prime or
    ///     security below 128.
    ///
    /// Warns
    /// -----
    /// FewSlotsWarning
    ///     If ``slots`` is not given and the ring has fewer than one slot for a thousand
    ///     coefficients.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> wl.Context.plan(modulus=2**8, depth=2, scheme="BFV").modulus
    /// 256
    #[staticmethod]
    #[pyo3(signature = (*, modulus=Natural(65537), depth=None, slots=Natural(1), scheme="BGV", linear_maps=None, capacity=0.0, security=128.0, m=None, unlimited=false, max_key_bytes=None, progress=None, for_=None, parties=None), text_signature = "(*, modulus=65537, depth=None, slots=1, scheme='BGV', linear_maps=None, capacity=0.0, security=128.0, m=None, unlimited=False, max_key_bytes=None, progress=None, for_=None, parties=None)")]
    fn plan(
        py: Python<'_>,
        modulus: Natural,
        depth: Option<Natural>,
        slots: Natural,
        scheme: &str,
        linear_maps: Option<Natural>,
        capacity: f64,
        security: f64,
        m: Option<Natural>,
        unlimited: bool,
        max_key_bytes: Option<Natural>,
        progress: Option<&Bound<'_, PyAny>>,
        for_: Option<&Bound<'_, PyAny>>,
        parties: Option<Natural>,
    ) -> PyResult<Self> {
        let asked = Asked { modulus, depth, slots, scheme, linear_maps, capacity, security, m, max_key_bytes, for_ };
        let spec = asked.spec(py)?;
        let context = match parties {
            None => planning::context(py, spec, unlimited, progress)?,
            Some(parties) => planning::context_among(py, &spec, unlimited, number_of(parties))?,
        };
        Ok(Self { setting: Setting::of_params(context) })
    }

    /// Takes a named parameter set; :func:`windlass.presets` lists the names.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     The name.
    ///
    ///     **Warning.** Sets with ``insecure`` in their name are for tests. Sets with ``paper``
    ///     repeat published parameters, most of them near 80 bits of security. All others have at
    ///     least 128 bits.
    /// scheme : str, optional
    ///     ``"BGV"`` (by default) or ``"BFV"``. Sets with ``refresh`` or ``precise`` in their name are of
    ///     CKKS, with refreshes (:meth:`bootstrapping`), and have no other scheme.
    /// parties : int, optional
    ///     For a key that so many parties hold together (:mod:`windlass.parties`).
    ///
    /// Raises
    /// ------
    /// UnknownName
    ///     If there is no such set; its attribute ``known`` lists all names.
    /// ParameterError
    ///     If the set is not one of this scheme.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> wl.Context.preset("insecure_toy_256").slots
    /// 128
    /// >>> wl.Context.preset("insecure_toy_refresh_1024").scheme
    /// 'CKKS'
    #[staticmethod]
    #[pyo3(signature = (name, *, scheme=None, parties=None))]
    fn preset(py: Python<'_>, name: String, scheme: Option<&str>, parties: Option<Natural>) -> PyResult<Self> {
        let scheme = scheme_of(py, &name, scheme)?;
        let setting = quick(py, || {
            let state = match scheme {
                Some(scheme) => state(&[("preset", name), ("scheme", scheme.to_string())]),
                None => state(&[("ckks", refresh_json(&name)?)]),
            };
            Setting::from_state(&state).map_err(of_all_sets)
        })?;
        among(py, setting, parties)
    }

    /// Chooses parameters for real and complex numbers (CKKS) with 128 bits of security.
    ///
    /// Parameters
    /// ----------
    /// depth : int, optional
    ///     Products in sequence with ciphertexts, matrices, vectors, and numbers that are not
    ///     integers; 2 by default. ``.depth`` of a polynomial, a layer or a shift is its depth.
    /// scale_bits : int
    ///     log2 of the scale, 25 to 50. Numbers keep about ``scale_bits - 15`` bits after the
    ///     point.
    /// value_bits : int
    ///     Values may grow to almost 2**value_bits; at most 850.
    /// slots : int
    ///     The minimum number of slots of a ciphertext.
    /// for_ : sequence, optional
    ///     Instead of ``depth``: the steps of the computation in order. A step is a matrix (an
    ///     array of two dimensions), a polynomial of ``numpy.polynomial``, a number of products, or
    ///     a circuit or layer of another CKKS context. A level is added where a step must clear
    ///     what the steps before it leave in the slots beside the entries.
    /// parties : int, optional
    ///     For a key that so many parties hold together (:mod:`windlass.parties`). A decryption takes about 80
    ///     bits of the numbers, so the scale should have 120 bits; it may have up to 150 then.
    ///
    ///     **Warning.** Products with plaintext arrays and matrices, and polynomials, keep 49 bits, since their
    ///     constants are float64. A decryption by several parties is refused then. Sums and products of
    ///     ciphertexts keep all bits.
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     If no ring of the security tables suffices.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, windlass as wl
    /// >>> wl.Context.approximate(depth=2).scheme
    /// 'CKKS'
    /// >>> sigmoid = np.polynomial.Chebyshev.interpolate(lambda x: 1 / (1 + np.exp(-x)), 7, [-8, 8])
    /// >>> wl.Context.approximate(for_=[np.ones((2, 3)), sigmoid]).depth
    /// 6
    #[staticmethod]
    #[pyo3(signature = (*, depth=None, scale_bits=Natural(40), value_bits=Natural(16), slots=Natural(1), for_=None, parties=None), text_signature = "(*, depth=None, scale_bits=40, value_bits=16, slots=1, for_=None, parties=None)")]
    fn approximate(
        py: Python<'_>,
        depth: Option<Natural>,
        scale_bits: Natural,
        value_bits: Natural,
        slots: Natural,
        for_: Option<&Bound<'_, PyAny>>,
        parties: Option<Natural>,
    ) -> PyResult<Self> {
        let needed = asked(py, &[("depth", depth.is_some())], for_, false)?;
        let depth = needed.map_or(depth.unwrap_or(Natural(2)), |needed| Natural(needed.products() as u64));
        let setting = quick(py, || {
            let spec = match parties {
                None => secure(depth, scale_bits, value_bits, slots)?,
                Some(parties) => secure_wide(depth, scale_bits, value_bits, slots)?.with_parties(number_of(parties)),
            };
            Setting::from_state(&state(&[("ckks", spec.to_json())]))
        })?;
        Ok(Self { setting })
    }

    /// Chooses parameters for real and complex numbers (CKKS) whose ciphertexts can be refreshed, for
    /// circuits of any depth, with 128 bits of security.
    ///
    /// Parameters
    /// ----------
    /// slots : int
    ///     The minimum number of slots of a ciphertext. A refresh of few slots costs less.
    /// depth : int
    ///     Products in sequence between two refreshes.
    /// precision : float
    ///     The stated error of a refresh is at most ``2**-precision`` for numbers of absolute value 1; from
    ///     1 to 85. Above 40 a refresh runs in several passes, and a ciphertext holds more bits than
    ///     float64 (:meth:`Client.encrypt_wide`).
    /// max_keys : int, optional
    ///     The most keys of each map, 10 by default: fewer keys take less memory and more time. Not for
    ///     several passes.
    /// progress : bool or callable, optional
    /// parties : int, optional
    ///     For a key that so many parties hold together (:mod:`windlass.parties`). The noise of their decryptions
    ///     takes some 60 to 70 bits of the precision: ask for 75 or more.
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     If no ring of the security tables has room; the message says what is missing.
    /// ParameterError
    ///     If an argument is out of range.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.refreshing(slots=256, depth=1, precision=12)
    /// >>> context.ring_dimension, context.security >= 128
    /// (32768, True)
    #[staticmethod]
    #[pyo3(signature = (*, slots=Natural(1), depth=Natural(3), precision=20.0, max_keys=Natural(10), progress=None, parties=None), text_signature = "(*, slots=1, depth=3, precision=20.0, max_keys=10, progress=None, parties=None)")]
    fn refreshing(
        py: Python<'_>,
        slots: Natural,
        depth: Natural,
        precision: f64,
        max_keys: Natural,
        progress: Option<&Bound<'_, PyAny>>,
        parties: Option<Natural>,
    ) -> PyResult<Self> {
        let small = |number: Natural| usize::try_from(number.0).unwrap_or(usize::MAX);
        let parties = parties.map_or(1, number_of);
        let requirements = RefreshRequirements {
            slots: small(slots),
            depth: small(depth),
            precision_bits: precision,
            max_keys: Some(small(max_keys)),
            parties,
        };
        let several = PreciseRefreshRequirements {
            slots: requirements.slots,
            depth: requirements.depth,
            precision_bits: precision,
            parties,
        };
        let json = long(py, progress, "planning", move |_| match precision > ONE_PASS {
            true => Ok(PreciseRefreshPlan::choose(&several)?.spec().to_json()),
            false => Ok(RefreshPlan::choose(&requirements)?.spec().to_json()),
        })?;
        let setting = quick(py, || Setting::from_state(&state(&[("ckks", json)])))?;
        Ok(Self { setting })
    }

    /// Chooses parameters for integers modulo a prime below 2**40 or a power of two up to 2**20, whose
    /// ciphertexts are refreshed through CKKS, for circuits of any depth, with 128 bits of security. For
    /// small primes :meth:`plan` with ``unlimited=True`` costs less.
    ///
    /// Parameters
    /// ----------
    /// modulus : int
    ///     Modulo a power of two the ring has no slots: an array of integers has one entry in each
    ///     ciphertext, and ``encrypt(..., elements=True)`` takes the n coefficients of polynomials, whose
    ///     products are those of polynomials.
    /// depth : int
    ///     Products in sequence between two refreshes.
    /// scheme : str
    ///     ``"BGV"`` or ``"BFV"``.
    /// ring_dimension : int, optional
    ///     32768 or 65536; by default the smallest that suffices.
    /// progress : bool or callable, optional
    ///
    /// Raises
    /// ------
    /// NoParameters
    ///     If no ring of the security tables has room; the message says what is missing.
    /// ParameterError
    ///     If an argument is out of range.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_exact_1024_p65537")
    /// >>> client, server = context.generate_keys(context.bootstrapping())
    /// >>> x = server.receive(client.encrypt([2, 3]))
    /// >>> client.decrypt(x.refresh())
    /// array([2, 3])
    #[staticmethod]
    #[pyo3(signature = (*, modulus=Natural(65537), depth=Natural(1), scheme="BGV", ring_dimension=None, progress=None), text_signature = "(*, modulus=65537, depth=1, scheme='BGV', ring_dimension=None, progress=None)")]
    fn exact_refreshing(
        py: Python<'_>,
        modulus: Natural,
        depth: Natural,
        scheme: &str,
        ring_dimension: Option<Natural>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (prime, exponent) = prime_power(py, modulus.0)?;
        let requirements = ExactRefreshRequirements {
            prime,
            exponent,
            products: u32::try_from(depth.0).unwrap_or(u32::MAX),
            n: ring_dimension.map(|n| usize::try_from(n.0).unwrap_or(usize::MAX)),
        };
        let scheme = crate::parameters::scheme(py, scheme)?;
        let json = long(py, progress, "planning", move |_| {
            Ok(ExactRefreshPlan::choose(&requirements)?.spec().to_json(scheme))
        })?;
        let setting = quick(py, || Setting::from_state(&state(&[("parameters", json)])))?;
        Ok(Self { setting })
    }

    /// Reads the parameters from a file that :meth:`save` or ``windlass params plan --out`` wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file of JSON.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If the file does not hold parameters.
    /// InsecureParameters
    ///     If the file calls the set secure, but its security is below 128 bits.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "parameters.json"
    /// >>> context.save(path)
    /// >>> wl.Context.from_file(path).slots
    /// 128
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let text = parameter_text(&path).map_err(|error| of_file(py, raise(py, error.into()), &path))?;
        let setting = quick(py, || {
            let is_refresh = RefreshSpec::is_json(&text) || PreciseRefreshSpec::is_json(&text);
            let is_ckks = text.contains("windlass_ckks_parameters") || is_refresh;
            let field = if is_ckks { "ckks" } else { "parameters" };
            Setting::from_state(&state(&[(field, text)]))
        })
        .map_err(|error| of_file(py, error, &path))?;
        Ok(Self { setting })
    }

    /// The same parameters for a key that so many parties hold together (:mod:`windlass.parties`). Noise grows
    /// faster, since the secret and the errors of keys are sums: :attr:`depth` can be less.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     For fewer than 2 parties, or more than can be.
    /// NoParameters
    ///     If the parameters are made for refreshes of integers through CKKS, or no set of this ring is secure for so
    ///     many.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> wl.Context.preset("insecure_toy_256").with_parties(3).slots
    /// 128
    fn with_parties(&self, py: Python<'_>, parties: Natural) -> PyResult<Self> {
        Ok(Self { setting: quick(py, || self.setting.among(number_of(parties)))? })
    }

    /// Writes the parameters to a new JSON file, which the command line also reads.
    ///
    /// Raises
    /// ------
    /// FileExists
    ///     If the file exists; it is not changed.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "parameters.json"
    /// >>> context.save(path)
    /// >>> wl.Context.from_file(path).slots
    /// 128
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let json = self.parameters_json();
        windlass::wire::write_new(&path, json.as_bytes(), windlass::wire::Access::Public)
            .map_err(|error| of_file(py, raise(py, error.into()), &path))
    }

    /// The parameters as JSON.
    fn parameters_json(&self) -> String {
        match &self.setting.kind {
            Kind::Exact(context) => context.to_json(),
            Kind::Approximate(context) => context.to_json(),
        }
    }
}

/// A number of parties. What is too large is refused with the parameters.
fn number_of(parties: Natural) -> u32 {
    u32::try_from(parties.0).unwrap_or(u32::MAX)
}

/// The context for so many parties, if a number is given.
fn among(py: Python<'_>, setting: Arc<Setting>, parties: Option<Natural>) -> PyResult<PyContext> {
    let Some(parties) = parties else { return Ok(PyContext { setting }) };
    Ok(PyContext { setting: quick(py, || setting.among(number_of(parties)))? })
}

/// The most bits that are asked of a refresh in one pass.
const ONE_PASS: f64 = 40.0;

/// Parameters in text are no longer than this.
const LONGEST: u64 = 1 << 16;

/// The text of a file of parameters, cut one byte beyond the longest that is read: a longer one is refused
/// as such.
fn parameter_text(path: &Path) -> Result<String, windlass::wire::WireError> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
