//! Plaintexts and ciphertexts with explicit steps.

use std::sync::Arc;

use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Bound, KeyId};

use super::context::Context;
use super::scale::Scale;

/// Bounds on the two parts of a phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// On the canonical norm of Δ·m in CKKS; 0 in BGV.
    pub signal: Bound,
    /// On ε: the error in CKKS, all of the phase in BGV.
    pub noise: Noise,
}

/// Bounds on the size of a polynomial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noise {
    /// On the canonical norm.
    pub norm: Bound,
    /// On every coefficient, at most the canonical norm. After a rounding it is less by about √n, which is
    /// what small moduli of compilers rely on.
    pub coefficients: Bound,
}

impl Noise {
    pub fn of_norm(norm: Bound) -> Self {
        Self { norm, coefficients: norm }
    }

    pub fn plus(self, other: Self) -> Self {
        Self { norm: self.norm + other.norm, coefficients: self.coefficients + other.coefficients }
    }

    pub fn scaled(self, factor: Bound) -> Self {
        Self { norm: self.norm * factor, coefficients: self.coefficients * factor }
    }
}

impl Bounds {
    /// On the coefficients of the phase.
    pub fn phase(self) -> Bound {
        self.signal + self.noise.coefficients
    }

    pub fn plus(self, other: Self) -> Self {
        Self { signal: self.signal + other.signal, noise: self.noise.plus(other.noise) }
    }

    pub fn times(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|bounds| bounds.noise.norm);
        let noise = Noise::of_norm(self.signal * b + a * other.signal + a * b);
        Self { signal: self.signal * other.signal, noise }
    }

    pub fn with_noise(self, more: Noise) -> Self {
        Self { noise: self.noise.plus(more), ..self }
    }
}

/// A public vector, encoded at a level and a scale.
#[derive(Debug, Clone)]
pub struct Plaintext {
    pub(super) context: Arc<Context>,
    pub(super) poly: Poly<Eval>,
    pub(super) level: usize,
    pub(super) scale: Scale,
    pub(super) bounds: Bounds,
}

impl Plaintext {
    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The level.
    pub fn level(&self) -> usize {
        self.level
    }

    /// The scale.
    pub fn scale(&self) -> Scale {
        self.scale
    }
}

/// An encryption with explicit steps: 2 polynomials, or 3 for a product that is not relinearised.
#[derive(Debug, Clone)]
pub struct Ciphertext {
    pub(super) context: Arc<Context>,
    pub(super) key: KeyId,
    pub(super) parts: Vec<Poly<Eval>>,
    pub(super) level: usize,
    pub(super) scale: Scale,
    pub(super) bounds: Bounds,
}

impl Ciphertext {
    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// The number of polynomials: 2, or 3.
    pub fn size(&self) -> usize {
        self.parts.len()
    }

    /// How many steps of the chain can still be dropped.
    pub fn level(&self) -> usize {
        self.level
    }

    /// What the message is multiplied by in the phase.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// log2 of the bound on the coefficients of the phase: of message and noise together.
    pub fn log2_phase(&self) -> f64 {
        self.bounds.phase().bits()
    }

    /// log2 of the bound on the canonical norm of ε: the error in CKKS, the phase in BGV.
    pub fn log2_noise(&self) -> f64 {
        self.bounds.noise.norm.bits()
    }

    /// The bits by which the phase may still grow.
    pub fn room_bits(&self) -> f64 {
        self.context.room(self.level) - self.log2_phase()
    }

    /// CKKS: a bound on the error of every slot, which fails with probability at most 2^{−128} for each
    /// operation. BGV: 0, since results are exact.
    pub fn error_bound(&self) -> f64 {
        match self.scale {
            Scale::Real(scale) => (self.log2_noise() - scale.high().log2()).exp2(),
            Scale::Factor(_) => 0.0,
        }
    }

    /// CKKS: the bound on the absolute value of every slot. BGV: 0, since no such bound is kept.
    pub fn magnitude(&self) -> f64 {
        match self.scale {
            Scale::Real(scale) => (self.bounds.signal.bits() - scale.high().log2()).exp2(),
            Scale::Factor(_) => 0.0,
        }
    }

    /// The polynomials (values, over the primes of the level).
    pub fn parts(&self) -> &[Poly<Eval>] {
        &self.parts
    }

    /// The same ciphertext with other polynomials and bounds.
    pub(super) fn with(&self, parts: Vec<Poly<Eval>>, bounds: Bounds) -> Self {
        Self { context: Arc::clone(&self.context), parts, bounds, ..*self }
    }
}
