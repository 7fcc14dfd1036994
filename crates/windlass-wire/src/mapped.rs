//! Payloads whose residues have the same layout in the file as in memory. Such a file is mapped,
//! checked once, and used in place.
//!
//! | Bytes | Field |
//! |---|---|
//! | 4 | length H of the fields |
//! | H | fields, by kind |
//! | | zeros up to the next offset of the file that is a multiple of 4096 |
//! | | blocks of polynomials, one after the other, as [`windlass_ring::Stored`] has them |
//!
//! The header of the container, 68 bytes, counts in offsets. Rows are aligned to 64 bytes.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_ring::kernels::Mapping;
use windlass_ring::{Basis, Eval, Poly, Ring, Stored, StoredRows};

use super::container::{CHUNK, HEADER_BYTES, Label, TRAILER_BYTES, begin, finish, open, set_length};
use super::file::{access_of, write_new_with};
use super::{Expected, FieldReader, FieldWriter, KeyId, WireError};

/// The blocks begin at a multiple of this many bytes of the file.
pub(super) const PAGE: usize = 4096;

/// Bytes of the length of the fields.
const LENGTH: usize = 4;

/// Fields and polynomials that make a payload.
pub(super) struct Body<'a> {
    pub fields: FieldWriter,
    /// Polynomials over one basis each.
    pub blocks: Vec<Vec<&'a dyn StoredRows>>,
}

/// Bytes of the payload before its blocks.
fn before_blocks(fields: usize) -> usize {
    (HEADER_BYTES + LENGTH + fields).next_multiple_of(PAGE) - HEADER_BYTES
}

impl Body<'_> {
    /// Writes the payload piece by piece.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn write<E>(self, mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let fields = self.fields.finish();
        write(&(fields.len() as u32).to_le_bytes())?;
        write(&fields)?;
        write(&vec![0; before_blocks(fields.len()) - LENGTH - fields.len()])?;
        self.blocks.iter().try_for_each(|polys| Poly::store_batch(polys, &mut write))
    }

    /// Appends the payload.
    pub fn append(self, out: &mut FieldWriter) {
        let Ok(()) = self.write(|bytes| {
            out.bytes(bytes);
            Ok::<(), std::convert::Infallible>(())
        });
    }

    /// Bytes of the payload.
    fn len(&self) -> u64 {
        let block = |polys: &Vec<&dyn StoredRows>| {
            polys.first().map_or(0, |poly| Poly::stored_len(poly.ring(), poly.basis(), polys.len()))
        };
        (before_blocks(self.fields.len()) + self.blocks.iter().map(block).sum::<usize>()) as u64
    }

    /// The container in bytes.
    pub fn sealed(self, label: &Label) -> Vec<u8> {
        let mut out = begin(label, self.len() as usize + TRAILER_BYTES);
        self.append(&mut out);
        finish(out)
    }

    /// Writes the container to a new file and gives its size in bytes. Memory: one MiB.
    pub fn save(self, path: &Path, label: &Label) -> Result<u64, WireError> {
        let length = self.len();
        let mut header = begin(label, 0).finish();
        set_length(&mut header, length);
        write_new_with(path, access_of(label.kind), |file| {
            let mut out = Summed { file, chunk: Vec::with_capacity(CHUNK), digests: Sha256::new() };
            out.write(&header)?;
            self.write(|bytes| out.write(bytes))?;
            out.finish()
        })?;
        Ok(length + (HEADER_BYTES + TRAILER_BYTES) as u64)
    }
}

/// A file with the checksum of what is written to it.
struct Summed<'a> {
    file: &'a mut File,
    /// What is not written yet: less than a chunk.
    chunk: Vec<u8>,
    digests: Sha256,
}

impl Summed<'_> {
    fn write(&mut self, mut bytes: &[u8]) -> std::io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            bytes = later;
            if self.chunk.len() == CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if !self.chunk.is_empty() {
            self.digests.update(Sha256::digest(&self.chunk));
            self.file.write_all(&self.chunk)?;
            self.chunk.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.flush()?;
        self.file.write_all(&self.digests.finalize())
    }
}

/// Maps a container, if it is whole and what was expected; gives its key pair too.
///
/// # Errors
/// As [`open`], and [`WireError::Io`] for a file that cannot be mapped.
pub(super) fn map(path: &Path, expected: &Expected) -> Result<(KeyId, Arc<Mapping>), WireError> {
    let file = Arc::new(Mapping::of(File::open(path)?)?);
    let (key, _) = open(file.bytes(), expected)?;
    Ok((key, file))
}

/// A container in memory that another owner provides, if it is complete and as expected. Also
/// returns its key pair.
///
/// # Errors
/// As [`open`].
pub(super) fn share(memory: Arc<Mapping>, expected: &Expected) -> Result<(KeyId, Arc<Mapping>), WireError> {
    let (key, _) = open(memory.bytes(), expected)?;
    Ok((key, memory))
}

/// A payload as it is read: first its fields, then its blocks in order.
pub(super) struct Blocks<'a> {
    stored: Stored<'a>,
    /// Where the next block begins, and where the payload ends, in the stored bytes.
    next: usize,
    end: usize,
}

/// The fields and the blocks of a container that was mapped.
pub(super) fn of_file(file: &Arc<Mapping>) -> Result<(FieldReader<'_>, Blocks<'_>), WireError> {
    let payload = &file.bytes()[HEADER_BYTES..file.bytes().len() - TRAILER_BYTES];
    let (fields, before) = fields_of(payload)?;
    let end = HEADER_BYTES + payload.len();
    Ok((fields, Blocks { stored: Stored::Mapped(file), next: HEADER_BYTES + before, end }))
}

/// The fields and the blocks of a payload in memory, which are copied.
pub(super) fn of_payload(payload: &[u8]) -> Result<(FieldReader<'_>, Blocks<'_>), WireError> {
    let (fields, before) = fields_of(payload)?;
    Ok((fields, Blocks { stored: Stored::Bytes(payload), next: before, end: payload.len() }))
}

/// The fields, and how many bytes stand before the blocks.
fn fields_of(payload: &[u8]) -> Result<(FieldReader<'_>, usize), WireError> {
    let what = "length of the fields";
    let mut reader = FieldReader::new(payload);
    let length = reader.u32(what)? as usize;
    let fields = reader.bytes(length, what)?;
    let before = before_blocks(length);
    let gap = reader.bytes(before - LENGTH - length, what)?;
    if gap.iter().any(|&byte| byte != 0) {
        return Err(WireError::Malformed { what: "zeros before the residues" });
    }
    Ok((FieldReader::new(fields), before))
}

impl Blocks<'_> {
    /// The next block: `count` polynomials over `basis`.
    pub fn next(
        &mut self,
        ring: &Arc<Ring>,
        basis: &Basis,
        count: usize,
        what: &'static str,
    ) -> Result<Vec<Poly<Eval>>, WireError> {
        let length = Poly::stored_len(ring, basis, count);
        let polys = match length <= self.end - self.next {
            true => Poly::read_batch(ring, basis, count, self.stored, self.next),
            false => None,
        };
        self.next += length;
        polys.ok_or(WireError::Malformed { what })
    }

    /// Checks that nothing is left.
    pub fn finish(self, what: &'static str) -> Result<(), WireError> {
        if self.next == self.end { Ok(()) } else { Err(WireError::Malformed { what }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 68 bytes of a header, 4 of the length, then the fields: what is left of the page is zeros.
    #[test]
    fn residues_begin_with_the_next_page() {
        for (fields, page) in [(0, 1), (1, 1), (4024, 1), (4025, 2), (8120, 2), (8121, 3)] {
            assert_eq!(before_blocks(fields), 4096 * page - 68, "{fields}");
        }
    }
}
