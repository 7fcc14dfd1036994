//! Exact divisions with products in between, relinearised once.

use std::borrow::Cow;

use windlass_ring::kernels::arith;
use windlass_rlwe::{Bound, check_same_keys};

use super::levels::Summand;
use super::{Ciphertext, Engine, centred};
use crate::error::{Error, Result};
use crate::evaluator::Subtrahend;
use crate::schemes::Scheme;

/// What is in the sum as p^power times itself.
struct Term<'a> {
    ct: Cow<'a, Ciphertext>,
    power: u32,
    /// Whether it is subtracted.
    is_taken: bool,
}

impl Engine {
    /// `(..((x − s_0)/p − s_1)/p ..)/p = (x − Σ_j p^j·s_j)/p^v`, products in three parts until the
    /// end, so that the key switch is one for all of them.
    ///
    /// Everything is raised to the highest level ([`Self::raised_parts`]), added there and divided,
    /// which is exact; then the sum is brought to the lowest level among its terms, whose noise it
    /// has anyway, by one switch for all of them.
    pub(super) fn divided_out(&self, x: &Ciphertext, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Ciphertext> {
        let terms = self.terms_of(x, subtrahends)?;
        let divisions = subtrahends.len() as u32;
        if divisions == 0 {
            return Ok(x.clone());
        }
        let level = terms.iter().map(|term| term.ct.level()).min().expect("there is a first");
        let (factor, weights) = self.weights_of_powers(x.exponent, &terms, level);
        let list: Vec<&Ciphertext> = terms.iter().map(|term| term.ct.as_ref()).collect();
        // A division changes ε, for BFV by the plaintext modulus alone.
        let p = self.slots.prime();
        let parts = self.raised_parts(&list, |j, q| {
            let weight = q.reduce_i64(weights[j]);
            let inverse = q.inv(q.reduce(p));
            match self.scheme {
                Scheme::Bgv => (terms[j].power..divisions).fold(weight, |x, _| q.mul(x, inverse)),
                Scheme::Bfv => weight,
            }
        });
        let sum = x.with_parts(parts);
        let noise = |(term, weight): (&Term<'_>, &i64)| {
            let divisor = (p as f64).powi((divisions - term.power) as i32);
            self.noise_on(&term.ct, sum.level()) * Bound::of(weight.unsigned_abs() as f64) / Bound::of(divisor)
        };
        let exponent = x.exponent - divisions;
        let t = self.modulus(exponent);
        let sum = Ciphertext {
            exponent,
            factor: arith::mul_mod(factor % t, self.primes_between(level, sum.level(), t), t),
            noise: terms.iter().zip(&weights).map(noise).sum(),
            content: list.iter().map(|ct| ct.content).max().expect("there are terms"),
            ..sum
        };
        let before = self.capacity(x);
        let sum = self.switched(&sum, level).into_owned();
        match sum.parts.len() {
            2 => self.accept("subtract", before, sum),
            _ => self.accept("sum of products", before, self.relinearise(&sum)?),
        }
    }

    /// The terms of the sum, products in three parts.
    fn terms_of<'a>(&self, x: &'a Ciphertext, subtrahends: &[Subtrahend<'a, Self>]) -> Result<Vec<Term<'a>>> {
        let mut terms = vec![Term { ct: Cow::Borrowed(x), power: 0, is_taken: false }];
        for (power, Subtrahend { value, product }) in (0..).zip(subtrahends) {
            let product = product.map(|(a, b)| self.three_parts(a, b)).transpose()?;
            let both = value.map(Cow::Borrowed).into_iter().chain(product.map(Cow::Owned));
            terms.extend(both.map(|ct| Term { ct, power, is_taken: true }));
        }
        let p = self.slots.prime();
        for Term { ct, power, .. } in &terms {
            self.check("subtract", ct)?;
            check_same_keys("subtract", x.key, ct.key)?;
            if ct.exponent + power != x.exponent {
                let describe = |exponent: u32| format!("plaintext modulus {p}^{exponent}");
                let [left, right] = [x.exponent.saturating_sub(*power), ct.exponent].map(describe);
                return Err(Error::ContextMismatch { operation: "subtract", left, right });
            }
        }
        match x.exponent as usize <= subtrahends.len() {
            true => Err(Error::NotDivisible { prime: p, exponent: x.exponent }),
            false => Ok(terms),
        }
    }

    /// The factor of the sum at a level, and the weights k_j ≡ ±F/f_j that bring its terms to it,
    /// each modulo the plaintext modulus of its own: for the F among the terms' factors with the
    /// least noise.
    fn weights_of_powers(&self, exponent: u32, terms: &[Term<'_>], level: usize) -> (u64, Vec<i64>) {
        let p = self.slots.prime() as f64;
        let summands: Vec<Summand> = terms.iter().map(|term| self.summand(&term.ct, level)).collect();
        let weigh = |factor: u64| -> Vec<i64> {
            let weight = |(term, summand): (&Term<'_>, &Summand)| {
                let t = self.modulus(exponent - term.power);
                let inverse = arith::inv_mod(summand.factor, t).expect("factors are units");
                let weight = centred(arith::mul_mod(factor % t, inverse, t), t);
                if term.is_taken { -weight } else { weight }
            };
            terms.iter().zip(&summands).map(weight).collect()
        };
        let noise = |weights: &[i64]| -> Bound {
            let one = |((term, summand), k): ((&Term<'_>, &Summand), &i64)| {
                summand.noise * Bound::of(k.unsigned_abs() as f64 * p.powi(term.power as i32))
            };
            terms.iter().zip(&summands).zip(weights).map(one).sum()
        };
        let weighed = summands.iter().map(|summand| (summand.factor, weigh(summand.factor)));
        let least = weighed.min_by(|(_, a), (_, b)| noise(a).bits().total_cmp(&noise(b).bits()));
        least.expect("there are terms")
    }

    /// `a·b` before relinearisation.
    fn three_parts(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.check_summands(a, b)?;
        let level = self.product_level(a, b);
        Ok(self.tensor(&self.switched(a, level), &self.switched(b, level)))
    }
}
