//! Fused multiply-add of rows by rows with one reduction.
//!
//! Inoue–Suzuki–Yamana 2022, Algorithm 4.1, reduces `x·y + z` once. Several groups of columns are
//! in flight at a time, so that neither latencies nor a second pass over memory are paid for.

use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, dispatch};
use crate::modulus::Modulus;

/// `out += x·y`.
struct MulAdd<'a> {
    out: &'a mut [u64],
    x: &'a [u64],
    y: &'a [u64],
}

impl MulAdd<'_> {
    /// C groups of eight columns from `start`.
    #[inline(always)]
    fn groups<L: Lanes, const C: usize>(&mut self, l: L, start: usize) {
        let range = start..start + C * LANES;
        let (x, _) = self.x[range.clone()].as_chunks::<LANES>();
        let (y, _) = self.y[range.clone()].as_chunks::<LANES>();
        let mut sums = [l.zero(); C];
        for c in 0..C {
            sums[c] = l.mul_lanes(l.load(&x[c]), l.load(&y[c]));
        }
        let (out, _) = self.out[range].as_chunks_mut::<LANES>();
        for c in 0..C {
            sums[c] = l.add(sums[c], l.load(&out[c]));
        }
        for c in 0..C {
            l.store(&mut out[c], sums[c]);
        }
    }
}

impl Kernel for MulAdd<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let length = self.out.len();
        let mut start = 0;
        if L::TWO_COLUMNS {
            while start + 4 * LANES <= length {
                self.groups::<L, 4>(l, start);
                start += 4 * LANES;
            }
        }
        while start + LANES <= length {
            self.groups::<L, 1>(l, start);
            start += LANES;
        }
        if start < length {
            let mut padded = [[0; LANES]; 4];
            let tail = length - start;
            padded[0][..tail].copy_from_slice(&self.x[start..]);
            padded[1][..tail].copy_from_slice(&self.y[start..]);
            padded[2][..tail].copy_from_slice(&self.out[start..]);
            let sum = l.add(l.mul_lanes(l.load(&padded[0]), l.load(&padded[1])), l.load(&padded[2]));
            l.store(&mut padded[3], sum);
            self.out[start..].copy_from_slice(&padded[3][..tail]);
        }
    }
}

/// `acc += x·y` on rows of canonical residues.
pub fn mul_add_assign(isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64], y: &[u64]) {
    assert!(x.len() == acc.len() && y.len() == acc.len(), "rows of one length");
    dispatch(isa, q, MulAdd { out: acc, x, y });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modulus::find_primes;

    fn row(length: usize, seed: u64, q: Modulus) -> Vec<u64> {
        let mut state = seed;
        (0..length)
            .map(|j| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Extremes first: bounds are met there.
                if j < 3 { q.value() - 1 } else { (state >> 13) % q.value() }
            })
            .collect()
    }

    #[test]
    fn one_product_and_a_row() {
        for bits in 25..=50 {
            let q = find_primes(64, bits, 1, &[]).unwrap()[0];
            for length in [1, 7, 8, 31, 32, 45, 96] {
                let [x, y, z] = [1, 2, 3].map(|seed| row(length, seed, q));
                let exact: Vec<u64> = (0..length)
                    .map(|j| ((x[j] as u128 * y[j] as u128 + z[j] as u128) % q.value() as u128) as u64)
                    .collect();
                for isa in Isa::available() {
                    let mut out = z.clone();
                    mul_add_assign(isa, q, &mut out, &x, &y);
                    assert_eq!(out, exact, "{bits} bits, {length} columns, {}", isa.name());
                }
            }
        }
    }
}
