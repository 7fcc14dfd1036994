//! The sawtooth near integers: `t − I` for t near an integer I, by the sine.
//!
//! With `u = (t − 1/4)/K` in −1..1 and `v = 2u² − 1`, `cos(2πKu/2^r)` is an entire function of v,
//! since it is even in u: a polynomial of half the degree. Doubling the angle r times gives
//! `cos(2πt − π/2) = sin 2πt` (Han–Ki 2020). The constants of the doublings and of the last steps
//! are put into the polynomial, so that they cost no levels: with `y' = γ·y` a doubling is
//! `y' ← y'² − γ`.
//!
//! `s + s³/6` is nearer to the sawtooth than s, by two factors of the squared angle: with
//! `σ = s/√6` it is `√6·(σ + σ³)`.

use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{Polynomial, RealArithmetic, evaluated};

use super::spec::RefreshSpec;

/// The function that is evaluated, with all constants.
#[derive(Debug, Clone)]
pub(super) struct Sine {
    /// K.
    range: f64,
    polynomial: Polynomial,
    /// γ of the doublings, in their order.
    subtracted: Vec<f64>,
    arcsine: bool,
    /// What the result is multiplied by at its end.
    gain: f64,
}

impl Sine {
    /// The coefficients.
    ///
    /// # Errors
    /// None for a degree that polynomials have.
    pub fn new(spec: &RefreshSpec) -> Result<Self> {
        Self::fitted_at(spec, frequent_integers(spec))
    }

    /// The same with a polynomial that is exact for every integer that can occur, not on average
    /// only: the largest error counts.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_every_integer(spec: &RefreshSpec) -> Result<Self> {
        Self::fitted_at(spec, all_integers(spec))
    }

    fn fitted_at(spec: &RefreshSpec, points: Vec<Point>) -> Result<Self> {
        let range = spec.most() as f64 + 0.5;
        let mut factors = vec![if spec.arcsine { 6f64.sqrt().recip() } else { 1.0 }];
        for _ in 0..spec.doublings {
            factors.push((2.0 * factors[factors.len() - 1]).sqrt());
        }
        let scale = factors.pop().expect("there is one at least");
        factors.reverse();
        let subtracted = factors;
        let coefficients = fitted(spec, range, &points);
        let scaled: Vec<f64> = coefficients.iter().map(|c| c * scale).collect();
        let polynomial = Polynomial::chebyshev(&scaled, -1.0, 1.0)?;
        let sine = Self { range, polynomial, subtracted, arcsine: spec.arcsine, gain: 1.0 };
        Ok(Self { gain: spec.gain(sine.factor()), ..sine })
    }

    /// K: slots hold t/K when [`Self::evaluate`] takes them.
    pub fn range(&self) -> f64 {
        self.range
    }

    /// What the result is divided by to give `t − I`.
    pub fn factor(&self) -> f64 {
        let angle = std::f64::consts::TAU;
        self.gain * if self.arcsine { angle / 6f64.sqrt() } else { angle }
    }

    /// On slots t/K; the result is [`Self::factor`] times `t − I`, of degree 1.
    ///
    /// # Errors
    /// Those of products.
    pub fn evaluate<M: RealArithmetic>(&self, machine: &M, x: M::Value) -> Result<M::Value> {
        let u = machine.bounded(machine.add_number(x, -0.25 / self.range)?, 1.0);
        let square = machine.add_number(machine.times(machine.square(&u)?, 2)?, -1.0)?;
        let v = machine.rescale(&machine.bounded(square, 1.0))?;
        let mut bound = self.polynomial_bound();
        let mut y = machine.bounded(evaluated(machine, &self.polynomial, v)?, bound);
        for &gamma in &self.subtracted {
            bound = gamma * ROOM;
            let difference = machine.add_number(machine.square(&machine.rescale(&y)?)?, -gamma)?;
            y = machine.bounded(difference, bound);
        }
        if self.arcsine {
            let sine = machine.rescale(&y)?;
            let square = machine.rescale(&machine.add_number(machine.square(&sine)?, 1.0)?)?;
            y = machine.multiply(&sine, &square)?;
        }
        // Errors of this rescaling are not multiplied.
        machine.rescale(&machine.times(y, self.gain as i64)?)
    }

    /// The number of products, squares included.
    pub fn products(&self) -> usize {
        1 + self.polynomial.products() + self.subtracted.len() + if self.arcsine { 2 } else { 0 }
    }

    /// What the polynomial stays below.
    fn polynomial_bound(&self) -> f64 {
        let last = self.subtracted.first().map_or(1.0, |gamma| (2.0 * gamma).sqrt());
        last * ROOM
    }

    /// `(s + s³/6)/2π − t`, s = sin 2πt, or without the cube: what the sine is off by near every
    /// integer, were its polynomial the cosine.
    pub fn systematic(&self, t: f64) -> f64 {
        let s = (std::f64::consts::TAU * t).sin();
        let bent = if self.arcsine { s + s * s * s / 6.0 } else { s };
        bent / std::f64::consts::TAU - t
    }

    /// The value at a number, without errors of encryption.
    pub fn value(&self, t: f64) -> f64 {
        let u = (t - 0.25) / self.range;
        let mut y = self.polynomial.value(2.0 * u * u - 1.0);
        for &gamma in &self.subtracted {
            y = y * y - gamma;
        }
        self.gain * if self.arcsine { y + y * y * y } else { y }
    }
}

/// The weight of integers that hardly ever occur.
const LEAST_WEIGHT: f64 = 1.0 / (1u64 << 24) as f64;

/// What a polynomial may be above the cosine.
const ROOM: f64 = 1.0 + 1.0 / 1024.0;

/// Where the polynomial is fitted: t, and the weight of its error there.
type Point = (f64, f64);

/// Places near an integer at which messages lie, in units of their bound.
const PLACES: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];

/// Points near the integers and, with hardly any weight, everywhere.
///
/// I is nearly a Gaussian of variance (h + 1)/12: the weights are the square roots of its density,
/// so that the mean square of the error is least. Where I hardly ever lies the error may be larger.
fn frequent_integers(spec: &RefreshSpec) -> Vec<Point> {
    let (most, variance) = (spec.most(), spec.integer_variance());
    let weight = |integer: i64| (-(integer * integer) as f64 / (4.0 * variance)).exp().max(LEAST_WEIGHT);
    let mut points = near_integers(spec, |integer, _| weight(integer));
    let (range, between) = (most as f64 + 0.5, 8 * most);
    let anywhere = |k: i64| (range * (2.0 * k as f64 / between as f64 - 1.0) + 0.25, LEAST_WEIGHT / 64.0);
    points.extend((0..=between).map(anywhere));
    points
}

/// Points near the integers, weighed by what the doublings make of an error there.
///
/// For θ = 2π(t − 1/4)/2^r they give cos 2^r·θ, whose derivative by cos θ is `2^r·sin(2^r·θ)/sin θ`. Near
/// integers the numerator is ±2^r. So every integer that can occur counts with its error in the result.
fn all_integers(spec: &RefreshSpec) -> Vec<Point> {
    near_integers(spec, |_, t| angle(spec, t).sin().abs().recip())
}

fn near_integers(spec: &RefreshSpec, weight: impl Fn(i64, f64) -> f64) -> Vec<Point> {
    let (most, near) = (spec.most(), (-f64::from(spec.gap_bits)).exp2());
    let places = |integer: i64| PLACES.map(|place| (integer, integer as f64 + place * near));
    (-most..=most).flat_map(places).map(|(integer, t)| (t, weight(integer, t))).collect()
}

/// The angle whose cosine the polynomial is near.
fn angle(spec: &RefreshSpec, t: f64) -> f64 {
    std::f64::consts::TAU * (t - 0.25) / f64::from(spec.doublings).exp2()
}

/// Chebyshev coefficients in v of the polynomial nearest to the cosine by weighted least squares.
fn fitted(spec: &RefreshSpec, range: f64, points: &[Point]) -> Vec<f64> {
    let rows: Vec<(Vec<f64>, f64)> = points.iter().map(|&(t, weight)| row(spec, range, t, weight)).collect();
    least_squares(rows, spec.degree + 1)
}

/// T_0(v), .., T_d(v) and the cosine at t, times a weight.
fn row(spec: &RefreshSpec, range: f64, t: f64, weight: f64) -> (Vec<f64>, f64) {
    let u = (t - 0.25) / range;
    let v = 2.0 * u * u - 1.0;
    let mut values = vec![1.0, v];
    while values.len() <= spec.degree {
        values.push(2.0 * v * values[values.len() - 1] - values[values.len() - 2]);
    }
    values.truncate(spec.degree + 1);
    values.iter_mut().for_each(|x| *x *= weight);
    (values, angle(spec, t).cos() * weight)
}

/// x that minimises ‖A·x − b‖, by Householder reflections.
fn least_squares(mut rows: Vec<(Vec<f64>, f64)>, columns: usize) -> Vec<f64> {
    for k in 0..columns {
        let norm = rows[k..].iter().map(|(row, _)| row[k] * row[k]).sum::<f64>().sqrt();
        let mut mirror: Vec<f64> = rows[k..].iter().map(|(row, _)| row[k]).collect();
        mirror[0] += norm.copysign(mirror[0]);
        let square: f64 = mirror.iter().map(|x| x * x).sum();
        if square == 0.0 {
            continue;
        }
        for column in k..=columns {
            let entry = |row: &(Vec<f64>, f64)| if column < columns { row.0[column] } else { row.1 };
            let dot: f64 = rows[k..].iter().zip(&mirror).map(|(row, x)| entry(row) * x).sum();
            for (row, x) in rows[k..].iter_mut().zip(&mirror) {
                let change = 2.0 * dot / square * x;
                if column < columns { row.0[column] -= change } else { row.1 -= change }
            }
        }
    }
    let mut solution = vec![0.0; columns];
    for k in (0..columns).rev() {
        let known: f64 = (k + 1..columns).map(|j| rows[k].0[j] * solution[j]).sum();
        solution[k] = (rows[k].1 - known) / rows[k].0[k];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::super::spec::tests::toy;
    use super::*;

    /// Near every integer that occurs, up to the fifth power of the angle.
    #[test]
    fn the_sine_is_the_sawtooth_near_integers() {
        for (arcsine, gap_bits) in [(false, 8), (true, 8), (true, 6)] {
            let spec = RefreshSpec { arcsine, gap_bits, ephemeral_weight: 32, ..toy(64) };
            let most = 16i32;
            let sine = Sine::new(&spec).unwrap();
            let (mut worst, mut rare) = (0.0f64, 0.0f64);
            for integer in -most..=most {
                for place in -8..=8 {
                    let x = f64::from(place) / 8.0 * 2f64.powi(-(gap_bits as i32));
                    let error = (sine.value(f64::from(integer) + x) / sine.factor() - x).abs();
                    if integer.abs() <= 7 { worst = worst.max(error) } else { rare = rare.max(error) }
                }
            }
            let angle = std::f64::consts::TAU * 2f64.powi(-(gap_bits as i32));
            let expected = if arcsine { 0.08 * angle.powi(4) } else { 0.17 * angle.powi(2) } * angle;
            let expected = expected / std::f64::consts::TAU + 2f64.powi(-38);
            println!("{arcsine} {gap_bits}: {:.1} {:.1} of {:.1}", worst.log2(), rare.log2(), expected.log2());
            assert!(worst < expected && rare < expected + 2f64.powi(-18));
        }
    }

    /// Near every integer that can occur, rare or not, the fit adds less than 2^−40 to the error of the
    /// function itself.
    #[test]
    fn the_even_fit_is_as_near_for_rare_integers() {
        for (weight, gap_bits) in [(28, 10), (30, 10), (32, 10), (28, 12)] {
            let spec = RefreshSpec { gap_bits, doublings: 4, ephemeral_weight: weight, ..toy(128) };
            let (sine, most) = (Sine::of_every_integer(&spec).unwrap(), spec.most() as i32);
            let mut worst = 0.0f64;
            for integer in -most..=most {
                for place in -8..=8 {
                    let x = f64::from(place) / 8.0 * (-f64::from(gap_bits)).exp2();
                    let off = sine.value(f64::from(integer) + x) / sine.factor() - x - sine.systematic(x);
                    worst = worst.max(off.abs());
                }
            }
            println!("weight {weight}, gap {gap_bits}: 2^{:.1}", worst.log2());
            assert!(worst < 2f64.powi(-40));
        }
    }
}
