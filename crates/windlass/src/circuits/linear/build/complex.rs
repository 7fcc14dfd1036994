//! Maps on complex slots from rotations, conjugations and matrices.

use num_complex::Complex64;
use rayon::prelude::*;

use crate::circuits::linear::map::{ComplexMap, ComplexSlots};
use crate::error::Result;

impl ComplexMap {
    /// One term: rotation by `amount` (slot j takes slot j + amount), then conjugation if asked
    /// for, then the constant.
    ///
    /// # Errors
    /// [`crate::Error::ShapeMismatch`] for a constant of another length;
    /// [`crate::Error::NotFinite`].
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
    /// [`crate::Error::NotFinite`] for an entry that is none (by row).
    pub fn matrix(slots: &ComplexSlots, entry: impl Fn(usize, usize) -> Complex64 + Sync) -> Result<Self> {
        let count = slots.count();
        let diagonal = |r: usize| (0..count).map(|j| entry(j, (j + r) % count)).collect::<Vec<_>>();
        let diagonals: Vec<Vec<Complex64>> = (0..count).into_par_iter().map(diagonal).collect();
        let terms = diagonals.into_iter().enumerate().map(|(r, constant)| (slots.turn(r as i64, false), constant));
        Self::from_terms(slots, terms)
    }
}
