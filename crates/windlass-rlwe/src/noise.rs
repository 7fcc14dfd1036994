#![doc = include_str!("noise.md")]

mod bound;
mod events;

use std::sync::Arc;

use windlass_ring::kernels::Shape;

use crate::levels::Levels;
use crate::params::RlweParams;
use crate::security::SecretDistribution;
use crate::special::Special;

pub use bound::{Bound, FailureProbability};
pub use events::{EventCounter, RandomEvents};

/// σ²-free variance of an embedding of an error polynomial: Π m_i over odd axes, m_i/2 for the axis
/// of 2.
pub fn error_variance_factor(shape: &Shape) -> f64 {
    shape.axes().iter().map(|axis| if axis.prime == 2 { axis.dim as f64 } else { axis.index as f64 }).product()
}

/// C_m: powerful-basis coefficients are at most C_m times the canonical norm. Π 2(1 − 1/ℓ) over the
/// primes ℓ of odd axes.
pub fn coefficient_factor(shape: &Shape) -> f64 {
    let factor = |prime: u64| if prime == 2 { 1.0 } else { 2.0 * (1.0 - 1.0 / prime as f64) };
    shape.axes().iter().map(|axis| factor(axis.prime)).product()
}

/// Canonical norm of the element whose powerful-basis coefficients are all 1, from above.
///
/// Each axis gives a geometric sum: 1 for a prime axis (the missing term), else at most
/// 1/sin(π/m_i).
pub fn all_ones_norm(shape: &Shape) -> f64 {
    let axis_norm = |index: u64, exponent: u32, prime: u64| {
        if exponent == 1 && prime != 2 { 1.0 } else { 1.0 / (std::f64::consts::PI / index as f64).sin() }
    };
    shape.axes().iter().map(|axis| axis_norm(axis.index, axis.exponent, axis.prime)).product()
}

/// The canonical norm that key generation enforces by drawing again: fewer than one secret in a
/// hundred is rejected.
///
/// `sqrt(V·ln(500·n))`, V the sum of the coefficients' variances; never above the sum of their
/// absolute values. Each party enforces it for its own share of a collective key: the norm of the sum is at most
/// the sum of the norms.
pub fn secret_norm_bound(shape: &Shape, secret: SecretDistribution) -> f64 {
    let n = shape.n();
    let typical = (secret.total_variance(n) * (500.0 * n as f64).ln()).sqrt();
    let sure = match secret {
        SecretDistribution::Ternary => n as f64,
        SecretDistribution::Sparse { weight } => weight as f64,
        SecretDistribution::Collective { parties } => {
            return f64::from(parties) * secret_norm_bound(shape, SecretDistribution::Ternary);
        }
    };
    // Computed norms are rounded up by 2^{−40}.
    typical.min(sure * (1.0 + 2f64.powi(-39)))
}

/// Noise bounds of one parameter set and one plaintext modulus t = p^r, in the canonical norm of ε
/// (see the module's page).
///
/// All methods return bounds on ‖ε‖ that hold except with the stated probability for each random
/// event; [`RandomEvents`] adds events up.
#[derive(Debug, Clone)]
pub struct NoiseModel {
    n: f64,
    failure: FailureProbability,
    plaintext: Bound,
    error_variance: f64,
    /// How many parties hold the key together: keys have the sum of their errors.
    parties: f64,
    coefficient_factor: Bound,
    secret_norm: Bound,
    /// For each group of primes their indices and log2 sizes.
    groups: Vec<Vec<(usize, f64)>>,
    levels: Arc<Levels>,
    special: Arc<Special>,
}

impl NoiseModel {
    /// Bounds for plaintext modulus `t`, each random event failing with probability at most
    /// 2^{−128}.
    pub fn new(params: &RlweParams, t: u64) -> Self {
        Self::with_failure(params, t, FailureProbability::default())
    }

    /// As [`Self::new`] with another failure probability.
    pub fn with_failure(params: &RlweParams, t: u64, failure: FailureProbability) -> Self {
        let shape = params.shape();
        let size = |index: usize| (index, (params.q_primes()[index].value() as f64).log2());
        Self {
            n: shape.n() as f64,
            failure,
            plaintext: Bound::of(t as f64),
            error_variance: params.sigma().powi(2) * error_variance_factor(shape),
            parties: f64::from(params.secret().parties()),
            coefficient_factor: Bound::of(coefficient_factor(shape)),
            secret_norm: Bound::of(secret_norm_bound(shape, params.secret())),
            groups: params.gadget().groups().iter().map(|group| group.indices().map(size).collect()).collect(),
            levels: params.shared_levels(),
            special: params.shared_special(),
        }
    }

    /// The same model for another plaintext modulus (after a division by p, say).
    pub fn with_plaintext_modulus(&self, t: u64) -> Self {
        Self { plaintext: Bound::of(t as f64), ..self.clone() }
    }

    /// The failure probability of each random event.
    pub fn failure(&self) -> FailureProbability {
        self.failure
    }

    /// k with P(some embedding of some of `events` elements exceeds k standard deviations) ≤
    /// failure: `sqrt(2·ln2·(f + log2(4n·events)))`.
    pub fn tail_factor(&self, events: u32) -> f64 {
        (2.0 * std::f64::consts::LN_2 * (self.failure.bits() + (4.0 * self.n * events as f64).log2())).sqrt()
    }

    /// Canonical norm of an element with independent sub-Gaussian coefficients whose variances sum
    /// to `variance`.
    pub fn random_element(&self, variance: f64, events: u32) -> Bound {
        Bound::of(self.tail_factor(events) * variance.sqrt())
    }

    /// ‖e‖ of a fresh error.
    pub fn error(&self, events: u32) -> Bound {
        self.random_element(self.error_variance, events)
    }

    /// ‖e‖ of the error of a public key, of a Galois key or of another key whose shares are added up: the sum of
    /// one error of each party.
    pub fn key_error(&self, events: u32) -> Bound {
        self.random_element(self.parties * self.error_variance, events)
    }

    /// The factor by which the errors of a relinearisation key exceed those of other keys. It is 1 for a key that
    /// one party makes. The key of several parties has the error s·e_0 + u·e_1 + e_2 instead of e_2, with u as s: the
    /// factor is 2·‖s‖ + 1.
    fn relinearisation_factor(&self) -> Bound {
        if self.parties == 1.0 { Bound::ONE } else { self.secret_norm * Bound::of(2.0) + Bound::ONE }
    }

    /// ‖s‖, certain: key generation enforces it.
    pub fn secret_norm(&self) -> Bound {
        self.secret_norm
    }

    /// Canonical norm of any plaintext with centred coefficients: n·t/2, certain.
    pub fn plaintext_worst(&self) -> Bound {
        self.plaintext * Bound::of(self.n / 2.0)
    }

    /// Canonical norm of a plaintext whose centred coefficients are random modulo t:
    /// k·t·sqrt(n/12).
    pub fn plaintext_random(&self) -> Bound {
        self.plaintext * self.random_element(self.n / 12.0, 1)
    }

    /// A fresh public-key encryption: n·t/2 + t·(‖e‖·‖u‖ + ‖e_1‖·‖s‖ + ‖e_0‖), e the error of the key, u uniform
    /// ternary.
    pub fn fresh_public(&self) -> Bound {
        let (error, ephemeral) = (self.error(4), self.random_element(2.0 * self.n / 3.0, 4));
        let of_key = self.key_error(4) * ephemeral;
        self.plaintext_worst() + self.plaintext * (of_key + error * self.secret_norm + error)
    }

    /// A fresh secret-key encryption: n·t/2 + t·‖e‖.
    pub fn fresh_secret(&self) -> Bound {
        self.plaintext_worst() + self.plaintext * self.error(1)
    }

    /// What rounding `parts` ciphertext parts adds: t·k·sqrt(n/12)·(1 + ‖s‖ + .. + ‖s‖^{parts−1}),
    /// and no less than n·t/2.
    ///
    /// Rounding is random because ciphertexts look uniform. The one that does not is (m, 0, ..), a
    /// multiple by zero with a plaintext added: its first part is known, its coefficients may all
    /// be rounded by t/2 towards one embedding, and nothing else is rounded.
    pub fn rounding(&self, parts: u32) -> Bound {
        let one = self.plaintext * self.random_element(self.n / 12.0, parts);
        let random = one * (0..parts).map(|power| self.secret_norm.pow(power)).sum();
        random.max(self.plaintext_worst())
    }

    /// A sum of two.
    pub fn add(&self, a: Bound, b: Bound) -> Bound {
        a + b
    }

    /// A product of two, before relinearisation: ε is multiplicative.
    pub fn multiply(&self, a: Bound, b: Bound) -> Bound {
        a * b
    }

    /// A product with a plaintext of canonical norm `norm`.
    pub fn multiply_constant(&self, a: Bound, norm: Bound) -> Bound {
        a * norm
    }

    /// After switching the modulus of a ciphertext of `parts` parts from 2^{log2_from} to
    /// 2^{log2_to}.
    pub fn modulus_switch(&self, a: Bound, log2_from: f64, log2_to: f64, parts: u32) -> Bound {
        a * Bound::from_bits(log2_to - log2_from) + self.rounding(parts)
    }

    /// ‖Σ digit_k·e_k‖ for a uniform polynomial at `level`: the plain error of the inner product
    /// with a key, over Q_l·P_l.
    pub fn inner_product(&self, level: usize) -> Bound {
        self.inner_product_with(level, 1)
    }

    /// The same for keys with so many errors in each digit: digits and errors are one random event.
    fn inner_product_with(&self, level: usize, errors: u32) -> Bound {
        let active = self.active_groups(level);
        let events = (1 + errors) * active.len() as u32;
        let digit = |group: Vec<f64>| Bound::from_bits(group.iter().sum()) * self.digit(group.len(), events);
        active.into_iter().map(digit).sum::<Bound>() * self.key_error(events)
    }

    /// ‖digit‖/D for a digit of so many primes and product D: it is Σ y_i·D/d_i with y_i uniform
    /// between −d_i/2 and d_i/2, of variance g·D²/12 a coefficient.
    fn digit(&self, primes: usize, events: u32) -> Bound {
        self.random_element(self.n * primes as f64 / 12.0, events)
    }

    /// The old name of [`Self::base_qp_error`].
    #[deprecated(since = "0.3.0", note = "use base_qp_error")]
    pub fn wide_error(&self, level: usize) -> Bound {
        self.base_qp_error(level)
    }

    /// What an inner product adds to a ciphertext in base Q_l·P_l, in the units of ε: t times its
    /// plain error, divided by P_l.
    pub fn base_qp_error(&self, level: usize) -> Bound {
        self.plaintext * self.inner_product(level) * Bound::from_bits(-self.special.log2(level))
    }

    /// What one key switch at `level` adds: an inner product, and the rounding of two parts by
    /// mod-down.
    pub fn key_switch(&self, level: usize) -> Bound {
        self.base_qp_error(level) + self.rounding(2)
    }

    /// What the relinearisation of a product at `level` adds. The key of one party makes it a key switch as any
    /// other.
    pub fn relinearisation(&self, level: usize) -> Bound {
        let errors = if self.parties == 1.0 { 1 } else { 3 };
        let plain = self.inner_product_with(level, errors) * self.relinearisation_factor();
        self.plaintext * plain * Bound::from_bits(-self.special.log2(level)) + self.rounding(2)
    }

    /// What bringing a ciphertext at `level` to another key pair adds: a key switch; by a delegation one whose key has the
    /// errors of public-key encryptions, ‖e‖·‖u‖ + ‖e_1‖·‖s'‖ + ‖e_0‖.
    pub fn reencryption(&self, level: usize, is_delegation: bool) -> Bound {
        if !is_delegation {
            return self.key_switch(level);
        }
        // u has the bound of one party's secret, which is no more than that of all. Errors: e_0 and e_1 of each digit,
        // and e of the recipient's key.
        let plain = self.inner_product_with(level, 3) * (self.secret_norm * Bound::of(2.0) + Bound::ONE);
        self.plaintext * plain * Bound::from_bits(-self.special.log2(level)) + self.rounding(2)
    }

    /// Room left in bits under modulus 2^{log2_q}: log2(Q/2) − log2(C_m·‖ε‖). Negative: decryption
    /// may fail.
    pub fn capacity(&self, log2_q: f64, a: Bound) -> f64 {
        log2_q - 1.0 - (self.coefficient_factor * a).bits()
    }

    /// Whether decryption under modulus 2^{log2_q} is guaranteed to be right (except with the failure
    /// probability of the bound).
    pub fn decryptable(&self, log2_q: f64, a: Bound) -> bool {
        // The centred lift of residues is exact up to (1/2 − 2^{−30})·Q.
        self.capacity(log2_q, a) > 1e-8
    }

    /// The log2 sizes of the primes that a level has of each group, where it has any.
    fn active_groups(&self, level: usize) -> Vec<Vec<f64>> {
        let basis = self.levels.basis(level);
        let sizes = |group: &Vec<(usize, f64)>| -> Vec<f64> {
            group.iter().filter(|(index, _)| basis.row_of(*index).is_some()).map(|(_, size)| *size).collect()
        };
        self.groups.iter().map(sizes).filter(|sizes| !sizes.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests;
