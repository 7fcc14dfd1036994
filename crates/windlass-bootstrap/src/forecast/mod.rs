//! Runs a circuit on noise bounds instead of ciphertexts.

mod evaluator;
mod payments;
mod switching;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, EventCounter, NoiseModel, RandomEvents, RlweParams};
use windlass_schemes::schemes::engine::rules::{Metadata, NoiseRules};
use windlass_schemes::schemes::pairs::Growth;

/// An evaluator whose ciphertexts are noise bounds: the engine's [`NoiseRules`], without polynomials or
/// keys.
///
/// Constants count with the norm of random ones: what the engine finds is seldom worse. Capacity
/// that goes below zero is kept as a negative number, not refused.
///
/// The engine has at most as many random events as are counted here, at any level at which it does
/// an operation. A modulus switch counts wherever there could be one. A sum of products counts as
/// its products relinearised one by one.
#[derive(Debug)]
pub(crate) struct Forecast {
    slot_ring: Arc<SlotRing>,
    rules: NoiseRules,
    events: EventCounter,
    work: work::Work,
}

/// A ciphertext of a [`Forecast`].
pub(crate) type Expected = Metadata;

impl Forecast {
    pub fn new(params: &RlweParams, slot_ring: &Arc<SlotRing>) -> Self {
        let rules = NoiseRules::new(params, slot_ring.prime(), slot_ring.modulus().exponent());
        Self { slot_ring: Arc::clone(slot_ring), rules, events: EventCounter::default(), work: Default::default() }
    }

    pub fn model(&self, exponent: u32) -> &NoiseModel {
        self.rules.model(exponent)
    }

    /// The random events of all operations so far.
    pub fn events(&self) -> &EventCounter {
        &self.events
    }

    /// Counts modulus switches.
    fn switches(&self, count: usize) {
        self.events.add(RandomEvents::MODULUS_SWITCH * count);
    }

    /// What an operation of the key switch of θ_t adds to the noise, its random events counted. The
    /// identity has none.
    fn grown(&self, ct: &Expected, growth: Growth) -> Expected {
        let (error, events) = self.rules.growth(ct.exponent, ct.level, growth);
        let is_identity =
            matches!(growth, Growth::KeySwitch(t) | Growth::InnerProduct(t) if t % self.slot_ring.m() == 1);
        self.events.add(events * usize::from(!is_identity));
        Expected { noise: ct.noise + error, ..*ct }
    }

    /// Bits of capacity.
    pub fn capacity(&self, ct: &Expected) -> f64 {
        self.rules.capacity(ct)
    }

    /// The noise of a ciphertext with this capacity.
    pub fn noise_of_capacity(&self, level: usize, bits: f64) -> Bound {
        Bound::from_bits(self.rules.capacity_at(level, Bound::ONE) - bits)
    }

    /// A ciphertext with nothing but rounding noise.
    pub fn floor(&self, level: usize, exponent: u32) -> Expected {
        Expected { level, exponent, factor: 1, noise: self.model(exponent).rounding(2) * Bound::of(2.0) }
    }

    pub fn switch(&self, ct: &Expected, level: usize) -> Expected {
        self.rules.switched(ct, level, 2)
    }

    /// The lowest level that costs at most half a bit, as `Engine::reduce_level` finds it.
    pub fn reduce(&self, ct: &Expected) -> Expected {
        self.switch(ct, self.rules.level_with(ct, f64::INFINITY, 2))
    }

    /// The canonical norm that a constant with random centred coefficients modulo p^exponent has:
    /// one in e^6 has more.
    ///
    /// |α(ζ^u)|² is near to exponential with mean V = n·t²/12, so that the greatest of n/2 exceeds
    /// V·(ln(n/2) + u) with probability e^{−u}. The engine takes every constant's own norm.
    pub fn constant_norm(&self, exponent: u32) -> Bound {
        let (n, t) = (self.rules.params().n() as f64, self.rules.modulus(exponent) as f64);
        let typical = Bound::of(t * (n / 12.0 * ((n / 2.0).ln() + 6.0)).sqrt());
        if typical.bits() < self.model(exponent).plaintext_random().bits() {
            typical
        } else {
            self.model(exponent).plaintext_random()
        }
    }
}
