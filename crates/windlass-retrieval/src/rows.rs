//! Rows by number: records of one length, one after another.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use windlass_rlwe::Limits;

use crate::bytes::{coefficients_of, pack, unpack};
use crate::error::{Error, Result};
use crate::query::{Selection, divided};
use crate::shape::Shape;

/// Bytes of the length that stands before rows that differ in it.
const LENGTH: usize = 4;

/// How rows lie in a table: each is cut into pieces of one length, and piece k of row i is record
/// number i·pieces + k.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// Rows that are there; there may be room for more.
    pub count: usize,
    /// Bytes of the longest row that fits.
    pub bytes: usize,
    /// Whether all rows have that length; otherwise each begins with its own.
    pub fixed: bool,
    /// Records that a row takes.
    pub pieces: usize,
}

impl Rows {
    /// Bytes of a stored row.
    pub fn stored_bytes(&self) -> usize {
        self.bytes + if self.fixed { 0 } else { LENGTH }
    }

    /// Bytes of one of its pieces.
    pub fn piece_bytes(&self) -> usize {
        self.stored_bytes().div_ceil(self.pieces)
    }

    /// The maximum number of rows.
    pub fn capacity(&self, shape: &Shape) -> usize {
        shape.polynomials().saturating_mul(shape.records) / self.pieces
    }

    /// What does not change when rows do.
    pub(crate) fn layout(&self) -> Vec<u8> {
        let numbers = [1, self.bytes as u64, u64::from(self.fixed), self.pieces as u64];
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Checks data from an untrusted party.
    pub(crate) fn check(&self, shape: &Shape) -> Result<()> {
        Limits::between(1, u32::MAX).check("the bytes of a row", self.bytes)?;
        Limits::between(1, crate::query::MOST_ROWS).check("the pieces of a row", self.pieces)?;
        let most = shape.record_coefficients * shape.message_bits as usize / 8;
        Limits::at_most(most).check("the bytes of a piece", self.piece_bytes())?;
        Limits::between(1, self.capacity(shape)).check("the rows of a table", self.count)?;
        Ok(())
    }

    /// The selections that ask for some pieces of a row.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such row.
    pub(crate) fn selections(&self, shape: &Shape, row: usize, pieces: Range<usize>) -> Result<Vec<Selection>> {
        // Who has an old copy of the schema knows of fewer rows than there are.
        let there = Limits::below(self.count).with("or fetch schema.json again, since the table may have grown");
        there.check("row", row)?;
        Ok(pieces.map(|piece| self.place(shape, row, piece)).collect())
    }

    fn place(&self, shape: &Shape, row: usize, piece: usize) -> Selection {
        let record = row * self.pieces + piece;
        let (place, polynomial) = divided(record, shape.records);
        Selection { polynomial: polynomial as usize, record: place as usize }
    }

    /// Appends pieces of a row as it is stored, out of their decrypted records; whether another one
    /// follows that is not empty.
    ///
    /// # Errors
    /// [`Error::BadRow`] for records that hold no piece.
    pub(crate) fn append(&self, shape: &Shape, pieces: &[&[i64]], stored: &mut Vec<u8>) -> Result<bool> {
        for piece in pieces {
            let piece = piece.get(..shape.record_coefficients).ok_or(Error::BadRow)?;
            let bytes = unpack(piece, shape.message_bits, self.piece_bytes()).ok_or(Error::BadRow)?;
            stored.extend_from_slice(&bytes);
        }
        let bytes = match stored.first_chunk::<LENGTH>() {
            Some(length) if !self.fixed => u32::from_le_bytes(*length) as usize + LENGTH,
            _ => self.stored_bytes(),
        };
        Ok(stored.len() < bytes.min(self.stored_bytes()))
    }

    /// The row in its pieces, which may be without the last ones if these are empty.
    ///
    /// # Errors
    /// [`Error::BadRow`] if they hold none.
    pub(crate) fn row(&self, stored: &[u8]) -> Result<Vec<u8>> {
        let (stored, padding) = stored.split_at(stored.len().min(self.stored_bytes()));
        let (row, more) = if self.fixed {
            (stored, &[][..])
        } else {
            let (length, rest) = stored.split_at_checked(LENGTH).ok_or(Error::BadRow)?;
            let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
            rest.split_at_checked(length).ok_or(Error::BadRow)?
        };
        if padding.iter().chain(more).any(|&byte| byte != 0) {
            return Err(Error::BadRow);
        }
        Ok(row.to_vec())
    }

    /// A row as it is stored.
    ///
    /// # Errors
    /// [`Error::RowTooLong`], also for one that is too short where all have one length.
    pub(crate) fn stored(&self, number: usize, row: &[u8]) -> Result<Vec<u8>> {
        if row.len() > self.bytes {
            return Err(Error::RowTooLong { row: number, bytes: row.len(), most: self.bytes });
        }
        if self.fixed && row.len() != self.bytes {
            return Err(Error::RowTooShort { row: number, bytes: row.len(), all: self.bytes });
        }
        let mut stored = Vec::with_capacity(self.piece_bytes() * self.pieces);
        if !self.fixed {
            stored.extend_from_slice(&(row.len() as u32).to_le_bytes());
        }
        stored.extend_from_slice(row);
        stored.resize(self.piece_bytes() * self.pieces, 0);
        Ok(stored)
    }

    /// Writes a stored row into the polynomials that it lies in: `with(polynomial, coefficients of
    /// the record, its place)`.
    pub(crate) fn records(
        &self,
        shape: &Shape,
        number: usize,
    ) -> impl Iterator<Item = (Selection, std::ops::Range<usize>)> {
        let piece_bytes = self.piece_bytes();
        (0..self.pieces)
            .map(move |piece| (self.place(shape, number, piece), piece * piece_bytes..(piece + 1) * piece_bytes))
    }

    /// The coefficients of a polynomial of the table.
    ///
    /// # Errors
    /// As [`Self::stored`].
    pub(crate) fn fill<R: AsRef<[u8]>>(
        &self,
        shape: &Shape,
        rows: &[R],
        polynomial: usize,
        out: &mut [i64],
    ) -> Result<()> {
        out.fill(0);
        let piece_bytes = self.piece_bytes();
        for record in 0..shape.records {
            let number = polynomial * shape.records + record;
            let (row, piece) = (number / self.pieces, number % self.pieces);
            let Some(bytes) = rows.get(row) else { break };
            let stored = self.stored(row, bytes.as_ref())?;
            let from = record * shape.record_coefficients;
            let place = &mut out[from..from + coefficients_of(piece_bytes, shape.message_bits)];
            pack(&stored[piece * piece_bytes..(piece + 1) * piece_bytes], shape.message_bits, place);
        }
        Ok(())
    }
}
