//! Running a plan on ciphertexts.

use std::ops::ControlFlow;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use rayon::prelude::*;
use windlass_ring::kernels::arith;
use windlass_ring::rns::IntegerLift;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::EvaluationKeys;

use super::Refresh;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::levelled::Levelled;
use super::plan::{BootstrapPlan, DIGITS, FRONT_END, LinearStage};
use crate::circuits::linear::PreparedPlan;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::plaintext::Plaintext;
use crate::schemes::{Ciphertext, Engine, Scheme};

/// What [`Bootstrapper::refresh_with`] reports before each stage, and once after the last.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The stage that comes next; empty at the end.
    pub stage: String,
    /// Its number, from 0.
    pub number: usize,
    /// How many there are.
    pub count: usize,
    /// Bits of capacity of the ciphertext that enters it.
    pub capacity: f64,
}

/// A plan with its keys and converted constants: refreshes any number of ciphertexts.
pub struct Bootstrapper {
    plan: Arc<BootstrapPlan>,
    keys: BootstrapKeys,
    message: Engine,
    working: Engine,
    to_coefficients: Vec<PreparedPlan<Levelled>>,
    to_slots: Vec<PreparedPlan<Levelled>>,
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
        if !Arc::ptr_eq(&keys.encrypted_secret.context, context) || keys.encrypted_secret.scheme != scheme {
            return wrong("the bootstrapping key");
        }
        if evaluation_keys.relinearisation().is_none() {
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
        let prepare = |engine: &Engine, stages: &[LinearStage]| -> Result<Vec<PreparedPlan<Levelled>>> {
            let levelled = |stage: &LinearStage| Levelled { engine: engine.clone(), level: stage.level };
            stages.iter().map(|stage| stage.plan.prepare(&levelled(stage))).collect()
        };
        Ok(Self {
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

    /// As [`Bootstrapper::refresh`], telling what comes next; `Break` stops before that stage. The result is the same for any number of threads.
    ///
    /// # Errors
    /// Before any work [`BootstrapError::WrongContext`], [`BootstrapError::WrongPlaintextModulus`] and [`BootstrapError::CapacityTooLow`]; then
    /// [`BootstrapError::Cancelled`].
    pub fn refresh_with(
        &self,
        ct: &Ciphertext,
        mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.check(ct)?;
        let count = self.plan.stages().len();
        let mut number = 0;
        let mut next = |stage: &str, ct: &Ciphertext| -> Result<()> {
            let capacity = self.message.capacity(ct);
            let progress = Progress { stage: stage.into(), number, count, capacity };
            number += 1;
            match observe(&progress) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(BootstrapError::Cancelled { stage: stage.into() }.into()),
            }
        };
        let mut x = ct.clone();
        for (stage, prepared) in self.plan.to_coefficients.iter().zip(&self.to_coefficients) {
            next(&stage.name, &x)?;
            x = self.linear(&self.message, stage, prepared, &x)?;
        }
        next(FRONT_END, &x)?;
        let unit = self.front_end_unit(&x)?;
        let mut x = self.front_end(&x)?;
        for (stage, prepared) in self.plan.to_slots.iter().zip(&self.to_slots) {
            next(&stage.name, &x)?;
            x = self.linear(&self.working, stage, prepared, &x)?;
        }
        next(DIGITS, &x)?;
        let mut x = self.plan.digits.apply(&self.working, &self.working.reduce_level(&x, f64::INFINITY)?)?;
        let t = self.message.modulus(x.exponent);
        x.factor = arith::mul_mod(x.factor % t, unit, t);
        let end = Progress { stage: String::new(), number: count, count, capacity: self.message.capacity(&x) };
        let _ = observe(&end);
        Ok(x)
    }

    /// Everything that can be refused is refused here.
    fn check(&self, ct: &Ciphertext) -> Result<()> {
        if !Arc::ptr_eq(&ct.context, self.message.context()) || ct.scheme != self.message.scheme() {
            return Err(BootstrapError::WrongContext { what: "the ciphertext" }.into());
        }
        let expected = self.plan.numbers.message_exponent;
        if ct.exponent != expected {
            return Err(BootstrapError::WrongPlaintextModulus { expected, found: ct.exponent }.into());
        }
        self.plan.check_input(ct.level(), ct.noise)
    }

    fn linear(
        &self,
        engine: &Engine,
        stage: &LinearStage,
        prepared: &PreparedPlan<Levelled>,
        ct: &Ciphertext,
    ) -> Result<Ciphertext> {
        let lowered = engine.switch_modulus(ct, ct.level().min(stage.level))?;
        stage.plan.apply(prepared, &Levelled { engine: engine.clone(), level: stage.level }, &lowered)
    }

    /// g with `message = g·k`: the phase is Q·k/t + ε/t with ε ≡ factor·message, so k ≡ −Q^{−1}·factor·message; the factor of the result takes
    /// −Q^{−1}·factor up.
    fn front_end_unit(&self, ct: &Ciphertext) -> Result<u64> {
        let low = self.message.switch_modulus(ct, self.plan.input.level)?;
        let t = self.message.modulus(low.exponent);
        let ring = self.message.context().ring();
        let q = (0..low.level()).fold(1 % t, |q, i| arith::mul_mod(q, ring.modulus(i).value() % t, t));
        let inverse = arith::inv_mod(t - q, t).expect("the primes are coprime to the plaintext modulus");
        Ok(arith::mul_mod(inverse, low.factor, t))
    }

    /// An encryption modulo p^e of the coefficients p^v·k + (a removable part): the ciphertext's own decryption up to rounding.
    fn front_end(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        let low = self.message.switch_modulus(ct, self.plan.input.level)?;
        let context = self.message.context();
        let low = low.to_scheme(Scheme::Bfv, &self.plan.message);
        let parts = self.keys.encapsulation.switch(context, &low.parts);
        let modulus = self.plan.working.quotient().modulus();
        let [mut c0, c1] = parts.map(|part| rounded_to(part, modulus.value()));
        if modulus.prime() == 2 {
            // Digits 0 and 1 remove a part that is not negative.
            let half = modulus.value() >> (self.plan.numbers.message_exponent + 1);
            c0.iter_mut().for_each(|x| *x = modulus.add(*x, half));
        }
        let constant = self.working.prepare(&Plaintext::new(&self.plan.working, c1)?)?;
        let product = self.working.multiply_constant(&self.keys.encrypted_secret, &constant)?;
        self.working.add_plain(&product, &Plaintext::new(&self.plan.working, c0)?)
    }
}

impl Refresh<Ciphertext> for Bootstrapper {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        Bootstrapper::refresh(self, ct)
    }
}

/// round(whole·x/Q) modulo `whole` for every coefficient.
fn rounded_to(part: Poly<Eval>, whole: u64) -> Vec<u64> {
    let part = part.into_coeff();
    let lift = IntegerLift::new(part.ring(), part.basis());
    let q: &BigUint = lift.product();
    if q.bits() <= 64 && q.bits() + u64::from(64 - whole.leading_zeros()) < 126 {
        let q = q.iter_u64_digits().next().expect("a modulus is not zero") as u128;
        let round = |&x: &u64| ((2 * x as u128 * whole as u128 + q) / (2 * q) % whole as u128) as u64;
        return part.row(0).par_iter().map(round).collect();
    }
    let (q, whole) = (BigInt::from(q.clone()), BigInt::from(whole));
    let (half, zero) = (&q >> 1, BigInt::ZERO);
    let round = |x: &BigInt| {
        let canonical = if x < &zero { x + &q } else { x.clone() };
        let rounded: BigInt = (canonical * &whole + &half) / &q;
        (rounded % &whole).iter_u64_digits().next().unwrap_or(0)
    };
    lift.centred(&part).par_iter().map(round).collect()
}
