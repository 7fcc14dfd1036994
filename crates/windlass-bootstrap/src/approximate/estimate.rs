//! The error of a refresh before anything runs.
//!
//! Maps pass errors on by the Euclidean norm of their rows, and add those of their constants, key
//! switches and rescaling. The sine runs on samples: numbers as slots hold them, to which every
//! operation adds an error of the deviation that it has on ciphertexts.

use std::cell::RefCell;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{CkksContext, Complex64, RealArithmetic};

use super::plan::{RefreshPlan, Stage};

/// How many numbers the sine runs on.
const SAMPLES: usize = 4096;

/// What estimates are above what was seen, for samples are few and slots many.
const ROOM: f64 = 1.25;

/// The error of a refresh, in units of the message: standard deviations of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RefreshError {
    /// From the maps before the sine, at its output.
    pub to_slots: f64,
    /// From the sine.
    pub sine: f64,
    /// From the maps after it.
    pub to_coefficients: f64,
    /// What the sine differs from the sawtooth by, at most, for a message of absolute value 1. It
    /// grows with the fifth power of the message (the third without the arcsine).
    pub systematic: f64,
}

impl RefreshError {
    /// The deviation of a slot from all but the systematic part.
    pub fn deviation(&self) -> f64 {
        ROOM * self.to_slots.hypot(self.sine).hypot(self.to_coefficients)
    }

    /// The systematic part for a message of another size.
    pub fn systematic_at(&self, magnitude: f64, arcsine: bool) -> f64 {
        self.systematic * magnitude.powi(if arcsine { 5 } else { 3 })
    }

    pub(super) fn of(plan: &RefreshPlan) -> Result<Self> {
        let (spec, context) = (plan.spec(), &**plan.context());
        let share = 2f64.powi(-(spec.gap_bits as i32));
        let variance = (f64::from(spec.ephemeral_weight) + 1.0) / 12.0;
        let modulus = context.rlwe().log2_modulus(context.base_level()).exp2();
        let raised = modulus / context.scale(context.raised_level()) * (spec.n as f64 * variance).sqrt();
        let first = Signal { size: raised, error: 0.0 }.through(context, &plan.to_slots);
        // A sum with the conjugate has twice the real part, whose deviation is 1/√2 of the whole.
        let argument = first.error * std::f64::consts::SQRT_2;
        // From the result of the sine, of both parts, to slots.
        let gain = plan.to_coefficients.iter().map(|stage| norm(stage)).product::<f64>() * std::f64::consts::SQRT_2;
        let quiet = Samples::new(plan, 0.0);
        let (whole, inside) = (Samples::new(plan, argument).deviation(plan)?, quiet.deviation(plan)?);
        let size = share * plan.sine.factor() / (spec.n as f64).sqrt();
        let last = Signal { size, error: 0.0 }.through(context, &plan.to_coefficients);
        let angle = std::f64::consts::TAU * share;
        let systematic = if spec.arcsine { 3.0 / 40.0 * angle.powi(4) } else { angle.powi(2) / 6.0 };
        let to_slots = (whole * whole - inside * inside).max(0.0).sqrt();
        Ok(Self { to_slots: to_slots * gain, sine: inside * gain, to_coefficients: last.error, systematic })
    }
}

/// The size of slots, and the deviation of their errors.
#[derive(Debug, Clone, Copy)]
struct Signal {
    size: f64,
    error: f64,
}

/// The Euclidean norm of a row of a map, on average.
fn norm(stage: &Stage) -> f64 {
    let map = stage.plan.grid().block(0, 0).expect("a map that is not zero");
    let mean = |constant: &Vec<Complex64>| constant.iter().map(|z| z.norm_sqr()).sum::<f64>() / constant.len() as f64;
    map.terms().map(|(_, constant)| mean(constant)).sum::<f64>().sqrt()
}

impl Signal {
    fn through(self, context: &CkksContext, stages: &[Stage]) -> Self {
        stages.iter().fold(self, |signal, stage| signal.after(context, stage))
    }

    fn after(self, context: &CkksContext, stage: &Stage) -> Self {
        let slots = stage.plan.grid().representation().count();
        let terms = stage.plan.grid().block(0, 0).map_or(0, |map| map.support().len());
        let below = context.level_below(stage.level).expect("a map is rescaled");
        let norm = norm(stage);
        let constants = self.size * (terms as f64 * 2.0 * slots as f64 / 12.0).sqrt();
        let switches = norm * context.switching_deviation(stage.level, slots) / context.scale(stage.level);
        let errors = [
            self.error * norm,
            constants / context.constant_scale(stage.level),
            switches,
            context.rescaling_deviation(below, slots),
        ];
        Self { size: self.size * norm, error: errors.iter().map(|x| x * x).sum::<f64>().sqrt() }
    }
}

/// Numbers with errors, and what makes them.
struct Samples<'a> {
    context: &'a CkksContext,
    slots: usize,
    argument: f64,
    rng: RefCell<ChaCha20Rng>,
}

/// Numbers at a level.
#[derive(Clone)]
struct Numbers {
    values: Vec<Complex64>,
    level: usize,
}

impl<'a> Samples<'a> {
    /// `argument` is the error of what the sine takes.
    fn new(plan: &'a RefreshPlan, argument: f64) -> Self {
        let rng = RefCell::new(ChaCha20Rng::seed_from_u64(0));
        Self { context: plan.context(), slots: plan.slots, argument, rng }
    }

    fn uniform(&self) -> f64 {
        ((self.rng.borrow_mut().next_u64() >> 11) + 1) as f64 * 2f64.powi(-53)
    }

    /// A complex Gaussian with this mean of its squared absolute value.
    fn gaussian(&self, deviation: f64) -> Complex64 {
        let radius = (-self.uniform().ln()).sqrt() * deviation;
        Complex64::from_polar(radius, std::f64::consts::TAU * self.uniform())
    }

    /// The deviation of the result of the sine from what it should be.
    fn deviation(&self, plan: &RefreshPlan) -> Result<f64> {
        let spec = plan.spec();
        let variance = (f64::from(spec.ephemeral_weight) + 1.0) / 12.0;
        // Coefficients of messages are mostly far below their bound.
        let size = 2f64.powi(-(spec.gap_bits as i32)) / 8.0;
        let integer = |_| (self.gaussian((2.0 * variance).sqrt()).re).round();
        let messages: Vec<(f64, f64)> =
            (0..SAMPLES).map(integer).map(|integer| (integer, size * (2.0 * self.uniform() - 1.0))).collect();
        let argument = |&(integer, message): &(f64, f64)| {
            Complex64::new((integer + message) / plan.sine.range(), 0.0) + self.gaussian(self.argument)
        };
        let values = messages.iter().map(argument).collect();
        let result = plan.sine.evaluate(self, &Numbers { values, level: plan.relinearisation_level() })?;
        let error =
            |(value, (_, message)): (&Complex64, &(f64, f64))| (value - message * plan.sine.factor()).norm_sqr();
        Ok((result.values.iter().zip(&messages).map(error).sum::<f64>() / SAMPLES as f64).sqrt())
    }

    fn each(&self, a: &Numbers, level: usize, f: impl Fn(usize, Complex64) -> Complex64) -> Numbers {
        Numbers { values: a.values.iter().enumerate().map(|(j, &x)| f(j, x)).collect(), level }
    }

    fn joined(&self, a: &Numbers, b: &Numbers, f: impl Fn(Complex64, Complex64) -> Complex64) -> Numbers {
        self.each(a, a.level.min(b.level), |j, x| f(x, b.values[j]))
    }

    /// After a key switch of an unscaled product.
    fn switched(&self, a: Numbers) -> Numbers {
        let error = self.context.switching_deviation(a.level, self.slots) / self.context.scale_of(a.level, 2);
        self.each(&a, a.level, |_, x| x + self.gaussian(error))
    }

    fn at(&self, a: &Numbers, level: usize) -> Numbers {
        let error = self.context.rescaling_deviation(level, self.slots);
        self.each(a, level, |_, x| x + self.gaussian(error))
    }
}

impl RealArithmetic for Samples<'_> {
    type Value = Numbers;

    fn multiply(&self, a: &Numbers, b: &Numbers) -> Result<Numbers> {
        Ok(self.switched(self.joined(a, b, |x, y| x * y)))
    }

    fn square(&self, a: &Numbers) -> Result<Numbers> {
        self.multiply(a, a)
    }

    fn multiply_number(&self, a: &Numbers, c: f64) -> Result<Numbers> {
        let scale = self.context.constant_scale(a.level);
        let c = (c * scale).round_ties_even() / scale;
        Ok(self.each(a, a.level, |_, x| x * c))
    }

    fn double(&self, a: &Numbers) -> Result<Numbers> {
        Ok(self.each(a, a.level, |_, x| 2.0 * x))
    }

    fn add(&self, a: &Numbers, b: &Numbers) -> Result<Numbers> {
        Ok(self.joined(a, b, |x, y| x + y))
    }

    fn sub(&self, a: &Numbers, b: &Numbers) -> Result<Numbers> {
        Ok(self.joined(a, b, |x, y| x - y))
    }

    fn add_number(&self, a: &Numbers, c: f64) -> Result<Numbers> {
        Ok(self.each(a, a.level, |_, x| x + c))
    }

    fn zero(&self, a: &Numbers) -> Result<Numbers> {
        Ok(self.each(a, a.level, |_, _| Complex64::ZERO))
    }

    fn rescale(&self, a: &Numbers) -> Result<Numbers> {
        Ok(self.at(a, self.context.level_below(a.level).expect("a plan has a level for each rescaling")))
    }

    fn lowered(&self, a: &Numbers, like: &Numbers, rescalings: usize) -> Result<Numbers> {
        let below = |level| self.context.level_below(level).expect("a plan has a level for each rescaling");
        let level = (0..rescalings).fold(like.level, |level, _| below(level));
        Ok(if level == a.level { a.clone() } else { self.at(a, level) })
    }

    fn bounded(&self, a: Numbers, _: f64) -> Numbers {
        a
    }
}
