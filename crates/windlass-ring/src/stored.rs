//! Polynomials in files as they lie in memory.
//!
//! `count` polynomials over a basis are stored prime by prime, and within a prime in order: row r
//! of polynomial k is row `r·count + k`. A row is n residues of 8 bytes, little-endian, and zeros up
//! to the distance of rows in memory. So a file that is mapped is used where it lies.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_kernels::Mapping;

use crate::basis::Basis;
use crate::buffer::RowBuffer;
use crate::periodic_values::Values;
use crate::poly::{Eval, Poly};
use crate::ring::Ring;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// Where stored polynomials are.
#[derive(Debug, Clone, Copy)]
pub enum Stored<'a> {
    /// In a file that is mapped: used where they lie, on machines whose words are little-endian.
    Mapped(&'a Arc<Mapping>),
    /// In bytes, from which they are copied.
    Bytes(&'a [u8]),
}

impl<'a> Stored<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::Mapped(file) => file.bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// What can be stored as a polynomial.
pub trait StoredRows {
    /// The ring.
    fn ring(&self) -> &Arc<Ring>;
    /// The primes.
    fn basis(&self) -> &Basis;
    /// The residues modulo prime number `row` of the basis; `scratch` has n words, which may become
    /// the answer.
    fn row<'a>(&'a self, row: usize, scratch: &'a mut [u64]) -> &'a [u64];
}

impl StoredRows for Poly<Eval> {
    fn ring(&self) -> &Arc<Ring> {
        self.ring()
    }

    fn basis(&self) -> &Basis {
        self.basis()
    }

    fn row<'a>(&'a self, row: usize, _: &'a mut [u64]) -> &'a [u64] {
        self.row(row)
    }
}

impl StoredRows for Values {
    fn ring(&self) -> &Arc<Ring> {
        self.ring()
    }

    fn basis(&self) -> &Basis {
        self.basis()
    }

    fn row<'a>(&'a self, row: usize, scratch: &'a mut [u64]) -> &'a [u64] {
        self.columns(self.basis().index(row), 0..self.ring().n(), scratch)
    }
}

impl Poly<Eval> {
    /// What the place of stored polynomials is a multiple of, in bytes.
    pub const STORED_ALIGNMENT: usize = 64;

    /// Bytes that `count` stored polynomials take.
    pub fn stored_len(ring: &Ring, basis: &Basis, count: usize) -> usize {
        basis.len() * count * RowBuffer::stride(ring.n()) * WORD
    }

    /// Writes polynomials over one basis as they are stored, piece by piece.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn store_batch<E>(polys: &[&dyn StoredRows], mut write: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Some(first) = polys.first() else { return Ok(()) };
        assert!(polys.iter().all(|poly| poly.basis() == first.basis()), "polynomials over one basis");
        let n = first.ring().n();
        let gap = vec![0; (RowBuffer::stride(n) - n) * WORD];
        let mut scratch = vec![0; n];
        for row in 0..first.basis().len() {
            for poly in polys {
                write(bytemuck::cast_slice(poly.row(row, &mut scratch)))?;
                write(&gap)?;
            }
        }
        Ok(())
    }

    /// `count` polynomials over `basis` from their place in a file, which they share. What is
    /// mapped is never written to: a polynomial that changes gets memory of its own first.
    ///
    /// `None` unless all their bytes are there, every residue is canonical and what lies between
    /// rows is zero. Cost: one pass through the bytes, over the current threads; no memory for what
    /// is mapped.
    pub fn read_batch(
        ring: &Arc<Ring>,
        basis: &Basis,
        count: usize,
        stored: Stored<'_>,
        offset: usize,
    ) -> Option<Vec<Self>> {
        let length = Self::stored_len(ring, basis, count);
        let bytes = stored.bytes().get(offset..)?.get(..length)?;
        if count == 0 {
            return Some(Vec::new());
        }
        let row_bytes = RowBuffer::stride(ring.n()) * WORD;
        let rows = || bytes.par_chunks_exact(row_bytes).enumerate();
        let below = |row: usize| ring.modulus(basis.index(row / count)).value();
        if !rows().all(|(row, stored)| is_row(stored, ring.n(), below(row))) {
            return None;
        }
        let wrap = |data| Self::wrap(ring, basis.clone(), data);
        match stored {
            Stored::Mapped(file) if is_aligned(&file.bytes()[offset..]) => {
                let data = RowBuffer::mapped(file, offset / WORD, basis.len() * count, ring.n());
                Some(data.deal(count).into_iter().map(wrap).collect())
            }
            _ => {
                let copy = |index: usize, rows: &mut [&mut [u64]]| {
                    let first = basis.row_of(index).expect("a prime of the basis") * count;
                    for (row, x) in (first..).zip(rows) {
                        let source = bytes[row * row_bytes..].chunks_exact(WORD);
                        x.iter_mut().zip(source).for_each(|(x, word)| *x = word_of(word));
                    }
                };
                Some(Self::filled_batch(ring, basis, count, |index, _, rows| copy(index, rows)))
            }
        }
    }
}

/// Whether rows can be used where they lie: files are aligned, memory of others may not be.
fn is_aligned(stored: &[u8]) -> bool {
    (stored.as_ptr() as usize).is_multiple_of(Poly::<Eval>::STORED_ALIGNMENT)
}

/// Whether these are n residues below q, and zeros.
fn is_row(stored: &[u8], n: usize, q: u64) -> bool {
    let (residues, gap) = stored.split_at(n * WORD);
    // No early end: most rows are as they should be, and this way they are read by vectors.
    let largest = residues.chunks_exact(WORD).map(word_of).fold(0, u64::max);
    largest < q && gap.iter().all(|&byte| byte == 0)
}

fn word_of(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::fs::File;

    use windlass_kernels::{Isa, Modulus, Shape};
    use zeroize::Zeroize;

    use super::*;

    fn ring() -> (Arc<Ring>, Basis) {
        let shape = Arc::new(Shape::new(15).unwrap());
        let primes = [61u64, 181, 241].map(|q| Modulus::new(q).unwrap());
        (Ring::new(shape, &primes, Isa::best()).unwrap(), Basis::new([0, 2]))
    }

    fn polys(ring: &Arc<Ring>, basis: &Basis) -> Vec<Poly<Eval>> {
        Poly::filled_batch(ring, basis, 3, |index, q, rows| {
            rows.iter_mut().enumerate().for_each(|(k, row)| row.fill((7 * index + k) as u64 % q.value()));
        })
    }

    fn stored(polys: &[Poly<Eval>]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        let all: Vec<&dyn StoredRows> = polys.iter().map(|poly| poly as _).collect();
        let Ok(()) = Poly::store_batch(&all, |piece| {
            bytes.extend_from_slice(piece);
            Ok::<(), Infallible>(())
        });
        bytes
    }

    #[test]
    fn distances_of_rows_are_part_of_the_format() {
        let strides = [(1, 8), (6, 8), (32, 32), (512, 584), (1024, 1096), (15708, 15712), (32768, 32840)];
        strides.into_iter().for_each(|(n, stride)| assert_eq!(RowBuffer::stride(n), stride, "n = {n}"));
    }

    #[test]
    fn polynomials_come_back_copied_and_mapped() {
        let (ring, basis) = ring();
        let own = polys(&ring, &basis);
        let bytes = stored(&own);
        assert_eq!(bytes.len(), 64 + Poly::stored_len(&ring, &basis, 3));
        let path = std::env::temp_dir().join(format!("windlass-stored-{}", std::process::id()));
        std::fs::write(&path, &bytes).unwrap();
        let file = Arc::new(Mapping::of(File::open(&path).unwrap()).unwrap());
        for place in [Stored::Bytes(&bytes), Stored::Mapped(&file)] {
            assert!(Poly::read_batch(&ring, &basis, 3, place, 64).unwrap() == own);
            assert!(Poly::read_batch(&ring, &basis, 0, place, 64).unwrap().is_empty());
            assert!(Poly::read_batch(&ring, &basis, 3, place, 128).is_none(), "bytes are missing");
            assert!(Poly::read_batch(&ring, &basis, 3, place, usize::MAX).is_none());
        }
        // What is mapped lies in the file, until it is written to; nothing of it goes to the pool.
        let mut mapped = Poly::read_batch(&ring, &basis, 3, Stored::Mapped(&file), 64).unwrap();
        let place = file.bytes().as_ptr_range();
        assert!(mapped.iter().all(|poly| place.contains(&poly.row(1).as_ptr().cast())));
        mapped[0].add_assign(&own[1]);
        mapped[1].zeroize();
        assert!(mapped[..2].iter().all(|poly| !place.contains(&poly.row(1).as_ptr().cast())));
        drop(mapped);
        assert!((0..8).all(|_| !place.contains(&Poly::<Eval>::zero(&ring, &basis).row(0).as_ptr().cast())));
        assert_eq!(file.bytes(), bytes);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn residues_out_of_range_and_gaps_that_are_not_zero_are_refused() {
        let shape = Arc::new(Shape::new(9).unwrap());
        let ring = Ring::new(shape, &[Modulus::new(37).unwrap()], Isa::best()).unwrap();
        let basis = Basis::new([0]);
        let bytes = vec![0; 64];
        assert!(Poly::read_batch(&ring, &basis, 1, Stored::Bytes(&bytes), 0).is_some());
        for (at, value) in [(0, 37), (47, 1), (48, 1), (63, 1)] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            assert!(Poly::read_batch(&ring, &basis, 1, Stored::Bytes(&bytes), 0).is_none(), "byte {at}");
        }
    }
}
