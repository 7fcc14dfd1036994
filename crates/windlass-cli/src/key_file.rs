//! The options that name a secret key, and its file.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use windlass::rlwe::SecretKey;
use windlass::wire::{FileContext, Passphrase, from_bytes, save_sealed};
use windlass_secrets::{OpenArgs, open_file};
use zeroize::Zeroizing;

use crate::error::{CliError, Result};
use crate::values::{refused, write};

/// A secret key to read.
#[derive(Debug, Args)]
pub struct SecretKeyArgs {
    /// The secret key. If it is encrypted, a passphrase is needed.
    #[arg(long, value_name = "FILE")]
    secret_key: PathBuf,
    #[command(flatten)]
    open: OpenArgs,
}

impl SecretKeyArgs {
    /// The file, read and, where it is encrypted, opened: outside of a stage, whose sign of life
    /// would write over the question. An encrypted key of another context is refused before the
    /// question.
    pub fn open(&self, context: &impl FileContext) -> Result<SecretFile<'_>> {
        Ok(SecretFile { path: &self.secret_key, bytes: self.open.read(&self.secret_key, context.hash())? })
    }
}

/// The file of a secret key, read once.
pub struct SecretFile<'a> {
    path: &'a Path,
    bytes: Zeroizing<Vec<u8>>,
}

impl<'a> SecretFile<'a> {
    /// A file that this command wrote.
    pub fn read(path: &'a Path) -> Result<Self> {
        Ok(Self { path, bytes: open_file(path, None, None)? })
    }

    /// Where it is.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The key, which must be of this context.
    pub fn key<C: FileContext>(&self, context: &C) -> Result<SecretKey> {
        from_bytes(context, &self.bytes).map_err(|error| refused(self.path, error))
    }
}

/// Writes a new secret key, encrypted if there is a passphrase, and gives the size of its file.
pub fn write_secret<C: FileContext>(
    path: &Path,
    context: &C,
    secret: &SecretKey,
    passphrase: Option<&Passphrase>,
) -> Result<u64> {
    match passphrase {
        None => write(path, context, secret),
        Some(passphrase) => save_sealed(path, context, secret, passphrase).map_err(|error| refused(path, error)),
    }
}

/// The key to encrypt with.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("encryption_key").required(true).args(["secret_key", "public_key"])))]
pub struct EncryptionKeyArgs {
    /// Encrypt with the secret key, which makes files of half the size.
    #[arg(long, value_name = "FILE")]
    secret_key: Option<PathBuf>,
    /// Encrypt with the public key, without the secret key of its owner.
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    public_key: Option<PathBuf>,
    #[command(flatten)]
    open: OpenArgs,
}

/// The file of a key to encrypt with.
pub enum KeyFile<'a> {
    Secret(SecretFile<'a>),
    Public(&'a Path),
}

impl EncryptionKeyArgs {
    /// The file that was given; as [`SecretKeyArgs::open`].
    pub fn file(&self, context: &impl FileContext) -> Result<KeyFile<'_>> {
        match (&self.secret_key, &self.public_key) {
            (Some(path), _) => Ok(KeyFile::Secret(SecretFile { path, bytes: self.open.read(path, context.hash())? })),
            (None, Some(path)) => Ok(KeyFile::Public(path)),
            // The parser asks for one of them.
            (None, None) => Err(CliError::Usage("give --secret-key FILE or --public-key FILE".into())),
        }
    }
}
