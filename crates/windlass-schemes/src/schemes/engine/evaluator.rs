//! The engine as an [`Evaluator`].

use std::sync::Arc;

use super::{Ciphertext, Constant, Engine};
use crate::error::{Error, Result};
use crate::evaluator::{DividedProduct, Evaluator, Subtrahend, divided_one_by_one, weighted_one_by_one};
use crate::plaintext::Plaintext;
use crate::schemes::pairs::SchemeMetadata;
use windlass_ring::slots::SlotRing;

impl Evaluator for Engine {
    fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    fn top_level(&self) -> usize {
        self.context.top_level()
    }

    fn prepare_at(&self, constant: &Plaintext, level: usize) -> Result<Constant> {
        self.prepared(constant, level)
    }

    fn prepare_many(
        &self,
        count: usize,
        level: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<Constant>> {
        self.prepared_batch(count, level, constant)
    }

    fn constant_bytes(&self, level: usize) -> usize {
        let rows = self.context.covering_basis(level.clamp(1, self.context.top_level())).len();
        8 * rows * self.context.params().n()
    }

    fn held_bytes(&self, constant: &Constant) -> usize {
        constant.bytes()
    }

    fn keeps_periodic_values(&self) -> bool {
        true
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.with_room(&[a, b], |x| self.add_or_sub(x[0], x[1], true))
    }

    fn negate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.negated(a)
    }

    fn add_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.add_or_sub_plain(x[0], b, false))
    }

    fn sub_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.add_or_sub_plain(x[0], b, true))
    }

    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.with_room(&[a, b], |x| self.product(x[0], x[1]))
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.product(x[0], x[0]))
    }

    fn multiply_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.scaled(x[0], k))
    }

    fn exponent_of(&self, a: &Ciphertext) -> u32 {
        a.exponent
    }

    fn reduce_exponent(&self, a: &Ciphertext, exponent: u32) -> Result<Ciphertext> {
        self.with_exponent(a.clone(), exponent)
    }

    fn raise_exponent(&self, a: &Ciphertext, exponent: u32) -> Result<Ciphertext> {
        self.with_raised_exponent(a.clone(), exponent)
    }

    fn declare_integers(&self, a: Ciphertext) -> Ciphertext {
        a.assume_integers()
    }

    fn multiply_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.multiplied_by_p(x[0].clone()))
    }

    fn divide_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.divided_by_p(a.clone())
    }

    fn divide_out(&self, x: &Ciphertext, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Ciphertext> {
        match self.divided_out(x, subtrahends) {
            // One by one there is room for refreshes in between.
            Err(Error::CapacityExhausted { .. }) => divided_one_by_one(self, x, subtrahends),
            result => result,
        }
    }

    fn divided_product(&self, values: &[&Ciphertext], product: &DividedProduct) -> Result<Ciphertext> {
        Self::divided_product(self, values, product)
    }

    fn dot_ciphertexts(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        let operands: Vec<&Ciphertext> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        self.with_room(&operands, |x| self.dot_products(&x.chunks_exact(2).map(|p| (p[0], p[1])).collect::<Vec<_>>()))
    }

    fn weighted_sum(&self, terms: &[(&Ciphertext, i64)], toward: Option<&Ciphertext>) -> Result<Ciphertext> {
        let operands: Vec<&Ciphertext> = terms.iter().map(|(x, _)| *x).chain(toward).collect();
        self.with_room(&operands, |x| {
            let terms: Vec<_> = x.iter().zip(terms).map(|(x, (_, weight))| (*x, *weight)).collect();
            self.weighted(&terms, toward.map(|_| x[terms.len()]))
        })
    }

    fn weighted_sums(&self, values: &[&Ciphertext], weights: &[Vec<i64>]) -> Result<Vec<Ciphertext>> {
        match self.weighted_batch(values, weights) {
            // One by one there is room for refreshes.
            Err(Error::CapacityExhausted { .. }) => weighted_one_by_one(self, values, weights),
            result => result,
        }
    }
}
