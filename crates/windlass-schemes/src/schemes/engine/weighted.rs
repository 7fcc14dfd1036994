//! Sums of ciphertexts with integer weights.
//!
//! [`NoiseRules`](super::rules::NoiseRules) says at which level terms meet and with which weights,
//! which make up for what their factors differ by.

use super::rules::{Metadata, RaisedSum, WeightedSum};
use super::{Ciphertext, Engine};
use crate::error::Result;
use crate::switching::no_terms;

impl Engine {
    /// `Σ c_i·x_i (+ toward)`.
    pub(super) fn weighted(&self, terms: &[(&Ciphertext, i64)], toward: Option<&Ciphertext>) -> Result<Ciphertext> {
        let Some(&(first, _)) = terms.first() else { return Err(no_terms()) };
        terms.iter().try_for_each(|(x, _)| self.check_summands(first, x))?;
        let stated: Vec<(Metadata, i64)> = terms.iter().map(|(x, c)| (x.metadata(), *c)).collect();
        let toward_stated = toward.map(Ciphertext::metadata);
        let WeightedSum { weights, sum: stated } = self.rules.weighted(&stated, toward_stated.as_ref());
        let mut sum: Option<Ciphertext> = None;
        for ((x, _), k) in terms.iter().zip(weights).filter(|(_, k)| *k != 0) {
            let parts = x.parts.iter().map(|part| part.times_scalar(|q| q.reduce_i64(k))).collect();
            let scaled = x.restated(parts, self.rules.scaled(&x.metadata(), k));
            let term =
                if scaled.level() == stated.level { scaled } else { self.switched(&scaled, stated.level).into_owned() };
            match &mut sum {
                None => sum = Some(term),
                Some(sum) => {
                    sum.parts.iter_mut().zip(&term.parts).for_each(|(x, y)| x.add_assign(y));
                    sum.content = sum.content.max(term.content);
                }
            }
        }
        let sum = match sum {
            Some(sum) => {
                let sum = Ciphertext { factor: stated.factor, noise: stated.noise, ..sum };
                self.accept("weighted sum", self.capacity(first), sum)?
            }
            None => self.scaled(first, 0)?,
        };
        match toward {
            Some(base) => self.add_or_sub(base, &sum, false),
            None => Ok(sum),
        }
    }

    /// Sums of the same values, each with the primes of all of its terms.
    pub(super) fn weighted_batch(&self, values: &[&Ciphertext], weights: &[Vec<i64>]) -> Result<Vec<Ciphertext>> {
        let &first = values.first().ok_or_else(no_terms)?;
        values.iter().try_for_each(|x| self.check_summands(first, x))?;
        weights.iter().map(|weights| self.raised_sum(values, weights)).collect()
    }

    fn raised_sum(&self, values: &[&Ciphertext], weights: &[i64]) -> Result<Ciphertext> {
        let weighed = values.iter().zip(weights).filter(|(_, c)| **c != 0);
        let terms: Vec<(&Ciphertext, i64)> = weighed.map(|(x, &c)| (*x, c)).collect();
        let &(first, _) = terms.first().ok_or_else(no_terms)?;
        let stated: Vec<(Metadata, i64)> = terms.iter().map(|(x, c)| (x.metadata(), *c)).collect();
        // A weight may be zero modulo t.
        let Some(RaisedSum { weights, sum }) = self.rules.raised(&stated) else { return self.scaled(first, 0) };
        let weighed = terms.iter().zip(weights).map(|(&(x, _), k)| (x, k));
        let weighed: Vec<(&Ciphertext, i64)> = weighed.filter(|(_, k)| *k != 0).collect();
        let content = weighed.iter().map(|(x, _)| x.content).max().unwrap_or(first.content);
        let parts = self.raised(sum.exponent, &weighed);
        let sum = Ciphertext { content, ..first.restated(parts, sum) };
        self.accept("weighted sum", self.capacity(first), sum)
    }
}
