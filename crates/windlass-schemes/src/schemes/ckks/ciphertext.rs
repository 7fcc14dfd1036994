//! CKKS ciphertexts.

use std::sync::Arc;

use windlass_ring::{Eval, Poly};
use windlass_rlwe::KeyId;

use super::context::CkksContext;
use super::error_model::ErrorModel;
use super::magnitude::Magnitude;
use super::slot_error::{SlotError, Source};
use crate::error::{Error, Result};
use crate::schemes::{Parts, Seed};

/// An encryption of a vector of complex numbers.
///
/// Its phase is Δ·m + ε. Δ = Δ_level for a ciphertext of degree 1, and Δ_level·κ_level for a product
/// that has not been rescaled yet (degree 2; κ_level = Δ_level at the levels of a caller). The
/// ciphertext carries a public bound on the absolute value of every slot of m. It also carries
/// estimates, from above, of the standard deviation of the slots of ε/Δ: for its own slots, and for
/// all slots of the ring. They depend only on the circuit, never on the encrypted values.
///
/// The first [`Self::entries`] slots are the entries, which the caller works with. The slots beside
/// them may hold zeros that pad a vector to a power of two, or parts of sums that a folded matrix
/// leaves. They have a separate bound, and polynomials keep them inside their interval
/// ([`Engine::evaluate`](super::Engine::evaluate)).
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
    /// Bounds on the absolute values of the slots; the vector has their number as its period.
    pub magnitude: Magnitude,
    /// Standard deviation of the error of any slot of the whole ring, in units of the message.
    pub deviation: f64,
    /// The part of it that comes from errors that may lie in few slots, or depend on each other: the
    /// covariance of the rest has no eigenvalue above its square.
    pub uneven: f64,
    /// The error of the ciphertext's own slots.
    pub own: SlotError,
}

/// What a file states of the content of a ciphertext, as [`Info`] beside the last.
#[doc(hidden)]
pub struct FiledInfo {
    pub degree: i32,
    pub slots: usize,
    /// Bound on the entries.
    pub magnitude: f64,
    /// The number of entries and the bound on the slots beside them, if there are any.
    pub beside: Option<(usize, f64)>,
    pub deviation: f64,
    /// The deviation of the own slots where it is less: by the encryption that the second
    /// polynomial names, and by all else.
    pub own: Option<(f64, f64)>,
    /// What may be in one of the own slots at most beside that, if it is more than the bound on the
    /// rest ([`states_most`]); less is in the rest.
    pub most: Option<f64>,
    /// What may be in every one of the own slots at once beside that, if there is any.
    pub systematic: Option<f64>,
}

/// Whether a file states what may be in a slot at most, beside a deviation of so much.
#[doc(hidden)]
pub fn states_most(most: f64, deviation: f64) -> bool {
    most.is_finite() && most > ErrorModel::BOUND_FACTOR * deviation
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
        self.context.depth_at(self.level())
    }

    /// How many products in sequence there is room for: [`Self::depth_left`] without the rescaling that
    /// a product still needs for itself.
    pub fn products_left(&self) -> usize {
        self.depth_left().saturating_sub(usize::from(self.info.degree > 1))
    }

    /// Bits of the modulus that rescalings may still drop beside its own; below 0 for a product that has
    /// no level left for its own.
    #[doc(hidden)]
    pub fn headroom_bits(&self) -> f64 {
        let (rlwe, base) = (self.context.rlwe(), self.context.base_level());
        let bits = |level: usize| rlwe.log2_modulus(level) - rlwe.log2_modulus(base);
        match (self.info.degree, self.context.level_below(self.level())) {
            (1, _) => bits(self.level()),
            (_, Some(below)) => bits(below),
            (_, None) => -1.0,
        }
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.info.slots()
    }

    /// The number of entries: the first slots, which the caller works with. A sum or product of two
    /// ciphertexts has as many as the operand with more. After a rotation every slot is an entry.
    pub fn entries(&self) -> usize {
        self.info.magnitude.count()
    }

    /// 1, or 2 for a product that has not been rescaled yet.
    pub fn degree(&self) -> i32 {
        self.info.degree
    }

    /// The factor Δ between message and phase.
    pub fn scale(&self) -> f64 {
        self.context.scale_of(self.level(), self.info.degree)
    }

    /// The public bound on the absolute value of every entry.
    pub fn magnitude(&self) -> f64 {
        self.info.magnitude.entries()
    }

    /// The public bound on the absolute value of the slots beside the entries; 0 if they hold zeros
    /// or there are none.
    pub fn rest_magnitude(&self) -> f64 {
        self.info.magnitude.rest()
    }

    /// The same ciphertext with the first `count` slots as entries. `count` is clamped to the range
    /// from 1 to the number of slots. The known bounds on the slots beside them are unchanged.
    pub fn with_entries(mut self, count: usize) -> Self {
        self.info.magnitude = self.info.magnitude.with_entries(count);
        self
    }

    /// As [`Self::with_entries`], if the caller knows that the slots beside the entries hold zeros.
    ///
    /// **Warning.** If they hold anything else, decryption refuses the ciphertext
    /// ([`Error::NotDecryptable`]), and what was computed from it.
    pub fn with_zeros_beside(mut self, count: usize) -> Self {
        self.info.magnitude = self.info.magnitude.with_zeros_beside(count);
        self
    }

    /// The estimated standard deviation of the error of a slot, from above. It assumes that
    /// constants do not depend on ciphertexts.
    pub fn deviation(&self) -> f64 {
        self.random() + self.info.own.systematic()
    }

    /// The deviation without what may be in every slot at once.
    fn random(&self) -> f64 {
        self.info.own.random().min(self.info.deviation)
    }

    /// The estimated bits of precision: −log2 of the largest error among the s slots, as expected:
    /// deviation·max(√(1 + ln s), (ln s + 3/2)/2), for Gaussian errors and for products of two,
    /// such as a rounding times the secret; and the distance of polynomials from functions
    /// beside that. Where constants do not depend on ciphertexts.
    pub fn precision_bits(&self) -> f64 {
        let log = (self.slots() as f64).ln();
        let random = self.random() * (1.0 + log).sqrt().max((log + 1.5) / 2.0);
        -(random + self.info.own.systematic()).log2()
    }

    /// A bound on the error of every slot, which fails with probability at most 2^{−128}. It also
    /// holds if the constants of the circuit were chosen by someone who saw the ciphertexts.
    pub fn error_bound(&self) -> f64 {
        self.info.own.bound().min(self.whole_error_bound())
    }

    /// The same ciphertext with a smaller bound on its entries, which the caller knows (for
    /// example, a sine is at most 1). The bound of the slots beside the entries is unchanged. NaN
    /// and negative numbers are ignored.
    ///
    /// **Warning.** The bound is not checked during the computation. If an entry is larger,
    /// decryption refuses the ciphertext and its results ([`Error::NotDecryptable`]). If the result
    /// does not show it, errors are larger than the stated estimates, and no error is returned.
    pub fn with_magnitude(mut self, magnitude: f64) -> Self {
        if magnitude >= 0.0 {
            self.info.magnitude = self.info.magnitude.assumed(magnitude);
        }
        self
    }

    /// Bounds on the first `count` slots of the vector, which is repeated over as many as there are
    /// then: on each, and on their Euclidean norm.
    #[doc(hidden)]
    pub fn magnitude_below(&self, count: usize, slots: usize) -> (f64, f64) {
        let magnitude = self.info.magnitude.repeated(slots);
        (magnitude.below(count), magnitude.norm_below(count))
    }

    /// The same ciphertext, the Euclidean norm of whose entries has a bound that is known.
    #[doc(hidden)]
    pub fn with_norm(mut self, norm: f64) -> Self {
        self.info.magnitude = self.info.magnitude.with_norm(norm);
        self
    }

    /// The same ciphertext, none of whose slots is above a bound.
    pub(crate) fn within(mut self, bound: f64) -> Self {
        self.info.magnitude = self.info.magnitude.limited(bound);
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
    #[doc(hidden)]
    pub fn to_file(&self) -> FiledInfo {
        let (degree, slots) = (self.info.degree, self.slots());
        let (magnitude, beside) = self.info.magnitude.to_file();
        let least = |count| self.context.fresh_deviation(self.level(), count);
        let mut deviation = self.info.deviation.max(least(self.context.spec().n));
        let ((fresh, rest), most) = (self.info.own.split(source_of(&self.parts)), self.info.own.most());
        let systematic = self.info.own.systematic();
        let floored = |rest: f64| if fresh + rest < least(2 * slots) { least(2 * slots) } else { rest };
        let (rest, most) = match states_most(most, fresh + floored(rest)) {
            true => (floored(rest), Some(most)),
            false => (floored(rest + most / ErrorModel::BOUND_FACTOR), None),
        };
        let own = (fresh + rest < deviation).then_some((fresh, rest));
        if own.is_none() {
            deviation += systematic;
        }
        let systematic = own.and((systematic > 0.0).then_some(systematic));
        FiledInfo { degree, slots, magnitude, beside, deviation, own, most: own.and(most), systematic }
    }

    /// A ciphertext as a file states it, all checked one by one before.
    ///
    /// # Errors
    /// [`Error::ModulusExhausted`] if values within the bounds do not fit the modulus.
    #[doc(hidden)]
    pub fn from_file((context, key): (&Arc<CkksContext>, KeyId), parts: Parts, filed: FiledInfo) -> Result<Self> {
        let FiledInfo { degree, slots, magnitude, beside, deviation, own, most, systematic } = filed;
        let (fresh, rest) = own.unwrap_or((0.0, deviation));
        let mut own = SlotError::unknown(rest);
        own.add_most(most.unwrap_or(0.0));
        own.add_systematic(systematic.unwrap_or(0.0));
        if fresh > 0.0 {
            own.add(source_of(&parts), fresh);
        }
        let magnitude = Magnitude::from_file(slots, magnitude, beside);
        let info = Info { degree, magnitude, deviation, uneven: deviation, own };
        let ct = Self { context: Arc::clone(context), key, parts, info };
        let (needed_bits, left_bits) = (ct.log2_phase(), context.room(ct.level()));
        match needed_bits < left_bits {
            true => Ok(ct),
            false => Err(ct.outgrown("read a ciphertext", needed_bits)),
        }
    }

    pub(crate) fn with_parts(&self, parts: Vec<Poly<Eval>>, info: Info) -> Self {
        Self { context: Arc::clone(&self.context), key: self.key, parts: parts.into(), info }
    }

    /// Adds the error of a rounding that made the parts at `level`.
    ///
    /// A party that sees the first part may choose it, and so may its rounding: it counts as random
    /// in the deviation, and as it is in the bound. Where the second part is zero, nothing is
    /// random at all.
    pub(super) fn add_rounding(&mut self, level: usize) {
        let (errors, scale) = (self.context.errors(), self.context.scale_of(level, self.info.degree));
        let count = 2 * self.slots();
        let second = &self.parts[1];
        let is_known = (0..second.basis().len()).all(|row| second.row(row).iter().all(|&x| x == 0));
        self.info.deviation += errors.any_rounding() / scale;
        self.info.uneven += errors.uneven_rounding() / scale;
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
        let (errors, scale) = (self.context.errors(), self.context.scale_of(level, self.info.degree));
        let of = |count| match key {
            Source::Key(0) => errors.relinearisation(level, count),
            _ => errors.inner_product(level, count),
        };
        self.info.deviation += of(self.context.spec().n) / scale;
        self.info.own.add(key, of(2 * self.slots()) / scale);
    }

    /// The same ciphertext with the masks of so many public-key encryptions on top.
    pub(crate) fn with_masks(self, count: u32) -> Self {
        let (errors, scale) = (self.context.errors(), self.scale());
        let of = |coefficients| f64::from(count).sqrt() * errors.fresh_public(coefficients) / scale;
        let noise = [of(2 * self.slots()), of(self.context.spec().n)];
        self.with_noise(noise)
    }

    /// The same ciphertext with the error of a re-encryption on top.
    ///
    /// # Errors
    /// [`Error::ModulusExhausted`].
    pub(crate) fn with_reencryption(&self, is_delegation: bool) -> Result<Self> {
        let (errors, scale, level) = (self.context.errors(), self.scale(), self.level());
        let of = |count| match is_delegation {
            true => errors.delegation(level, count) / scale,
            false => errors.inner_product(level, count) / scale,
        };
        let mut out = self.clone().with_noise([of(2 * self.slots()), of(self.context.spec().n)]);
        out.add_rounding(level);
        let (needed, room) = (out.log2_phase(), self.context.room(level));
        if needed >= room { Err(out.outgrown("re-encrypt", needed)) } else { Ok(out) }
    }

    /// The same message under another key.
    pub(crate) fn under_key(&self, key: KeyId, parts: [Poly<Eval>; 2]) -> Self {
        Self { key, ..self.with_parts(parts.into(), self.info.clone()) }
    }

    /// The same ciphertext with noise of these deviations on top, of its own slots and of all of the ring.
    pub(crate) fn with_noise(mut self, [own, whole]: [f64; 2]) -> Self {
        self.info.deviation += whole;
        self.info.own.add_certain(own);
        self
    }

    /// log2 of a bound on the phase's coefficients.
    pub(crate) fn log2_phase(&self) -> f64 {
        log2_phase(&self.context, self.level(), &self.info)
    }

    /// The refusal of values that take so many bits of the modulus, and there is less.
    pub(crate) fn outgrown(&self, operation: &'static str, needed_bits: f64) -> Error {
        let left_bits = self.context.room(self.level());
        let size = self.info.magnitude.largest();
        let value_bits = self.context.spec().value_bits_for(needed_bits - left_bits, size);
        Error::ModulusExhausted { operation, needed_bits, left_bits, value_bits }
    }
}

impl Info {
    /// The number of slots: the vector has this period.
    pub(crate) fn slots(&self) -> usize {
        self.magnitude.slots()
    }

    /// The error in so many slots, a multiple of its own.
    pub(crate) fn error_in(&self, slots: usize) -> SlotError {
        if slots == self.slots() {
            return self.own.clone();
        }
        let mut own = SlotError::unknown(self.deviation);
        own.add_systematic(self.own.systematic());
        own
    }

    /// The part of the deviation whose covariance has no eigenvalue above its square.
    pub(crate) fn even(&self) -> f64 {
        (self.deviation - self.uneven).max(0.0)
    }

    /// What is known of the image under θ_t. Rotations move entries away, conjugation does not.
    pub(crate) fn turn(&mut self, t: u64) {
        let (slots, order) = (self.slots(), 4 * self.slots() as u64);
        self.own.turn(t, slots);
        if ![1, order - 1].contains(&(t % order)) {
            self.magnitude = self.magnitude.moved();
        }
    }

    /// Adds an error that is not random, or not known to be.
    pub(crate) fn add_certain(&mut self, deviation: f64) {
        self.deviation += deviation;
        self.uneven += deviation;
        self.own.add_certain(deviation);
    }

    /// Adds what [`ErrorModel::steered`] states about a factor, divided by a scale: in the own
    /// slots, and in the whole ring.
    pub(crate) fn add_steered(&mut self, [own, whole]: [f64; 2]) {
        self.own.add_most(own);
        self.deviation += whole / ErrorModel::BOUND_FACTOR;
        self.uneven += whole / ErrorModel::BOUND_FACTOR;
    }

    /// The multiple by a number of absolute value `factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.magnitude = self.magnitude.scaled(factor);
        self.scale_error(factor);
    }

    /// The error of the multiple by what is at most `factor` in every slot.
    pub(crate) fn scale_error(&mut self, factor: f64) {
        self.deviation *= factor;
        self.uneven *= factor;
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
    let slot = info.magnitude.largest() / UNIT + ErrorModel::BOUND_FACTOR / UNIT * deviation;
    context.scale_of(level, info.degree).log2() + (slot + 1e-300).log2() + UNIT.log2()
}
