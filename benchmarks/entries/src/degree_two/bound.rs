//! How large errors get.
//!
//! A fresh phase is m + t·e with |m_j| ≤ t/2 and e Gaussian of deviation σ. A coefficient of x·e
//! is, for x that does not depend on e, a sum of independent Gaussians: it is below k·σ·‖x‖₂ except
//! with probability 2·exp(−k²/2). ‖e‖₂ is below 1.2·σ·√n except with probability (1.2·e^{−0.22})^n
//! < 2^{−200} at n = 4096.
//!
//! Dropping the prime d takes from part i of a ciphertext a multiple t·u_i of t with u_i ≡ part_i/t
//! (mod d), |u_i| < d/2, and divides by d. What it adds to the phase is Σ_i t·(u_i/d)·s^i, u_i/d
//! being uniform in (−1/2, 1/2) as parts of ciphertexts look uniform: at most t/2 from the first
//! part, and below k·t·‖s‖₂/√12 and k·t·‖s²‖₂/√12 from the others, since log E exp(λu) ≤ λ²/24 for
//! a uniform number. Key generation draws secrets again until ‖s²‖₂² ≤ 1.15·8n²/9.
//!
//! k is chosen so that all coefficients of a dozen such sums together fail with a probability below
//! 2^{−128}.

use windlass::ring::kernels::Modulus;

/// The deviation of errors.
pub const SIGMA: f64 = 3.2;

/// log2 of what a ciphertext fails with.
const FAILURE_BITS: f64 = 128.0;

/// k, for twelve sums of n coefficients.
pub fn tail_factor(n: usize) -> f64 {
    (2.0 * std::f64::consts::LN_2 * (FAILURE_BITS + (24.0 * n as f64).log2())).sqrt()
}

/// ‖e‖₂ of an error.
pub fn error_norm(n: usize) -> f64 {
    1.2 * SIGMA * (n as f64).sqrt()
}

/// Bounds on the coefficients of one result's phase.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Before the second prime is dropped.
    result: f64,
    /// What dropping it adds.
    rounding: f64,
    kept: f64,
    dropped: f64,
}

impl Bounds {
    /// For dimension n, plaintext prime t, results up to `result`, and the two ciphertext primes.
    pub fn new(n: usize, t: u64, result: f64, [kept, dropped]: [Modulus; 2]) -> Self {
        let secrets = (n as f64).sqrt() + square_norm_bound(n);
        let rounding = t as f64 * (0.5 + tail_factor(n) * secrets / 12f64.sqrt());
        Self { result, rounding, kept: kept.value() as f64, dropped: dropped.value() as f64 }
    }

    /// The largest coefficient of an answer's phase.
    pub fn answer(&self) -> f64 {
        self.result / self.dropped + self.rounding
    }

    /// Whether the result, and what is left of it, are both lifted rightly.
    pub fn decryptable(&self) -> bool {
        self.result < 0.499 * self.kept * self.dropped && self.answer() < 0.499 * self.kept
    }
}

/// ‖s²‖₂, above which key generation draws again. A coefficient of s² is a sum of n/2 products that
/// each occur twice: its variance is 4·(n/2)·(2/3)² = 8n/9.
pub fn square_norm_bound(n: usize) -> f64 {
    n as f64 * (1.15f64 * 8.0 / 9.0).sqrt()
}
