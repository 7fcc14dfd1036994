//! The options of commands that read or make secret keys.

use std::path::{Path, PathBuf};

use windlass::wire::Passphrase;
use zeroize::Zeroizing;

use crate::error::Result;
use crate::passphrase::{new_passphrase, open_file, open_sealed_file};

/// How an encrypted secret key is opened.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct OpenArgs {
    /// Where the secret key is encrypted: a file whose first line is the passphrase
    /// [default: WINDLASS_PASSPHRASE_FILE, or else asked for].
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl OpenArgs {
    /// The bytes of the file of a secret key, opened where it is encrypted.
    ///
    /// # Errors
    /// As [`open_file`].
    pub fn read(&self, path: &Path) -> Result<Zeroizing<Vec<u8>>> {
        open_file(path, self.passphrase_file.as_deref())
    }

    /// The same of a key that must be encrypted.
    ///
    /// # Errors
    /// As there.
    pub fn read_sealed(&self, path: &Path) -> Result<Zeroizing<Vec<u8>>> {
        open_sealed_file(path, self.passphrase_file.as_deref())
    }
}

/// Whether a new secret key is encrypted.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SealArgs {
    /// Encrypt the secret key with a passphrase, which is asked for twice.
    #[arg(long)]
    passphrase: bool,
    /// Encrypt the secret key with a passphrase: the first line of this file
    /// [default with --passphrase: WINDLASS_PASSPHRASE_FILE, or else asked for].
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl SealArgs {
    /// The passphrase for a new secret key in the file `path`, if it is to be encrypted.
    ///
    /// # Errors
    /// As [`new_passphrase`].
    pub fn passphrase(&self, path: &Path) -> Result<Option<Passphrase>> {
        let wanted = self.passphrase || self.passphrase_file.is_some();
        wanted.then(|| new_passphrase(path, self.passphrase_file.as_deref())).transpose()
    }
}
