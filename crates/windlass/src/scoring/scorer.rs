//! Scores of encrypted rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use windlass_rlwe::Limits;

use super::model::{LogisticModel, Standardisation};
use crate::circuits::{TraceChain, TracePlan, TraceSpec};
use crate::error::{Error, Result};
use crate::schemes::ckks::{Ciphertext, CkksContext, CkksSpec, Complex64, Constant, Engine, complex};
use crate::switching::Switching;

/// Bits of room for scores: 16·32 features·weights up to 16.
const VALUE_BITS: u32 = 13;

/// Parameters with 128 bits of security and at least `slots` slots: one product, scale 2^36.
///
/// # Errors
/// [`Error::NoParameters`] for more slots than the tables have.
pub fn scoring_spec(slots: usize) -> Result<CkksSpec> {
    CkksSpec::secure(1, 36, VALUE_BITS, slots)
}

/// Where rows lie in the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLayout {
    features: usize,
    slots: usize,
}

impl RowLayout {
    /// Rows of `features` values in ciphertexts of `slots` slots (a power of two).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when a row does not fit.
    pub fn new(features: usize, slots: usize) -> Result<Self> {
        let most = if slots == 0 { 0 } else { 1 << slots.ilog2() };
        Limits::between(1, most).check("the number of features", features)?;
        Ok(Self { features, slots })
    }

    /// Slots of one row: the number of features rounded up to a power of two.
    pub fn width(&self) -> usize {
        self.features.next_power_of_two()
    }

    /// Rows in one ciphertext.
    pub fn rows(&self) -> usize {
        self.slots / self.width()
    }

    /// The slots of each ciphertext, for standardised rows.
    ///
    /// # Errors
    /// As [`Standardisation::apply`].
    pub fn pack(&self, standardisation: &Standardisation, rows: &[Vec<f64>]) -> Result<Vec<Vec<Complex64>>> {
        rows.chunks(self.rows())
            .map(|rows| {
                let mut slots = vec![0.0; self.slots];
                for (row, field) in rows.iter().zip(slots.chunks_exact_mut(self.width())) {
                    let row = standardisation.apply(row)?;
                    if row.len() != self.features {
                        let (expected, got) = (self.features, row.len());
                        return Err(Error::ShapeMismatch { what: "features of a row", expected, got });
                    }
                    field[..row.len()].copy_from_slice(&row);
                }
                Ok(complex(&slots))
            })
            .collect()
    }

    /// The scores of `count` rows from the decrypted slots of each ciphertext.
    pub fn unpack(&self, ciphertexts: &[Vec<f64>], count: usize) -> Vec<f64> {
        let first = |slots: &Vec<f64>| slots.chunks_exact(self.width()).map(|field| field[0]).collect::<Vec<_>>();
        ciphertexts.iter().flat_map(first).take(count).collect()
    }

    /// The sum over the field of a row, in its first slot.
    ///
    /// # Errors
    /// None for a layout that [`Self::new`] made.
    pub fn plan(&self, context: &CkksContext) -> Result<TracePlan> {
        let chain = TraceChain::window(2 * context.spec().n as u64, 1, self.width() as u64)?;
        TracePlan::new(&chain, &TraceSpec::default())
    }
}

/// The server's side: a model, prepared for encrypted rows.
#[derive(Debug)]
pub struct Scorer {
    engine: Engine,
    plan: TracePlan,
    weights: Constant,
    bias: f64,
    /// Σ|w| times the bound on standardised features, and |b|.
    largest: f64,
}

impl Scorer {
    /// Prepares the weights for rows laid out in `layout`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for a model of another number of features;
    /// [`Error::MissingGaloisKey`] when keys are missing.
    pub fn new(engine: Engine, model: &LogisticModel, layout: RowLayout) -> Result<Self> {
        if model.weights().len() != layout.features {
            let (expected, got) = (layout.features, model.weights().len());
            return Err(Error::ShapeMismatch { what: "weights", expected, got });
        }
        let plan = layout.plan(engine.context())?;
        if let Some(element) = plan.required_keys().into_iter().find(|&t| !engine.has_key(t)) {
            return Err(Error::MissingGaloisKey { element, make_with: "Scorer::required_keys".into() });
        }
        let mut field = vec![0.0; layout.width()];
        field[..layout.features].copy_from_slice(model.weights());
        let weights = engine.prepare(&complex(&field), engine.context().top_level())?;
        let sum: f64 = model.weights().iter().map(|w| w.abs()).sum();
        let largest = sum * Standardisation::BOUND + model.bias().abs();
        Ok(Self { engine, plan, weights, bias: model.bias(), largest })
    }

    /// The automorphisms that need keys.
    ///
    /// # Errors
    /// As [`RowLayout::plan`].
    pub fn required_keys(context: &CkksContext, layout: RowLayout) -> Result<BTreeSet<u64>> {
        Ok(layout.plan(context)?.required_keys())
    }

    /// The plan of the sum.
    pub fn plan(&self) -> &TracePlan {
        &self.plan
    }

    /// w·x + b of every row of a ciphertext, in the first slot of its field; the other slots hold
    /// other sums of the same rows.
    ///
    /// # Errors
    /// What the evaluator reports.
    pub fn score(&self, rows: &Ciphertext) -> Result<Ciphertext> {
        let products = self.engine.multiply_constant(rows, &self.weights)?;
        let sums = self.plan.apply(&self.engine, &self.engine.rescale(&products)?)?;
        let scores = self.engine.add_plain(&sums, &[Complex64::new(self.bias, 0.0)])?;
        Ok(scores.with_magnitude(self.largest))
    }

    /// [`Self::score`] of many ciphertexts, in parallel; `done` is told after each.
    ///
    /// # Errors
    /// As there.
    pub fn score_all(&self, ciphertexts: &[Ciphertext], done: impl Fn() + Sync) -> Result<Vec<Ciphertext>> {
        let one = |rows| {
            let scores = self.score(rows)?;
            done();
            Ok(scores)
        };
        ciphertexts.par_iter().map(one).collect()
    }

    /// The context of the ciphertexts.
    pub fn context(&self) -> &Arc<CkksContext> {
        self.engine.context()
    }
}
