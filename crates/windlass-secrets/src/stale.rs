//! Removes what killed commands left behind: `.NAME.TOKEN.PID.windlass-part`, a file or a staging
//! directory, perhaps with a secret key in it.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, TryLockError};
use std::io::Read as _;
use std::path::Path;

use windlass::wire::part_suffix;

/// The beginnings of the files that these programs write: containers, schemas and parameters, the
/// manifest and the pieces of a table, decrypted scores.
const BEGINNINGS: [&[u8]; 6] = [
    b"WINDLASS",
    b"{\n  \"format\": \"windlass-",
    b"{\n  \"windlass_parameters\": ",
    b"{\n  \"revision\": ",
    b"WLSEGMNT",
    b"row,score",
];

/// What is read of a file: as much as tells that it is ours.
const BEGINNING: u64 = 24;

/// How deep directories of output lie in each other: that of a lookup holds one of a table.
const DEEPEST: usize = 2;

/// Removes leftovers of commands that no longer run from a directory.
///
/// An entry goes when its name has the form above, it is a file or a directory, no process has that
/// number (where `/proc` tells), no process holds a lock on it, and it holds nothing but what this
/// program writes. Nothing else is opened, and nothing is waited for: anyone may put a pipe, which
/// blocks, or a link in a directory for temporary files, also in the place of a file that was
/// looked at.
pub fn sweep(directory: &Path) {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    // What cannot be read or removed is left to its owner.
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((target, process)) = name.to_str().and_then(parts_of) else { continue };
        if is_own(&name) || runs(process) {
            continue;
        }
        let path = entry.path();
        let Some(opened) = Opened::at(&path) else { continue };
        // The first 24 of the 64 digits of a hash, and what `windlass ask` calls the file of it.
        let is_pin = |beginning: &[u8]| is_pinned(target) && beginning.iter().all(u8::is_ascii_hexdigit);
        if opened.is_locked() || !opened.is_ours(&path, DEEPEST, &is_pin) {
            continue;
        }
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
}

/// Whether this process is making it.
fn is_own(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(part_suffix().as_bytes())
}

/// `NAME.TOKEN` and the process number in `.NAME.TOKEN.PID.windlass-part`.
fn parts_of(name: &str) -> Option<(&str, u32)> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(".windlass-part")?.rsplit_once('.')?;
    if name.is_empty() { None } else { Some((name, process.parse().ok()?)) }
}

/// Whether `NAME.TOKEN` is that of the file in which `windlass ask` remembers the table of an
/// address: `table-` and 16 digits.
fn is_pinned(target: &str) -> bool {
    let digits = target.strip_prefix("table-").and_then(|rest| rest.split('.').next());
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Whether another process of this number runs here, as far as one can tell. What has the number of
/// this one is of an earlier process, or of one in another container, where all have low numbers.
fn runs(process: u32) -> bool {
    process != std::process::id()
        && Path::new("/proc/self").exists()
        && Path::new("/proc").join(process.to_string()).exists()
}

/// A file or a directory that was opened, and which of them.
struct Opened {
    file: File,
    kind: FileType,
}

impl Opened {
    /// What a path names, if it is a file or a directory.
    fn at(path: &Path) -> Option<Self> {
        // Devices are not even opened. The path may name another thing by then: see `of`.
        path.symlink_metadata().ok().filter(|found| is_plain(found.file_type()))?;
        Self::of(open_at_once(path).ok()?)
    }

    /// What was opened, if it is a file or a directory.
    fn of(file: File) -> Option<Self> {
        let kind = file.metadata().ok()?.file_type();
        is_plain(kind).then_some(Self { file, kind })
    }

    /// A living command holds a lock on what it writes, also where its process number means
    /// nothing: in another container, or on another machine.
    fn is_locked(&self) -> bool {
        match self.file.try_lock() {
            Ok(()) => false,
            // Held, or no way to know.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        }
    }

    /// Whether a file, or every file in directories that are no deeper than `deepest`, begins as
    /// those of these programs do, or as `other` takes it.
    fn is_ours(&self, path: &Path, deepest: usize, other: &dyn Fn(&[u8]) -> bool) -> bool {
        if self.kind.is_dir() {
            let Ok(mut entries) = fs::read_dir(path).map(Iterator::flatten) else { return false };
            let ours = |path: &Path| Self::at(path).is_some_and(|file| file.is_ours(path, deepest - 1, &|_| false));
            return deepest > 0 && entries.all(|entry| ours(&entry.path()));
        }
        let mut beginning = Vec::new();
        if (&self.file).take(BEGINNING).read_to_end(&mut beginning).is_err() {
            return false;
        }
        let begins = |wanted: &&[u8]| beginning.iter().zip(*wanted).all(|(a, b)| a == b);
        BEGINNINGS.iter().any(begins) || other(&beginning)
    }
}

fn is_plain(kind: FileType) -> bool {
    kind.is_file() || kind.is_dir()
}

/// Opens a file or a directory to be read, and a pipe without waiting for its writer; no link is
/// followed.
#[cfg(unix)]
fn open_at_once(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> std::io::Result<File> {
    File::open(path)
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
        // What `windlass ask` remembers of a table, whole and half written.
        let pin = |name: &str| at(&format!(".table-0123456789abcdef.{name}{DEAD}.windlass-part"));
        fs::write(pin(""), format!("{} http://127.0.0.1:1\n", "0f".repeat(32))).unwrap();
        fs::write(pin("0123456789abcdef."), "0f0f0").unwrap();
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
        fs::write(pin("foreign."), "a download").unwrap();
        fs::write(at(&format!(".table-of-mine.{DEAD}.windlass-part")), "0f0f0").unwrap();
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
            format!(".table-0123456789abcdef.foreign.{DEAD}.windlass-part"),
            format!(".table-of-mine.{DEAD}.windlass-part"),
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

    /// Another process replaces a file that was examined with a pipe without a writer, or with a
    /// link.
    #[cfg(unix)]
    #[test]
    fn what_became_a_pipe_or_a_link_is_neither_waited_for_nor_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "WINDLASS").unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert!(open_at_once(&at("file")).is_ok_and(|file| Opened::of(file).is_some()));
        assert!(open_at_once(dir.path()).is_ok_and(|file| Opened::of(file).is_some()));
        assert!(open_at_once(&at("link")).is_err());
        let (send, opened) = std::sync::mpsc::channel();
        let pipe = at("pipe");
        std::thread::spawn(move || send.send(open_at_once(&pipe)));
        let opened = opened.recv_timeout(std::time::Duration::from_secs(20)).expect("a pipe is not waited for");
        assert!(Opened::of(opened.unwrap()).is_none());
    }
}
