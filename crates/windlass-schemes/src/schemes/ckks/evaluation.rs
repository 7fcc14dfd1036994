//! Paterson–Stockmeyer with a power basis of either kind, at least depth.

use std::collections::BTreeMap;

use super::polynomial::{Polynomial, PowerBasis, doublings, is_sum};
use crate::error::Result;

/// Real numbers in slots, as polynomials take them: ciphertexts of an engine, or samples of numbers
/// with their errors.
///
/// A product of two values, or of a value and a number, has to be rescaled before it is a factor.
#[doc(hidden)]
pub trait RealArithmetic {
    /// Numbers in slots.
    type Value: Clone;

    /// `a·b`.
    fn multiply(&self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value>;
    /// `a²`.
    fn square(&self, a: &Self::Value) -> Result<Self::Value>;
    /// `c·a`.
    fn multiply_number(&self, a: &Self::Value, c: f64) -> Result<Self::Value>;
    /// `constant + Σ c_k·a_k`, the a_k of one level and not products.
    fn combination(&self, terms: &[(&Self::Value, f64)], constant: f64) -> Result<Self::Value>;
    /// `k·a` for an integer, without a rescaling.
    fn times(&self, a: Self::Value, k: i64) -> Result<Self::Value>;
    /// `a + b`.
    fn add(&self, a: Self::Value, b: &Self::Value) -> Result<Self::Value>;
    /// `a − b`.
    fn sub(&self, a: Self::Value, b: &Self::Value) -> Result<Self::Value>;
    /// `a + c`.
    fn add_number(&self, a: Self::Value, c: f64) -> Result<Self::Value>;
    /// `0·a`.
    fn zero(&self, a: &Self::Value) -> Result<Self::Value>;
    /// After a product.
    fn rescale(&self, a: &Self::Value) -> Result<Self::Value>;
    /// `a` at the level that is so many rescalings below that of `like`.
    fn lowered(&self, a: &Self::Value, like: &Self::Value, rescalings: usize) -> Result<Self::Value>;
    /// `a`, which is known to be at most `bound` in absolute value in every slot.
    fn bounded(&self, a: Self::Value, bound: f64) -> Self::Value;
}

/// `p(x)` for a degree of 1 and more, of degree 2; x is in −1..1 for the Chebyshev basis.
#[doc(hidden)]
pub fn evaluated<M: RealArithmetic>(machine: &M, p: &Polynomial, x: M::Value) -> Result<M::Value> {
    Evaluation::new(machine, p, x)?.piece(p.coefficients(), p.least_depth())
}

/// An evaluation of one polynomial: the powers made so far, and copies of the babies at the levels
/// where sums take them.
struct Evaluation<'a, M: RealArithmetic> {
    machine: &'a M,
    p: &'a Polynomial,
    babies: usize,
    made: BTreeMap<usize, M::Value>,
    /// By power, and rescalings below x.
    lowered: BTreeMap<(usize, usize), M::Value>,
}

impl<'a, M: RealArithmetic> Evaluation<'a, M> {
    fn new(machine: &'a M, p: &'a Polynomial, x: M::Value) -> Result<Self> {
        let babies = p.babies();
        let mut evaluation = Self { machine, p, babies, made: BTreeMap::from([(1, x)]), lowered: BTreeMap::new() };
        for k in 2..=babies {
            evaluation.make(k)?;
        }
        let mut top = babies;
        while 2 * top <= p.degree() {
            top *= 2;
            evaluation.make(top)?;
        }
        Ok(evaluation)
    }

    /// B_k from B_{⌈k/2⌉} and B_{⌊k/2⌋}: x^{a+b} = x^a·x^b; T_{a+b} = 2·T_a·T_b − T_{a−b}.
    fn make(&mut self, k: usize) -> Result<()> {
        let (machine, a, b) = (self.machine, k.div_ceil(2), k / 2);
        let product =
            if a == b { machine.square(&self.made[&a])? } else { machine.multiply(&self.made[&a], &self.made[&b])? };
        let power = match self.p.basis() {
            PowerBasis::Monomial => product,
            PowerBasis::Chebyshev { .. } => {
                let double = machine.times(product, 2)?;
                let lower = match a - b {
                    0 => machine.add_number(double, -1.0)?,
                    difference => machine.sub(double, &self.made[&difference])?,
                };
                machine.bounded(lower, 1.0)
            }
        };
        self.made.insert(k, machine.rescale(&power)?);
        Ok(())
    }

    /// The value of a piece, of degree 2, so many rescalings below x with the one of its own: it is a
    /// sum of baby powers if their depth allows, and `q·B_m + r` for the largest power of two m
    /// otherwise, q one level higher.
    fn piece(&mut self, coefficients: &[f64], depth: usize) -> Result<M::Value> {
        let degree = coefficients.len() - 1;
        if is_sum(degree, self.babies, depth) {
            return self.sum(coefficients, depth);
        }
        let top = 1usize << degree.ilog2();
        let (quotient, remainder) = self.p.divide(coefficients, top);
        let remainder = self.piece(trimmed(&remainder), depth)?;
        let product = if quotient[1..].iter().all(|&c| c == 0.0) {
            self.machine.multiply_number(&self.made[&top], quotient[0])?
        } else {
            let quotient = self.piece(trimmed(&quotient), depth - 1)?;
            self.machine.multiply(&quotient, &self.made[&top])?
        };
        self.machine.add(product, &remainder)
    }

    /// c_0 + Σ c_k·B_k, all at one level: the lowest at which babies are, or one above the result.
    fn sum(&mut self, coefficients: &[f64], depth: usize) -> Result<M::Value> {
        let rescalings = (depth - 1).min(doublings(self.babies));
        let powers: Vec<usize> = (1..coefficients.len()).filter(|&k| coefficients[k] != 0.0).collect();
        for &k in powers.iter().chain([&1]) {
            self.lower(k, rescalings)?;
        }
        let lowered = |k: usize| &self.lowered[&(k, rescalings)];
        if powers.is_empty() {
            return self.machine.add_number(self.machine.zero(lowered(1))?, coefficients[0]);
        }
        let terms: Vec<(&M::Value, f64)> = powers.iter().map(|&k| (lowered(k), coefficients[k])).collect();
        self.machine.combination(&terms, coefficients[0])
    }

    /// Makes B_k so many rescalings below x.
    fn lower(&mut self, k: usize, rescalings: usize) -> Result<()> {
        if !self.lowered.contains_key(&(k, rescalings)) {
            let lowered = self.machine.lowered(&self.made[&k], &self.made[&1], rescalings)?;
            self.lowered.insert((k, rescalings), lowered);
        }
        Ok(())
    }
}

/// Without zeros at the end.
fn trimmed(coefficients: &[f64]) -> &[f64] {
    let last = coefficients.iter().rposition(|&c| c != 0.0).unwrap_or(0);
    &coefficients[..=last]
}
