//! Block matrices: linear maps over Z_{p^r} on every slot, through linearised polynomials.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::{GaloisRing, SlotRing};
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Plaintext;

use super::units::{Line, SlotUnits, quotients};
use crate::linear::map::{LinearMap, power_mod};

/// One `d × d` matrix over Z_{p^r}, row-major: it takes the coefficients of an element of `E` to
/// those of its image.
type Block = Vec<u64>;

/// Up to this degree the table of all `ζ^a·σ^f(ζ^{i*})` is worth its d⁴ words.
const TABLED: usize = 48;

/// From a block to its `λ_f` with `M(η) = Σ_f λ_f·σ^f(η)`: `λ_f = Σ_i M(ζ^i)·σ^f(ζ^{i*})`, `ζ^{i*}`
/// the dual basis (Halevi–Shoup 2018, §2.4).
struct Linearised<'a> {
    galois: &'a GaloisRing,
    /// `[a·d + i][f·d + c]`: coefficient c of `ζ^a·σ^f(ζ^{i*})`, packed; empty where d is too
    /// large, or sums would not fit a word.
    table: Vec<u64>,
    packing: WordSums,
}

/// Several sums in one word, each with room for d² products.
#[derive(Clone, Copy)]
struct WordSums {
    /// Bits of one.
    bits: u32,
    /// Words for d² of them: number e is in word `e mod words`.
    words: usize,
}

impl WordSums {
    fn new(d: usize, value: u128) -> Self {
        let most = (value - 1) * (value - 1) * (d * d) as u128;
        let bits = (128 - most.leading_zeros()).clamp(1, 64);
        Self { bits, words: (d * d).div_ceil((64 / bits) as usize) }
    }

    fn pack(self, values: &[u64]) -> Vec<u64> {
        let mut packed = vec![0; self.words];
        for (lane, values) in values.chunks(self.words).enumerate() {
            packed.iter_mut().zip(values).for_each(|(word, &x)| *word |= x << (lane as u32 * self.bits));
        }
        packed
    }

    fn unpack(self, packed: &[u64], count: usize) -> Vec<u64> {
        let mask = u64::MAX >> (64 - self.bits);
        let lane = |lane: usize| packed.iter().map(move |&word| word >> (lane as u32 * self.bits) & mask);
        (0..(64 / self.bits) as usize).flat_map(lane).take(count).collect()
    }
}

impl<'a> Linearised<'a> {
    fn of(galois: &'a GaloisRing) -> Self {
        let d = galois.degree();
        let value = galois.modulus().value() as u128;
        if d > TABLED || value * value * (d * d) as u128 > 1 << 64 {
            return Self { galois, table: Vec::new(), packing: WordSums { bits: 64, words: d * d } };
        }
        let packing = WordSums::new(d, value);
        let unit = |i: usize| (0..d).map(|j| u64::from(i == j)).collect::<Vec<u64>>();
        let duals: Vec<Vec<u64>> = (0..d).map(|i| galois.from_dual(&unit(i))).collect();
        let moved: Vec<Vec<Vec<u64>>> =
            duals.iter().map(|dual| (0..d).map(|f| galois.frobenius(dual, f)).collect()).collect();
        let row = |place: usize| {
            let (power, i) = (unit(place / d), place % d);
            packing.pack(&moved[i].iter().flat_map(|element| galois.mul(&power, element)).collect::<Vec<u64>>())
        };
        Self { galois, table: (0..d * d).into_par_iter().flat_map_iter(row).collect(), packing }
    }

    /// The `λ_f`, `[d][d]`.
    fn coefficients(&self, block: &[u64]) -> Vec<u64> {
        let d = self.galois.degree();
        if self.table.is_empty() {
            let images: Vec<Vec<u64>> = (0..d).map(|i| (0..d).map(|k| block[k * d + i]).collect()).collect();
            return self.galois.linearised_polynomial(&images).concat();
        }
        let mut sums = vec![0u64; self.packing.words];
        for (&x, row) in block.iter().zip(self.table.chunks_exact(self.packing.words)).filter(|(x, _)| **x != 0) {
            sums.iter_mut().zip(row).for_each(|(sum, &y)| *sum += x * y);
        }
        let mut sums = self.packing.unpack(&sums, d * d);
        sums.iter_mut().for_each(|sum| *sum = self.galois.modulus().reduce(*sum));
        sums
    }
}

/// The map whose block at (row slot, column slot) is written into a zeroed buffer of `d²` entries.
pub(super) fn from_blocks(
    slot_ring: &Arc<SlotRing>,
    candidates: &[u64],
    block: impl Fn(usize, usize, &mut [u64]) + Sync,
) -> Result<LinearMap> {
    slot_ring.check_slots()?;
    let (m, d, units) = (slot_ring.m(), slot_ring.degree(), SlotUnits::of(slot_ring));
    let modulus = slot_ring.modulus();
    let linearised = Linearised::of(slot_ring.galois());
    let terms: Vec<Vec<(u64, Plaintext)>> = candidates
        .par_iter()
        .map(|&t| {
            let mut values = vec![vec![0u64; slot_ring.slots() * d]; d];
            let mut buffer: Block = vec![0; d * d];
            for (row, column) in units.pairs(m, t) {
                buffer.fill(0);
                block(row, column, &mut buffer);
                buffer.iter_mut().for_each(|x| *x = modulus.reduce(*x));
                if buffer.iter().any(|&x| x != 0) {
                    for (values, lambda) in values.iter_mut().zip(linearised.coefficients(&buffer).chunks_exact(d)) {
                        values[row * d..(row + 1) * d].copy_from_slice(lambda);
                    }
                }
            }
            values
                .iter()
                .enumerate()
                .filter(|(_, values)| values.iter().any(|&x| x != 0))
                .map(|(f, values)| {
                    let frobenius = power_mod(slot_ring.prime(), f as u64, m);
                    Ok((t * frobenius % m, Plaintext::from_slots(slot_ring, values)?.recognised()))
                })
                .collect::<Result<_>>()
        })
        .collect::<Result<_>>()?;
    LinearMap::from_terms(slot_ring, terms.into_iter().flatten())
}

impl LinearMap {
    /// `BlockMatMul1D`: for every hypercolumn of dimension `s` a `D × D` matrix of Z_{p^r}-linear
    /// maps on `E` (Halevi–Shoup 2018, §3.2, Eq. (6)).
    ///
    /// `block(hypercolumn, row, column, out)` writes a `d × d` matrix, row-major, into a zeroed
    /// buffer. Cost: d⁴ multiply-adds (several in a word where p^r is small) for each block that is
    /// not zero (d² products in `E` for d above 48), and at most `d(2D−1)` encodings. Errors:
    /// [`windlass_schemes::Error::OutOfRange`] if there is no such dimension.
    pub fn block_matmul_1d(
        slot_ring: &Arc<SlotRing>,
        dimension: usize,
        block: impl Fn(usize, usize, usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        let line = Line::of(slot_ring, dimension)?;
        from_blocks(slot_ring, &quotients(slot_ring, &[dimension]), |row, column, out| {
            if let Some((hypercolumn, row, column)) = line.on_one(row, column) {
                block(hypercolumn, row, column, out);
            }
        })
    }

    /// `BlockMatMulFull`: an `ℓ × ℓ` matrix of Z_{p^r}-linear maps on `E`: any Z_{p^r}-linear map
    /// of `R/(p^r)` (§7).
    pub fn block_matmul_full(
        slot_ring: &Arc<SlotRing>,
        block: impl Fn(usize, usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        let dimensions: Vec<usize> = (0..slot_ring.hypercube().dimensions().len()).collect();
        from_blocks(slot_ring, &quotients(slot_ring, &dimensions), block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_sums() {
        for (d, value) in [(1, 2), (4, 2), (28, 2), (5, 27), (3, 1 << 20), (2, 1 << 30)] {
            let packing = WordSums::new(d, value as u128);
            let values: Vec<u64> = (0..(d * d) as u64).map(|i| i * 0x9e37_79b9 % value).collect();
            assert_eq!(packing.unpack(&packing.pack(&values), d * d), values);
            // d² products of the largest values.
            let full = vec![value - 1; d * d];
            let mut sums = vec![0; packing.words];
            for _ in 0..d * d {
                sums.iter_mut().zip(packing.pack(&full)).for_each(|(sum, y)| *sum += (value - 1) * y);
            }
            let wanted = (d * d) as u64 * (value - 1) * (value - 1);
            assert_eq!(packing.unpack(&sums, d * d), vec![wanted; d * d]);
        }
    }
}
