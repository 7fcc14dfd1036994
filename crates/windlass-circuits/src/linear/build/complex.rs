//! Maps on complex slots from rotations, conjugations and matrices.

use std::collections::BTreeMap;

use num_complex::Complex64;
use rayon::prelude::*;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};

use crate::linear::map::{ComplexMap, ComplexSlots, LinearGrid};

impl ComplexMap {
    /// One term: rotation by `amount` (slot j takes slot j + amount), then conjugation if asked
    /// for, then the constant.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::ShapeMismatch`] for a constant of another length;
    /// [`windlass_schemes::Error::NotFinite`].
    pub fn term(slots: &ComplexSlots, amount: i64, conjugate: bool, constant: &[Complex64]) -> Result<Self> {
        Self::from_terms(slots, [(slots.turn(amount, conjugate), constant.to_vec())])
    }

    /// The rotation by `amount`: slot j takes slot j + amount, cyclically.
    ///
    /// # Errors
    /// None for slots of a context.
    pub fn slot_rotation(slots: &ComplexSlots, amount: i64) -> Result<Self> {
        Self::automorphism(slots, slots.turn(amount, false))
    }

    /// An s × s matrix: slot i of the result is `Σ_k entry(i, k)·z_k`.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::NotFinite`] for an entry that is not finite (by row).
    pub fn matrix(slots: &ComplexSlots, entry: impl Fn(usize, usize) -> Complex64 + Sync) -> Result<Self> {
        let count = slots.count();
        let diagonal = |r: usize| (0..count).map(|j| entry(j, (j + r) % count)).collect::<Vec<_>>();
        let diagonals: Vec<Vec<Complex64>> = (0..count).into_par_iter().map(diagonal).collect();
        let terms = diagonals.into_iter().enumerate().map(|(r, constant)| (slots.turn(r as i64, false), constant));
        Self::from_terms(slots, terms)
    }

    /// The s × s matrix with the given entries `(row, column, value)` and zeros elsewhere; values
    /// at the same place are added. Only the rotations that some entry needs appear in the map.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a row or column that is no slot; [`Error::NotFinite`].
    pub fn sparse_matrix(
        slots: &ComplexSlots,
        entries: impl IntoIterator<Item = (usize, usize, Complex64)>,
    ) -> Result<Self> {
        let count = slots.count();
        let mut diagonals: BTreeMap<usize, Vec<Complex64>> = BTreeMap::new();
        for (row, column, value) in entries {
            Limits::below(count).check("the row of an entry", row)?;
            Limits::below(count).check("the column of an entry", column)?;
            if value != Complex64::ZERO {
                let rotation = (column + count - row) % count;
                diagonals.entry(rotation).or_insert_with(|| vec![Complex64::ZERO; count])[row] += value;
            }
        }
        let terms = diagonals.into_iter().map(|(rotation, constant)| (slots.turn(rotation as i64, false), constant));
        Self::from_terms(slots, terms)
    }
}

impl LinearGrid<ComplexSlots> {
    /// A matrix of any size by its entries `(row, column, value)`: entry `i` of a vector is slot
    /// `i mod s` of ciphertext `⌊i/s⌋`, s the number of slots.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an entry outside `height × width`, or an empty matrix;
    /// [`Error::NotFinite`].
    pub fn sparse_matrix(
        slots: &ComplexSlots,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, Complex64)>,
    ) -> Result<Self> {
        let count = slots.count();
        let mut grid = Self::zero(slots, height.div_ceil(count), width.div_ceil(count))?;
        let mut parts: BTreeMap<(usize, usize), Vec<(usize, usize, Complex64)>> = BTreeMap::new();
        for (index, (row, column, value)) in entries.into_iter().enumerate() {
            Limits::below(height).check("the row of an entry", row)?;
            Limits::below(width).check("the column of an entry", column)?;
            if !value.is_finite() {
                return Err(Error::NotFinite { index });
            }
            parts.entry((row / count, column / count)).or_default().push((row % count, column % count, value));
        }
        for ((row, column), entries) in parts {
            grid.set(row, column, ComplexMap::sparse_matrix(slots, entries)?)?;
        }
        Ok(grid)
    }
}
