//! Files: a header, then ciphertexts one after another.
//!
//! | Bytes | Field |
//! |---|---|
//! | 4 | the entry |
//! | 4 | version 1, kind, two zeros |
//! | 16 | name of the key |
//! | 8 | number of values that were encrypted |
//! | 32 | seed of the uniform halves (fresh ciphertexts), else zeros |
//! | | for each chunk of 4096 values the same number of packed ciphertexts |
//!
//! All numbers are little-endian. A file is refused unless its length is what its header says.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::rlwe::KeyId;
use windlass::wire::Access;
use zeroize::Zeroizing;

use super::key::SecretKey;
use super::parameters::{Parameters, SLOTS};
use crate::error::{EntryError, Result};
use crate::files;

/// Bytes of a header.
pub const HEADER: usize = 64;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The secret key: its coefficients plus one, a byte each.
    SecretKey = 1,
    /// The name of a key, for the server.
    Public = 2,
    /// Fresh ciphertexts.
    Upload = 3,
    /// Fresh ciphertexts of second factors.
    SecondUpload = 4,
    /// Answers.
    Download = 5,
}

/// A kind of file of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The entry.
    pub entry: [u8; 4],
    /// What follows the header.
    pub kind: Kind,
    /// Bytes of a chunk.
    pub chunk: usize,
}

impl Layout {
    /// That of secret keys.
    pub fn secret_key(entry: [u8; 4]) -> Self {
        Self { entry, kind: Kind::SecretKey, chunk: SLOTS }
    }

    /// That of what the server knows of a key.
    pub fn public(entry: [u8; 4]) -> Self {
        Self { entry, kind: Kind::Public, chunk: 0 }
    }

    /// Bytes after the header.
    fn body(&self, count: u64) -> u64 {
        (chunks(count) * self.chunk) as u64
    }
}

/// Chunks of so many values.
pub fn chunks(count: u64) -> usize {
    count.div_ceil(SLOTS as u64) as usize
}

/// The largest number of values in a file.
const MOST: u64 = 1 << 36;

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The name of the key.
    pub key: KeyId,
    /// The number of values.
    pub count: u64,
    /// The seed of the uniform halves.
    pub seed: [u8; 32],
}

impl Header {
    fn bytes(&self, layout: &Layout) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(&layout.entry);
        bytes[4..6].copy_from_slice(&[1, layout.kind as u8]);
        bytes[8..24].copy_from_slice(&self.key.0);
        bytes[24..32].copy_from_slice(&self.count.to_le_bytes());
        bytes[32..].copy_from_slice(&self.seed);
        bytes
    }

    /// Writes it over the beginning of a file.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn write_over(&self, layout: &Layout, opened: &mut File, file: &Path) -> Result<()> {
        let written = opened.seek(SeekFrom::Start(0)).and_then(|_| opened.write_all(&self.bytes(layout)));
        written.map_err(EntryError::at(file))
    }

    fn parse(bytes: &[u8; HEADER], layout: &Layout) -> Option<Self> {
        let key = KeyId(bytes[8..24].try_into().ok()?);
        let count = u64::from_le_bytes(bytes[24..32].try_into().ok()?);
        let header = Self { key, count, seed: bytes[32..].try_into().ok()? };
        (header.bytes(layout) == *bytes && count <= MOST).then_some(header)
    }
}

/// A file that was checked against its header.
#[derive(Debug)]
pub struct Source {
    file: PathBuf,
    header: Header,
    chunk: usize,
}

impl Source {
    /// Opens a file of one layout, of one key if that is known.
    ///
    /// # Errors
    /// [`EntryError::File`]; [`EntryError::Malformed`] for another layout, key or length.
    pub fn open(file: &Path, layout: &Layout, key: Option<KeyId>) -> Result<Self> {
        let mut opened = File::open(file).map_err(EntryError::at(file))?;
        let refuse = |what: String| EntryError::malformed(file, what);
        let mut bytes = [0; HEADER];
        opened.read_exact(&mut bytes).map_err(|_| refuse("shorter than a header".into()))?;
        let other = || refuse(format!("no file of this kind ({:?}) of this entry", layout.kind));
        let header = Header::parse(&bytes, layout).ok_or_else(other)?;
        if let Some(key) = key.filter(|&key| key != header.key) {
            return Err(refuse(format!("belongs to key {}, not to {key}", header.key)));
        }
        let found = opened.metadata().map_err(EntryError::at(file))?.len();
        let wanted = HEADER as u64 + layout.body(header.count);
        if wanted != found {
            return Err(refuse(format!("{found} bytes long, where its header says {wanted}")));
        }
        Ok(Self { file: file.to_owned(), header, chunk: layout.chunk })
    }

    /// Refuses another number of values than `count`.
    ///
    /// # Errors
    /// [`EntryError::Malformed`].
    pub fn check_count(&self, count: u64) -> Result<()> {
        let found = self.header.count;
        let what = || format!("{found} values, where {count} were asked for");
        if found == count { Ok(()) } else { Err(EntryError::malformed(&self.file, what())) }
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its path.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// A separate handle for one thread.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn reader(&self) -> Result<File> {
        File::open(&self.file).map_err(EntryError::at(&self.file))
    }

    /// Reads one chunk through such a handle.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn read(&self, reader: &mut File, chunk: usize, out: &mut Vec<u8>) -> Result<()> {
        out.resize(self.chunk, 0);
        let start = HEADER as u64 + (chunk * self.chunk) as u64;
        let read = reader.seek(SeekFrom::Start(start)).and_then(|_| reader.read_exact(out));
        read.map_err(EntryError::at(&self.file))
    }
}

/// A file that is being written, chunk by chunk in any order.
#[derive(Debug)]
pub struct Target {
    /// Where it lies until it is whole.
    temporary: PathBuf,
    chunk: usize,
}

impl Target {
    /// Writes a file: the header, then what `fill` writes. The file gets its name when `fill` is
    /// done, and is removed if that fails.
    ///
    /// # Errors
    /// [`EntryError::File`], and those of `fill`.
    pub fn create<T>(
        file: &Path,
        layout: &Layout,
        header: &Header,
        fill: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<T> {
        let access = if layout.kind == Kind::SecretKey { Access::Owner } else { Access::Public };
        files::write_with(file, access, |opened, temporary| {
            opened.write_all(&header.bytes(layout)).map_err(EntryError::at(file))?;
            fill(&Self { temporary: temporary.to_owned(), chunk: layout.chunk })
        })
    }

    /// A separate handle for one thread.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn writer(&self) -> Result<File> {
        File::options().write(true).open(&self.temporary).map_err(EntryError::at(&self.temporary))
    }

    /// Writes one chunk through such a handle.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn write(&self, writer: &mut File, chunk: usize, bytes: &[u8]) -> Result<()> {
        let start = HEADER as u64 + (chunk * self.chunk) as u64;
        let written = writer.seek(SeekFrom::Start(start)).and_then(|_| writer.write_all(bytes));
        written.map_err(EntryError::at(&self.temporary))
    }
}

/// Makes a key, and writes it and its name.
///
/// # Errors
/// [`EntryError::File`]; [`EntryError::Rlwe`] without entropy.
pub fn generate_key(parameters: &Arc<Parameters>, entry: [u8; 4], secret: &Path, public: &Path) -> Result<()> {
    let key = SecretKey::generate(parameters, &mut windlass::rlwe::context::os_rng()?);
    let header = Header { key: key.id(), count: SLOTS as u64, seed: [0; 32] };
    let bytes = Zeroizing::new(key.expose_coefficients().iter().map(|x| (x + 1) as u8).collect::<Vec<u8>>());
    Target::create(secret, &Layout::secret_key(entry), &header, |target| {
        target.write(&mut target.writer()?, 0, &bytes)
    })?;
    Target::create(public, &Layout::public(entry), &header, |_| Ok(()))
}

/// Reads a secret key.
///
/// # Errors
/// As [`Source::open`]; [`EntryError::Malformed`] for coefficients that are no key.
pub fn read_key(parameters: &Arc<Parameters>, entry: [u8; 4], file: &Path) -> Result<SecretKey> {
    let source = Source::open(file, &Layout::secret_key(entry), None)?;
    let other = || EntryError::malformed(file, "no secret key of this entry");
    if source.header().count != SLOTS as u64 {
        return Err(other());
    }
    let bytes = Zeroizing::new(files::read(file, (HEADER + SLOTS) as u64)?);
    let coefficients = Zeroizing::new(bytes[HEADER..].iter().map(|&x| i64::from(x) - 1).collect::<Vec<i64>>());
    SecretKey::from_coefficients(parameters, source.header().key, coefficients).ok_or_else(other)
}

/// Reads the name of a key.
///
/// # Errors
/// As [`Source::open`].
pub fn read_key_name(entry: [u8; 4], file: &Path) -> Result<KeyId> {
    Ok(Source::open(file, &Layout::public(entry), None)?.header().key)
}
