//! Runs a refresh.

use std::ops::ControlFlow;
use std::sync::Arc;

use windlass_circuits::{ComplexSlots, PreparedPlan};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{KeyId, check_same_keys};
use windlass_schemes::error::{BootstrapError, Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, Engine, LazyEngine, Stated};

use super::estimate::RefreshError;
use super::keys::RefreshKeys;
use super::plan::{MapStage, RefreshPlan};
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
        let input = self.lowered(ciphertext)?;
        let Parts { real, imaginary } = self.parts(&input, [Some(&input); 2], observe)?;
        let whole = match imaginary {
            Some(imaginary) => self.engine.add(&real, &self.engine.multiply_i(&imaginary)?)?,
            None => real,
        };
        Ok(self.stated_from(whole, &input, &input))
    }

    /// From a pair over the primes of the base, whose phase has coefficients of at most `most` times the
    /// scale there, the pair at the level of the result: its phase is that of the input, times
    /// [`RefreshPlan::result_factor`]. For plans with the maps back at their end.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; those of key switches and products.
    pub(crate) fn refresh_coefficients(
        &self,
        (key, base): (KeyId, Vec<Poly<Eval>>),
        most: f64,
        observe: &mut dyn FnMut(RefreshStep) -> ControlFlow<()>,
    ) -> Result<Vec<Poly<Eval>>> {
        debug_assert_eq!(self.plan.spec().order, MapOrder::BackLast);
        let stated = Stated { slots: self.plan.spec().slots, magnitude: most, deviation: TINY };
        let input = self.engine.assembled(key, base, stated)?;
        let Parts { real, .. } = self.parts(&input, [Some(&input); 2], observe)?;
        Ok(real.parts().to_vec())
    }

    /// Two messages whose slots are real, in one refresh: the maps take them as the real and the imaginary
    /// parts of one. With the maps back first ([`MapOrder::BackFirst`]) the sine gives both parts by
    /// themselves. In the other order each message is refreshed by itself.
    ///
    /// **Warning.** An imaginary part of a message is added to the other message, or lost. No error is returned.
    ///
    /// # Errors
    /// As [`Self::refresh_with`], for either message; [`Error::OtherKeyPair`] if their keys differ.
    pub fn refresh_real_pair(
        &self,
        [x, y]: [&Ciphertext; 2],
        observe: &mut dyn FnMut(RefreshStep) -> ControlFlow<()>,
    ) -> Result<[Ciphertext; 2]> {
        if !self.plan.takes_real_pairs() {
            return Ok([self.refresh_with(x, observe)?, self.refresh_with(y, observe)?]);
        }
        let inputs = [self.lowered(x)?, self.lowered(y)?];
        let joined = self.engine.add(&inputs[0], &self.engine.multiply_i(&inputs[1])?)?;
        let Parts { real, imaginary } = self.parts(&joined, [Some(&inputs[0]), Some(&inputs[1])], observe)?;
        let imaginary = imaginary.expect("a set with pairs has a sine for the imaginary parts");
        Ok([self.stated_from(real, &joined, &inputs[0]), self.stated_from(imaginary, &joined, &inputs[1])])
    }

    /// A message whose slots are real. With the maps back first one sine is enough.
    ///
    /// **Warning.** An imaginary part of the message is lost. No error is returned.
    ///
    /// # Errors
    /// As [`Self::refresh_with`].
    pub fn refresh_real(
        &self,
        x: &Ciphertext,
        observe: &mut dyn FnMut(RefreshStep) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        if !self.plan.takes_real_pairs() {
            return self.refresh_with(x, observe);
        }
        let input = self.lowered(x)?;
        let Parts { real, .. } = self.parts(&input, [Some(&input), None], observe)?;
        Ok(self.stated_from(real, &input, &input))
    }

    /// The real and the imaginary parts of a message, or both in one, with new levels. `bounded` are ciphertexts with
    /// the bounds of the two parts. Without the second one the imaginary parts are left out, if they are not beside the
    /// real ones.
    fn parts(
        &self,
        input: &Ciphertext,
        bounded: [Option<&Ciphertext>; 2],
        observe: &mut dyn FnMut(RefreshStep) -> ControlFlow<()>,
    ) -> Result<Parts> {
        let mut done = |step| match observe(step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled { operation: "refresh" }),
        };
        let plan = &*self.plan;
        let bounds = bounded.map(|part| part.map(|part| self.bound_after_the_sine(part)));
        // Once the result is there, it is too late to stop.
        let last = plan.last_step();
        let mut done = |step| if step == last { Ok(()) } else { done(step) };
        let back = |x: Ciphertext, done: &mut dyn FnMut(RefreshStep) -> Result<()>| {
            self.mapped(x, &plan.to_coefficients, &self.to_coefficients, &mut |k| done(RefreshStep::ToCoefficients(k)))
        };
        let order = plan.spec().order;
        let base = match order {
            MapOrder::BackLast => input.clone(),
            MapOrder::BackFirst => back(input.clone(), &mut done)?,
        };
        let raised = self.raise(&base)?;
        done(RefreshStep::Raise)?;
        let z = self.mapped(raised, &plan.to_slots, &self.to_slots, &mut |k| done(RefreshStep::ToSlots(k)))?;
        let z = z.restated(self.stated(1.0));
        let parts = self.sawtooth(&z, bounds, &mut |k| done(RefreshStep::Sine(k)))?;
        let out = match (order, parts) {
            (MapOrder::BackFirst, parts) => parts,
            (MapOrder::BackLast, Parts { real, imaginary: None }) => {
                Parts { real: back(real, &mut done)?, imaginary: None }
            }
            (MapOrder::BackLast, Parts { real, imaginary: Some(imaginary) }) => {
                let joined = self.engine.add(&real, &self.engine.multiply_i(&imaginary)?)?;
                Parts { real: back(joined, &mut done)?, imaginary: None }
            }
        };
        let _ = observe(last);
        Ok(out)
    }

    /// A ciphertext at the level at which a refresh takes it.
    fn lowered(&self, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        self.check(ciphertext)?;
        self.engine.lower(ciphertext, self.plan.input_level())
    }

    /// What the result of the sine stays below.
    fn bound_after_the_sine(&self, input: &Ciphertext) -> f64 {
        let (plan, context) = (&*self.plan, self.plan.context());
        let share = bound_of(input) * context.scale(context.base_level()) / plan.base_modulus();
        share.min(1.0) * plan.sine.factor() * ROOM
    }

    /// A result as an encryption of the message of `input`, whose slots are bounded as those of `bounded`.
    fn stated_from(&self, result: Ciphertext, input: &Ciphertext, bounded: &Ciphertext) -> Ciphertext {
        let errors = self.error.in_slots(self.plan.spec(), bound_of(bounded));
        result.refreshed_from(input, errors).bounded_like(bounded)
    }

    /// What [`Self::refresh`] refuses before any work.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`], [`Error::OtherKeyPair`]; [`Error::SlotCount`] for more slots than the
    /// plan is for; [`BootstrapError::BoundTooLarge`] if the bound on the values exceeds
    /// [`RefreshPlan::most`]; [`Error::LevelsExhausted`] for a product at the lowest level that was not
    /// rescaled, and for a ciphertext below [`RefreshPlan::input_level`].
    pub fn check(&self, ciphertext: &Ciphertext) -> Result<()> {
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
        let (bound, most) = (bound_of(ciphertext), self.plan.most());
        if bound > most {
            return Err(BootstrapError::BoundTooLarge { bound, most }.into());
        }
        Ok(())
    }

    /// At the highest level, with the coefficients of the message alone.
    fn raise(&self, base: &Ciphertext) -> Result<Ciphertext> {
        let (plan, engine, context) = (&*self.plan, &self.engine, self.plan.context());
        let spec = plan.spec();
        let parts = raised(context.rlwe(), &self.keys, base.parts());
        // Slots of a polynomial with coefficients up to Q_B·K.
        let magnitude = plan.base_modulus() * plan.sine.range() * spec.n as f64 / context.scale(context.raised_level());
        let stated = Stated { slots: spec.slots, magnitude, deviation: 0.0 };
        // Nothing is stated within the sum, as within the maps.
        let whole = engine.assembled(base.key_id(), parts, Stated { magnitude: TINY, ..stated })?;
        Ok(plan.sums.apply(engine, &whole)?.restated(stated))
    }

    /// What is known inside: a bound on the slots of the sine.
    fn stated(&self, magnitude: f64) -> Stated {
        Stated { slots: self.plan.spec().sine_slots(), magnitude, deviation: TINY }
    }

    /// `t − I` of the real parts, and of the imaginary ones if they are not beside them, times the
    /// factor of the sine, with bounds on both. A part without a bound is left out.
    fn sawtooth(
        &self,
        z: &Ciphertext,
        bounds: [Option<f64>; 2],
        done: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Parts> {
        let (sine, engine) = (&self.plan.sine, &self.engine);
        let evaluated = |x: Ciphertext, bound: Option<f64>| -> Result<Ciphertext> {
            let machine = LazyEngine(engine);
            let value = sine.evaluate(&machine, x.restated(self.stated(0.9)).into())?;
            Ok(machine.relinearised(&value)?.restated(self.stated(bound.unwrap_or(1.0))))
        };
        let conjugate = engine.conjugate(z)?;
        let real = || evaluated(engine.add(z, &conjugate)?, bounds[0]);
        if self.plan.spec().is_joined() || bounds[1].is_none() {
            let real = real()?;
            done(0)?;
            return Ok(Parts { real, imaginary: None });
        }
        // (z̄ − z)·i = 2·Im z.
        let imaginary = || evaluated(engine.multiply_i(&engine.sub(&conjugate, z)?)?, bounds[1]);
        if rayon::current_num_threads() == 1 {
            let real = real()?;
            done(0)?;
            let imaginary = imaginary()?;
            done(1)?;
            return Ok(Parts { real, imaginary: Some(imaginary) });
        }
        // Side by side they take fewer but larger shares of the work, and both read the key of products at
        // about the same time.
        let (real, imaginary) = rayon::join(real, imaginary);
        let (real, imaginary) = (real?, imaginary?);
        done(0)?;
        done(1)?;
        Ok(Parts { real, imaginary: Some(imaginary) })
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

/// What the sine gives: the real and the imaginary parts of slots, or both in one ciphertext.
struct Parts {
    real: Ciphertext,
    imaginary: Option<Ciphertext>,
}

/// The bound on all slots of a ciphertext: every coefficient is a sum over all of them, those beside
/// the entries too.
fn bound_of(ciphertext: &Ciphertext) -> f64 {
    ciphertext.magnitude().max(ciphertext.rest_magnitude())
}

/// How many times the angle the approximation of it may be.
const ROOM: f64 = 1.1;

/// A placeholder for what is not known between the steps: the result is stated at the end.
const TINY: f64 = 1e-12;
