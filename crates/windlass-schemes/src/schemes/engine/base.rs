//! What an engine consists of, and how it is made.

use std::sync::Arc;

use windlass_ring::Values;
use windlass_rlwe::{Bound, Context, EvaluationKeys, EventCounter, NoiseModel, RandomEvents};

use super::ciphertext::Ciphertext;
use super::rules::NoiseRules;
use crate::error::{Error, Result};
use crate::plaintext::{Content, Plaintext};
use crate::schemes::Scheme;
use crate::schemes::depth::products_left;
use crate::schemes::refresh::Refresher;
use windlass_ring::slots::{Hypercube, PrimePower, SlotRing};

/// What the centred lift of residues needs: it is exact up to (1/2 − 2^{−30})·Q.
#[doc(hidden)]
pub const MARGIN_BITS: f64 = 1e-8;

/// Homomorphic evaluation with a set of evaluation keys.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) context: Arc<Context>,
    pub(super) slot_ring: Arc<SlotRing>,
    pub(super) scheme: Scheme,
    pub(super) rules: Arc<NoiseRules>,
    pub(super) keys: Arc<EvaluationKeys>,
    pub(super) refresher: Option<Refresher<Ciphertext>>,
    pub(super) events: Arc<EventCounter>,
    /// The highest level of ciphertexts.
    pub(super) top: usize,
}

/// A plaintext modulo p^exponent prepared for multiplication: its values over the primes of all
/// levels that it serves and of P, and a close bound on the canonical norm of its centred lift.
#[derive(Debug, Clone)]
pub struct Constant {
    pub(crate) values: Values,
    /// The highest level that it serves.
    pub(crate) level: usize,
    /// The order of the slots.
    pub(crate) hypercube: Arc<Hypercube>,
    pub(crate) modulus: PrimePower,
    pub(crate) norm: Bound,
    pub(crate) content: Content,
}

impl Constant {
    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.values.bytes()
    }

    /// Its values over the primes of all levels that it serves and of P.
    #[doc(hidden)]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The bound on the canonical norm of its centred lift.
    #[doc(hidden)]
    pub fn norm(&self) -> Bound {
        self.norm
    }

    /// What its slots hold.
    #[doc(hidden)]
    pub fn content(&self) -> Content {
        self.content
    }
}

impl Engine {
    /// An evaluator over `keys`, for plaintexts of `slot_ring`.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] when the plaintext ring has another m than the keys;
    /// [`Error::OutOfRange`] when p is a prime of the modulus chain.
    pub fn new(scheme: Scheme, slot_ring: &Arc<SlotRing>, keys: Arc<EvaluationKeys>) -> Result<Self> {
        let context = Arc::clone(keys.context());
        if slot_ring.m() != context.params().m() {
            return Err(Error::ContextMismatch {
                operation: "engine",
                left: format!("keys for m = {}", context.params().m()),
                right: format!("slots for m = {}", slot_ring.m()),
            });
        }
        context.params().check_plaintext_prime(slot_ring.prime())?;
        let rules = Arc::new(NoiseRules::new(context.params(), slot_ring.prime(), slot_ring.modulus().exponent()));
        let (slot_ring, events) = (Arc::clone(slot_ring), Arc::default());
        let top = context.top_level();
        Ok(Self { context, slot_ring, scheme, rules, keys, refresher: None, events, top })
    }

    /// The same engine for ciphertexts up to a level: the levels above are those of a refresh. Constants are
    /// prepared for these levels alone.
    #[doc(hidden)]
    pub fn below(self, top: usize) -> Self {
        Self { top, ..self }
    }

    /// The context of keys and ciphertexts.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The evaluation keys.
    pub fn keys(&self) -> &Arc<EvaluationKeys> {
        &self.keys
    }

    /// The noise model for plaintext modulus p^exponent, 1 ≤ exponent ≤ r.
    pub fn noise(&self, exponent: u32) -> &NoiseModel {
        self.rules.model(exponent)
    }

    /// The random events of everything that this engine and its clones have done, operations done
    /// in vain among them: the bounds of all results hold, except with the probability of
    /// [`RandomEvents::union_bound`].
    pub fn random_events(&self) -> RandomEvents {
        self.events.events()
    }

    /// Counts random events of what runs on this engine without being one of its operations.
    #[doc(hidden)]
    pub fn count_events(&self, events: RandomEvents) {
        self.events.add(events);
    }

    /// The same keys and the same count of random events for the other scheme, without refreshes.
    #[doc(hidden)]
    pub fn to_scheme(&self, scheme: Scheme) -> Self {
        Self { scheme, refresher: None, ..self.clone() }
    }

    /// BGV or BFV.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// p^exponent.
    #[doc(hidden)]
    pub fn modulus(&self, exponent: u32) -> u64 {
        self.rules.modulus(exponent)
    }

    /// By what a phase is a multiple of the scheme-free phase: t for BGV, 1 for BFV.
    pub(crate) fn multiplier(&self, exponent: u32) -> u64 {
        match self.scheme {
            Scheme::Bgv => self.modulus(exponent),
            Scheme::Bfv => 1,
        }
    }

    /// The bits of capacity left: log2 of how much ε may still grow before decryption could fail.
    /// Negative when it may fail now.
    pub fn capacity(&self, ct: &Ciphertext) -> f64 {
        self.capacity_at(ct.level(), ct.noise)
    }

    /// How many products in sequence the noise bound of a ciphertext still allows, each of two
    /// factors with the same noise.
    pub fn depth_left(&self, ct: &Ciphertext) -> u32 {
        let (params, noise) = (self.context.params(), self.noise(ct.exponent));
        products_left(params, noise, (ct.level(), ct.noise), MARGIN_BITS)
    }

    /// The capacity of a noise bound at a level (it does not depend on the plaintext modulus).
    pub(crate) fn capacity_at(&self, level: usize, noise: Bound) -> f64 {
        self.rules.capacity_at(level, noise)
    }

    pub(crate) fn check(&self, operation: &'static str, ct: &Ciphertext) -> Result<()> {
        ct.check(operation, &self.context, self.keys.key_id(), self.scheme, &self.slot_ring)
    }

    pub(crate) fn check_plaintext(&self, operation: &'static str, plaintext: &Plaintext) -> Result<()> {
        plaintext.check_ring(&self.slot_ring, operation)
    }

    /// Gives back a result whose noise bound still allows decryption.
    pub(crate) fn accept(&self, operation: &'static str, before: f64, ct: Ciphertext) -> Result<Ciphertext> {
        let left = self.capacity(&ct);
        if left > MARGIN_BITS {
            return Ok(ct);
        }
        // Without any noise there are no more bits than the modulus has.
        let before = before.min(self.capacity_at(self.context.top_level(), Bound::ONE));
        Err(Error::CapacityExhausted { operation, needed_bits: (before - left).max(0.0), left_bits: before.max(0.0) })
    }
}
