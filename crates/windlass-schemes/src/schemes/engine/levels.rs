//! Modulus switching, by hand and automatic, and bringing operands together.

use std::borrow::Cow;

use windlass_rlwe::{Limits, RandomEvents, check_same_keys};

use super::rules::Alignment;
use super::{Ciphertext, Engine};
use crate::error::{Error, Result};

impl Engine {
    /// Switches to a lower level: ε becomes (ε − δ)/D, D the product of the dropped primes, δ ≡ 0
    /// (mod t).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for level 0 or one above that of the ciphertext,
    /// [`Error::CapacityExhausted`] when the rounding noise would not fit.
    pub fn switch_modulus(&self, ct: &Ciphertext, level: usize) -> Result<Ciphertext> {
        self.check("modulus switch", ct)?;
        Limits::between(1, ct.level()).check("level", level)?;
        self.accept("modulus switch", self.capacity(ct), self.switched(ct, level).into_owned())
    }

    /// The ciphertext at a level up to its own; no copy at its own.
    #[doc(hidden)]
    pub fn switched<'a>(&self, ct: &'a Ciphertext, level: usize) -> Cow<'a, Ciphertext> {
        if level == ct.level() {
            return Cow::Borrowed(ct);
        }
        self.events.add(RandomEvents::MODULUS_SWITCH);
        let multiplier = self.multiplier(ct.exponent);
        let keep = self.context.basis(level);
        let parts = ct.parts.iter().map(|part| part.divide_rounded(&keep, multiplier)).collect();
        Cow::Owned(ct.restated(parts, self.rules.switched(&ct.metadata(), level, ct.parts.len())))
    }

    /// The lowest level that keeps at least `bits` of capacity (and all but half a bit of what
    /// there is, if that is less).
    ///
    /// # Errors
    /// As [`Self::switch_modulus`].
    pub fn reduce_level(&self, ct: &Ciphertext, bits: f64) -> Result<Ciphertext> {
        self.switch_modulus(ct, self.level_with(ct, bits))
    }

    /// The level of [`Self::reduce_level`].
    #[doc(hidden)]
    pub fn level_with(&self, ct: &Ciphertext, bits: f64) -> usize {
        self.rules.level_with(&ct.metadata(), bits, ct.parts.len())
    }

    /// Brings two summands, which [`Self::check_summands`] accepts, to one level and one factor.
    pub(super) fn align<'a>(&self, a: &'a Ciphertext, b: &'a Ciphertext) -> (Cow<'a, Ciphertext>, Cow<'a, Ciphertext>) {
        let Alignment { multipliers: [x, y], sum } = self.rules.aligned(&a.metadata(), &b.metadata());
        (self.scaled_and_switched(a, x, sum.level), self.scaled_and_switched(b, y, sum.level))
    }

    /// Refuses operands that cannot be added.
    pub(super) fn check_summands(&self, a: &Ciphertext, b: &Ciphertext) -> Result<()> {
        self.check_terms("add", a, b)
    }

    /// [`Self::check_summands`] of an operation with another name.
    pub(super) fn check_terms(&self, operation: &'static str, a: &Ciphertext, b: &Ciphertext) -> Result<()> {
        self.check(operation, a)?;
        self.check(operation, b)?;
        check_same_keys(operation, a.key, b.key)?;
        if a.exponent == b.exponent {
            return Ok(());
        }
        let describe = |ct: &Ciphertext| format!("plaintext modulus {}^{}", self.slot_ring.prime(), ct.exponent);
        Err(Error::ContextMismatch { operation, left: describe(a), right: describe(b) })
    }

    /// ε and the factor times a unit x, then switched. Multiplying first can be free: the switch removes the
    /// noise that it adds.
    pub(super) fn scaled_and_switched<'a>(&self, ct: &'a Ciphertext, x: i64, level: usize) -> Cow<'a, Ciphertext> {
        if x == 1 {
            return self.switched(ct, level);
        }
        let scaled = self.scale_with_factor(ct, x);
        if level == ct.level() { Cow::Owned(scaled) } else { Cow::Owned(self.switched(&scaled, level).into_owned()) }
    }

    /// ε and the factor times a unit x: the message stays.
    fn scale_with_factor(&self, ct: &Ciphertext, x: i64) -> Ciphertext {
        let parts = ct.parts.iter().map(|part| part.times_scalar(|q| q.reduce_i64(x))).collect();
        ct.restated(parts, self.rules.scaled_with_factor(&ct.metadata(), x))
    }
}
