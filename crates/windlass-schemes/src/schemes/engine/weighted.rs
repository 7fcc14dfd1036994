//! Sums of ciphertexts with integer weights.
//!
//! [`NoiseRules`](super::rules::NoiseRules) says at which level the terms are added, and with which
//! weights. The weights also make up for different correction factors of the terms.

use super::rules::{Metadata, RaisedSum, WeightedSum};
use super::{Ciphertext, Engine};
use crate::error::Result;
use crate::switching::no_terms;

impl Engine {
    /// `Σ c_i·x_i (+ toward)`.
    pub(super) fn weighted(&self, terms: &[(&Ciphertext, i64)], toward: Option<&Ciphertext>) -> Result<Ciphertext> {
        let Some(&(first, _)) = terms.first() else { return Err(no_terms()) };
        terms.iter().try_for_each(|(x, _)| self.check_summands(first, x))?;
        let metadata: Vec<(Metadata, i64)> = terms.iter().map(|(x, c)| (x.metadata(), *c)).collect();
        let toward_metadata = toward.map(Ciphertext::metadata);
        let WeightedSum { weights, sum: stated } = self.rules.weighted(&metadata, toward_metadata.as_ref());
        let sum = match self.sum_of_scaled(terms, &weights, stated.level) {
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

    /// `Σ k_i·x_i` at a level, with the metadata of one term; `None` if all weights k_i are 0.
    fn sum_of_scaled(&self, terms: &[(&Ciphertext, i64)], weights: &[i64], level: usize) -> Option<Ciphertext> {
        let mut sum: Option<Ciphertext> = None;
        for (&(x, _), &k) in terms.iter().zip(weights) {
            if k == 0 {
                continue;
            }
            let parts = x.parts.iter().map(|part| part.times_scalar(|q| q.reduce_i64(k))).collect();
            let mut term = x.restated(parts, self.rules.scaled(&x.metadata(), k));
            if term.level() != level {
                term = self.switched(&term, level).into_owned();
            }
            match &mut sum {
                None => sum = Some(term),
                Some(sum) => {
                    sum.parts.iter_mut().zip(&term.parts).for_each(|(x, y)| x.add_assign(y));
                    sum.content = sum.content.max(term.content);
                }
            }
        }
        sum
    }

    /// Sums of the same values, each with the primes of all of its terms.
    pub(super) fn weighted_batch(&self, values: &[&Ciphertext], weights: &[Vec<i64>]) -> Result<Vec<Ciphertext>> {
        let &first = values.first().ok_or_else(no_terms)?;
        values.iter().try_for_each(|x| self.check_summands(first, x))?;
        weights.iter().map(|weights| self.raised_sum(values, weights)).collect()
    }

    fn raised_sum(&self, values: &[&Ciphertext], weights: &[i64]) -> Result<Ciphertext> {
        let with_weight = values.iter().zip(weights).filter(|(_, c)| **c != 0);
        let terms: Vec<(&Ciphertext, i64)> = with_weight.map(|(x, &c)| (*x, c)).collect();
        let &(first, _) = terms.first().ok_or_else(no_terms)?;
        let metadata: Vec<(Metadata, i64)> = terms.iter().map(|(x, c)| (x.metadata(), *c)).collect();
        // A weight may be zero modulo t.
        let Some(RaisedSum { weights, sum }) = self.rules.raised(&metadata) else { return self.scaled(first, 0) };
        let mut weighted = Vec::with_capacity(terms.len());
        for (&(x, _), k) in terms.iter().zip(weights) {
            if k != 0 {
                weighted.push((x, k));
            }
        }
        let content = weighted.iter().map(|(x, _)| x.content).max().unwrap_or(first.content);
        let parts = self.raised(sum.exponent, &weighted);
        let sum = Ciphertext { content, ..first.restated(parts, sum) };
        self.accept("weighted sum", self.capacity(first), sum)
    }
}
