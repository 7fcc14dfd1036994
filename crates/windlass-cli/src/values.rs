//! Reads and writes values of the library in files. Every error names the file.

use std::path::Path;

use windlass::Params;
use windlass::wire::{FileContext, KeyId, Wire, WireError, load, load_for, save};

use crate::error::{CliError, Result};

/// The size of a file.
pub fn file_bytes(path: &Path) -> Result<u64> {
    Ok(std::fs::metadata(path).map_err(|error| CliError::at(path)(WireError::from(error)))?.len())
}

/// Writes a value, with the name of its key pair, to a new file and gives its size.
pub fn write<C: FileContext, T: Wire<C>>(path: &Path, context: &C, value: &T) -> Result<u64> {
    save(path, context, value).map_err(CliError::at(path))
}

/// Reads a value and the key pair that it belongs to.
pub fn read<C: FileContext, T: Wire<C>>(path: &Path, context: &C) -> Result<(T, KeyId)> {
    load(path, context).map_err(|error| refused(path, error))
}

/// Reads a value of the key pair that another file belongs to.
pub fn read_for<C: FileContext, T: Wire<C>>(path: &Path, context: &C, (key, other): (KeyId, &Path)) -> Result<T> {
    load_for(path, context, key).map_err(|error| match error {
        windlass::Error::Wire(WireError::OtherKeyPair { found, expected }) => {
            CliError::OtherKeyPair { path: path.into(), other: other.into(), names: [found, expected] }
        }
        error => refused(path, error),
    })
}

/// The error for parameters that the library refused: a preset by its name, or a parameter file.
pub fn refused_parameters(given: &str, error: windlass::Error) -> CliError {
    let path = Path::new(given);
    match error {
        windlass::Error::UnknownName { .. } if path.is_file() => {
            CliError::Usage(format!("{given}: the name of a parameter file must end in .json"))
        }
        error @ windlass::Error::Wire(_) => refused(path, error),
        source if Params::is_file_name(given) => CliError::Parameters { path: path.into(), source },
        source => source.into(),
    }
}

/// The error for a file that the library refused.
pub fn refused(path: &Path, error: windlass::Error) -> CliError {
    match error {
        windlass::Error::Wire(source) => CliError::at(path)(source),
        other => CliError::Windlass(other),
    }
}
