//! Matrices over Z_{p^r} by their entries: dense, sparse, banded, diagonal, Toeplitz, permutations.
//!
//! Only the automorphisms that some non-zero entry needs appear in the map, so zero diagonals cost nothing.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;

use super::axes::inverse_mod;
use super::map::LinearMap;
use crate::error::{Error, Result};
use crate::plaintext::Plaintext;

impl LinearMap {
    /// The `ℓ × ℓ` matrix with the given entries `(row, column, value)` and zeros elsewhere; values are taken modulo `p^r`, and
    /// those at the same place are added.
    ///
    /// Cost: one encoding for each quotient `u_column/u_row` of slot units that occurs (in one good dimension: each diagonal).
    /// Errors: [`Error::OutOfRange`] for a row or column that is no slot.
    pub fn from_sparse(slots: &Arc<SlotRing>, entries: impl IntoIterator<Item = (usize, usize, u64)>) -> Result<Self> {
        let (m, count, modulus) = (slots.m(), slots.slots(), slots.modulus());
        let units: Vec<u64> = (0..count).map(|j| slots.hypercube().evaluation_exponent(j)).collect();
        let mut diagonals: HashMap<u64, Vec<u64>> = HashMap::new();
        for (row, column, value) in entries {
            check_slot("the row of an entry", row, count)?;
            check_slot("the column of an entry", column, count)?;
            let value = modulus.reduce(value);
            if value != 0 {
                let t = units[column] * inverse_mod(units[row], m) % m;
                let diagonal = diagonals.entry(t).or_insert_with(|| vec![0; count]);
                diagonal[row] = modulus.add(diagonal[row], value);
            }
        }
        let terms: Vec<(u64, Plaintext)> = diagonals
            .into_par_iter()
            .map(|(t, values)| Ok((t, Plaintext::from_integers(slots, &values)?)))
            .collect::<Result<_>>()?;
        Self::from_terms(slots, terms)
    }

    /// A dense matrix, `matrix[row][column]`, on the first slots: slot `i` of the result is `Σ_k matrix[i][k]·v[k]`, and 0 for the
    /// slots beyond its rows. It may have fewer rows or columns than there are slots, but not more: see [`super::LinearGrid`].
    ///
    /// Errors: [`Error::ShapeMismatch`] for rows of different lengths, [`Error::OutOfRange`] for too many rows or columns.
    pub fn from_dense(slots: &Arc<SlotRing>, matrix: &[Vec<u64>]) -> Result<Self> {
        check_rectangular(matrix)?;
        Self::from_sparse(slots, dense_entries(matrix))
    }

    /// A banded matrix on all slots: `entry(row, column)` where `column − row` lies in `−lower..=upper`, zeros elsewhere.
    pub fn banded(
        slots: &Arc<SlotRing>,
        lower: usize,
        upper: usize,
        entry: impl Fn(usize, usize) -> u64,
    ) -> Result<Self> {
        let (count, entry) = (slots.slots(), &entry);
        let columns = |row: usize| row.saturating_sub(lower)..row.saturating_add(upper).saturating_add(1).min(count);
        let row = |row: usize| columns(row).map(move |column| (row, column, entry(row, column)));
        Self::from_sparse(slots, (0..count).flat_map(row))
    }

    /// The diagonal matrix with these integers, one for each slot. Errors: [`Error::ShapeMismatch`].
    pub fn from_diagonal(slots: &Arc<SlotRing>, values: &[u64]) -> Result<Self> {
        Ok(Self::diagonal(&Plaintext::from_integers(slots, values)?))
    }

    /// The projection onto the chosen slots: they stay, the others become 0.
    pub fn mask(slots: &Arc<SlotRing>, chosen: impl Fn(usize) -> bool) -> Result<Self> {
        let values: Vec<u64> = (0..slots.slots()).map(|slot| u64::from(chosen(slot))).collect();
        Self::from_diagonal(slots, &values)
    }

    /// The Toeplitz matrix on all slots with entry `first_column[i − k]` on and below the diagonal and `first_row[k − i]` above
    /// it; both lists may be short, and zeros follow. `first_row[0]` is not used.
    ///
    /// Convolution with a kernel `c` is `toeplitz(slots, &c, &[])`. Errors: [`Error::OutOfRange`] for lists longer than ℓ.
    pub fn toeplitz(slots: &Arc<SlotRing>, first_column: &[u64], first_row: &[u64]) -> Result<Self> {
        check_length("entries of the first column", first_column.len(), slots.slots())?;
        check_length("entries of the first row", first_row.len(), slots.slots())?;
        let (lower, upper) = (first_column.len().saturating_sub(1), first_row.len().saturating_sub(1));
        let at = |list: &[u64], index: usize| list.get(index).copied().unwrap_or(0);
        Self::banded(slots, lower, upper, |row, column| {
            if row >= column { at(first_column, row - column) } else { at(first_row, column - row) }
        })
    }

    /// Cyclic convolution along a dimension, the same in every hypercolumn: `T(v)[i] = Σ_j kernel[j]·v[(i − j) mod D]`.
    ///
    /// One automorphism for each entry of the kernel that is not zero (two in a bad dimension).
    /// Errors: [`Error::OutOfRange`] if there is no such dimension, or for a kernel longer than it.
    pub fn convolution_1d(slots: &Arc<SlotRing>, dimension: usize, kernel: &[u64]) -> Result<Self> {
        let size = super::build::dimension_size(slots, dimension)?;
        check_length("entries of the kernel", kernel.len(), size)?;
        Self::matmul_1d(slots, dimension, |_, row, column| {
            kernel.get((row + size - column) % size).copied().unwrap_or(0)
        })
    }

    /// The permutation that puts the content of slot `source[i]` into slot `i`.
    ///
    /// Errors: [`Error::ShapeMismatch`] unless there is one source for each slot, [`Error::OutOfRange`] if one is no slot or
    /// occurs twice.
    pub fn permutation(slots: &Arc<SlotRing>, source: &[usize]) -> Result<Self> {
        let count = slots.slots();
        if source.len() != count {
            return Err(Error::ShapeMismatch { what: "sources of a permutation", expected: count, got: source.len() });
        }
        let mut seen = vec![false; count];
        for &slot in source {
            check_slot("a source of a permutation", slot, count)?;
            if std::mem::replace(&mut seen[slot], true) {
                let range = "different from every other one".to_owned();
                return Err(Error::OutOfRange { what: "a source of a permutation", got: slot.into(), range });
            }
        }
        Self::from_sparse(slots, source.iter().enumerate().map(|(row, &column)| (row, column, 1)))
    }
}

/// The entries of a dense matrix that are not zero.
pub(super) fn dense_entries(matrix: &[Vec<u64>]) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
    let columns = |(row, values): (usize, &'_ Vec<u64>)| {
        let values = values.clone();
        values.into_iter().enumerate().map(move |(column, value)| (row, column, value))
    };
    matrix.iter().enumerate().flat_map(columns).filter(|&(_, _, value)| value != 0)
}

/// Errors: [`Error::ShapeMismatch`].
pub(super) fn check_rectangular(matrix: &[Vec<u64>]) -> Result<()> {
    let expected = matrix.first().map_or(0, Vec::len);
    match matrix.iter().find(|row| row.len() != expected) {
        Some(row) => Err(Error::ShapeMismatch { what: "a row of the matrix", expected, got: row.len() }),
        None => Ok(()),
    }
}

pub(super) fn check_slot(what: &'static str, got: usize, count: usize) -> Result<()> {
    let range = || format!("less than {count}");
    if got < count { Ok(()) } else { Err(Error::OutOfRange { what, got: got.into(), range: range() }) }
}

fn check_length(what: &'static str, got: usize, most: usize) -> Result<()> {
    let range = || format!("at most {most}");
    if got <= most { Ok(()) } else { Err(Error::OutOfRange { what, got: got.into(), range: range() }) }
}
