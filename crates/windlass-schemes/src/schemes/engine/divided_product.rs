//! Products of sums that are divided by p.

use std::borrow::Cow;

use windlass_ring::kernels::arith;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Bound, check_same_keys};

use super::levels::Summand;
use super::raised::{Term, terms};
use super::weighted::weights_beside;
use super::{Ciphertext, Engine};
use crate::error::Result;
use crate::evaluator::{DividedProduct, Evaluator};
use crate::switching::no_terms;

/// The sums of a product.
struct Sums<'a> {
    left: Vec<Term<'a>>,
    right: Vec<Term<'a>>,
    rest: Vec<Term<'a>>,
    /// That of the product's plaintext modulus.
    exponent: u32,
}

impl Engine {
    /// `(Σ a_k·y_k · Σ b_k·y_k + Σ c_k·y_k)/p^divisions` with one relinearisation.
    ///
    /// The last value of the first sum is brought to the level of the product once for all sums.
    /// Other values of a factor are raised to the primes of all of them, which costs no noise,
    /// added there and brought down together. What comes on top is not brought down at all: the
    /// product is raised to it, and whatever takes the sum next brings it down once.
    pub(super) fn divided_at_once(&self, values: &[&Ciphertext], product: &DividedProduct) -> Result<Ciphertext> {
        let Sums { left, right, rest, exponent } = self.checked(values, product)?;
        let (Some(&shared), false) = (left.last(), right.is_empty()) else { return Err(no_terms()) };

        // All sums meet at the level that is best for the product.
        let top = [&left, &right, &rest].into_iter().flatten().map(|term| term.ct.level()).min();
        let factors = [&left, &right].map(|terms| self.noise_at(terms, exponent));
        let level = self.best_product_level(top.expect("there is a shared value"), exponent, factors);
        let head = match shared.ct.exponent == exponent {
            true => self.switched(shared.ct, level),
            false => Cow::Owned(self.switched(&self.reduce_exponent(shared.ct, exponent)?, level).into_owned()),
        };
        let at = Meeting { head: &head, number: shared.number, level, exponent, t: self.modulus(exponent) };

        // What the shared value adds on top has the product's level: it joins before the product is
        // relinearised.
        let mut whole = self.tensor(&self.sum_at(&at, &left), &self.sum_at(&at, &right));
        let Balanced { own, others, .. } = self.balanced(&at, &rest, Some(whole.factor));
        at.add_to(&mut whole, own);
        let before = self.capacity(shared.ct);
        let mut whole = self.accept("product", before, self.relinearise(&whole)?)?;
        if !others.is_empty() {
            whole = self.accept("product", before, self.with_on_top(&at, &whole, others))?;
        }
        (0..product.divisions).try_fold(whole, |ct, _| self.divided_by_p(ct))
    }

    /// The three sums of a product over values that fit each other, modulo the least of their
    /// plaintext moduli.
    fn checked<'a>(&self, values: &[&'a Ciphertext], product: &DividedProduct) -> Result<Sums<'a>> {
        product.check(values.len())?;
        let [left, right, rest] = [&product.factors[0], &product.factors[1], &product.rest].map(|w| terms(values, w));
        let used = || [&left, &right, &rest].into_iter().flatten().map(|term| term.ct);
        let first = used().next().ok_or_else(no_terms)?;
        for ct in used() {
            self.check("product", ct)?;
            check_same_keys("product", first.key, ct.key)?;
        }
        let exponent = used().map(|ct| ct.exponent).min().expect("there is a first");
        Ok(Sums { left, right, rest, exponent })
    }

    /// The bound of a sum's noise at a level, its own rounding included.
    fn noise_at<'a>(&'a self, terms: &'a [Term<'_>], exponent: u32) -> impl Fn(usize) -> Bound + 'a {
        move |level| self.exact_noise(terms, level) + self.noise(exponent).rounding(2)
    }

    /// The lowest level that leaves a product all but half a bit of what the best one does.
    pub(super) fn best_product_level(
        &self,
        top: usize,
        exponent: u32,
        [left, right]: [impl Fn(usize) -> Bound; 2],
    ) -> usize {
        let model = self.noise(exponent);
        let capacity = |level: usize| self.capacity_at(level, left(level) * right(level) + model.key_switch(level));
        let best = (1..=top).map(capacity).fold(f64::NEG_INFINITY, f64::max);
        (1..=top).find(|&level| capacity(level) >= best - 0.5).expect("the best level is among them")
    }

    /// The weights that bring the terms of a sum to one factor, a given one or the best.
    fn balanced<'a>(&self, at: &Meeting<'_>, terms: &[Term<'a>], factor: Option<u64>) -> Balanced<'a> {
        let (own, others): (Vec<Term<'a>>, Vec<Term<'a>>) = terms.iter().partition(|term| term.number == at.number);
        let own = own.iter().map(|term| term.weight).sum();
        let summand = |term: &Term<'_>| {
            let summand = self.summand(term.ct, at.level);
            (Summand { factor: summand.factor % at.t, ..summand }, term.weight)
        };
        let summands: Vec<(Summand, i64)> = others.iter().map(summand).collect();
        let head = Summand { factor: at.head.factor, noise: at.head.noise };
        let (factor, own, weights) = weights_beside(at.t, (head, own), &summands, factor);
        let weighed = others.into_iter().zip(weights).map(|(term, weight)| Term { weight, ..term });
        Balanced { factor, own, others: weighed.filter(|term| term.weight != 0).collect() }
    }

    /// A factor `Σ c_k·y_k` at the level where sums meet.
    fn sum_at(&self, at: &Meeting<'_>, terms: &[Term<'_>]) -> Ciphertext {
        let Balanced { factor, own, others } = self.balanced(at, terms, None);
        let mut sum = match own {
            1 => at.head.clone(),
            own => {
                let parts = at.head.parts.iter().map(|part| times(part, own)).collect();
                let noise = at.head.noise * Bound::of(own.unsigned_abs() as f64);
                Ciphertext { noise, ..at.head.with_parts(parts) }
            }
        };
        if !others.is_empty() {
            let others = self.switched(&self.raised(at.exponent, &others), at.level).into_owned();
            sum.parts.iter_mut().zip(&others.parts).for_each(|(x, y)| x.add_assign(y));
            sum.noise = sum.noise + others.noise;
            sum.content = sum.content.max(others.content);
        }
        Ciphertext { factor, ..sum }
    }

    /// A product with the sum on top, with the primes of both: its factor takes up the
    /// primes that it was raised by.
    fn with_on_top(&self, at: &Meeting<'_>, whole: &Ciphertext, on_top: Vec<Term<'_>>) -> Ciphertext {
        // No value has the product's number.
        let mut terms = vec![Term { number: usize::MAX, ct: whole, weight: 1 }];
        terms.extend(on_top);
        let raised = self.raised(at.exponent, &terms);
        let factor = arith::mul_mod(whole.factor, self.primes_between(at.level, raised.level(), at.t), at.t);
        Ciphertext { factor, ..raised }
    }
}

/// An integer times a part.
fn times(part: &Poly<Eval>, k: i64) -> Poly<Eval> {
    part.times_scalar(|q| q.reduce_i64(k))
}

/// Where the sums of a product meet.
struct Meeting<'a> {
    /// The shared value at that level.
    head: &'a Ciphertext,
    /// The number of the shared value.
    number: usize,
    level: usize,
    exponent: u32,
    /// p^exponent.
    t: u64,
}

impl Meeting<'_> {
    /// Adds the shared value, times an integer, to a product.
    fn add_to(&self, whole: &mut Ciphertext, weight: i64) {
        if weight != 0 {
            whole.parts.iter_mut().zip(&self.head.parts).for_each(|(x, y)| x.add_assign(&times(y, weight)));
            whole.noise = whole.noise + self.head.noise * Bound::of(weight.unsigned_abs() as f64);
        }
    }
}

/// A sum whose terms have one factor.
struct Balanced<'a> {
    factor: u64,
    /// The weight of the shared value.
    own: i64,
    /// The others that have a weight.
    others: Vec<Term<'a>>,
}
