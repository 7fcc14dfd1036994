//! Products: at which level a product is taken, and how `(Σ·Σ + Σ)/p^k` is computed with one
//! relinearisation.

use windlass_ring::kernels::arith;
use windlass_rlwe::Bound;

use super::basics::{Metadata, NoiseRules};
use super::sums::{Summand, weights_beside};
use crate::error::Result;
use crate::evaluator::DividedProduct;
use crate::switching::no_terms;

/// A value of a sum: its number, what it states, and its weight.
type Term = (usize, Metadata, i64);

/// How one of the three sums of a [`ProductPlan`] is taken.
#[derive(Debug)]
pub struct FactorSum {
    /// Its factor.
    pub factor: u64,
    /// The weight of the shared value.
    pub own: i64,
    /// The other values that have a weight, which are raised to the primes of all of them: (number,
    /// weight).
    pub others: Vec<(usize, i64)>,
}

/// How a [`DividedProduct`] is computed with one relinearisation.
///
/// The last value of the first sum is shared: it is brought to the level of the product once for all
/// sums. Other values of a factor are raised to the primes of all of them, which costs no noise,
/// added there and brought down together. What comes on top is not brought down: the product is
/// raised to it, and whatever takes the sum next brings it down once.
#[derive(Debug)]
pub struct ProductPlan {
    /// The least plaintext modulus of the values is p^exponent.
    pub exponent: u32,
    /// The level of the product.
    pub level: usize,
    /// The number of the shared value.
    pub shared: usize,
    /// The sums that are multiplied.
    pub factors: [FactorSum; 2],
    /// The sum that is added to the product.
    pub rest: FactorSum,
    /// What the sum states, before the divisions.
    pub sum: Metadata,
}

impl NoiseRules {
    /// `a·b` before relinearisation, each in two parts, at the level at which the relinearised
    /// product has the greatest capacity: the lowest one within half a bit.
    pub fn product(&self, a: &Metadata, b: &Metadata) -> Metadata {
        let at = |level: usize| {
            let (x, y) = (self.switched(a, level, 2), self.switched(b, level, 2));
            let factor = arith::mul_mod(x.factor, y.factor, self.modulus(a.exponent));
            Metadata { level, factor, noise: x.noise * y.noise, ..*a }
        };
        at(best_level(a.level.min(b.level), |level| self.capacity(&self.relinearised(&at(level)))))
    }

    /// Three parts made two by a key switch.
    pub fn relinearised(&self, ct: &Metadata) -> Metadata {
        Metadata { noise: ct.noise + self.model(ct.exponent).relinearisation(ct.level), ..*ct }
    }

    /// The plan of a product over values that fit each other.
    ///
    /// # Errors
    /// Those of [`DividedProduct::check`], and [`crate::Error::ShapeMismatch`] for an empty factor.
    pub fn divided_product(&self, values: &[Metadata], product: &DividedProduct) -> Result<ProductPlan> {
        product.check(values.len())?;
        let sums = [&product.factors[0], &product.factors[1], &product.rest];
        let used = || (0..values.len()).filter(|&k| product.takes(k)).map(|k| &values[k]);
        let exponent = used().map(|x| x.exponent).min().ok_or_else(no_terms)?;
        let [left, right, rest] = sums.map(|weights| self.terms(values, weights, exponent));
        let (Some(&(shared, head, _)), false) = (left.last(), right.is_empty()) else { return Err(no_terms()) };

        let top = used().map(|x| x.level).min().unwrap_or(head.level);
        let level = self.level_of_product([&left, &right], exponent, top);
        let head = self.switched(&head, level, 2);
        let [(a, first), (b, second)] = [&left, &right].map(|terms| self.sum_at((shared, &head), terms));
        let factor = arith::mul_mod(first.factor, second.factor, self.modulus(exponent));
        let (rest, on_top) = self.balanced((shared, &head), &rest, Some(factor));
        let own = self.scaled(&head, rest.own).noise;
        let noise = a * b + own + self.model(exponent).relinearisation(level);
        let sum = self.with_on_top(Metadata { level, exponent, factor, noise }, on_top);
        Ok(ProductPlan { exponent, level, shared, factors: [first, second], rest, sum })
    }

    /// The level, up to `top`, that is best for the product of two sums. All sums meet there.
    fn level_of_product(&self, factors: [&[Term]; 2], exponent: u32, top: usize) -> usize {
        let factors = factors.map(weighed);
        best_level(top, |level| {
            let [left, right] =
                factors.each_ref().map(|terms| self.exact_noise(terms, level) + self.model(exponent).rounding(2));
            self.capacity_at(level, left * right + self.model(exponent).relinearisation(level))
        })
    }

    /// The values that have a weight, modulo p^exponent.
    fn terms(&self, values: &[Metadata], weights: &[i64], exponent: u32) -> Vec<Term> {
        let weighed = weights.iter().enumerate().filter(|(_, weight)| **weight != 0);
        weighed.map(|(number, &weight)| (number, self.reduced(&values[number], exponent), weight)).collect()
    }

    /// The weights that bring the terms of a sum to one factor, a given one or the best, at the level
    /// of the shared value; and the others that have a weight.
    fn balanced(
        &self,
        (shared, head): (usize, &Metadata),
        terms: &[Term],
        factor: Option<u64>,
    ) -> (FactorSum, Vec<(Metadata, i64)>) {
        let (own, others): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(|(number, ..)| *number == shared);
        let own = own.iter().map(|(.., weight)| weight).sum();
        let summands: Vec<(Summand, i64)> =
            others.iter().map(|(_, ct, weight)| (self.summand(ct, head.level), *weight)).collect();
        let of_head = Summand { factor: head.factor, noise: head.noise };
        let (factor, own, weights) = weights_beside(self.modulus(head.exponent), (of_head, own), &summands, factor);
        let weighed = others.iter().zip(&weights).filter(|(_, weight)| **weight != 0);
        let (others, terms) = weighed.map(|((number, ct, _), &weight)| ((*number, weight), (*ct, weight))).unzip();
        (FactorSum { factor, own, others }, terms)
    }

    /// The noise of a factor at the level of the shared value, and how it is taken: the others are
    /// added before they are switched.
    fn sum_at(&self, (shared, head): (usize, &Metadata), terms: &[Term]) -> (Bound, FactorSum) {
        let (sum, others) = self.balanced((shared, head), terms, None);
        let top = self.params.levels().join_all(others.iter().map(|(ct, _)| ct.level));
        let raised = top.map(|level| {
            let noise = self.exact_noise(&others, level);
            self.switched(&Metadata { level, noise, ..*head }, head.level, 2).noise
        });
        (self.scaled(head, sum.own).noise + raised.unwrap_or(Bound::ZERO), sum)
    }

    /// A product with the sum on top, with the primes of both: its factor takes up the primes that it
    /// was raised by.
    fn with_on_top(&self, whole: Metadata, on_top: Vec<(Metadata, i64)>) -> Metadata {
        let mut terms = on_top;
        terms.push((whole, 1));
        let levels = terms.iter().map(|(ct, _)| ct.level);
        let level = self.params.levels().join_all(levels).expect("the product is among them");
        let t = self.modulus(whole.exponent);
        let factor = arith::mul_mod(whole.factor, self.primes_between(whole.level, level, t), t);
        Metadata { level, factor, noise: self.exact_noise(&terms, level), ..whole }
    }
}

/// The lowest of the levels 1 to `top` that keeps all but half a bit of the greatest capacity.
pub fn best_level(top: usize, capacity: impl Fn(usize) -> f64) -> usize {
    let capacities: Vec<f64> = (1..=top).map(capacity).collect();
    let best = capacities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    1 + capacities.iter().position(|&bits| bits >= best - 0.5).expect("the best level is among them")
}

/// Terms without their numbers.
fn weighed(terms: &[Term]) -> Vec<(Metadata, i64)> {
    terms.iter().map(|(_, ct, weight)| (*ct, *weight)).collect()
}
