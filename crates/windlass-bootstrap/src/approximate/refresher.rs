//! Runs a refresh.

use std::sync::Arc;

use windlass_circuits::{ComplexSlots, PreparedPlan};
use windlass_schemes::error::{BootstrapError, Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, Engine, Stated};

use super::estimate::RefreshError;
use super::keys::RefreshKeys;
use super::plan::{RefreshPlan, Stage};
use super::raise::raised;

/// Refreshes CKKS ciphertexts by one plan.
pub struct Refresher {
    plan: Arc<RefreshPlan>,
    engine: Engine,
    keys: RefreshKeys,
    error: RefreshError,
    to_slots: Vec<PreparedPlan<Engine, ComplexSlots>>,
    to_coefficients: Vec<PreparedPlan<Engine, ComplexSlots>>,
}

impl Refresher {
    /// Prepares the constants of the maps. The engine has the evaluation keys of the plan.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for an engine of another context; [`Error::ContextMismatch`]
    /// for keys of another pair.
    pub fn new(plan: &Arc<RefreshPlan>, engine: Engine, keys: RefreshKeys) -> Result<Self> {
        if !Arc::ptr_eq(engine.context(), plan.context()) {
            return Err(BootstrapError::WrongContext { what: "the engine" }.into());
        }
        let prepared = |stages: &[Stage]| {
            stages.iter().map(|stage| stage.plan.prepare_at(&engine, stage.level)).collect::<Result<Vec<_>>>()
        };
        let (to_slots, to_coefficients) = (prepared(&plan.to_slots)?, prepared(&plan.to_coefficients)?);
        let error = plan.error()?;
        Ok(Self { plan: Arc::clone(plan), engine, keys, error, to_slots, to_coefficients })
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<RefreshPlan> {
        &self.plan
    }

    /// The same message with new levels.
    ///
    /// # Errors
    /// Those of key switches and products; [`Error::SlotCount`] for another number of slots than n/2.
    pub fn refresh(&self, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        let (plan, engine, context) = (&*self.plan, &self.engine, self.plan.context());
        if ciphertext.slots() != plan.slots {
            return Err(Error::SlotCount { got: ciphertext.slots(), most: plan.slots });
        }
        let base = engine.lower(ciphertext, context.base_level())?;
        let parts = raised(context.rlwe(), &self.keys, base.parts());
        let modulus = context.rlwe().log2_modulus(context.base_level()).exp2();
        let stated = |magnitude: f64, deviation: f64| Stated { slots: plan.slots, magnitude, deviation };
        // Slots of a polynomial with coefficients up to Q_B·K.
        let largest = modulus * plan.sine.range() * plan.slots as f64 / context.scale(context.raised_level());
        let mut z = engine.assembled(ciphertext.key_id(), parts, stated(largest, 0.0))?;
        z = self.mapped(z, &plan.to_slots, &self.to_slots)?;
        z = z.restated(stated(1.0, TINY));
        let conjugate = engine.conjugate(&z)?;
        let halves = [engine.add(&z, &conjugate)?, engine.sub(&conjugate, &z)?];
        // (z̄ − z)·i = 2·Im z.
        let halves = [halves[0].clone(), engine.multiply_i(&halves[1])?];
        let [re, im] = halves.map(|half| plan.sine.evaluate(engine, &half.restated(stated(0.9, TINY))));
        let message = (ciphertext.magnitude() * context.scale(context.base_level()) / modulus).min(1.0);
        let restated = |x: Ciphertext| x.restated(stated(message * plan.sine.factor() * 1.1, TINY));
        let joined = engine.add(&restated(re?), &engine.multiply_i(&restated(im?))?)?;
        let out = self.mapped(joined, &plan.to_coefficients, &self.to_coefficients)?;
        let systematic = self.error.systematic_at(ciphertext.magnitude(), plan.spec().arcsine);
        let added = self.error.deviation() + systematic / 2.0;
        Ok(out.restated(stated(ciphertext.magnitude() + systematic, base.deviation() + added)))
    }

    fn mapped(
        &self,
        mut x: Ciphertext,
        stages: &[Stage],
        prepared: &[PreparedPlan<Engine, ComplexSlots>],
    ) -> Result<Ciphertext> {
        for (stage, prepared) in stages.iter().zip(prepared) {
            x = self.engine.rescale(&stage.plan.apply(prepared, &self.engine, &x)?)?;
        }
        Ok(x)
    }
}

/// A deviation that says nothing yet.
const TINY: f64 = 1e-12;
