//! The ring, its primes, and what they are good for.

use std::sync::Arc;

use windlass::ring::kernels::{Isa, Modulus, Shape};
use windlass::ring::{Basis, Ring};
use windlass::rlwe::SecurityEstimate;
use windlass::rlwe::security::{SecretDistribution, security_bits};

use super::bound::Bounds;
use super::packing::width;
use crate::error::{EntryError, Result};

/// The ring dimension, and the number of slots.
pub const SLOTS: usize = 1 << 12;

/// Row number of the prime that answers keep.
pub const KEPT: usize = 0;

/// Row number of the prime that answers lose.
pub const DROPPED: usize = 1;

/// The ciphertext primes, in the order of their rows.
pub const PRIMES: [usize; 2] = [KEPT, DROPPED];

/// Row number of the first plaintext prime.
const PLAINTEXT: usize = 2;

/// What an application chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The ciphertext primes: the one that answers keep is the larger.
    pub primes: [Modulus; 2],
    /// The plaintext primes, 1 modulo 2n like the others.
    pub plaintext: Vec<Modulus>,
    /// For each plaintext prime a bound on the coefficients of a result's phase, before the second
    /// prime is dropped.
    pub results: Vec<f64>,
}

/// Everything that both sides know before any key is made.
#[derive(Debug)]
pub struct Parameters {
    ring: Arc<Ring>,
    security: SecurityEstimate,
    bounds: Vec<Bounds>,
}

impl Parameters {
    /// Checks a choice.
    ///
    /// # Errors
    /// Those of [`Ring::new`] and [`security_bits`]; [`EntryError::Parameters`] below 128 bits of
    /// security, or where results cannot be decrypted.
    pub fn new(spec: &Spec) -> Result<Self> {
        let primes: Vec<Modulus> = spec.primes.iter().chain(&spec.plaintext).copied().collect();
        let ring = Ring::new(Arc::new(Shape::new(2 * SLOTS as u64)?), &primes, Isa::best())?;
        let log2_q = ring.log2_product(&Basis::new(PRIMES));
        let security = security_bits(SLOTS, log2_q, SecretDistribution::Ternary)?;
        let [kept, dropped] = spec.primes;
        let bounds: Vec<Bounds> = spec
            .plaintext
            .iter()
            .zip(&spec.results)
            .map(|(t, &result)| Bounds::new(SLOTS, t.value(), result, spec.primes))
            .collect();
        let refuse = |reason: String| Err(EntryError::Parameters { reason });
        if security.bits < 128.0 {
            return refuse(format!("{security}, where 128 are required"));
        }
        if spec.results.len() != spec.plaintext.len() || !bounds.iter().all(Bounds::decryptable) {
            return refuse(format!("results of 2^{:?} do not fit", spec.results.iter().map(|x| x.log2())));
        }
        if kept.value() <= dropped.value() {
            return refuse("the prime that is dropped is not the smaller one".into());
        }
        Ok(Self { ring, security, bounds })
    }

    /// The ring over all primes.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.ring
    }

    /// λ of the ciphertext modulus.
    pub fn security(&self) -> SecurityEstimate {
        self.security
    }

    /// The number of plaintext primes.
    pub fn plaintext_primes(&self) -> usize {
        self.bounds.len()
    }

    /// The bounds on errors for plaintext prime number `index`.
    pub fn bounds(&self, index: usize) -> &Bounds {
        &self.bounds[index]
    }

    /// The row number of plaintext prime number `index` in the ring.
    pub fn plaintext_row(&self, index: usize) -> usize {
        PLAINTEXT + index
    }

    /// Plaintext prime number `index`.
    pub fn plaintext_prime(&self, index: usize) -> Modulus {
        self.ring.modulus(PLAINTEXT + index)
    }

    /// The prime that answers keep.
    pub fn kept(&self) -> Modulus {
        self.ring.modulus(KEPT)
    }

    /// The prime that answers lose.
    pub fn dropped(&self) -> Modulus {
        self.ring.modulus(DROPPED)
    }

    /// Bytes of a fresh ciphertext without its seed: the rows of its first part.
    pub fn fresh_bytes(&self) -> usize {
        SLOTS * (width(self.kept()) + width(self.dropped()))
    }

    /// Bytes of an answer: three rows modulo the first prime.
    pub fn answer_bytes(&self) -> usize {
        3 * SLOTS * width(self.kept())
    }
}
