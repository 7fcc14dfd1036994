//! Runs a refresh.

use std::ops::ControlFlow;
use std::sync::Arc;

use windlass_circuits::{ComplexSlots, PreparedPlan};
use windlass_rlwe::check_same_keys;
use windlass_schemes::error::{BootstrapError, Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, Engine, LazyEngine, Stated};
use windlass_schemes::switching::Switching;

use super::estimate::RefreshError;
use super::keys::RefreshKeys;
use super::plan::{MapStage, RefreshPlan, sums_over};
use super::raise::raised;
use super::spec::MapOrder;
use super::step::RefreshStep;

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
    /// Checks the keys and prepares the constants of the maps. The engine has the evaluation keys of the
    /// plan.
    ///
    /// # Errors
    /// [`BootstrapError::MissingKey`] and [`BootstrapError::MissingRelinearisationKey`] with the stage
    /// that lacks it; [`BootstrapError::WrongContext`] for an engine or keys of another context;
    /// [`Error::OtherKeyPair`].
    pub fn new(plan: &Arc<RefreshPlan>, engine: Engine, keys: RefreshKeys) -> Result<Self> {
        if !Arc::ptr_eq(engine.context(), plan.context()) {
            return Err(BootstrapError::WrongContext { what: "the engine" }.into());
        }
        keys.check(plan, engine.keys())?;
        let prepared = |stages: &[MapStage]| {
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

    /// Bytes in memory of all keys.
    pub fn key_bytes(&self) -> usize {
        self.keys.bytes() + self.engine.keys().bytes()
    }

    /// Bytes in memory of the constants of the maps.
    pub fn constant_bytes(&self) -> usize {
        self.to_slots.iter().chain(&self.to_coefficients).map(PreparedPlan::bytes).sum()
    }

    /// The same message with new levels.
    ///
    /// # Errors
    /// Those of [`Self::check`]; those of key switches and products.
    pub fn refresh(&self, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        self.refresh_with(ciphertext, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::refresh`]. `observe` is called after each step, and may stop the refresh.
    ///
    /// # Errors
    /// As there; [`Error::Cancelled`] if it was stopped before the last step.
    pub fn refresh_with(
        &self,
        ciphertext: &Ciphertext,
        observe: &mut dyn FnMut(RefreshStep) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        let mut done = |step| match observe(step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { operation: "refresh" }),
        };
        let (plan, engine, context) = (&*self.plan, &self.engine, self.plan.context());
        let (spec, base_level) = (plan.spec(), context.base_level());
        let magnitude = self.checked_magnitude(ciphertext)?;
        let input = engine.lower(ciphertext, plan.input_level())?;
        let share = magnitude * context.scale(base_level) / plan.base_modulus();
        let bound = share.min(1.0) * plan.sine.factor() * ROOM;
        // Once the result is there, it is too late to stop.
        let last = plan.last_step();
        let mut done = |step| if step == last { Ok(()) } else { done(step) };
        let back = |x: Ciphertext, done: &mut dyn FnMut(RefreshStep) -> Result<()>| {
            self.mapped(x, &plan.to_coefficients, &self.to_coefficients, &mut |k| done(RefreshStep::ToCoefficients(k)))
        };
        let base = match spec.order {
            MapOrder::BackLast => input.clone(),
            MapOrder::BackFirst => back(input.clone(), &mut done)?,
        };
        let raised = self.raise(&base)?;
        done(RefreshStep::Raise)?;
        let z = self.mapped(raised, &plan.to_slots, &self.to_slots, &mut |k| done(RefreshStep::ToSlots(k)))?;
        let z = z.restated(self.stated(1.0));
        let joined = self.sawtooth(&z, bound, &mut |k| done(RefreshStep::Sine(k)))?;
        let out = match spec.order {
            MapOrder::BackLast => back(joined, &mut done)?,
            MapOrder::BackFirst => joined,
        };
        let _ = observe(last);
        let systematic = self.error.systematic_at(magnitude, spec.arcsine);
        // Of all slots of the ring, that of a subring has the smallest errors.
        let whole = ((spec.n / 2) as f64 / spec.sine_slots() as f64).sqrt();
        let random = self.error.deviation();
        Ok(out.refreshed_from(&input, [random + systematic, random * whole + systematic], self.error.rare))
    }

    /// What [`Self::refresh`] refuses before any work.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`], [`Error::OtherKeyPair`]; [`Error::SlotCount`] for more slots than the
    /// plan is for; [`BootstrapError::BoundTooLarge`] if the bound on the values exceeds
    /// [`RefreshPlan::most`]; [`Error::LevelsExhausted`] for a product at the lowest level that was not
    /// rescaled, and for a ciphertext below [`RefreshPlan::input_level`].
    pub fn check(&self, ciphertext: &Ciphertext) -> Result<()> {
        self.checked_magnitude(ciphertext).map(drop)
    }

    /// The bound on all slots of a ciphertext that can be refreshed: every coefficient is a sum over
    /// all of them, those beside the entries too.
    fn checked_magnitude(&self, ciphertext: &Ciphertext) -> Result<f64> {
        // Of another context, or with no level for its own rescaling.
        let level = self.engine.rescaled_level(ciphertext)?;
        if level < self.plan.input_level() {
            let (needed, left) = (self.plan.spec().input_levels(), level - self.plan.context().base_level());
            let depth = self.plan.context().spec().depth;
            return Err(Error::LevelsExhausted { operation: "refresh", depth, needed, left });
        }
        let slots = self.plan.spec().slots;
        if ciphertext.slots() > slots {
            return Err(Error::SlotCount { got: ciphertext.slots(), most: slots });
        }
        check_same_keys("refresh", self.keys.key_id(), ciphertext.key_id())?;
        let magnitude = ciphertext.magnitude().max(ciphertext.rest_magnitude());
        match magnitude <= self.plan.most() {
            true => Ok(magnitude),
            false => Err(BootstrapError::BoundTooLarge { bound: magnitude, most: self.plan.most() }.into()),
        }
    }

    /// At the highest level, with the coefficients of the message alone.
    fn raise(&self, base: &Ciphertext) -> Result<Ciphertext> {
        let (plan, engine, context) = (&*self.plan, &self.engine, self.plan.context());
        let spec = plan.spec();
        let parts = raised(context.rlwe(), &self.keys, base.parts());
        // Slots of a polynomial with coefficients up to Q_B·K.
        let magnitude = plan.base_modulus() * plan.sine.range() * spec.n as f64 / context.scale(context.raised_level());
        let stated = Stated { slots: spec.slots, magnitude, deviation: 0.0 };
        let mut z = engine.assembled(base.key_id(), parts, stated)?;
        for amount in sums_over(spec) {
            let turned = engine.automorphism(&z, context.rotation_element(amount))?;
            z = engine.add(&z, &turned)?.restated(stated);
        }
        Ok(z)
    }

    /// What is known inside: a bound on the slots of the sine.
    fn stated(&self, magnitude: f64) -> Stated {
        Stated { slots: self.plan.spec().sine_slots(), magnitude, deviation: TINY }
    }

    /// `t − I` of the real parts, and of the imaginary ones if they are not beside them, times the
    /// factor of the sine, which is at most `bound`.
    fn sawtooth(&self, z: &Ciphertext, bound: f64, done: &mut dyn FnMut(usize) -> Result<()>) -> Result<Ciphertext> {
        let (sine, engine) = (&self.plan.sine, &self.engine);
        let evaluated = |x: Ciphertext| -> Result<Ciphertext> {
            let machine = LazyEngine(engine);
            let value = sine.evaluate(&machine, x.restated(self.stated(0.9)).into())?;
            Ok(machine.relinearised(&value)?.restated(self.stated(bound)))
        };
        let conjugate = engine.conjugate(z)?;
        let real = evaluated(engine.add(z, &conjugate)?)?;
        done(0)?;
        if self.plan.spec().is_joined() {
            return Ok(real);
        }
        // (z̄ − z)·i = 2·Im z.
        let imaginary = evaluated(engine.multiply_i(&engine.sub(&conjugate, z)?)?)?;
        done(1)?;
        engine.add(&real, &engine.multiply_i(&imaginary)?)
    }

    fn mapped(
        &self,
        mut x: Ciphertext,
        stages: &[MapStage],
        prepared: &[PreparedPlan<Engine, ComplexSlots>],
        done: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Ciphertext> {
        for (k, (stage, prepared)) in stages.iter().zip(prepared).enumerate() {
            // At the lowest levels a bound on the slots of a partial map would not fit, but the coefficients
            // are never larger than the message. Those of the raised modulus fit its higher levels. So
            // nothing is stated in between.
            x = x.restated(self.stated(TINY));
            x = self.engine.rescale(&stage.plan.apply(prepared, &self.engine, &x)?)?;
            done(k)?;
        }
        Ok(x)
    }
}

/// How many times the angle the approximation of it may be.
const ROOM: f64 = 1.1;

/// A placeholder for what is not known between the steps: the result is stated at the end.
const TINY: f64 = 1e-12;
