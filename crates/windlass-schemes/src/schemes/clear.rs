//! An exact mock of a scheme, without encryption.
//!
//! Circuits run on it at full size before they run on ciphertexts. It counts operations, so that
//! tests can compare a plan with its forecast. It can be given a set of keys; then a missing key is
//! an error here too.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use windlass_ring::RingError;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::Limits;

use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::plaintext::{Content, Plaintext};
use crate::switching::{Arithmetic, MixedRow, Switching, check_rows, no_terms};

/// The mock scheme over one plaintext ring.
#[derive(Debug)]
pub struct Clear {
    slot_ring: Arc<SlotRing>,
    keys: Option<BTreeSet<u64>>,
    relinearisation: bool,
    counters: Counters,
}

/// What would be a ciphertext: the plaintext itself, known modulo `p^exponent`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClearCiphertext {
    /// Canonical modulo p^exponent, in the ring modulo p^r.
    plaintext: Plaintext,
    exponent: u32,
}

#[derive(Debug, Default)]
struct Counters {
    products: AtomicUsize,
    constant_products: AtomicUsize,
    automorphisms: AtomicUsize,
    hoists: AtomicUsize,
    hoisted_automorphisms: AtomicUsize,
    extended_automorphisms: AtomicUsize,
    mod_downs: AtomicUsize,
}

/// How often a [`Clear`] has done each operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClearCounts {
    /// Products and squares of ciphertexts.
    pub products: usize,
    /// Products with prepared constants.
    pub constant_products: usize,
    /// Plain automorphisms, the identity left out.
    pub automorphisms: usize,
    /// Decompose-and-extend of ciphertexts.
    pub hoists: usize,
    /// Automorphisms of hoisted ciphertexts, the identity left out.
    pub hoisted_automorphisms: usize,
    /// Giant steps, the identity left out.
    pub extended_automorphisms: usize,
    /// Mod-downs.
    pub mod_downs: usize,
}

fn count(counter: &AtomicUsize, by: usize) {
    counter.fetch_add(by, Ordering::Relaxed);
}

impl ClearCiphertext {
    /// The content, in the ring modulo `p^exponent`.
    pub fn plaintext(&self) -> Plaintext {
        self.plaintext.lowered(self.exponent)
    }

    /// What its slots are known to hold: what the operations on ciphertexts can tell, not what the
    /// mock could see.
    pub fn content(&self) -> Content {
        self.plaintext.content()
    }

    /// As [`crate::schemes::Ciphertext::assume_integers`].
    pub fn assume_integers(self) -> Self {
        self.declared(Content::Integers)
    }

    /// The same element with a content that is known otherwise.
    #[doc(hidden)]
    pub fn declared(self, content: Content) -> Self {
        Self { plaintext: self.plaintext.declared(content), ..self }
    }

    /// The exponent of the plaintext modulus: r, less one for each division by p.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }
}

impl Clear {
    /// A mock that has every key.
    pub fn new(slot_ring: &Arc<SlotRing>) -> Self {
        Self { slot_ring: Arc::clone(slot_ring), keys: None, relinearisation: true, counters: Counters::default() }
    }

    /// A mock that has keys for only these automorphisms.
    pub fn with_keys(slot_ring: &Arc<SlotRing>, keys: impl IntoIterator<Item = u64>) -> Self {
        Self { keys: Some(keys.into_iter().collect()), ..Self::new(slot_ring) }
    }

    /// The same mock without a relinearisation key: products of ciphertexts are refused.
    pub fn without_relinearisation(self) -> Self {
        Self { relinearisation: false, ..self }
    }

    /// Whether products of ciphertexts can be made.
    pub fn has_relinearisation_key(&self) -> bool {
        self.relinearisation
    }

    /// Wraps a plaintext.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`].
    pub fn encrypt(&self, plaintext: &Plaintext) -> Result<ClearCiphertext> {
        plaintext.check_ring(&self.slot_ring, "encryption")?;
        Ok(ClearCiphertext { plaintext: plaintext.clone(), exponent: self.slot_ring.modulus().exponent() })
    }

    /// Unwraps a ciphertext: an element of the ring modulo `p^exponent`.
    pub fn decrypt(&self, ciphertext: &ClearCiphertext) -> Plaintext {
        ciphertext.plaintext()
    }

    /// The operations done so far.
    pub fn counts(&self) -> ClearCounts {
        let read = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        ClearCounts {
            products: read(&self.counters.products),
            constant_products: read(&self.counters.constant_products),
            automorphisms: read(&self.counters.automorphisms),
            hoists: read(&self.counters.hoists),
            hoisted_automorphisms: read(&self.counters.hoisted_automorphisms),
            extended_automorphisms: read(&self.counters.extended_automorphisms),
            mod_downs: read(&self.counters.mod_downs),
        }
    }

    fn check(&self, operation: &'static str, a: &ClearCiphertext) -> Result<()> {
        a.plaintext.check_ring(&self.slot_ring, operation)
    }

    /// The plaintext, brought to its canonical form modulo `p^exponent`.
    fn wrap(&self, plaintext: Plaintext, exponent: u32) -> Result<ClearCiphertext> {
        let modulus = self.slot_ring.modulus();
        if exponent == modulus.exponent() {
            return Ok(ClearCiphertext { plaintext, exponent });
        }
        let smaller = modulus.with_exponent(exponent)?;
        let content = plaintext.content();
        let coefficients = plaintext.into_coefficients().into_iter().map(|c| smaller.reduce(c)).collect();
        Ok(ClearCiphertext { plaintext: Plaintext::new(&self.slot_ring, coefficients)?.declared(content), exponent })
    }

    fn combine(
        &self,
        a: &ClearCiphertext,
        b: &ClearCiphertext,
        name: &'static str,
        operation: impl Fn(&Plaintext, &Plaintext) -> Result<Plaintext>,
    ) -> Result<ClearCiphertext> {
        self.check(name, a)?;
        if a.exponent != b.exponent {
            let describe = |x: &ClearCiphertext| format!("plaintext modulus {}^{}", self.slot_ring.prime(), x.exponent);
            return Err(Error::ContextMismatch { operation: name, left: describe(a), right: describe(b) });
        }
        self.wrap(operation(&a.plaintext, &b.plaintext)?, a.exponent)
    }

    fn moved(&self, a: &ClearCiphertext, t: u64, counter: &AtomicUsize) -> Result<ClearCiphertext> {
        self.check("automorphism", a)?;
        let m = self.slot_ring.m();
        if self.slot_ring.hypercube().locate(t).is_none() {
            return Err(RingError::NotAnAutomorphism { element: t, m }.into());
        }
        if !self.has_key(t) {
            return Err(Error::MissingGaloisKey { element: t % m, make_with: "Clear::with_keys".to_owned() });
        }
        if t % m != 1 {
            count(counter, 1);
        }
        self.wrap(a.plaintext.automorphism(t % m)?, a.exponent)
    }
}

impl Arithmetic for Clear {
    type Ciphertext = ClearCiphertext;
    type Constant = Plaintext;

    fn conductor(&self) -> u64 {
        self.slot_ring.m()
    }

    fn slot_order(&self) -> Option<&Arc<Hypercube>> {
        Some(self.slot_ring.hypercube())
    }

    fn check_input(&self, operation: &'static str, a: &ClearCiphertext) -> Result<()> {
        self.check(operation, a)
    }

    fn content(&self, a: &ClearCiphertext) -> Content {
        a.content()
    }

    fn add(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.combine(a, b, "add", Plaintext::add)
    }

    fn zero_like(&self, a: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.multiply_scalar(a, 0)
    }

    fn multiply_constant(&self, a: &ClearCiphertext, c: &Plaintext) -> Result<ClearCiphertext> {
        self.check("multiply by a constant", a)?;
        count(&self.counters.constant_products, 1);
        self.wrap(a.plaintext.multiply(c)?, a.exponent)
    }
}

impl Switching for Clear {
    type Hoisted = ClearCiphertext;
    type Extended = ClearCiphertext;

    fn has_key(&self, t: u64) -> bool {
        let t = t % self.slot_ring.m();
        t == 1 || self.keys.as_ref().is_none_or(|keys| keys.contains(&t))
    }

    fn automorphism(&self, a: &ClearCiphertext, t: u64) -> Result<ClearCiphertext> {
        self.moved(a, t, &self.counters.automorphisms)
    }

    fn hoist(&self, a: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.check("hoist", a)?;
        count(&self.counters.hoists, 1);
        Ok(a.clone())
    }

    fn hoisted_automorphisms(&self, list: &[ClearCiphertext], t: u64) -> Result<Vec<ClearCiphertext>> {
        list.iter().map(|a| self.moved(a, t, &self.counters.hoisted_automorphisms)).collect()
    }

    fn extend(&self, a: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.check("extend", a)?;
        Ok(a.clone())
    }

    fn dot_extended(
        &self,
        inputs: &[&ClearCiphertext],
        rows: &[MixedRow<'_, Plaintext>],
    ) -> Result<Vec<ClearCiphertext>> {
        inputs.iter().try_for_each(|x| self.check("sum of products", x))?;
        check_rows(inputs.len(), rows)?;
        let term = |&(j, constant): &(usize, Option<&Plaintext>)| match constant {
            Some(constant) => self.multiply_constant(inputs[j], constant),
            None => Ok(inputs[j].clone()),
        };
        let sum = |row: &MixedRow<'_, Plaintext>| {
            let (first, rest) = row.split_first().ok_or_else(no_terms)?;
            rest.iter().try_fold(term(first)?, |sum, next| self.add(&sum, &term(next)?))
        };
        rows.par_iter().map(sum).collect()
    }

    fn extended_automorphisms(&self, list: &[&ClearCiphertext], t: u64) -> Result<Vec<ClearCiphertext>> {
        list.iter().map(|a| self.moved(a, t, &self.counters.extended_automorphisms)).collect()
    }

    fn add_extended_assign(&self, a: &mut ClearCiphertext, b: &ClearCiphertext) -> Result<()> {
        *a = self.add(a, b)?;
        Ok(())
    }

    fn mod_down(&self, a: ClearCiphertext) -> Result<ClearCiphertext> {
        self.check("mod-down", &a)?;
        count(&self.counters.mod_downs, 1);
        Ok(a)
    }
}

impl Evaluator for Clear {
    fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.slot_ring
    }

    fn top_level(&self) -> usize {
        1
    }

    fn prepare_at(&self, constant: &Plaintext, _: usize) -> Result<Plaintext> {
        constant.check_ring(&self.slot_ring, "constant")?;
        Ok(constant.clone())
    }

    fn constant_bytes(&self, _: usize) -> usize {
        8 * self.slot_ring.n()
    }

    fn sub(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.combine(a, b, "subtract", Plaintext::sub)
    }

    fn negate(&self, a: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.wrap(Plaintext::zero(&self.slot_ring).sub(&a.plaintext)?, a.exponent)
    }

    fn add_plain(&self, a: &ClearCiphertext, b: &Plaintext) -> Result<ClearCiphertext> {
        self.check("add plaintext", a)?;
        self.wrap(a.plaintext.add(b)?, a.exponent)
    }

    fn sub_plain(&self, a: &ClearCiphertext, b: &Plaintext) -> Result<ClearCiphertext> {
        self.check("add plaintext", a)?;
        self.wrap(a.plaintext.sub(b)?, a.exponent)
    }

    fn multiply(&self, a: &ClearCiphertext, b: &ClearCiphertext) -> Result<ClearCiphertext> {
        if !self.relinearisation {
            return Err(Error::MissingRelinearisationKey);
        }
        count(&self.counters.products, 1);
        self.combine(a, b, "multiply", Plaintext::multiply)
    }

    fn multiply_scalar(&self, a: &ClearCiphertext, k: i64) -> Result<ClearCiphertext> {
        self.check("multiply by a scalar", a)?;
        let quotient = self.slot_ring.quotient();
        let scaled = quotient.mul_scalar(a.plaintext.coefficients(), quotient.modulus().reduce_i64(k));
        self.wrap(Plaintext::new(&self.slot_ring, scaled)?.declared(a.content()), a.exponent)
    }

    fn exponent_of(&self, a: &ClearCiphertext) -> u32 {
        a.exponent
    }

    fn reduce_exponent(&self, a: &ClearCiphertext, exponent: u32) -> Result<ClearCiphertext> {
        self.check("reduce the plaintext modulus", a)?;
        Limits::between(1, a.exponent).check("the exponent of a smaller plaintext modulus", exponent)?;
        self.wrap(a.plaintext.clone(), exponent)
    }

    /// What stands above is drawn by the coefficients themselves: the same for the same element, and
    /// no integer in any slot of degree above 1.
    fn raise_exponent(&self, a: &ClearCiphertext, exponent: u32) -> Result<ClearCiphertext> {
        self.check("raise the plaintext modulus", a)?;
        let modulus = self.slot_ring.modulus();
        let limits = Limits::between(a.exponent, modulus.exponent());
        limits.check("the exponent of a larger plaintext modulus", exponent)?;
        if exponent == a.exponent {
            return Ok(a.clone());
        }
        let (known, mut state) = (self.slot_ring.prime().pow(a.exponent), 1u64);
        let raised = |&c: &u64| {
            state = (state ^ c).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            modulus.add(c, modulus.mul(modulus.reduce(known), modulus.reduce(state >> 20)))
        };
        let coefficients = a.plaintext.coefficients().iter().map(raised).collect();
        self.wrap(Plaintext::new(&self.slot_ring, coefficients)?, exponent)
    }

    fn declare_integers(&self, a: ClearCiphertext) -> ClearCiphertext {
        a.assume_integers()
    }

    fn multiply_by_p(&self, a: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.check("multiply by p", a)?;
        let most = self.slot_ring.modulus().exponent();
        Limits::at_most(most).check("the exponent of the plaintext modulus", a.exponent + 1)?;
        let lifted = ClearCiphertext { plaintext: a.plaintext.clone(), exponent: a.exponent + 1 };
        self.multiply_scalar(&lifted, self.slot_ring.prime() as i64)
    }

    fn divide_by_p(&self, a: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.check("divide by p", a)?;
        let prime = self.slot_ring.prime();
        let coefficients = a.plaintext.coefficients();
        if a.exponent == 1 || coefficients.iter().any(|c| c % prime != 0) {
            return Err(Error::NotDivisible { prime, exponent: a.exponent });
        }
        let quotient = coefficients.iter().map(|c| c / prime).collect();
        let plaintext = Plaintext::new(&self.slot_ring, quotient)?.declared(a.content());
        Ok(ClearCiphertext { plaintext, exponent: a.exponent - 1 })
    }
}
