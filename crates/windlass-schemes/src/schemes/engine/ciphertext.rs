//! Ciphertexts of the BGV/BFV engine.

use std::sync::Arc;

use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Bound, Context, KeyId, check_same_keys};

use super::rules::Metadata;
use crate::error::{Error, Result, check_same_order};
use crate::plaintext::Content;
use crate::schemes::{Parts, Scheme, Seed};

/// An encryption of an element of R/(p^r).
///
/// With phase φ = Σ parts\[i\]·s^i mod Q_level, let ε = φ for BGV and ε = t·φ mod Q_level for BFV,
/// t = p^r. Then ε ≡ factor·message (mod t), and every canonical embedding of ε is below `noise` in
/// absolute value. So BGV and BFV differ by one scalar; all bookkeeping is that of ε
/// (Alperin-Sheriff–Peikert 2013, §3.2).
#[derive(Debug, Clone)]
pub struct Ciphertext {
    pub(crate) context: Arc<Context>,
    pub(crate) key: KeyId,
    /// The order of the slots.
    pub(crate) hypercube: Arc<Hypercube>,
    pub(crate) scheme: Scheme,
    pub(crate) parts: Parts,
    /// p.
    pub(crate) prime: u64,
    /// r: the plaintext modulus is p^r (smaller than that of the context after an exact division by
    /// p).
    pub(crate) exponent: u32,
    /// A unit modulo p^r.
    pub(crate) factor: u64,
    pub(crate) noise: Bound,
    pub(crate) content: Content,
}

/// What a ciphertext states of its message and its noise: see [`Ciphertext`].
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Statement {
    /// The exponent r of the plaintext modulus.
    pub exponent: u32,
    /// The plaintext factor, a unit modulo p^r.
    pub factor: u64,
    /// The bound on the canonical norm of ε.
    pub noise: Bound,
    /// What the slots hold.
    pub content: Content,
}

impl Ciphertext {
    /// A ciphertext from its polynomials and what is known of them. Nothing is checked.
    #[doc(hidden)]
    pub fn assembled(
        (context, key): (&Arc<Context>, KeyId),
        (slots, scheme): (&SlotRing, Scheme),
        parts: Parts,
        Statement { exponent, factor, noise, content }: Statement,
    ) -> Self {
        let (context, hypercube) = (Arc::clone(context), Arc::clone(slots.hypercube()));
        Self { context, key, hypercube, scheme, parts, prime: slots.prime(), exponent, factor, noise, content }
    }

    /// The context of its polynomials.
    #[doc(hidden)]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The order of its slots.
    #[doc(hidden)]
    pub fn hypercube(&self) -> &Arc<Hypercube> {
        &self.hypercube
    }

    /// The bound on the canonical norm of ε.
    #[doc(hidden)]
    pub fn noise(&self) -> Bound {
        self.noise
    }

    /// Replaces what is said of the message: its factor modulo p^r, and what its slots hold.
    #[doc(hidden)]
    pub fn restate(&mut self, factor: u64, content: Content) {
        (self.factor, self.content) = (factor, content);
    }

    /// The scheme: BGV or BFV form.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// The level: its modulus is the so many smallest of [`windlass_rlwe::Levels`]; without spare
    /// primes, the number of primes.
    pub fn level(&self) -> usize {
        self.context.level_of(self.parts[0].basis())
    }

    /// The prime p of its plaintext modulus p^r.
    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// The exponent r of its plaintext modulus p^r.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// log2 of the bound on the canonical norm of ε (message and noise together), as described at
    /// the type.
    pub fn log2_noise(&self) -> f64 {
        self.noise.bits()
    }

    /// The polynomials, `[2]` (values, over the primes of the level).
    pub fn parts(&self) -> &[Poly<Eval>] {
        &self.parts
    }

    /// The seed that the second polynomial is expanded from, while it is known: of a fresh
    /// encryption under the secret key, until an operation changes it. Files and pickles hold it in
    /// place of the polynomial, and are half as long. Encryptions under a public key have none.
    pub fn seed(&self) -> Option<&Seed> {
        self.parts.seed()
    }

    /// The plaintext factor: a unit modulo p^r.
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// What its slots are known to hold.
    pub fn content(&self) -> Content {
        self.content
    }

    /// The same ciphertext with [`Content::Integers`]: the caller's promise that there is an
    /// integer in every slot, as after a trace or another map into the integers. Nothing checks it;
    /// thin bootstrapping of a ciphertext for which it does not hold loses all but the constant
    /// coefficients.
    pub fn assume_integers(self) -> Self {
        Self { content: Content::Integers, ..self }
    }

    /// The same ciphertext with 2^log2_noise as the bound on its noise ([`Self::log2_noise`]): the
    /// caller's promise, for experiments that measure noise with the secret key
    /// ([`crate::schemes::Decryptor::exact_noise_leaks_the_secret_key`]).
    ///
    /// **Warning.** Nothing checks it. A ciphertext that holds more noise than that may decrypt to a
    /// wrong message, and no error is returned.
    pub fn assume_noise(self, log2_noise: f64) -> Self {
        Self { noise: Bound::from_bits(log2_noise), ..self }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes()).sum()
    }

    /// Refuses a ciphertext of another context, scheme or prime, of a plaintext modulus above that
    /// of `slot_ring`, in another slot order, or of another key pair than `key` where that is known.
    pub(crate) fn check(
        &self,
        operation: &'static str,
        context: &Arc<Context>,
        key: Option<KeyId>,
        scheme: Scheme,
        slot_ring: &SlotRing,
    ) -> Result<()> {
        let modulus = slot_ring.modulus();
        let plaintexts = self.prime == modulus.prime() && self.exponent <= modulus.exponent();
        if Arc::ptr_eq(&self.context, context) && self.scheme == scheme && plaintexts {
            check_same_keys(operation, key.unwrap_or(self.key), self.key)?;
            return check_same_order(operation, slot_ring.hypercube(), &self.hypercube);
        }
        let describe = |context: &Context, scheme, prime: u64, exponent: u32| {
            format!("{scheme} {}, plaintext modulus {prime}^{exponent}", context.params().id())
        };
        let left = describe(context, scheme, modulus.prime(), modulus.exponent());
        let right = describe(&self.context, self.scheme, self.prime, self.exponent);
        Err(Error::ContextMismatch { operation, left, right })
    }

    /// The same metadata around other parts.
    /// What operations need to know of it.
    #[doc(hidden)]
    pub fn metadata(&self) -> Metadata {
        Metadata { level: self.level(), exponent: self.exponent, factor: self.factor, noise: self.noise }
    }

    /// A ciphertext like this one, with other polynomials and metadata. They have the level that the
    /// metadata state.
    pub(super) fn restated(&self, parts: Vec<Poly<Eval>>, metadata: Metadata) -> Self {
        let Metadata { level, exponent, factor, noise } = metadata;
        let ct = Self { exponent, factor, noise, ..self.with_parts(parts) };
        debug_assert_eq!(ct.level(), level);
        ct
    }

    /// The same message under another key.
    pub(crate) fn under_key(&self, key: KeyId, parts: [Poly<Eval>; 2], noise: Bound) -> Self {
        Self { key, noise, ..self.with_parts(parts.into()) }
    }

    pub(crate) fn with_parts(&self, parts: Vec<Poly<Eval>>) -> Self {
        Self {
            context: Arc::clone(&self.context),
            hypercube: Arc::clone(&self.hypercube),
            parts: parts.into(),
            ..*self
        }
    }
}
