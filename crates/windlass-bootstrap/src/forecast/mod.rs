//! Runs a circuit on noise bounds instead of ciphertexts.

mod divided_product;
mod evaluator;
mod gathered;
mod payments;
mod switching;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, EventCounter, NoiseModel, RandomEvents, RlweParams};
use windlass_schemes::schemes::engine::Summand;

/// An evaluator whose ciphertexts are noise bounds: the engine's arithmetic of bounds and levels,
/// without ciphertexts or keys.
///
/// Constants count with the norm of random ones: what the engine finds is seldom worse. Capacity
/// that goes below zero is kept as a negative number, not refused.
///
/// The engine has at most as many random events as are counted here, at any level at which it does
/// an operation. A modulus switch counts wherever there could be one. A sum of products counts as
/// its products relinearised one by one.
#[derive(Debug)]
pub(crate) struct Forecast {
    slots: Arc<SlotRing>,
    params: RlweParams,
    models: Vec<NoiseModel>,
    events: EventCounter,
    work: work::Work,
}

/// A ciphertext of a [`Forecast`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expected {
    pub level: usize,
    pub exponent: u32,
    pub factor: u64,
    pub noise: Bound,
}

impl Forecast {
    pub fn new(params: &RlweParams, slots: &Arc<SlotRing>) -> Self {
        let modulus = slots.modulus();
        let models = (1..=modulus.exponent()).map(|r| NoiseModel::new(params, modulus.prime().pow(r))).collect();
        Self {
            slots: Arc::clone(slots),
            params: params.clone(),
            models,
            events: EventCounter::default(),
            work: Default::default(),
        }
    }

    pub fn model(&self, exponent: u32) -> &NoiseModel {
        &self.models[exponent as usize - 1]
    }

    /// The random events of all operations so far.
    pub fn events(&self) -> &EventCounter {
        &self.events
    }

    /// Counts modulus switches.
    fn switches(&self, count: usize) {
        self.events.add(RandomEvents::MODULUS_SWITCH * count);
    }

    /// Counts the random events of an automorphism, of which the identity has none.
    fn moved(&self, t: u64, events: RandomEvents) {
        self.events.add(events * usize::from(t % self.slots.m() != 1));
    }

    fn modulus(&self, exponent: u32) -> u64 {
        self.slots.prime().pow(exponent)
    }

    /// Bits of capacity.
    pub fn capacity(&self, ct: &Expected) -> f64 {
        self.models[0].capacity(self.params.log2_q(ct.level), ct.noise)
    }

    /// The noise of a ciphertext with this capacity.
    pub fn noise_of_capacity(&self, level: usize, bits: f64) -> Bound {
        Bound::from_bits(self.models[0].capacity(self.params.log2_q(level), Bound::ONE) - bits)
    }

    /// A ciphertext with nothing but rounding noise.
    pub fn floor(&self, level: usize, exponent: u32) -> Expected {
        Expected { level, exponent, factor: 1, noise: self.model(exponent).rounding(2) * Bound::of(2.0) }
    }

    pub fn switch(&self, ct: &Expected, level: usize) -> Expected {
        self.switch_parts(ct, level, 2)
    }

    /// [`Self::switch`] of so many parts.
    fn switch_parts(&self, ct: &Expected, level: usize, parts: u32) -> Expected {
        if level >= ct.level {
            return *ct;
        }
        let (from, to) = (self.params.log2_q(ct.level), self.params.log2_q(level));
        let t = self.modulus(ct.exponent);
        let inverse = self.undropped(ct.level, level, t);
        let noise = self.model(ct.exponent).modulus_switch(ct.noise, from, to, parts);
        Expected { level, factor: arith::mul_mod(ct.factor, inverse, t), noise, ..*ct }
    }

    /// The product of the primes between two levels, modulo t.
    fn dropped(&self, from: usize, to: usize, t: u64) -> u64 {
        self.params.levels().ratio(to, from, t)
    }

    /// Its inverse.
    fn undropped(&self, from: usize, to: usize, t: u64) -> u64 {
        arith::inv_mod(self.dropped(from, to, t), t).expect("the primes are coprime to the plaintext modulus")
    }

    fn summand(&self, ct: &Expected, level: usize) -> Summand {
        let t = self.modulus(ct.exponent);
        let inverse = self.undropped(ct.level, level, t);
        let bits = self.params.log2_q(level) - self.params.log2_q(ct.level);
        Summand { factor: arith::mul_mod(ct.factor, inverse, t), noise: ct.noise * Bound::from_bits(bits) }
    }

    /// ε times an integer; the factor stays with the caller.
    fn scaled(&self, ct: &Expected, k: i64) -> Expected {
        Expected { noise: ct.noise * Bound::of(k.unsigned_abs() as f64), ..*ct }
    }

    /// The lowest level that costs at most half a bit, as `Engine::reduce_level` finds it.
    pub fn reduce(&self, ct: &Expected) -> Expected {
        let wanted = self.capacity(ct) - 0.5;
        let lowered = (1..=ct.level).map(|level| self.switch(ct, level)).find(|low| self.capacity(low) >= wanted);
        lowered.unwrap_or(*ct)
    }

    /// The canonical norm that a constant with random centred coefficients modulo p^exponent has:
    /// one in e^6 has more.
    ///
    /// |α(ζ^u)|² is near to exponential with mean V = n·t²/12, so that the greatest of n/2 exceeds
    /// V·(ln(n/2) + u) with probability e^{−u}. The engine takes every constant's own norm.
    pub fn constant_norm(&self, exponent: u32) -> Bound {
        let (n, t) = (self.params.n() as f64, self.modulus(exponent) as f64);
        let typical = Bound::of(t * (n / 12.0 * ((n / 2.0).ln() + 6.0)).sqrt());
        if typical.bits() < self.model(exponent).plaintext_random().bits() {
            typical
        } else {
            self.model(exponent).plaintext_random()
        }
    }
}
