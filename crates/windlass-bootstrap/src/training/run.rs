//! Runs a training on ciphertexts.

use std::ops::ControlFlow;

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::Refresh;
use windlass_schemes::schemes::ckks::{Ciphertext, Complex64, Engine, Stated};
use windlass_schemes::switching::Switching;

use super::plan::Training;

/// What a training reports before each refresh and each step, and once at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingProgress {
    /// The number of steps that are done.
    pub step: usize,
    /// The number of all steps.
    pub steps: usize,
    /// The number of refreshes that are done.
    pub refreshes: usize,
    /// Whether a refresh comes next.
    pub is_refresh: bool,
}

/// v and w of two steps before, in units of the bound on weights.
struct State {
    point: Ciphertext,
    /// None while it is 0.
    older: Option<Ciphertext>,
    /// What both are multiplied by: 2 after a refresh.
    factor: f64,
}

/// A placeholder for errors within a step: they are stated at its end.
const TINY: f64 = 1e-12;

impl Training {
    /// The weights after all steps, in as many slots as a row takes; [`Self::weights`] takes them when they
    /// are decrypted. The engine has the keys of [`Self::required_keys`] and the relinearisation key, the
    /// refresher those of the refresh. `observe` is called before each refresh and each step, and once at
    /// the end; it may stop the training before the end.
    ///
    /// Cost: [`Self::price_of_steps`] and [`Self::price_of_refreshes`].
    ///
    /// **Warning.** Scores and weights beyond the bounds of the plan are not noticed by the server: see
    /// [`super::TrainingSpec`].
    ///
    /// # Errors
    /// Before any work: [`Error::ShapeMismatch`] for another number of ciphertexts or slots;
    /// [`Error::LevelsExhausted`] for data below the top level; [`Error::OutOfRange`] for data with a larger
    /// bound than [`Self::data_bound`]; [`Error::MissingGaloisKey`] and [`Error::MissingRelinearisationKey`].
    /// Then [`Error::Cancelled`], and errors of refreshes.
    pub fn run(
        &self,
        engine: &Engine,
        refresher: &dyn Refresh<Ciphertext>,
        data: &[Ciphertext],
        observe: &mut dyn FnMut(&TrainingProgress) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        let engine = &engine.plain();
        self.check(engine, data)?;
        let (steps, mut refreshes) = (self.spec().steps, 0);
        let mut report =
            |step, refreshes, is_refresh| match observe(&TrainingProgress { step, steps, refreshes, is_refresh }) {
                ControlFlow::Break(()) if step < steps => Err(Error::Cancelled { operation: "training" }),
                _ => Ok(()),
            };
        report(0, 0, false)?;
        let half = self.column_total(engine, data.to_vec())?;
        let mut state = self.first_step(engine, &half)?;
        for step in 1..steps {
            if self.is_refreshed_before(step) {
                report(step, refreshes, true)?;
                state = self.refreshed(engine, refresher, &state, step)?;
                refreshes += 1;
            }
            report(step, refreshes, false)?;
            state = self.step(engine, (data, &half), &state, step)?;
        }
        report(steps, refreshes, false)?;
        Ok(state.point)
    }

    fn check(&self, engine: &Engine, data: &[Ciphertext]) -> Result<()> {
        let (expected, got) = (self.ciphertexts(), data.len());
        if expected != got {
            return Err(Error::ShapeMismatch { what: "ciphertexts of rows", expected, got });
        }
        for ct in data {
            let (expected, got) = (self.slots(), ct.slots());
            if expected != got {
                return Err(Error::ShapeMismatch { what: "slots of a ciphertext of rows", expected, got });
            }
            let (depth, left) = (self.context().spec().depth, ct.products_left());
            if left < depth {
                return Err(Error::LevelsExhausted { operation: "training", depth, needed: depth, left });
            }
            let limits = Limits::at_most(self.data_bound() * (1.0 + 1e-9));
            limits.check("the bound on encrypted rows", ct.magnitude().max(ct.rest_magnitude()))?;
        }
        if let Some(element) = self.required_keys().into_iter().find(|&t| !engine.has_key(t)) {
            let make_with = "a request for the keys of the training".to_owned();
            return Err(Error::MissingGaloisKey { element, make_with });
        }
        match engine.keys().relinearisation() {
            Some(_) => Ok(()),
            None => Err(Error::MissingRelinearisationKey),
        }
    }

    /// `½·(1 + μ_1)·κ·Σ κ·z_i`: all scores are 0.
    fn first_step(&self, engine: &Engine, half: &Ciphertext) -> Result<State> {
        let point = engine.rescale(&times(engine, half, self.half_factor(0))?)?;
        Ok(State { point: point.restated(self.weights_stated(1)), older: None, factor: 1.0 })
    }

    /// What `Σ κ·z_i` is multiplied by in a step.
    fn half_factor(&self, step: usize) -> f64 {
        0.5 * self.factors()[step].gradient * self.data_scale()
    }

    fn step(
        &self,
        engine: &Engine,
        (data, half): (&[Ciphertext], &Ciphertext),
        state: &State,
        step: usize,
    ) -> Result<State> {
        let factors = &self.factors()[step];
        let gradient = self.gradient(engine, data, state, factors.gradient)?;
        // What is not the gradient has levels to spare.
        let combined = |[a, b]: [f64; 2]| -> Result<Ciphertext> {
            let of_point = times(engine, &state.point, a / state.factor)?;
            match &state.older {
                Some(older) if b != 0.0 => engine.add(&of_point, &times(engine, older, b / state.factor)?),
                _ => Ok(of_point),
            }
        };
        let moved = engine.add(&combined(factors.next)?, &times(engine, half, self.half_factor(step))?)?;
        let stated = self.weights_stated(step + 1);
        let point = engine.add(&engine.rescale(&moved)?, &engine.rescale(&gradient)?)?.restated(stated);
        let older = engine.rescale(&combined(factors.kept)?)?.restated(stated);
        Ok(State { point, older: Some(older), factor: 1.0 })
    }

    /// `−(1 + μ)·κ·Σ o(z_i·v)·κ·z_i`, of degree 2.
    fn gradient(&self, engine: &Engine, data: &[Ciphertext], state: &State, factor: f64) -> Result<Ciphertext> {
        let polynomial = self.scaled_polynomial(-factor * self.data_scale())?;
        let weighted = |z: &Ciphertext| {
            let u = self.scores(engine, z, state)?;
            let weights = engine.rescale(&engine.evaluate(&polynomial, &u)?)?;
            engine.multiply(z, &weights.restated(self.data_stated(2.0 * self.data_scale())))
        };
        let products = data.iter().map(weighted).collect::<Result<Vec<_>>>()?;
        self.column_total(engine, products)
    }

    /// `z_i·v` in all slots of row i, in units of the bound on scores.
    fn scores(&self, engine: &Engine, z: &Ciphertext, state: &State) -> Result<Ciphertext> {
        let product = engine.multiply(z, &state.point)?;
        let sums = engine.rescale(&self.row_sum.apply(engine, &product)?)?;
        let spec = self.spec();
        let mut mask = vec![Complex64::ZERO; self.columns()];
        mask[0] = (spec.weight_bound / (spec.score_bound * self.data_scale() * state.factor)).into();
        let sums = sums.restated(self.data_stated(self.data_bound() * (self.columns() as f64) * 2.0));
        let first = engine.multiply_plain(&sums, &mask)?.restated(self.data_stated(1.0));
        let scores = engine.rescale(&self.copies.apply(engine, &first)?)?;
        Ok(scores.restated(self.data_stated(1.0)))
    }

    /// The sum over all rows of all ciphertexts, in as many slots as a row takes.
    fn column_total(&self, engine: &Engine, list: Vec<Ciphertext>) -> Result<Ciphertext> {
        let mut list = list.into_iter();
        let first = list.next().expect("there is data");
        let sum = list.try_fold(first, |sum, next| engine.add(&sum, &next))?;
        let bound = sum.magnitude() * self.rows_per_ciphertext() as f64;
        let total = self.column_sum.apply(engine, &sum)?;
        Ok(total.restated(Stated { slots: self.columns(), magnitude: bound, deviation: TINY }))
    }

    /// v and w by one refresh of v + i·w: twice what they are.
    fn refreshed(
        &self,
        engine: &Engine,
        refresher: &dyn Refresh<Ciphertext>,
        state: &State,
        steps: usize,
    ) -> Result<State> {
        let stated = self.weights_stated(steps);
        let twice = Stated { magnitude: 2.0, ..stated };
        let older = state.older.as_ref().unwrap_or(&state.point);
        let both = engine.add(&state.point, &engine.multiply_i(older)?)?.restated(stated);
        let fresh = refresher.refresh(&both)?;
        let conjugate = engine.conjugate(&fresh)?;
        let point = engine.add(&fresh, &conjugate)?.restated(twice);
        // i·(x̄ − x) = 2·Im x.
        let older = engine.multiply_i(&engine.sub(&conjugate, &fresh)?)?.restated(twice);
        Ok(State { point, older: state.older.as_ref().map(|_| older), factor: 2.0 })
    }

    fn data_stated(&self, magnitude: f64) -> Stated {
        Stated { slots: self.slots(), magnitude, deviation: TINY }
    }

    fn weights_stated(&self, steps: usize) -> Stated {
        Stated { slots: self.columns(), magnitude: 1.0, deviation: self.stated_after(steps) }
    }
}

/// `c·x`, not rescaled.
fn times(engine: &Engine, x: &Ciphertext, c: f64) -> Result<Ciphertext> {
    engine.multiply_scalar(x, c.into())
}
