//! Products of sums that are divided by p.

use std::borrow::Cow;

use windlass_ring::kernels::arith;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Bound, check_same_keys};

use super::levels::Summand;
use super::weighted::weights_beside;
use super::{Ciphertext, Engine};
use crate::error::{Error, Result};
use crate::evaluator::{DividedProduct, Evaluator, divided_by_parts};
use crate::schemes::Scheme;
use crate::switching::no_terms;

/// A value of a sum, seen modulo a plaintext modulus that may be smaller than its own.
#[derive(Clone, Copy)]
struct Term<'a> {
    /// Which of the values it is.
    number: usize,
    ct: &'a Ciphertext,
    weight: i64,
}

impl Engine {
    /// [`Self::divided_at_once`], or by the other operations where refreshes are needed in between.
    pub(super) fn divided_product(&self, values: &[&Ciphertext], product: &DividedProduct) -> Result<Ciphertext> {
        match self.divided_at_once(values, product) {
            Err(Error::CapacityExhausted { .. }) => divided_by_parts(self, values, product),
            result => result,
        }
    }

    /// `(Σ a_k·y_k · Σ b_k·y_k + Σ c_k·y_k)/p^divisions` with one relinearisation.
    ///
    /// The last value of the first sum is brought to the level of the product once for all sums.
    /// Other values of a factor are raised to the highest of their levels, which costs no noise,
    /// added there and brought down together. What comes on top is not brought down at all: the
    /// product is raised to it, and whatever takes the sum next brings it down once.
    fn divided_at_once(&self, values: &[&Ciphertext], product: &DividedProduct) -> Result<Ciphertext> {
        product.check(values.len())?;
        let sums = [&product.factors[0], &product.factors[1], &product.rest];
        let terms = sums.map(|weights| terms(values, weights));
        let used: Vec<&Ciphertext> = terms.iter().flatten().map(|term| term.ct).collect();
        let first = *used.first().ok_or_else(no_terms)?;
        for ct in &used {
            self.check("product", ct)?;
            check_same_keys("product", first.key, ct.key)?;
        }
        let exponent = used.iter().map(|ct| ct.exponent).min().expect("there is a first");
        let [left, right, rest] = terms;
        let (Some(&head), false) = (left.last(), right.is_empty()) else { return Err(no_terms()) };

        // All sums meet at the level that is best for the product.
        let top = used.iter().map(|ct| ct.level()).min().expect("there is a first");
        let factors = [&left, &right].map(|terms| self.noise_at(terms, exponent));
        let level = self.best_product_level(top, exponent, factors);
        let head = match head.ct.exponent == exponent {
            true => self.switched(head.ct, level),
            false => Cow::Owned(self.switched(&self.reduce_exponent(head.ct, exponent)?, level).into_owned()),
        };
        let Term { ct: shared, number, .. } = *left.last().expect("it is not empty");
        let at = Meeting { head: &head, number, level, exponent, t: self.modulus(exponent) };
        let left = self.sum_at(&at, &left);
        let right = self.sum_at(&at, &right);

        let mut whole = self.tensor(&left, &right);
        let (own, others) = at.split(&rest);
        let summands: Vec<(Summand, i64)> = others.iter().map(|term| self.weighed(&at, term)).collect();
        let (_, own, weights) = weights_beside(at.t, (at.summand(), own), &summands, Some(whole.factor));
        if own != 0 {
            whole.parts.iter_mut().zip(&head.parts).for_each(|(x, y)| x.add_assign(&times(y, own)));
            whole.noise = whole.noise + head.noise * Bound::of(own.unsigned_abs() as f64);
        }
        let before = self.capacity(shared);
        let mut whole = self.accept("product", before, self.relinearise(&whole)?)?;
        let on_top = others.iter().zip(weights).map(|(term, weight)| Term { weight, ..*term });
        let on_top: Vec<Term<'_>> = on_top.filter(|term| term.weight != 0).collect();
        if !on_top.is_empty() {
            let factor = whole.factor;
            let terms: Vec<Term<'_>> =
                [Term { number: values.len(), ct: &whole, weight: 1 }].into_iter().chain(on_top).collect();
            let raised = self.raised(exponent, &terms);
            let above = (level..raised.level()).map(|i| self.context.ring().modulus(i).value() % at.t);
            let factor = above.fold(factor, |x, q| arith::mul_mod(x, q, at.t));
            whole = self.accept("product", before, Ciphertext { factor, ..raised })?;
        }
        (0..product.divisions).try_fold(whole, |ct, _| self.divided_by_p(ct))
    }

    /// The bound of a sum's noise at a level, its own rounding included.
    fn noise_at<'a>(&'a self, terms: &'a [Term<'_>], exponent: u32) -> impl Fn(usize) -> Bound + 'a {
        move |level| {
            let log2_q = |level| self.context.log2_modulus(level);
            let scaled = |term: &Term<'_>| {
                let weight = Bound::of(term.weight.unsigned_abs() as f64);
                term.ct.noise * weight * Bound::from_bits(log2_q(level) - log2_q(term.ct.level()))
            };
            let rounding = self.noise(exponent).rounding(2);
            terms.iter().map(scaled).sum::<Bound>() + rounding
        }
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

    /// What matters of a value where sums meet, and its weight.
    fn weighed(&self, at: &Meeting<'_>, term: &Term<'_>) -> (Summand, i64) {
        let summand = self.summand(term.ct, at.level);
        (Summand { factor: summand.factor % at.t, ..summand }, term.weight)
    }

    /// A factor `Σ c_k·y_k` at the level where sums meet.
    fn sum_at(&self, at: &Meeting<'_>, terms: &[Term<'_>]) -> Ciphertext {
        let (own, others) = at.split(terms);
        let summands: Vec<(Summand, i64)> = others.iter().map(|term| self.weighed(at, term)).collect();
        let (factor, own, weights) = weights_beside(at.t, (at.summand(), own), &summands, None);
        let weighed = others.iter().zip(weights).map(|(term, weight)| Term { weight, ..*term });
        let others: Vec<Term<'_>> = weighed.filter(|term| term.weight != 0).collect();

        let head = at.head;
        let mut sum = match own {
            1 => head.clone(),
            own => {
                let parts = head.parts.iter().map(|part| times(part, own)).collect();
                Ciphertext { noise: head.noise * Bound::of(own.unsigned_abs() as f64), ..head.with_parts(parts) }
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

    /// `Σ k_j·ε_j` at the highest level among the terms; its factor is for the caller to say.
    ///
    /// A term of level l enters as `Q_top/Q_l·ε`, whose rows above l are zero.
    fn raised(&self, exponent: u32, terms: &[Term<'_>]) -> Ciphertext {
        let top = terms.iter().map(|term| term.ct.level()).max().expect("there are terms");
        let wide = self.context.basis(top);
        let ring = self.context.ring();
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
        let log2_q = |level| self.context.log2_modulus(level);
        let scaled = |term: &Term<'_>| {
            let weight = Bound::of(term.weight.unsigned_abs() as f64);
            term.ct.noise * weight * Bound::from_bits(log2_q(top) - log2_q(term.ct.level()))
        };
        let noise = terms.iter().map(scaled).sum();
        let content = terms.iter().map(|term| term.ct.content).max().expect("there are terms");
        Ciphertext { exponent, noise, content, ..terms[0].ct.with_parts(vec![sum(0), sum(1)]) }
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
    fn summand(&self) -> Summand {
        Summand { factor: self.head.factor, noise: self.head.noise }
    }

    /// The weight of the shared value among the terms, and the others.
    fn split<'a>(&self, terms: &[Term<'a>]) -> (i64, Vec<Term<'a>>) {
        let (own, others): (Vec<Term<'a>>, Vec<Term<'a>>) = terms.iter().partition(|term| term.number == self.number);
        (own.iter().map(|term| term.weight).sum(), others)
    }
}

/// The values with a weight.
fn terms<'a>(values: &[&'a Ciphertext], weights: &[i64]) -> Vec<Term<'a>> {
    let weighed = values.iter().zip(weights).enumerate().filter(|(_, (_, weight))| **weight != 0);
    weighed.map(|(number, (ct, &weight))| Term { number, ct, weight }).collect()
}
