//! Checks that memory is available whose amount is known before it is needed.

use pyo3::prelude::*;
use windlass::Error;

use crate::error::{exception, raise};

/// Refuses sizes that can be foreseen and that the system does not give.
pub fn check_memory(py: Python<'_>, what: &'static str, bytes: u64) -> PyResult<()> {
    if bytes < 1 << 20 {
        return Ok(());
    }
    windlass::check_memory(what, bytes).map_err(|error| match error {
        Error::OutOfMemory { bytes, .. } => {
            let message = format!("{what} need {bytes} bytes of memory, but the system does not provide them");
            exception(py, "OutOfMemory", message, |data| data.set_item("bytes", bytes))
        }
        other => raise(py, other),
    })
}
