//! Writes files atomically: a file is either complete or does not exist.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use windlass_rlwe::process_id;
use windlass_schemes::has_memory;
use zeroize::Zeroizing;

use super::container::{Expected, HEADER_BYTES, Label, TRAILER_BYTES, check_header, check_length, kind_of, open, seal};
use super::{KeyId, Kind, WireError};

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its owner only (mode 0600).
    Owner,
    /// Everybody that the system's defaults allow.
    Public,
    /// As `Public`, to be read only (mode 0444): what is mapped must not change.
    Fixed,
}

/// The permissions of a new file of this kind. Only its owner may read a secret key, and no one may
/// write to a file that others may have mapped.
pub(super) fn access_of(kind: Kind) -> Access {
    match kind {
        _ if kind.is_secret() => Access::Owner,
        _ if kind.is_mapped() => Access::Fixed,
        _ => Access::Public,
    }
}

/// Writes a container to a new file and gives its size in bytes. Secret keys are readable by their
/// owner only.
///
/// # Errors
/// [`WireError::Io`] if the file exists already or cannot be written; then nothing is left
/// behind.
pub fn write_file(path: &Path, label: &Label, payload: &[u8]) -> Result<u64, WireError> {
    let bytes = Zeroizing::new(seal(label, payload));
    write_new(path, &bytes, access_of(label.kind))?;
    Ok(bytes.len() as u64)
}

/// No file of a secret key is longer, in bytes.
pub(super) const LONGEST_SECRET: u64 = 1 << 24;

/// No state of a party is longer, in bytes: it holds sums of shares of keys.
pub(super) const LONGEST_STATE: u64 = 1 << 30;

/// Memory that is taken for a pipe before anything has come out of it.
const BELIEVED: u64 = LONGEST_SECRET;

/// The bytes of the file of a secret key or of the state of a party, encrypted or not and of any context, read once: a
/// key may come from a pipe. They are wiped when they go. Of a file that is longer than any of its kind they are the
/// first ones, which whoever opens them refuses.
///
/// # Errors
/// [`WireError::Io`].
pub fn read_secret(path: &Path) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let mut file = File::open(path)?;
    let kind = file.metadata()?;
    let mut header = Zeroizing::new(Vec::with_capacity(HEADER_BYTES));
    (&mut file).take(HEADER_BYTES as u64).read_to_end(&mut header)?;
    let may_be_a_state = matches!(kind_of(&header), Some(Kind::PartyState | Kind::SealedSecretKey));
    let longest = if may_be_a_state && kind.is_file() { LONGEST_STATE } else { LONGEST_SECRET };
    let length = if kind.is_file() { kind.len().min(longest) } else { longest };
    // All of it at once: growing would leave copies of it behind.
    let mut bytes = Zeroizing::new(Vec::new());
    let reserved = bytes.try_reserve_exact(length as usize + 1);
    reserved.map_err(|_| WireError::from(std::io::Error::from(std::io::ErrorKind::OutOfMemory)))?;
    bytes.extend_from_slice(&header);
    file.take((length + 1).saturating_sub(header.len() as u64)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The key pair and the payload of the container in a file. The header is checked before memory is
/// taken for the rest.
///
/// # Errors
/// As [`super::open`], and [`WireError::Io`].
pub fn read_file(path: &Path, expected: &Expected) -> Result<(KeyId, Zeroizing<Vec<u8>>), WireError> {
    let mut file = File::open(path)?;
    let kind = file.metadata()?;
    let mut header = Vec::with_capacity(HEADER_BYTES);
    (&mut file).take(HEADER_BYTES as u64).read_to_end(&mut header)?;
    let Some(fixed) = header.first_chunk::<HEADER_BYTES>() else {
        return Err(open(&header, expected).err().unwrap_or(WireError::Corrupt));
    };
    let (_, total) = check_header(fixed, expected)?;
    if kind.is_file() {
        check_length(total, kind.len())?;
    }
    let mut bytes = Zeroizing::new(Vec::new());
    // A pipe's header may promise anything: what is long is believed as it comes.
    let promised = if kind.is_file() { total } else { total.min(BELIEVED) };
    let length = usize::try_from(promised).unwrap_or(usize::MAX).saturating_add(1);
    // Short ones need not be asked for.
    let reserved = (promised <= BELIEVED || has_memory(promised)) && bytes.try_reserve_exact(length).is_ok();
    if !reserved {
        return Err(std::io::Error::from(std::io::ErrorKind::OutOfMemory).into());
    }
    bytes.extend_from_slice(&header);
    // Pipes tell their length at their end only: a byte more shows that there is more.
    file.take(total.saturating_add(1) - HEADER_BYTES as u64).read_to_end(&mut bytes)?;
    check_length(total, bytes.len() as u64)?;
    let (key, _) = open(&bytes, expected)?;
    // The payload moves to the front: a second copy of gigabytes of keys would be a waste.
    bytes.truncate(total as usize - TRAILER_BYTES);
    bytes.drain(..HEADER_BYTES);
    Ok((key, bytes))
}

/// Writes a new file: under a temporary name in the same directory first, then under its own name
/// in one step.
///
/// # Errors
/// [`WireError::Io`] if the file exists already or cannot be written; then nothing is left
/// behind.
pub fn write_new(path: &Path, bytes: &[u8], access: Access) -> Result<(), WireError> {
    write_new_with(path, access, |file| file.write_all(bytes))
}

/// As [`write_new`], with contents that `write` writes piece by piece.
///
/// # Errors
/// As [`write_new`].
pub fn write_new_with(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), WireError> {
    if path.symlink_metadata().is_ok() {
        return Err(std::io::Error::from(std::io::ErrorKind::AlreadyExists).into());
    }
    build(path, access, write, |temporary| move_new(temporary, path))
}

/// Replaces a public file atomically: readers see the old or the new file.
///
/// # Errors
/// [`WireError::Io`]; then the old file stays as it was.
pub fn write_over(path: &Path, bytes: &[u8]) -> Result<(), WireError> {
    build(path, Access::Public, |file| file.write_all(bytes), |temporary| fs::rename(temporary, path))
}

/// Where a path leads: the target of a symbolic link, the path itself otherwise.
///
/// # Errors
/// Those of the system, for a link that leads nowhere.
pub fn target_of(path: &Path) -> std::io::Result<PathBuf> {
    let is_link = path.symlink_metadata().is_ok_and(|kind| kind.file_type().is_symlink());
    if is_link { fs::canonicalize(path) } else { Ok(path.into()) }
}

/// Writes the state of a party, encrypted or not, to a file that only its owner may read (mode 0600), or replaces an
/// older state there, as [`write_over`] does. A symbolic link stays, and its target is replaced: two files of one state
/// would count apart.
///
/// # Errors
/// [`WireError::Io`] if the file is there and is no state, if it is a link that leads nowhere, or if it cannot be
/// written; then it stays as it was.
pub fn write_over_state(path: &Path, bytes: &[u8]) -> Result<(), WireError> {
    let path = &target_of(path)?;
    let mut header = Vec::with_capacity(HEADER_BYTES);
    match File::open(path) {
        Ok(file) => {
            file.take(HEADER_BYTES as u64).read_to_end(&mut header)?;
            if !matches!(kind_of(&header), Some(Kind::PartyState | Kind::SealedSecretKey)) {
                return Err(std::io::Error::from(std::io::ErrorKind::AlreadyExists).into());
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    build(path, Access::Owner, |file| file.write_all(bytes), |temporary| fs::rename(temporary, path))
}

/// Writes under a temporary name, which `place` then moves.
fn build(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
    place: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), WireError> {
    let temporary = temporary_name(path);
    let mut file = create_temporary(&temporary, access)?;
    let mut written = write(&mut file).and_then(|()| file.sync_all());
    // From here on it may be read, while it still shows life. A process that is being started
    // shares the lock for a moment: it must not keep readers away after this file is closed.
    let _ = file.try_lock_shared();
    written = written.and_then(|()| place(&temporary));
    if written.is_err() {
        // The first error is the one to report; the file may not exist at all.
        let _ = fs::remove_file(&temporary);
    }
    Ok(written?)
}

/// The name under which [`write_new`] builds a file: `.NAME` and [`part_suffix`], beside it.
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(part_suffix());
    path.with_file_name(name)
}

/// The suffix of unfinished files: `.TOKEN.PID.windlass-part`. Process numbers repeat, in
/// containers even at the same time. The token, 16 random digits, does not. So no process mistakes
/// a file that another process left, or is writing, for its own.
pub fn part_suffix() -> String {
    static TOKEN: OnceLock<u64> = OnceLock::new();
    // Seeded by the system for each process.
    let token = TOKEN.get_or_init(|| RandomState::new().hash_one("windlass-part"));
    format!(".{token:016x}.{}.windlass-part", process_id())
}

/// A file under a temporary name.
///
/// # Errors
/// `WouldBlock` where another thread of this process is writing the same file.
fn create_temporary(path: &Path, access: Access) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    restrict(&mut options, access);
    let file = options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => std::io::ErrorKind::WouldBlock.into(),
        _ => error,
    })?;
    // A sign of life for those who clear away what killed writers left; without it the number of
    // the process is one.
    let _ = file.lock();
    Ok(file)
}

#[cfg(unix)]
fn restrict(options: &mut OpenOptions, access: Access) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(match access {
        Access::Owner => 0o600,
        Access::Public => 0o666,
        Access::Fixed => 0o444,
    });
}

#[cfg(not(unix))]
fn restrict(_: &mut OpenOptions, _: Access) {}

/// Moves a file to a name that must be free. A hard link fails if the name is taken, where a rename
/// would replace it; file systems without hard links get the rename.
///
/// # Errors
/// Those of the file system; `AlreadyExists` when the name is taken, and then nothing is moved.
pub fn move_new(temporary: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => fs::rename(temporary, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: KeyId = KeyId([9; 16]);

    fn label(kind: Kind) -> Label {
        Label { kind, context: [3; 32], key: KEY }
    }

    fn expected(kind: Kind) -> Expected {
        Expected { kind, context: [3; 32], key: Some(KEY), limit: 7 }
    }

    #[test]
    fn files_come_back_and_are_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("query.bin");
        let size = write_file(&path, &label(Kind::Query), b"payload").unwrap();
        assert_eq!(size, fs::metadata(&path).unwrap().len());
        assert_eq!(read_file(&path, &expected(Kind::Query)).unwrap().1.as_slice(), b"payload");
        let again = write_file(&path, &label(Kind::Query), b"other");
        assert!(matches!(again, Err(WireError::Io { kind: std::io::ErrorKind::AlreadyExists, .. })), "{again:?}");
        assert_eq!(read_file(&path, &expected(Kind::Query)).unwrap().1.as_slice(), b"payload");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing").join("query.bin");
        assert!(write_file(&missing, &label(Kind::Query), b"payload").is_err());
        let there = dir.path().join("directory");
        fs::create_dir(&there).unwrap();
        assert!(write_over(&there, b"a directory is not written over").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    /// Descriptors that a new process shares hold the lock longer than the writer.
    #[cfg(unix)]
    #[test]
    fn a_file_can_be_read_as_soon_as_it_has_its_name() {
        use std::fs::TryLockError::WouldBlock;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("query.bin");
        let other = || File::open(temporary_name(&path)).unwrap();
        let write = |file: &mut File| {
            assert!(matches!(other().try_lock_shared(), Err(WouldBlock)));
            file.write_all(b"whole")
        };
        let place = |temporary: &Path| {
            other().try_lock_shared().unwrap();
            assert!(matches!(other().try_lock(), Err(WouldBlock)), "it still shows life");
            move_new(temporary, &path)
        };
        build(&path, Access::Public, write, place).unwrap();
    }

    /// One thread makes the file, the others get an error, and no thread removes a file that another is
    /// writing.
    #[test]
    fn threads_that_write_one_file_do_not_disturb_each_other() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let path = dir.path().join(format!("{round}.bin"));
            let write = |text: &[u8]| {
                write_new_with(&path, Access::Public, |file| {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    file.write_all(text)
                })
            };
            let texts: [&[u8]; 3] = [b"one", b"two", b"three"];
            let ended: Vec<_> = std::thread::scope(|scope| {
                let threads = texts.map(|text| scope.spawn(move || write(text)));
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let there = fs::read(&path).unwrap();
            for (text, ended) in texts.iter().zip(&ended) {
                let others = [std::io::ErrorKind::AlreadyExists, std::io::ErrorKind::WouldBlock];
                match ended {
                    Ok(()) => assert_eq!(there, *text),
                    Err(WireError::Io { kind, .. }) => assert!(others.contains(kind), "{kind:?}"),
                    Err(other) => panic!("{other}"),
                }
            }
            assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1, "{ended:?}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 20, "no temporary file stays");
    }

    #[test]
    fn a_file_is_written_over_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schema.json");
        for text in ["the first, which is longer", "the second"] {
            write_over(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
        }
    }

    #[test]
    fn a_state_replaces_states_alone() {
        let dir = tempfile::tempdir().unwrap();
        let [path, other] = ["party.state", "notes"].map(|name| dir.path().join(name));
        fs::write(&other, "mine").unwrap();
        for payload in [b"first", b"later"] {
            let state = seal(&label(Kind::PartyState), payload);
            write_over_state(&path, &state).unwrap();
            assert_eq!(fs::read(&path).unwrap(), state);
            let refused = write_over_state(&other, &state);
            assert!(
                matches!(refused, Err(WireError::Io { kind: std::io::ErrorKind::AlreadyExists, .. })),
                "{refused:?}"
            );
        }
        assert_eq!(fs::read(&other).unwrap(), b"mine");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file stays");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            // A link in another directory stays a link, and its target changes.
            let elsewhere = tempfile::tempdir().unwrap();
            let [link, lost] = ["link", "lost"].map(|name| elsewhere.path().join(name));
            std::os::unix::fs::symlink(&path, &link).unwrap();
            std::os::unix::fs::symlink(dir.path().join("none"), &lost).unwrap();
            let state = seal(&label(Kind::PartyState), b"through a link");
            write_over_state(&link, &state).unwrap();
            assert!(link.symlink_metadata().unwrap().file_type().is_symlink());
            assert_eq!(fs::read(&path).unwrap(), state);
            let refused = write_over_state(&lost, &state);
            assert!(matches!(refused, Err(WireError::Io { kind: std::io::ErrorKind::NotFound, .. })), "{refused:?}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is made beside it");
        }
    }

    #[cfg(unix)]
    #[test]
    fn secret_keys_are_for_their_owner() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret.key");
        write_file(&path, &label(Kind::SecretKey), b"secret").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn short_long_and_missing_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let whole = seal(&label(Kind::Answer), b"payload");
        let path = dir.path().join("answer.bin");
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            read_file(&path, &expected(Kind::Answer)).map(|_| ()).expect_err("refused")
        };
        for end in 0..whole.len() {
            let error = read(&whole[..end]);
            assert!(matches!(error, WireError::Truncated { .. }), "{end}: {error}");
        }
        assert_eq!(read(&[&whole[..], b"x"].concat()), WireError::TrailingBytes { extra: 1 });
        let mut huge = whole.clone();
        huge[60..68].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(read(&huge), WireError::TooLarge { .. }));
        let missing = read_file(&dir.path().join("none"), &expected(Kind::Answer));
        assert!(matches!(missing, Err(WireError::Io { kind: std::io::ErrorKind::NotFound, .. })));
    }

    #[cfg(unix)]
    #[test]
    fn other_files_are_as_the_system_has_them() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let [query, plain] = ["query.bin", "plain"].map(|name| dir.path().join(name));
        write_file(&query, &label(Kind::Query), b"payload").unwrap();
        fs::write(&plain, b"payload").unwrap();
        let [query, plain] = [query, plain].map(|path| fs::metadata(path).unwrap().permissions().mode());
        assert_eq!(query, plain);
    }

    #[test]
    fn what_is_there_is_refused_before_anything_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("there");
        fs::write(&path, b"old").unwrap();
        let refused = write_new_with(&path, Access::Public, |_| panic!("nothing is written"));
        assert!(matches!(refused, Err(WireError::Io { kind: std::io::ErrorKind::AlreadyExists, .. })));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_mapped_can_only_be_read() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys.ready");
        write_file(&path, &label(Kind::ReadyKeys), b"payload").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o333, 0);
    }

    #[test]
    fn a_file_that_is_being_written_is_left_to_its_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("query.bin");
        let temporary = temporary_name(&path);
        let name = temporary.file_name().unwrap().to_str().unwrap().to_owned();
        let token = name.strip_prefix(".query.bin.").unwrap();
        let token = token.strip_suffix(&format!(".{}.windlass-part", std::process::id())).unwrap();
        assert!(token.len() == 16 && u64::from_str_radix(token, 16).is_ok(), "{token}");
        fs::write(&temporary, b"half").unwrap();
        let refused = write_new(&path, b"payload", Access::Public);
        assert!(matches!(refused, Err(WireError::Io { kind: std::io::ErrorKind::WouldBlock, .. })), "{refused:?}");
        assert_eq!(fs::read(&temporary).unwrap(), b"half");
    }

    #[test]
    fn a_name_that_is_taken_meanwhile_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let [temporary, path] = ["temporary", "there"].map(|name| dir.path().join(name));
        fs::write(&temporary, b"new").unwrap();
        fs::write(&path, b"old").unwrap();
        let refused = move_new(&temporary, &path).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&temporary).unwrap(), fs::read(&path).unwrap()), (b"new".to_vec(), b"old".to_vec()));
    }

    /// The bytes of a secret are read into memory that does not grow: no copy of them stays behind.
    #[test]
    fn secrets_are_read_once_and_never_moved() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret.key");
        let text: Vec<u8> = (0..5000u32).map(|i| i as u8).collect();
        fs::write(&path, &text).unwrap();
        let bytes = read_secret(&path).unwrap();
        assert_eq!(*bytes, text);
        assert!((5001..5100).contains(&bytes.capacity()), "{}", bytes.capacity());
        // Of what is longer than any secret key, a byte more than the longest.
        File::create(&path).unwrap().set_len(LONGEST_SECRET + 1000).unwrap();
        assert_eq!(read_secret(&path).unwrap().len() as u64, LONGEST_SECRET + 1);
    }

    #[cfg(unix)]
    #[test]
    fn secrets_from_what_does_not_end_are_cut() {
        assert_eq!(read_secret(Path::new("/dev/zero")).unwrap().len() as u64, LONGEST_SECRET + 1);
    }

    /// A header that promises what the file does not have is refused for that, not for want of
    /// memory.
    #[test]
    fn promises_are_held_against_the_length_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("answer.bin");
        let mut bytes = seal(&label(Kind::Answer), b"payload");
        let (length, got) = (1u64 << 62, bytes.len() as u64);
        bytes[60..68].copy_from_slice(&length.to_le_bytes());
        fs::write(&path, &bytes).unwrap();
        let refused = read_file(&path, &Expected { limit: u64::MAX, ..expected(Kind::Answer) }).map(drop);
        assert_eq!(refused, Err(WireError::Truncated { expected: length + 100, got }));
    }

    /// Of a pipe one byte more is read than it should have, and no others.
    #[cfg(unix)]
    #[test]
    fn what_follows_in_a_pipe_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let whole = seal(&label(Kind::Answer), b"payload");
        for (number, extra) in [0, 1, 50].into_iter().enumerate() {
            let pipe = dir.path().join(format!("pipe-{number}"));
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let writer = std::thread::spawn({
                let (pipe, bytes) = (pipe.clone(), [&whole[..], &vec![7; extra]].concat());
                move || fs::write(pipe, bytes)
            });
            let read = read_file(&pipe, &expected(Kind::Answer));
            // The reader may be gone before all is written.
            let _ = writer.join().unwrap();
            match extra {
                0 => assert_eq!(read.unwrap().1.as_slice(), b"payload"),
                _ => assert_eq!(read.map(drop), Err(WireError::TrailingBytes { extra: 1 })),
            }
        }
    }
}
