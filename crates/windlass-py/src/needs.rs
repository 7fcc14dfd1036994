//! Keys that belong to no circuit, as arguments of `generate_keys`.

use std::collections::BTreeSet;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use windlass::needs::KeyRequest;

use crate::bootstrapping::PyBootstrapping;
use crate::circuit::PyCircuit;
use crate::error::plain;
use crate::matrix::PyLinear;
use crate::memory::check_memory;
use crate::setting::Setting;

/// Keys that are not those of a circuit, to be named in :meth:`Context.generate_keys`.
#[pyclass(frozen, name = "Keys", module = "windlass")]
pub struct PyKeys {
    pub setting: Arc<Setting>,
    pub requests: Vec<KeyRequest>,
}

impl PyKeys {
    pub fn new(setting: &Arc<Setting>, requests: Vec<KeyRequest>) -> Self {
        Self { setting: Arc::clone(setting), requests }
    }
}

#[pymethods]
impl PyKeys {
    /// The automorphisms that need Galois keys, increasing.
    #[getter]
    fn required_keys(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.requests.iter().flat_map(|request| request.galois.keys().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether the relinearisation key is among them.
    #[getter]
    fn relinearisation(&self) -> bool {
        self.requests.iter().any(|request| request.relinearisation.is_some())
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.requests.iter().map(|request| request.needed_by.as_str()).collect();
        format!("<windlass.Keys for {}>", names.join(" and "))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            let same =
                self.required_keys() == other.required_keys() && self.relinearisation() == other.relinearisation();
            same && self.setting.same(&other.setting)
        })
    }

    fn __hash__(&self) -> usize {
        self.required_keys().len()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        crate::pickle::reduce(
            py,
            "restore_keys",
            (self.setting.state.clone(), self.required_keys(), self.relinearisation()),
        )
    }
}

/// What all circuits of a list need; lists may hold lists.
pub fn requests(py: Python<'_>, setting: &Arc<Setting>, circuits: &Bound<'_, PyTuple>) -> PyResult<Vec<KeyRequest>> {
    let mut all = Vec::new();
    for circuit in circuits.iter() {
        if let Ok(list) = circuit.cast::<PyList>() {
            all.extend(requests(py, setting, &list.to_tuple())?);
        } else if let Ok(tuple) = circuit.cast::<PyTuple>() {
            all.extend(requests(py, setting, tuple)?);
        } else if let Ok(parts) = circuit.getattr("__windlass_needs__") {
            // What is built of circuits says which of them it needs.
            all.extend(requests(py, setting, &PyTuple::new(py, [parts.call0()?])?)?);
        } else {
            let (own, needs) = needs_of(&circuit)?;
            if !own.same(setting) {
                let message = format!(
                    "{} was made for another context ({}, not {}); make it with this one",
                    circuit.repr()?,
                    own.in_words(),
                    setting.in_words()
                );
                return Err(plain(py, "OtherContext", message));
            }
            all.extend(needs);
        }
    }
    Ok(all)
}

/// Refuses keys that the system has no memory for. Those of a refresh of CKKS are counted by its plan,
/// since each is for its own level.
pub fn check_keys(py: Python<'_>, setting: &Setting, requests: &[KeyRequest]) -> PyResult<()> {
    let (refreshes, others): (Vec<_>, Vec<_>) = requests.iter().partition(|request| !request.refreshes.is_empty());
    let elements: BTreeSet<u64> = others.iter().flat_map(|request| request.galois.keys().copied()).collect();
    let each = setting.sizes().switching_key_memory.saturating_mul(elements.len() as u64 + 1);
    let plans = refreshes.iter().flat_map(|request| &request.refreshes);
    let bytes = plans.map(|plan| plan.key_bytes().evaluation_memory).fold(0, u64::saturating_add);
    check_memory(py, "the evaluation keys", if others.is_empty() { bytes } else { bytes.saturating_add(each) })
}

fn needs_of(circuit: &Bound<'_, PyAny>) -> PyResult<(Arc<Setting>, Vec<KeyRequest>)> {
    if let Ok(linear) = circuit.cast::<PyLinear>() {
        let inner = &linear.get().inner;
        return Ok((Arc::clone(&inner.setting), vec![inner.key_request()]));
    }
    if let Ok(own) = circuit.cast::<PyCircuit>() {
        return Ok((Arc::clone(&own.get().setting), vec![own.get().key_request()]));
    }
    if let Ok(own) = circuit.cast::<PyBootstrapping>() {
        return Ok((Arc::clone(&own.get().setting), vec![own.get().key_request()]));
    }
    if let Ok(own) = circuit.cast::<PyKeys>() {
        return Ok((Arc::clone(&own.get().setting), own.get().requests.clone()));
    }
    let message = format!(
        "{} needs no keys: name objects that context.linear, context.polynomial, context.bootstrapping or another method of a context made",
        circuit.repr()?
    );
    Err(plain(circuit.py(), "DTypeError", message))
}
