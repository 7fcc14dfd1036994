//! Runs the sine on random numbers. Every operation adds the error that it has on ciphertexts.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{CkksContext, Complex64, RealArithmetic};

use super::sine::Sine;
use super::spec::{MapOrder, RefreshSpec};

/// How many numbers the sine runs on.
const COUNT: usize = 4096;

/// The deviations of errors of operations, by the number of rescalings since the argument.
#[derive(Debug, Clone)]
pub(super) struct Errors {
    /// Of a rescaling to a level.
    pub rescaled: Vec<f64>,
    /// Of a key switch of a product that is not rescaled yet.
    pub switched: Vec<f64>,
    /// The scale of constants.
    pub constants: Vec<f64>,
}

impl Errors {
    /// Those of ciphertexts, from a level down.
    pub fn of(context: &CkksContext, slots: usize, top: usize) -> Self {
        let levels: Vec<usize> = std::iter::successors(Some(top), |&level| context.level_below(level)).collect();
        let each = |f: &dyn Fn(usize) -> f64| levels.iter().map(|&level| f(level)).collect();
        Self {
            rescaled: each(&|level| context.rescaling_deviation(level, slots)),
            switched: each(&|level| context.relinearisation_errors(level, slots).deviation),
            constants: each(&|level| context.constant_scale(level)),
        }
    }

    /// Of numbers without errors, beside the roundings of constants.
    #[cfg(test)]
    pub fn none(&self) -> Self {
        let none = || vec![0.0; self.constants.len()];
        Self { rescaled: none(), switched: none(), constants: self.constants.clone() }
    }

    /// None but one of deviation 1 at the rescaling to one level, small enough to grow linearly.
    fn only(depth: usize, level: usize) -> Self {
        let mut rescaled = vec![0.0; depth + 1];
        rescaled[level] = TINY;
        Self { rescaled, switched: vec![0.0; depth + 1], constants: vec![2f64.powi(100); depth + 1] }
    }
}

const TINY: f64 = 1.0 / (1u64 << 40) as f64;

/// Numbers and where their errors come from.
pub(super) struct Samples<'a> {
    spec: &'a RefreshSpec,
    errors: Errors,
    /// Whether every integer counts by itself, not as often as it occurs.
    by_integer: bool,
    rng: RefCell<ChaCha20Rng>,
}

/// Numbers in slots, as ciphertexts hold them.
#[derive(Clone)]
pub(super) struct Numbers {
    pub values: Vec<Complex64>,
    /// The number of rescalings since the argument.
    pub level: usize,
    /// Whether they are a product that is not rescaled yet.
    pub is_product: bool,
}

impl<'a> Samples<'a> {
    pub fn new(spec: &'a RefreshSpec, errors: Errors) -> Self {
        Self { by_integer: spec.order == MapOrder::BackFirst, ..Self::averaged(spec, errors) }
    }

    fn averaged(spec: &'a RefreshSpec, errors: Errors) -> Self {
        Self { spec, errors, by_integer: false, rng: RefCell::new(ChaCha20Rng::seed_from_u64(0)) }
    }

    /// By how much the result of the sine is off for an error of 1 at each level: in the argument,
    /// and at each rescaling.
    pub fn sensitivities(spec: &'a RefreshSpec, sine: &Sine) -> Result<Vec<f64>> {
        let depth = spec.sine_depth();
        let exact = Self::averaged(spec, Errors::only(depth, 0)).run(sine, 0.0)?;
        let at = |level: usize| {
            let argument = if level == 0 { TINY } else { 0.0 };
            // The same numbers in every run: errors come from a stream of their own.
            let off = Self::averaged(spec, Errors::only(depth, level)).run(sine, argument)?;
            let squares: f64 = off.iter().zip(&exact).map(|(x, y)| (x - y).norm_sqr()).sum();
            Ok((squares / COUNT as f64).sqrt() / TINY)
        };
        (0..=depth).map(at).collect()
    }

    /// The deviation of the result of the sine from what it should be, for an error of the argument.
    ///
    /// The doublings multiply errors by `1/|sin θ|`, which is 5 for I = 0 and ±4, and near 1 for other integers.
    /// Maps after the sine average over all slots. Without them each slot has the deviation of its own
    /// integer, and the largest one counts.
    pub fn deviation(&self, sine: &Sine, argument: f64) -> Result<f64> {
        let result = self.run(sine, argument)?;
        let mut squares: BTreeMap<i64, (f64, usize)> = BTreeMap::new();
        for (value, (integer, message)) in result.iter().zip(self.inputs()) {
            let of = squares.entry(if self.by_integer { integer } else { 0 }).or_default();
            *of = (of.0 + (value - message * sine.factor()).norm_sqr(), of.1 + 1);
        }
        Ok(squares.values().map(|(sum, count)| sum / *count as f64).fold(0.0, f64::max).sqrt())
    }

    /// Integers and messages. The integers are sums of as many terms as the ephemeral secret has
    /// coefficients, or all of up to five deviations in turn if each counts by itself. The messages are
    /// coefficients, mostly far below their bound.
    fn inputs(&self) -> Vec<(i64, f64)> {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let deviation = self.spec.integer_variance().sqrt();
        let most = ((5.0 * deviation).ceil() as i64).min(self.spec.most());
        let size = 2f64.powi(-(self.spec.gap_bits as i32)) / 8.0;
        let mut input = |k: usize| {
            let drawn = gaussian(&mut rng, std::f64::consts::SQRT_2 * deviation).re.round() as i64;
            let integer = if self.by_integer { k as i64 % (2 * most + 1) - most } else { drawn };
            (integer, size * (2.0 * uniform(&mut rng) - 1.0))
        };
        (0..COUNT).map(&mut input).collect()
    }

    fn run(&self, sine: &Sine, argument: f64) -> Result<Vec<Complex64>> {
        let exact = |(integer, message): (i64, f64)| Complex64::new((integer as f64 + message) / sine.range(), 0.0);
        let values = self.inputs().into_iter().map(|input| exact(input) + self.error(argument)).collect();
        Ok(sine.evaluate(self, Numbers { values, level: 0, is_product: false })?.values)
    }

    fn error(&self, deviation: f64) -> Complex64 {
        gaussian(&mut self.rng.borrow_mut(), deviation)
    }

    fn each(&self, a: &Numbers, f: impl Fn(usize, Complex64) -> Complex64) -> Numbers {
        Numbers { values: a.values.iter().enumerate().map(|(j, &x)| f(j, x)).collect(), ..*a }
    }

    /// With the rounding of a rescaling to a level.
    fn at(&self, a: &Numbers, level: usize) -> Numbers {
        let error = self.errors.rescaled[level];
        Numbers { level, is_product: false, ..self.each(a, |_, x| x + self.error(error)) }
    }

    /// A product is rescaled before it is a factor.
    fn factor<'n>(&self, a: &'n Numbers) -> Cow<'n, Numbers> {
        if a.is_product { Cow::Owned(self.at(a, a.level + 1)) } else { Cow::Borrowed(a) }
    }

    /// Not a product, and lowered to a level if it is above.
    fn factor_at<'n>(&self, a: &'n Numbers, level: usize) -> Cow<'n, Numbers> {
        let a = self.factor(a);
        if a.level < level { Cow::Owned(self.at(&a, level)) } else { a }
    }

    /// Two terms of a sum meet at the lower level: a product above it is rescaled, and what is then still above
    /// is lowered, unless the other one is a product, to whose scale it is raised without an error.
    fn joined(&self, a: &Numbers, b: &Numbers, f: impl Fn(Complex64, Complex64) -> Complex64) -> Numbers {
        let level = a.level.max(b.level);
        let met = |x: &Numbers| if x.is_product && x.level < level { self.at(x, x.level + 1) } else { x.clone() };
        let (a, b) = (met(a), met(b));
        let is_product = a.is_product || b.is_product;
        let met = |x: Numbers| if is_product || x.level == level { x } else { self.at(&x, level) };
        let (a, b) = (met(a), met(b));
        Numbers { level, is_product, ..self.each(&a, |j, x| f(x, b.values[j])) }
    }
}

fn uniform(rng: &mut ChaCha20Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * 2f64.powi(-53)
}

/// A complex Gaussian with this root of the mean of its squared absolute value.
fn gaussian(rng: &mut ChaCha20Rng, deviation: f64) -> Complex64 {
    let radius = (-uniform(rng).ln()).sqrt() * deviation;
    Complex64::from_polar(radius, std::f64::consts::TAU * uniform(rng))
}

impl RealArithmetic for Samples<'_> {
    type Value = Numbers;

    fn multiply(&self, a: &Numbers, b: &Numbers) -> Result<Numbers> {
        let (a, b) = (self.factor(a), self.factor(b));
        let level = a.level.max(b.level);
        let (a, b) = (self.factor_at(&a, level), self.factor_at(&b, level));
        let error = self.errors.switched[level];
        let product = self.each(&a, |j, x| x * b.values[j] + self.error(error));
        Ok(Numbers { is_product: true, ..product })
    }

    fn square(&self, a: &Numbers) -> Result<Numbers> {
        let a = self.factor(a);
        self.multiply(&a, &a)
    }

    fn multiply_number(&self, a: &Numbers, c: f64) -> Result<Numbers> {
        let a = self.factor(a);
        let scale = self.errors.constants[a.level];
        let c = (c * scale).round_ties_even() / scale;
        Ok(Numbers { is_product: true, ..self.each(&a, |_, x| x * c) })
    }

    fn combination(&self, terms: &[(&Numbers, f64)], constant: f64) -> Result<Numbers> {
        let mut sum = Numbers { is_product: true, ..self.zero(terms[0].0)? };
        for &(x, c) in terms {
            sum = self.add(sum, &self.multiply_number(x, c)?)?;
        }
        self.add_number(sum, constant)
    }

    fn times(&self, a: Numbers, k: i64) -> Result<Numbers> {
        Ok(self.each(&a, |_, x| k as f64 * x))
    }

    fn add(&self, a: Numbers, b: &Numbers) -> Result<Numbers> {
        Ok(self.joined(&a, b, |x, y| x + y))
    }

    fn sub(&self, a: Numbers, b: &Numbers) -> Result<Numbers> {
        Ok(self.joined(&a, b, |x, y| x - y))
    }

    fn add_number(&self, a: Numbers, c: f64) -> Result<Numbers> {
        Ok(self.each(&a, |_, x| x + c))
    }

    fn zero(&self, a: &Numbers) -> Result<Numbers> {
        Ok(self.each(a, |_, _| Complex64::ZERO))
    }

    fn rescale(&self, a: &Numbers) -> Result<Numbers> {
        Ok(self.factor(a).into_owned())
    }

    fn lowered(&self, a: &Numbers, like: &Numbers, rescalings: usize) -> Result<Numbers> {
        Ok(self.factor_at(a, like.level + rescalings).into_owned())
    }

    fn bounded(&self, a: Numbers, _: f64) -> Numbers {
        a
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::tests::back_first;
    use super::*;

    /// An error after the first level is multiplied by a number near `1/|t − 1/4|`: for I = 0 that is twice the mean.
    #[test]
    fn without_maps_after_it_the_worst_integer_counts() {
        let spec = back_first(1024);
        let sine = Sine::new(&spec).unwrap();
        let depth = spec.sine_depth();
        let mut rescaled = vec![0.0; depth + 1];
        rescaled[1] = 1e-7;
        let errors = Errors { rescaled, switched: vec![0.0; depth + 1], constants: vec![2f64.powi(100); depth + 1] };
        let [worst, averaged] = [Samples::new(&spec, errors.clone()), Samples::averaged(&spec, errors)]
            .map(|samples| samples.deviation(&sine, 0.0).unwrap());
        println!("{worst:e} {averaged:e}");
        assert!(worst > 1.5 * averaged && worst < 4.0 * averaged, "{worst:e}, {averaged:e}");
    }
}
