//! Computes the scores of encrypted rows.

use rayon::prelude::*;
use windlass::Switching;
use windlass::circuits::LinearPlan;
use windlass::circuits::linear::{ComplexSlots, PreparedPlan};
use windlass::schemes::ckks::{Ciphertext, Engine, complex};
use windlass::wire::{CiphertextList, NumberKind, Stored};
use windlass::{Error, Result};

use crate::model::LinearModel;
use crate::setting::Scoring;

/// The server's side: a model that is prepared for encrypted rows.
pub struct Scorer {
    scoring: Scoring,
    engine: Engine,
    plan: LinearPlan<ComplexSlots>,
    prepared: PreparedPlan<Engine, ComplexSlots>,
    /// The biases b_c, in units.
    biases: Vec<f64>,
    /// The largest possible score, in units.
    largest: f64,
}

impl std::fmt::Debug for Scorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scorer").field("layout", &self.scoring.layout()).finish_non_exhaustive()
    }
}

impl Scorer {
    /// Prepares the weights.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the model has another shape; [`Error::OutOfRange`] if its scores
    /// need a larger unit; [`Error::MissingGaloisKey`] if keys are missing.
    pub fn new(scoring: &Scoring, model: &LinearModel, engine: Engine) -> Result<Self> {
        let plan = scoring.plan(model)?;
        let mut required = plan.required_keys();
        required.extend(scoring.sum().required_keys());
        if let Some(element) = required.into_iter().find(|&t| !engine.has_key(t)) {
            return Err(Error::MissingGaloisKey { element, make_with: "generate_keys([&scoring])".into() });
        }
        let prepared = plan.prepare_at(&engine, scoring.context().top_level())?;
        let biases = model.biases().iter().map(|bias| bias / scoring.unit()).collect();
        let largest = model.largest_score() / scoring.unit();
        Ok(Self { scoring: scoring.clone(), engine, plan, prepared, biases, largest })
    }

    /// The plan of the products with the weights.
    pub fn plan(&self) -> &LinearPlan<ComplexSlots> {
        &self.plan
    }

    /// The scores of all rows of a list that [`Scoring::encrypt`] made, in parallel. `done` is
    /// called after each group of ciphertexts that gives one ciphertext of scores. All slots that
    /// are not scores of a row of the list are zero.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the list has another shape; errors of the evaluator.
    pub fn score(
        &self,
        rows: &CiphertextList<Ciphertext>,
        done: impl Fn() + Sync,
    ) -> Result<CiphertextList<Ciphertext>> {
        let layout = self.scoring.layout();
        let Some(count) = layout.encrypted_rows(rows.shape(), rows.len()) else {
            let (expected, got) = (layout.query_shape(1)[1], rows.shape()[1] as usize);
            return Err(Error::ShapeMismatch { what: "columns of a list of encrypted rows", expected, got });
        };
        let ciphertexts: Vec<Ciphertext> = rows.ciphertexts().cloned().collect();
        let one = |(group, parts): (usize, &[Ciphertext])| {
            let scores = self.score_group(parts, layout.rows().min(count - group * layout.rows()))?;
            done();
            Ok(Stored::new(scores))
        };
        let scores = ciphertexts.par_chunks(layout.parts()).enumerate().map(one).collect::<Result<Vec<_>>>()?;
        CiphertextList::new(layout.answer_shape(count), NumberKind::Real, scores)
    }

    /// The scores of the first `rows` fields.
    fn score_group(&self, parts: &[Ciphertext], rows: usize) -> Result<Ciphertext> {
        let (engine, layout) = (&self.engine, self.scoring.layout());
        let mut products = self.plan.apply_grid(&self.prepared, engine, parts)?;
        let products = engine.rescale(&products.pop().expect("the map has one output"))?;
        let sums = self.scoring.sum().apply(engine, &products)?.with_magnitude(self.largest);
        // The other slots hold sums of weights and features of neighbouring rows. The weights could
        // be computed from them, so none of them is returned.
        let kept = engine.multiply_plain(&sums, &complex(&layout.in_scores(rows, |_| 1.0)))?;
        let biases = layout.in_scores(rows, |class| self.biases[class]);
        let scores = engine.add_plain(&engine.rescale(&kept)?, &complex(&biases))?;
        Ok(scores.with_magnitude(self.largest))
    }
}
