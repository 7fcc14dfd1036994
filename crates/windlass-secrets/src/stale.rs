//! What killed commands left behind: `.NAME.TOKEN.PID.windlass-part`, a file or a staging directory,
//! perhaps with a secret key in it.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::Read as _;
use std::path::Path;

use windlass::wire::part_suffix;

/// The beginnings of the files that these programs write: containers, schemas and parameters, the
/// manifest and the pieces of a table, decrypted scores.
const BEGINNINGS: [&[u8]; 5] =
    [b"WINDLASS", b"{\n  \"format\": \"windlass-", b"{\n  \"revision\": ", b"WLSEGMNT", b"row,score"];

/// How deep directories of output lie in each other: that of a lookup holds one of a table.
const DEEPEST: usize = 2;

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
        if !opens || is_own(&name) || runs(process) || is_locked(&path) || !is_ours(&path, DEEPEST) {
            continue;
        }
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
}

/// Whether this process is making it.
fn is_own(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(part_suffix().as_bytes())
}

/// The process number in `.NAME.TOKEN.PID.windlass-part`.
fn process_of(name: &str) -> Option<u32> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(".windlass-part")?.rsplit_once('.')?;
    (!name.is_empty()).then(|| process.parse().ok())?
}

/// Whether another process of this number runs here, as far as one can tell. What has the number of
/// this one is of an earlier process, or of one in another container, where all have low numbers.
fn runs(process: u32) -> bool {
    process != std::process::id()
        && Path::new("/proc/self").exists()
        && Path::new("/proc").join(process.to_string()).exists()
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

/// Whether a file, or every file in directories that are no deeper than `deepest`, begins as those of
/// these programs do.
fn is_ours(path: &Path, deepest: usize) -> bool {
    let Ok(kind) = path.symlink_metadata() else { return false };
    if kind.is_dir() {
        let Ok(entries) = fs::read_dir(path) else { return false };
        return deepest > 0 && entries.flatten().all(|entry| is_ours(&entry.path(), deepest - 1));
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
        // What a lookup in a table of any size was making.
        let lookup = format!(".lookup.{DEAD}.windlass-part");
        directory(&lookup, b"WINDLASS");
        fs::create_dir(at(&lookup).join("table")).unwrap();
        let pieces = [("table.json", &b"{\n  \"revision\": 0"[..]), ("lock", b""), ("0.segment", b"WLSEGMNT")];
        pieces.iter().for_each(|(name, text)| fs::write(at(&lookup).join("table").join(name), text).unwrap());
        // Of an earlier process with the number of this one, as in containers.
        fs::write(at(&format!(".answer.bin.0123456789abcdef.{own}.windlass-part")), b"WINDLASS").unwrap();
        // Kept: living processes, locked ones, other contents, other names.
        let locked = format!(".locked.{DEAD}.windlass-part");
        directory(&locked, b"WINDLASS");
        let lock = File::open(at(&locked)).unwrap();
        lock.lock().unwrap();
        let mine = format!(".mine{}", part_suffix());
        directory(&mine, b"WINDLASS");
        directory(&format!(".init.{}.windlass-part", std::os::unix::process::parent_id()), b"WINDLASS");
        directory(&format!(".foreign.{DEAD}.windlass-part"), b"a download");
        let deep = format!(".deep.{DEAD}.windlass-part");
        fs::create_dir_all(at(&deep).join("a/b/c")).unwrap();
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
            mine,
            format!(".init.{}.windlass-part", std::os::unix::process::parent_id()),
            format!(".foreign.{DEAD}.windlass-part"),
            deep,
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
