//! How often a Chinese-remainder sum wraps around its modulus.

use crate::isa::Isa;
use crate::lanes::{Kernel, Lanes, dispatch};
use crate::modulus::Modulus;

/// Columns summed together in registers.
const BLOCK: usize = 32;

/// 2^52: adding it puts the integer part into the low mantissa bits, rounded to nearest.
const SHIFT: f64 = 4_503_599_627_370_496.0;

/// With `DISTANCE`, words are summed, and the output is the largest distance of a sum from its nearest
/// integer. Without, rows in source form are summed to such a row, and the output is 0.
struct RoundedSum<'a, 'b, const DISTANCE: bool> {
    out: &'a mut [u64],
    terms: &'a [(&'b [u64], f64)],
}

/// x + 2^52 as a double has x in its mantissa: an exact conversion without a conversion
/// instruction.
#[inline(always)]
fn number(x: u64) -> f64 {
    f64::from_bits(x | SHIFT.to_bits()) - SHIFT
}

impl<const DISTANCE: bool> Kernel for RoundedSum<'_, '_, DISTANCE> {
    type Output = f64;

    // Plain arithmetic, compiled for the instruction set: products and sums are never contracted.
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> f64 {
        let (blocks, rest) = self.out.as_chunks_mut::<BLOCK>();
        let whole = blocks.len() * BLOCK;
        let mut largest = [0f64; BLOCK];
        for (block, out) in blocks.iter_mut().enumerate() {
            let mut sums = [0f64; BLOCK];
            for &(x, inverse) in self.terms {
                let x = &x[block * BLOCK..][..BLOCK];
                for j in 0..BLOCK {
                    sums[j] += Self::number::<L>(x[j]) * inverse;
                }
            }
            for j in 0..BLOCK {
                (out[j], largest[j]) = Self::rounded::<L>(sums[j], largest[j]);
            }
        }
        for (j, out) in rest.iter_mut().enumerate() {
            let mut sum = 0.0;
            for &(x, inverse) in self.terms {
                sum += Self::number::<L>(x[whole + j]) * inverse;
            }
            (*out, largest[j]) = Self::rounded::<L>(sum, largest[j]);
        }
        largest.into_iter().fold(0.0, larger)
    }
}

impl<const DISTANCE: bool> RoundedSum<'_, '_, DISTANCE> {
    /// An entry of a term.
    #[inline(always)]
    fn number<L: Lanes>(x: u64) -> f64 {
        if DISTANCE { number(x) } else { L::source_value(x) }
    }

    /// The nearest integer of a sum, and the largest distance so far.
    #[inline(always)]
    fn rounded<L: Lanes>(sum: f64, largest: f64) -> (u64, f64) {
        let shifted = sum + SHIFT;
        let integer = shifted.to_bits() ^ SHIFT.to_bits();
        match DISTANCE {
            true => (integer, larger(largest, (sum - (shifted - SHIFT)).abs())),
            false => (L::source(integer), 0.0),
        }
    }
}

/// The larger of two doubles that are numbers: one instruction, no branch.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// `out[j] = round(Σ_i x_i[j] * inverse_i)` for values below 2^50, in plain IEEE arithmetic
/// (product, then sum, in order), so that every machine gives the same numbers. For up to 160 terms
/// in [0, 1) the sum is off by less than 2^-30. Terms and result have the form of
/// [`to_sources`](crate::rows::to_sources).
pub fn rounded_sum(isa: Isa, out: &mut [u64], terms: &[(&[u64], f64)]) {
    check(out, terms);
    dispatch(isa, Modulus::three(), RoundedSum::<false> { out, terms });
}

/// The sums of [`rounded_sum`] for terms and a result that are plain words, and the largest distance
/// of a sum from the nearest integer: off by less than 2^-40 for up to 64 terms. Time does not
/// depend on the values.
pub fn rounded_sum_with_distance(isa: Isa, out: &mut [u64], terms: &[(&[u64], f64)]) -> f64 {
    check(out, terms);
    debug_assert!(terms.iter().all(|(x, _)| x.iter().all(|&x| x < 1 << 50)));
    dispatch(isa, Modulus::three(), RoundedSum::<true> { out, terms })
}

fn check(out: &[u64], terms: &[(&[u64], f64)]) {
    assert!(terms.iter().all(|(x, _)| x.len() == out.len()), "rows of one length");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    #[test]
    fn rounds_like_exact_rationals() {
        let moduli = [(1u64 << 50) - 27, (1 << 49) - 81, (1 << 30) - 35];
        let rows: Vec<Vec<u64>> =
            moduli.iter().map(|&q| (0..200u64).map(|j| (j * j * 0x9e37_79b9_7f4a) % q).collect()).collect();
        let terms: Vec<_> = rows.iter().zip(moduli).map(|(row, q)| (&row[..], 1.0 / q as f64)).collect();
        let mut out = vec![0; 200];
        for isa in Isa::available() {
            out.fill(u64::MAX);
            assert!(rounded_sum_with_distance(isa, &mut out, &terms) <= 0.5);
            check(&out, &rows, &moduli);
            let sources = |row: &[u64]| {
                let mut row = row.to_vec();
                rows::to_sources(isa, &mut row);
                row
            };
            let source_rows: Vec<_> = rows.iter().map(|row| sources(row)).collect();
            let of_sources: Vec<_> = source_rows.iter().zip(&terms).map(|(row, term)| (&row[..], term.1)).collect();
            let mut rounded = vec![u64::MAX; 200];
            rounded_sum(isa, &mut rounded, &of_sources);
            assert_eq!(rounded, sources(&out), "{}", isa.name());
        }
    }

    fn check(out: &[u64], rows: &[Vec<u64>], moduli: &[u64]) {
        for j in 0..200 {
            // Fixed point with 60 fractional bits.
            let exact: u128 = rows.iter().zip(moduli).map(|(row, &q)| ((row[j] as u128) << 60) / q as u128).sum();
            let rounded = (exact + (1 << 59)) >> 60;
            assert_eq!(out[j] as u128, rounded, "column {j}");
        }
    }
}
