//! An engine whose constants are prepared for lower levels than the top.

use std::sync::Arc;

use windlass_ring::slots::SlotRing;

use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::plaintext::Plaintext;
use crate::schemes::engine::{Extended, Hoisted};
use crate::schemes::{Ciphertext, Constant, Engine};

/// `engine` with [`Evaluator::prepare`] for levels up to `level` only: a constant's size is proportional to it.
#[derive(Debug, Clone)]
pub(crate) struct Levelled {
    pub engine: Engine,
    pub level: usize,
}

impl Evaluator for Levelled {
    type Ciphertext = Ciphertext;
    type Constant = Constant;
    type Hoisted = Hoisted;
    type Extended = Extended;

    fn slots(&self) -> &Arc<SlotRing> {
        self.engine.slots()
    }

    fn prepare(&self, constant: &Plaintext) -> Result<Constant> {
        self.engine.prepare_at(constant, self.level)
    }

    fn prepare_many(
        &self,
        count: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<Constant>> {
        self.engine.prepare_together(count, self.level, constant)
    }

    fn constant_bytes(&self) -> usize {
        let context = self.engine.context();
        8 * context.wide_basis(self.level).len() * context.params().n()
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.engine.add(a, b)
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.engine.sub(a, b)
    }

    fn negate(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.engine.negate(a)
    }

    fn add_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.engine.add_plain(a, b)
    }

    fn sub_plain(&self, a: &Ciphertext, b: &Plaintext) -> Result<Ciphertext> {
        self.engine.sub_plain(a, b)
    }

    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.engine.multiply(a, b)
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.engine.square(a)
    }

    fn weighted_sum(&self, terms: &[(&Ciphertext, i64)], toward: Option<&Ciphertext>) -> Result<Ciphertext> {
        Evaluator::weighted_sum(&self.engine, terms, toward)
    }

    fn multiply_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        self.engine.multiply_constant(a, c)
    }

    fn multiply_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.engine.multiply_scalar(a, k)
    }

    fn divide_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.engine.divide_by_p(a)
    }

    fn has_key(&self, t: u64) -> bool {
        self.engine.has_key(t)
    }

    fn automorphism(&self, a: &Ciphertext, t: u64) -> Result<Ciphertext> {
        self.engine.automorphism(a, t)
    }

    fn hoist(&self, a: &Ciphertext) -> Result<Hoisted> {
        self.engine.hoist(a)
    }

    fn hoisted_automorphism(&self, a: &Hoisted, t: u64) -> Result<Extended> {
        self.engine.hoisted_automorphism(a, t)
    }

    fn hoisted_sum(&self, a: &Hoisted, elements: &[u64]) -> Result<Extended> {
        self.engine.hoisted_sum(a, elements)
    }

    fn extend(&self, a: &Ciphertext) -> Result<Extended> {
        self.engine.extend(a)
    }

    fn dot_constants(&self, terms: &[(&Extended, &Constant)]) -> Result<Extended> {
        self.engine.dot_constants(terms)
    }

    fn dot_hoisted_rows(
        &self,
        hoisted: &Hoisted,
        automorphisms: &[u64],
        rows: &[Vec<(usize, Option<&Constant>)>],
    ) -> Result<Vec<Extended>> {
        Evaluator::dot_hoisted_rows(&self.engine, hoisted, automorphisms, rows)
    }

    fn dot_constants_rows(&self, inputs: &[Extended], rows: &[Vec<(usize, &Constant)>]) -> Result<Vec<Extended>> {
        self.engine.dot_constants_rows(inputs, rows)
    }

    fn extended_automorphism(&self, a: &Extended, t: u64) -> Result<Extended> {
        self.engine.extended_automorphism(a, t)
    }

    fn add_extended_assign(&self, a: &mut Extended, b: &Extended) -> Result<()> {
        self.engine.add_extended_assign(a, b)
    }

    fn mod_down(&self, a: Extended) -> Result<Ciphertext> {
        self.engine.mod_down(a)
    }
}
