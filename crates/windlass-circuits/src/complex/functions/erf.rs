//! The normal distribution, in double precision.

use std::f64::consts::{PI, SQRT_2};

/// Φ(x) = (1 + erf(x/√2))/2.
pub(super) fn normal_distribution(x: f64) -> f64 {
    let tail = 0.5 * complementary_error(x.abs() / SQRT_2);
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// erfc(x) for x ≥ 0: by the series of erf, `2/√π·e^{−x²}·Σ 2^k·x^{2k+1}/(1·3·..·(2k+1))`, or by its
/// continued fraction, `e^{−x²}/√π / (x + (1/2)/(x + 1/(x + (3/2)/(x + ..))))`.
fn complementary_error(x: f64) -> f64 {
    let weight = (-x * x).exp() / PI.sqrt();
    if x < 2.5 {
        let (mut term, mut sum) = (x, x);
        for k in 1..80 {
            term *= 2.0 * x * x / (2 * k + 1) as f64;
            sum += term;
        }
        return 1.0 - 2.0 * weight * sum;
    }
    weight / (1..=60).rev().fold(x, |below, k| x + 0.5 * k as f64 / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_tables() {
        let table = [
            (0.0, 1.0),
            (0.5, 0.4795001221869535),
            (1.0, 0.15729920705028513),
            (2.0, 0.004677734981047266),
            (2.4, 6.885138966450789e-4),
            (2.6, 2.3603441652934923e-4),
            (4.0, 1.541725790028002e-8),
        ];
        for (x, expected) in table {
            assert!((complementary_error(x) - expected).abs() < 1e-14, "erfc({x}) = {:e}", complementary_error(x));
        }
        // Both ways meet.
        let [below, above] = [2.5 - 1e-12, 2.5].map(complementary_error);
        assert!((below - above).abs() < 1e-14);
        assert!((normal_distribution(1.0) + normal_distribution(-1.0) - 1.0).abs() < 1e-15);
    }
}
