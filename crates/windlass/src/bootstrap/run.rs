//! Running a plan on ciphertexts.

mod parts;
mod steps;

use std::ops::ControlFlow;
use std::slice::from_ref;
use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_rlwe::EvaluationKeys;

use super::Refresh;
use super::encapsulation::EncryptedSecret;
use super::error::BootstrapError;
use super::front_end::decryption_constants;
use super::keys::BootstrapKeys;
use super::plan::{BootstrapPlan, DIGITS, FRONT_END, LinearStage};
use crate::circuits::linear::PreparedPlan;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::plaintext::{Content, Plaintext};
use crate::schemes::engine::Extended;
use crate::schemes::{Ciphertext, Engine, Scheme};
use crate::switching::Switching;
use parts::PreparedWay;
use steps::Steps;

/// What [`Bootstrapper::refresh_with`] reports before each stage, and once after the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The stage that comes next; empty at the end.
    pub stage: String,
    /// The number of this report, from 0.
    pub number: usize,
    /// How many reports there are before the end: the sum of [`super::Stage::times`].
    pub count: usize,
    /// How often the stage has come before.
    pub round: usize,
    /// Bits of capacity of the ciphertext that enters it.
    pub capacity: f64,
}

/// A plan with its keys and converted constants: refreshes any number of ciphertexts.
pub struct Bootstrapper {
    plan: Arc<BootstrapPlan>,
    keys: BootstrapKeys,
    encrypted_secret: Extended,
    message: Engine,
    working: Engine,
    to_coefficients: Vec<PreparedPlan<Engine>>,
    to_slots: Vec<PreparedPlan<Engine>>,
    way: PreparedWay,
}

impl Bootstrapper {
    /// Checks the keys and converts all constants, each for the level of its stage.
    ///
    /// # Errors
    /// [`BootstrapError::MissingKey`] and [`BootstrapError::MissingRelinearisationKey`] with the stage that lacks it; [`BootstrapError::WrongContext`].
    pub fn new(
        plan: Arc<BootstrapPlan>,
        scheme: Scheme,
        evaluation_keys: &Arc<EvaluationKeys>,
        keys: BootstrapKeys,
    ) -> Result<Self> {
        let context = evaluation_keys.context();
        let wrong = |what| Err(BootstrapError::WrongContext { what }.into());
        if context.params().id() != plan.params.id() {
            return wrong("the set of evaluation keys");
        }
        if !keys.fit(&plan, context, scheme) {
            return wrong("the bootstrapping key");
        }
        let digits_level = plan.stages().iter().find(|stage| stage.name == DIGITS).map_or(1, |stage| stage.level);
        if evaluation_keys.relinearisation().is_none_or(|key| key.level() < digits_level) {
            return Err(BootstrapError::MissingRelinearisationKey { stage: DIGITS.into() }.into());
        }
        for stage in plan.stages() {
            let missing =
                stage.keys.iter().find(|&&t| evaluation_keys.galois(t).is_none_or(|k| k.level() < stage.level));
            if let Some(&element) = missing {
                return Err(BootstrapError::MissingKey { stage: stage.name.clone(), element }.into());
            }
        }
        let message = Engine::new(scheme, &plan.message, Arc::clone(evaluation_keys))?;
        let working = Engine::new(scheme, &plan.working, Arc::clone(evaluation_keys))?;
        let prepare = |engine: &Engine, stages: &[LinearStage]| -> Result<Vec<PreparedPlan<Engine>>> {
            stages.iter().map(|stage| stage.plan.prepare_at(engine, stage.level)).collect()
        };
        Ok(Self {
            encrypted_secret: plan.encrypted_secret(&working, &keys),
            way: PreparedWay::new(&plan, &working, &message)?,
            to_coefficients: prepare(&message, &plan.to_coefficients)?,
            to_slots: prepare(&working, &plan.to_slots)?,
            plan,
            keys,
            message,
            working,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<BootstrapPlan> {
        &self.plan
    }

    /// The same message with the noise of a fresh computation. See [`Bootstrapper::refresh_with`].
    ///
    /// # Errors
    /// As there, without [`BootstrapError::Cancelled`].
    pub fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        self.refresh_with(ct, |_| ControlFlow::Continue(()))
    }

    /// As [`Bootstrapper::refresh`], telling what comes next, each time that it comes; `Break` stops before it. The result is the same for any number of threads.
    ///
    /// # Errors
    /// Before any work [`BootstrapError::WrongContext`], [`BootstrapError::WrongPlaintextModulus`], [`BootstrapError::NotIntegers`] and
    /// [`BootstrapError::CapacityTooLow`]; then [`BootstrapError::Cancelled`], and, where constants have norms above the typical ones that plans count
    /// with, [`BootstrapError::CapacityTooLow`] or [`crate::Error::CapacityExhausted`] of a stage.
    pub fn refresh_with(
        &self,
        ct: &Ciphertext,
        mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.refresh_traced(ct, |progress, _| observe(progress))
    }

    /// As [`Bootstrapper::refresh_with`], showing also the ciphertext that enters each stage, and the result.
    ///
    /// # Errors
    /// As there.
    pub fn refresh_traced(
        &self,
        ct: &Ciphertext,
        mut observe: impl FnMut(&Progress, &Ciphertext) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.check(ct)?;
        let mut steps = Steps::new(&self.plan, &self.message, &mut observe);
        let mut x = ct.clone();
        if matches!(self.way, PreparedWay::Thin) {
            x = self.all_to_coefficients(x, &mut steps)?;
        }
        steps.next(FRONT_END, &x)?;
        let unit = self.front_end_unit(&x)?;
        let mut x = self.without_error(self.front_end(&x)?, &mut steps)?;
        // The message is what it was.
        x.content = ct.content;
        let t = self.message.modulus(x.exponent);
        x.factor = arith::mul_mod(x.factor % t, unit, t);
        steps.end(&x);
        Ok(x)
    }

    /// Everything that can be refused beforehand is refused here; constants are counted with typical norms, so a stage may still refuse.
    fn check(&self, ct: &Ciphertext) -> Result<()> {
        let prime = self.message.slots().prime();
        if !Arc::ptr_eq(&ct.context, self.message.context()) || ct.scheme != self.message.scheme() || ct.prime != prime
        {
            return Err(BootstrapError::WrongContext { what: "the ciphertext" }.into());
        }
        self.plan.check(ct)
    }

    fn all_to_coefficients(&self, x: Ciphertext, steps: &mut Steps) -> Result<Ciphertext> {
        self.all_linear(&self.message, &self.plan.to_coefficients, &self.to_coefficients, x, steps)
    }

    fn all_to_slots(&self, x: Ciphertext, steps: &mut Steps) -> Result<Ciphertext> {
        self.all_linear(&self.working, &self.plan.to_slots, &self.to_slots, x, steps)
    }

    fn all_linear(
        &self,
        engine: &Engine,
        stages: &[LinearStage],
        prepared: &[PreparedPlan<Engine>],
        mut x: Ciphertext,
        steps: &mut Steps,
    ) -> Result<Ciphertext> {
        for (stage, prepared) in stages.iter().zip(prepared) {
            steps.next(&stage.name, &x)?;
            x = self.linear(engine, stage, prepared, &x)?;
        }
        Ok(x)
    }

    fn linear(
        &self,
        engine: &Engine,
        stage: &LinearStage,
        prepared: &PreparedPlan<Engine>,
        ct: &Ciphertext,
    ) -> Result<Ciphertext> {
        let lowered = engine.switch_modulus(ct, ct.level().min(stage.level))?;
        stage.plan.apply(prepared, engine, &lowered)
    }

    /// g with `message = g·k`: the phase is Q·k/t + ε/t with ε ≡ factor·message, so k ≡ −Q^{−1}·factor·message; the factor of the result takes
    /// −Q^{−1}·factor up.
    fn front_end_unit(&self, ct: &Ciphertext) -> Result<u64> {
        let low = self.message.switched(ct, self.plan.input.level);
        let t = self.message.modulus(low.exponent);
        let ring = self.message.context().ring();
        let q = (0..low.level()).fold(1 % t, |q, i| arith::mul_mod(q, ring.modulus(i).value() % t, t));
        let inverse = arith::inv_mod(t - q, t).expect("the primes are coprime to the plaintext modulus");
        Ok(arith::mul_mod(inverse, low.factor, t))
    }

    /// An encryption modulo p^e of the coefficients p^v·k + (a removable part): the ciphertext's own decryption up to rounding.
    fn front_end(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        let input = &self.plan.input;
        let arrived = self.message.switch_modulus(ct, ct.level().min(input.arrival))?;
        // What bounds I holds from here on only: the check before any work was a forecast.
        let missing_bits = input.needed_bits - self.message.capacity(&arrived);
        if missing_bits > 0.0 {
            let left_bits = self.message.capacity(ct);
            return Err(BootstrapError::CapacityTooLow { stage: FRONT_END.into(), left_bits, missing_bits }.into());
        }
        let context = self.message.context();
        // By coefficients there is room where canonical norms may find none.
        let low = self.message.switched(&arrived, input.level).to_scheme(Scheme::Bfv);
        let parts = self.keys.encapsulation.switch(context, &low.parts);
        let modulus = self.plan.working.modulus();
        let [mut c0, c1] = decryption_constants(self.plan.spec.front_end, &self.plan.numbers, parts);
        if modulus.prime() == 2 {
            // Digits 0 and 1 remove a part that is not negative.
            let half = modulus.value() >> (self.plan.numbers.message_exponent + 1);
            c0.iter_mut().for_each(|x| *x = modulus.add(*x, half));
        }
        let constant = self.working.prepare(&Plaintext::new(&self.plan.working, c1)?)?;
        let product = self.working.dot_extended(from_ref(&self.encrypted_secret), &[vec![(0, Some(&constant))]])?;
        let product = self.working.mod_down(product.into_iter().next().expect("one row"))?;
        self.working.add_plain(&product, &Plaintext::new(&self.plan.working, c0)?)
    }
}

impl BootstrapPlan {
    /// The key's encryption of s̃ in the engine's form: P times a ciphertext of factor 1.
    fn encrypted_secret(&self, working: &Engine, keys: &BootstrapKeys) -> Extended {
        let (params, modulus) = (&self.params, self.working.modulus());
        let model = working.noise(modulus.exponent());
        let ct = Ciphertext {
            context: Arc::clone(working.context()),
            scheme: working.scheme(),
            parts: keys.encrypted_secret.pair().map(Clone::clone).into(),
            prime: modulus.prime(),
            exponent: modulus.exponent(),
            factor: 1,
            noise: EncryptedSecret::noise(params, model, self.spec.ephemeral_weight, modulus.value()),
            content: Content::any(&self.working),
        };
        Extended { ct, level: params.top_level() }
    }
}

impl Refresh<Ciphertext> for Bootstrapper {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        Bootstrapper::refresh(self, ct)
    }

    fn spare_bits(&self, ct: &Ciphertext) -> f64 {
        self.message.capacity(ct) - self.plan.least_input_bits()
    }
}
