//! CKKS ciphertexts.

use std::sync::Arc;

use windlass_ring::{Eval, Poly};
use windlass_rlwe::KeyId;

use super::context::CkksContext;
use super::error_model::ErrorModel;
use super::slot_error::{SlotError, Source};
use crate::error::{Error, Result};
use crate::schemes::{Parts, Seed};

/// An encryption of a vector of complex numbers.
///
/// Its phase is Δ·m + ε, Δ = Δ_level for a ciphertext of degree 1 and Δ_level² for a product that
/// has not been rescaled yet (degree 2). It carries a public bound on the absolute value of every
/// slot of m, and estimates of the standard deviation of the slots of ε/Δ, from above: of its own
/// slots, and of all that the ring has. They depend on the circuit alone, never on what is
/// encrypted.
#[derive(Debug, Clone)]
pub struct Ciphertext {
    pub(crate) context: Arc<CkksContext>,
    pub(crate) key: KeyId,
    pub(crate) parts: Parts,
    pub(crate) info: Info,
}

/// What is known about the content of a ciphertext.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Info {
    /// 1, or 2 for a product before its rescaling.
    pub degree: i32,
    /// The number of slots: the vector has this period.
    pub slots: usize,
    /// Bound on the absolute value of a slot.
    pub magnitude: f64,
    /// Standard deviation of the error of any slot of the whole ring, in units of the message.
    pub deviation: f64,
    /// The error of the ciphertext's own slots.
    pub own: SlotError,
}

/// What a file states of the content of a ciphertext, as [`Info`] beside the last.
pub(crate) struct FiledInfo {
    pub degree: i32,
    pub slots: usize,
    pub magnitude: f64,
    pub deviation: f64,
    /// The deviation of the own slots where it is less: by the encryption that the second
    /// polynomial names, and by all else.
    pub own: Option<(f64, f64)>,
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

    /// The estimated standard deviation of the error of a slot, from above, where constants do not
    /// depend on ciphertexts.
    pub fn deviation(&self) -> f64 {
        self.info.own.deviation().min(self.info.deviation)
    }

    /// The estimated bits of precision: −log2 of the largest error among the s slots, as expected:
    /// deviation·max(√(1 + ln s), (ln s + 3/2)/2), for Gaussian errors and for products of two,
    /// such as a rounding times the secret. Where constants do not depend on ciphertexts.
    pub fn precision_bits(&self) -> f64 {
        let log = (self.info.slots as f64).ln();
        -(self.deviation() * (1.0 + log).sqrt().max((log + 1.5) / 2.0)).log2()
    }

    /// A bound on the error of every slot that holds but for probability 2^{−128}, also where the
    /// constants of the circuit were chosen by whoever saw the ciphertexts.
    pub fn error_bound(&self) -> f64 {
        self.info.own.bound().min(self.whole_error_bound())
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

    /// The seed that the second polynomial is expanded from, while it is known, as
    /// [`crate::schemes::Ciphertext::seed`].
    pub fn seed(&self) -> Option<&Seed> {
        self.parts.seed()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes()).sum()
    }

    /// A bound as [`Self::error_bound`] on the error of every slot of the whole ring, those that
    /// decryption leaves out too.
    pub fn whole_error_bound(&self) -> f64 {
        self.info.deviation * ErrorModel::BOUND_FACTOR
    }

    /// What a file states: errors of no less than a fresh encryption, for publication adds noise in
    /// proportion. Of all sources it tells one apart.
    pub(crate) fn to_file(&self) -> FiledInfo {
        let Info { degree, slots, magnitude, .. } = self.info;
        let least = |count| self.context.fresh_deviation(self.level(), count);
        let deviation = self.info.deviation.max(least(self.context.spec().n));
        let (fresh, rest) = self.info.own.split(source_of(&self.parts));
        let rest = if fresh + rest < least(2 * slots) { least(2 * slots) } else { rest };
        let own = (fresh + rest < deviation).then_some((fresh, rest));
        FiledInfo { degree, slots, magnitude, deviation, own }
    }

    /// A ciphertext as a file states it, all checked one by one before.
    ///
    /// # Errors
    /// [`Error::ModulusExhausted`] when values within the bounds do not fit the modulus.
    pub(crate) fn from_file(
        (context, key): (&Arc<CkksContext>, KeyId),
        parts: Parts,
        filed: FiledInfo,
    ) -> Result<Self> {
        let FiledInfo { degree, slots, magnitude, deviation, own } = filed;
        let (fresh, rest) = own.unwrap_or((0.0, deviation));
        let mut own = SlotError::unknown(rest);
        if fresh > 0.0 {
            own.add(source_of(&parts), fresh);
        }
        let info = Info { degree, slots, magnitude, deviation, own };
        let ct = Self { context: Arc::clone(context), key, parts, info };
        let (needed_bits, left_bits) = (ct.log2_phase(), context.room(ct.level()));
        match needed_bits < left_bits {
            true => Ok(ct),
            false => Err(Error::ModulusExhausted { operation: "read a ciphertext", needed_bits, left_bits }),
        }
    }

    pub(crate) fn with_parts(&self, parts: Vec<Poly<Eval>>, info: Info) -> Self {
        Self { context: Arc::clone(&self.context), key: self.key, parts: parts.into(), info }
    }

    /// Adds the error of a rounding that made the parts at `level`.
    ///
    /// The first part may be chosen by whoever sees it, and so may its rounding: it counts as
    /// random in the deviation, and as it is in the bound. Where the second part is zero, nothing
    /// is random at all.
    pub(super) fn add_rounding(&mut self, level: usize) {
        let (errors, scale) = (self.context.errors(), self.context.scale(level).powi(self.info.degree));
        let count = 2 * self.info.slots;
        let second = &self.parts[1];
        let is_known = (0..second.basis().len()).all(|row| second.row(row).iter().all(|&x| x == 0));
        self.info.deviation += errors.any_rounding() / scale;
        match is_known {
            true => self.info.own.add_certain(errors.encoding(count) / scale),
            false => {
                self.info.own.add(Source::Rounding, errors.rounding(count) / scale);
                self.info.own.add_most(ErrorModel::one_way(count) / scale);
            }
        }
    }

    /// Adds the error of an inner product with a key at `level`, divided by P.
    pub(super) fn add_inner_product(&mut self, level: usize, key: Source) {
        let (errors, scale) = (self.context.errors(), self.context.scale(level).powi(self.info.degree));
        self.info.deviation += errors.inner_product(level, self.context.spec().n) / scale;
        self.info.own.add(key, errors.inner_product(level, 2 * self.info.slots) / scale);
    }

    /// log2 of a bound on the phase's coefficients.
    pub(crate) fn log2_phase(&self) -> f64 {
        log2_phase(&self.context, self.level(), &self.info)
    }
}

impl Info {
    /// The error in so many slots, a multiple of its own.
    pub(crate) fn error_in(&self, slots: usize) -> SlotError {
        if slots == self.slots { self.own.clone() } else { SlotError::unknown(self.deviation) }
    }

    /// Adds an error that is not random, or not known to be.
    pub(crate) fn add_certain(&mut self, deviation: f64) {
        self.deviation += deviation;
        self.own.add_certain(deviation);
    }

    /// Adds what [`ErrorModel::steered`] says of a factor, divided by a scale: in the own slots,
    /// and in the whole ring.
    pub(crate) fn add_steered(&mut self, [own, whole]: [f64; 2]) {
        self.own.add_most(own);
        self.deviation += whole / ErrorModel::BOUND_FACTOR;
    }

    /// The multiple by what is at most `factor` in every slot.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.magnitude *= factor;
        self.deviation *= factor;
        self.own.scale(factor);
    }
}

/// What names the errors of a fresh encryption: its second polynomial, which no other has unless it
/// was made from the same randomness.
pub(crate) fn source_of(parts: &[Poly<Eval>]) -> Source {
    let row = parts[1].row(0);
    Source::Fresh(row[0] ^ row[1].rotate_left(32))
}

/// log2(Δ·(magnitude + error bound) + 1): coefficients are at most the canonical norm in a
/// power-of-two ring.
pub(crate) fn log2_phase(context: &CkksContext, level: usize, info: &Info) -> f64 {
    // In 2^10ths: whatever a file states, the sum is a number.
    const UNIT: f64 = 1024.0;
    // Files state errors of no less: what an operation gives must still fit when it is read.
    let deviation = info.deviation.max(context.fresh_deviation(level, context.spec().n));
    let slot = info.magnitude / UNIT + ErrorModel::BOUND_FACTOR / UNIT * deviation;
    context.scale(level).log2() * info.degree as f64 + (slot + 1e-300).log2() + UNIT.log2()
}
