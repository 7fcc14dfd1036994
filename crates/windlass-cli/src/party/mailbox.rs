//! Messages as files.

use std::fs;
use std::path::{Path, PathBuf};

use windlass::wire::{Expected, FieldReader, FileContext, Kind, WireError, open};
use windlass_parties::{Agreement, CollectiveFamily};

use super::agreed::at;
use crate::error::{CliError, Result};

/// What names of messages end in.
pub const EXTENSION: &str = "message";

/// The files of messages that were given: directories stand for those in them, in the order of their names.
pub fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in given {
        let failed = |error: std::io::Error| CliError::at(path)(WireError::from(error));
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            all.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(failed)?;
        let mut found = entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect::<Result<Vec<_>>>()?;
        // Unfinished files begin with a dot.
        found.retain(|file| {
            let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            file.extension().is_some_and(|extension| extension == EXTENSION) && !hidden
        });
        found.sort();
        all.extend(found);
    }
    Ok(all)
}

/// The bytes of a message.
pub fn read<F: CollectiveFamily>(agreement: &Agreement<F>, path: &Path) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| CliError::at(path)(WireError::from(error));
    let (bytes, most) = (fs::metadata(path).map_err(failed)?.len(), super::costs::longest(agreement)?);
    if bytes > most {
        return Err(CliError::LargeFile { path: path.into(), bytes, most });
    }
    fs::read(path).map_err(failed)
}

/// The name of the file of a message that this party has made: by its members and its step.
pub fn name_of<F: CollectiveFamily>(agreement: &Agreement<F>, message: &[u8]) -> Result<String> {
    const WHAT: &str = "message of a party";
    let context = *F::files(agreement.context()).hash();
    let expected = Expected { kind: Kind::PartyMessage, context, key: None, limit: message.len() as u64 };
    let read = || -> std::result::Result<(u16, u16, u8), WireError> {
        let (_, payload) = open(message, &expected)?;
        let mut fields = FieldReader::new(payload);
        let _: [u8; 32] = fields.array(WHAT)?;
        Ok((fields.u16(WHAT)?, fields.u16(WHAT)?, fields.array::<1>(WHAT)?[0]))
    };
    let (from, to, step) = read().map_err(|error| at(Path::new(WHAT))(error.into()))?;
    let step = match step {
        1 => "keys".to_owned(),
        2 => "first".to_owned(),
        3 => "dealt".to_owned(),
        4 => "second".to_owned(),
        5 => "decryption".to_owned(),
        other => format!("step{other}"),
    };
    Ok(match to {
        0 => format!("{from}-{step}.{EXTENSION}"),
        to => format!("{from}-{step}-for-{to}.{EXTENSION}"),
    })
}
