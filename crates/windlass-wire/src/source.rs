//! Where a file of ready keys or of prepared constants is read from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_ring::kernels::Mapping;
use windlass_schemes::error::Result;

use super::bits::FieldReader;
use super::container::{Expected, open};
use super::mapped::{self, Blocks};
use windlass_rlwe::KeyId;

/// Where the bytes of a file lie that holds polynomials in their memory layout: [`super::ReadyKeys`],
/// [`super::PlanFiles`].
///
/// The bytes are checked once, when they are opened: header, checksum and every residue. Cost: two
/// passes through them, on the current threads. On machines whose words are not little-endian
/// polynomials are copied from any source.
#[derive(Debug, Clone)]
pub enum Source<'a> {
    /// A file, which is mapped and used where it lies. Any number of processes share one copy of it in
    /// memory. It may be removed afterwards.
    ///
    /// **Warning.** Do not write to the file or truncate it while it is mapped. Wrong residues give
    /// wrong results, and a process that reads beyond a new end of the file is killed.
    File(PathBuf),
    /// Memory that processes share, such as an object store's. If it is aligned to 64 bytes it is used
    /// in place; otherwise it is copied.
    Memory(Arc<Mapping>),
    /// Bytes, which are copied.
    Bytes(&'a [u8]),
}

impl From<PathBuf> for Source<'_> {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&PathBuf> for Source<'_> {
    fn from(path: &PathBuf) -> Self {
        Self::File(path.clone())
    }
}

impl From<&Path> for Source<'_> {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<&str> for Source<'_> {
    fn from(path: &str) -> Self {
        Self::File(path.into())
    }
}

impl From<Arc<Mapping>> for Source<'_> {
    fn from(memory: Arc<Mapping>) -> Self {
        Self::Memory(memory)
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Source<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl Source<'_> {
    /// Opens a container and has its key pair, fields and polynomials read.
    ///
    /// # Errors
    /// As [`super::load`]; [`super::WireError::Io`] for a file that cannot be mapped; those of `read`.
    pub(super) fn open<T>(
        self,
        expected: &Expected,
        read: impl FnOnce(KeyId, (FieldReader<'_>, Blocks<'_>)) -> Result<T>,
    ) -> Result<T> {
        let (key, file) = match self {
            Self::File(path) => mapped::map(&path, expected)?,
            Self::Memory(memory) => mapped::share(memory, expected)?,
            Self::Bytes(bytes) => {
                let (key, payload) = open(bytes, expected)?;
                return read(key, mapped::of_payload(payload)?);
            }
        };
        read(key, mapped::of_file(&file)?)
    }
}
