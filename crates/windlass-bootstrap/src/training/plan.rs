//! A training with its layout, levels, refreshes and keys, before anything runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_circuits::complex::{Polynomial, SlotSums};
use windlass_circuits::trace::TraceChain;
use windlass_circuits::{CostModel, TracePlan, TraceSpec};
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{CkksContext, SlotErrors};

use super::schedule::{self, Factors};
use super::spec::TrainingSpec;
use crate::approximate::RefreshPlan;

/// A logistic regression that is trained on encrypted rows.
#[derive(Debug, Clone)]
pub struct Training {
    spec: TrainingSpec,
    refresh: Arc<RefreshPlan>,
    columns: usize,
    rows: usize,
    ciphertexts: usize,
    /// On −1..1, odd.
    polynomial: Polynomial,
    distance: f64,
    factors: Vec<Factors>,
    /// Whether a refresh comes before each step.
    refreshed: Vec<bool>,
    /// In units of the bound on weights.
    errors: Errors,
    pub(super) row_sum: TracePlan,
    pub(super) copies: TracePlan,
    pub(super) column_sum: TracePlan,
}

/// What is added to v and w: by a step, by a refresh, and by a refresh at most (`RefreshError::rare`).
#[derive(Debug, Clone, Copy, Default)]
struct Errors {
    step: f64,
    refresh: f64,
    rare: f64,
}

/// Points at which the distance from the sigmoid is measured.
const POINTS: usize = 1 << 14;

impl Training {
    /// Plans a training with the refreshes of a plan.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for numbers out of range, more features than the slots of the refresh and
    /// an even degree among them; [`Error::LevelsExhausted`] if a refreshed ciphertext has too few levels
    /// for a step.
    pub fn new(refresh: &Arc<RefreshPlan>, spec: &TrainingSpec) -> Result<Self> {
        spec.check()?;
        let context = refresh.context();
        let most = refresh.spec().slots.min(context.most_slots());
        let limits = Limits::at_most(most - 1).with("with the bias as many as a refresh has slots");
        limits.check("the number of features", spec.features)?;
        let columns = (spec.features + 1).next_power_of_two();
        let rows = spec.rows.next_power_of_two().min(context.most_slots() / columns);
        let (polynomial, distance) = odd_sigmoid(spec)?;
        let m = 2 * context.spec().n as u64;
        let (width, height) = (columns as u64, rows as u64);
        let sum = |chain: TraceChain| {
            let cost = context.cost_model(context.top_level());
            TracePlan::new(&chain, &TraceSpec { cost, ..TraceSpec::default() })
        };
        let plan = Self {
            refreshed: Vec::new(),
            errors: Errors::default(),
            row_sum: sum(TraceChain::window(m, 1, width)?)?,
            copies: sum(TraceChain::copies(m, 1, width)?)?,
            column_sum: sum(TraceChain::window(m, width, height)?)?,
            factors: schedule::factors(spec.steps),
            ciphertexts: spec.rows.div_ceil(rows),
            spec: spec.clone(),
            refresh: Arc::clone(refresh),
            columns,
            rows,
            polynomial,
            distance,
        };
        let (refreshed, own) = (plan.schedule()?, refresh.error()?);
        let (step, refresh) = (plan.step_deviation(), own.deviation() + own.systematic);
        let errors = Errors { step, refresh, rare: own.rare };
        Ok(Self { refreshed, errors, ..plan })
    }

    /// Whether a refresh comes before each step. The first one takes one level, the others those of a step.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`].
    fn schedule(&self) -> Result<Vec<bool>> {
        let (depth, needed) = (self.depth(), self.levels_per_step());
        if depth < needed {
            return Err(Error::LevelsExhausted { operation: "a step of a training", depth, needed, left: depth });
        }
        let mut left = depth - 1;
        let steps = (1..self.spec.steps).map(|_| {
            let is_spent = left < needed;
            left = if is_spent { depth } else { left } - needed;
            is_spent
        });
        Ok(std::iter::once(false).chain(steps).collect())
    }

    /// What the plan was made from.
    pub fn spec(&self) -> &TrainingSpec {
        &self.spec
    }

    /// The refresh.
    pub fn refresh(&self) -> &Arc<RefreshPlan> {
        &self.refresh
    }

    pub(super) fn context(&self) -> &Arc<CkksContext> {
        self.refresh.context()
    }

    /// C: the slots that a row takes, and those of the weights.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The rows that a ciphertext has room for.
    pub fn rows_per_ciphertext(&self) -> usize {
        self.rows
    }

    /// The slots of a ciphertext of the data.
    pub fn slots(&self) -> usize {
        self.columns * self.rows
    }

    /// The number of ciphertexts of the data.
    pub fn ciphertexts(&self) -> usize {
        self.ciphertexts
    }

    /// The levels of a refreshed ciphertext that steps may use.
    pub fn depth(&self) -> usize {
        self.refresh.spec().depth
    }

    /// The levels that a step takes: those of the polynomial and three.
    pub fn levels_per_step(&self) -> usize {
        3 + self.polynomial.depth()
    }

    /// The number of refreshes.
    pub fn refreshes(&self) -> usize {
        self.refreshed.iter().filter(|&&is| is).count()
    }

    /// Whether a refresh comes before a step, counted from 0.
    pub(super) fn is_refreshed_before(&self, step: usize) -> bool {
        self.refreshed[step]
    }

    pub(super) fn factors(&self) -> &[Factors] {
        &self.factors
    }

    /// The largest distance of the polynomial from the sigmoid, for scores within their bound.
    pub fn sigmoid_error(&self) -> f64 {
        self.distance
    }

    /// The polynomial near σ − 1/2, times a number, for scores in units of their bound.
    pub(super) fn scaled_polynomial(&self, factor: f64) -> Result<Polynomial> {
        let scaled: Vec<f64> = self.polynomial.coefficients().iter().map(|c| c * factor).collect();
        Polynomial::chebyshev(&scaled, -1.0, 1.0)
    }

    /// The polynomial near σ − 1/2 at a score.
    pub fn odd_part(&self, score: f64) -> f64 {
        self.polynomial.value(score / self.spec.score_bound)
    }

    /// κ: what entries of rows are multiplied by before they are encrypted.
    pub(super) fn data_scale(&self) -> f64 {
        (self.spec.learning_rate() / (self.spec.rows as f64 * self.spec.weight_bound)).sqrt()
    }

    /// The bound on the numbers of [`Self::encode`].
    pub fn data_bound(&self) -> f64 {
        self.data_scale() * self.spec.feature_bound
    }

    /// The automorphisms that need Galois keys: those of the sums, and the conjugation.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        let sums = [&self.row_sum, &self.copies, &self.column_sum];
        let mut keys: BTreeSet<u64> = sums.into_iter().flat_map(TracePlan::required_keys).collect();
        keys.insert(self.context().conjugation_element());
        keys
    }

    /// The number of keys that are made: Galois keys, the relinearisation key and those of the refresh.
    pub fn key_count(&self) -> usize {
        let all: BTreeSet<u64> = self.refresh.galois_levels().keys().copied().chain(self.required_keys()).collect();
        all.len() + 2
    }

    /// Bytes in memory of the encrypted data.
    pub fn data_bytes(&self) -> u64 {
        let (n, level) = (self.context().spec().n as u64, self.context().top_level() as u64);
        2 * 8 * n * level * self.ciphertexts as u64
    }

    /// Products of ciphertexts in a step.
    pub fn products_per_step(&self) -> usize {
        self.ciphertexts * (2 + self.polynomial.products())
    }

    /// The predicted time of all steps without refreshes, in transforms of one row.
    pub fn price_of_steps(&self) -> f64 {
        let (context, needed) = (self.context(), self.levels_per_step());
        // The first step takes one level.
        let mut left = self.depth() - 1;
        let mut price = self.column_sum.price();
        for &is_refreshed in &self.refreshed[1..] {
            left = if is_refreshed { self.depth() } else { left };
            // In the middle of the step.
            let cost = CostModel::at_level(context.rlwe().params(), context.base_level() + left - needed / 2);
            let sums = [&self.row_sum, &self.copies, &self.column_sum];
            let one = |sum: &TracePlan| sum.count().price(&cost);
            price += self.products_per_step() as f64 * cost.automorphism;
            price += self.ciphertexts as f64 * sums[..2].iter().map(|sum| one(sum)).sum::<f64>() + one(sums[2]);
            left -= needed;
        }
        price
    }

    /// The predicted time of all refreshes, in transforms of one row.
    pub fn price_of_refreshes(&self) -> f64 {
        self.refreshes() as f64 * self.refresh.price()
    }

    /// The estimated standard deviation of the error of a weight, beside that of the polynomial.
    ///
    /// It is a sum over all steps and refreshes, each multiplied by what momentum makes of it by the end.
    /// That no gradient pulls errors back is the worst case of a convex loss.
    ///
    /// **Warning.** A polynomial of low degree falls near the ends of its interval, where the loss is not
    /// convex. If many scores lie there, errors grow by more than is stated.
    pub fn deviation(&self) -> f64 {
        self.deviation_after(self.spec.steps) * self.spec.weight_bound
    }

    /// The same in units of the bound on weights, after so many steps.
    fn deviation_after(&self, steps: usize) -> f64 {
        let gains = schedule::gains(&self.factors[..steps]);
        let after = |done: usize| {
            let [v, w] = gains[done];
            let refresh = if self.is_refreshed_after(done, steps) { self.errors.refresh } else { 0.0 };
            (self.errors.step * v).powi(2) + (refresh * v).powi(2) + (refresh * w).powi(2)
        };
        (1..=steps).map(after).sum::<f64>().sqrt()
    }

    /// What ciphertexts state after so many steps: also what refreshes may add at most, as a share of the
    /// bound.
    pub(super) fn stated_after(&self, steps: usize) -> f64 {
        let gains = schedule::gains(&self.factors[..steps]);
        let refreshed = (1..steps).filter(|&done| self.is_refreshed_after(done, steps));
        let most: f64 = refreshed.map(|done| (gains[done][0].abs() + gains[done][1].abs()) * self.errors.rare).sum();
        self.deviation_after(steps) + most / SlotErrors::BOUND_FACTOR
    }

    fn is_refreshed_after(&self, done: usize, steps: usize) -> bool {
        done < steps && self.is_refreshed_before(done)
    }

    /// What one step adds to v, in units of the bound on weights.
    fn step_deviation(&self) -> f64 {
        let (context, spec) = (self.context(), &self.spec);
        let (top, base) = (context.top_level(), context.base_level());
        // A product that is rescaled, in the slots of the data and of the weights.
        let product = |slots| {
            let switch = context.switching_deviation(top, slots) / context.scale_of(top, 2);
            switch + context.rescaling_deviation(base, slots)
        };
        let (unit, own) = (product(self.slots()), product(self.columns));
        // Of the data, which is brought down to the level of the step.
        let data = context.fresh_deviation(top, 2 * self.slots()).hypot(unit);
        let (kappa, rows) = (self.data_scale(), (self.rows * self.ciphertexts) as f64);
        // Of scores in units of their bound: by the data, by two roundings.
        let to_scores = spec.weight_bound / (spec.score_bound * kappa);
        let score = (data * (self.columns as f64).sqrt() * to_scores).hypot(unit * to_scores).hypot(unit);
        // Of the polynomial, which is at most κ: by its argument, by its own operations.
        let slope = self.largest_slope() * spec.score_bound;
        let sigmoid = (2.0 * kappa * slope * score).hypot(unit * (self.polynomial.products() as f64 + 1.0));
        // Of the gradient: standardised entries have a mean square of κ².
        let gradient = kappa * rows.sqrt() * sigmoid.hypot(2.0 * data);
        gradient.hypot(4.0 * own)
    }

    /// Of the polynomial, by a score.
    fn largest_slope(&self) -> f64 {
        let step = self.spec.score_bound / POINTS as f64;
        let slope = |k: usize| (self.odd_part((k + 1) as f64 * step) - self.odd_part(k as f64 * step)).abs() / step;
        (0..POINTS).map(slope).fold(0.0, f64::max)
    }
}

/// The Chebyshev series of σ − 1/2 up to a degree, for scores in units of their bound, and the distance.
fn odd_sigmoid(spec: &TrainingSpec) -> Result<(Polynomial, f64)> {
    let sigmoid = |u: f64| 1.0 / (1.0 + (-spec.score_bound * u).exp()) - 0.5;
    let long = Polynomial::interpolate(sigmoid, -1.0, 1.0, 1023)?;
    let mut coefficients = long.coefficients()[..(spec.degree + 1).min(long.coefficients().len())].to_vec();
    coefficients.iter_mut().step_by(2).for_each(|c| *c = 0.0);
    let polynomial = Polynomial::chebyshev(&coefficients, -1.0, 1.0)?;
    let off = |k: usize| {
        let u = k as f64 / POINTS as f64;
        (polynomial.value(u) - sigmoid(u)).abs()
    };
    let distance = (0..=POINTS).map(off).fold(0.0, f64::max);
    Ok((polynomial, distance))
}
