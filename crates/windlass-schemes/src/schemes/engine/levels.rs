//! Modulus switching, by hand and automatic, and bringing operands together.

use std::borrow::Cow;

use windlass_ring::kernels::arith;

use windlass_rlwe::{Bound, Limits, RandomEvents, check_same_keys};

use super::{Ciphertext, Engine, centred};
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

    /// The noise bound after a switch to `level`.
    pub(crate) fn switched_noise(&self, ct: &Ciphertext, level: usize) -> Bound {
        if level == ct.level() {
            return ct.noise;
        }
        let [from, to] = [ct.level(), level].map(|level| self.context.log2_modulus(level));
        self.noise(ct.exponent).modulus_switch(ct.noise, from, to, ct.parts.len() as u32)
    }

    /// The ciphertext at a level up to its own; no copy at its own.
    #[doc(hidden)]
    pub fn switched<'a>(&self, ct: &'a Ciphertext, level: usize) -> Cow<'a, Ciphertext> {
        if level == ct.level() {
            return Cow::Borrowed(ct);
        }
        self.events.add(RandomEvents::MODULUS_SWITCH);
        let (t, multiplier) = (self.modulus(ct.exponent), self.multiplier(ct.exponent));
        let keep = self.context.basis(level);
        let parts = ct.parts.iter().map(|part| part.divide_rounded(&keep, multiplier)).collect();
        let dropped = self.primes_between(level, ct.level(), t);
        let inverse = arith::inv_mod(dropped, t).expect("the primes are coprime to the plaintext modulus");
        Cow::Owned(Ciphertext {
            factor: arith::mul_mod(ct.factor, inverse, t),
            noise: self.switched_noise(ct, level),
            ..ct.with_parts(parts)
        })
    }

    /// The level at which the product of two ciphertexts has the greatest capacity; the lowest such
    /// level.
    pub(crate) fn product_level(&self, a: &Ciphertext, b: &Ciphertext) -> usize {
        let top = a.level().min(b.level());
        let model = self.noise(a.exponent);
        let capacity = |level: usize| {
            let product = self.switched_noise(a, level) * self.switched_noise(b, level);
            self.capacity_at(level, product + model.key_switch(level))
        };
        let best = (1..=top).map(capacity).fold(f64::NEG_INFINITY, f64::max);
        (1..=top).find(|&level| capacity(level) >= best - 0.5).expect("the best level is among them")
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
        let wanted = bits.min(self.capacity(ct) - 0.5);
        let enough = |level: &usize| self.capacity_at(*level, self.switched_noise(ct, *level)) >= wanted;
        (1..=ct.level()).find(enough).unwrap_or(ct.level())
    }

    /// Brings two summands to one level, one plaintext modulus and one factor.
    pub(crate) fn align<'a>(
        &self,
        a: &'a Ciphertext,
        b: &'a Ciphertext,
    ) -> Result<(Cow<'a, Ciphertext>, Cow<'a, Ciphertext>)> {
        self.check_summands(a, b)?;
        let level = a.level().min(b.level());
        let (x, y) = aligned(self.modulus(a.exponent), &self.summand(a, level), &self.summand(b, level));
        let (a, b) = (self.scaled_and_switched(a, x, level), self.scaled_and_switched(b, y, level));
        debug_assert_eq!(a.factor, b.factor);
        Ok((a, b))
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
        let describe = |ct: &Ciphertext| format!("plaintext modulus {}^{}", self.slots.prime(), ct.exponent);
        Err(Error::ContextMismatch { operation, left: describe(a), right: describe(b) })
    }

    /// `Q_high/Q_low` modulo t: what factors of one and the other level differ by.
    pub(super) fn primes_between(&self, low: usize, high: usize, t: u64) -> u64 {
        self.context.levels().ratio(low, high, t)
    }

    /// What matters of a ciphertext that is to be added at `level`.
    pub(super) fn summand(&self, ct: &Ciphertext, level: usize) -> Summand {
        let t = self.modulus(ct.exponent);
        let dropped = self.primes_between(level, ct.level(), t);
        let inverse = arith::inv_mod(dropped, t).expect("the primes are coprime to the plaintext modulus");
        Summand { factor: arith::mul_mod(ct.factor, inverse, t), noise: self.noise_on(ct, level) }
    }

    /// ε and the factor times a unit x, then switched: at the higher level the multiplication may
    /// cost no more than what the switch takes away.
    pub(super) fn scaled_and_switched<'a>(&self, ct: &'a Ciphertext, x: i64, level: usize) -> Cow<'a, Ciphertext> {
        if x == 1 {
            return self.switched(ct, level);
        }
        let scaled = self.scale_with_factor(ct, x);
        if level == ct.level() { Cow::Owned(scaled) } else { Cow::Owned(self.switched(&scaled, level).into_owned()) }
    }

    /// ε and the factor times a unit x: the message stays.
    fn scale_with_factor(&self, ct: &Ciphertext, x: i64) -> Ciphertext {
        let t = self.modulus(ct.exponent);
        let parts = ct.parts.iter().map(|part| part.times_scalar(|q| q.reduce_i64(x))).collect();
        Ciphertext {
            factor: arith::mul_mod(ct.factor, x.rem_euclid(t as i64) as u64, t),
            noise: ct.noise * Bound::of(x.unsigned_abs() as f64),
            ..ct.with_parts(parts)
        }
    }
}

/// A summand at the level of its sum: its factor there, and its noise without that of rounding.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Summand {
    pub factor: u64,
    pub noise: Bound,
}

/// The multipliers that give two summands one factor, with as little noise as can be.
#[doc(hidden)]
pub fn aligned(t: u64, a: &Summand, b: &Summand) -> (i64, i64) {
    if a.factor == b.factor {
        return (1, 1);
    }
    let inverse = arith::inv_mod(b.factor, t).expect("factors are units");
    // x·factor_a ≡ y·factor_b; the noisier summand gets the smaller multiplier.
    small_ratio(arith::mul_mod(a.factor, inverse, t), t, a.noise, b.noise)
}

/// (x, y), both units modulo the prime power t, with y ≡ ratio·x (mod t), that keep |x|·a + |y|·b
/// small: the convergents of Euclid's algorithm and their neighbours are tried. For equal a and b
/// and a prime t both are near √t; when one summand is much noisier, its multiplier is 1.
fn small_ratio(ratio: u64, t: u64, a: Bound, b: Bound) -> (i64, i64) {
    let (mut r0, mut r1) = (t as i64, ratio as i64);
    let (mut t0, mut t1) = (0i64, 1i64);
    let weight =
        |(x, y): (i64, i64)| (a * Bound::of(x.unsigned_abs() as f64) + b * Bound::of(y.unsigned_abs() as f64)).bits();
    let mut best: (i64, i64) = (1, centred(ratio, t));
    while r1 != 0 {
        // Modulo a prime power a convergent may share the prime; then one of its neighbours in the
        // lattice does not.
        for k in -1..=1 {
            let (x, y) = (t1 + k * t0, r1 + k * r0);
            let unit = arith::gcd(x.unsigned_abs(), t) == 1 && arith::gcd(y.unsigned_abs(), t) == 1;
            if unit && weight((x, y)) < weight(best) {
                best = (x, y);
            }
        }
        let k = r0 / r1;
        (r0, r1) = (r1, r0 - k * r1);
        (t0, t1) = (t1, t0 - k * t1);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_small_units() {
        for t in [2u64, 3, 8, 127, 257, 65537, 6561, 1 << 16] {
            for ratio in (1..t).filter(|&x| arith::gcd(x, t) == 1).step_by(1 + t as usize / 500) {
                let (x, y) = small_ratio(ratio, t, Bound::ONE, Bound::ONE);
                let modulo = |x: i64| x.rem_euclid(t as i64) as u64;
                assert_eq!(arith::mul_mod(ratio, modulo(x), t), modulo(y));
                assert_eq!(arith::gcd(modulo(x), t), 1);
                let (x_noisy, y_noisy) = small_ratio(ratio, t, Bound::from_bits(100.0), Bound::ONE);
                assert_eq!(arith::mul_mod(ratio, modulo(x_noisy), t), modulo(y_noisy));
                assert_eq!(x_noisy.abs(), 1);
                // A prime power may have no small units in the lattice: 547·12 ≡ 3 modulo 3^8, and
                // nothing near it is a unit.
                let bound = if arith::is_prime(t) { 2.0 * (t as f64).sqrt() } else { t as f64 / 2.0 };
                assert!(x.abs().max(y.abs()) as f64 <= bound, "{ratio} mod {t}: {x}, {y}");
            }
        }
    }
}
