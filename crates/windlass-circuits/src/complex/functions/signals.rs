//! A circuit on numbers instead of ciphertexts: at each of many arguments its value, its derivative,
//! and the errors that its operations have added.
//!
//! Ciphertexts carry one bound for all slots, so every operation there counts the largest value that
//! any slot may hold. Here errors are multiplied by the values at one argument. The error of the
//! input is kept apart: it acts through the derivative, which knows the signs that a sum of bounds
//! does not. What every operation adds is that of [`Engine`](windlass_schemes::schemes::ckks::Engine)
//! on a ciphertext, level by level. In a composition this holds for each polynomial by itself: the
//! errors of its argument act through its derivative.
//!
//! *Between the arguments.* The derivative of a polynomial circuit of degree D is a polynomial of a
//! smaller degree, and so is the factor with which any one error reaches the result. So the sum of
//! the absolute values of these factors, weighted with the errors, is nowhere above the absolute
//! value of one polynomial of degree D that the same sum bounds at the arguments. At N Chebyshev
//! points, N > D, such a polynomial is at most 1/cos(πD/2N) times the largest of its values there
//! (Ehlich and Zeller 1964).

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{CkksContext, RealArithmetic, RefreshTerms, SlotErrors, evaluated};

use super::taylor::Curvature;
use crate::complex::{Polynomial, PowerBasis};

/// Relative error of a double that was computed with a few operations.
const ROUNDING: f64 = 1.0 / (1u64 << 49) as f64;

/// What is known at one argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    /// The value without any error.
    pub value: f64,
    /// The derivative by the argument.
    pub slope: f64,
    /// The errors that operations have added, and their products with errors.
    pub added: SlotErrors,
    /// The products of the error of the argument with itself, as a deviation.
    pub squares: f64,
}

impl Point {
    /// All that operations have added.
    pub fn own(&self) -> SlotErrors {
        self.added.plus(SlotErrors::certain(self.squares))
    }
}

/// The numbers of a ciphertext of a degree at a level.
#[derive(Debug, Clone)]
pub(super) struct Signal {
    pub points: Vec<Point>,
    pub level: usize,
    pub degree: i32,
}

impl Signal {
    /// The arguments themselves.
    pub fn of(arguments: &[f64], level: usize) -> Self {
        let point = |&value: &f64| Point { value, slope: 1.0, added: SlotErrors::default(), squares: 0.0 };
        Self { points: arguments.iter().map(point).collect(), level, degree: 1 }
    }

    /// The largest absolute value.
    fn largest(&self) -> f64 {
        self.points.iter().map(|point| point.value.abs()).fold(0.0, f64::max)
    }

    fn each(&self, degree: i32, f: impl Fn(&Point) -> Point) -> Self {
        Self { points: self.points.iter().map(f).collect(), level: self.level, degree }
    }

    /// With one more error everywhere.
    fn with(mut self, error: SlotErrors) -> Self {
        self.points.iter_mut().for_each(|point| point.added = point.added.plus(error));
        self
    }

    fn times(&self, factor: f64, degree: i32) -> Self {
        let times = |point: &Point| Point {
            value: point.value * factor,
            slope: point.slope * factor,
            added: point.added.times(factor.abs()),
            squares: point.squares * factor.abs(),
        };
        self.each(degree, times)
    }
}

/// The arithmetic of signals: of vectors of so many slots, whose input has a random error at each
/// argument.
pub(super) struct Signals<'a> {
    pub context: &'a CkksContext,
    pub slots: usize,
    pub noise: Vec<SlotErrors>,
}

impl Signals<'_> {
    /// All of the random error at each argument.
    fn random(&self, a: &Signal) -> Vec<SlotErrors> {
        let total = |(point, noise): (&Point, &SlotErrors)| point.own().plus(noise.times(point.slope.abs()));
        a.points.iter().zip(&self.noise).map(total).collect()
    }

    /// The level below, for one rescaling.
    fn below(&self, level: usize) -> Result<usize> {
        let depth = self.context.spec().depth;
        let refused = Error::LevelsExhausted { operation: "evaluate a function", depth, needed: 1, left: 0 };
        self.context.level_below(level).ok_or(refused)
    }

    fn scale(&self, level: usize, degree: i32) -> f64 {
        self.context.scale_of(level, degree)
    }

    /// At a lower level, of degree 1.
    fn at(&self, a: &Signal, level: usize) -> Result<Signal> {
        let a = self.rescale(a)?;
        if level == a.level {
            return Ok(a);
        }
        Limits::at_most(a.level).check("level", level)?;
        let unit = self.scale(level, 1);
        let rounding = self.context.rescaling_errors(level, self.slots);
        // The scale is met up to 8 in as many parts as the scale has.
        let lowered = a.each(1, |point| {
            let unmet = SlotErrors::certain(8.0 / unit * point.value.abs());
            Point { added: point.added.plus(rounding).plus(unmet), ..*point }
        });
        Ok(Signal { level, ..lowered })
    }

    /// Lowered to the level at which a refresh takes it.
    pub fn before_refresh(&self, a: &Signal, terms: &RefreshTerms) -> Result<Signal> {
        self.at(a, terms.input_level)
    }

    /// At the highest level, with what a refresh adds: to values within a bound, and the error of a message that is
    /// refreshed with this one.
    pub fn refreshed(&self, low: Signal, terms: &RefreshTerms, bound: f64, beside: SlotErrors) -> Signal {
        Signal { level: self.context.top_level(), ..low.with(terms.errors(bound)).with(beside) }
    }

    /// The errors of values that are multiplied by 1 in their entries and by 0 beside them, and rescaled.
    pub fn cleared(
        context: &CkksContext,
        (level, slots): (usize, usize),
        x: SlotErrors,
        bound: f64,
    ) -> Result<SlotErrors> {
        let rounding = context.encoding_errors(context.constant_scale(level), slots).deviation + ROUNDING;
        // All of the error, what is systematic too.
        let size = bound + x.whole_bound() + x.bound();
        let steered = context.steering_errors(level, slots, slots, 1.0);
        let machine = Signals { context, slots, noise: Vec::new() };
        let rescaled = context.rescaling_errors(machine.below(level)?, slots);
        Ok(x.plus(SlotErrors::certain(size * rounding)).plus(steered).plus(rescaled))
    }

    /// Of degree 2, at a level at or below its own.
    fn doubled(&self, a: &Signal, level: usize) -> Signal {
        let unit = self.scale(level, 1);
        let raised = a.each(2, |point| {
            let unmet = SlotErrors::certain(point.value.abs() / unit);
            Point { added: point.added.plus(unmet), ..*point }
        });
        Signal { level, ..raised }
    }

    /// Two summands at one level and degree, as ciphertexts are aligned.
    fn aligned(&self, a: &Signal, b: &Signal) -> Result<(Signal, Signal)> {
        let flip = (a.level, a.degree) < (b.level, b.degree);
        let (high, low) = if flip { (b, a) } else { (a, b) };
        let high = if high.level > low.level { self.rescale(high)? } else { high.clone() };
        let level = low.level;
        let (high, low) = match (high.degree, low.degree) {
            (2, 1) => (high, self.doubled(low, level)),
            (1, 2) => (self.doubled(&high, level), low.clone()),
            (1, 1) => (self.at(&high, level)?, low.clone()),
            _ => (high, low.clone()),
        };
        Ok(if flip { (low, high) } else { (high, low) })
    }

    fn sum(&self, a: &Signal, b: &Signal, sign: f64) -> Result<Signal> {
        let (mut a, b) = self.aligned(a, b)?;
        for (x, y) in a.points.iter_mut().zip(&b.points) {
            x.value += sign * y.value;
            x.slope += sign * y.slope;
            x.added = x.added.plus(y.added);
            x.squares += y.squares;
        }
        Ok(a)
    }

    /// A product with a number that is encoded at the scale of the level.
    fn weighed(&self, a: &Signal, factor: f64, rounding: f64, factor_slots: usize) -> Result<Signal> {
        let a = self.rescale(a)?;
        let steered = self.context.steering_errors(a.level, self.slots, factor_slots, factor.abs());
        let product = a.times(factor, 2);
        let random = self.random(&a);
        let points = product.points.iter().zip(a.points.iter().zip(&random)).map(|(point, (x, random))| {
            let size = x.value.abs() + random.whole_bound();
            let rounded = SlotErrors::certain(size * (rounding + factor.abs() * ROUNDING));
            Point { added: point.added.plus(rounded).plus(steered), ..*point }
        });
        Ok(Signal { points: points.collect(), ..product })
    }

    /// `p` of values, as [`Engine::evaluate`](windlass_schemes::schemes::ckks::Engine::evaluate) has
    /// it. What the values are off by acts through the derivative of p, which is small where p is flat.
    pub fn polynomial(&self, p: &Polynomial, x: &Signal) -> Result<Signal> {
        let inner = Signals { noise: self.random(x), ..*self };
        let fresh = x.each(x.degree, |own| Point { slope: 1.0, added: SlotErrors::default(), squares: 0.0, ..*own });
        let mut result = inner.fresh_polynomial(p, &fresh)?;
        let curvature = Curvature::of(p);
        for ((y, x), noise) in result.points.iter_mut().zip(&x.points).zip(&inner.noise) {
            let bent = curvature.as_ref().map_or(f64::INFINITY, |own| own.at(x.value, noise.whole_bound()));
            let squares = SlotErrors::certain(y.squares.min(bent / SlotErrors::BOUND_FACTOR));
            y.added = y.added.plus(x.added.times(y.slope.abs())).plus(squares);
            y.squares = x.squares * y.slope.abs();
            y.slope *= x.slope;
        }
        Ok(result)
    }

    fn fresh_polynomial(&self, p: &Polynomial, x: &Signal) -> Result<Signal> {
        let u = match p.basis() {
            PowerBasis::Chebyshev { low, high } if (low, high) != (-1.0, 1.0) => self.moved(x, low, high)?,
            _ => self.rescale(x)?,
        };
        match p.degree() {
            0 => self.add_number(self.zero(&u)?, p.coefficients()[0]),
            _ => evaluated(self, p, u),
        }
    }

    /// (2x − low − high)/(high − low), by a factor for each slot.
    fn moved(&self, x: &Signal, low: f64, high: f64) -> Result<Signal> {
        let x = self.rescale(x)?;
        let (factor, shift) = (2.0 / (high - low), -(low + high) / (high - low));
        let encoding = |scale| self.context.encoding_errors(scale, self.slots).deviation;
        let rounding = encoding(self.context.constant_scale(x.level));
        let scaled = self.weighed(&x, factor, rounding, self.slots)?;
        let shifted = scaled.each(2, |point| Point { value: point.value + shift, ..*point });
        let off = encoding(self.scale(x.level, 2)) + shift.abs() * ROUNDING;
        self.rescale(&shifted.with(SlotErrors::certain(off)))
    }
}

impl RealArithmetic for Signals<'_> {
    type Value = Signal;

    fn multiply(&self, a: &Signal, b: &Signal) -> Result<Signal> {
        let (a, b) = (self.rescale(a)?, self.rescale(b)?);
        let level = a.level.min(b.level);
        let (a, b) = (self.at(&a, level)?, self.at(&b, level)?);
        let steered = [&a, &b].map(|x| self.context.steering_errors(level, self.slots, self.slots, x.largest()));
        let own = self.context.relinearisation_errors(level, self.slots).plus(steered[0]).plus(steered[1]);
        let (of_a, of_b) = (self.random(&a), self.random(&b));
        let points = (0..self.noise.len()).map(|j| {
            let (x, y, noise) = (&a.points[j], &b.points[j], self.noise[j]);
            // All products of errors except that of the argument with itself.
            let others = x.own().product(of_b[j]).plus(of_a[j].product(y.own()));
            let square = (x.slope * y.slope).abs() * noise.product(noise).deviation;
            Point {
                value: x.value * y.value,
                slope: x.value * y.slope + y.value * x.slope,
                added: x.added.times(y.value.abs()).plus(y.added.times(x.value.abs())).plus(others).plus(own),
                squares: x.squares * y.value.abs() + y.squares * x.value.abs() + square,
            }
        });
        Ok(Signal { points: points.collect(), level, degree: 2 })
    }

    fn square(&self, a: &Signal) -> Result<Signal> {
        self.multiply(a, a)
    }

    fn multiply_number(&self, a: &Signal, c: f64) -> Result<Signal> {
        if c.fract() == 0.0 {
            return Ok(a.times(c, a.degree));
        }
        let level = self.rescale(a)?.level;
        self.weighed(a, c, 0.5 / self.context.constant_scale(level), 1)
    }

    fn combination(&self, terms: &[(&Signal, f64)], constant: f64) -> Result<Signal> {
        let mut sum: Option<Signal> = None;
        for &(term, c) in terms {
            let term = self.weighed(term, c, 0.5 / self.context.constant_scale(term.level), 1)?;
            sum = Some(match sum {
                Some(sum) => self.sum(&sum, &term, 1.0)?,
                None => term,
            });
        }
        self.add_number(sum.expect("one term at least"), constant)
    }

    fn times(&self, a: Signal, k: i64) -> Result<Signal> {
        Ok(a.times(k as f64, a.degree))
    }

    fn add(&self, a: Signal, b: &Signal) -> Result<Signal> {
        self.sum(&a, b, 1.0)
    }

    fn sub(&self, a: Signal, b: &Signal) -> Result<Signal> {
        self.sum(&a, b, -1.0)
    }

    fn add_number(&self, a: Signal, c: f64) -> Result<Signal> {
        let shifted = a.each(a.degree, |point| Point { value: point.value + c, ..*point });
        Ok(shifted.with(SlotErrors::certain(0.5 / self.scale(a.level, a.degree) + c.abs() * ROUNDING)))
    }

    fn zero(&self, a: &Signal) -> Result<Signal> {
        Ok(a.each(a.degree, |_| Point { value: 0.0, slope: 0.0, added: SlotErrors::default(), squares: 0.0 }))
    }

    fn rescale(&self, a: &Signal) -> Result<Signal> {
        if a.degree == 1 {
            return Ok(a.clone());
        }
        let level = self.below(a.level)?;
        let rescaled = a.each(1, |point| *point).with(self.context.rescaling_errors(level, self.slots));
        Ok(Signal { level, ..rescaled })
    }

    fn lowered(&self, a: &Signal, like: &Signal, rescalings: usize) -> Result<Signal> {
        let level = (0..rescalings).try_fold(like.level, |level, _| self.below(level))?;
        self.at(a, level)
    }

    fn bounded(&self, a: Signal, _: f64) -> Signal {
        a
    }
}
