//! Sums at the highest level of their terms.

use windlass_ring::kernels::arith;
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

/// Whether fewer of these sums than of their values are above the lowest of the values' levels.
pub(crate) fn sums_switch_less(levels: &[usize], weights: &[Vec<i64>]) -> bool {
    let low = levels.iter().min().copied().unwrap_or(0);
    let is_above = |sum: &&Vec<i64>| sum.iter().zip(levels).any(|(&weight, &level)| weight != 0 && level > low);
    let values = levels.iter().filter(|&&level| level > low).count();
    weights.iter().filter(is_above).count() < values
}

impl Engine {
    /// Sums of the same values, by whichever way takes fewer switches ([`sums_switch_less`]).
    ///
    /// Raised, each sum is at the highest level among its terms: they are multiplied by the primes
    /// that are not theirs, which costs neither noise nor a transform, and weights come before any
    /// switch. Whoever takes a sum brings it down, once for all of its terms.
    ///
    /// Else each value is switched to the lowest of their levels, for all sums, and weights multiply
    /// its rounding. A value that has just been multiplied has noise that is larger by the plaintext
    /// modulus and more, so that nothing is lost where there is one among them.
    pub(super) fn weighted_together(&self, values: &[&Ciphertext], weights: &[Vec<i64>]) -> Result<Vec<Ciphertext>> {
        let &first = values.first().ok_or_else(no_terms)?;
        values.iter().try_for_each(|x| self.check_summands(first, x))?;
        let levels: Vec<usize> = values.iter().map(|x| x.level()).collect();
        if sums_switch_less(&levels, weights) {
            return weights.iter().map(|weights| self.weighted_raised(&terms(values, weights))).collect();
        }
        let level = levels.into_iter().min().expect("there is a first");
        let switched: Vec<_> = values.iter().map(|x| self.switched(x, level)).collect();
        let one = |weights: &Vec<i64>| {
            let terms = switched.iter().zip(weights).map(|(x, &c)| (x.as_ref(), c)).filter(|&(_, c)| c != 0);
            self.weighted(&terms.collect::<Vec<_>>(), None)
        };
        weights.iter().map(one).collect()
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
        let log2_q = |level| self.context.log2_modulus(level);
        let scaled = |term: &Term<'_>| {
            let weight = Bound::of(term.weight.unsigned_abs() as f64);
            term.ct.noise * weight * Bound::from_bits(log2_q(level) - log2_q(term.ct.level()))
        };
        terms.iter().map(scaled).sum()
    }

    /// `Σ k_j·ε_j` at the highest level among the terms; its factor is for the caller to say.
    ///
    /// A term of level l enters as `Q_top/Q_l·ε`, whose rows above l are zero.
    pub(super) fn raised(&self, exponent: u32, terms: &[Term<'_>]) -> Ciphertext {
        let top = terms.iter().map(|term| term.ct.level()).max().expect("there are terms");
        let wide = self.context.basis(top);
        let ring = self.context.ring();
        debug_assert!(terms.iter().all(|term| term.ct.parts.len() == 2), "products are relinearised before");
        let raised = |term: &Term<'_>, part: &Poly<Eval>| {
            let scale = match self.scheme {
                Scheme::Bgv => 1,
                Scheme::Bfv => self.slots.prime().pow(term.ct.exponent - exponent),
            };
            let factor = |row: usize| {
                let q = ring.modulus(row);
                let above = (term.ct.level()..top).fold(1, |x, i| q.mul(x, q.reduce(ring.modulus(i).value())));
                q.mul(q.mul(above, q.reduce(scale)), q.reduce_i64(term.weight))
            };
            part.embed_times(&wide, &(0..term.ct.level()).map(factor).collect::<Vec<_>>())
        };
        let sum = |part: usize| {
            let mut raised = terms.iter().map(|term| raised(term, &term.ct.parts[part]));
            let first = raised.next().expect("there are terms");
            raised.fold(first, |mut sum, term| {
                sum.add_assign(&term);
                sum
            })
        };
        let noise = self.exact_noise(terms, top);
        let content = terms.iter().map(|term| term.ct.content).max().expect("there are terms");
        Ciphertext { exponent, noise, content, ..terms[0].ct.with_parts(vec![sum(0), sum(1)]) }
    }
}

/// The values with a weight.
pub(super) fn terms<'a>(values: &[&'a Ciphertext], weights: &[i64]) -> Vec<Term<'a>> {
    let weighed = values.iter().zip(weights).enumerate().filter(|(_, (_, weight))| **weight != 0);
    weighed.map(|(number, (ct, &weight))| Term { number, ct, weight }).collect()
}
