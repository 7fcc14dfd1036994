//! How large errors get.
//!
//! A fresh phase is m + t·e with |m_j| ≤ t/2 and e Gaussian of deviation σ. So the product of two
//! is
//!
//! > m·m' + t·(m·e' + m'·e) + t²·e·e'.
//!
//! Coefficient by coefficient: m·m' is at most n·t²/4, whatever the messages are. A coefficient of
//! m·e' is a sum of independent Gaussians whose deviations are σ·|m_j|, so it is below k·σ·‖m‖₂ ≤
//! k·σ·t·√n/2 but for a probability of 2·exp(−k²/2); in the same way e·e' is below k·σ·‖e‖₂, and
//! ‖e‖₂ is below 1.2·σ·√n but for a probability of (1.2·e^{−0.22})^n < 2^{−200} at n = 4096.
//!
//! Dropping the prime d takes from part i of the ciphertext a multiple t·u_i of t with u_i ≡
//! part_i/t (mod d), |u_i| < d/2, and divides by d. What it adds to the phase is Σ_i t·(u_i/d)·s^i,
//! u_i/d being uniform in (−1/2, 1/2) as parts of ciphertexts look uniform: at most t/2 from the
//! first part, and by Hoeffding's lemma below k·t·‖s‖₂/2 and k·t·‖s²‖₂/2 from the others. (A
//! uniform number is narrower than what the lemma allows for: its deviation is 1/√12, and log E
//! exp(λu) ≤ λ²/24, which makes the factors 1/√12 in place of 1/2.) Key generation draws secrets
//! again until ‖s²‖₂² ≤ 1.15·8n²/9.
//!
//! k is chosen so that all coefficients of all terms together fail with a probability below
//! 2^{−128} a ciphertext.

/// The deviation of errors.
pub const SIGMA: f64 = 3.2;

/// log2 of what a ciphertext fails with.
const FAILURE_BITS: f64 = 128.0;

/// Bounds on the coefficients of one product's phase.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Before the second prime is dropped.
    product: f64,
    /// What dropping it adds.
    rounding: f64,
    kept: f64,
    dropped: f64,
}

impl Bounds {
    /// For dimension n, plaintext prime t, and the two ciphertext primes.
    pub fn new(n: usize, t: u64, kept: u64, dropped: u64) -> Self {
        let (n, t) = (n as f64, t as f64);
        // Six sums of n coefficients, each from two sides.
        let k = (2.0 * std::f64::consts::LN_2 * (FAILURE_BITS + (12.0 * n).log2())).sqrt();
        let messages = n * t * t / 4.0;
        let mixed = 2.0 * k * SIGMA * t * t * n.sqrt() / 2.0;
        let errors = k * SIGMA * t * t * 1.2 * SIGMA * n.sqrt();
        let secrets = n.sqrt() + square_norm_bound(n as usize);
        Self {
            product: messages + mixed + errors,
            rounding: t / 2.0 + k * t * secrets / 12f64.sqrt(),
            kept: kept as f64,
            dropped: dropped as f64,
        }
    }

    /// The largest coefficient of an answer's phase.
    pub fn answer(&self) -> f64 {
        self.product / self.dropped + self.rounding
    }

    /// Whether the product, and what is left of it, are both lifted rightly.
    pub fn decryptable(&self) -> bool {
        self.product < 0.499 * self.kept * self.dropped && self.answer() < 0.499 * self.kept
    }
}

/// ‖s²‖₂, above which key generation draws again. A coefficient of s² is a sum of n/2 products that
/// each occur twice: its variance is 4·(n/2)·(2/3)² = 8n/9.
pub fn square_norm_bound(n: usize) -> f64 {
    n as f64 * (1.15f64 * 8.0 / 9.0).sqrt()
}
