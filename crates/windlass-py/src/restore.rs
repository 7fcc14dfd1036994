//! What unpickling calls: with text, numbers and bytes, read with the checks of files.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::array::PyCiphertext;
use crate::bootstrapping::{PyBootstrapping, Way};
use crate::circuit::{PyCircuit, Recipe};
use crate::client::PyEncryptor;
use crate::error::{plain, raise};
use crate::handle::ServerKind;
use crate::matrix::{LinearInner, LinearSpec, Matrix, PyLinear, check_filter, check_shift};
use crate::needs::PyKeys;
use crate::numbers::Numbers;
use crate::pickle::Bytes;
use crate::runtime::quick;
use crate::server::PyServer;
use crate::setting::{Kind, Names, PyContext, Setting, malformed};

fn setting(py: Python<'_>, state: &str) -> PyResult<Arc<Setting>> {
    quick(py, || Setting::from_state(state))
}

/// The context of a pickle.
#[pyfunction]
pub fn restore_context(py: Python<'_>, state: &str) -> PyResult<PyContext> {
    Ok(PyContext { setting: setting(py, state)? })
}

/// The keys that a pickle names.
#[pyfunction]
pub fn restore_keys(py: Python<'_>, state: &str, elements: Vec<u64>, relinearisation: bool) -> PyResult<PyKeys> {
    let request = windlass::needs::KeyRequest::none("keys that were asked for").with_galois(elements);
    let request = if relinearisation { request.with_relinearisation() } else { request };
    Ok(PyKeys::new(&setting(py, state)?, vec![request]))
}

/// The encryptor of a pickle.
#[pyfunction]
pub fn restore_encryptor(py: Python<'_>, state: &str, key: &Bound<'_, PyAny>) -> PyResult<PyEncryptor> {
    PyEncryptor::from_bytes(py, &setting(py, state)?, Bytes::of(key)?.slice()?)
}

/// The way to refresh of a pickle.
#[pyfunction]
pub fn restore_bootstrapping(
    py: Python<'_>,
    state: &str,
    packed: bool,
    mut names: Vec<Option<String>>,
) -> PyResult<PyBootstrapping> {
    // Older pickles say nothing of keys.
    names.resize(names.len().max(Names::default().len()), None);
    let names = Names::try_from(names).map_err(|_| raise(py, malformed()))?;
    PyBootstrapping::make(py, &setting(py, state)?, packed, names)
}

/// The server of a pickle.
#[pyfunction]
pub fn restore_server(
    py: Python<'_>,
    state: &str,
    evaluation: &Bound<'_, PyAny>,
    bootstrap: Vec<Bound<'_, PyAny>>,
    ways: Vec<PyBootstrapping>,
) -> PyResult<PyServer> {
    let setting = setting(py, state)?;
    let evaluation = Bytes::of(evaluation)?;
    let bootstrap = bootstrap.iter().map(Bytes::of).collect::<PyResult<Vec<_>>>()?;
    if bootstrap.len() != ways.len() || ways.iter().any(|way| !way.setting.same(&setting)) {
        return Err(plain(py, "FileError", "malformed server: its keys and its bootstrapping do not belong together"));
    }
    let evaluation = evaluation.slice()?;
    let bootstrap = bootstrap.iter().map(Bytes::slice).collect::<PyResult<Vec<_>>>()?;
    let kind = quick(py, || {
        if evaluation.is_empty() && bootstrap.is_empty() {
            return ServerKind::without_keys(&setting);
        }
        Ok(match &setting.kind {
            Kind::Exact(context) => {
                if let ([PyBootstrapping { plan: Way::Exact(_), .. }], [own]) = (&ways[..], &bootstrap[..]) {
                    return Ok(ServerKind::Exact(context.refreshing_server_from_bytes(evaluation, own)?));
                }
                let plans = ways.iter().filter_map(|way| match &way.plan {
                    Way::Bootstrap(plan) => Some(Arc::clone(plan)),
                    _ => None,
                });
                let own: Vec<_> = plans.zip(bootstrap.iter().copied()).collect();
                ServerKind::Exact(context.server_from_bytes(evaluation, &own)?)
            }
            Kind::Approximate(context) => {
                let plans = ways.iter().filter_map(|way| way.plan.clone().pass());
                let own: Vec<_> = plans.zip(bootstrap.iter().copied()).collect();
                ServerKind::Approximate(context.server_from_bytes(evaluation, &own)?)
            }
        })
    })?;
    Ok(PyServer::new(&setting, kind))
}

/// What a pickle states about an encrypted array: entries of a vector, whether they are elements,
/// whether zeros follow them, and, which earlier versions did not say, whether a ciphertext holds
/// its entry in every slot.
#[derive(FromPyObject)]
pub enum Flags {
    WithSpread((usize, bool, bool, bool)),
    Before((usize, bool, bool)),
}

/// The encrypted array of a pickle.
#[pyfunction]
pub fn restore_ciphertext(
    py: Python<'_>,
    state: &str,
    parts: Vec<Bound<'_, PyAny>>,
    shape: Vec<usize>,
    dtype: &str,
    flags: Flags,
) -> PyResult<PyCiphertext> {
    let flags = match flags {
        Flags::WithSpread(flags) => flags,
        Flags::Before((length, elements, clean)) => (length, elements, clean, false),
    };
    let numbers = Numbers::named(dtype).ok_or_else(|| plain(py, "FileError", "malformed ciphertext: dtype"))?;
    let parts = parts.iter().map(Bytes::of).collect::<PyResult<Vec<_>>>()?;
    let parts = parts.iter().map(Bytes::slice).collect::<PyResult<Vec<_>>>()?;
    PyCiphertext::from_bytes(py, &setting(py, state)?, &parts, shape, numbers, flags)
}

/// The matrix of a pickle, planned again.
#[pyfunction]
pub fn restore_linear(
    py: Python<'_>,
    state: &str,
    matrix: (Bound<'_, PyAny>, Option<Bound<'_, PyAny>>),
    spec: (String, Option<usize>, Option<Vec<u64>>, String),
    roll: Option<(usize, usize)>,
) -> PyResult<PyLinear> {
    let setting = setting(py, state)?;
    if let Some((length, shift)) = roll {
        if length == 0 || shift >= length {
            return Err(plain(py, "FileError", "malformed shift"));
        }
        check_shift(py, &setting, length)?;
        return Ok(PyLinear { inner: quick(py, || LinearInner::roll(&setting, length, shift as i64))? });
    }
    let (strategy, max_keys, keys, folding) = spec;
    PyLinear::make(py, &setting, &matrix.0, matrix.1.as_ref(), LinearSpec { strategy, max_keys, keys, folding })
}

/// The filter of a pickle, planned again.
#[pyfunction]
pub fn restore_filter(
    py: Python<'_>,
    state: &str,
    taps: Vec<f64>,
    length: usize,
    start: usize,
    outputs: usize,
) -> PyResult<PyLinear> {
    let setting = setting(py, state)?;
    let full = length.saturating_add(taps.len()).saturating_sub(1);
    let fits = length > 0 && !taps.is_empty() && outputs > 0 && start.saturating_add(outputs) <= full;
    if setting.is_exact() || !fits || full > isize::MAX as usize {
        return Err(plain(py, "FileError", "malformed filter"));
    }
    check_filter(py, &setting, taps.len(), outputs)?;
    Ok(PyLinear {
        inner: quick(py, || LinearInner::sparse(&setting, Matrix::Filter { taps, length, start, outputs }))?,
    })
}

/// The matrix of a pickle that multiplies blocks, planned again.
#[pyfunction]
pub fn restore_blocks(
    py: Python<'_>,
    state: &str,
    columns: usize,
    entries: Vec<f64>,
    count: usize,
    stride: usize,
) -> PyResult<PyLinear> {
    let setting = setting(py, state)?;
    let rows = entries.len().checked_div(columns).filter(|&rows| rows > 0 && rows * columns == entries.len());
    let finite = entries.iter().all(|value| value.is_finite());
    let (Some(rows), true, false) = (rows, finite, setting.is_exact()) else {
        return Err(plain(py, "FileError", "malformed blocks"));
    };
    PyLinear::in_blocks(py, &setting, (rows, columns), entries, (count, stride))
}

/// The circuit of a pickle, planned again.
#[pyfunction]
pub fn restore_circuit(
    py: Python<'_>,
    state: &str,
    name: &str,
    integers: Vec<i64>,
    reals: Vec<f64>,
) -> PyResult<PyCircuit> {
    let recipe =
        Recipe::from_parts(name, integers, reals).ok_or_else(|| plain(py, "FileError", "malformed circuit"))?;
    PyCircuit::make(py, &setting(py, state)?, recipe)
}
