//! Calls of the crate of several parties, and their errors as exceptions.

use pyo3::prelude::*;
use windlass_parties::{PartiesError, Receipt};

use crate::error::{exception, plain, raise};
use crate::runtime::quick;

/// The exception for an error of several parties.
pub fn refuse(py: Python<'_>, error: PartiesError) -> PyErr {
    let message = error.to_string();
    match error {
        PartiesError::Windlass(error) => raise(py, error),
        PartiesError::Wire(error) => raise(py, error.into()),
        PartiesError::OutOfRange(_) | PartiesError::MemberTwice { .. } | PartiesError::Name { .. } => {
            plain(py, "ParameterError", message)
        }
        PartiesError::Unsupported { .. } | PartiesError::NoRoom { .. } => plain(py, "NoParameters", message),
        PartiesError::Text { .. } => plain(py, "FileError", message),
        PartiesError::StateKept { .. } => plain(py, "FileExists", message),
        PartiesError::Missing { from, .. } => {
            exception(py, "MissingMessages", message, |data| data.set_item("members", from))
        }
        PartiesError::Spent { .. } => plain(py, "DecryptionsSpent", message),
        PartiesError::Forged { ref from }
        | PartiesError::Unreadable { ref from }
        | PartiesError::Conflict { ref from, .. }
        | PartiesError::Disagreement { ref from, .. }
        | PartiesError::AnotherShare { ref from }
        | PartiesError::OtherReading { ref from } => {
            exception(py, "MessageRefused", message, |data| data.set_item("sender", from))
        }
        _ => plain(py, "MessageRefused", message),
    }
}

/// Work on several parties, without Python's lock.
pub fn together<T: Send>(py: Python<'_>, work: impl FnOnce() -> windlass_parties::Result<T> + Send) -> PyResult<T> {
    quick(py, || Ok(work()))?.map_err(|error| refuse(py, error))
}

/// What became of a message, in words.
pub fn in_words(receipt: Receipt) -> &'static str {
    match receipt {
        Receipt::New => "new",
        Receipt::Again => "again",
        Receipt::NotNeeded => "not needed",
    }
}
