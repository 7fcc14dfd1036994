//! The file of a state: one process at a time changes it.

use std::fs::File;
use std::path::Path;

/// Opens the file of a state and locks it until the result is dropped: hold it from reading a state to replacing it, so
/// that no other process replaces it in between. Who waited for one finds the file that it wrote.
///
/// **Warning.** File systems without locks leave the care to the user.
///
/// # Errors
/// Those of opening the file.
pub fn lock_state(path: &Path) -> std::io::Result<File> {
    loop {
        let file = File::open(path)?;
        let _ = file.lock();
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (own, there) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}
