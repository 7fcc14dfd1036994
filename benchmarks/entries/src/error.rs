//! What can go wrong in a stage.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a stage.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The program was called in a way that no stage understands.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{}: {what}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// An answer that its key cannot decrypt: it was changed on its way, or belongs to another key.
    #[error("{}: chunk {chunk} cannot be decrypted: it was changed, or belongs to another key", file.display())]
    NotDecryptable {
        /// The file.
        file: PathBuf,
        /// The chunk of the file.
        chunk: usize,
    },
    /// Numbers that a plaintext modulus does not carry: others would be decrypted in their place.
    #[error("{what} reach {largest}, beyond half of the plaintext modulus {modulus}")]
    Wraps {
        /// What reaches so far.
        what: &'static str,
        /// How far.
        largest: u64,
        /// The plaintext modulus.
        modulus: u64,
    },
    /// Parameters that are not secure, or that do not carry what they should.
    #[error("parameters: {reason}")]
    Parameters {
        /// Why.
        reason: String,
    },
    /// An error of the library.
    #[error(transparent)]
    Windlass(#[from] windlass::Error),
    /// An error of its RLWE layer.
    #[error(transparent)]
    Rlwe(#[from] windlass::rlwe::RlweError),
    /// An error of its ring.
    #[error(transparent)]
    Ring(#[from] windlass::ring::RingError),
    /// An error of its kernels.
    #[error(transparent)]
    Kernel(#[from] windlass::ring::kernels::KernelError),
}

/// The result of a stage.
pub type Result<T> = std::result::Result<T, EntryError>;

impl EntryError {
    /// Names the file of an error of the system.
    pub fn at(file: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self::File { file: file.to_owned(), source }
    }

    /// Refuses numbers that a plaintext modulus does not carry.
    ///
    /// # Errors
    /// [`EntryError::Wraps`] when `largest` is beyond half of `modulus`.
    pub fn check_carried(what: &'static str, largest: u64, modulus: u64) -> Result<()> {
        if largest <= modulus / 2 { Ok(()) } else { Err(Self::Wraps { what, largest, modulus }) }
    }

    /// A file with wrong contents.
    pub fn malformed(file: &Path, what: impl Into<String>) -> Self {
        Self::Malformed { file: file.to_owned(), what: what.into() }
    }
}
