//! The error of a function on a ciphertext, before anything runs.

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, SlotErrors};

use super::plan::FunctionPlan;
use super::signals::{Point, Signals};

/// How far the result of a [`FunctionPlan`] is from the function of the exact arguments at most.
///
/// The bound holds in every slot whose argument lies in the interval and outside the gap, but with a
/// probability of at most 2^−128 a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FunctionError {
    /// What is computed differs from the function by this at most.
    pub approximation: f64,
    /// The error of the input, as the function passes it on.
    pub propagated: f64,
    /// What the operations add.
    pub evaluation: f64,
}

impl FunctionError {
    /// All three together.
    pub fn total(&self) -> f64 {
        self.approximation + self.propagated + self.evaluation
    }

    /// −log2 of the total.
    pub fn bits(&self) -> f64 {
        -self.total().log2()
    }
}

/// What is stated of each value of a function.
pub(super) struct Statements {
    /// For the results of all steps: errors over the whole interval, the gap too.
    pub steps: Vec<SlotErrors>,
    pub error: FunctionError,
}

impl FunctionPlan {
    /// The error that the result will have for a ciphertext, before anything runs.
    ///
    /// **Warning.** The bound of the *result* ([`Ciphertext::error_bound`]) holds for all arguments in
    /// the interval, since decryptions are published by it. In the gap of a sign errors grow by its
    /// slope, so that bound is larger than this one.
    ///
    /// Cost: the function on some thousand numbers.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] if the ciphertext has too few levels.
    pub fn error(&self, x: &Ciphertext) -> Result<FunctionError> {
        let (needed, left) = self.levels(x, 0);
        let level = if x.degree() == 1 { Some(x.level()) } else { x.context().level_below(x.level()) };
        let level = level.filter(|_| needed <= left).ok_or_else(|| self.too_deep(x, 0))?;
        Ok(self.statements(x.context(), level, x.slots(), x.slot_errors())?.error)
    }

    /// The error for a fresh encryption under a public key, of a full vector.
    ///
    /// # Errors
    /// As [`Self::error`].
    pub fn fresh_error(&self, context: &CkksContext) -> Result<FunctionError> {
        let (level, slots, depth) = (context.top_level(), context.most_slots(), context.spec().depth);
        if self.depth() > depth {
            let (operation, needed) = ("evaluate a function", self.depth());
            return Err(Error::LevelsExhausted { operation, depth, needed, left: depth });
        }
        let input = context.fresh_errors(slots, self.interval.0.abs().max(self.interval.1.abs()));
        Ok(self.statements(context, level, slots, input)?.error)
    }

    pub(super) fn statements(
        &self,
        context: &CkksContext,
        level: usize,
        slots: usize,
        input: SlotErrors,
    ) -> Result<Statements> {
        // What the values are off by at most, while they are real: errors are measured where they
        // may be. The mean value theorem brings that itself to the result.
        let systematic = input.systematic;
        let arguments = self.widened(systematic);
        let machine = Signals { context, slots, noise: vec![input.random(); arguments.len()] };
        let values = self.signals(&machine, &arguments, level)?;
        let over = |points: &[Point]| {
            let all = points.iter().map(|point| point.own().plus(input.times(point.slope.abs())));
            all.fold(SlotErrors::default(), SlotErrors::max).times(self.grid.between)
        };
        let steps = values[1..].iter().map(|value| over(&value.points)).collect();
        let inside = |argument: f64| self.gap.is_none_or(|gap| argument.abs() >= gap - systematic);
        let points = values[values.len() - 1].points.iter().zip(&arguments);
        let (mut propagated, mut evaluation) = (0f64, 0f64);
        for (point, _) in points.filter(|(_, argument)| inside(**argument)) {
            propagated = propagated.max(input.times(point.slope.abs()).bound());
            evaluation = evaluation.max(point.own().bound());
        }
        let between = self.grid.between;
        let error = FunctionError {
            approximation: self.approximation,
            propagated: propagated * between,
            evaluation: evaluation * between,
        };
        Ok(Statements { steps, error })
    }

    /// As [`Self::statements`], of a ciphertext of degree 1.
    pub(super) fn statements_of(&self, x: &Ciphertext) -> Result<Statements> {
        self.statements(x.context(), x.level(), x.slots(), x.slot_errors())
    }

    /// The errors of the result, multiplied by a weight that depends on the argument.
    pub(super) fn weighted_errors(&self, x: &Ciphertext, weight: impl Fn(f64) -> f64) -> Result<SlotErrors> {
        let input = x.slot_errors();
        let arguments = self.widened(input.systematic);
        let noise = vec![input.random(); arguments.len()];
        let machine = Signals { context: x.context(), slots: x.slots(), noise };
        let values = self.signals(&machine, &arguments, x.level())?;
        let points = values[values.len() - 1].points.iter().zip(&arguments);
        let all =
            points.map(|(point, &argument)| point.own().plus(input.times(point.slope.abs())).times(weight(argument)));
        Ok(all.fold(SlotErrors::default(), SlotErrors::max).times(self.grid.between))
    }

    /// The arguments at which errors are measured, in an interval that is so much wider at both ends.
    fn widened(&self, more: f64) -> Vec<f64> {
        let (low, high) = self.interval;
        let (middle, factor) = (0.5 * (low + high), 1.0 + 2.0 * more / (high - low));
        self.grid.arguments.iter().map(|x| middle + (x - middle) * factor).collect()
    }
}
