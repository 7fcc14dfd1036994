//! The public setting of a scoring, which both sides agree on, and the client's side.

use std::sync::Arc;

use rayon::prelude::*;
use windlass::circuits::linear::{ComplexSlots, LinearGrid, PlanSpec, Strategy};
use windlass::circuits::{LinearMap, LinearPlan, TracePlan};
use windlass::needs::{KeyRequest, NeedsKeys};
use windlass::rlwe::Limits;
use windlass::schemes::ckks::{Ciphertext, CkksContext, CkksSpec, Complex64};
use windlass::wire::{CiphertextList, NumberKind, Stored};
use windlass::{Error, Result};

use crate::layout::RowLayout;
use crate::model::LinearModel;
use crate::standardisation::Standardisation;

/// Bits of the scale.
const SCALE_BITS: u32 = 36;

/// Bits for scores. With the scale and a sign they fill one prime of 50 bits.
const VALUE_BITS: u32 = 13;

/// Scores are encrypted in units in which the largest possible one is half of the available range.
const LARGEST: f64 = (1u64 << (VALUE_BITS - 1)) as f64;

/// Rescalings: one after the weights, one after the product that clears everything except the
/// scores.
const DEPTH: usize = 2;

/// Parameters with 128 bits of security in the smallest ring that holds the scores of this many
/// classes: scale 2^36, two products in sequence.
///
/// # Errors
/// [`Error::OutOfRange`] if there are no classes, or more than the largest ring has slots.
pub fn scoring_spec(classes: usize) -> Result<CkksSpec> {
    CkksSpec::secure(DEPTH, SCALE_BITS, VALUE_BITS, classes)
}

/// Replaces a weight of zero. It is encoded as zero, but the map keeps all diagonals of its shape,
/// so that plan and keys are those of the shape.
const VANISHING: f64 = 1e-300;

/// Units of scores are powers of two in this range, far from the limits of doubles.
const UNIT_EXPONENTS: std::ops::RangeInclusive<f64> = -960.0..=1020.0;

/// The public setting that both sides agree on: the shape of the model, the constants that
/// standardise features, and the unit of the scores. It does not contain the weights.
#[derive(Debug, Clone)]
pub struct Scoring {
    vectors: ComplexSlots,
    standardisation: Standardisation,
    layout: RowLayout,
    unit: f64,
    map: LinearPlan<ComplexSlots>,
    sum: TracePlan,
}

impl Scoring {
    /// The shape of a model with these features and `classes` scores. Scores are encrypted divided
    /// by `unit`.
    ///
    /// Cost: the plan of a linear map with as many diagonals as classes, rounded up to a power of
    /// two.
    ///
    /// # Errors
    /// As [`RowLayout::new`]; [`Error::OutOfRange`] if the unit is not a power of two or too near a
    /// limit of doubles, or if the parameters allow fewer than two rescalings.
    pub fn new(
        context: &Arc<CkksContext>,
        standardisation: Standardisation,
        classes: usize,
        unit: f64,
    ) -> Result<Self> {
        let depth = context.top_level() - context.base_level();
        Limits::at_least(DEPTH).check("the number of rescalings", depth)?;
        let (least, most) = (UNIT_EXPONENTS.start().exp2(), UNIT_EXPONENTS.end().exp2());
        let units = Limits::between(least, most).with("a power of two");
        units.check("the unit of the scores", unit)?;
        if unit.log2().fract() != 0.0 {
            return Err(units.refuse("the unit of the scores", unit).into());
        }
        let layout = RowLayout::new(standardisation.features(), classes, context.most_slots())?;
        let slots = ComplexSlots::new(context, layout.slots())?;
        let sum = layout.sum(2 * context.spec().n as u64)?;
        // The weights here are not zero, so the keys work for every model of the shape.
        let entries = layout.entries(0).map(|(row, column, ..)| (row, column, Complex64::ONE));
        let map = LinearMap::sparse_matrix(&slots, entries)?;
        let babies = (map.support().len() as f64).sqrt().ceil() as usize;
        let map = LinearPlan::new(&map, &PlanSpec::with_strategy(Strategy::BABY_GIANT.with_babies(babies)))?;
        Ok(Self { vectors: slots, standardisation, layout, unit, map, sum })
    }

    /// The shape of a model, with the unit that fits its largest score.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::OutOfRange`] if the scores overflow.
    pub fn of(context: &Arc<CkksContext>, model: &LinearModel) -> Result<Self> {
        let largest = model.largest_score();
        let finite =
            Limits::at_most(f64::MAX).with("divide weights and bias by one number; the decisions stay the same");
        finite.check("the largest score that the weights allow", largest)?;
        let (least, most) = (*UNIT_EXPONENTS.start(), *UNIT_EXPONENTS.end());
        let exponent = if largest == 0.0 { 0.0 } else { (largest / LARGEST).log2().ceil().clamp(least, most) };
        Self::new(context, model.standardisation().clone(), model.classes(), exponent.exp2())
    }

    /// The context of the ciphertexts.
    pub fn context(&self) -> &Arc<CkksContext> {
        self.vectors.context()
    }

    /// The constants of the features.
    pub fn standardisation(&self) -> &Standardisation {
        &self.standardisation
    }

    /// The places of rows and scores.
    pub fn layout(&self) -> RowLayout {
        self.layout
    }

    /// The number that scores are divided by: a power of two.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The map that multiplies one ciphertext of features by the weights of all classes, if no
    /// weight is zero.
    pub fn map(&self) -> &LinearPlan<ComplexSlots> {
        &self.map
    }

    /// The sums over the features of each class.
    pub fn sum(&self) -> &TracePlan {
        &self.sum
    }

    /// The level of the sum.
    pub fn sum_level(&self) -> usize {
        self.context().top_level() - 1
    }

    /// The maps of a model, one for each ciphertext of a row, with a plan that needs only the keys
    /// of the shape.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the model has another shape; [`Error::OutOfRange`] if its scores
    /// need a larger unit.
    pub(crate) fn plan(&self, model: &LinearModel) -> Result<LinearPlan<ComplexSlots>> {
        let shape = [
            ("features", self.layout.features(), model.features()),
            ("classes", self.layout.classes(), model.classes()),
        ];
        for (what, expected, got) in shape {
            if expected != got {
                return Err(Error::ShapeMismatch { what, expected, got });
            }
        }
        let largest = self.unit * LARGEST;
        let limits = Limits::at_most(largest)
            .with("the unit of the scores allows no more; make the setting again with Scoring::of");
        limits.check("the largest score that the weights allow", model.largest_score())?;
        let mut grid = LinearGrid::zero(&self.vectors, 1, self.layout.parts())?;
        for part in 0..self.layout.parts() {
            let weight = |class: usize, k: usize| match model.weights()[class][k] / self.unit {
                0.0 => VANISHING,
                weight => weight,
            };
            let entries = self.layout.entries(part);
            let entries = entries.map(|(row, column, class, k)| (row, column, weight(class, k).into()));
            grid.set(0, part, LinearMap::sparse_matrix(&self.vectors, entries)?)?;
        }
        let spec = PlanSpec { keys: Some(self.map.required_keys()), ..self.map.spec().clone() };
        LinearPlan::for_grid(&grid, &spec)
    }

    /// Encrypts rows of raw features. `encrypt` is called for one ciphertext after another, with
    /// its slots and the public bound on them.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if there are no rows, or a row has another length;
    /// [`Error::NotFinite`] and [`Error::ValueTooLarge`] as [`Standardisation::apply`], with the
    /// position in the array of all rows; errors of `encrypt`.
    pub fn encrypt(
        &self,
        rows: &[Vec<f64>],
        mut encrypt: impl FnMut(&[f64], f64) -> Result<Stored<Ciphertext>>,
    ) -> Result<CiphertextList<Ciphertext>> {
        if rows.is_empty() {
            return Err(Error::ShapeMismatch { what: "rows", expected: 1, got: 0 });
        }
        let standardise = |(number, row): (usize, &Vec<f64>)| {
            self.standardisation.apply(row).map_err(|error| self.in_array(error, number))
        };
        let standardised = rows.iter().enumerate().map(standardise).collect::<Result<Vec<_>>>()?;
        let bound = self.standardisation.bound();
        let mut ciphertexts = Vec::with_capacity(self.layout.ciphertexts(rows.len()));
        for slots in self.layout.pack(&standardised) {
            ciphertexts.push(encrypt(&slots, bound)?);
        }
        CiphertextList::new(self.layout.query_shape(rows.len()), NumberKind::Real, ciphertexts)
    }

    /// An error of one row, with its position in the array of all rows.
    fn in_array(&self, error: Error, row: usize) -> Error {
        let start = row * self.layout.features();
        match error {
            Error::NotFinite { index } => Error::NotFinite { index: start + index },
            Error::ValueTooLarge { index, bound_bits } => Error::ValueTooLarge { index: start + index, bound_bits },
            other => other,
        }
    }

    /// The scores `[rows][classes]` in a list that [`crate::Scorer::score`] made. `decrypt` returns
    /// the slots of a ciphertext.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the list has another shape; errors of `decrypt`.
    pub fn decrypt(
        &self,
        scores: &CiphertextList<Ciphertext>,
        decrypt: impl Fn(&Ciphertext) -> Result<Vec<f64>> + Sync,
    ) -> Result<Vec<Vec<f64>>> {
        if self.layout.scored_rows(scores.shape()).is_none() {
            let (expected, got) = (self.layout.answer_shape(1)[1], scores.shape()[1] as usize);
            return Err(Error::ShapeMismatch { what: "columns of a list of scores", expected, got });
        }
        let ciphertexts: Vec<&Ciphertext> = scores.ciphertexts().collect();
        let slots = ciphertexts.into_par_iter().map(&decrypt).collect::<Result<Vec<_>>>()?;
        let mut rows = self.layout.unpack(&scores.assemble(slots)?);
        rows.iter_mut().flatten().for_each(|score| *score *= self.unit);
        Ok(rows)
    }
}

impl NeedsKeys for Scoring {
    /// The keys of the products with the weights, at every level, and those of the sums for the level of
    /// a sum.
    fn key_request(&self) -> KeyRequest {
        let name = format!("scores of {} features", self.layout.features());
        let mut request = KeyRequest::none(name).with_galois(self.map.required_keys());
        let sums = KeyRequest::none("").with_galois(self.sum.required_keys()).up_to(self.sum_level());
        for (element, level) in sums.galois {
            request.galois.entry(element).or_insert(level);
        }
        request
    }
}
