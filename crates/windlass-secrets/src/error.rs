//! Why a secret key stays closed.

use std::io;
use std::path::{Path, PathBuf};

use windlass::wire::WireError;

/// The environment variable that names a file whose first line is the passphrase.
pub const VARIABLE: &str = "WINDLASS_PASSPHRASE_FILE";

/// Results of asking for passphrases.
pub type Result<T> = std::result::Result<T, SecretError>;

/// Why a secret key was not read, or no passphrase for a new one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// A file that cannot be read, or does not hold what it should.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WireError,
    },
    /// Nobody to ask.
    #[error(
        "{}: its passphrase is asked for on a terminal, and standard input is none: give --passphrase-file FILE, or name the file in {}",
        path.display(), VARIABLE
    )]
    NoTerminal {
        /// The file of the secret key.
        path: PathBuf,
    },
    /// A terminal that gave nothing.
    #[error("{}: no passphrase came from the terminal: {reason}", path.display())]
    Terminal {
        /// The file of the secret key.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// A first line that no one would remember.
    #[error("{}: the first line is longer than {most} bytes, so it is no passphrase", path.display())]
    LongPassphrase {
        /// The file of the passphrase.
        path: PathBuf,
        /// The most bytes.
        most: usize,
    },
    /// Two new passphrases that should have been one.
    #[error("the two passphrases differ; nothing is made")]
    Differ,
    /// A new passphrase that is the old one.
    #[error("the new passphrase is the one that {} has; nothing is made", path.display())]
    SamePassphrase {
        /// The file of the secret key.
        path: PathBuf,
    },
    /// One variable for two passphrases.
    #[error(
        "{} is encrypted already, and {} would be both its passphrase and the new one: name the new one's file with --passphrase-file, or the old one's with --old-passphrase-file",
        path.display(), VARIABLE
    )]
    OneVariable {
        /// The file of the secret key.
        path: PathBuf,
    },
}

impl SecretError {
    /// Names the file of a refusal.
    pub(crate) fn at(path: &Path) -> impl FnOnce(WireError) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }

    /// Whether the reason is that there is no file `path`; a passphrase's may be missing as well.
    pub fn is_missing(&self, path: &Path) -> bool {
        matches!(self, Self::File { path: file, source: WireError::Io { kind: io::ErrorKind::NotFound, .. } } if file == path)
    }
}
