//! Metadata, and what operations on one ciphertext do to it.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_rlwe::{Bound, NoiseModel, RandomEvents, RlweParams};

use crate::schemes::pairs::Growth;

/// What a ciphertext states beside its content: see [`crate::schemes::Ciphertext`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metadata {
    /// The level: which primes its modulus has.
    pub level: usize,
    /// e: the plaintext modulus is p^e.
    pub exponent: u32,
    /// The plaintext factor, a unit modulo p^e.
    pub factor: u64,
    /// The bound on the canonical norm of ε.
    pub noise: Bound,
}

/// The rules of one parameter set and one prime power p^r.
#[derive(Debug, Clone)]
pub struct NoiseRules {
    pub(super) params: RlweParams,
    pub(super) prime: u64,
    /// By the exponent of the plaintext modulus: models for p^1, .., p^r.
    models: Arc<[NoiseModel]>,
}

impl NoiseRules {
    /// The rules for plaintext moduli p^1, .., p^r.
    pub fn new(params: &RlweParams, prime: u64, r: u32) -> Self {
        let models = (1..=r).map(|e| NoiseModel::new(params, prime.pow(e))).collect();
        Self { params: params.clone(), prime, models }
    }

    /// The parameters.
    pub fn params(&self) -> &RlweParams {
        &self.params
    }

    /// The noise model for plaintext modulus p^exponent, 1 ≤ exponent ≤ r.
    pub fn model(&self, exponent: u32) -> &NoiseModel {
        &self.models[exponent as usize - 1]
    }

    /// p^exponent.
    pub fn modulus(&self, exponent: u32) -> u64 {
        self.prime.pow(exponent)
    }

    /// The capacity in bits of a noise bound at a level: log2 of how much it may still grow. It does
    /// not depend on the plaintext modulus.
    pub fn capacity_at(&self, level: usize, noise: Bound) -> f64 {
        self.models[0].capacity(self.params.log2_q(level), noise)
    }

    /// The capacity in bits of a ciphertext.
    pub fn capacity(&self, ct: &Metadata) -> f64 {
        self.capacity_at(ct.level, ct.noise)
    }

    /// `Q_high/Q_low` modulo t: what the factors of one and the other level differ by.
    pub fn primes_between(&self, low: usize, high: usize, t: u64) -> u64 {
        self.params.levels().ratio(low, high, t)
    }

    /// The inverse of [`Self::primes_between`].
    pub(super) fn inverse_between(&self, low: usize, high: usize, t: u64) -> u64 {
        arith::inv_mod(self.primes_between(low, high, t), t).expect("the primes are coprime to the plaintext modulus")
    }

    /// ε times an integer; the factor stays, so that the message is multiplied too.
    pub fn scaled(&self, ct: &Metadata, k: i64) -> Metadata {
        Metadata { noise: ct.noise * Bound::of(k.unsigned_abs() as f64), ..*ct }
    }

    /// ε and the factor times a unit x: the message stays.
    pub fn scaled_with_factor(&self, ct: &Metadata, x: i64) -> Metadata {
        let t = self.modulus(ct.exponent);
        Metadata { factor: arith::mul_mod(ct.factor, x.rem_euclid(t as i64) as u64, t), ..self.scaled(ct, x) }
    }

    /// The switch of a ciphertext in so many parts to a level at or below its own.
    pub fn switched(&self, ct: &Metadata, level: usize, parts: usize) -> Metadata {
        if level >= ct.level {
            return *ct;
        }
        let t = self.modulus(ct.exponent);
        let [from, to] = [ct.level, level].map(|level| self.params.log2_q(level));
        Metadata {
            level,
            factor: arith::mul_mod(ct.factor, self.inverse_between(level, ct.level, t), t),
            noise: self.model(ct.exponent).modulus_switch(ct.noise, from, to, parts as u32),
            ..*ct
        }
    }

    /// The lowest level that keeps at least `bits` of capacity, or all but half a bit of what there
    /// is, if that is less.
    pub fn level_with(&self, ct: &Metadata, bits: f64, parts: usize) -> usize {
        let wanted = bits.min(self.capacity(ct) - 0.5);
        let enough = |&level: &usize| self.capacity(&self.switched(ct, level, parts)) >= wanted;
        (1..=ct.level).find(enough).unwrap_or(ct.level)
    }

    /// The same ε as a ciphertext modulo a smaller p^exponent.
    pub fn reduced(&self, ct: &Metadata, exponent: u32) -> Metadata {
        Metadata { exponent, factor: ct.factor % self.modulus(exponent), ..*ct }
    }

    /// p times a ciphertext, modulo p^{e+1}.
    pub fn multiplied_by_p(&self, ct: &Metadata) -> Metadata {
        Metadata { exponent: ct.exponent + 1, noise: ct.noise * Bound::of(self.prime as f64), ..*ct }
    }

    /// A multiple of p divided by p, modulo p^{e−1}.
    pub fn divided_by_p(&self, ct: &Metadata) -> Metadata {
        let reduced = self.reduced(ct, ct.exponent - 1);
        Metadata { noise: ct.noise / Bound::of(self.prime as f64), ..reduced }
    }

    /// What one operation of a key switch adds to the noise of a ciphertext at a level, and its
    /// random events.
    pub fn growth(&self, exponent: u32, level: usize, growth: Growth) -> (Bound, RandomEvents) {
        let model = self.model(exponent);
        match growth {
            Growth::KeySwitch(_) => (model.key_switch(level), RandomEvents::KEY_SWITCH),
            Growth::InnerProduct(_) => (model.base_qp_error(level), RandomEvents::INNER_PRODUCT),
            Growth::Rounding => (model.rounding(2), RandomEvents::MOD_DOWN),
        }
    }
}

/// The residue of `x` modulo t, centred in (−t/2, t/2].
pub fn centred(x: u64, t: u64) -> i64 {
    if x > t / 2 { x as i64 - t as i64 } else { x as i64 }
}
