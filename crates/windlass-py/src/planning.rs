//! Choosing parameters: progress, and a warning where there are few slots.

use std::ffi::CString;

use pyo3::prelude::*;
use windlass::bootstrap::SearchProgress;
use windlass::{Context, ParamSpec, Params};

use crate::error::plain;
use crate::runtime::{long, quick};

/// The context for a specification; with `unlimited` one that bootstraps, which shows how far the
/// search is.
pub fn context(
    py: Python<'_>,
    spec: ParamSpec,
    unlimited: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Context> {
    let (any_slots, m) = (spec.slots <= 1, spec.m);
    // What takes milliseconds has nothing to show.
    let none = pyo3::types::PyBool::new(py, false);
    let progress = if unlimited { progress } else { Some(none.as_any()) };
    let context = long(py, progress, "planning", move |ticker| match unlimited {
        true => Context::plan_any_depth_observed(&spec, &|at: SearchProgress| ticker.tell(at.done, at.count)),
        false => Context::plan(&spec),
    })?;
    if any_slots && m.is_none() {
        warn_of_few_slots(py, context.params())?;
    }
    Ok(context)
}

/// The context for a specification, for a key that so many parties hold together, with room for decryptions.
pub fn context_among(py: Python<'_>, spec: &ParamSpec, unlimited: bool, parties: u32) -> PyResult<Context> {
    if unlimited {
        let message = "unlimited and parties: several parties cannot make the keys of refreshes yet; plan for a depth";
        return Err(plain(py, "NoParameters", message));
    }
    // Sets for fewer than two parties are refused as such.
    let spec = ParamSpec { parties: parties.max(2), ..spec.clone() };
    quick(py, || {
        let params = Params::plan(&spec)?;
        Context::from_params(if parties < 2 { params.with_parties(parties)? } else { params })
    })
}

/// A warning where slots were not asked for, and there is not one for a thousand coefficients.
fn warn_of_few_slots(py: Python<'_>, params: &Params) -> PyResult<()> {
    let (slots, n, m) = (params.slot_count(), params.rlwe().n(), params.m());
    let Some(next) = params.filling_prime().filter(|_| slots * 1000 < n) else {
        return Ok(());
    };
    let p = params.p();
    let text = format!(
        "a ciphertext of n = {n} coefficients has {slots} slots for numbers, since p = {p} is not 1 modulo m = {m}: state how many you need (slots=...) to find another ring, or use p = {next}, the next prime with {n} slots"
    );
    let category = PyModule::import(py, "windlass.errors")?.getattr("FewSlotsWarning")?;
    PyErr::warn(py, &category, &CString::new(text).unwrap_or_default(), 1)
}
