//! Non-negative numbers known by their logarithm, and probabilities of failure.

use std::fmt;
use std::ops::{Add, Div, Mul};

/// A bound `2^x ≥ 0`, held as x: moduli of thousands of bits do not fit a float.
///
/// Arithmetic rounds up by a relative 2^{−40}, which covers the rounding of the logarithms.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Bound(f64);

/// Slack of one operation in bits.
const SLACK: f64 = 1.0 / (1u64 << 40) as f64;

impl Bound {
    /// The bound 0.
    pub const ZERO: Self = Self(f64::NEG_INFINITY);
    /// The bound 1.
    pub const ONE: Self = Self(0.0);

    /// The bound `value`, which must not be negative.
    pub fn of(value: f64) -> Self {
        assert!(value >= 0.0, "a bound is not negative");
        Self(value.log2())
    }

    /// The bound `2^bits`.
    pub fn from_bits(bits: f64) -> Self {
        assert!(!bits.is_nan(), "a bound is a number");
        Self(bits)
    }

    /// The logarithm to base two; −∞ for zero.
    pub fn bits(self) -> f64 {
        self.0
    }

    /// `self^exponent`.
    pub fn pow(self, exponent: u32) -> Self {
        if exponent == 0 { Self::ONE } else { Self(self.0 * exponent as f64) }
    }

    /// The larger of the two.
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

impl Add for Bound {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (low, high) = if self.0 < other.0 { (self.0, other.0) } else { (other.0, self.0) };
        if low == f64::NEG_INFINITY {
            return Self(high);
        }
        Self(high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2 + SLACK)
    }
}

impl Mul for Bound {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        if self == Self::ZERO || other == Self::ZERO {
            return Self::ZERO;
        }
        Self(self.0 + other.0 + SLACK)
    }
}

impl Div for Bound {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        assert!(other != Self::ZERO, "division by the bound zero");
        Self(self.0 - other.0 + SLACK)
    }
}

impl std::iter::Sum for Bound {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "2^{:.1}", self.0)
    }
}

/// A probability of failure `2^{−bits}`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct FailureProbability {
    bits: f64,
}

impl FailureProbability {
    /// `2^{−bits}`, 1 ≤ bits ≤ 1024.
    pub fn from_bits(bits: f64) -> Self {
        assert!((1.0..=1024.0).contains(&bits), "a failure probability between 2^-1024 and 1/2");
        Self { bits }
    }

    /// −log2 of the probability.
    pub fn bits(self) -> f64 {
        self.bits
    }
}

impl Default for FailureProbability {
    /// 2^{−128}.
    fn default() -> Self {
        Self { bits: 128.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_agrees_with_floats_and_never_rounds_down() {
        for (a, b) in [(3.0, 5.0), (1e-3, 7.0), (1e30, 1e-30), (2.0, 2.0)] {
            let (x, y) = (Bound::of(a), Bound::of(b));
            for (got, exact) in [(x + y, a + b), (x * y, a * b), (x / y, a / b)] {
                let error = got.bits() - exact.log2();
                assert!((0.0..1e-9).contains(&(error + 1e-14)), "{a}, {b}: {error}");
            }
        }
        assert_eq!(Bound::ZERO + Bound::ONE, Bound::ONE);
        for other in [5000.0, f64::INFINITY].map(Bound::from_bits) {
            assert_eq!((Bound::ZERO * other, other * Bound::ZERO), (Bound::ZERO, Bound::ZERO));
        }
        assert!((Bound::from_bits(4000.0) + Bound::from_bits(4000.0)).bits() - 4001.0 < 1e-9);
        assert_eq!(Bound::of(0.0), Bound::ZERO);
        assert_eq!((0..4).map(|_| Bound::ONE).sum::<Bound>().to_string(), "2^2.0");
    }
}
