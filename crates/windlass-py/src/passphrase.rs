//! Passphrases, out of Python's values.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use windlass::wire::Passphrase;

use crate::error::{plain, raise};

/// The passphrase in a string (as UTF-8) or in bytes, if one was given. Python's own copy is not
/// wiped.
pub fn passphrase_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Passphrase>> {
    let Some(given) = given else { return Ok(None) };
    let passphrase = if let Ok(text) = given.cast::<PyString>() {
        Passphrase::new(text.to_str()?)
    } else if let Ok(bytes) = given.cast::<PyBytes>() {
        Passphrase::new(bytes.as_bytes())
    } else {
        let kind = given.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
        return Err(plain(given.py(), "DTypeError", format!("a passphrase must be str or bytes, not {kind}")));
    };
    passphrase.map(Some).map_err(|error| raise(given.py(), error.into()))
}
