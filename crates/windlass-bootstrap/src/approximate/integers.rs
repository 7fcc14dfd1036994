//! How large the integers I get, by which a raised ciphertext exceeds its message.
//!
//! `Q_B·I = c_0 + c_1·s̃ − φ` for a phase φ that is small beside Q_B. So `|I| ≤ (1 + ‖s̃‖_1)/2`, and a sum of k secrets
//! of weight h each has ‖s̃‖_1 ≤ k·h. That is certain, and is the bound for one party. For k parties it grows with k,
//! but integers as large as √k times those of one party are already rare: the signs of k·h terms would all have to
//! agree.
//!
//! *A bound that fails with probability below 2^−128 for each sine.* Let x_j be the coefficients of c_1/Q_B, independent
//! and uniform in \[−1/2, 1/2\]: an assumption on whoever chose the ciphertext and the circuit. A coefficient of c_1·s̃/Q_B is T = Σ_i Σ_{j in S_i} ±x_j, S_i the support of party i's secret, up to
//! the order and signs of the x_j. Let x be given. Then the parties are independent, and so are the signs:
//! `⟨e^{λT}⟩ = Π_i ⟨Π_{j in S_i} cosh λx_j⟩`. Each S_i is a set of h of the n places. A convex function of a sum over
//! such a sample is on average at most that of a sample with repetitions (Hoeffding 1963, Theorem 4), so
//! `⟨e^{λT}⟩ ≤ M^{k·h}` with `M = (1/n)·Σ cosh λx_j`. M is the same for all n coefficients, since cosh is even. It is a
//! mean of n independent numbers in \[1, cosh λ/2\] with the mean μ = sinh(λ/2)/(λ/2). By Hoeffding's inequality it is at
//! most `μ + δ` with `δ = (cosh(λ/2) − 1)·√(ln 2^140/2n)`, except with probability 2^−140. By Markov's inequality
//!
//! ```text
//! P(some |T| > t) ≤ 2n·e^{−λt}·(μ + δ)^{k·h} + 2^−140
//! ```
//!
//! for every λ > 0. Collisions of supports need no care: they are in the average.

use std::f64::consts::LN_2;

/// −log2 of the probability that M is larger than assumed.
const MEAN_BITS: f64 = 140.0;
/// −log2 of the probability that an integer exceeds the bound, M being as assumed.
const FAILURE_BITS: f64 = 129.0;

/// What no |I| exceeds, for an ephemeral secret that is the sum of one of this weight from each party: certain for one
/// party, and except with probability 2^−128 for several.
pub(super) fn most(n: usize, weight: u32, parties: u32) -> i64 {
    let total = i64::from(weight) * i64::from(parties);
    let certain = (total + 1) / 2;
    match parties {
        1 => certain,
        // c_0 adds a half, and φ less than a sixteenth.
        _ => certain.min((tail(n as f64, total as f64) + 0.6).floor() as i64),
    }
}

/// t: no |T| exceeds it except with probability 2^−128, the least over λ.
fn tail(n: f64, total: f64) -> f64 {
    let at = |lambda: f64| {
        let half = lambda / 2.0;
        let deviation = (half.cosh() - 1.0) * (MEAN_BITS * LN_2 / (2.0 * n)).sqrt();
        let mean = (half.sinh() / half + deviation).min(half.cosh());
        (total * mean.ln() + (2.0 * n).ln() + FAILURE_BITS * LN_2) / lambda
    };
    // From 1/16 to 64, in steps of a hundredth of a factor of two.
    (-400..600).map(|k| at((f64::from(k) / 100.0).exp2())).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;
    use crate::ephemeral::EphemeralSecret;

    #[test]
    fn bounds_grow_with_the_root_of_the_number_of_parties() {
        for weight in [28, 30, 32] {
            assert_eq!(most(1 << 16, weight, 1), i64::from(weight / 2));
            let of = |parties| most(1 << 16, weight, parties);
            let bounds: Vec<i64> = [2, 3, 4, 8, 16, 64, 256].map(of).into();
            println!("weight {weight}: {bounds:?}");
            assert!(bounds.is_sorted() && bounds[0] <= i64::from(weight));
            assert!(of(64) < 64 * i64::from(weight) / 2 / 4 && of(256) < 3 * of(64));
        }
        // In a small ring M may be far from its mean, and the certain bound is the smaller one.
        assert_eq!(most(32, 8, 3), 12);
    }

    /// The integers of random c_1, as large as the variance says and within the bound.
    #[test]
    fn sums_of_secrets_have_the_variance_of_the_plan() {
        let (n, weight, parties) = (1 << 11, 30, 8);
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let (mut squares, mut largest) = (0.0, 0.0f64);
        for _ in 0..4 {
            let secret = EphemeralSecret::sum_of_sparse(n, weight, parties, &mut rng);
            let x: Vec<f64> = (0..n).map(|_| f64::from(rng.next_u32()) / 2f64.powi(32) - 0.5).collect();
            for place in 0..n {
                let term = |k: usize| secret.0[k] as f64 * if k <= place { x[place - k] } else { -x[n + place - k] };
                let sum: f64 = (0..n).map(term).sum();
                squares += sum * sum / (4 * n) as f64;
                largest = largest.max(sum.abs());
            }
        }
        let variance = f64::from(weight * parties) / 12.0;
        let bound = most(n, weight, parties) as f64;
        println!("{squares:.2} of {variance:.2}, largest {largest:.1} of {bound}");
        assert!((squares / variance - 1.0).abs() < 0.2 && largest < bound / 2.0);
    }

    /// Against the tail of a sum of uniform numbers, exact by its moments: the bound is no less than what a Gaussian of
    /// the same variance exceeds with a probability far above 2^−128.
    #[test]
    fn bounds_are_not_below_what_occurs() {
        for (n, weight, parties) in [(1 << 15, 30, 3), (1 << 16, 28, 16), (1 << 16, 32, 256)] {
            let variance = f64::from(weight * parties) / 12.0;
            // 2^−100 for one coefficient of a Gaussian: 11.6 deviations. The sum has a lighter tail by a little.
            let least = 11.0 * variance.sqrt();
            let bound = most(n, weight, parties) as f64;
            assert!(bound > least && bound < 1.7 * least, "{bound} and {least}");
        }
    }
}
