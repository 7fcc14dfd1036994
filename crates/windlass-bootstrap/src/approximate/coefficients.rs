//! The error of a refresh of any coefficients, not of slots that are at most 1.
//!
//! [`super::RefreshError`] is about messages whose slots are bounded, so that coefficients are small.
//! Here every coefficient may be at the bound, and errors that depend on the message are counted at
//! their largest.

use windlass_schemes::error::Result;

use super::estimate::{Signal, norm};
use super::plan::RefreshPlan;
use super::samples::{Errors, Samples};

/// Safety factor of the random part: there are few samples and many coefficients.
const ROOM: f64 = 1.5;

/// What a refresh adds to a polynomial with coefficients of at most 1, in units of the base's scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CoefficientError {
    /// The deviation of a slot from everything random.
    pub random: f64,
    /// The deviation of a slot from the rounding of the constants of the maps back, if all
    /// coefficients are 1.
    pub constants: f64,
    /// What the polynomial near the cosine is off by in a coefficient, for the integer where it is
    /// off most.
    pub rare: f64,
}

impl RefreshPlan {
    /// The error for coefficients of at most `most`; of a plan with the maps back at its end.
    ///
    /// Cost: a few milliseconds.
    pub(crate) fn coefficient_error(&self, most: f64) -> Result<CoefficientError> {
        let (spec, context) = (self.spec(), &**self.context());
        let share = (-f64::from(spec.gap_bits)).exp2();
        let back = |size| Signal { size, error: 0.0 }.through(context, &self.to_coefficients).error;
        // Both parts of a slot of the sine may be at the bound.
        let (random, whole) = (back(0.0), back(std::f64::consts::SQRT_2 * share * self.sine.factor()));
        let argument = self.argument_error(Signal::raised(self, 0.0).through(context, &self.to_slots));
        let errors = Errors::of(context, spec.sine_slots(), self.relinearisation_level());
        let sine = Samples::new(spec, errors).deviation(&self.sine, argument)?;
        let passed_on: f64 = self.to_coefficients.iter().map(norm).product();
        let sine = sine * passed_on * std::f64::consts::SQRT_2;
        let result = self.result_factor();
        Ok(CoefficientError {
            random: ROOM * random.hypot(sine) / result,
            constants: (whole * whole - random * random).max(0.0).sqrt() / result,
            rare: self.rare(most / self.base_modulus()) * self.base_modulus() / context.scale(context.base_level()),
        })
    }

    /// `|f(I + x) − x|` beside the systematic part, the largest over all I that occur and over places x up to this
    /// share of Q_B.
    fn rare(&self, share: f64) -> f64 {
        let off = |integer: i64, x: f64| {
            let value = self.sine.value(integer as f64 + x) / self.sine.factor();
            (value - x - self.sine.systematic(x)).abs()
        };
        let most = self.spec().most();
        let places = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|place| place * share);
        (-most..=most).flat_map(|integer| places.map(|x| off(integer, x))).fold(0.0, f64::max)
    }

    /// The systematic error of a coefficient that is this share of Q_B.
    pub(crate) fn systematic_of(&self, share: f64) -> f64 {
        self.sine.systematic(share).abs()
    }

    /// The level of the result of a refresh.
    pub(crate) fn result_level(&self) -> usize {
        let last = self.to_coefficients.last().map_or(self.context().raised_level(), |stage| stage.level);
        self.context().level_below(last).unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::floor::{Floor, PhaseFactor};
    use super::super::spec::tests::toy;
    use super::super::{PassChain, RefreshSpec};
    use super::*;

    /// Where coefficients exceed the scale, the error at the largest of them counts: there the fit is worse.
    #[test]
    fn rare_integers_count_at_the_largest_coefficient() {
        let assurance = toy(128).assurance;
        let (n, gap_bits) = (128, 12);
        let chain =
            PassChain { n, scale_bits: 50, gap_bits, gained: 24.0, larger_constants: -5.0, assurance, parties: 1 };
        let spec = RefreshSpec { ephemeral_weight: 32, digits: 5, ..chain.refresh().unwrap() };
        let floor = Floor { levels: vec![vec![26]], factor: PhaseFactor::Number(1.0) };
        let plan = RefreshPlan::above(&spec, Some(floor)).unwrap();
        let scale = plan.context().scale(plan.context().base_level());
        // E is four times the scale.
        let (most, integers) = (4.0 * scale, plan.spec().most());
        let share = most / plan.base_modulus();
        let off = |integer: i64| (plan.sine.value(integer as f64 + share) / plan.sine.factor() - share).abs();
        let beside = |integer: i64| (off(integer) - plan.systematic_of(share)).abs();
        let seen = (-integers..=integers).map(beside).fold(0.0, f64::max) * plan.base_modulus() / scale;
        let [stated, at_the_scale] = [most, scale].map(|most| plan.coefficient_error(most).unwrap().rare);
        println!("{:.2} seen, {:.2} stated, {:.2} at the scale", seen.log2(), stated.log2(), at_the_scale.log2());
        assert!(seen <= stated * (1.0 + 1e-9) && at_the_scale < stated);
    }
}
