//! The operations of exact schemes, on noise bounds instead of ciphertexts.

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, Limits, RandomEvents};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::{DividedProduct, Evaluator, Subtrahend};
use windlass_schemes::plaintext::Plaintext;
use windlass_schemes::schemes::engine::rules::{GatheredSum, GatheredTerm, RaisedSum, WeightedSum};
use windlass_schemes::switching::{Arithmetic, no_terms};

use super::{Expected, Forecast};

impl Evaluator for Forecast {
    fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.slot_ring
    }

    fn top_level(&self) -> usize {
        self.rules.params().top_level()
    }

    fn prepare_at(&self, constant: &Plaintext, _: usize) -> Result<Bound> {
        Ok(self.plain_norm(constant, self.slot_ring.modulus().exponent()))
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
        let stated: Vec<Expected> = values.iter().map(|x| **x).collect();
        let plan = self.rules.divided_product(&stated, product)?;
        // By the other operations both factors would be switched, and every term but one of a sum.
        let sums = product.factors.iter().chain([&product.rest]);
        self.switches(sums.flatten().filter(|weight| **weight != 0).count());
        self.events.add(RandomEvents::KEY_SWITCH);
        (0..product.divisions).try_fold(plan.sum, |sum, _| self.divide_by_p(&sum))
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
        let t = self.rules.modulus(a.exponent) as i64;
        let k = k.rem_euclid(t).min(t - k.rem_euclid(t));
        self.pay_term(2, a.level);
        Ok(self.rules.scaled(a, k))
    }

    fn exponent_of(&self, a: &Expected) -> u32 {
        a.exponent
    }

    fn reduce_exponent(&self, a: &Expected, exponent: u32) -> Result<Expected> {
        Limits::between(1, a.exponent).check("the exponent of a smaller plaintext modulus", exponent)?;
        Ok(self.rules.reduced(a, exponent))
    }

    fn raise_exponent(&self, a: &Expected, exponent: u32) -> Result<Expected> {
        let most = self.slot_ring.modulus().exponent();
        Limits::between(a.exponent, most).check("the exponent of a larger plaintext modulus", exponent)?;
        Ok(Expected { exponent, ..*a })
    }

    fn declare_integers(&self, a: Expected) -> Expected {
        a
    }

    fn multiply_by_p(&self, a: &Expected) -> Result<Expected> {
        let most = self.slot_ring.modulus().exponent();
        Limits::at_most(most).check("the exponent of the plaintext modulus", a.exponent + 1)?;
        self.pay_term(2, a.level);
        Ok(self.rules.multiplied_by_p(a))
    }

    fn divide_by_p(&self, a: &Expected) -> Result<Expected> {
        let prime = self.slot_ring.prime();
        if a.exponent < 2 {
            return Err(Error::NotDivisible { prime, exponent: a.exponent });
        }
        self.pay_term(2, a.level);
        Ok(self.rules.divided_by_p(a))
    }
}

impl Forecast {
    fn multiplied(&self, a: &Expected, b: &Expected) -> Expected {
        let product = self.three_parts(a, b);
        self.relinearised(&product)
    }

    /// A product before relinearisation.
    fn three_parts(&self, a: &Expected, b: &Expected) -> Expected {
        let product = self.rules.product(a, b);
        self.pay_tensor(a, b, product.level);
        product
    }

    fn relinearised(&self, ct: &Expected) -> Expected {
        self.pay_relinearisation(ct.level);
        self.rules.relinearised(ct)
    }

    /// `Σ_i c_i·x_i`, plus `toward`; switches to its level are left to the caller to count.
    fn sum_of(&self, terms: &[(&Expected, i64)], toward: Option<&Expected>) -> Result<Expected> {
        if terms.is_empty() {
            return Err(no_terms());
        }
        let stated: Vec<(Expected, i64)> = terms.iter().map(|&(x, c)| (*x, c)).collect();
        let WeightedSum { weights, sum } = self.rules.weighted(&stated, toward);
        for ((x, _), _) in terms.iter().zip(&weights).filter(|(_, k)| **k != 0) {
            self.pay_term(2, x.level);
            self.pay_switch(2, x.level, sum.level);
            self.pay_term(2, sum.level);
        }
        toward.map_or(Ok(sum), |base| self.add(base, &sum))
    }

    /// `Σ_i c_i·x_i` with the primes of all of its terms.
    fn raised_sum(&self, values: &[&Expected], weights: &[i64]) -> Result<Expected> {
        let weighed = values.iter().zip(weights).filter(|(_, weight)| **weight != 0);
        let terms: Vec<(Expected, i64)> = weighed.map(|(x, &weight)| (**x, weight)).collect();
        let (first, _) = terms.first().ok_or_else(no_terms)?;
        // A weight may be zero modulo t.
        let Some(RaisedSum { weights, sum }) = self.rules.raised(&terms) else {
            return Ok(self.rules.scaled(first, 0));
        };
        terms.iter().zip(weights).filter(|(_, k)| *k != 0).for_each(|((x, _), _)| self.pay_term(2, x.level));
        Ok(sum)
    }

    /// Σ a_i·b_i, products of one level and factor added as they come.
    fn dot_products(&self, pairs: &[(&Expected, &Expected)]) -> Result<Expected> {
        let &(first, _) = pairs.first().ok_or_else(no_terms)?;
        let mut sums: Vec<Expected> = Vec::new();
        for (a, b) in pairs {
            self.one_by_one(true);
            let product = self.three_parts(a, b);
            match sums.iter_mut().find(|sum| sum.level == product.level && sum.factor == product.factor) {
                Some(sum) => {
                    self.pay_term(3, product.level);
                    sum.noise = sum.noise + product.noise;
                }
                None => sums.push(product),
            }
        }
        let sum = match sums[..] {
            [sum] => sum,
            _ => {
                let term = |ct| GatheredTerm { ct, power: 0, count: 1 };
                self.gathered(first.exponent, 0, 3, &sums.into_iter().map(term).collect::<Vec<_>>())
            }
        };
        Ok(self.relinearised(&sum))
    }

    /// `(x − Σ_j p^j·s_j)/p^v`.
    fn divided_out(&self, x: &Expected, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Expected> {
        let divisions = subtrahends.len() as u32;
        if x.exponent <= divisions {
            return Err(Error::NotDivisible { prime: self.slot_ring.prime(), exponent: x.exponent });
        }
        if divisions == 0 {
            return Ok(*x);
        }
        let mut terms = vec![GatheredTerm { ct: *x, power: 0, count: 1 }];
        for (power, Subtrahend { value, product }) in (0..).zip(subtrahends) {
            value.iter().for_each(|_| self.one_by_one(false));
            product.iter().for_each(|_| self.one_by_one(true));
            let product = product.map(|(a, b)| self.three_parts(a, b));
            terms.extend(value.copied().into_iter().chain(product).map(|ct| GatheredTerm { ct, power, count: -1 }));
        }
        let has_products = subtrahends.iter().any(|subtrahend| subtrahend.product.is_some());
        let sum = self.gathered(x.exponent, divisions, if has_products { 3 } else { 2 }, &terms);
        Ok(if has_products { self.relinearised(&sum) } else { sum })
    }

    /// The random events of a term that is added by itself, a product relinearised before.
    fn one_by_one(&self, is_product: bool) {
        self.switches(1);
        if is_product {
            self.switches(2);
            self.events.add(RandomEvents::KEY_SWITCH);
        }
    }

    /// `Σ_j c_j·p^{e_j}·x_j / p^divisions` in so many parts, before relinearisation.
    fn gathered(&self, exponent: u32, divisions: u32, parts: u32, terms: &[GatheredTerm]) -> Expected {
        let GatheredSum { kept, raised, level, .. } = self.rules.gathered(exponent, divisions, terms);
        kept.iter().for_each(|&j| self.pay_term(parts, terms[j].ct.level));
        self.pay_switch(parts, raised.level, level);
        self.rules.switched(&raised, level, parts as usize)
    }

    fn plain_norm(&self, plaintext: &Plaintext, exponent: u32) -> Bound {
        // A monomial has the same absolute value at every root of unity (but X^j for j > 0 is an
        // element of the powerful basis for powers of two alone).
        let t = self.rules.modulus(exponent);
        let mut present = plaintext.coefficients().iter().enumerate().filter(|(_, c)| **c != 0);
        match (present.next(), present.next()) {
            (None, _) => return Bound::ZERO,
            (Some((j, c)), None) if j == 0 || self.rules.params().m().is_power_of_two() => {
                return Bound::of((c % t).min(t - c % t) as f64);
            }
            _ => {}
        }
        self.constant_norm(exponent)
    }
}
