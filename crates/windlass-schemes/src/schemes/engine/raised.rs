//! Sums at a level with the primes of all of their terms.
//!
//! A term of level l enters a sum of level L as `Q_L/Q_l·ε`, whose other rows are zero: a product
//! with constants, which costs neither noise nor a transform. Whoever takes the sum brings it down,
//! once for all of its terms, to a level that its noise asks for; terms that are brought together
//! lower down take a switch each, and weights multiply what those round.

use windlass_ring::kernels::{Modulus, arith};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::Bound;

use super::weighted::weights;
use super::{Ciphertext, Engine};
use crate::error::Result;
use crate::schemes::Scheme;
use crate::switching::no_terms;

/// A value of a sum, seen modulo a plaintext modulus that may be smaller than its own.
#[derive(Clone, Copy)]
pub(super) struct Term<'a> {
    /// Which of the values it is.
    pub number: usize,
    pub ct: &'a Ciphertext,
    pub weight: i64,
}

impl Engine {
    /// Sums of the same values, each with the primes of all of its terms.
    pub(super) fn weighted_batch(&self, values: &[&Ciphertext], weights: &[Vec<i64>]) -> Result<Vec<Ciphertext>> {
        let &first = values.first().ok_or_else(no_terms)?;
        values.iter().try_for_each(|x| self.check_summands(first, x))?;
        weights.iter().map(|weights| self.weighted_raised(&terms(values, weights))).collect()
    }

    fn weighted_raised(&self, terms: &[Term<'_>]) -> Result<Ciphertext> {
        let Some(first) = terms.first() else { return Err(no_terms()) };
        // Factors are compared where the lowest term is, and follow the sum up from there.
        let t = self.modulus(first.ct.exponent);
        let level = terms.iter().map(|term| term.ct.level()).min().expect("there is a first");
        let summands: Vec<_> = terms.iter().map(|term| (self.summand(term.ct, level), term.weight)).collect();
        let (factor, weights) = weights(t, &summands, None);
        // A weight may be zero modulo t.
        let weighed = terms.iter().zip(weights).map(|(term, weight)| Term { weight, ..*term });
        let weighed: Vec<Term<'_>> = weighed.filter(|term| term.weight != 0).collect();
        if weighed.is_empty() {
            return self.scaled(first.ct, 0);
        }
        let sum = self.raised(first.ct.exponent, &weighed);
        let factor = arith::mul_mod(factor, self.primes_between(level, sum.level(), t), t);
        self.accept("weighted sum", self.capacity(first.ct), Ciphertext { factor, ..sum })
    }

    /// `Σ |k_j|·‖ε_j‖·Q_l/Q_j`: the noise of a sum at level l, but for rounding.
    pub(super) fn exact_noise(&self, terms: &[Term<'_>], level: usize) -> Bound {
        let scaled = |term: &Term<'_>| self.noise_on(term.ct, level) * Bound::of(term.weight.unsigned_abs() as f64);
        terms.iter().map(scaled).sum()
    }

    /// `‖ε‖·Q_l/Q`: what a ciphertext's noise is on level l, but for rounding.
    pub(super) fn noise_on(&self, ct: &Ciphertext, level: usize) -> Bound {
        let [from, to] = [ct.level(), level].map(|level| self.context.log2_modulus(level));
        ct.noise * Bound::from_bits(to - from)
    }

    /// `Σ k_j·ε_j` with the primes of all terms; its factor is for the caller to say.
    pub(super) fn raised(&self, exponent: u32, terms: &[Term<'_>]) -> Ciphertext {
        debug_assert!(terms.iter().all(|term| term.ct.parts.len() == 2), "products are relinearised before");
        let scale = |term: &Term<'_>| match self.scheme {
            Scheme::Bgv => 1,
            Scheme::Bfv => self.slots.prime().pow(term.ct.exponent - exponent),
        };
        let list: Vec<&Ciphertext> = terms.iter().map(|term| term.ct).collect();
        let parts = self.raised_parts(&list, |j, q| q.mul(q.reduce(scale(&terms[j])), q.reduce_i64(terms[j].weight)));
        let content = terms.iter().map(|term| term.ct.content).max().expect("there are terms");
        let sum = terms[0].ct.with_parts(parts);
        Ciphertext { exponent, noise: self.exact_noise(terms, sum.level()), content, ..sum }
    }

    /// The parts of `Σ c_j·Q_L/Q_j·x_j` at the level L that joins those of the x_j, the c_j given
    /// modulo each prime. A ciphertext may have two parts or three.
    pub(super) fn raised_parts(
        &self,
        list: &[&Ciphertext],
        coefficient: impl Fn(usize, Modulus) -> u64,
    ) -> Vec<Poly<Eval>> {
        let ring = self.context.ring();
        let levels = self.context.levels();
        let top = levels.join_all(list.iter().map(|ct| ct.level())).expect("there are terms");
        let factors = |(j, ct): (usize, &&Ciphertext)| -> Vec<u64> {
            let own = ct.parts[0].basis();
            let more = levels.basis(top).without(own);
            let factor = |index: usize| {
                let q = ring.modulus(index);
                q.mul(ring.product(&more, q), coefficient(j, q))
            };
            own.indices().map(factor).collect()
        };
        let factors: Vec<Vec<u64>> = list.iter().enumerate().map(factors).collect();
        let sum = |part: usize| {
            let terms = list.iter().zip(&factors).filter_map(|(ct, factors)| Some((ct.parts.get(part)?, &factors[..])));
            Poly::combination(ring, &self.context.basis(top), &terms.collect::<Vec<_>>())
        };
        let parts = list.iter().map(|ct| ct.parts.len()).max().expect("there are terms");
        (0..parts).map(sum).collect()
    }
}

/// The values with a weight.
pub(super) fn terms<'a>(values: &[&'a Ciphertext], weights: &[i64]) -> Vec<Term<'a>> {
    let weighed = values.iter().zip(weights).enumerate().filter(|(_, (_, weight))| **weight != 0);
    weighed.map(|(number, (ct, &weight))| Term { number, ct, weight }).collect()
}
