//! Polynomials near a function on an interval, of the smallest degree for a precision.
//!
//! The coefficients are those of the Chebyshev series of the function, by the trapezoidal rule on
//! 8193 points in the angle, where x = cos of the angle. Without the terms above degree d, the
//! series is within a factor of about 1 + (4/π²)·log d of the best polynomial of that degree. The
//! distance is measured on the same points, eight times as many as the largest degree.
//!
//! *Between the points* the distance e is larger than on them by at most h²/8·max|e''|, h their
//! distance in the angle. Second differences are h²·e''; twice their largest is added. So the
//! stated distance is an upper bound for every function whose second derivative in the angle changes
//! by less than a factor of two from one point to the next, and for functions with a kink. A function
//! that oscillates between the points is out of reach of every degree here, and of the measurement.

use std::f64::consts::PI;

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};

use crate::complex::Polynomial;

/// The largest degree.
pub(super) const MOST_DEGREE: usize = 1023;

/// Points less one, a power of two.
const POINTS: usize = 8 * (MOST_DEGREE + 1);

/// Terms below this, relative to the largest value, are rounding errors.
const ROUNDING: f64 = 1e-15;

/// A polynomial, and how far it is from the function at most.
#[derive(Debug, Clone)]
pub(super) struct Approximation {
    pub polynomial: Polynomial,
    pub distance: f64,
}

/// The values of a function where it is measured.
pub(super) struct Samples {
    name: String,
    interval: (f64, f64),
    values: Vec<f64>,
    cosines: Vec<f64>,
}

/// Refuses a plan.
pub(super) fn refused(name: &str, reason: String) -> Error {
    Error::Unplannable { strategy: name.to_owned(), reason }
}

/// Refuses ends that are not the ends of an interval.
///
/// # Errors
/// [`Error::OutOfRange`].
pub(super) fn check_interval((low, high): (f64, f64)) -> Result<()> {
    if !low.is_finite() {
        return Err(Limits::only("finite").refuse("the lower end of the interval", low).into());
    }
    if high.is_finite() && low < high {
        return Ok(());
    }
    Err(Limits::at_least(low).with("exclusive, and finite").refuse("the upper end of the interval", high).into())
}

/// The largest error that was asked for, 2^−bits.
///
/// # Errors
/// [`Error::OutOfRange`].
pub(super) fn target(bits: f64) -> Result<f64> {
    Limits::between(-50.0, 50.0).check("the precision in bits", bits)?;
    Ok((-bits).exp2())
}

impl Samples {
    /// Asks a function for its values, from the upper end to the lower.
    pub fn of(name: &str, f: &dyn Fn(f64) -> f64, interval: (f64, f64)) -> Result<Self> {
        check_interval(interval)?;
        let (low, high) = interval;
        // From both ends, so that values at opposite points are exactly opposite.
        let half = |j: usize| if 2 * j == POINTS { 0.0 } else { (PI * j as f64 / POINTS as f64).cos() };
        let cosines: Vec<f64> =
            (0..=POINTS).map(|j| if 2 * j <= POINTS { half(j) } else { -half(POINTS - j) }).collect();
        let argument = |u: f64| (0.5 * (low + high) + 0.5 * (high - low) * u).clamp(low, high);
        let values: Vec<f64> = cosines.iter().map(|&u| f(argument(u))).collect();
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let reason =
                format!("its value at {} is not a finite number; choose another interval", argument(cosines[at]));
            return Err(refused(name, reason));
        }
        Ok(Self { name: name.to_owned(), interval, values, cosines })
    }

    fn largest(&self) -> f64 {
        self.values.iter().map(|value| value.abs()).fold(0.0, f64::max)
    }

    /// The k-th coefficient of the Chebyshev series.
    fn coefficient(&self, k: usize) -> f64 {
        // cos(k·j·π/N) for all j, from the table of one period of 2N.
        let cosine = |j: usize| {
            let turn = (k * j) % (2 * POINTS);
            self.cosines[turn.min(2 * POINTS - turn)]
        };
        let ends = 0.5 * (self.values[0] + self.values[POINTS] * cosine(POINTS));
        let inner: f64 = (1..POINTS).map(|j| self.values[j] * cosine(j)).sum();
        (ends + inner) * if k == 0 { 1.0 } else { 2.0 } / POINTS as f64
    }

    /// An upper bound on the distance of the function from `Σ c_k·T_k`.
    fn distance(&self, coefficients: &[f64]) -> f64 {
        let value = |u: f64| {
            let (mut b1, mut b2) = (0.0, 0.0);
            for c in coefficients[1..].iter().rev() {
                (b1, b2) = (2.0 * u * b1 - b2 + c, b1);
            }
            u * b1 - b2 + coefficients[0]
        };
        let errors: Vec<f64> = self.values.iter().zip(&self.cosines).map(|(f, &u)| value(u) - f).collect();
        let largest = errors.iter().map(|e| e.abs()).fold(0.0, f64::max);
        let inner = errors.windows(3).map(|e| (e[0] - 2.0 * e[1] + e[2]).abs());
        // In the angle, the function continues past both ends as its mirror image.
        let ends = [errors[1] - errors[0], errors[POINTS - 1] - errors[POINTS]].map(|e| 2.0 * e.abs());
        largest + inner.chain(ends).fold(0.0, f64::max) / 4.0
    }

    /// The polynomial of the smallest degree within `target` of the function.
    pub fn approximation(&self, target: f64) -> Result<Approximation> {
        let largest = self.largest();
        let mut coefficients: Vec<f64> = Vec::new();
        for degree in [15, 63, 255, MOST_DEGREE] {
            coefficients.extend((coefficients.len()..=degree).map(|k| self.coefficient(k)));
            // Those of odd and even functions vanish.
            coefficients.iter_mut().filter(|c| c.abs() < largest * ROUNDING).for_each(|c| *c = 0.0);
            if self.distance(&coefficients) <= target {
                return self.smallest(&coefficients, target);
            }
        }
        Err(self.unreachable(&coefficients))
    }

    /// Bisection: the last degree is known to do.
    fn smallest(&self, coefficients: &[f64], target: f64) -> Result<Approximation> {
        let (mut below, mut enough) = (0, coefficients.len() - 1);
        while below < enough {
            let degree = (below + enough) / 2;
            match self.distance(&coefficients[..=degree]) <= target {
                true => enough = degree,
                false => below = degree + 1,
            }
        }
        let distance = self.distance(&coefficients[..=enough]);
        let polynomial = Polynomial::chebyshev(&coefficients[..=enough], self.interval.0, self.interval.1)?;
        Ok(Approximation { polynomial, distance })
    }

    fn unreachable(&self, coefficients: &[f64]) -> Error {
        let ((low, high), reached) = (self.interval, -self.distance(coefficients).log2());
        let reason = format!(
            "polynomials of degree {MOST_DEGREE} reach {reached:.1} bits of it from {low} to {high}; ask for fewer bits, or choose a smaller interval"
        );
        refused(&self.name, reason)
    }
}

/// The largest absolute value of a polynomial on its interval, from above.
pub(super) fn largest_value(p: &Polynomial) -> f64 {
    let points = 8 * (p.degree() + 1);
    let crate::complex::PowerBasis::Chebyshev { low, high } = p.basis() else {
        return p.coefficients().iter().map(|c| c.abs()).sum();
    };
    let at = |j: usize| 0.5 * (low + high) + 0.5 * (high - low) * (PI * (j as f64 + 0.5) / points as f64).cos();
    let largest = (0..points).map(|j| p.value(at(j)).abs()).fold(0.0, f64::max);
    let between = (PI * p.degree() as f64 / (2.0 * points as f64)).cos();
    let sum: f64 = p.coefficients().iter().map(|c| c.abs()).sum();
    (largest / between).min(sum) * (1.0 + 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    /// The stated distance is one on any points, and no degree below would do.
    #[test]
    fn the_stated_distance_is_no_less_than_the_true_one() {
        let cases: [(&str, fn(f64) -> f64, (f64, f64), f64); 7] = [
            ("sigmoid", sigmoid, (-8.0, 8.0), 20.0),
            ("exp", f64::exp, (-3.0, 1.0), 30.0),
            ("log", f64::ln, (0.1, 4.0), 25.0),
            ("sqrt", f64::sqrt, (0.0, 1.0), 8.0),
            ("abs", f64::abs, (-1.0, 1.5), 8.0),
            ("steps", |x| 0.01 * x.floor(), (-1.0, 1.5), 6.0),
            ("waves", |x| (40.0 * x).sin(), (-1.0, 1.0), 30.0),
        ];
        for (name, f, (low, high), bits) in cases {
            let samples = Samples::of(name, &f, (low, high)).unwrap();
            let Approximation { polynomial, distance } = samples.approximation((-bits).exp2()).unwrap();
            assert!(distance <= (-bits).exp2(), "{name}: {distance:e}");
            let points = 50_021;
            let worst = (0..=points)
                .map(|j| low + (high - low) * j as f64 / points as f64)
                .map(|x| (polynomial.value(x) - f(x)).abs())
                .fold(0.0, f64::max);
            assert!(worst <= distance, "{name}: {worst:e} off, {distance:e} stated");
            assert!(worst >= distance / 4.0, "{name}: {worst:e} off, only {distance:e} stated");
            let shorter = &polynomial.coefficients()[..polynomial.degree().max(1)];
            assert!(
                polynomial.degree() == 0 || samples.distance(shorter) > (-bits).exp2(),
                "{name}: degree {} is not least",
                polynomial.degree()
            );
        }
    }

    #[test]
    fn odd_functions_get_odd_polynomials() {
        let samples = Samples::of("tanh", &f64::tanh, (-4.0, 4.0)).unwrap();
        let p = samples.approximation(1e-6).unwrap().polynomial;
        assert!(p.keeps_zero() && p.degree() % 2 == 1, "{:?}", p.coefficients());
    }

    #[test]
    fn what_no_polynomial_reaches_is_refused_with_what_it_reaches() {
        let refusal = |f: &dyn Fn(f64) -> f64, interval| {
            let samples = Samples::of("a function", f, interval);
            samples.and_then(|samples| samples.approximation(1e-9)).unwrap_err().to_string()
        };
        assert!(refusal(&f64::abs, (-1.0, 1.0)).contains("reach"), "{}", refusal(&f64::abs, (-1.0, 1.0)));
        assert!(refusal(&|x| 1.0 / x, (-1.0, 1.0)).contains("not a finite number"));
        assert!(refusal(&f64::ln, (-1.0, 1.0)).contains("not a finite number"));
        assert!(refusal(&f64::exp, (1.0, 1.0)).contains("upper end"));
        assert!(refusal(&f64::exp, (f64::NAN, 1.0)).contains("lower end"));
        assert!(
            matches!(target(60.0), Err(Error::OutOfRange(_))) && matches!(target(f64::NAN), Err(Error::OutOfRange(_)))
        );
    }

    #[test]
    fn the_largest_value_of_a_polynomial_is_bounded() {
        for degree in [0, 1, 2, 5, 16, 31] {
            let coefficients: Vec<f64> = (0..=degree).map(|k| ((k * k + 1) as f64).sin()).collect();
            let p = Polynomial::chebyshev(&coefficients, -2.0, 3.0).unwrap();
            let worst = (0..=10_000).map(|j| p.value(-2.0 + 5.0 * j as f64 / 1e4).abs()).fold(0.0, f64::max);
            let bound = largest_value(&p);
            assert!(worst <= bound * (1.0 + 1e-12) && bound <= 1.05 * worst, "degree {degree}: {worst}, {bound}");
        }
    }
}
