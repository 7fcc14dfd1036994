//! What killed commands left behind: `.NAME.PID.windlass-part`, a file or a staging directory,
//! perhaps with a secret key in it.

use std::fs::{self, File, TryLockError};
use std::io::Read as _;
use std::path::Path;

/// The beginnings of the files that this program writes.
const BEGINNINGS: [&[u8]; 2] = [b"WINDLASS", b"{\n  \"format\": \"windlass-"];

/// Removes leftovers of commands that no longer run from a directory.
///
/// An entry goes when its name has the form above, it is a file or a directory, no process has that
/// number (where `/proc` tells), nobody holds a lock on it, and it holds nothing but what this
/// program writes. Nothing else is opened: anyone may put a pipe, which blocks, or a link in a
/// directory for temporary files.
pub fn sweep(directory: &Path) {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    // What cannot be read or removed is left to its owner.
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(process_of) else { continue };
        let path = entry.path();
        let opens = path.symlink_metadata().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if !opens || process == std::process::id() || runs(process) || is_locked(&path) || !is_ours(&path) {
            continue;
        }
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
}

/// The process number in `.NAME.PID.windlass-part`.
fn process_of(name: &str) -> Option<u32> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(".windlass-part")?.rsplit_once('.')?;
    (!name.is_empty()).then(|| process.parse().ok())?
}

/// Whether a process of this number runs here, as far as one can tell.
fn runs(process: u32) -> bool {
    Path::new("/proc/self").exists() && Path::new("/proc").join(process.to_string()).exists()
}

/// A living command holds a lock on what it writes, also where its process number means nothing: in
/// another container, or on another machine.
fn is_locked(path: &Path) -> bool {
    match File::open(path).map(|file| file.try_lock()) {
        Ok(Ok(())) => false,
        // Held, or no way to know.
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => true,
    }
}

/// Whether a file, or every file in a directory, begins as this program's do.
fn is_ours(path: &Path) -> bool {
    let Ok(kind) = path.symlink_metadata() else { return false };
    if kind.is_dir() {
        let Ok(entries) = fs::read_dir(path) else { return false };
        return entries
            .flatten()
            .all(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()) && is_ours(&entry.path()));
    }
    if !kind.is_file() {
        return false;
    }
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(24).read_to_end(&mut beginning));
    read.is_ok() && BEGINNINGS.iter().any(|wanted| beginning.iter().zip(*wanted).all(|(a, b)| a == b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Above the largest process number of any Linux.
    const DEAD: u32 = 4_194_305;

    #[test]
    fn leftovers_go_and_everything_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let directory = |name: &str, content: &[u8]| {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("secret.key"), content).unwrap();
        };
        let own = std::process::id();
        // Gone: whole, half-written and empty files.
        directory(&format!(".keys.{DEAD}.windlass-part"), b"WINDLASS and more");
        directory(&format!(".other.keys.{DEAD}.windlass-part"), b"WIND");
        fs::write(at(&format!(".query.bin.{DEAD}.windlass-part")), b"").unwrap();
        fs::write(at(&format!(".schema.json.{DEAD}.windlass-part")), b"{\n  \"format\": \"windlass-lookup-schema\"")
            .unwrap();
        // Kept: living processes, locked ones, other contents, other names.
        let locked = format!(".locked.{DEAD}.windlass-part");
        directory(&locked, b"WINDLASS");
        let lock = File::open(at(&locked)).unwrap();
        lock.lock().unwrap();
        directory(&format!(".mine.{own}.windlass-part"), b"WINDLASS");
        directory(&format!(".init.{}.windlass-part", std::os::unix::process::parent_id()), b"WINDLASS");
        directory(&format!(".foreign.{DEAD}.windlass-part"), b"a download");
        fs::write(at(&format!("visible.{DEAD}.windlass-part")), b"WINDLASS").unwrap();
        fs::write(at(".film.windlass-part"), b"WINDLASS").unwrap();
        // Other programs name their downloads so; the empty ones could be anybody's.
        fs::write(at(&format!(".film.{DEAD}.part")), b"").unwrap();
        fs::create_dir(at(&format!(".films.{DEAD}.part"))).unwrap();
        fs::write(at(&format!("..{DEAD}.windlass-part")), b"WINDLASS").unwrap();
        sweep(dir.path());
        let mut left: Vec<String> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut wanted = vec![
            locked.clone(),
            format!(".mine.{own}.windlass-part"),
            format!(".init.{}.windlass-part", std::os::unix::process::parent_id()),
            format!(".foreign.{DEAD}.windlass-part"),
            format!("visible.{DEAD}.windlass-part"),
            ".film.windlass-part".to_owned(),
            format!(".film.{DEAD}.part"),
            format!(".films.{DEAD}.part"),
            format!("..{DEAD}.windlass-part"),
        ];
        left.sort();
        wanted.sort();
        assert_eq!(left, wanted);
        drop(lock);
        sweep(dir.path());
        assert!(!at(&locked).exists());
    }
}
