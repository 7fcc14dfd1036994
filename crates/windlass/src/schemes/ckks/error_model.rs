#![doc = include_str!("../../../../../docs/math/approximate.md")]

use num_complex::Complex64;
use windlass_rlwe::RlweParams;

/// Deviations of one parameter set: of the slots that `count` coefficients make, n of them or those
/// of a subring.
#[derive(Debug, Clone)]
pub(crate) struct ErrorModel {
    n: f64,
    sigma: f64,
    /// Sum of the variances of the secret's coefficients.
    secret: f64,
    /// For each digit: log2 of its product relative to P, and its primes, by level: filled from the
    /// gadget.
    groups: Vec<Vec<f64>>,
    log2_p: f64,
}

impl ErrorModel {
    /// A product of two complex Gaussians of deviation 1 exceeds t with probability about
    /// √(πt)·exp(−2t); a Gaussian times an embedding of the secret (at most 4.3 deviations,
    /// enforced at key generation) exceeds 64 less often still.
    pub(crate) const BOUND_FACTOR: f64 = 64.0;

    pub(crate) fn new(params: &RlweParams) -> Self {
        let size = |index: usize| (params.q_primes()[index].value() as f64).log2();
        Self {
            n: params.n() as f64,
            sigma: params.sigma(),
            secret: params.secret().total_variance(params.n()),
            groups: params.gadget().groups().iter().map(|group| group.indices().map(size).collect()).collect(),
            log2_p: params.log2_p(),
        }
    }

    /// A fresh public-key encryption: e_0 + e_1·s + e·u, u ternary.
    pub(crate) fn fresh_public(&self, count: usize) -> f64 {
        (count as f64 * (1.0 + self.secret + 2.0 * self.n / 3.0)).sqrt() * self.sigma
    }

    /// A fresh secret-key encryption.
    pub(crate) fn fresh_secret(&self, count: usize) -> f64 {
        (count as f64).sqrt() * self.sigma
    }

    /// Rounding `count` coefficients of a polynomial that others may have chosen: at most 1/2 each,
    /// all towards one slot.
    pub(crate) fn encoding(&self, count: usize) -> f64 {
        (count as f64 / 12.0).sqrt().max(count as f64 / 2.0 / Self::BOUND_FACTOR)
    }

    /// An error that is known: its mean square over all slots, and more where its largest slot
    /// would exceed the bound.
    pub(crate) fn known(slots: &[Complex64]) -> f64 {
        let squares = slots.iter().map(|z| z.norm_sqr());
        let largest = squares.clone().fold(0.0, f64::max).sqrt();
        (squares.sum::<f64>() / slots.len() as f64).sqrt().max(largest / Self::BOUND_FACTOR)
    }

    /// Rounding both parts of a ciphertext, of which the second is random.
    pub(crate) fn rounding(&self, count: usize) -> f64 {
        (count as f64 / 12.0 * (1.0 + self.secret)).sqrt()
    }

    /// Rounding both parts of any ciphertext, over the whole ring. The second is random or zero;
    /// where it is zero the first is known, and may round towards one slot.
    pub(crate) fn any_rounding(&self) -> f64 {
        self.rounding(self.n as usize).max(self.encoding(self.n as usize))
    }

    /// The inner product of a key switch at `level`, divided by P.
    ///
    /// A digit of g primes and product D has coefficients of mean g·D/2 and variance g·D²/12; the
    /// mean is a multiple of the all-ones polynomial, whose norm is taken at its largest slot.
    pub(crate) fn inner_product(&self, level: usize, count: usize) -> f64 {
        let all_ones = 1.0 / (std::f64::consts::PI / (2 * count) as f64).sin();
        let mut left = level;
        let mut variance = 0.0;
        for group in &self.groups {
            let taken = &group[..left.min(group.len())];
            left -= taken.len();
            if !taken.is_empty() {
                let (g, log2_d) = (taken.len() as f64, taken.iter().sum::<f64>());
                let digit = (g / 2.0 * all_ones).powi(2) + count as f64 * g / 12.0;
                variance += digit * (2.0 * (log2_d - self.log2_p)).exp2();
            }
        }
        (variance * self.n).sqrt() * self.sigma
    }
}
