//! Matrices over Z_{p^r} by their entries: dense, sparse, banded, diagonal, Toeplitz, permutations.
//!
//! Only the automorphisms that some non-zero entry needs appear in the map, so zero diagonals are
//! free.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::Integer;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::plaintext::Plaintext;

use super::units::dimension_size;
use crate::linear::map::{LinearGrid, LinearMap};

impl LinearMap {
    /// The `ℓ × ℓ` matrix with the given entries `(row, column, value)` and zeros elsewhere; values
    /// are taken modulo `p^r`, and those at the same place are added.
    ///
    /// Cost: one encoding for each quotient `u_column/u_row` of slot units that occurs (in one good
    /// dimension: each diagonal).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a row or column that is no slot.
    pub fn from_sparse<T: Integer>(
        slot_ring: &Arc<SlotRing>,
        entries: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        from_residues(slot_ring, &mut residues(slot_ring, entries))
    }

    /// A dense matrix, `matrix[row][column]`, on the first slots: slot `i` of the result is `Σ_k
    /// matrix[i][k]·v[k]`, and 0 for the slots beyond its rows. It may have fewer rows or columns
    /// than there are slots, but not more: see [`LinearGrid`].
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for rows of different lengths, [`Error::OutOfRange`] for too many rows or
    /// columns.
    pub fn from_dense<T: Integer>(slot_ring: &Arc<SlotRing>, matrix: &[impl AsRef<[T]>]) -> Result<Self> {
        check_rectangular(matrix)?;
        Self::from_sparse(slot_ring, dense_entries(matrix))
    }

    /// A banded matrix on all slots: `entry(row, column)` where `column − row` lies in
    /// `−lower..=upper`, zeros elsewhere.
    pub fn banded<T: Integer>(
        slot_ring: &Arc<SlotRing>,
        lower: usize,
        upper: usize,
        entry: impl Fn(usize, usize) -> T,
    ) -> Result<Self> {
        let (count, entry) = (slot_ring.slots(), &entry);
        let columns = |row: usize| row.saturating_sub(lower)..row.saturating_add(upper).saturating_add(1).min(count);
        let row = |row: usize| columns(row).map(move |column| (row, column, entry(row, column)));
        Self::from_sparse(slot_ring, (0..count).flat_map(row))
    }

    /// The diagonal matrix with these integers, one for each slot, and zeros after them.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for more integers than slots.
    pub fn from_diagonal<T: Integer>(slot_ring: &Arc<SlotRing>, values: &[T]) -> Result<Self> {
        Ok(Self::diagonal(&Plaintext::from_integers(slot_ring, values)?))
    }

    /// The projection onto the chosen slots: they stay, the others become 0.
    pub fn mask(slot_ring: &Arc<SlotRing>, chosen: impl Fn(usize) -> bool) -> Result<Self> {
        let values: Vec<u64> = (0..slot_ring.slots()).map(|slot| u64::from(chosen(slot))).collect();
        Self::from_diagonal(slot_ring, &values)
    }

    /// The Toeplitz matrix on all slots with entry `first_column[i − k]` on and below the diagonal
    /// and `first_row[k − i]` above it; both lists may be short, and zeros follow. `first_row[0]`
    /// is not used.
    ///
    /// Convolution with a kernel `c` is `toeplitz(slots, &c, &[])`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for lists longer than ℓ.
    pub fn toeplitz<T: Integer>(slot_ring: &Arc<SlotRing>, first_column: &[T], first_row: &[T]) -> Result<Self> {
        Limits::at_most(slot_ring.slots()).check("entries of the first column", first_column.len())?;
        Limits::at_most(slot_ring.slots()).check("entries of the first row", first_row.len())?;
        let (lower, upper) = (first_column.len().saturating_sub(1), first_row.len().saturating_sub(1));
        let modulus = slot_ring.modulus();
        let at = |list: &[T], index: usize| list.get(index).map_or(0, |value| value.residue(modulus));
        Self::banded(slot_ring, lower, upper, |row, column| {
            if row >= column { at(first_column, row - column) } else { at(first_row, column - row) }
        })
    }

    /// Cyclic convolution along a dimension, the same in every hypercolumn: `T(v)[i] = Σ_j
    /// kernel[j]·v[(i − j) mod D]`.
    ///
    /// One automorphism for each entry of the kernel that is not zero (two in a bad dimension).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such dimension, or for a kernel longer than it.
    pub fn convolution_1d<T: Integer>(slot_ring: &Arc<SlotRing>, dimension: usize, kernel: &[T]) -> Result<Self> {
        let modulus = slot_ring.modulus();
        let size = dimension_size(slot_ring, dimension)?;
        Limits::at_most(size).check("entries of the kernel", kernel.len())?;
        Self::matmul_1d(slot_ring, dimension, |_, row, column| {
            kernel.get((row + size - column) % size).map_or(0, |value| value.residue(modulus))
        })
    }

    /// The permutation that puts the content of slot `source[i]` into slot `i`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is one source for each slot, [`Error::OutOfRange`] if one is
    /// no slot or occurs twice.
    pub fn permutation<T: Integer>(slot_ring: &Arc<SlotRing>, source: &[T]) -> Result<Self> {
        const WHAT: &str = "a source of a permutation";
        let count = slot_ring.slots();
        if source.len() != count {
            return Err(Error::ShapeMismatch { what: "sources of a permutation", expected: count, got: source.len() });
        }
        let mut seen = vec![false; count];
        let mut entries = Vec::with_capacity(count);
        for (row, column) in source.iter().map(|slot| slot.index().unwrap_or(usize::MAX)).enumerate() {
            Limits::below(count).check(WHAT, column)?;
            if std::mem::replace(&mut seen[column], true) {
                return Err(Limits::only("different from every other one").refuse(WHAT, column).into());
            }
            entries.push((row, column, 1));
        }
        Self::from_sparse(slot_ring, entries)
    }
}

impl LinearGrid {
    /// A matrix over Z_{p^r} of any size by its entries `(row, column, value)`: entry `i` of a
    /// vector is slot `i mod ℓ` of ciphertext `⌊i/ℓ⌋`. Places in the last ciphertexts beyond the
    /// matrix hold zeros.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an entry outside `height × width`, or an empty matrix.
    pub fn from_sparse<T: Integer>(
        slot_ring: &Arc<SlotRing>,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        grid_from_residues(slot_ring, (height, width), &mut residues(slot_ring, entries))
    }

    /// A dense matrix `matrix[row][column]` over Z_{p^r} of any size, laid out as in
    /// [`Self::from_sparse`].
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for rows of different lengths, [`Error::OutOfRange`] for an empty matrix.
    pub fn from_dense<T: Integer>(slot_ring: &Arc<SlotRing>, matrix: &[impl AsRef<[T]>]) -> Result<Self> {
        let width = check_rectangular(matrix)?;
        Self::from_sparse(slot_ring, matrix.len(), width, dense_entries(matrix))
    }
}

/// An entry of a matrix: row, column, residue modulo p^r.
type Entry = (usize, usize, u64);

fn residues<T: Integer>(
    slot_ring: &SlotRing,
    entries: impl IntoIterator<Item = (usize, usize, T)>,
) -> impl Iterator<Item = Entry> {
    let modulus = slot_ring.modulus();
    entries.into_iter().map(move |(row, column, value)| (row, column, value.residue(modulus)))
}

/// [`LinearMap::from_sparse`], compiled once for all types of integers and of iterators.
fn from_residues(slot_ring: &Arc<SlotRing>, entries: &mut dyn Iterator<Item = Entry>) -> Result<LinearMap> {
    let (m, count, modulus) = (slot_ring.m(), slot_ring.slots(), slot_ring.modulus());
    let cube = slot_ring.hypercube();
    let units: Vec<u64> = (0..count).map(|j| cube.evaluation_exponent(j)).collect();
    let mut diagonals: HashMap<u64, Vec<u64>> = HashMap::new();
    for (row, column, value) in entries {
        Limits::below(count).check("the row of an entry", row)?;
        Limits::below(count).check("the column of an entry", column)?;
        if value != 0 {
            let t = units[column] * cube.element(row) % m;
            let diagonal = diagonals.entry(t).or_insert_with(|| vec![0; count]);
            diagonal[row] = modulus.add(diagonal[row], value);
        }
    }
    let terms: Vec<(u64, Plaintext)> = diagonals
        .into_par_iter()
        .map(|(t, values)| Ok((t, Plaintext::from_integers(slot_ring, &values)?)))
        .collect::<Result<_>>()?;
    LinearMap::from_terms(slot_ring, terms)
}

/// [`LinearGrid::from_sparse`], compiled once for all types of integers and of iterators.
fn grid_from_residues(
    slot_ring: &Arc<SlotRing>,
    (height, width): (usize, usize),
    entries: &mut dyn Iterator<Item = Entry>,
) -> Result<LinearGrid> {
    let count = slot_ring.slots();
    let mut grid = LinearGrid::zero(slot_ring, height.div_ceil(count), width.div_ceil(count))?;
    let mut parts: BTreeMap<(usize, usize), Vec<Entry>> = BTreeMap::new();
    for (row, column, value) in entries {
        Limits::below(height).check("the row of an entry", row)?;
        Limits::below(width).check("the column of an entry", column)?;
        parts.entry((row / count, column / count)).or_default().push((row % count, column % count, value));
    }
    for ((row, column), entries) in parts {
        grid.set(row, column, LinearMap::from_sparse(slot_ring, entries)?)?;
    }
    Ok(grid)
}

/// The entries of a dense matrix, row by row.
pub(crate) fn dense_entries<T: Copy + 'static>(matrix: &[impl AsRef<[T]>]) -> impl Iterator<Item = (usize, usize, T)> {
    matrix
        .iter()
        .enumerate()
        .flat_map(|(row, values)| values.as_ref().iter().enumerate().map(move |(column, &value)| (row, column, value)))
}

/// The number of columns.
///
/// # Errors
/// [`Error::ShapeMismatch`] for rows of different lengths.
pub(crate) fn check_rectangular<T>(matrix: &[impl AsRef<[T]>]) -> Result<usize> {
    let expected = matrix.first().map_or(0, |row| row.as_ref().len());
    match matrix.iter().find(|row| row.as_ref().len() != expected) {
        Some(row) => Err(Error::ShapeMismatch { what: "a row of the matrix", expected, got: row.as_ref().len() }),
        None => Ok(expected),
    }
}
