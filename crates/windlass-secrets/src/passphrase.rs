//! Passphrases from files and from the terminal.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use windlass::wire::{ContextHash, Passphrase, WireError, check_sealed, is_sealed, open_secret, read_secret};
use zeroize::Zeroizing;

use crate::error::{Result, SecretError, VARIABLE};
use crate::terminal;

/// Longest passphrase, in bytes.
const MOST: usize = 4096;

/// How often a passphrase is asked for.
const TRIES: usize = 3;

/// The bytes of the file of a secret key, opened where it is encrypted: with the first line of
/// `given`, or of the file that [`VARIABLE`] names, or with what is typed on the terminal, three
/// times at most. They are wiped when they go. An encrypted key of parameters with another hash
/// than `context` is refused before the user is asked; `None` accepts any.
///
/// # Errors
/// [`SecretError::File`] for a file that cannot be read, a wrong passphrase
/// ([`WireError::WrongPassphrase`]), and `given` for a key that is not encrypted
/// ([`WireError::NotSealed`]): whoever says so expects one that is. [`SecretError::NoTerminal`].
pub fn open_file(path: &Path, context: Option<&ContextHash>, given: Option<&Path>) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = read_secret(path).map_err(SecretError::at(path))?;
    if given.is_none() && !is_sealed(&bytes) { Ok(bytes) } else { Ok(open(path, &bytes, context, given)?.0) }
}

/// The bytes of a secret file, opened, with the passphrase that it is encrypted with if it is.
pub struct OpenedSecret {
    /// The file. The bytes are wiped when they go.
    pub bytes: Zeroizing<Vec<u8>>,
    /// With which what replaces the file is encrypted.
    pub passphrase: Option<Passphrase>,
}

impl std::fmt::Debug for OpenedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenedSecret").field("passphrase", &self.passphrase).finish_non_exhaustive()
    }
}

/// As [`open_file`], for a file that changes, or to which others belong.
///
/// # Errors
/// As there.
pub fn open_file_to_keep(path: &Path, context: Option<&ContextHash>, given: Option<&Path>) -> Result<OpenedSecret> {
    let bytes = read_secret(path).map_err(SecretError::at(path))?;
    if given.is_none() && !is_sealed(&bytes) {
        return Ok(OpenedSecret { bytes, passphrase: None });
    }
    let (bytes, passphrase) = open(path, &bytes, context, given)?;
    Ok(OpenedSecret { bytes, passphrase: Some(passphrase) })
}

/// As [`open_file_to_keep`], for a file that is encrypted as the file `first` is: its passphrase is not asked for
/// again. What replaces it is encrypted as `first` is.
///
/// # Errors
/// As there; [`WireError::WrongPassphrase`] if it is encrypted with another passphrase;
/// [`SecretError::SealedBesidePlain`] if it is encrypted and `first` is not.
pub fn open_file_beside(path: &Path, context: &ContextHash, first: &OpenedSecret) -> Result<OpenedSecret> {
    let mut bytes = read_secret(path).map_err(SecretError::at(path))?;
    let Some(passphrase) = &first.passphrase else {
        let refused = || SecretError::SealedBesidePlain { path: path.into() };
        return if is_sealed(&bytes) { Err(refused()) } else { Ok(OpenedSecret { bytes, passphrase: None }) };
    };
    if is_sealed(&bytes) {
        check_sealed(&bytes, Some(context)).map_err(SecretError::at(path))?;
        bytes = open_secret(&bytes, passphrase).map_err(SecretError::at(path))?;
    }
    Ok(OpenedSecret { bytes, passphrase: Some(passphrase.clone()) })
}

/// As [`open_file`], for a key of any parameters that must be encrypted.
///
/// # Errors
/// As there.
pub fn open_sealed_file(path: &Path, given: Option<&Path>) -> Result<Zeroizing<Vec<u8>>> {
    Ok(open(path, &read_secret(path).map_err(SecretError::at(path))?, None, given)?.0)
}

/// The bytes of the file `path` of a secret key and a passphrase for the file `out`, in which they
/// are to be encrypted: another one than they have. `old` and `new` are the files that were given
/// for the two.
///
/// # Errors
/// As [`open_file`] and [`new_passphrase`]; [`SecretError::OneVariable`] and
/// [`SecretError::SamePassphrase`] for a key that would be encrypted as before.
pub fn open_to_seal(
    path: &Path,
    out: &Path,
    old: Option<&Path>,
    new: Option<&Path>,
) -> Result<(Zeroizing<Vec<u8>>, Passphrase)> {
    let bytes = read_secret(path).map_err(SecretError::at(path))?;
    if old.is_none() && !is_sealed(&bytes) {
        return Ok((bytes, new_passphrase(out, new)?));
    }
    if old.is_none() && new.is_none() && named().is_some() {
        return Err(SecretError::OneVariable { path: path.into() });
    }
    let (file, before) = open(path, &bytes, None, old)?;
    let after = new_passphrase(out, new)?;
    if after == before { Err(SecretError::SamePassphrase { path: path.into() }) } else { Ok((file, after)) }
}

/// The file in a sealed one, and the passphrase that opened it.
fn open(
    path: &Path,
    bytes: &[u8],
    context: Option<&ContextHash>,
    given: Option<&Path>,
) -> Result<(Zeroizing<Vec<u8>>, Passphrase)> {
    // What is none, or of other parameters, is refused before anybody is asked.
    check_sealed(bytes, context).map_err(SecretError::at(path))?;
    let opened = |passphrase: Passphrase| open_secret(bytes, &passphrase).map(|file| (file, passphrase));
    if let Some(file) = given.map(Path::to_path_buf).or_else(named) {
        return opened(first_line(&file)?).map_err(SecretError::at(path));
    }
    let prompt = format!("Passphrase for {}: ", terminal::printable(path));
    for _ in 1..TRIES {
        match opened(typed(path, &prompt)?) {
            Err(WireError::WrongPassphrase) => terminal::say("The passphrase is wrong; try again."),
            opened => return opened.map_err(SecretError::at(path)),
        }
    }
    opened(typed(path, &prompt)?).map_err(SecretError::at(path))
}

/// A passphrase for a new secret key in the file `path`: the first line of `given`, or of the file
/// that [`VARIABLE`] names, or what is typed twice on the terminal.
///
/// # Errors
/// [`SecretError::File`] for a file that cannot be read and for an empty passphrase;
/// [`SecretError::NoTerminal`]; [`SecretError::Differ`].
pub fn new_passphrase(path: &Path, given: Option<&Path>) -> Result<Passphrase> {
    if let Some(file) = given.map(Path::to_path_buf).or_else(named) {
        return first_line(&file);
    }
    let passphrase = hidden(path, &format!("New passphrase for {}: ", terminal::printable(path)))?;
    // An empty one is refused before it is asked for again.
    let checked = Passphrase::new(&*passphrase).map_err(SecretError::at(path))?;
    let again = hidden(path, "The same again: ")?;
    if again == passphrase { Ok(checked) } else { Err(SecretError::Differ) }
}

/// The file that the environment names.
fn named() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|name: &OsString| !name.is_empty()).map(PathBuf::from)
}

/// The passphrase in the first line of a file, which may be a pipe.
fn first_line(path: &Path) -> Result<Passphrase> {
    let failed = |error: std::io::Error| SecretError::at(path)(error.into());
    // All of it at once: growing would leave copies of it behind.
    let mut text = Zeroizing::new(Vec::with_capacity(MOST + 2));
    File::open(path).and_then(|file| file.take(MOST as u64 + 2).read_to_end(&mut text)).map_err(failed)?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > MOST {
        return Err(SecretError::LongPassphrase { path: path.into(), most: MOST });
    }
    Passphrase::new(line).map_err(SecretError::at(path))
}

/// A passphrase from the terminal.
fn typed(path: &Path, prompt: &str) -> Result<Passphrase> {
    Passphrase::new(&*hidden(path, prompt)?).map_err(SecretError::at(path))
}

fn hidden(path: &Path, prompt: &str) -> Result<Zeroizing<Vec<u8>>> {
    let read = terminal::read_hidden(prompt, MOST);
    read.map_err(|reason| match reason.kind() {
        std::io::ErrorKind::Unsupported => SecretError::NoTerminal { path: path.into() },
        _ => SecretError::Terminal { path: path.into(), reason },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(text: impl AsRef<[u8]>) -> Result<()> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("passphrase");
        std::fs::write(&path, text).unwrap();
        first_line(&path).map(drop)
    }

    /// What opens a key that was sealed with `sealed`.
    fn opens(sealed: &str, text: &str) -> bool {
        use windlass::wire::{PassphraseCost, seal_secret};
        let context = windlass::Context::preset("insecure_toy_256").unwrap();
        let (client, _) = context.generate_keys_from_seed([], 3).unwrap();
        let (plain, passphrase) = (client.secret_to_bytes().unwrap(), Passphrase::new(sealed).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let [key, file] = ["secret.key", "passphrase"].map(|name| dir.path().join(name));
        let bytes = seal_secret(&plain, &passphrase, PassphraseCost::new(8, 1, 1).unwrap()).unwrap();
        std::fs::write(&key, bytes).unwrap();
        std::fs::write(&file, text).unwrap();
        match open_file(&key, None, Some(&file)) {
            Ok(opened) => opened == plain,
            Err(error) => {
                assert!(error.to_string().contains("the passphrase is wrong"), "{error}");
                false
            }
        }
    }

    /// A file that belongs to another is opened with its passphrase, and stays encrypted with it.
    #[test]
    fn files_beside_each_other_have_one_passphrase() {
        use windlass::wire::{KeyId, Kind, Label, PassphraseCost, seal, seal_secret};
        let dir = tempfile::tempdir().unwrap();
        let [key, state, words] = ["secret.key", "party.state", "words"].map(|name| dir.path().join(name));
        let context = [7; 32];
        let file = |kind| seal(&Label { kind, context, key: KeyId([1; 16]) }, b"a secret");
        let sealed = |bytes: &[u8], words: &str| {
            seal_secret(bytes, &Passphrase::new(words).unwrap(), PassphraseCost::new(8, 1, 1).unwrap()).unwrap()
        };
        std::fs::write(&words, "two words").unwrap();
        std::fs::write(&key, sealed(&file(Kind::SecretKey), "two words")).unwrap();
        let first = open_file_to_keep(&key, Some(&context), Some(&words)).unwrap();
        assert_eq!((&*first.bytes, first.passphrase.is_some()), (&file(Kind::SecretKey), true));
        for plain in [true, false] {
            let bytes = file(Kind::PartyState);
            std::fs::write(&state, if plain { bytes.clone() } else { sealed(&bytes, "two words") }).unwrap();
            let second = open_file_beside(&state, &context, &first).unwrap();
            assert_eq!((&*second.bytes, second.passphrase), (&bytes, first.passphrase.clone()));
        }
        std::fs::write(&state, sealed(&file(Kind::PartyState), "others")).unwrap();
        let refused = open_file_beside(&state, &context, &first).unwrap_err().to_string();
        assert!(refused.contains("party.state") && refused.contains("passphrase is wrong"), "{refused}");
        assert!(open_file_beside(&state, &[8; 32], &first).is_err());
        let plain = OpenedSecret { bytes: first.bytes.clone(), passphrase: None };
        let refused = open_file_beside(&state, &context, &plain);
        assert!(matches!(&refused, Err(SecretError::SealedBesidePlain { path }) if *path == state), "{refused:?}");
        std::fs::write(&key, file(Kind::SecretKey)).unwrap();
        assert!(open_file_to_keep(&key, Some(&context), None).unwrap().passphrase.is_none());
        assert!(open_file_to_keep(&key, Some(&context), Some(&words)).is_err(), "it is not encrypted");
    }

    #[test]
    fn the_first_line_is_the_passphrase() {
        for text in ["two words", "two words\n", "two words\r\n", "two words\nand a note\n"] {
            assert!(opens("two words", text), "{text:?}");
        }
        for text in [" two words", "two words ", "two", "two words\r\r\n"] {
            assert!(!opens("two words", text), "{text:?}");
        }
        for text in ["", "\n", "\r\n", "\nsecond\n"] {
            assert!(line_of(text).unwrap_err().to_string().contains("the passphrase is empty"), "{text:?}");
        }
        line_of("x".repeat(MOST)).unwrap();
        line_of("x".repeat(MOST) + "\r\n").unwrap();
        for text in ["x".repeat(MOST + 1), "x".repeat(MOST + 1) + "\n", "x".repeat(1 << 20)] {
            assert!(matches!(line_of(text), Err(SecretError::LongPassphrase { .. })));
        }
        let missing = first_line(Path::new("no such file")).unwrap_err();
        assert!(missing.is_missing(Path::new("no such file")) && !missing.is_missing(Path::new("secret.key")));
    }
}
