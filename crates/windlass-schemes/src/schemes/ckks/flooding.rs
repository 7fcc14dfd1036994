//! Gaussian noise for published decryptions.

use rand_core::RngCore;
use zeroize::Zeroize;

/// Uniform in (0, 1], 53 bits.
fn uniform(rng: &mut impl RngCore) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * 2f64.powi(-53)
}

/// Adds an independent Gaussian to every value (Box–Muller, with the sum of two pairs: the low bits
/// of one alone lie on few points).
pub(super) fn add_gaussian(values: &mut [f64], deviation: f64, rng: &mut impl RngCore) {
    let share = deviation * std::f64::consts::FRAC_1_SQRT_2;
    for value in values {
        for _ in 0..2 {
            let (mut radius, mut angle) = ((-2.0 * uniform(rng).ln()).sqrt(), std::f64::consts::TAU * uniform(rng));
            *value += share * radius * angle.cos();
            radius.zeroize();
            angle.zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn moments_are_those_of_a_gaussian() {
        let mut values = vec![0.0; 100_000];
        add_gaussian(&mut values, 3.0, &mut rand_chacha::ChaCha20Rng::from_seed([3; 32]));
        let moment = |k: i32| values.iter().map(|x| (x / 3.0f64).powi(k)).sum::<f64>() / values.len() as f64;
        assert!(moment(1).abs() < 0.015 && (moment(2) - 1.0).abs() < 0.02 && (moment(4) - 3.0).abs() < 0.12);
    }
}
