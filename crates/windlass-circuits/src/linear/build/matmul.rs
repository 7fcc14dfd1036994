//! One-dimensional and full matrices over E, rotations, shifts, Frobenius and the trace.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;
use windlass_schemes::Integer;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Plaintext;

use super::units::{Line, SlotUnits, dimension_size, quotients};
use crate::linear::map::{LinearMap, power_mod};

/// The map with the matrix whose entry at (row slot, column slot) is written into a zeroed buffer
/// of d coefficients.
fn from_entries(
    slot_ring: &Arc<SlotRing>,
    candidates: &[u64],
    entry: impl Fn(usize, usize, &mut [u64]) + Sync,
) -> Result<LinearMap> {
    let (m, d, units) = (slot_ring.m(), slot_ring.degree(), SlotUnits::of(slot_ring));
    let terms: Vec<Option<(u64, Plaintext)>> = candidates
        .par_iter()
        .map(|&t| {
            let mut values = vec![0u64; slot_ring.slots() * d];
            for (row, column) in units.pairs(m, t) {
                entry(row, column, &mut values[row * d..(row + 1) * d]);
            }
            let zero = values.iter().all(|&value| value == 0);
            if zero { Ok(None) } else { Ok(Some((t, Plaintext::from_slots(slot_ring, &values)?.recognised()))) }
        })
        .collect::<Result<_>>()?;
    LinearMap::from_terms(slot_ring, terms.into_iter().flatten())
}

impl LinearMap {
    /// `MatMul1D`: one `D × D` matrix over `E` for every hypercolumn of dimension `s`: `T(v)[c, i]
    /// = Σ_k entry(c, i, k) · v[c, k]` (Halevi–Shoup 2018, §3.1).
    ///
    /// `entry(hypercolumn, row, column, out)` writes the d coefficients of an element of `E` into a
    /// zeroed buffer. Hypercolumns are numbered in the order of their first slot. Cost: one
    /// encoding for each diagonal, of which there are D in a good dimension and 2D−1 in a bad one.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] if there is no such dimension.
    pub fn matmul_1d_extension(
        slot_ring: &Arc<SlotRing>,
        dimension: usize,
        entry: impl Fn(usize, usize, usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        let line = Line::of(slot_ring, dimension)?;
        from_entries(slot_ring, &quotients(slot_ring, &[dimension]), |row, column, out| {
            if let Some((hypercolumn, row, column)) = line.on_one(row, column) {
                entry(hypercolumn, row, column, out);
            }
        })
    }

    /// [`LinearMap::matmul_1d_extension`] for a matrix of integers, taken modulo `p^r`.
    pub fn matmul_1d<T: Integer>(
        slot_ring: &Arc<SlotRing>,
        dimension: usize,
        entry: impl Fn(usize, usize, usize) -> T + Sync,
    ) -> Result<Self> {
        let modulus = slot_ring.modulus();
        Self::matmul_1d_extension(slot_ring, dimension, |c, i, k, out| out[0] = entry(c, i, k).residue(modulus))
    }

    /// `MatMulFull`: an `ℓ × ℓ` matrix over `E` on all slots: `T(v)[i] = Σ_k entry(i, k) · v[k]`
    /// (§7, Eq. (8)).
    ///
    /// Cost: at most `Π_s (2 D_s − 1)` encodings, ℓ if every dimension is good.
    pub fn matmul_full_extension(
        slot_ring: &Arc<SlotRing>,
        entry: impl Fn(usize, usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        let dimensions: Vec<usize> = (0..slot_ring.hypercube().dimensions().len()).collect();
        from_entries(slot_ring, &quotients(slot_ring, &dimensions), entry)
    }

    /// [`LinearMap::matmul_full_extension`] for a matrix of integers, taken modulo `p^r`.
    pub fn matmul_full<T: Integer>(
        slot_ring: &Arc<SlotRing>,
        entry: impl Fn(usize, usize) -> T + Sync,
    ) -> Result<Self> {
        let modulus = slot_ring.modulus();
        Self::matmul_full_extension(slot_ring, |row, column, out| out[0] = entry(row, column).residue(modulus))
    }

    /// Rotation by `amount` along a dimension of size D: slot `i` of the result is slot `(i −
    /// amount) mod D` of the input. In a good dimension this is one automorphism, in a bad one two
    /// with masks (§2.3, Eq. (3)).
    pub fn rotation(slot_ring: &Arc<SlotRing>, dimension: usize, amount: i64) -> Result<Self> {
        let size = dimension_size(slot_ring, dimension)? as i64;
        let amount = amount.rem_euclid(size);
        Self::matmul_1d(slot_ring, dimension, |_, row, column| {
            u64::from((row as i64 - column as i64 - amount).rem_euclid(size) == 0)
        })
    }

    /// Shift by `amount` along a dimension, with zeros moving in: slot `i` of the result is slot `i
    /// − amount` of the input, or 0 if there is none.
    pub fn shift(slot_ring: &Arc<SlotRing>, dimension: usize, amount: i64) -> Result<Self> {
        Self::matmul_1d(slot_ring, dimension, |_, row, column| u64::from(row as i64 - column as i64 == amount))
    }

    /// The `power`-th power of Frobenius, `σ = θ_p`, on every slot.
    pub fn frobenius(slot_ring: &Arc<SlotRing>, power: usize) -> Result<Self> {
        let exponent = (power % slot_ring.degree()) as u64;
        Self::automorphism(slot_ring, power_mod(slot_ring.prime(), exponent, slot_ring.m()))
    }

    /// The slot-wise trace `E → Z_{p^r}`: `Σ_{f<d} σ^f`. All constants are 1.
    pub fn trace(slot_ring: &Arc<SlotRing>) -> Result<Self> {
        let m = slot_ring.m();
        let one = Plaintext::one(slot_ring);
        Self::from_terms(
            slot_ring,
            (0..slot_ring.degree() as u64).map(|f| (power_mod(slot_ring.prime(), f, m), one.clone())),
        )
    }
}
