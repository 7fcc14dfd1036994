//! Linear combinations of rows: the arithmetic of base conversions.

use super::columns::{fetch_ahead, ragged, vectors};
use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, Part, dispatch};
use crate::modulus::Modulus;
use crate::work;

/// Most terms of one [`dot_scalar`]: more than the primes of any chain.
pub const MAX_TERMS: usize = 160;

/// Terms of most base conversions.
const FEW: usize = 16;

/// Vectors taken together, so that looking up the rows of a term is paid once for all of them.
const WIDE: usize = 4;

/// `SOURCES` says whether the rows are in source form.
struct DotScalar<'a, 'b, const SOURCES: bool> {
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

impl<const SOURCES: bool> DotScalar<'_, '_, SOURCES> {
    /// Takes one more product.
    #[inline(always)]
    fn combine<P: Part>(p: P, sum: P::Combination, x: &[u64; LANES], coefficient: u64) -> P::Combination {
        if SOURCES { p.combine_source(sum, x, coefficient) } else { p.combine(sum, x, coefficient) }
    }

    /// W vectors from `start`, part by part so that their sums stay in registers; rows are fetched
    /// before they are needed.
    #[inline(always)]
    fn wide<L: Lanes, const W: usize>(&mut self, l: L, coefficients: &[u64], start: usize) {
        for (x, _) in self.terms {
            fetch_ahead::<W>(x, start);
        }
        for part in 0..L::PARTS {
            self.part::<L::Part, W>(l.part(part), coefficients, start);
        }
    }

    #[inline(always)]
    fn part<P: Part, const W: usize>(&mut self, p: P, coefficients: &[u64], start: usize) {
        let (first, mut taken) = start_from(p, self.constant);
        let mut sums = [first; W];
        let (out, _) = self.out[start..start + W * LANES].as_chunks_mut::<LANES>();
        for ((x, _), &coefficient) in self.terms.iter().zip(coefficients) {
            if taken == P::COMBINED {
                for w in 0..W {
                    sums[w] = p.fold_combination(sums[w]);
                }
                taken = 1;
            }
            taken += 1;
            let x = vectors::<W>(x, start);
            for w in 0..W {
                sums[w] = Self::combine(p, sums[w], &x[w], coefficient);
            }
        }
        for w in 0..W {
            p.store_combination(&mut out[w], sums[w]);
        }
    }

    /// The last vector of rows whose length is no multiple of eight.
    #[inline(always)]
    fn rest<L: Lanes>(&mut self, l: L, coefficients: &[u64], start: usize) {
        let mut padded = [0; LANES];
        let (mut sum, mut taken) = start_from(l, self.constant);
        for ((x, _), &coefficient) in self.terms.iter().zip(coefficients) {
            if taken == L::COMBINED {
                sum = l.fold_combination(sum);
                taken = 1;
            }
            taken += 1;
            sum = Self::combine(l, sum, &ragged(x, start)[0], coefficient);
        }
        l.store_combination(&mut padded, sum);
        let length = self.out.len() - start;
        self.out[start..].copy_from_slice(&padded[..length]);
    }
}

impl<const SOURCES: bool> Kernel for DotScalar<'_, '_, SOURCES> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        // A base conversion calls this for a thousand columns at a time: clearing room for the most terms
        // would be felt.
        let (mut few, mut many);
        let coefficients: &mut [u64] = if self.terms.len() <= FEW {
            few = [0; FEW];
            &mut few
        } else {
            many = [0; MAX_TERMS];
            &mut many
        };
        for (coefficient, (_, scalar)) in coefficients.iter_mut().zip(self.terms) {
            *coefficient = l.coefficient(*scalar);
        }
        let length = self.out.len();
        let mut start = 0;
        while start + WIDE * LANES <= length {
            self.wide::<L, WIDE>(l, coefficients, start);
            start += WIDE * LANES;
        }
        while start + LANES <= length {
            self.wide::<L, 1>(l, coefficients, start);
            start += LANES;
        }
        if start < length {
            self.rest(l, coefficients, start);
        }
    }
}

/// `out = Σ_i c_i * x_i`. The rows `x_i` may hold any values below 2^50; the scalars are canonical.
/// At most [`MAX_TERMS`] terms.
pub fn dot_scalar(isa: Isa, q: Modulus, out: &mut [u64], terms: &[(&[u64], u64)]) {
    check(out, terms);
    dispatch(isa, q, DotScalar::<false> { out, terms, constant: 0 });
}

/// `out = constant + Σ_i c_i * x_i`: the inner product of a base conversion. The rows `x_i` hold
/// values below 2^50 (they are residues modulo other primes) in the form of [`to_sources`]; the
/// constant and the scalars are canonical. At most [`MAX_TERMS`] terms.
pub fn dot_sources(isa: Isa, q: Modulus, out: &mut [u64], terms: &[(&[u64], u64)], constant: u64) {
    check(out, terms);
    work::add(work::Kind::Converted, out.len() * terms.len());
    dispatch(isa, q, DotScalar::<true> { out, terms, constant });
}

fn check(out: &[u64], terms: &[(&[u64], u64)]) {
    assert!(terms.len() <= MAX_TERMS, "at most {MAX_TERMS} terms");
    assert!(terms.iter().all(|(x, _)| x.len() == out.len()), "rows of one length");
}

/// A row to its source form.
struct ToSources<'a>(&'a mut [u64]);

impl Kernel for ToSources<'_> {
    type Output = ();

    // Plain arithmetic, compiled for the instruction set.
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        self.0.iter_mut().for_each(|x| *x = L::source(*x));
    }
}

/// Brings words below 2^50 into the form in which [`dot_sources`] and
/// [`rounded_sum`](crate::overflow::rounded_sum) read them. The form depends on the instruction set
/// alone. A base conversion reads each source once for every target, so that a conversion on every
/// reading would be a third of its work where residues are multiplied as doubles.
///
/// **Warning.** A row in this form is no row of residues. Give it to no other kernel.
pub fn to_sources(isa: Isa, row: &mut [u64]) {
    debug_assert!(row.iter().all(|&x| x < 1 << 50));
    dispatch(isa, Modulus::three(), ToSources(row));
}
