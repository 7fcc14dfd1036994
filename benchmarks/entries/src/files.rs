//! Files that appear whole or not at all. What an earlier run of a stage left is replaced.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use windlass::wire::{Access, WireError, temporary_name, write_new_with, write_over};

use crate::error::{EntryError, Result};

/// Writes a whole file.
///
/// # Errors
/// [`EntryError::File`].
pub fn write(file: &Path, bytes: &[u8], access: Access) -> Result<()> {
    if access == Access::Public {
        make_directory(file)?;
        return write_over(file, bytes).map_err(refused(file));
    }
    write_with(file, access, |opened, _| opened.write_all(bytes).map_err(EntryError::at(file)))
}

/// Writes a file piece by piece; `write` is also told where it lies meanwhile. A file is always
/// replaced by a new one, so that no process keeps a right to it from the old one.
///
/// # Errors
/// [`EntryError::File`], and those of `write`; then the old file stays as it was.
pub fn write_with<T>(file: &Path, access: Access, write: impl FnOnce(&mut File, &Path) -> Result<T>) -> Result<T> {
    make_directory(file)?;
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = file.with_file_name(name);
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(EntryError::at(&new)(error)),
        _ => {}
    }

    // What `write` says is kept here: the writer of files knows errors of the system only.
    let mut outcome = None;
    let written = write_new_with(&new, access, |opened| {
        let outcome = outcome.insert(write(opened, &temporary_name(&new)));
        if outcome.is_ok() { Ok(()) } else { Err(io::Error::other("the contents failed")) }
    });
    match (outcome, written) {
        (Some(Ok(done)), Ok(())) => fs::rename(&new, file).map_err(EntryError::at(file)).map(|()| done),
        (Some(Err(error)), _) => Err(error),
        (_, Err(error)) => Err(refused(file)(error)),
        (None, Ok(())) => Err(EntryError::malformed(file, "was never written")),
    }
}

fn make_directory(file: &Path) -> Result<()> {
    let directory = file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(directory).map_err(EntryError::at(directory))
}

fn refused(file: &Path) -> impl Fn(WireError) -> EntryError + '_ {
    move |error| {
        EntryError::at(file)(match error {
            WireError::Io { kind, message } => io::Error::new(kind, message),
            other => io::Error::other(other),
        })
    }
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// [`EntryError::File`]; [`EntryError::Malformed`] for a longer one.
pub fn read(file: &Path, most: u64) -> Result<Vec<u8>> {
    let opened = File::open(file).map_err(EntryError::at(file))?;
    let mut bytes = Vec::new();
    opened.take(most + 1).read_to_end(&mut bytes).map_err(EntryError::at(file))?;
    if bytes.len() as u64 > most {
        return Err(EntryError::malformed(file, format!("longer than {most} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_as_a_whole_or_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("made/for/it.bin");
        for text in ["the first, which is longer", "the second"] {
            for access in [Access::Public, Access::Owner] {
                write(&file, text.as_bytes(), access).unwrap();
                assert_eq!(read(&file, 100).unwrap(), text.as_bytes());
            }
        }
        assert!(matches!(read(&file, 5), Err(EntryError::Malformed { .. })));
        let failed = write_with(&file, Access::Public, |opened, _| {
            opened.write_all(b"half").map_err(EntryError::at(&file))?;
            Err::<(), _>(EntryError::Usage("no more".into()))
        });
        assert!(matches!(failed, Err(EntryError::Usage(_))), "{failed:?}");
        assert_eq!(read(&file, 100).unwrap(), b"the second");
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no other file stays");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_keeps_a_right_to_a_secret_that_takes_the_place_of_a_public_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("secret.key");
        for left in ["secret.key", "secret.key.part", "secret.key.new"] {
            fs::write(directory.path().join(left), "left by somebody").unwrap();
            fs::set_permissions(directory.path().join(left), fs::Permissions::from_mode(0o666)).unwrap();
        }
        write(&file, b"secret", Access::Owner).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&file).unwrap(), b"secret");
    }
}
