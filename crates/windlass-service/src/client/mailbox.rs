//! The client of a mailbox of several parties.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass::wire::{Access, WireError, hex, sha256, write_new};

use super::error::{AskError, Result};
use super::http::Remote;

/// The longest message that is fetched.
const LONGEST: u64 = 1 << 30;

/// What became of messages: how many are new, and how many were there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// New ones.
    pub new: usize,
    /// Those that were there.
    pub again: usize,
}

fn of_file(path: &Path) -> impl Fn(std::io::Error) -> AskError {
    let path = path.to_owned();
    move |error| AskError::File { path: path.clone(), reason: WireError::from(error).to_string() }
}

/// The digest of the agreement in a file.
///
/// # Errors
/// [`AskError::File`].
pub fn digest_of(agreement: &Path) -> Result<String> {
    let text = fs::read_to_string(agreement).map_err(of_file(agreement))?;
    Ok(hex(&sha256(text.trim().as_bytes())))
}

/// The files of messages that were given: directories stand for those in them.
///
/// # Errors
/// [`AskError::File`].
pub fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in given {
        if !fs::metadata(path).map_err(of_file(path))?.is_dir() {
            all.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(of_file(path))?;
        let mut found = entries.map(|entry| Ok(entry.map_err(of_file(path))?.path())).collect::<Result<Vec<_>>>()?;
        let hidden = |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        found.retain(|file| file.extension().is_some_and(|extension| extension == "message") && !hidden(file));
        found.sort();
        all.extend(found);
    }
    Ok(all)
}

/// Sends messages of an agreement.
///
/// # Errors
/// [`AskError::File`], [`AskError::Unreachable`], and refusals of the mailbox.
pub fn send(remote: &Remote, agreement: &str, files: &[PathBuf]) -> Result<Moved> {
    let mut moved = Moved::default();
    for path in files {
        let message = fs::read(path).map_err(of_file(path))?;
        let response = remote.put(&format!("/agreements/{agreement}/{}", hex(&sha256(&message))), &message)?;
        match response.status {
            201 => moved.new += 1,
            204 => moved.again += 1,
            _ => return Err(remote.refused(&response)),
        }
    }
    Ok(moved)
}

/// Fetches the messages of an agreement that a directory does not have yet.
///
/// # Errors
/// As [`send`].
pub fn fetch(remote: &Remote, agreement: &str, out: &Path) -> Result<Moved> {
    let response = remote.get(&format!("/agreements/{agreement}"))?;
    let list: Option<Vec<Value>> = serde_json::from_slice(&response.body).ok().filter(|_| response.status == 200);
    let list = list.ok_or_else(|| remote.refused(&response))?;
    fs::create_dir_all(out).map_err(of_file(out))?;
    let mut moved = Moved::default();
    for entry in list {
        let foreign = || AskError::Unreachable {
            address: remote.address().to_owned(),
            reason: "its list of messages cannot be read: is it a mailbox of Windlass?".into(),
        };
        let number = |name: &str| entry[name].as_u64().filter(|&number| number < 1 << 16).ok_or_else(foreign);
        let word = |name: &str| {
            let text = entry[name].as_str().filter(|text| text.len() <= 64);
            text.filter(|text| text.bytes().all(|byte| byte.is_ascii_alphanumeric())).ok_or_else(foreign)
        };
        let (name, step, from) = (word("sha256")?, word("step")?, number("from")?);
        let whom = match number("to")? {
            0 => String::new(),
            to => format!("-for-{to}"),
        };
        // Bytes under a name that says whose and for whom they are.
        let path = out.join(format!("{from}-{step}{whom}-{}.message", name.get(..12).ok_or_else(foreign)?));
        if path.exists() {
            moved.again += 1;
            continue;
        }
        let response = remote.fetch(&format!("/agreements/{agreement}/{name}"), LONGEST)?;
        if response.status != 200 {
            return Err(remote.refused(&response));
        }
        if hex(&sha256(&response.body)) != name {
            return Err(foreign());
        }
        write_new(&path, &response.body, Access::Public)
            .map_err(|error| AskError::File { path: path.clone(), reason: error.to_string() })?;
        moved.new += 1;
    }
    Ok(moved)
}
