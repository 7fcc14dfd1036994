//! Errors of lookups as exceptions.

use pyo3::prelude::*;
use windlass_retrieval::Error;

use crate::error::{exception, of_file, plain, raise};

/// What to do about hidden keys, in Python.
const HIDDEN_KEYS: &str = "the server hides the keys of this table with an OPRF key: a server needs that key to make, change and serve the table (oprf_key=...), and a client asks with client.blind(keys) and the help of the server (OprfKey.blind_evaluate), or through LookupService.ask, which does both";

/// The exception for an error of a lookup.
pub fn raise_table(py: Python<'_>, error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Library(error) => raise(py, error),
        Error::Wire(error) => raise(py, error.into()),
        Error::Rlwe(error) => raise(py, error.into()),
        Error::OtherKeyPair(error) => raise(py, error.into()),
        Error::OutOfRange(error) => raise(py, error.into()),
        Error::NotDecryptable { number } => {
            exception(py, "NotDecryptable", message, |data| data.set_item("index", number))
        }
        Error::HiddenKeys => plain(py, "HiddenKeysError", HIDDEN_KEYS),
        Error::PlainKeys | Error::OtherOprfKey => plain(py, "HiddenKeysError", message),
        Error::MissingKey { .. } => plain(py, "MissingKeys", message),
        Error::OtherTable { .. } | Error::OtherQuery | Error::OtherBlindKeys => plain(py, "OtherContext", message),
        Error::NoPlan { .. } | Error::OtherLayout { .. } => plain(py, "NoParameters", message),
        Error::Full { key } => exception(py, "TableFull", message, |data| data.set_item("key", key)),
        Error::DuplicateKey { key } => exception(py, "DuplicateKey", message, |data| data.set_item("key", key)),
        Error::Mismatch { got, expected, .. } => exception(py, "ShapeError", message, |data| {
            data.set_item("expected", expected)?;
            data.set_item("got", got)
        }),
        Error::NoShards { possible, .. } => {
            exception(py, "NoShards", message, |data| data.set_item("possible", possible))
        }
        Error::NoParts => part(py, message, 0, "missing"),
        Error::MissingPart { index, .. } => part(py, message, index, "missing"),
        Error::DoubledPart { index, .. } => part(py, message, index, "doubled"),
        Error::ForeignPart { index, what } => part(py, message, index, what),
        Error::OutOfMemory { bytes, .. } => exception(py, "OutOfMemory", message, |data| data.set_item("bytes", bytes)),
        Error::BadFile { path, reason } => of_file(py, plain(py, "FileError", reason), &path),
        Error::BadSchema { .. } | Error::BadRow | Error::BadPoints { .. } => plain(py, "FileError", message),
        Error::Empty
        | Error::LessRoom { .. }
        | Error::OtherRequirements { .. }
        | Error::RowTooLong { .. }
        | Error::RowTooShort { .. }
        | Error::EntryTooLong { .. }
        | Error::LongKey { .. }
        | Error::WrongQuery { .. } => plain(py, "ParameterError", message),
        _ => plain(py, "WindlassError", message),
    }
}

/// The exception for parts of shards that do not belong together.
fn part(py: Python<'_>, message: String, index: usize, reason: &str) -> PyErr {
    exception(py, "PartError", message, |data| {
        data.set_item("index", index)?;
        data.set_item("reason", reason)
    })
}
