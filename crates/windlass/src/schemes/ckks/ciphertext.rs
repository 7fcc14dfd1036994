//! CKKS ciphertexts.

use std::sync::Arc;

use windlass_ring::{Eval, Poly};
use windlass_rlwe::KeyId;

use super::context::CkksContext;
use super::error_model::ErrorModel;
use crate::error::{Error, Result};

/// An encryption of a vector of complex numbers.
///
/// Its phase is Δ·m + ε, Δ = Δ_level for a ciphertext of degree 1 and Δ_level² for a product that
/// has not been rescaled yet (degree 2). It carries a public bound on the absolute value of every
/// slot of m, and an estimate of the standard deviation of the slots of ε/Δ, from above. Both
/// depend on the circuit alone, never on what is encrypted.
#[derive(Debug, Clone)]
pub struct Ciphertext {
    pub(crate) context: Arc<CkksContext>,
    pub(crate) key: KeyId,
    pub(crate) parts: Vec<Poly<Eval>>,
    pub(crate) info: Info,
}

/// What is known about the content of a ciphertext.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Info {
    /// 1, or 2 for a product before its rescaling.
    pub degree: i32,
    /// The number of slots: the vector has this period.
    pub slots: usize,
    /// Bound on the absolute value of a slot.
    pub magnitude: f64,
    /// Standard deviation of the error of a slot, in units of the message.
    pub deviation: f64,
}

impl Ciphertext {
    /// The context.
    pub fn context(&self) -> &Arc<CkksContext> {
        &self.context
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// The number of primes of its modulus.
    pub fn level(&self) -> usize {
        self.parts[0].basis().len()
    }

    /// How many more rescalings there is room for.
    pub fn depth_left(&self) -> usize {
        self.level() - self.context.base_level()
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.info.slots
    }

    /// 1, or 2 for a product that has not been rescaled yet.
    pub fn degree(&self) -> i32 {
        self.info.degree
    }

    /// The factor Δ between message and phase.
    pub fn scale(&self) -> f64 {
        self.context.scale(self.level()).powi(self.info.degree)
    }

    /// The public bound on the absolute value of every slot.
    pub fn magnitude(&self) -> f64 {
        self.info.magnitude
    }

    /// The estimated standard deviation of the error of a slot, from above.
    pub fn deviation(&self) -> f64 {
        self.info.deviation
    }

    /// The estimated bits of precision: −log2 of the largest error among the s slots, as expected:
    /// deviation·max(√(1 + ln s), (ln s + 3/2)/2), for Gaussian errors and for products of two,
    /// such as a rounding times the secret.
    pub fn precision_bits(&self) -> f64 {
        let log = (self.info.slots as f64).ln();
        -(self.info.deviation * (1.0 + log).sqrt().max((log + 1.5) / 2.0)).log2()
    }

    /// A bound on the error of every slot that holds but for probability 2^{−128}.
    pub fn error_bound(&self) -> f64 {
        self.info.deviation * ErrorModel::BOUND_FACTOR
    }

    /// The same ciphertext with a smaller bound on its slots, which the caller knows from elsewhere
    /// (the sine of anything is at most 1). Decryption refuses values above it; in a circuit a
    /// bound that does not hold makes precision estimates wrong and lets values overflow. NaN and
    /// negative numbers bound nothing: they change nothing.
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        if magnitude >= 0.0 {
            self.info.magnitude = self.info.magnitude.min(magnitude);
        }
        self
    }

    /// The polynomials, `[2]` (values, over the primes of the level).
    pub fn parts(&self) -> &[Poly<Eval>] {
        &self.parts
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes()).sum()
    }

    /// A ciphertext as a file states it: degree and slots, bounds on slots and their error, all
    /// checked one by one before.
    ///
    /// # Errors
    /// [`Error::CapacityExhausted`] when values within the bounds do not fit the modulus.
    pub(crate) fn from_file(
        (context, key): (&Arc<CkksContext>, KeyId),
        parts: Vec<Poly<Eval>>,
        (degree, slots): (i32, usize),
        (magnitude, deviation): (f64, f64),
    ) -> Result<Self> {
        let ct = Self { context: Arc::clone(context), key, parts, info: Info { degree, slots, magnitude, deviation } };
        let (needed_bits, left_bits) = (ct.log2_phase(), context.rlwe().log2_modulus(ct.level()) - 1.0);
        match needed_bits < left_bits {
            true => Ok(ct),
            false => Err(Error::CapacityExhausted { operation: "read a ciphertext", needed_bits, left_bits }),
        }
    }

    pub(crate) fn with_parts(&self, parts: Vec<Poly<Eval>>, info: Info) -> Self {
        Self { context: Arc::clone(&self.context), key: self.key, parts, info }
    }

    /// log2 of a bound on the phase's coefficients.
    pub(crate) fn log2_phase(&self) -> f64 {
        log2_phase(&self.context, self.level(), &self.info)
    }
}

/// log2(Δ·(magnitude + error bound) + 1): coefficients are at most the canonical norm in a
/// power-of-two ring.
pub(crate) fn log2_phase(context: &CkksContext, level: usize, info: &Info) -> f64 {
    let slot = info.magnitude + ErrorModel::BOUND_FACTOR * info.deviation;
    context.scale(level).log2() * info.degree as f64 + (slot + 1e-300).log2()
}
