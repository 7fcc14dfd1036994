//! An engine that counts what is asked of it.

use std::sync::{Arc, Mutex};

use windlass::circuits::linear::OperationCount;
use windlass::schemes::{Ciphertext, Engine};
use windlass::switching::{Arithmetic, MixedRow, Switching};
use windlass::{Content, Evaluator, Plaintext, Result};
use windlass_ring::slots::{Hypercube, SlotRing};

/// The engine, and how often it did each operation; keys are not counted.
pub struct Counted<'a> {
    engine: &'a Engine,
    done: Mutex<OperationCount>,
    lists: Mutex<usize>,
}

impl<'a> Counted<'a> {
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine, done: Mutex::default(), lists: Mutex::default() }
    }

    pub fn count(&self) -> OperationCount {
        *self.done.lock().unwrap()
    }

    /// How often several ciphertexts were handed over at once.
    pub fn lists(&self) -> usize {
        *self.lists.lock().unwrap()
    }

    fn of_list(&self, length: usize) {
        *self.lists.lock().unwrap() += usize::from(length > 1);
    }

    fn add_up(&self, add: impl FnOnce(&mut OperationCount)) -> &'a Engine {
        add(&mut self.done.lock().unwrap());
        self.engine
    }
}

/// Products in rows; 1 needs none.
fn products<C>(rows: &[MixedRow<'_, C>]) -> usize {
    rows.iter().flatten().filter(|(_, constant)| constant.is_some()).count()
}

impl Arithmetic for Counted<'_> {
    type Ciphertext = Ciphertext;
    type Constant = <Engine as Arithmetic>::Constant;

    fn conductor(&self) -> u64 {
        self.engine.conductor()
    }

    fn slot_order(&self) -> Option<&Arc<Hypercube>> {
        self.engine.slot_order()
    }

    fn level_of(&self, a: &Ciphertext) -> usize {
        self.engine.level_of(a)
    }

    fn check_input(&self, operation: &'static str, a: &Ciphertext) -> Result<()> {
        self.engine.check_input(operation, a)
    }

    fn content(&self, a: &Ciphertext) -> Content {
        self.engine.content(a)
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.engine.add(a, b)
    }

    fn zero_like(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.engine.zero_like(a)
    }

    fn multiply_constant(&self, a: &Ciphertext, c: &Self::Constant) -> Result<Ciphertext> {
        let engine = self.add_up(|done| {
            done.constant_products += 1;
            done.base_q_products += 1;
        });
        engine.multiply_constant(a, c)
    }
}

impl Switching for Counted<'_> {
    type Hoisted = <Engine as Switching>::Hoisted;
    type Extended = <Engine as Switching>::Extended;

    fn has_key(&self, t: u64) -> bool {
        self.engine.has_key(t)
    }

    fn automorphism(&self, a: &Ciphertext, t: u64) -> Result<Ciphertext> {
        self.add_up(|done| done.automorphisms += 1).automorphism(a, t)
    }

    fn hoist(&self, a: &Ciphertext) -> Result<Self::Hoisted> {
        self.add_up(|done| done.hoists += 1).hoist(a)
    }

    fn extend(&self, a: &Ciphertext) -> Result<Self::Extended> {
        self.engine.extend(a)
    }

    fn dot_extended(
        &self,
        inputs: &[&Self::Extended],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Self::Extended>> {
        self.add_up(|done| done.constant_products += products(rows)).dot_extended(inputs, rows)
    }

    fn hoisted_automorphisms(&self, list: &[Self::Hoisted], t: u64) -> Result<Vec<Self::Extended>> {
        self.of_list(list.len());
        self.add_up(|done| done.hoisted_automorphisms += list.len()).hoisted_automorphisms(list, t)
    }

    fn dots_hoisted(
        &self,
        list: &[Self::Hoisted],
        elements: &[u64],
        rows: &[MixedRow<'_, Self::Constant>],
    ) -> Result<Vec<Vec<Self::Extended>>> {
        self.of_list(list.len());
        let engine = self.add_up(|done| {
            done.hoisted_automorphisms += list.len() * elements.len();
            done.constant_products += list.len() * products(rows);
        });
        engine.dots_hoisted(list, elements, rows)
    }

    fn extended_automorphisms(&self, list: &[&Self::Extended], t: u64) -> Result<Vec<Self::Extended>> {
        self.of_list(list.len());
        self.add_up(|done| done.extended_automorphisms += list.len()).extended_automorphisms(list, t)
    }

    fn add_extended_assign(&self, a: &mut Self::Extended, b: &Self::Extended) -> Result<()> {
        self.engine.add_extended_assign(a, b)
    }

    fn mod_down(&self, a: Self::Extended) -> Result<Ciphertext> {
        self.add_up(|done| done.mod_downs += 1).mod_down(a)
    }
}

impl Evaluator for Counted<'_> {
    fn slot_ring(&self) -> &Arc<SlotRing> {
        self.engine.slot_ring()
    }

    fn top_level(&self) -> usize {
        self.engine.top_level()
    }

    fn prepare_at(&self, constant: &Plaintext, level: usize) -> Result<Self::Constant> {
        self.engine.prepare_at(constant, level)
    }

    fn constant_bytes(&self, level: usize) -> usize {
        self.engine.constant_bytes(level)
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

    fn multiply_scalar(&self, a: &Ciphertext, k: i64) -> Result<Ciphertext> {
        self.engine.multiply_scalar(a, k)
    }

    fn exponent_of(&self, a: &Ciphertext) -> u32 {
        self.engine.exponent_of(a)
    }

    fn reduce_exponent(&self, a: &Ciphertext, exponent: u32) -> Result<Ciphertext> {
        self.engine.reduce_exponent(a, exponent)
    }

    fn raise_exponent(&self, a: &Ciphertext, exponent: u32) -> Result<Ciphertext> {
        self.engine.raise_exponent(a, exponent)
    }

    fn declare_integers(&self, a: Ciphertext) -> Ciphertext {
        self.engine.declare_integers(a)
    }

    fn multiply_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.engine.multiply_by_p(a)
    }

    fn divide_by_p(&self, a: &Ciphertext) -> Result<Ciphertext> {
        self.engine.divide_by_p(a)
    }
}
