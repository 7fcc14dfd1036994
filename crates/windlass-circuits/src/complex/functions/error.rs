//! The error of a function on a ciphertext, before anything runs.

use rayon::prelude::*;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, Engine, RealArithmetic, RefreshTerms, SlotErrors};
use windlass_schemes::switching::Arithmetic;

use super::plan::{FunctionPlan, FunctionStep, summed};
use super::route::{Route, Start};
use super::signals::{Signal, Signals};

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

/// The steps of a function on numbers, for one ciphertext.
struct Analysis<'a> {
    input: SlotErrors,
    arguments: Vec<f64>,
    machine: Signals<'a>,
    /// The argument and the results of steps, refreshed where the route says so.
    values: Vec<Signal>,
    /// The results of steps as they were before that.
    results: Vec<Signal>,
}

impl Analysis<'_> {
    /// The largest errors of a value over the interval, also between the arguments.
    fn largest(&self, value: &Signal, between: f64) -> SlotErrors {
        let all = value.points.iter().map(|point| point.own().plus(self.input.times(point.slope.abs())));
        all.fold(SlotErrors::default(), SlotErrors::max).times(between)
    }
}

impl FunctionPlan {
    /// The error that the result will have for a ciphertext, before anything runs and without refreshes
    /// ([`Self::error_on`]). The operations with which [`Self::apply`] begins are counted: rescaling a product, and
    /// clearing slots beside the entries.
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
    /// **Warning.** This is for a ciphertext by itself. In a list ([`Self::apply_list`]) two may take one refresh, after
    /// which each has the error of both: then the result itself says how exact it is ([`Ciphertext::error_bound`]).
    ///
    /// # Errors
    /// As there, if refreshes do not help.
    pub fn error_on(&self, engine: &Engine, x: &Ciphertext) -> Result<FunctionError> {
        engine.check_input("state the error of a function", x)?;
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
        if x.degree() > 1 {
            errors = errors.plus(context.rescaling_errors(level, x.slots()));
        }
        if let Some(terms) = route.terms().filter(|_| route.refreshes_before_clearing()) {
            let lowering = context.rescaling_errors(terms.input_level, x.slots());
            errors = errors.plus(lowering).plus(terms.errors(start.bound));
            level = context.top_level();
        }
        if start.clears {
            errors = Signals::cleared(context, (level, x.slots()), errors, start.bound)?;
            level = context.level_below(level).ok_or_else(too_low)?;
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
        let mut analyses = [self.analysis(context, (level, slots), input)];
        self.analyse(&mut analyses, &[route])?;
        let [analysis] = analyses;
        Ok(self.stated(&analysis))
    }

    /// What is stated of each of some ciphertexts of degree 1 that are cleared and refreshed together.
    pub(super) fn statements_together(&self, list: &[Ciphertext], routes: &[&Route]) -> Result<Vec<Vec<SlotErrors>>> {
        if !routes[0].terms().is_some_and(|terms| terms.takes_real_pairs) {
            // Nothing passes from one to another.
            let alone = |(x, route): (&Ciphertext, &&Route)| {
                let mut analyses = [self.analysis_of(x)];
                self.analyse(&mut analyses, &[*route])?;
                Ok(self.stated(&analyses[0]).steps)
            };
            return list.par_iter().zip(routes).map(alone).collect();
        }
        let mut analyses: Vec<Analysis> = list.iter().map(|x| self.analysis_of(x)).collect();
        self.analyse(&mut analyses, routes)?;
        Ok(analyses.iter().map(|analysis| self.stated(analysis).steps).collect())
    }

    fn analysis_of<'a>(&self, x: &'a Ciphertext) -> Analysis<'a> {
        self.analysis(x.context(), (x.level(), x.slots()), x.slot_errors())
    }

    fn analysis<'a>(
        &self,
        context: &'a CkksContext,
        (level, slots): (usize, usize),
        input: SlotErrors,
    ) -> Analysis<'a> {
        // What the values are off by at most, while they are real: errors are measured where they
        // may be. The mean value theorem brings that itself to the result.
        let arguments = self.widened(input.systematic);
        let machine = Signals { context, slots, noise: vec![input.random(); arguments.len()] };
        let values = vec![Signal::of(&arguments, level)];
        Analysis { input, arguments, machine, values, results: Vec::with_capacity(self.steps.len()) }
    }

    fn stated(&self, analysis: &Analysis) -> Statements {
        let Analysis { input, arguments, results, .. } = analysis;
        let steps = results.iter().map(|value| analysis.largest(value, self.grid.between)).collect();
        let inside = |argument: f64| self.gap.is_none_or(|gap| argument.abs() >= gap - input.systematic);
        let points = results[results.len() - 1].points.iter().zip(arguments);
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
        Statements { steps, error }
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
        let mut analyses = [self.analysis_of(x)];
        self.analyse(&mut analyses, &[route])?;
        let [Analysis { arguments, results, .. }] = &analyses;
        let points = results[results.len() - 1].points.iter().zip(arguments);
        let all =
            points.map(|(point, &argument)| point.own().plus(input.times(point.slope.abs())).times(weight(argument)));
        Ok(all.fold(SlotErrors::default(), SlotErrors::max).times(self.grid.between))
    }

    /// Runs the steps on signals, those of all ciphertexts together: what each step gives, before it is refreshed.
    ///
    /// Where two ciphertexts may take one refresh, each gets the largest error of any other. Slots with one index hold
    /// any two arguments, so that error is the largest over the interval.
    fn analyse(&self, analyses: &mut [Analysis], routes: &[&Route]) -> Result<()> {
        for (place, own) in self.steps.iter().enumerate() {
            for value in routes[0].before(place + 1) {
                self.refresh(analyses, routes, value)?;
            }
            for analysis in analyses.iter_mut() {
                let Analysis { machine, values, .. } = &*analysis;
                let value = match &own.step {
                    FunctionStep::Polynomial { of, p } => machine.polynomial(p, &values[*of])?,
                    FunctionStep::Product(a, b) => machine.multiply(&values[*a], &values[*b])?,
                    FunctionStep::Sum { terms, constant } => summed(machine, |k| values[k].clone(), terms, *constant)?,
                };
                analysis.results.push(value.clone());
                analysis.values.push(value);
            }
        }
        Ok(())
    }

    /// Refreshes one value of all ciphertexts.
    fn refresh(&self, analyses: &mut [Analysis], routes: &[&Route], value: usize) -> Result<()> {
        let mut low = Vec::with_capacity(analyses.len());
        for (analysis, route) in analyses.iter().zip(routes) {
            let Some(terms) = route.terms() else { return Ok(()) };
            let signal = analysis.machine.before_refresh(&analysis.values[value], terms)?;
            low.push((analysis.largest(&signal, self.grid.between), signal, *terms));
        }
        let errors: Vec<SlotErrors> = low.iter().map(|(largest, ..)| *largest).collect();
        for (k, ((_, signal, terms), analysis)) in low.into_iter().zip(analyses).enumerate() {
            let bound = if value == 0 { routes[k].bound() } else { self.steps[value - 1].bound };
            let others = errors.iter().enumerate().filter(|(other, _)| terms.takes_real_pairs && *other != k);
            let beside = others.fold(SlotErrors::default(), |most, (_, own)| most.max(*own));
            analysis.values[value] = analysis.machine.refreshed(signal, &terms, bound, beside);
        }
        Ok(())
    }

    /// The arguments at which errors are measured, in an interval that is so much wider at both ends.
    fn widened(&self, more: f64) -> Vec<f64> {
        let (low, high) = self.interval;
        let (middle, factor) = (0.5 * (low + high), 1.0 + 2.0 * more / (high - low));
        self.grid.arguments.iter().map(|x| middle + (x - middle) * factor).collect()
    }
}
