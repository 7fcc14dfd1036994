//! Numbers of twice the precision of doubles, for values of more than 53 bits.
//!
//! A [`Wide`] is a sum of two doubles, the second at most half a unit in the last place of the first
//! (Dekker 1971; the sums and products are those of Knuth and Dekker). Sums and products have no
//! branches and call no library. Quotients and roots use the processor's division and square root, whose time may
//! depend on operands. `round` and `norm` call the library of the platform.

use std::ops::{Add, Div, Mul, Neg, Sub};

use num_complex::Complex64;
use zeroize::DefaultIsZeroes;

/// The relative error of transforms of [`Wide`] numbers, with room: roots are off by 2^−98 and there
/// are 16 stages at most.
pub(crate) const WIDE_ROUNDING: f64 = 1.0 / (1u128 << 90) as f64;

/// A number of about 106 bits: `high + low`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wide {
    high: f64,
    low: f64,
}

/// A complex number of about 106 bits in each part.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WideComplex {
    /// The real part.
    pub re: Wide,
    /// The imaginary part.
    pub im: Wide,
}

impl DefaultIsZeroes for Wide {}
impl DefaultIsZeroes for WideComplex {}

/// `a + b` with its rounding error, exactly.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// As [`two_sum`], for |a| ≥ |b|.
fn quick_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Two halves of 26 bits.
fn split(a: f64) -> (f64, f64) {
    let shifted = a * ((1u64 << 27) + 1) as f64;
    let high = shifted - (shifted - a);
    (high, a - high)
}

/// `a·b` with its rounding error, exactly.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    (product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)
}

impl Wide {
    /// 0.
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };
    /// 1.
    pub const ONE: Self = Self { high: 1.0, low: 0.0 };
    /// The error of encoding and decoding, relative to the largest slot: 2^−90.
    #[doc(hidden)]
    pub const ENCODING: f64 = WIDE_ROUNDING;

    /// `a + b`, exactly, unless it overflows.
    pub fn sum(a: f64, b: f64) -> Self {
        let (high, low) = two_sum(a, b);
        Self { high, low }
    }

    /// The double nearest to the number.
    pub fn high(self) -> f64 {
        self.high
    }

    /// What the number is beside [`Self::high`].
    pub fn low(self) -> f64 {
        self.low
    }

    /// The absolute value.
    pub fn abs(self) -> Self {
        let sign = 1f64.copysign(self.high);
        Self { high: self.high * sign, low: self.low * sign }
    }

    /// The square root of a number above 0.
    pub fn sqrt(self) -> Self {
        let near = self.high.sqrt();
        let (square, rest) = two_product(near, near);
        let left = self - Self { high: square, low: rest };
        Self::sum(near, left.high / (2.0 * near))
    }

    /// The nearest integer, or one that is as near up to 2^−53, as a sum of two integers.
    pub(crate) fn round(self) -> Self {
        let high = self.high.round_ties_even();
        Self::sum(high, ((self.high - high) + self.low).round_ties_even())
    }

    /// Whether it is a number.
    pub fn is_finite(self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }
}

impl From<f64> for Wide {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (high, rest) = two_sum(self.high, other.high);
        let (low, last) = two_sum(self.low, other.low);
        let (high, rest) = quick_sum(high, rest + low);
        let (high, low) = quick_sum(high, rest + last);
        Self { high, low }
    }
}

impl Neg for Wide {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Wide {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Wide {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (high, rest) = two_product(self.high, other.high);
        let (high, low) = quick_sum(high, rest + (self.high * other.low + self.low * other.high));
        Self { high, low }
    }
}

impl Div for Wide {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        let (high, low) = quick_sum(first, second);
        Self { high, low } + Self::from(rest.high / other.high)
    }
}

impl WideComplex {
    /// From its parts.
    pub fn new(re: impl Into<Wide>, im: impl Into<Wide>) -> Self {
        Self { re: re.into(), im: im.into() }
    }

    /// The complex number of doubles that is nearest.
    pub fn high(self) -> Complex64 {
        Complex64::new(self.re.high, self.im.high)
    }

    /// What the number is beside [`Self::high`].
    pub fn low(self) -> Complex64 {
        Complex64::new(self.re.low, self.im.low)
    }

    /// The absolute value as a double.
    pub fn norm(self) -> f64 {
        self.high().norm()
    }

    /// The complex conjugate.
    pub fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
}

impl From<Complex64> for WideComplex {
    fn from(z: Complex64) -> Self {
        Self::new(z.re, z.im)
    }
}

impl Add for WideComplex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for WideComplex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for WideComplex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

/// exp(2πi·j/count) for j below a power of two of at least 4.
///
/// Half angles from a quarter of the circle down, then products: each is off by some 2^−100.
pub(super) fn roots(count: usize) -> Vec<WideComplex> {
    let levels = count.ilog2();
    // exp(2πi/2^k) for k = 1, 2, ..
    let mut root = WideComplex::new(0.0, 1.0);
    let mut halved = vec![WideComplex::new(-1.0, 0.0), root];
    for _ in 2..levels {
        let cosine = ((Wide::ONE + root.re) * Wide::from(0.5)).sqrt();
        root = WideComplex { re: cosine, im: root.im / (cosine + cosine) };
        halved.push(root);
    }
    let mut all = vec![WideComplex::new(1.0, 0.0)];
    for root in halved.into_iter().take(levels as usize).rev() {
        let turned: Vec<WideComplex> = all.iter().map(|z| *z * root).collect();
        all.extend(turned);
    }
    all
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    /// The number times 2^200, exactly: of numbers between 2^−90 and 2^90.
    fn integer(x: Wide) -> BigInt {
        [x.high, x.low].map(whole).into_iter().sum()
    }

    fn whole(x: f64) -> BigInt {
        let bits = x.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
        let mantissa = if exponent == 0 { BigInt::ZERO } else { BigInt::from(fraction | 1 << 52) };
        let shift = exponent - 1075 + 200;
        let size = if shift >= 0 { mantissa << shift } else { mantissa >> -shift };
        if x < 0.0 { -size } else { size }
    }

    fn samples() -> Vec<Wide> {
        let parts = [1.0, -1.0, std::f64::consts::PI, -1e-3, 12_345.678, 1e12, 0.1];
        let low = |x: f64, k: usize| x * 2f64.powi(-54) * [0.9, -0.3, 0.0][k % 3];
        parts.iter().enumerate().map(|(k, &x)| Wide::sum(x, low(x, k))).collect()
    }

    /// |a − b| ≤ 2^−bits·|b| for integers.
    fn is_near(a: &BigInt, b: &BigInt, bits: u32) -> bool {
        (a - b).magnitude() << bits <= *b.magnitude()
    }

    #[test]
    fn operations_are_right_to_a_hundred_bits() {
        for a in samples() {
            for b in samples() {
                let (x, y) = (integer(a), integer(b));
                let size = BigInt::from(x.magnitude().clone() + y.magnitude());
                assert!((integer(a + b) - (&x + &y)).magnitude() << 102u32 <= *size.magnitude(), "{a:?} + {b:?}");
                assert!(is_near(&integer(a * b), &((&x * &y) >> 200u32), 100), "{a:?}·{b:?}");
                assert!(is_near(&integer(a / b), &((&x << 200u32) / &y), 98), "{a:?}/{b:?}");
            }
            let root = integer(a.abs().sqrt());
            assert!(is_near(&((&root * &root) >> 200u32), &integer(a.abs()), 98), "√|{a:?}|");
        }
    }

    #[test]
    fn integers_are_rounded_to_the_nearest() {
        for (number, nearest) in
            [(Wide::sum(3.0, 0.4), 3.0), (Wide::sum(2f64.powi(60), 0.75), 2f64.powi(60)), (Wide::sum(-2.5, -0.2), -3.0)]
        {
            let rounded = number.round();
            assert!((rounded - number).abs().high() <= 0.5, "{number:?}");
            assert_eq!(rounded.high(), nearest, "{number:?}");
        }
    }

    /// By the integer parts of sums that cancel.
    #[test]
    fn roots_of_unity_are_right_to_ninety_eight_bits() {
        for count in [8, 64, 1 << 12] {
            let roots = roots(count);
            assert_eq!(roots.len(), count);
            for j in 0..count {
                let expected = Complex64::from_polar(1.0, std::f64::consts::TAU * j as f64 / count as f64);
                assert!((roots[j].high() - expected).norm() < 1e-14);
                let opposite = roots[j] * roots[(count - j) % count] - WideComplex::new(1.0, 0.0);
                assert!(opposite.norm() < 2f64.powi(-98), "{j} of {count}: {opposite:?}");
                let square = roots[j] * roots[j] - roots[2 * j % count];
                assert!(square.norm() < 2f64.powi(-98), "{j} of {count}: {square:?}");
            }
        }
    }
}
