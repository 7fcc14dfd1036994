//! Makes plans from matrices of integers and of complex numbers.

use std::sync::Arc;

use num_complex::Complex64;
use windlass_ring::slots::SlotRing;
use windlass_schemes::Integer;
use windlass_schemes::error::{Error, Result};

use super::fold::Side;
use super::plan::{FoldedSum, MatrixPlan, MatrixSpec};
use super::search::{Matrix, best_fold};
use super::slot_geometry::SlotGeometry;
use crate::linear::{ComplexSlots, LinearPlan, check_rectangular, dense_entries};

impl MatrixPlan {
    /// For a dense matrix `matrix[row][column]` over Z_{p^r}: slot i of the result is `Σ_k
    /// matrix[i][k]·v[k]`.
    ///
    /// Cost: one pass over the entries for each fold that is priced (about log² of C/R), and one
    /// encoding for each diagonal of the plan.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for rows of different lengths, [`Error::OutOfRange`] for an empty
    /// matrix, as [`LinearPlan::new`], and [`Error::Unplannable`] where folding is asked for and
    /// not possible.
    pub fn from_dense<T: Integer>(
        slot_ring: &Arc<SlotRing>,
        matrix: &[impl AsRef<[T]>],
        spec: &MatrixSpec,
    ) -> Result<Self> {
        let width = check_rectangular(matrix)?;
        Self::from_sparse(slot_ring, matrix.len(), width, dense_entries(matrix), spec)
    }

    /// For a matrix by its entries `(row, column, value)`, those at one place added.
    ///
    /// # Errors
    /// As [`Self::from_dense`]; [`Error::OutOfRange`] for an entry outside `height × width`.
    pub fn from_sparse<T: Integer>(
        slot_ring: &Arc<SlotRing>,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, T)>,
        spec: &MatrixSpec,
    ) -> Result<Self> {
        let modulus = slot_ring.modulus();
        let residues = entries.into_iter().map(|(row, column, value)| (row, column, value.residue(modulus)));
        let entries = residues.filter(|&(_, _, value)| value != 0).collect();
        of_integers(slot_ring, Matrix { height, width, entries }, spec)
    }
}

impl MatrixPlan<ComplexSlots> {
    /// For a dense matrix `matrix[row][column]` of real or complex numbers: slot i of the result is
    /// `Σ_k matrix[i][k]·z_k`.
    ///
    /// # Errors
    /// As [`MatrixPlan::from_dense`]; [`Error::NotFinite`] for an entry that is not finite, by row.
    pub fn dense_matrix<T: Into<Complex64> + Copy + 'static>(
        slots: &ComplexSlots,
        matrix: &[impl AsRef<[T]>],
        spec: &MatrixSpec,
    ) -> Result<Self> {
        let width = check_rectangular(matrix)?;
        Self::sparse_matrix(slots, matrix.len(), width, dense_entries(matrix), spec)
    }

    /// For a matrix by its entries `(row, column, value)`, those at one place added.
    ///
    /// # Errors
    /// As [`Self::dense_matrix`]; [`Error::OutOfRange`] for an entry outside `height × width`.
    pub fn sparse_matrix<T: Into<Complex64>>(
        slots: &ComplexSlots,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, T)>,
        spec: &MatrixSpec,
    ) -> Result<Self> {
        let mut kept = Vec::new();
        for (index, (row, column, value)) in entries.into_iter().enumerate() {
            let value: Complex64 = value.into();
            if !value.is_finite() {
                return Err(Error::NotFinite { index });
            }
            if value != Complex64::ZERO {
                kept.push((row, column, value));
            }
        }
        of_numbers(slots, Matrix { height, width, entries: kept }, spec)
    }
}

/// [`of_matrix`] of integers, compiled once for all types of them.
fn of_integers(slot_ring: &Arc<SlotRing>, matrix: Matrix<u64>, spec: &MatrixSpec) -> Result<MatrixPlan> {
    of_matrix(slot_ring, matrix, spec)
}

/// [`of_matrix`] of complex numbers, compiled once for all types that become such.
fn of_numbers(slots: &ComplexSlots, matrix: Matrix<Complex64>, spec: &MatrixSpec) -> Result<MatrixPlan<ComplexSlots>> {
    of_matrix(slots, matrix, spec)
}

/// Chooses, then encodes what was chosen: a folded matrix is a sparse one with its entries moved.
fn of_matrix<R: SlotGeometry>(slots: &R, matrix: Matrix<R::Entry>, spec: &MatrixSpec) -> Result<MatrixPlan<R>> {
    matrix.check()?;
    let (count, shape) = (slots.count(), (matrix.height, matrix.width));
    let chosen = best_fold(slots, &matrix, spec)?;
    let norms = R::norms(shape, &matrix.entries);
    let grid = match &chosen {
        None => slots.grid(matrix.height, matrix.width, matrix.entries)?,
        Some((fold, _)) => {
            let entries = matrix.entries.into_iter();
            // The slots move within one ciphertext: the number of the ciphertext stays.
            let moved = entries.map(|(row, column, value)| {
                let (to, from) = fold.place(row % count, column % count);
                (row - row % count + to, column - column % count + from, value)
            });
            let (height, width) = match fold.side {
                Side::Rows => (count, matrix.width),
                Side::Columns => (matrix.height, count),
            };
            slots.grid(height, width, moved)?
        }
    };
    let folded = chosen.map(|(fold, sum)| FoldedSum { side: fold.side, sum });
    Ok(MatrixPlan::new(LinearPlan::for_grid(&grid, &spec.linear)?, folded, shape, (norms, count)))
}
