//! The engine as an [`Evaluator`].

use std::sync::Arc;

use super::{Ciphertext, Constant, Engine, Extended, Hoisted};
use crate::error::Result;
use crate::evaluator::{Evaluator, MixedRow};
use crate::plaintext::Plaintext;
use windlass_ring::slots::SlotRing;

impl Evaluator for Engine {
    type Ciphertext = Ciphertext;
    type Constant = Constant;
    type Hoisted = Hoisted;
    type Extended = Extended;

    fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    fn prepare(&self, constant: &Plaintext) -> Result<Constant> {
        self.prepare_at(constant, self.context.top_level())
    }

    fn prepare_many(
        &self,
        count: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<Constant>> {
        self.prepare_together(count, self.context.top_level(), constant)
    }

    fn constant_bytes(&self) -> usize {
        8 * self.context.wide_basis(self.context.top_level()).len() * self.context.params().n()
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.add_or_sub(a, b, false)
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.add_or_sub(a, b, true)
    }

    fn negate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.negated(a)
    }

    fn add_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.add_or_sub_plain(a, b, false)
    }

    fn sub_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.add_or_sub_plain(a, b, true)
    }

    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.product(a, b)
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.product(a, a)
    }

    fn dot_ciphertexts(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Ciphertext> {
        self.dot_products(pairs)
    }

    fn weighted_sum(&self, terms: &[(&Ciphertext, i64)], toward: Option<&Ciphertext>) -> Result<Ciphertext> {
        self.weighted(terms, toward)
    }

    fn multiply_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        self.times_constant(a, c)
    }

    fn multiply_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.scaled(a, k)
    }

    fn divide_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.divided_by_p(a)
    }

    fn has_key(&self, t: u64) -> bool {
        self.is_identity(t) || self.keys.galois(t).is_some()
    }

    fn automorphism(&self, a: &Ciphertext, t: u64) -> Result<Ciphertext> {
        self.apply_automorphism(a, t)
    }

    fn hoist(&self, a: &Ciphertext) -> Result<Hoisted> {
        self.hoisted(a)
    }

    fn hoisted_automorphism(&self, a: &Hoisted, t: u64) -> Result<Extended> {
        self.hoisted_to_extended(a, t)
    }

    fn hoisted_sum(&self, a: &Hoisted, elements: &[u64]) -> Result<Extended> {
        self.summed_automorphisms(a, elements)
    }

    fn extend(&self, a: &Ciphertext) -> Result<Extended> {
        self.extended(a)
    }

    fn dot_constants(&self, terms: &[(&Extended, &Constant)]) -> Result<Extended> {
        let inputs: Vec<&Extended> = terms.iter().map(|(x, _)| *x).collect();
        let row = terms.iter().enumerate().map(|(j, (_, c))| (j, *c)).collect();
        Ok(self.dot_extended_rows(&inputs, &[row])?.swap_remove(0))
    }

    fn dot_constants_rows(&self, inputs: &[Extended], rows: &[Vec<(usize, &Constant)>]) -> Result<Vec<Extended>> {
        self.dot_extended_rows(&inputs.iter().collect::<Vec<_>>(), rows)
    }

    fn dot_hoisted_rows(
        &self,
        hoisted: &Hoisted,
        automorphisms: &[u64],
        rows: &[MixedRow<'_, Constant>],
    ) -> Result<Vec<Extended>> {
        if automorphisms.iter().any(|&t| self.is_identity(t)) {
            return crate::hoisting::dot_images(self, hoisted, automorphisms, rows);
        }
        self.dot_hoisted(hoisted, automorphisms, rows)
    }

    fn extended_automorphism(&self, a: &Extended, t: u64) -> Result<Extended> {
        self.automorphism_of_extended(a, t)
    }

    fn add_extended_assign(&self, a: &mut Extended, b: &Extended) -> Result<()> {
        self.add_to_extended(a, b)
    }

    fn mod_down(&self, a: Extended) -> Result<Ciphertext> {
        self.mod_down_extended(&a)
    }
}
