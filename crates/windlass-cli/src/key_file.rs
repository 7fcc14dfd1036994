//! Which key to encrypt with.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{CliError, Result};

/// The key to encrypt with.
#[derive(Debug, Args)]
pub struct EncryptionKeyArgs {
    /// The secret key: what is encrypted is then half as large.
    #[arg(long, value_name = "FILE", conflicts_with = "public_key", required_unless_present = "public_key")]
    secret_key: Option<PathBuf>,
    /// The public key, to encrypt on behalf of its owner.
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
}

/// The file of a key to encrypt with.
#[derive(Debug, Clone, Copy)]
pub enum KeyFile<'a> {
    Secret(&'a Path),
    Public(&'a Path),
}

impl EncryptionKeyArgs {
    /// The file that was given.
    pub fn file(&self) -> Result<KeyFile<'_>> {
        match (&self.secret_key, &self.public_key) {
            (Some(path), _) => Ok(KeyFile::Secret(path)),
            (None, Some(path)) => Ok(KeyFile::Public(path)),
            (None, None) => Err(CliError::Usage("give --secret-key FILE or --public-key FILE".into())),
        }
    }
}
