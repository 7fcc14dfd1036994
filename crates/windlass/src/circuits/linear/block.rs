//! Block matrices: linear maps over Z_{p^r} on every slot, through linearised polynomials.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::{GaloisRing, SlotRing};

use super::axes::power_mod;
use super::build::{Line, SlotUnits, quotients};
use super::map::LinearMap;
use crate::error::Result;
use crate::plaintext::Plaintext;

/// One `d × d` matrix over Z_{p^r}, row-major: it takes the coefficients of an element of `E` to those of its image.
type Block = Vec<u64>;

/// The `λ_f` with `M(η) = Σ_f λ_f·σ^f(η)` (Halevi–Shoup 2018, §2.4).
fn linearised(galois: &GaloisRing, block: &[u64]) -> Vec<Vec<u64>> {
    let d = galois.degree();
    let images: Vec<Vec<u64>> = (0..d).map(|i| (0..d).map(|k| block[k * d + i]).collect()).collect();
    galois.linearised_polynomial(&images)
}

/// The map whose block at (row slot, column slot) is written into a zeroed buffer of `d²` entries.
pub(super) fn from_blocks(
    slots: &Arc<SlotRing>,
    candidates: &[u64],
    block: impl Fn(usize, usize, &mut [u64]) + Sync,
) -> Result<LinearMap> {
    let (m, d, units) = (slots.quotient().m(), slots.degree(), SlotUnits::of(slots));
    let modulus = slots.quotient().modulus();
    let terms: Vec<Vec<(u64, Plaintext)>> = candidates
        .par_iter()
        .map(|&t| {
            let mut values = vec![vec![0u64; slots.slots() * d]; d];
            let mut buffer: Block = vec![0; d * d];
            for (row, column) in units.pairs(m, t) {
                buffer.fill(0);
                block(row, column, &mut buffer);
                buffer.iter_mut().for_each(|x| *x = modulus.reduce(*x));
                if buffer.iter().any(|&x| x != 0) {
                    for (values, lambda) in values.iter_mut().zip(linearised(slots.galois(), &buffer)) {
                        values[row * d..(row + 1) * d].copy_from_slice(&lambda);
                    }
                }
            }
            values
                .iter()
                .enumerate()
                .filter(|(_, values)| values.iter().any(|&x| x != 0))
                .map(|(f, values)| {
                    let frobenius = power_mod(slots.hypercube().prime(), f as u64, m);
                    Ok((t * frobenius % m, Plaintext::from_slots(slots, values)?))
                })
                .collect::<Result<_>>()
        })
        .collect::<Result<_>>()?;
    LinearMap::from_terms(slots, terms.into_iter().flatten())
}

impl LinearMap {
    /// `BlockMatMul1D`: for every hypercolumn of dimension `s` a `D × D` matrix of Z_{p^r}-linear maps on `E`
    /// (Halevi–Shoup 2018, §3.2, Eq. (6)).
    ///
    /// `block(hypercolumn, row, column, out)` writes a `d × d` matrix, row-major, into a zeroed buffer. Cost: `d²` products
    /// in `E` for each block that is not zero, and at most `d(2D−1)` encodings.
    /// Errors: [`crate::Error::OutOfRange`] if there is no such dimension.
    pub fn block_matmul_1d(
        slots: &Arc<SlotRing>,
        dimension: usize,
        block: impl Fn(usize, usize, usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        let line = Line::of(slots, dimension)?;
        from_blocks(slots, &quotients(slots, &[dimension]), |row, column, out| {
            if let Some((hypercolumn, row, column)) = line.on_one(row, column) {
                block(hypercolumn, row, column, out);
            }
        })
    }

    /// `BlockMatMulFull`: an `ℓ × ℓ` matrix of Z_{p^r}-linear maps on `E`: any Z_{p^r}-linear map of `R/(p^r)` (§7).
    pub fn block_matmul_full(slots: &Arc<SlotRing>, block: impl Fn(usize, usize, &mut [u64]) + Sync) -> Result<Self> {
        let dimensions: Vec<usize> = (0..slots.hypercube().dimensions().len()).collect();
        from_blocks(slots, &quotients(slots, &dimensions), block)
    }
}
