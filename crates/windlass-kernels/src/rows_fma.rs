//! Fused multiply-add of rows by rows with one reduction, and its many-row form.
//!
//! Inoue–Suzuki–Yamana 2022, Algorithm 4.1, reduces `x·y + z` once; here the same holds for whole sums of products, and several groups of
//! columns are in flight at a time, so that neither latencies nor a second pass over memory are paid for.

use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, dispatch};
use crate::modulus::Modulus;
use crate::rows::fetch_ahead;

/// `out = x·y + z`; without z, `out += x·y`.
struct MulAdd<'a> {
    out: &'a mut [u64],
    x: &'a [u64],
    y: &'a [u64],
    z: Option<&'a [u64]>,
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
        let (z, _) = self.z.unwrap_or(&*self.out)[range.clone()].as_chunks::<LANES>();
        for c in 0..C {
            sums[c] = l.add(sums[c], l.load(&z[c]));
        }
        let (out, _) = self.out[range].as_chunks_mut::<LANES>();
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
            padded[2][..tail].copy_from_slice(&self.z.unwrap_or(&*self.out)[start..]);
            let sum = l.add(l.mul_lanes(l.load(&padded[0]), l.load(&padded[1])), l.load(&padded[2]));
            l.store(&mut padded[3], sum);
            self.out[start..].copy_from_slice(&padded[3][..tail]);
        }
    }
}

/// `out = x·y + z` on rows of canonical residues.
pub fn mul_add(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64], z: &[u64]) {
    let length = out.len();
    assert!(x.len() == length && y.len() == length && z.len() == length, "rows of one length");
    dispatch(isa, q, MulAdd { out, x, y, z: Some(z) });
}

/// `acc += x·y` on rows of canonical residues.
pub fn mul_add_assign(isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64], y: &[u64]) {
    assert!(x.len() == acc.len() && y.len() == acc.len(), "rows of one length");
    dispatch(isa, q, MulAdd { out: acc, x, y, z: None });
}

/// One row x_k with the rows y_k and z_k that it is multiplied by.
#[derive(Debug, Clone, Copy)]
pub struct Triple<'a> {
    /// x_k.
    pub x: &'a [u64],
    /// y_k.
    pub y: &'a [u64],
    /// z_k.
    pub z: &'a [u64],
}

/// Both sums of [`dot_pair`].
struct DotPair<'a, 'b> {
    first: &'a mut [u64],
    second: &'a mut [u64],
    triples: &'a [Triple<'b>],
    addend: &'a [u64],
}

impl DotPair<'_, '_> {
    /// C groups of eight columns from `start`.
    #[inline(always)]
    fn groups<L: Lanes, const C: usize>(&mut self, l: L, start: usize) {
        let range = start..start + C * LANES;
        let mut first = [l.sum_zero(); C];
        let mut second = [l.sum_zero(); C];
        let mut taken = 0;
        if !self.addend.is_empty() {
            let (addend, _) = self.addend[range.clone()].as_chunks::<LANES>();
            for c in 0..C {
                first[c] = l.sum_from(l.load(&addend[c]));
            }
            taken = 1;
        }
        for triple in self.triples {
            if taken == L::TERMS {
                for c in 0..C {
                    first[c] = l.sum_from(l.sum_reduce(first[c]));
                    second[c] = l.sum_from(l.sum_reduce(second[c]));
                }
                taken = 1;
            }
            let (x, _) = triple.x[range.clone()].as_chunks::<LANES>();
            let (y, _) = triple.y[range.clone()].as_chunks::<LANES>();
            let (z, _) = triple.z[range.clone()].as_chunks::<LANES>();
            fetch_ahead::<C>(triple.y, start);
            fetch_ahead::<C>(triple.z, start);
            for c in 0..C {
                first[c] = l.sum_add(first[c], &x[c], &y[c]);
                second[c] = l.sum_add(second[c], &x[c], &z[c]);
            }
            taken += 1;
        }
        let (out_first, _) = self.first[range.clone()].as_chunks_mut::<LANES>();
        let (out_second, _) = self.second[range].as_chunks_mut::<LANES>();
        for c in 0..C {
            l.store(&mut out_first[c], l.sum_reduce(first[c]));
            l.store(&mut out_second[c], l.sum_reduce(second[c]));
        }
    }

    /// The columns from `start`, fewer than eight, one at a time in padded copies.
    #[inline(always)]
    fn tail<L: Lanes>(&mut self, l: L, start: usize) {
        let tail = self.first.len() - start;
        let (mut first, mut second) = (l.sum_zero(), l.sum_zero());
        let mut words = [[0; LANES]; 3];
        let mut taken = 0;
        if !self.addend.is_empty() {
            words[0][..tail].copy_from_slice(&self.addend[start..]);
            first = l.sum_from(l.load(&words[0]));
            taken = 1;
        }
        for triple in self.triples {
            if taken == L::TERMS {
                first = l.sum_from(l.sum_reduce(first));
                second = l.sum_from(l.sum_reduce(second));
                taken = 1;
            }
            words[0][..tail].copy_from_slice(&triple.x[start..]);
            words[1][..tail].copy_from_slice(&triple.y[start..]);
            words[2][..tail].copy_from_slice(&triple.z[start..]);
            first = l.sum_add(first, &words[0], &words[1]);
            second = l.sum_add(second, &words[0], &words[2]);
            taken += 1;
        }
        l.store(&mut words[1], l.sum_reduce(first));
        l.store(&mut words[2], l.sum_reduce(second));
        self.first[start..].copy_from_slice(&words[1][..tail]);
        self.second[start..].copy_from_slice(&words[2][..tail]);
    }
}

impl Kernel for DotPair<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let length = self.first.len();
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
            self.tail(l, start);
        }
    }
}

/// `first = addend + Σ_k x_k·y_k` and `second = Σ_k x_k·z_k` in one pass with one reduction each: both halves of a key switch. An empty
/// addend is zero; all rows are canonical.
pub fn dot_pair(isa: Isa, q: Modulus, first: &mut [u64], second: &mut [u64], triples: &[Triple<'_>], addend: &[u64]) {
    let length = first.len();
    assert!(second.len() == length && (addend.is_empty() || addend.len() == length), "rows of one length");
    let fits = |t: &Triple<'_>| t.x.len() == length && t.y.len() == length && t.z.len() == length;
    assert!(triples.iter().all(fits), "rows of one length");
    dispatch(isa, q, DotPair { first, second, triples, addend });
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
                    let mut out = vec![0; length];
                    mul_add(isa, q, &mut out, &x, &y, &z);
                    assert_eq!(out, exact, "{bits} bits, {length} columns, {}", isa.name());
                    out.copy_from_slice(&z);
                    mul_add_assign(isa, q, &mut out, &x, &y);
                    assert_eq!(out, exact, "{bits} bits, {length} columns, in place, {}", isa.name());
                }
            }
        }
    }

    #[test]
    fn many_products_for_two_sums() {
        for bits in [25, 30, 40, 49, 50] {
            let q = find_primes(64, bits, 1, &[]).unwrap()[0];
            for (length, terms) in [(5, 3), (8, 1), (45, 12), (64, 70), (32, 0)] {
                let rows: Vec<Vec<u64>> = (0..3 * terms as u64 + 1).map(|seed| row(length, seed + 9, q)).collect();
                let triples: Vec<Triple<'_>> =
                    (0..terms).map(|k| Triple { x: &rows[3 * k], y: &rows[3 * k + 1], z: &rows[3 * k + 2] }).collect();
                let addend = &rows[3 * terms];
                let sum = |j: usize, start: u64, pick: fn(&Triple<'_>, usize) -> u64| {
                    let products = triples.iter().map(|t| t.x[j] as u128 * pick(t, j) as u128);
                    ((start as u128 + products.sum::<u128>()) % q.value() as u128) as u64
                };
                for isa in Isa::available() {
                    let (mut first, mut second) = (vec![1; length], vec![1; length]);
                    dot_pair(isa, q, &mut first, &mut second, &triples, addend);
                    assert!((0..length).all(|j| first[j] == sum(j, addend[j], |t, j| t.y[j])), "{}", isa.name());
                    assert!((0..length).all(|j| second[j] == sum(j, 0, |t, j| t.z[j])), "{}", isa.name());
                    dot_pair(isa, q, &mut first, &mut second, &triples, &[]);
                    assert!((0..length).all(|j| first[j] == sum(j, 0, |t, j| t.y[j])), "{}", isa.name());
                }
            }
        }
    }
}
