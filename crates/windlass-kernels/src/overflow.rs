//! How often a Chinese-remainder sum wraps around its modulus.

use crate::isa::Isa;
use crate::lanes::{Kernel, Lanes, dispatch};
use crate::modulus::Modulus;

/// Columns summed together in registers.
const BLOCK: usize = 32;

/// 2^52: adding it puts the integer part into the low mantissa bits, rounded to nearest.
const SHIFT: f64 = 4_503_599_627_370_496.0;

/// With `DISTANCE`, the output is the largest distance of a sum from its nearest integer, else 0.
struct RoundedSum<'a, 'b, const DISTANCE: bool> {
    out: &'a mut [u64],
    terms: &'a [(&'b [u64], f64)],
}

/// x + 2^52 as a double has x in its mantissa: an exact conversion without a conversion
/// instruction.
#[inline(always)]
fn term(x: u64, inverse: f64) -> f64 {
    (f64::from_bits(x | SHIFT.to_bits()) - SHIFT) * inverse
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
                    sums[j] += term(x[j], inverse);
                }
            }
            for j in 0..BLOCK {
                (out[j], largest[j]) = Self::rounded(sums[j], largest[j]);
            }
        }
        for (j, out) in rest.iter_mut().enumerate() {
            let mut sum = 0.0;
            for &(x, inverse) in self.terms {
                sum += term(x[whole + j], inverse);
            }
            (*out, largest[j]) = Self::rounded(sum, largest[j]);
        }
        largest.into_iter().fold(0.0, larger)
    }
}

impl<const DISTANCE: bool> RoundedSum<'_, '_, DISTANCE> {
    /// The nearest integer of a sum, and the largest distance so far.
    #[inline(always)]
    fn rounded(sum: f64, largest: f64) -> (u64, f64) {
        let shifted = sum + SHIFT;
        let distance = if DISTANCE { larger(largest, (sum - (shifted - SHIFT)).abs()) } else { 0.0 };
        (shifted.to_bits() ^ SHIFT.to_bits(), distance)
    }
}

/// The larger of two doubles that are numbers: one instruction, no branch.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// `out[j] = round(Σ_i x_i[j] * inverse_i)` for values below 2^50, in plain IEEE arithmetic
/// (product, then sum, in order), so that every machine gives the same bits. For up to 160 terms in
/// [0, 1) the sum is off by less than 2^-30.
pub fn rounded_sum(isa: Isa, out: &mut [u64], terms: &[(&[u64], f64)]) {
    check(out, terms);
    dispatch(isa, any_modulus(), RoundedSum::<false> { out, terms });
}

/// [`rounded_sum`], and the largest distance of a sum from the nearest integer: off by less than
/// 2^-40 for up to 64 terms. Time does not depend on the values.
pub fn rounded_sum_with_distance(isa: Isa, out: &mut [u64], terms: &[(&[u64], f64)]) -> f64 {
    check(out, terms);
    dispatch(isa, any_modulus(), RoundedSum::<true> { out, terms })
}

fn check(out: &[u64], terms: &[(&[u64], f64)]) {
    assert!(terms.iter().all(|(x, _)| x.len() == out.len()), "rows of one length");
    debug_assert!(terms.iter().all(|(x, _)| x.iter().all(|&x| x < 1 << 50)));
}

/// No arithmetic modulo anything.
fn any_modulus() -> Modulus {
    Modulus::new(3).expect("3 is an odd prime")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_like_exact_rationals() {
        let moduli = [(1u64 << 50) - 27, (1 << 49) - 81, (1 << 30) - 35];
        let rows: Vec<Vec<u64>> =
            moduli.iter().map(|&q| (0..200u64).map(|j| (j * j * 0x9e37_79b9_7f4a) % q).collect()).collect();
        let terms: Vec<_> = rows.iter().zip(moduli).map(|(row, q)| (&row[..], 1.0 / q as f64)).collect();
        let mut out = vec![0; 200];
        for isa in Isa::available() {
            out.fill(u64::MAX);
            rounded_sum(isa, &mut out, &terms);
            check(&out, &rows, &moduli);
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
