//! Files of the entry: a header, then ciphertexts one after another.
//!
//! | Bytes | Field |
//! |---|---|
//! | 8 | `WLZN`, version 1, kind, two zeros |
//! | 16 | name of the key |
//! | 8 | number of integers |
//! | 32 | seed of the uniform halves (fresh ciphertexts), else zeros |
//! | | for each chunk, for each plaintext prime, one packed ciphertext |
//!
//! All numbers are little-endian. A file is refused unless its length is what its header says.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use windlass::rlwe::KeyId;

use super::parameters::{PLAINTEXT_PRIMES, Parameters, SLOTS};
use super::scheme::{fresh_bytes, product_bytes};
use crate::error::{EntryError, Result};
use crate::files::{Access, Unfinished};

/// Bytes of a header.
pub const HEADER: usize = 64;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The secret key: its coefficients plus one, a byte each.
    SecretKey = 1,
    /// The name of a key, for the server.
    Public = 2,
    /// Fresh ciphertexts of the left integers.
    Left = 3,
    /// Fresh ciphertexts of the right integers.
    Right = 4,
    /// Products.
    Products = 5,
}

impl Kind {
    const fn text(self) -> &'static str {
        match self {
            Self::SecretKey => "secret key",
            Self::Public => "public context",
            Self::Left => "left factors",
            Self::Right => "right factors",
            Self::Products => "products",
        }
    }

    /// Bytes after the header.
    fn body(self, parameters: &Parameters, count: u64) -> u64 {
        let chunk = match self {
            Self::SecretKey => return SLOTS as u64,
            Self::Public => return 0,
            Self::Left | Self::Right => fresh_bytes(parameters),
            Self::Products => product_bytes(parameters),
        };
        (chunks(count) * PLAINTEXT_PRIMES * chunk) as u64
    }

    /// Bytes of a chunk.
    pub fn chunk(self, parameters: &Parameters) -> usize {
        self.body(parameters, 1) as usize
    }
}

/// Chunks of so many integers.
pub fn chunks(count: u64) -> usize {
    count.div_ceil(SLOTS as u64) as usize
}

/// The largest number of integers in a file.
const MOST: u64 = 1 << 36;

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What follows.
    pub kind: Kind,
    /// The name of the key.
    pub key: KeyId,
    /// The number of integers.
    pub count: u64,
    /// The seed of the uniform halves.
    pub seed: [u8; 32],
}

impl Header {
    fn bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&[b'W', b'L', b'Z', b'N', 1, self.kind as u8, 0, 0]);
        bytes[8..24].copy_from_slice(&self.key.0);
        bytes[24..32].copy_from_slice(&self.count.to_le_bytes());
        bytes[32..].copy_from_slice(&self.seed);
        bytes
    }

    /// Writes it over the beginning of a file.
    pub fn write_over(&self, mut opened: File, file: &Path) -> Result<()> {
        let written = opened.seek(SeekFrom::Start(0)).and_then(|_| opened.write_all(&self.bytes()));
        written.map_err(EntryError::at(file))
    }

    fn parse(bytes: &[u8; HEADER], kind: Kind) -> Option<Self> {
        let key = KeyId(bytes[8..24].try_into().ok()?);
        let count = u64::from_le_bytes(bytes[24..32].try_into().ok()?);
        let header = Self { kind, key, count, seed: bytes[32..].try_into().ok()? };
        (header.bytes() == *bytes && count <= MOST).then_some(header)
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
    /// Opens a file of one kind, of one key if that is known.
    ///
    /// # Errors
    /// [`EntryError::File`]; [`EntryError::Malformed`] for another kind, key or length.
    pub fn open(file: &Path, parameters: &Parameters, kind: Kind, key: Option<KeyId>) -> Result<Self> {
        let mut opened = File::open(file).map_err(EntryError::at(file))?;
        let refuse = |what: String| EntryError::malformed(file, what);
        let mut bytes = [0; HEADER];
        opened.read_exact(&mut bytes).map_err(|_| refuse("shorter than a header".into()))?;
        let wrong_kind = || refuse(format!("no file of {} of this entry", kind.text()));
        let header = Header::parse(&bytes, kind).ok_or_else(wrong_kind)?;
        if let Some(key) = key.filter(|&key| key != header.key) {
            return Err(refuse(format!("belongs to key {}, not to {key}", header.key)));
        }
        let (wanted, found) = (
            HEADER as u64 + kind.body(parameters, header.count),
            opened.metadata().map_err(EntryError::at(file))?.len(),
        );
        if wanted != found {
            return Err(refuse(format!("{found} bytes long, where its header says {wanted}")));
        }
        Ok(Self { file: file.to_owned(), header, chunk: kind.chunk(parameters) })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Its path.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// A handle of one's own, for one thread.
    pub fn reader(&self) -> Result<File> {
        File::open(&self.file).map_err(EntryError::at(&self.file))
    }

    /// Reads one chunk through such a handle.
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
    unfinished: Unfinished,
    chunk: usize,
}

impl Target {
    /// Begins with the header.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn create(file: &Path, parameters: &Parameters, header: &Header) -> Result<Self> {
        let access = if header.kind == Kind::SecretKey { Access::Owner } else { Access::Public };
        let (unfinished, mut opened) = Unfinished::create(file, access)?;
        opened.write_all(&header.bytes()).map_err(EntryError::at(file))?;
        Ok(Self { unfinished, chunk: header.kind.chunk(parameters) })
    }

    /// A handle of one's own, for one thread.
    pub fn writer(&self) -> Result<File> {
        let file = self.unfinished.temporary();
        File::options().write(true).open(file).map_err(EntryError::at(file))
    }

    /// Writes one chunk through such a handle.
    pub fn write(&self, writer: &mut File, chunk: usize, bytes: &[u8]) -> Result<()> {
        let start = HEADER as u64 + (chunk * self.chunk) as u64;
        let written = writer.seek(SeekFrom::Start(start)).and_then(|_| writer.write_all(bytes));
        written.map_err(EntryError::at(self.unfinished.temporary()))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`EntryError::File`].
    pub fn keep(self) -> Result<()> {
        self.unfinished.keep()
    }
}
