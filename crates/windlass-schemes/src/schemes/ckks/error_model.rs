#![doc = include_str!("approximate.md")]

use num_complex::Complex64;
use windlass_rlwe::RlweParams;
use windlass_rlwe::noise::secret_norm_bound;

/// Deviations of one parameter set: of the slots that `count` coefficients make, n of them or those
/// of a subring.
#[derive(Debug, Clone)]
pub(crate) struct ErrorModel {
    n: f64,
    sigma: f64,
    /// Sum of the variances of the secret's coefficients.
    secret: f64,
    /// The largest embedding of the secret that key generation lets pass.
    secret_norm: f64,
    /// How many parties hold the key together.
    parties: f64,
    /// For each digit: log2 of its product relative to P, and its primes, by level: filled from the
    /// gadget.
    groups: Vec<Vec<f64>>,
    /// log2 P_l of each level.
    log2_p: Vec<f64>,
}

impl ErrorModel {
    /// The real part of a product of two complex Gaussians, of deviation 1, exceeds t with
    /// probability exp(−√2·t): 2^−146 for each slot. An embedding of a secret that was drawn as it should be is such a
    /// Gaussian; that of one party's secret is also at most 4.3 deviations, enforced at key generation, so that a
    /// Gaussian times it exceeds the bound less often still.
    pub(crate) const BOUND_FACTOR: f64 = 72.0;

    pub(crate) fn new(params: &RlweParams) -> Self {
        assert_eq!(params.spare(), 0, "levels of CKKS are numbers of primes");
        let size = |index: usize| (params.q_primes()[index].value() as f64).log2();
        Self {
            n: params.n() as f64,
            sigma: params.sigma(),
            secret: params.secret().total_variance(params.n()),
            secret_norm: secret_norm_bound(params.shape(), params.secret()),
            parties: f64::from(params.secret().parties()),
            groups: params.gadget().groups().iter().map(|group| group.indices().map(size).collect()).collect(),
            log2_p: (1..=params.top_level()).map(|level| params.log2_p_at(level)).collect(),
        }
    }

    /// A fresh public-key encryption: e_0 + e_1·s + e·u, u ternary, e a sum of one error of each party.
    pub(crate) fn fresh_public(&self, count: usize) -> f64 {
        (count as f64 * (1.0 + self.secret + self.parties * 2.0 * self.n / 3.0)).sqrt() * self.sigma
    }

    /// A fresh secret-key encryption.
    pub(crate) fn fresh_secret(&self, count: usize) -> f64 {
        (count as f64).sqrt() * self.sigma
    }

    /// Rounding `count` coefficients of a polynomial that others may have chosen.
    pub(crate) fn encoding(&self, count: usize) -> f64 {
        (count as f64 / 12.0).sqrt().max(Self::one_way(count) / Self::BOUND_FACTOR)
    }

    /// The largest slot that `count` coefficients of at most 1/2 make: 1/(2·sin(π/(2·count))),
    /// about count/π.
    pub(crate) fn one_way(count: usize) -> f64 {
        all_ones(count) / 2.0
    }

    /// The largest slot of r_1·s, over `count` coefficients, that someone with a ciphertext can
    /// cause in the rounding r_1 of its product: with a factor of so many free coefficients and
    /// slots of at most `magnitude`. A coefficient that rounds as it should takes one that is as
    /// random as residues of the prime are, of the mean square 1/12 of the scale's.
    pub(crate) fn steered(&self, count: usize, free: usize, magnitude: f64) -> f64 {
        // 16 for 12: primes are not the scale exactly.
        let most = (16.0 * magnitude * magnitude).min(free as f64) / 2.0;
        self.secret_norm * most.min(Self::one_way(count))
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

    /// Rounding both parts of any ciphertext, over the whole ring, the first towards one slot.
    pub(crate) fn any_rounding(&self) -> f64 {
        let count = self.n as usize;
        self.rounding(count) + Self::one_way(count) / Self::BOUND_FACTOR
    }

    /// Of [`Self::any_rounding`] the part that may lie in few slots: all n coefficients of 1/2 make
    /// slots whose Euclidean norm, conjugates included, is n/2: less than √n times this.
    pub(crate) fn uneven_rounding(&self) -> f64 {
        2.0 * Self::one_way(self.n as usize) / Self::BOUND_FACTOR / self.n.sqrt()
    }

    /// The inner product of a key switch at `level`, divided by P_l.
    ///
    /// A digit of g primes and product D has coefficients of mean 0 and variance g·D²/12. Whoever
    /// chooses factors may make all of one prime's point one way, up to D/2: counted with the 72nd
    /// that a deviation is of its bound.
    pub(crate) fn inner_product(&self, level: usize, count: usize) -> f64 {
        let mut left = level;
        let mut variance = 0.0;
        for group in &self.groups {
            let taken = &group[..left.min(group.len())];
            left -= taken.len();
            if !taken.is_empty() {
                let (g, log2_d) = (taken.len() as f64, taken.iter().sum::<f64>());
                let steered = Self::one_way(count) / Self::BOUND_FACTOR;
                let digit = (count as f64 * g / 12.0).max(steered * steered);
                variance += digit * (2.0 * (log2_d - self.log2_p[level - 1])).exp2();
            }
        }
        (variance * self.n * self.parties).sqrt() * self.sigma
    }

    /// As [`Self::inner_product`] with a key of a delegation, whose error is e·u + e_1·s' + e_0.
    pub(crate) fn delegation(&self, level: usize, count: usize) -> f64 {
        self.inner_product(level, count) * (2.0 * self.secret_norm.powi(2) + 1.0).sqrt()
    }

    /// As [`Self::inner_product`] with the relinearisation key. That of several parties has the error
    /// s·e_0 + u·e_1 + e_2 instead of e_2, with u as s: a slot of s is at most its norm.
    pub(crate) fn relinearisation(&self, level: usize, count: usize) -> f64 {
        let factor = if self.parties == 1.0 { 1.0 } else { (2.0 * self.secret_norm.powi(2) + 1.0).sqrt() };
        self.inner_product(level, count) * factor
    }
}

/// The norm of the polynomial of `count` coefficients that are all 1.
fn all_ones(count: usize) -> f64 {
    1.0 / (std::f64::consts::PI / (2 * count) as f64).sin()
}
