//! The errors of opening an encrypted secret key.

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
    /// No terminal to ask on.
    #[error(
        "{}: a passphrase is needed, but standard input is not a terminal: give --passphrase-file FILE, or set {} to the name of such a file",
        path.display(), VARIABLE
    )]
    NoTerminal {
        /// The file of the secret key.
        path: PathBuf,
    },
    /// An encrypted file beside one that is not, whose passphrase it should have.
    #[error(
        "{}: it is encrypted, but the identity that it belongs to is not, so there is no passphrase for it: encrypt the identity with the same passphrase (windlass key seal), or decrypt this file (windlass key open)",
        path.display()
    )]
    SealedBesidePlain {
        /// The encrypted file.
        path: PathBuf,
    },
    /// A terminal that gave nothing.
    #[error("{}: the passphrase could not be read from the terminal: {reason}", path.display())]
    Terminal {
        /// The file of the secret key.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// A first line that no one would remember.
    #[error("{}: a passphrase has at most {most} bytes, but the first line is longer; check that this is the right file", path.display())]
    LongPassphrase {
        /// The file of the passphrase.
        path: PathBuf,
        /// The most bytes.
        most: usize,
    },
    /// Two new passphrases that should have been one.
    #[error("the two passphrases differ, so nothing was written; try again")]
    Differ,
    /// A new passphrase that is the old one.
    #[error("the new passphrase is the same as that of {}, so nothing was written; choose a different one", path.display())]
    SamePassphrase {
        /// The file of the secret key.
        path: PathBuf,
    },
    /// One variable for two passphrases.
    #[error(
        "{} is already encrypted, and {} would be both its passphrase and the new one: name the file of the new one with --passphrase-file, or the file of the old one with --old-passphrase-file",
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

    /// Whether the reason is that the file `path` is missing; the file of a passphrase may be
    /// missing as well.
    pub fn is_missing(&self, path: &Path) -> bool {
        matches!(self, Self::File { path: file, source: WireError::Io { kind: io::ErrorKind::NotFound, .. } } if file == path)
    }
}
