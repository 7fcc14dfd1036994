//! Polynomial approximations of functions on an interval.

use windlass_rlwe::Limits;

use super::polynomial::{Polynomial, PowerBasis, check_interval};
use crate::error::Result;

impl Polynomial {
    /// The interpolation of `f` at the degree + 1 Chebyshev points of an interval: within a factor
    /// of about 2 + log(degree) of the best polynomial of that degree.
    ///
    /// # Errors
    /// [`crate::Error::OutOfRange`] for an empty interval or a degree above 1023;
    /// [`crate::Error::NotFinite`] where f is not.
    pub fn interpolate(f: impl Fn(f64) -> f64, low: f64, high: f64, degree: usize) -> Result<Self> {
        check_interval(low, high)?;
        Limits::at_most(1023).check("the degree", degree)?;
        let count = degree + 1;
        let angle = |j: usize| std::f64::consts::PI * (j as f64 + 0.5) / count as f64;
        let values: Vec<f64> =
            (0..count).map(|j| f(0.5 * (low + high) + 0.5 * (high - low) * angle(j).cos())).collect();
        let coefficient = |k: usize| {
            let sum: f64 = (0..count).map(|j| values[j] * (k as f64 * angle(j)).cos()).sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / count as f64
        };
        let mut coefficients: Vec<f64> = (0..count).map(coefficient).collect();
        // Coefficients at rounding error would cost products: those of odd or even functions
        // vanish.
        let largest = coefficients.iter().fold(0.0, |a: f64, c| a.max(c.abs()));
        coefficients.iter_mut().filter(|c| c.abs() < largest * 1e-14).for_each(|c| *c = 0.0);
        Self::chebyshev(&coefficients, low, high)
    }

    /// 1/(1 + e^{−x}) for |x| ≤ bound.
    ///
    /// # Errors
    /// As [`Self::interpolate`].
    pub fn sigmoid(bound: f64, degree: usize) -> Result<Self> {
        Self::interpolate(|x| 1.0 / (1.0 + (-x).exp()), -bound, bound, degree)
    }

    /// e^x on an interval.
    ///
    /// # Errors
    /// As [`Self::interpolate`].
    pub fn exponential(low: f64, high: f64, degree: usize) -> Result<Self> {
        Self::interpolate(f64::exp, low, high, degree)
    }

    /// 1/x on an interval that does not hold 0.
    ///
    /// # Errors
    /// As [`Self::interpolate`]; [`crate::Error::OutOfRange`] if 0 lies in the interval.
    pub fn inverse(low: f64, high: f64, degree: usize) -> Result<Self> {
        if low <= 0.0 && high >= 0.0 {
            let limits = Limits::only("positive, or the upper end negative");
            return Err(limits.refuse("the lower end of the interval", low).into());
        }
        Self::interpolate(|x| 1.0 / x, low, high, degree)
    }

    /// The largest distance from `f` at 16 points for each degree (of the interval, or of −1..1 for
    /// monomials).
    pub fn distance(&self, f: impl Fn(f64) -> f64) -> f64 {
        let (low, high) = match self.basis() {
            PowerBasis::Chebyshev { low, high } => (low, high),
            PowerBasis::Monomial => (-1.0, 1.0),
        };
        let points = 16 * (self.degree() + 1);
        let at = |j: usize| low + (high - low) * j as f64 / points as f64;
        (0..=points).map(|j| (self.value(at(j)) - f(at(j))).abs()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn approximations_converge() {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        assert!(Polynomial::sigmoid(8.0, 15).unwrap().distance(sigmoid) < 5e-3);
        assert!(Polynomial::sigmoid(8.0, 63).unwrap().distance(sigmoid) < 1e-9);
        assert!(Polynomial::exponential(-2.0, 1.0, 12).unwrap().distance(f64::exp) < 1e-10);
        assert!(Polynomial::inverse(0.5, 2.0, 31).unwrap().distance(|x| 1.0 / x) < 1e-12);
    }

    #[test]
    fn values_are_those_of_the_definition() {
        let p = Polynomial::chebyshev(&[0.5, -1.0, 0.25, 2.0], -1.0, 1.0).unwrap();
        for x in [-1.0f64, -0.3, 0.0, 0.7, 1.0] {
            let t = |k: f64| (k * x.acos()).cos();
            assert!((p.value(x) - (0.5 - t(1.0) + 0.25 * t(2.0) + 2.0 * t(3.0))).abs() < 1e-12);
        }
        assert_eq!(Polynomial::monomial(&[1.0, 0.0, 3.0]).unwrap().value(2.0), 13.0);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(Polynomial::monomial(&[]), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(Polynomial::monomial(&[1.0, f64::NAN]), Err(Error::NotFinite { index: 1 })));
        assert!(matches!(Polynomial::inverse(-1.0, 1.0, 7), Err(Error::OutOfRange { .. })));
        assert!(matches!(Polynomial::exponential(1.0, 1.0, 7), Err(Error::OutOfRange { .. })));
    }
}
