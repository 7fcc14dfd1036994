//! The operations of exact schemes, on noise bounds instead of ciphertexts.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, Limits, RandomEvents};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::{DividedProduct, Evaluator, Subtrahend};
use windlass_schemes::plaintext::Plaintext;
use windlass_schemes::schemes::engine::{Summand, weights};
use windlass_schemes::switching::{Arithmetic, no_terms};

use super::{Expected, Forecast};

impl Evaluator for Forecast {
    fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    fn top_level(&self) -> usize {
        self.params.top_level()
    }

    fn prepare_at(&self, constant: &Plaintext, _: usize) -> Result<Bound> {
        Ok(self.plain_norm(constant, self.slots.modulus().exponent()))
    }

    fn constant_bytes(&self, _: usize) -> usize {
        std::mem::size_of::<Bound>()
    }

    /// One of the terms has the level of the sum.
    fn weighted_sum(&self, terms: &[(&Expected, i64)], toward: Option<&Expected>) -> Result<Expected> {
        self.switches(terms.len().saturating_sub(1));
        self.sum_of(terms, toward)
    }

    fn weighted_sums(&self, values: &[&Expected], weights: &[Vec<i64>]) -> Result<Vec<Expected>> {
        weights.iter().map(|weights| self.raised_sum(values, weights)).collect()
    }

    fn divide_out(&self, x: &Expected, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Expected> {
        self.divided_out(x, subtrahends)
    }

    fn dot_ciphertexts(&self, pairs: &[(&Expected, &Expected)]) -> Result<Expected> {
        self.dot_products(pairs)
    }

    fn divided_product(&self, values: &[&Expected], product: &DividedProduct) -> Result<Expected> {
        self.divided_at_once(values, product)
    }

    fn sub(&self, a: &Expected, b: &Expected) -> Result<Expected> {
        self.add(a, b)
    }

    fn negate(&self, a: &Expected) -> Result<Expected> {
        Ok(*a)
    }

    fn add_plain(&self, a: &Expected, b: &Plaintext) -> Result<Expected> {
        self.pay_plain(a.level);
        Ok(Expected { noise: a.noise + self.plain_norm(b, a.exponent), ..*a })
    }

    fn sub_plain(&self, a: &Expected, b: &Plaintext) -> Result<Expected> {
        self.add_plain(a, b)
    }

    fn multiply(&self, a: &Expected, b: &Expected) -> Result<Expected> {
        self.switches(2);
        self.events.add(RandomEvents::KEY_SWITCH);
        Ok(self.multiplied(a, b))
    }

    fn square(&self, a: &Expected) -> Result<Expected> {
        self.switches(1);
        self.events.add(RandomEvents::KEY_SWITCH);
        Ok(self.multiplied(a, a))
    }

    fn multiply_scalar(&self, a: &Expected, k: i64) -> Result<Expected> {
        let t = self.modulus(a.exponent) as i64;
        let k = k.rem_euclid(t).min(t - k.rem_euclid(t));
        self.pay_term(2, a.level);
        Ok(Expected { noise: a.noise * Bound::of(k as f64), ..*a })
    }

    fn exponent_of(&self, a: &Expected) -> u32 {
        a.exponent
    }

    fn reduce_exponent(&self, a: &Expected, exponent: u32) -> Result<Expected> {
        Limits::between(1, a.exponent).check("the exponent of a smaller plaintext modulus", exponent)?;
        Ok(Expected { exponent, factor: a.factor % self.modulus(exponent), ..*a })
    }

    fn raise_exponent(&self, a: &Expected, exponent: u32) -> Result<Expected> {
        let most = self.slots.modulus().exponent();
        Limits::between(a.exponent, most).check("the exponent of a larger plaintext modulus", exponent)?;
        Ok(Expected { exponent, ..*a })
    }

    fn declare_integers(&self, a: Expected) -> Expected {
        a
    }

    fn multiply_by_p(&self, a: &Expected) -> Result<Expected> {
        let (most, p) = (self.slots.modulus().exponent(), self.slots.prime());
        Limits::at_most(most).check("the exponent of the plaintext modulus", a.exponent + 1)?;
        self.pay_term(2, a.level);
        Ok(Expected { exponent: a.exponent + 1, noise: a.noise * Bound::of(p as f64), ..*a })
    }

    fn divide_by_p(&self, a: &Expected) -> Result<Expected> {
        let prime = self.slots.prime();
        if a.exponent < 2 {
            return Err(Error::NotDivisible { prime, exponent: a.exponent });
        }
        let factor = a.factor % self.modulus(a.exponent - 1);
        self.pay_term(2, a.level);
        Ok(Expected { exponent: a.exponent - 1, factor, noise: a.noise / Bound::of(prime as f64), ..*a })
    }
}

impl Forecast {
    fn multiplied(&self, a: &Expected, b: &Expected) -> Expected {
        let product = self.three_parts(a, b);
        self.pay_relinearisation(product.level);
        self.relinearised(&product)
    }

    /// A product before relinearisation, at the level that is best with it.
    pub(super) fn three_parts(&self, a: &Expected, b: &Expected) -> Expected {
        let top = a.level.min(b.level);
        let at = |level: usize| {
            let (x, y) = (self.switch(a, level), self.switch(b, level));
            let factor = arith::mul_mod(x.factor, y.factor, self.modulus(a.exponent));
            Expected { level, factor, noise: x.noise * y.noise, ..*a }
        };
        let candidates: Vec<Expected> = (1..=top).map(at).collect();
        let capacity = |ct: &Expected| self.capacity(&self.relinearised(ct));
        let best = candidates.iter().map(capacity).fold(f64::NEG_INFINITY, f64::max);
        let found = *candidates.iter().find(|ct| capacity(ct) >= best - 0.5).expect("the best is among them");
        self.pay_tensor(a, b, found.level);
        found
    }

    pub(super) fn relinearised(&self, ct: &Expected) -> Expected {
        Expected { noise: ct.noise + self.model(ct.exponent).key_switch(ct.level), ..*ct }
    }

    /// `Σ_i c_i·x_i`, plus `toward`; switches to its level are left to the caller to count.
    fn sum_of(&self, terms: &[(&Expected, i64)], toward: Option<&Expected>) -> Result<Expected> {
        let Some(&(first, _)) = terms.first() else {
            return Err(no_terms());
        };
        let t = self.modulus(first.exponent);
        let level = terms.iter().map(|(x, _)| x.level).min().unwrap_or(first.level);
        let end = toward.map_or(level, |x| x.level.min(level));
        let summands: Vec<(Summand, i64)> = terms.iter().map(|(x, c)| (self.summand(x, end), *c)).collect();
        let (factor, weights) = weights(t, &summands, toward.map(|x| self.summand(x, end)));
        let one = |(&(x, _), &k): (&(&Expected, i64), &i64)| {
            if k != 0 {
                self.pay_term(2, x.level);
                self.pay_switch(2, x.level, level);
                self.pay_term(2, level);
            }
            self.switch(&self.scaled(x, k), level).noise
        };
        let noise = terms.iter().zip(&weights).map(one).sum();
        let dropped = self.dropped(level, end, t);
        let sum = Expected { level, noise, factor: arith::mul_mod(factor, dropped, t), ..*first };
        toward.map_or(Ok(sum), |base| self.add(base, &sum))
    }

    /// `Σ_i c_i·x_i` with the primes of all of its terms.
    fn raised_sum(&self, values: &[&Expected], weights: &[i64]) -> Result<Expected> {
        let weighed = values.iter().zip(weights).filter(|(_, weight)| **weight != 0);
        let terms: Vec<(&Expected, i64)> = weighed.map(|(x, &weight)| (*x, weight)).collect();
        let &(first, _) = terms.first().ok_or_else(no_terms)?;
        let t = self.modulus(first.exponent);
        let low = terms.iter().map(|(x, _)| x.level).min().unwrap_or(first.level);
        let summands: Vec<(Summand, i64)> = terms.iter().map(|(x, c)| (self.summand(x, low), *c)).collect();
        let (factor, weights) = self::weights(t, &summands, None);
        // A weight may be zero modulo t.
        let weighed = terms.iter().zip(weights).map(|(&(x, _), weight)| (x, weight));
        let weighed: Vec<(&Expected, i64)> = weighed.filter(|(_, weight)| *weight != 0).collect();
        let levels = weighed.iter().map(|(x, _)| x.level);
        let Some(level) = self.params.levels().join_all(levels) else { return Ok(self.scaled(first, 0)) };
        let raised = |&(x, k): &(&Expected, i64)| {
            self.pay_term(2, x.level);
            let bits = self.params.log2_q(level) - self.params.log2_q(x.level);
            self.scaled(x, k).noise * Bound::from_bits(bits)
        };
        let noise = weighed.iter().map(raised).sum();
        let factor = arith::mul_mod(factor, self.dropped(level, low, t), t);
        Ok(Expected { level, noise, factor, ..*first })
    }

    fn plain_norm(&self, plaintext: &Plaintext, exponent: u32) -> Bound {
        // A monomial has the same absolute value at every root of unity (but X^j for j > 0 is an
        // element of the powerful basis for powers of two alone).
        let t = self.modulus(exponent);
        let mut present = plaintext.coefficients().iter().enumerate().filter(|(_, c)| **c != 0);
        match (present.next(), present.next()) {
            (None, _) => return Bound::ZERO,
            (Some((j, c)), None) if j == 0 || self.params.m().is_power_of_two() => {
                return Bound::of((c % t).min(t - c % t) as f64);
            }
            _ => {}
        }
        self.constant_norm(exponent)
    }
}
