//! The engine as an [`Evaluator`].

use std::sync::Arc;

use rayon::prelude::*;

use super::{Ciphertext, Constant, Engine, Extended, Hoisted};
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::plaintext::Plaintext;
use crate::switching::{MixedRow, Switching, dot_and_add};
use windlass_ring::slots::{Hypercube, SlotRing};

impl Switching for Engine {
    type Ciphertext = Ciphertext;
    type Constant = Constant;
    type Hoisted = Hoisted;
    type Extended = Extended;

    fn conductor(&self) -> u64 {
        self.slots.m()
    }

    fn slot_order(&self) -> Option<&Arc<Hypercube>> {
        Some(self.slots.hypercube())
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.with_room(&[a, b], |x| self.add_or_sub(x[0], x[1], false))
    }

    fn zero_like(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.scaled(a, 0)
    }

    fn multiply_constant(&self, a: &Ciphertext, c: &Constant) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.times_constant(x[0], c))
    }

    fn has_key(&self, t: u64) -> bool {
        self.is_identity(t) || self.keys.galois(t).is_some()
    }

    fn automorphism(&self, a: &Ciphertext, t: u64) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.apply_automorphism(x[0], t))
    }

    fn hoist(&self, a: &Ciphertext) -> Result<Hoisted> {
        self.hoisted(a)
    }

    fn hoisted_automorphism(&self, a: &Hoisted, t: u64) -> Result<Extended> {
        self.hoisted_to_extended(a, t)
    }

    fn sum_hoisted(&self, a: &Hoisted, elements: &[u64]) -> Result<Extended> {
        self.summed_automorphisms(a, elements)
    }

    fn dot_hoisted(&self, a: &Hoisted, elements: &[u64], rows: &[MixedRow<'_, Constant>]) -> Result<Vec<Extended>> {
        if elements.iter().any(|&t| self.is_identity(t)) {
            let image = |&t: &u64| self.hoisted_to_extended(a, t);
            let images: Vec<Extended> = elements.par_iter().map(image).collect::<Result<_>>()?;
            return self.dot_extended(&images, rows);
        }
        self.dot_moved(a, elements, rows)
    }

    fn extend(&self, a: &Ciphertext) -> Result<Extended> {
        self.extended(a)
    }

    fn dot_extended(&self, inputs: &[Extended], rows: &[MixedRow<'_, Constant>]) -> Result<Vec<Extended>> {
        dot_and_add(self, inputs, rows, |rows| self.dot_rows(inputs, rows))
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

    fn run(
        &self,
        input: &Ciphertext,
        circuit: &dyn Fn(&Self, &Ciphertext) -> Result<Ciphertext>,
    ) -> Result<Ciphertext> {
        self.circuit_with_room(input, circuit)
    }
}

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
        self.prepared_together(count, level, constant)
    }

    fn constant_bytes(&self, level: usize) -> usize {
        8 * self.context.wide_basis(level).len() * self.context.params().n()
    }

    fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.with_room(&[a, b], |x| self.add_or_sub(x[0], x[1], true))
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
        self.with_room(&[a, b], |x| self.product(x[0], x[1]))
    }

    fn square(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.product(x[0], x[0]))
    }

    fn multiply_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.with_room(&[a], |x| self.scaled(x[0], k))
    }

    fn divide_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.divided_by_p(a)
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
}
