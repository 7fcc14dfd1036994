//! Pieces of prepared tables in files: as they lie in memory, so that they are mapped.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 8 | magic `WLSEGMNT` |
//! | 8 | 4 | format version, little-endian |
//! | 12 | 4 | number of the piece |
//! | 16 | 4 | rows |
//! | 20 | 4 | pairs of columns |
//! | 24 | 32 | hash of the table's schema |
//! | 56 | 8 | version of the table that it was made for |
//! | 64 | L | words of 32 bits, little-endian: `[block][pair][row]` |
//! | 64 + L | 32 | SHA-256 of the SHA-256 of each MiB before |

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use windlass::wire::{Access, WireError, hex, write_new_with};
use windlass_kernels::Mapping;

use crate::error::{Error, Result};
use crate::tiles::Segment;

const MAGIC: &[u8; 8] = b"WLSEGMNT";
const VERSION: u32 = 1;
const HEADER: usize = 64;
const TRAILER: usize = 32;
const CHUNK: usize = 1 << 20;

/// What the file of a piece must state about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    pub index: usize,
    pub rows: usize,
    pub pairs: usize,
    pub schema: [u8; 32],
    pub revision: u64,
}

impl Label {
    fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(MAGIC);
        let numbers = [VERSION, self.index as u32, self.rows as u32, self.pairs as u32];
        for (place, number) in header[8..24].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        header[24..56].copy_from_slice(&self.schema);
        header[56..].copy_from_slice(&self.revision.to_le_bytes());
        header
    }
}

/// SHA-256 of the SHA-256 of each MiB, the header being a piece of its own.
fn checksum(header: &[u8], data: &[u8]) -> [u8; TRAILER] {
    let mut digests: Vec<[u8; 32]> = vec![Sha256::digest(header).into()];
    digests.par_extend(data.par_chunks(CHUNK).map(|chunk| -> [u8; 32] { Sha256::digest(chunk).into() }));
    Sha256::digest(digests.as_flattened()).into()
}

fn refused(path: &Path, reason: impl Into<String>) -> Error {
    Error::BadFile { path: path.to_owned(), reason: reason.into() }
}

/// Writes a piece to a new file: whole, or not at all.
///
/// # Errors
/// [`Error::BadFile`] with the system's words.
pub(crate) fn write(path: &Path, label: &Label, segment: &Segment) -> Result<()> {
    let (header, data) = (label.header(), segment.bytes());
    let written = write_new_with(path, Access::Fixed, |file| {
        [&header, data, &checksum(&header, data)].into_iter().try_for_each(|part| file.write_all(part))
    });
    written.map_err(|error| refused(path, error.to_string()))
}

/// A piece that is mapped, its header and its length looked at.
#[derive(Debug)]
pub(crate) struct Piece {
    path: PathBuf,
    label: Label,
    mapping: Mapping,
}

impl Piece {
    /// Maps a piece.
    ///
    /// # Errors
    /// [`Error::BadFile`].
    pub fn map(path: &Path, label: Label) -> Result<Self> {
        let mapping = File::open(path).and_then(Mapping::of).map_err(|error| match error.kind() {
            ErrorKind::NotFound => refused(
                path,
                "a piece of the table is missing: restore it from a copy, or prepare the table again (windlass table build)",
            ),
            _ => refused(path, WireError::from(error).to_string()),
        })?;
        let (found, expected) = (mapping.bytes().len(), HEADER + Self::length(&label) + TRAILER);
        if found != expected {
            return Err(refused(
                path,
                format!("{found} bytes instead of {expected}: prepare the table again (windlass table build)"),
            ));
        }
        if mapping.bytes()[..HEADER] != label.header() {
            return Err(refused(
                path,
                "it is not this piece of this table: prepare the table again (windlass table build)",
            ));
        }
        Ok(Self { path: path.to_owned(), label, mapping })
    }

    /// The checksum that it states, in hexadecimal.
    pub fn checksum(&self) -> String {
        let bytes = self.mapping.bytes();
        hex(&bytes[bytes.len() - TRAILER..])
    }

    /// Refuses a piece of another version than the one that this checksum, if there is one, was
    /// written down for.
    ///
    /// # Errors
    /// [`Error::BadFile`].
    pub fn expect(self, checksum: Option<&String>) -> Result<Self> {
        match checksum {
            Some(checksum) if *checksum != self.checksum() => Err(refused(
                &self.path,
                "the piece belongs to another version: prepare the table again (windlass table build)",
            )),
            _ => Ok(self),
        }
    }

    fn length(label: &Label) -> usize {
        Segment::bytes_of(label.rows, label.pairs) as usize
    }

    /// Its words, after a look at the checksum if `verify`.
    ///
    /// # Errors
    /// [`Error::BadFile`].
    pub fn segment(self, verify: bool) -> Result<Segment> {
        let Self { path, label, mapping } = self;
        let (header, rest) = mapping.bytes().split_at(HEADER);
        let (data, trailer) = rest.split_at(Self::length(&label));
        if verify && trailer != checksum(header, data) {
            return Err(refused(
                &path,
                "the file is corrupt, since its checksum does not match: prepare the table again (windlass table build)",
            ));
        }
        let segment = Segment::mapped(label.rows, label.pairs, Arc::new(mapping), HEADER);
        segment.ok_or_else(|| refused(&path, "the file is truncated: prepare the table again (windlass table build)"))
    }
}
