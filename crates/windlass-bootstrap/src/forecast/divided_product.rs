//! The noise of products of sums that are divided by p. It follows the engine step by step.

use windlass_ring::kernels::arith;
use windlass_rlwe::{Bound, RandomEvents};
use windlass_schemes::error::Result;
use windlass_schemes::evaluator::{DividedProduct, Evaluator};
use windlass_schemes::schemes::engine::{Summand, weights_beside};
use windlass_schemes::switching::no_terms;

use super::{Expected, Forecast};

/// A value of a sum, modulo the plaintext modulus of the product.
#[derive(Clone, Copy)]
struct Term {
    /// Which of the values it is.
    number: usize,
    ct: Expected,
    weight: i64,
}

/// A sum whose terms have one factor.
struct Balanced {
    factor: u64,
    /// The weight of the value that all sums share.
    own: Bound,
    /// The others that have a weight.
    others: Vec<Term>,
}

impl Forecast {
    /// `(Σ a_k·y_k · Σ b_k·y_k + Σ c_k·y_k)/p^divisions`: the last value of the first factor is
    /// switched once, the others are added with the primes of all of them.
    pub(super) fn divided_at_once(&self, values: &[&Expected], product: &DividedProduct) -> Result<Expected> {
        product.check(values.len())?;
        let sums = [&product.factors[0], &product.factors[1], &product.rest];
        let takes = |k: usize| sums.iter().any(|weights| weights.get(k).is_some_and(|&weight| weight != 0));
        let used = || (0..values.len()).filter(|&k| takes(k)).map(|k| values[k]);
        let exponent = used().map(|x| x.exponent).min().ok_or_else(no_terms)?;
        let [left, right, rest] = sums.map(|weights| self.terms(values, weights, exponent));
        let (Some(&shared), false) = (left.last(), right.is_empty()) else { return Err(no_terms()) };
        let top = used().map(|x| x.level).min().expect("there is a shared value");
        let level = self.best_product_level(top, exponent, [&left, &right]);

        // By the other operations both factors would be switched, and every term but one of a sum.
        self.switches(left.len() + right.len() + rest.len());
        self.events.add(RandomEvents::KEY_SWITCH);
        let head = Term { ct: self.switch(&shared.ct, level), ..shared };
        let [a, b] = [&left, &right].map(|terms| self.sum_at(&head, terms));
        let factor = arith::mul_mod(a.factor, b.factor, self.modulus(exponent));
        let Balanced { own, others, .. } = self.balanced(&head, &rest, Some(factor));
        let noise = a.noise * b.noise + head.ct.noise * own + self.model(exponent).key_switch(level);
        let sum = self.with_on_top(Expected { level, exponent, factor, noise }, others);
        (0..product.divisions).try_fold(sum, |sum, _| self.divide_by_p(&sum))
    }

    /// The values that have a weight, modulo p^exponent.
    fn terms(&self, values: &[&Expected], weights: &[i64], exponent: u32) -> Vec<Term> {
        let reduced = |x: &Expected| Expected { exponent, factor: x.factor % self.modulus(exponent), ..*x };
        let weighed = weights.iter().enumerate().filter(|(_, weight)| **weight != 0);
        weighed.map(|(number, &weight)| Term { number, ct: reduced(values[number]), weight }).collect()
    }

    /// The lowest level that leaves the product of two sums all but half a bit of what the best one
    /// does.
    fn best_product_level(&self, top: usize, exponent: u32, factors: [&[Term]; 2]) -> usize {
        let model = self.model(exponent);
        let capacity = |level: usize| {
            let [a, b] = factors.map(|terms| self.exact_noise(terms, level) + model.rounding(2));
            self.capacity(&Expected { level, exponent, factor: 1, noise: a * b + model.key_switch(level) })
        };
        let best = (1..=top).map(capacity).fold(f64::NEG_INFINITY, f64::max);
        (1..=top).find(|&level| capacity(level) >= best - 0.5).expect("the best level is among them")
    }

    /// `Σ |k_j|·‖ε_j‖·Q_l/Q_j`: the noise of a sum at level l, without rounding.
    fn exact_noise(&self, terms: &[Term], level: usize) -> Bound {
        let scaled = |term: &Term| {
            let bits = self.params.log2_q(level) - self.params.log2_q(term.ct.level);
            term.ct.noise * Bound::of(term.weight.unsigned_abs() as f64) * Bound::from_bits(bits)
        };
        terms.iter().map(scaled).sum()
    }

    /// The weights that bring a sum to one factor, a given one or the best, at the level of the
    /// shared value.
    fn balanced(&self, head: &Term, terms: &[Term], factor: Option<u64>) -> Balanced {
        let (own, others): (Vec<Term>, Vec<Term>) = terms.iter().partition(|term| term.number == head.number);
        let own = own.iter().map(|term| term.weight).sum();
        let summand = |term: &Term| (self.summand(&term.ct, head.ct.level), term.weight);
        let summands: Vec<(Summand, i64)> = others.iter().map(summand).collect();
        let of_head = Summand { factor: head.ct.factor, noise: head.ct.noise };
        let (factor, own, weights) = weights_beside(self.modulus(head.ct.exponent), (of_head, own), &summands, factor);
        let weighed = others.into_iter().zip(weights).map(|(term, weight)| Term { weight, ..term });
        let others = weighed.filter(|term| term.weight != 0).collect();
        Balanced { factor, own: Bound::of(own.unsigned_abs() as f64), others }
    }

    /// A factor at the level of the shared value, the others added before they are switched.
    fn sum_at(&self, head: &Term, terms: &[Term]) -> Expected {
        let Balanced { factor, own, others } = self.balanced(head, terms, None);
        let raised = self.params.levels().join_all(others.iter().map(|term| term.ct.level)).map(|top| {
            let noise = self.exact_noise(&others, top);
            self.switch(&Expected { level: top, noise, ..head.ct }, head.ct.level).noise
        });
        Expected { factor, noise: head.ct.noise * own + raised.unwrap_or(Bound::ZERO), ..head.ct }
    }

    /// What comes on top is not brought down: the product is raised to it.
    fn with_on_top(&self, whole: Expected, on_top: Vec<Term>) -> Expected {
        // No value has the product's number.
        let mut terms = on_top;
        terms.push(Term { number: usize::MAX, ct: whole, weight: 1 });
        let levels = terms.iter().map(|term| term.ct.level);
        let level = self.params.levels().join_all(levels).expect("the product is among them");
        let t = self.modulus(whole.exponent);
        let factor = arith::mul_mod(whole.factor, self.dropped(level, whole.level, t), t);
        Expected { level, factor, noise: self.exact_noise(&terms, level), ..whole }
    }
}
