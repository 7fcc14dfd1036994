//! Estimates the error of a CKKS refresh without running it on ciphertexts.
//!
//! A linear map passes errors on by the Euclidean norm of its rows. It adds the errors of its constants,
//! of its key switches and of its rescaling. The sine is run in the clear on sample values of slots.
//! After each operation a random error is added, with the standard deviation that this operation has on
//! ciphertexts.

use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{CkksContext, Complex64, RefreshTerms, SlotErrors};

use super::plan::{MapStage, RefreshPlan};
use super::samples::{Errors, Samples};
use super::spec::{MapOrder, RefreshSpec};
use crate::encapsulation::InputModulus;

/// Safety factor of the deviations. Each step adds what the estimate says within a tenth (`stages`, with a known
/// secret); the rest is for the largest of many slots (design 0032, decision 18).
const ROOM: f64 = 1.5;

/// The error of a refresh, in units of the message: standard deviations of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RefreshError {
    /// From the maps before the sine, at its output.
    pub to_slots: f64,
    /// From the sine.
    pub sine: f64,
    /// From the maps after it.
    pub to_coefficients: f64,
    /// The largest difference between the sine and the sawtooth, for a message of absolute value 1. It
    /// grows with the fifth power of the message (the third without the arcsine).
    pub systematic: f64,
    /// What a slot may be off by beside all that: the polynomial near the cosine is less exact for
    /// an integer that hardly ever occurs in a coefficient. At weight 32 some coefficient of n = 2^16
    /// has an |I| above 11 with probability 2^−29.
    pub rare: f64,
}

impl RefreshPlan {
    /// The error that a refresh adds.
    ///
    /// Cost: a few milliseconds.
    ///
    /// # Errors
    /// None in practice: plans are checked when they are made.
    pub fn error(&self) -> Result<RefreshError> {
        RefreshError::of(self)
    }

    /// What a refresh takes of a ciphertext and adds to it, for circuits that refresh between their steps.
    ///
    /// # Errors
    /// As [`Self::error`].
    #[doc(hidden)]
    pub fn terms(&self) -> Result<RefreshTerms> {
        let (error, spec) = (self.error()?, self.spec());
        let (least, power) = (error.in_slots(spec, 0.0), if spec.arcsine { 5 } else { 3 });
        let (input_level, most) = (self.input_level(), self.most());
        let systematic = error.systematic_at(1.0, spec.arcsine);
        Ok(RefreshTerms { input_level, most, least, systematic, power, takes_real_pairs: self.takes_real_pairs() })
    }

    /// The deviation of the argument of the sine after these maps.
    ///
    /// A sum with the conjugate has twice the real part, whose deviation is 1/√2 of the whole. The conjugation is
    /// one key switch more.
    pub(super) fn argument_error(&self, mapped: Signal) -> f64 {
        let (context, level) = (self.context(), self.relinearisation_level());
        let switch = context.switching_deviation(level, self.spec().sine_slots()) / context.scale(level);
        (mapped.error * std::f64::consts::SQRT_2).hypot(switch)
    }
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

    /// What a refresh adds to a message of this size at most.
    pub(super) fn in_slots(&self, spec: &RefreshSpec, magnitude: f64) -> SlotErrors {
        let (deviation, systematic) = (self.deviation(), self.systematic_at(magnitude, spec.arcsine));
        // Of all slots of the ring, those of a subring have the smallest errors.
        let all = ((spec.n / 2) as f64 / spec.sine_slots() as f64).sqrt();
        let whole = deviation * all + (systematic + self.rare) / SlotErrors::BOUND_FACTOR;
        SlotErrors { deviation, most: self.rare, systematic, whole }
    }

    fn of(plan: &RefreshPlan) -> Result<Self> {
        let (spec, context) = (plan.spec(), &**plan.context());
        let share = context.scale(context.base_level()) / plan.base_modulus();
        let size = share * plan.sine.factor() / (2.0 * spec.slots as f64).sqrt();
        let back = |size| Signal { size, error: 0.0 }.through(context, &plan.to_coefficients).error;
        // What the maps back add before the sine, by what they multiply its errors, and what they add after it.
        let (before, passed_on, after) = match spec.order {
            MapOrder::BackLast => (0.0, plan.to_coefficients.iter().map(norm).product::<f64>(), back(size)),
            MapOrder::BackFirst => (back(1.0), 1.0, 0.0),
        };
        let first = Signal::raised(plan, before).through(context, &plan.to_slots);
        let argument = plan.argument_error(first);
        // From the result of the sine, of both parts, to slots; a map that joins them counts both.
        let both = if spec.is_joined() { 1.0 } else { std::f64::consts::SQRT_2 };
        let gain = passed_on * both;
        let errors = Errors::of(context, spec.sine_slots(), plan.relinearisation_level());
        let samples = |argument| Samples::new(spec, errors.clone()).deviation(&plan.sine, argument);
        let (whole, inside) = (samples(argument)?, samples(0.0)?);
        let systematic = plan.systematic_of(share) / share;
        let to_slots = (whole * whole - inside * inside).max(0.0).sqrt();
        // Of one coefficient, whole in every slot; twice, for there may be a second one.
        let per_slot = plan.base_modulus() / context.scale(context.base_level());
        let off = |integer: i64| (plan.sine.value(integer as f64) / plan.sine.factor()).abs();
        let rare = 2.0 * per_slot * (-spec.most()..=spec.most()).map(off).fold(0.0, f64::max);
        Ok(Self { to_slots: to_slots * gain, sine: inside * gain, to_coefficients: after, systematic, rare })
    }
}

/// The size of slots, and the deviation of their errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signal {
    pub size: f64,
    pub error: f64,
}

/// The Euclidean norm of a row of a map, on average.
pub(super) fn norm(stage: &MapStage) -> f64 {
    let map = stage.plan.grid().block(0, 0).expect("a map that is not zero");
    let mean = |constant: &Vec<Complex64>| constant.iter().map(|z| z.norm_sqr()).sum::<f64>() / constant.len() as f64;
    map.terms().map(|(_, constant)| mean(constant)).sum::<f64>().sqrt()
}

impl Signal {
    /// At the highest level: `Q_B·I` in 2s coefficients, with the errors of the switch to the ephemeral
    /// key and its roundings, of the mod-down at the top, and of the slots before (`before`, in units of
    /// the message there).
    pub fn raised(plan: &RefreshPlan, before: f64) -> Self {
        let (spec, context) = (plan.spec(), &**plan.context());
        let (params, n) = (context.rlwe().params(), spec.n as f64);
        // Slots of as many coefficients of variance 1, in units of the message there.
        let slots = spec.sum_factor() * (2.0 * spec.slots as f64).sqrt() / context.scale(context.raised_level());
        let input = InputModulus::at_level(context.base_level(), spec.ephemeral_special);
        // log2 of Q_B over the special primes of that switch.
        let log2_digit = 2.0 * params.log2_q(context.base_level()) - input.log2_modulus(params);
        let switch = log2_digit.exp2() * params.sigma() * (n * f64::from(spec.parties) / 12.0).sqrt();
        let roundings = ((2.0 + spec.ephemeral_square() + spec.secret().total_variance(spec.n)) / 12.0).sqrt();
        let size = plan.base_modulus() * spec.integer_variance().sqrt();
        // Of slots that are sums of 2s coefficients each.
        let earlier = before * context.scale(context.base_level()) / (2.0 * spec.slots as f64).sqrt();
        Self { size: slots * size, error: slots * switch.hypot(roundings).hypot(earlier) }
    }

    pub fn through(self, context: &CkksContext, stages: &[MapStage]) -> Self {
        stages.iter().fold(self, |signal, stage| signal.after(context, stage))
    }

    fn after(self, context: &CkksContext, stage: &MapStage) -> Self {
        let slots = stage.plan.grid().representation().count();
        let terms = stage.plan.grid().block(0, 0).map_or(0, |map| map.support().len());
        let below = context.level_below(stage.level).expect("a map is rescaled");
        let norm = norm(stage);
        let constants = self.size * (terms as f64 * 2.0 * slots as f64 / 12.0).sqrt();
        let switch = context.switching_deviation(stage.level, slots);
        let rounding = context.rescaling_deviation(stage.level, slots) * context.scale(stage.level);
        let product = (switch * switch - rounding * rounding).max(0.0).sqrt();
        // Before the constants, as many products with keys as an input goes through; each step but the first begins
        // with a division by P. After the constants, one key switch for each output.
        let (before, after) = (stage.plan.input_steps() as f64, stage.plan.count().extended_automorphisms as f64);
        let divisions = (before - 1.0).max(0.0);
        let errors = [
            self.error * norm,
            constants / context.constant_scale(stage.level),
            norm * (before.sqrt() * product).hypot(divisions.sqrt() * rounding) / context.scale(stage.level),
            (after + 1.0).sqrt() * switch / context.scale_of(stage.level, 2),
            context.rescaling_deviation(below, slots),
        ];
        Self { size: self.size * norm, error: errors.iter().map(|x| x * x).sum::<f64>().sqrt() }
    }
}
