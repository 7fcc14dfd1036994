//! The options of commands that read or make secret keys.

use std::path::{Path, PathBuf};

use windlass::wire::{ContextHash, Passphrase};
use zeroize::Zeroizing;

use crate::error::Result;
use crate::passphrase::{OpenedSecret, new_passphrase, open_file, open_file_to_keep, open_sealed_file};

/// How an encrypted secret key is opened.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct OpenArgs {
    /// For an encrypted secret key: a file whose first line is the passphrase [default: the file
    /// that WINDLASS_PASSPHRASE_FILE names, otherwise the terminal].
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl OpenArgs {
    /// The bytes of the file of a secret key, opened where it is encrypted; `context` is the hash
    /// of its parameters.
    ///
    /// # Errors
    /// As [`open_file`].
    pub fn read(&self, path: &Path, context: &ContextHash) -> Result<Zeroizing<Vec<u8>>> {
        open_file(path, Some(context), self.passphrase_file.as_deref())
    }

    /// The same of a file that changes, or to which others belong.
    ///
    /// # Errors
    /// As [`open_file_to_keep`].
    pub fn read_to_keep(&self, path: &Path, context: &ContextHash) -> Result<OpenedSecret> {
        open_file_to_keep(path, Some(context), self.passphrase_file.as_deref())
    }

    /// The same of a key of any parameters that must be encrypted.
    ///
    /// # Errors
    /// As there.
    pub fn read_sealed(&self, path: &Path) -> Result<Zeroizing<Vec<u8>>> {
        open_sealed_file(path, self.passphrase_file.as_deref())
    }
}

/// How a secret key is opened that a program keeps, and made where it is missing.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct KeepArgs {
    /// A file whose first line is the passphrase of the secret key. A new key is encrypted with it,
    /// and an existing key must be [default for an encrypted key: the file that
    /// WINDLASS_PASSPHRASE_FILE names, otherwise the terminal].
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl KeepArgs {
    /// The bytes of the file of a secret key, opened where it is encrypted; `context` is the hash
    /// of its parameters.
    ///
    /// # Errors
    /// As [`open_file`].
    pub fn read(&self, path: &Path, context: &ContextHash) -> Result<Zeroizing<Vec<u8>>> {
        open_file(path, Some(context), self.passphrase_file.as_deref())
    }

    /// The passphrase for a secret key that is made in the file `path`, if it is to be encrypted:
    /// where the option was given, and where `others_are`, keys that the program keeps beside it.
    ///
    /// # Errors
    /// As [`new_passphrase`].
    pub fn passphrase(&self, path: &Path, others_are: bool) -> Result<Option<Passphrase>> {
        let wanted = others_are || self.passphrase_file.is_some();
        wanted.then(|| new_passphrase(path, self.passphrase_file.as_deref())).transpose()
    }
}

/// Whether a new secret key is encrypted.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SealArgs {
    /// Encrypt the secret key with a passphrase, which is read twice from the terminal.
    #[arg(long)]
    passphrase: bool,
    /// Encrypt the secret key with the passphrase in the first line of this file [default with
    /// --passphrase: the file that WINDLASS_PASSPHRASE_FILE names, otherwise the terminal].
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
