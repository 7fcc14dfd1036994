//! Linear combinations of rows: the arithmetic of base conversions.

use super::columns::{fetch_ahead, ragged, vectors};
use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, Part, dispatch};
use crate::modulus::Modulus;

/// Most terms of one [`dot_scalar`]: more than the primes of any chain.
pub const MAX_TERMS: usize = 160;

/// Vectors taken together, so that looking up the rows of a term is paid once for all of them.
const WIDE: usize = 4;

struct DotScalar<'a, 'b> {
    out: &'a mut [u64],
    terms: &'a [(&'b [u64], u64)],
    constant: u64,
}

/// A combination that holds the constant, and the products that it takes the room of.
#[inline(always)]
fn start_from<P: Part>(p: P, constant: u64) -> (P::Combination, usize) {
    match constant {
        0 => (p.combination(), 0),
        _ => (p.combination_from(&[constant; LANES]), 1),
    }
}

impl DotScalar<'_, '_> {
    /// W vectors from `start`, part by part so that their sums stay in registers; rows are fetched
    /// before they are needed.
    #[inline(always)]
    fn wide<L: Lanes, const W: usize>(&mut self, l: L, coefficients: &[u64; MAX_TERMS], start: usize) {
        for (x, _) in self.terms {
            fetch_ahead::<W>(x, start);
        }
        for part in 0..L::PARTS {
            self.part::<L::Part, W>(l.part(part), coefficients, start);
        }
    }

    #[inline(always)]
    fn part<P: Part, const W: usize>(&mut self, p: P, coefficients: &[u64; MAX_TERMS], start: usize) {
        let (first, mut taken) = start_from(p, self.constant);
        let mut sums = [first; W];
        let (out, _) = self.out[start..start + W * LANES].as_chunks_mut::<LANES>();
        for ((x, _), &coefficient) in self.terms.iter().zip(coefficients) {
            if taken == P::COMBINED {
                for w in 0..W {
                    p.store_combination(&mut out[w], sums[w]);
                    sums[w] = p.combination_from(&out[w]);
                }
                taken = 1;
            }
            taken += 1;
            let x = vectors::<W>(x, start);
            for w in 0..W {
                sums[w] = p.combine(sums[w], &x[w], coefficient);
            }
        }
        for w in 0..W {
            p.store_combination(&mut out[w], sums[w]);
        }
    }

    /// The last vector of rows whose length is no multiple of eight.
    #[inline(always)]
    fn rest<L: Lanes>(&mut self, l: L, coefficients: &[u64; MAX_TERMS], start: usize) {
        let mut padded = [0; LANES];
        let (mut sum, mut taken) = start_from(l, self.constant);
        for ((x, _), &coefficient) in self.terms.iter().zip(coefficients) {
            if taken == L::COMBINED {
                l.store_combination(&mut padded, sum);
                sum = l.combination_from(&padded);
                taken = 1;
            }
            taken += 1;
            sum = l.combine(sum, &ragged(x, start)[0], coefficient);
        }
        l.store_combination(&mut padded, sum);
        let length = self.out.len() - start;
        self.out[start..].copy_from_slice(&padded[..length]);
    }
}

impl Kernel for DotScalar<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let mut coefficients = [0; MAX_TERMS];
        for (coefficient, (_, scalar)) in coefficients.iter_mut().zip(self.terms) {
            *coefficient = l.coefficient(*scalar);
        }
        let length = self.out.len();
        let mut start = 0;
        while start + WIDE * LANES <= length {
            self.wide::<L, WIDE>(l, &coefficients, start);
            start += WIDE * LANES;
        }
        while start + LANES <= length {
            self.wide::<L, 1>(l, &coefficients, start);
            start += LANES;
        }
        if start < length {
            self.rest(l, &coefficients, start);
        }
    }
}

/// `out = Σ_i c_i * x_i`: the inner product of a base conversion. The rows `x_i` may hold any
/// values below 2^50 (they are residues modulo other primes); the scalars are canonical. At most
/// [`MAX_TERMS`] terms.
pub fn dot_scalar(isa: Isa, q: Modulus, out: &mut [u64], terms: &[(&[u64], u64)]) {
    dot_scalar_plus(isa, q, out, terms, 0);
}

/// [`dot_scalar`] and a canonical constant: `out = constant + Σ_i c_i * x_i`.
pub fn dot_scalar_plus(isa: Isa, q: Modulus, out: &mut [u64], terms: &[(&[u64], u64)], constant: u64) {
    assert!(terms.len() <= MAX_TERMS, "at most {MAX_TERMS} terms");
    assert!(terms.iter().all(|(x, _)| x.len() == out.len()), "rows of one length");
    dispatch(isa, q, DotScalar { out, terms, constant });
}
