//! Messages as files.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use windlass::wire::{Expected, FieldReader, FileContext, Kind, WireError, open};
use windlass_parties::{Agreement, CollectiveFamily};

use super::agreed::at;
use crate::error::{CliError, Result};
use crate::report::Report;

/// What names of messages end in.
pub const EXTENSION: &str = "message";

/// Files that were found in a directory and not taken, and why: anyone may have put them there.
#[derive(Default)]
pub struct Skipped(Vec<(PathBuf, String)>);

impl Skipped {
    /// Says in a report what was not taken.
    pub fn describe(&self, report: &mut Report) {
        for (path, reason) in &self.0 {
            report.line(format!("not taken: {}: {reason}", path.display()));
        }
        let one = |(path, reason): &(PathBuf, String)| json!({ "file": path.to_string_lossy(), "reason": reason });
        report.field("skipped", self.0.iter().map(one).collect::<Vec<_>>());
    }

    /// An error that what was not taken may explain.
    pub fn explain(&self, error: CliError) -> CliError {
        match self.0.first() {
            None => error,
            Some((path, reason)) => CliError::Skipped {
                source: Box::new(error),
                count: self.0.len(),
                first: format!("{}: {reason}", path.display()),
            },
        }
    }
}

/// Gives the messages of files to `take`, one after the other, so that one at a time is in memory. A file that was given by
/// its own name has to be taken. Of a directory each regular file is tried whose name ends in .message, and what is
/// refused is skipped.
pub fn each<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    given: &[PathBuf],
    mut take: impl FnMut(&[u8]) -> windlass_parties::Result<()>,
) -> Result<Skipped> {
    let mut skipped = Skipped::default();
    let most = agreement.longest_message();
    for path in given {
        let failed = |error: std::io::Error| CliError::at(path)(WireError::from(error));
        if !fs::metadata(path).map_err(failed)?.is_dir() {
            take(&read_regular(path, most)?).map_err(at(path))?;
            continue;
        }
        for file in messages_in(path)? {
            let outcome = read_regular(&file, most).and_then(|message| take(&message).map_err(at(&file)));
            if let Err(error) = outcome {
                let said = error.to_string();
                let name = format!("{}: ", file.display());
                skipped.0.push((file, said.strip_prefix(&name).unwrap_or(&said).to_owned()));
            }
        }
    }
    Ok(skipped)
}

const WHAT: &str = "a message";

/// The bytes of a regular file: nothing is waited for.
fn read_regular(path: &Path, most: u64) -> Result<Vec<u8>> {
    let kind = fs::metadata(path).map_err(|error| CliError::at(path)(WireError::from(error)))?;
    if !kind.is_file() {
        let reason = "it is a directory, a pipe or a device; give a regular file".into();
        return Err(CliError::NotOfFormat { path: path.into(), what: WHAT, reason });
    }
    read_bounded(path, WHAT, most)
}

/// The bytes of a file, a pipe among them, if there are not more than `most`.
pub fn read_bounded(path: &Path, what: &'static str, most: u64) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| CliError::at(path)(WireError::from(error));
    let file = File::open(path).map_err(failed)?;
    let said = file.metadata().map_err(failed)?.len();
    let large = || {
        let reason =
            format!("it has more than {most} bytes, the most that there can be; check that this is the right file");
        CliError::NotOfFormat { path: path.into(), what, reason }
    };
    if said > most {
        return Err(large());
    }
    let mut bytes = Vec::with_capacity(said as usize);
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(large());
    }
    Ok(bytes)
}

/// The files of messages in a directory, in the order of their names.
fn messages_in(path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| CliError::at(path)(WireError::from(error));
    let entries = fs::read_dir(path).map_err(failed)?;
    let mut found = entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect::<Result<Vec<_>>>()?;
    // Unfinished files begin with a dot.
    found.retain(|file| {
        let hidden = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        file.extension().is_some_and(|extension| extension == EXTENSION) && !hidden
    });
    found.sort();
    Ok(found)
}
/// The name of the file of a message that this party has made: by its members and its step.
pub fn name_of<F: CollectiveFamily>(agreement: &Agreement<F>, message: &[u8]) -> Result<String> {
    const WHAT: &str = "message of a party";
    let context = *F::files(agreement.context()).hash();
    let expected = Expected { kind: Kind::PartyMessage, context, key: None, limit: message.len() as u64 };
    let read = || -> std::result::Result<(u16, u16, u8, u16), WireError> {
        let (_, payload) = open(message, &expected)?;
        let mut fields = FieldReader::new(payload);
        let _: [u8; 32] = fields.array(WHAT)?;
        let (from, to, [step]) = (fields.u16(WHAT)?, fields.u16(WHAT)?, fields.array(WHAT)?);
        // Which beginning of the member, then what begins the body: for a share of a key, which key.
        let _: [u8; 16] = fields.array(WHAT)?;
        Ok((from, to, step, fields.u16(WHAT)?))
    };
    let (from, to, step, place) = read().map_err(|error| at(Path::new(WHAT))(error.into()))?;
    let step = match step {
        1 => format!("keys-{place}"),
        2 => "first".to_owned(),
        3 => "dealt".to_owned(),
        4 => "second".to_owned(),
        5 => "decryption".to_owned(),
        6 => "switch".to_owned(),
        7 => "masked".to_owned(),
        8 => "delegation".to_owned(),
        other => format!("step{other}"),
    };
    Ok(match to {
        0 => format!("{from}-{step}.{EXTENSION}"),
        to => format!("{from}-{step}-for-{to}.{EXTENSION}"),
    })
}
