//! Lists, plans and describes parameters without making a context.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass::bootstrap::approximate::precise::{PreciseRefreshPlan, precise_refresh_preset_names};
use windlass::bootstrap::approximate::{RefreshSpec, refresh_preset_names};
use windlass::bootstrap::exact_through_ckks::exact_refresh_preset_names;
use windlass::params::preset_names;
use windlass::rlwe::RlweParams;
use windlass::schemes::ckks::CkksSpec;
use windlass::{Context, Error, ParamSpec, Params, Result, Scheme};

use crate::error::{plain, raise};
use crate::for_circuits::asked;
use crate::natural::Natural;
use crate::numbers::prime_power;
use crate::planning;
use crate::runtime::{long, quick};
use crate::setting::scheme_named;

/// BGV or BFV by name.
pub fn scheme(py: Python<'_>, name: &str) -> PyResult<Scheme> {
    scheme_named(name).ok_or_else(|| {
        plain(
            py,
            "ParameterError",
            format!("unknown scheme {name:?}; choose \"BGV\" or \"BFV\", or Context.approximate(...) for CKKS"),
        )
    })
}

/// JSON text as Python objects.
pub fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    PyModule::import(py, "json")?.call_method1("loads", (text,))
}

/// The names of all parameter sets.
///
/// Returns
/// -------
/// list of str
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> "demo" in wl.presets()
/// True
#[pyfunction]
pub fn presets() -> Vec<&'static str> {
    let exact = preset_names().chain(exact_refresh_preset_names());
    exact.chain(refresh_preset_names()).chain(precise_refresh_preset_names()).collect()
}

/// Whether a named set is one of CKKS, which refreshes.
pub fn is_refresh(name: &str) -> bool {
    refresh_preset_names().chain(precise_refresh_preset_names()).any(|known| known == name)
}

/// The parameters of a named set of CKKS as JSON.
pub fn refresh_json(name: &str) -> Result<String> {
    match precise_refresh_preset_names().any(|known| known == name) {
        true => Ok(PreciseRefreshPlan::preset(name)?.spec().to_json()),
        false => Ok(RefreshSpec::preset(name)?.to_json()),
    }
}

/// The scheme of a named set: BGV unless BFV is asked for. Sets of CKKS have no other.
pub fn scheme_of(py: Python<'_>, name: &str, scheme: Option<&str>) -> PyResult<Option<Scheme>> {
    match scheme {
        None | Some("CKKS") if is_refresh(name) => Ok(None),
        Some(other) if is_refresh(name) => {
            let message = format!("the set {name} is one of CKKS, not of {other}: leave scheme out");
            Err(plain(py, "ParameterError", message))
        }
        scheme => self::scheme(py, scheme.unwrap_or("BGV")).map(Some),
    }
}

/// The error of an unknown set, with the names of all sets.
pub fn of_all_sets(error: Error) -> Error {
    match error {
        Error::UnknownName { what, given, .. } => {
            Error::UnknownName { what, given, known: presets().into_iter().map(str::to_owned).collect() }
        }
        other => other,
    }
}

/// Describes a named parameter set without making a context.
///
/// Returns
/// -------
/// dict
///     As :meth:`Context.describe`.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> wl.preset_parameters("insecure_toy_256")["slots"]
/// 128
#[pyfunction]
#[pyo3(signature = (name, *, scheme=None))]
pub fn preset_parameters<'py>(py: Python<'py>, name: &str, scheme: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let Some(scheme) = scheme_of(py, name, scheme)? else {
        if precise_refresh_preset_names().any(|known| known == name) {
            let plan = quick(py, || PreciseRefreshPlan::preset(name))?;
            return Ok(describe_approximate(py, plan.context().spec(), plan.context().rlwe().params())?.into_any());
        }
        let spec = RefreshSpec::preset(name).map_err(|error| raise(py, error))?;
        let ckks = spec.to_ckks();
        let rlwe = ckks.to_params().map_err(|error| raise(py, error))?;
        let dict = describe_approximate(py, &ckks, &rlwe)?;
        dict.set_item("slots", spec.slots)?;
        return Ok(dict.into_any());
    };
    let params = match exact_refresh_preset_names().any(|known| known == name) {
        true => quick(py, || Context::preset(name)?.with_scheme(scheme))?.params().clone(),
        false => Params::preset(name, scheme).map_err(|error| raise(py, of_all_sets(error)))?,
    };
    loads(py, &serde_json::to_string(&params.describe()).unwrap_or_default())
}

/// Describes the parameters that :meth:`Context.plan` would choose, without making a context.
///
/// Parameters
/// ----------
/// modulus, depth, slots, scheme, linear_maps, capacity, security, m, unlimited, max_key_bytes, for_
///     As of :meth:`Context.plan`.
/// progress : bool or callable, optional
///     As of :meth:`Context.plan`.
///
/// Returns
/// -------
/// dict
///     As :meth:`Context.describe`.
///
/// Raises
/// ------
/// NoParameters
///     If no parameters suffice; the message says what the last candidate lacked.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> wl.plan_parameters(modulus=257, depth=1)["security_bits"] >= 128
/// True
#[pyfunction]
#[pyo3(signature = (*, modulus=Natural(65537), depth=None, slots=Natural(1), scheme="BGV", linear_maps=None, capacity=0.0, security=128.0, m=None, unlimited=false, max_key_bytes=None, progress=None, for_=None), text_signature = "(*, modulus=65537, depth=None, slots=1, scheme='BGV', linear_maps=None, capacity=0.0, security=128.0, m=None, unlimited=False, max_key_bytes=None, progress=None, for_=None)")]
pub fn plan_parameters<'py>(
    py: Python<'py>,
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
    progress: Option<&Bound<'py, PyAny>>,
    for_: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let asked = Asked { modulus, depth, slots, scheme, linear_maps, capacity, security, m, max_key_bytes, for_ };
    let spec = asked.spec(py)?;
    let params = match unlimited {
        true => planning::context(py, spec, true, progress)?.params().clone(),
        false => {
            long(py, Some(pyo3::types::PyBool::new(py, false).as_any()), "planning", move |_| Params::plan(&spec))?
        }
    };
    loads(py, &serde_json::to_string(&params.describe()).unwrap_or_default())
}

/// Describes the parameters that :meth:`Context.approximate` would choose, without making a
/// context.
///
/// Parameters
/// ----------
/// depth, scale_bits, value_bits, slots, for_
///     As of :meth:`Context.approximate`.
///
/// Returns
/// -------
/// dict
///     As :meth:`Context.describe`.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> wl.approximate_parameters(depth=1)["slots"]
/// 4096
#[pyfunction]
#[pyo3(signature = (*, depth=None, scale_bits=Natural(40), value_bits=Natural(16), slots=Natural(1), for_=None), text_signature = "(*, depth=None, scale_bits=40, value_bits=16, slots=1, for_=None)")]
pub fn approximate_parameters<'py>(
    py: Python<'py>,
    depth: Option<Natural>,
    scale_bits: Natural,
    value_bits: Natural,
    slots: Natural,
    for_: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let needed = asked(py, &[("depth", depth.is_some())], for_, false)?;
    let depth = needed.map_or(depth.unwrap_or(Natural(2)), |needed| Natural(needed.products() as u64));
    let spec = secure(depth, scale_bits, value_bits, slots).map_err(|error| raise(py, error))?;
    let rlwe = spec.to_params().map_err(|error| raise(py, error))?;
    describe_approximate(py, &spec, &rlwe)
}

/// A specification with 128 bits of security.
pub fn secure(depth: Natural, scale_bits: Natural, value_bits: Natural, slots: Natural) -> Result<CkksSpec> {
    let bits = |bits: Natural| u32::try_from(bits.0).unwrap_or(u32::MAX);
    CkksSpec::secure(depth.0 as usize, bits(scale_bits), bits(value_bits), slots.0 as usize)
}

/// As [`secure`], at scales of up to 150 bits.
pub fn secure_wide(depth: Natural, scale_bits: Natural, value_bits: Natural, slots: Natural) -> Result<CkksSpec> {
    let bits = |bits: Natural| u32::try_from(bits.0).unwrap_or(u32::MAX);
    CkksSpec::secure_wide(depth.0 as usize, bits(scale_bits), bits(value_bits), slots.0 as usize)
}

/// What is known of CKKS parameters.
pub fn describe_approximate<'py>(py: Python<'py>, spec: &CkksSpec, rlwe: &RlweParams) -> PyResult<Bound<'py, PyDict>> {
    let security = rlwe.security();
    let dict = PyDict::new(py);
    dict.set_item("scheme", "CKKS")?;
    dict.set_item("m", rlwe.m())?;
    dict.set_item("n", rlwe.n())?;
    dict.set_item("slots", rlwe.n() / 2)?;
    dict.set_item("slot_degree", 1)?;
    dict.set_item("security_bits", security.bits)?;
    dict.set_item("security_source", security.to_string())?;
    dict.set_item("secure", security.bits >= RlweParams::REQUIRED_SECURITY)?;
    dict.set_item("log2_q", rlwe.log2_q(rlwe.top_level()))?;
    dict.set_item("log2_p", rlwe.log2_p())?;
    dict.set_item("log2_qp", rlwe.log2_qp())?;
    dict.set_item("levels", rlwe.top_level())?;
    dict.set_item("special_primes", rlwe.special_primes().len())?;
    dict.set_item("digits", rlwe.digits())?;
    dict.set_item("depth", spec.depth)?;
    dict.set_item("scale_bits", spec.scale_bits)?;
    dict.set_item("sizes", loads(py, &serde_json::to_string(&spec.key_sizes(rlwe)).unwrap_or_default())?)?;
    Ok(dict)
}

/// What parameters are asked for, as Python says it.
pub struct Asked<'a> {
    pub modulus: Natural,
    pub depth: Option<Natural>,
    pub slots: Natural,
    pub scheme: &'a str,
    pub linear_maps: Option<Natural>,
    pub capacity: f64,
    pub security: f64,
    pub m: Option<Natural>,
    pub max_key_bytes: Option<Natural>,
    /// What is computed, instead of depth and linear maps.
    pub for_: Option<&'a Bound<'a, PyAny>>,
}

impl Asked<'_> {
    /// The specification. What is not said of depth and linear maps is 1.
    pub fn spec(&self, py: Python<'_>) -> PyResult<ParamSpec> {
        let given = [("depth", self.depth.is_some()), ("linear_maps", self.linear_maps.is_some())];
        let needed = asked(py, &given, self.for_, true)?;
        let said = [self.depth, self.linear_maps].map(|given| given.unwrap_or(Natural(1)));
        let [depth, linear_maps] =
            needed.map_or(said, |needed| [needed.products(), needed.linear_maps()].map(|count| Natural(count as u64)));
        let (p, r) = prime_power(py, self.modulus.0)?;
        let count = |name: &str, given: Natural| {
            u32::try_from(given.0)
                .map_err(|_| plain(py, "ParameterError", format!("{name} is {}, but must be below 2^32", given.0)))
        };
        Ok(ParamSpec {
            parties: 1,
            scheme: scheme(py, self.scheme)?,
            p,
            r,
            slots: self.slots.0 as usize,
            m: self.m.map(|m| m.0),
            depth: count("depth", depth)?,
            linear_maps: count("linear_maps", linear_maps)?,
            capacity: self.capacity,
            security: self.security,
            max_switching_key_bytes: self.max_key_bytes.map(|bytes| bytes.0),
        })
    }
}
