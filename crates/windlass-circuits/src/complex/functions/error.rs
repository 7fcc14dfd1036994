//! The error of a function on a ciphertext, before anything runs.

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, Engine, RealArithmetic, RefreshTerms, SlotErrors};

use super::plan::{FunctionPlan, FunctionStep, summed};
use super::route::{Route, Start};
use super::signals::{Point, Signal, Signals};

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
    /// What the operations add, refreshes among them.
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
    /// The error that the result will have for a ciphertext, before anything runs and without refreshes
    /// ([`Self::error_on`]).
    ///
    /// **Warning.** The bound of the *result* ([`Ciphertext::error_bound`]) holds for all arguments in
    /// the interval, since decryptions are published by it. In the gap of a sign errors grow by its
    /// slope, so that bound is larger than this one.
    ///
    /// Cost: the function on some thousand numbers.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`] if the ciphertext has too few levels, or [`Error::StepTooDeep`] in a context with
    /// refreshes.
    ///
    /// [`Error::LevelsExhausted`]: windlass_schemes::Error::LevelsExhausted
    /// [`Error::StepTooDeep`]: windlass_schemes::Error::StepTooDeep
    pub fn error(&self, x: &Ciphertext) -> Result<FunctionError> {
        self.error_with(x, None)
    }

    /// As [`Self::error`], with what the refreshes of an engine between the steps add.
    ///
    /// # Errors
    /// As there, if refreshes do not help.
    pub fn error_on(&self, engine: &Engine, x: &Ciphertext) -> Result<FunctionError> {
        self.error_with(x, engine.refresh_terms(x.slots()))
    }

    fn error_with(&self, x: &Ciphertext, terms: Option<RefreshTerms>) -> Result<FunctionError> {
        let context = x.context();
        let start = Start::of(self, x);
        let route = self.route(context, start, 0, terms)?;
        let too_low = || Error::LevelsExhausted {
            operation: "evaluate a function",
            depth: context.spec().depth,
            needed: start.left + 1,
            left: start.left,
        };
        let level = if x.degree() == 1 { Some(x.level()) } else { context.level_below(x.level()) };
        let (mut level, mut errors) = (level.ok_or_else(too_low)?, x.slot_errors());
        if let Some(terms) = route.terms().filter(|_| route.refreshes_before_clearing()) {
            let lowering = context.rescaling_errors(terms.input_level, x.slots());
            errors = errors.plus(lowering).plus(terms.errors(start.bound));
            level = context.top_level();
        }
        Ok(self.statements(context, level, x.slots(), errors, &route)?.error)
    }

    /// The error for a fresh encryption under a public key, of a full vector.
    ///
    /// # Errors
    /// As [`Self::error`].
    pub fn fresh_error(&self, context: &CkksContext) -> Result<FunctionError> {
        let route = self.route(context, Start::fresh(self, context), 0, None)?;
        self.fresh_error_on(context, &route)
    }

    pub(super) fn fresh_error_on(&self, context: &CkksContext, route: &Route) -> Result<FunctionError> {
        let slots = context.most_slots();
        let input = context.fresh_errors(slots, self.interval.0.abs().max(self.interval.1.abs()));
        Ok(self.statements(context, context.top_level(), slots, input, route)?.error)
    }

    fn statements(
        &self,
        context: &CkksContext,
        level: usize,
        slots: usize,
        input: SlotErrors,
        route: &Route,
    ) -> Result<Statements> {
        // What the values are off by at most, while they are real: errors are measured where they
        // may be. The mean value theorem brings that itself to the result.
        let systematic = input.systematic;
        let arguments = self.widened(systematic);
        let machine = Signals { context, slots, noise: vec![input.random(); arguments.len()] };
        let values = self.signals(&machine, &arguments, level, route)?;
        let over = |points: &[Point]| {
            let all = points.iter().map(|point| point.own().plus(input.times(point.slope.abs())));
            all.fold(SlotErrors::default(), SlotErrors::max).times(self.grid.between)
        };
        let steps = values.iter().map(|value| over(&value.points)).collect();
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

    /// As [`Self::statements`], of a ciphertext of degree 1 that is cleared.
    pub(super) fn statements_on(&self, x: &Ciphertext, route: &Route) -> Result<Statements> {
        self.statements(x.context(), x.level(), x.slots(), x.slot_errors(), route)
    }

    /// As [`Self::statements_on`], without refreshes.
    pub(super) fn statements_of(&self, x: &Ciphertext) -> Result<Statements> {
        self.statements_on(x, &Route::direct())
    }

    /// The errors of the result, multiplied by a weight that depends on the argument.
    pub(super) fn weighted_errors(
        &self,
        x: &Ciphertext,
        route: &Route,
        weight: impl Fn(f64) -> f64,
    ) -> Result<SlotErrors> {
        let input = x.slot_errors();
        let arguments = self.widened(input.systematic);
        let noise = vec![input.random(); arguments.len()];
        let machine = Signals { context: x.context(), slots: x.slots(), noise };
        let values = self.signals(&machine, &arguments, x.level(), route)?;
        let points = values[values.len() - 1].points.iter().zip(&arguments);
        let all =
            points.map(|(point, &argument)| point.own().plus(input.times(point.slope.abs())).times(weight(argument)));
        Ok(all.fold(SlotErrors::default(), SlotErrors::max).times(self.grid.between))
    }

    /// Runs the steps on signals: what each step gives, before it is refreshed.
    fn signals(&self, machine: &Signals, arguments: &[f64], level: usize, route: &Route) -> Result<Vec<Signal>> {
        let (mut values, mut results) = (vec![Signal::of(arguments, level)], Vec::with_capacity(self.steps.len()));
        for (place, own) in self.steps.iter().enumerate() {
            if let Some(terms) = route.terms() {
                for value in route.before(place + 1) {
                    let bound = if value == 0 { route.bound() } else { self.steps[value - 1].bound };
                    values[value] = machine.refreshed(&values[value], terms, bound)?;
                }
            }
            let value = match &own.step {
                FunctionStep::Polynomial { of, p } => machine.polynomial(p, &values[*of])?,
                FunctionStep::Product(a, b) => machine.multiply(&values[*a], &values[*b])?,
                FunctionStep::Sum { terms, constant } => summed(machine, |k| values[k].clone(), terms, *constant)?,
            };
            results.push(value.clone());
            values.push(value);
        }
        Ok(results)
    }

    /// The arguments at which errors are measured, in an interval that is so much wider at both ends.
    fn widened(&self, more: f64) -> Vec<f64> {
        let (low, high) = self.interval;
        let (middle, factor) = (0.5 * (low + high), 1.0 + 2.0 * more / (high - low));
        self.grid.arguments.iter().map(|x| middle + (x - middle) * factor).collect()
    }
}
