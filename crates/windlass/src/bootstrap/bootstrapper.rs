//! Running a plan on ciphertexts.

use std::ops::ControlFlow;
use std::slice::from_ref;
use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_rlwe::{EvaluationKeys, RandomEvents, check_same_keys};

use super::batch::{Batch, BatchPlan, in_batches};
use super::bootstrap_plan::BootstrapPlan;
use super::encapsulation::EncryptedSecret;
use super::error::BootstrapError;
use super::front_end::decryption_constants;
use super::interpreter::{Circuit, Machine, run};
use super::keys::BootstrapKeys;
use super::progress::{Progress, Reports};
use super::spec::Mode;
use super::stage::StageName;
use crate::error::{Error, Result, check_same_order};
use crate::evaluator::Evaluator;
use crate::once::Once;
use crate::plaintext::{Content, Plaintext};
use crate::schemes::engine::Extended;
use crate::schemes::{Ciphertext, Engine, Refresh, Scheme};
use crate::switching::Switching;

/// A plan with its keys and converted constants: refreshes any number of ciphertexts.
pub struct Bootstrapper {
    plan: Arc<BootstrapPlan>,
    keys: BootstrapKeys,
    encrypted_secret: Extended,
    circuit: Circuit<Engine>,
    batch: Once<Batch<Engine>>,
}

impl Bootstrapper {
    /// Checks the keys and converts all constants, each for the level of its stage.
    ///
    /// # Errors
    /// [`BootstrapError::MissingKey`] and [`BootstrapError::MissingRelinearisationKey`] with the
    /// stage that lacks it; [`BootstrapError::WrongContext`].
    pub fn new(
        plan: Arc<BootstrapPlan>,
        scheme: Scheme,
        evaluation_keys: &Arc<EvaluationKeys>,
        keys: BootstrapKeys,
    ) -> Result<Self> {
        let context = evaluation_keys.context();
        let wrong = |what| Err(BootstrapError::WrongContext { what }.into());
        if context.params().id() != plan.params().id() {
            return wrong("the set of evaluation keys");
        }
        if !keys.fit(&plan, context, scheme) {
            return wrong("the bootstrapping key");
        }
        let named = evaluation_keys.key_id().unwrap_or(keys.key_id());
        check_same_keys("Bootstrapper::new", named, keys.key_id())?;
        check_keys(&plan, evaluation_keys)?;
        let engine = |slots| Engine::new(scheme, slots, Arc::clone(evaluation_keys));
        let engines = [engine(plan.message_ring())?, engine(plan.working_ring())?];
        let encrypted_secret = plan.encrypted_secret(&engines[1], &keys);
        let circuit = Circuit::new(engines, &plan.pipeline.steps, &|stage| plan.schedule.level(stage))?;
        Ok(Self { plan, keys, encrypted_secret, circuit, batch: Once::new() })
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<BootstrapPlan> {
        &self.plan
    }

    /// The random events of all refreshes so far: of one at most [`BootstrapPlan::random_events`].
    pub fn random_events(&self) -> RandomEvents {
        self.circuit.message.random_events() + self.circuit.working.random_events()
    }

    /// The same message with the noise of a fresh computation. See [`Bootstrapper::refresh_with`].
    ///
    /// # Errors
    /// As there, without [`BootstrapError::Cancelled`].
    pub fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        self.refresh_with(ct, |_| ControlFlow::Continue(()))
    }

    /// As [`Bootstrapper::refresh`], telling what comes next, each time that it comes; `Break`
    /// stops before it. The result is the same for any number of threads.
    ///
    /// Memory beside keys and constants: one path of ciphertexts from the one that comes apart down
    /// to its parts, and for each thread one part whose digits are removed.
    ///
    /// # Errors
    /// Before any work [`BootstrapError::WrongContext`], [`BootstrapError::WrongPlaintextModulus`],
    /// [`BootstrapError::NotIntegers`] and [`BootstrapError::CapacityTooLow`]; then
    /// [`BootstrapError::Cancelled`], and, where constants have norms above the typical ones that
    /// plans count with, [`BootstrapError::CapacityTooLow`] or [`crate::Error::CapacityExhausted`]
    /// of a stage.
    pub fn refresh_with(
        &self,
        ct: &Ciphertext,
        mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.refresh_traced(ct, |progress, _| observe(progress))
    }

    /// As [`Bootstrapper::refresh_with`], showing also the ciphertext that enters each stage, and
    /// the result.
    ///
    /// # Errors
    /// As there.
    pub fn refresh_traced(
        &self,
        ct: &Ciphertext,
        mut observe: impl FnMut(&Progress, &Ciphertext) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.check(ct)?;
        let count = self.plan.stages().iter().map(|stage| stage.times).sum();
        let reports = Reports::new(count, &mut observe);
        let mut refreshing = Refreshing { bootstrapper: self, reports, unit: 1 };
        let mut x = run(&mut refreshing, &self.plan.pipeline.steps, ct.clone())?;
        // The message is what it was.
        x.content = ct.content;
        let t = self.circuit.message.modulus(x.exponent);
        x.factor = arith::mul_mod(x.factor % t, refreshing.unit, t);
        refreshing.reports.end(&x, self.circuit.message.capacity(&x));
        Ok(x)
    }

    /// Up to d ciphertexts with integers in their slots, refreshed as one of elements
    /// (Halevi–Shoup 2018, §8): see [`BatchPlan`]. The first call makes what batches need beside
    /// the constants of the bootstrapping.
    ///
    /// # Errors
    /// Those of [`Self::refresh`], [`BootstrapError::CapacityTooLow`] in place of
    /// [`crate::Error::CapacityExhausted`]; those of [`BatchPlan::new`];
    /// [`crate::Error::ShapeMismatch`] for more than [`BatchPlan::size`].
    pub fn refresh_batch(&self, batch: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        self.refresh_batch_with(batch, |_| ControlFlow::Continue(()))
    }

    /// As [`Self::refresh_batch`], telling what comes next as [`Self::refresh_with`] does.
    ///
    /// # Errors
    /// As there; [`BootstrapError::Cancelled`].
    pub fn refresh_batch_with(
        &self,
        batch: &[Ciphertext],
        mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        let Batch { plan, own } = self.batch()?;
        plan.check_size(batch.len())?;
        for ct in batch {
            self.check_origin(ct)?;
            self.plan.check_integers(ct.exponent(), ct.content)?;
        }
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let mut observe = |progress: &Progress, _: &Ciphertext| observe(progress);
        let reports = Reports::new(plan.reports(batch.len()), &mut observe);
        let mut refreshing = Refreshing { bootstrapper: self, reports, unit: 1 };
        let gathered = plan.gather(&mut refreshing, own.as_ref(), batch);
        let gathered = gathered.map_err(too_low_for("gathering a batch"))?;
        self.plan.check(&gathered)?;
        let list = plan.refresh(&mut refreshing, own.as_ref(), gathered, batch.len());
        let mut list = list.map_err(too_low_for("refreshing a batch"))?;
        for x in &mut list {
            let t = self.circuit.message.modulus(x.exponent);
            let multiple = arith::mul_mod(refreshing.unit, plan.multiple() % t, t);
            x.content = Content::Integers;
            x.factor = arith::mul_mod(x.factor % t, multiple, t);
        }
        refreshing.reports.end(&list[0], self.circuit.message.capacity(&list[0]));
        Ok(list)
    }

    /// What [`Self::refresh_batch`] does, and what it costs.
    ///
    /// # Errors
    /// Those of [`BatchPlan::new`].
    pub fn batch_plan(&self) -> Result<&BatchPlan> {
        Ok(&self.batch()?.plan)
    }

    fn batch(&self) -> Result<&Batch<Engine>> {
        self.batch_by(|| BatchPlan::new(&self.plan).map(Arc::new))
    }

    /// Makes what batches need by a plan of batches of this very plan, where it is not made yet.
    pub(crate) fn prepare_batches(&self, plan: &Arc<BatchPlan>) -> Result<()> {
        self.batch_by(|| Ok(Arc::clone(plan))).map(drop)
    }

    fn batch_by(&self, plan: impl FnOnce() -> Result<Arc<BatchPlan>> + Send) -> Result<&Batch<Engine>> {
        let both = || [&self.circuit.message, &self.circuit.working].map(Engine::clone);
        self.batch.get_or_make(|| Batch::new(plan()?, both))
    }

    /// Everything that can be refused beforehand is refused here; constants are counted with
    /// typical norms, so a stage may still refuse.
    fn check(&self, ct: &Ciphertext) -> Result<()> {
        self.check_origin(ct)?;
        self.plan.check(ct)
    }

    /// Refuses a ciphertext of other parameters, keys or slots.
    fn check_origin(&self, ct: &Ciphertext) -> Result<()> {
        let engine = &self.circuit.message;
        let prime = engine.slots().prime();
        if !Arc::ptr_eq(&ct.context, engine.context()) || ct.scheme != engine.scheme() || ct.prime != prime {
            return Err(BootstrapError::WrongContext { what: "the ciphertext" }.into());
        }
        check_same_keys("refresh", self.keys.key_id(), ct.key)?;
        check_same_order("refresh", self.plan.message_ring().hypercube(), &ct.hypercube)
    }
}

/// What has no room for the constants of a batch was spent too far for one.
fn too_low_for(stage: &str) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::CapacityExhausted { needed_bits, left_bits, .. } => {
            let (stage, missing_bits) = (stage.into(), needed_bits - left_bits);
            BootstrapError::CapacityTooLow { stage, left_bits, missing_bits }.into()
        }
        other => other,
    }
}

/// Every stage finds its keys, for its level.
fn check_keys(plan: &BootstrapPlan, keys: &EvaluationKeys) -> Result<()> {
    let digits = StageName::DigitRemoval;
    if keys.relinearisation().is_none_or(|key| key.level() < plan.schedule.level(digits)) {
        return Err(BootstrapError::MissingRelinearisationKey { stage: digits.to_string() }.into());
    }
    for stage in plan.stages() {
        let missing = stage.keys.iter().find(|&&t| keys.galois(t).is_none_or(|key| key.level() < stage.level));
        if let Some(&element) = missing {
            return Err(BootstrapError::MissingKey { stage: stage.name.to_string(), element }.into());
        }
    }
    Ok(())
}

/// One refresh at work.
struct Refreshing<'a> {
    bootstrapper: &'a Bootstrapper,
    reports: Reports<'a>,
    /// Set by the front end: see [`Refreshing::unit`].
    unit: u64,
}

impl Machine for Refreshing<'_> {
    type On = Engine;

    fn circuit(&self) -> &Circuit<Engine> {
        &self.bootstrapper.circuit
    }

    fn enter(&mut self, stage: StageName, x: Ciphertext) -> Result<Ciphertext> {
        let Bootstrapper { plan, circuit, .. } = self.bootstrapper;
        match stage {
            StageName::FrontEnd => self.arrive(x),
            StageName::DigitRemoval => circuit.working.reduce_level(&x, f64::INFINITY),
            _ => circuit.working.switch_modulus(&x, x.level().min(plan.schedule.level(stage))),
        }
    }

    fn begin(&mut self, stage: StageName, x: &Ciphertext) -> Result<()> {
        self.reports.next(stage, x, self.bootstrapper.circuit.working.capacity(x))
    }

    /// One coefficient of every slot.
    fn integers(&self, x: Ciphertext) -> Ciphertext {
        x.assume_integers()
    }

    /// An encryption modulo p^e of the coefficients p^v·k + (a removable part): the ciphertext's
    /// own decryption up to rounding.
    fn front_end(&mut self, arrived: Ciphertext) -> Result<Ciphertext> {
        let Bootstrapper { plan, keys, encrypted_secret, circuit, .. } = self.bootstrapper;
        let formula = plan.formula();
        // By coefficients there is room where canonical norms may find none.
        let low = circuit.message.switched(&arrived, plan.input().level);
        self.unit = self.unit(&low);
        let parts = keys.encapsulation.switch(circuit.message.context(), &low.to_scheme(Scheme::Bfv).parts);
        let modulus = plan.working_ring().modulus();
        let [mut c0, c1] = decryption_constants(plan.spec().front_end, formula, parts);
        if modulus.prime() == 2 {
            // Digits 0 and 1 remove a part that is not negative.
            let half = modulus.value() >> (formula.message_exponent + 1);
            c0.iter_mut().for_each(|x| *x = modulus.add(*x, half));
        }
        let plaintext = |coefficients| Plaintext::new(plan.working_ring(), coefficients);
        let constant = circuit.working.prepare(&plaintext(c1)?)?;
        let product = circuit.working.dot_extended(from_ref(encrypted_secret), &[vec![(0, Some(&constant))]])?;
        let product = circuit.working.mod_down(product.into_iter().next().expect("one row"))?;
        circuit.working.add_plain(&product, &plaintext(c0)?)
    }
}

impl Refreshing<'_> {
    /// What bounds I holds from here on only: the check before any work was a forecast.
    fn arrive(&self, x: Ciphertext) -> Result<Ciphertext> {
        let (input, engine) = (self.bootstrapper.plan.input(), &self.bootstrapper.circuit.message);
        let arrived = engine.switch_modulus(&x, x.level().min(input.arrival))?;
        let missing_bits = input.needed_bits - engine.capacity(&arrived);
        if missing_bits > 0.0 {
            let (stage, left_bits) = (StageName::FrontEnd.to_string(), engine.capacity(&x));
            return Err(BootstrapError::CapacityTooLow { stage, left_bits, missing_bits }.into());
        }
        Ok(arrived)
    }

    /// g with `message = g·k`: the phase is Q·k/t + ε/t with ε ≡ factor·message, so k ≡
    /// −Q^{−1}·factor·message; the factor of the result takes −Q^{−1}·factor up.
    fn unit(&self, low: &Ciphertext) -> u64 {
        let engine = &self.bootstrapper.circuit.message;
        let (t, ring) = (engine.modulus(low.exponent), engine.context().ring());
        let q = (0..low.level()).fold(1 % t, |q, i| arith::mul_mod(q, ring.modulus(i).value() % t, t));
        let inverse = arith::inv_mod(t - q, t).expect("the primes are coprime to the plaintext modulus");
        arith::mul_mod(inverse, low.factor, t)
    }
}

impl BootstrapPlan {
    /// The key's encryption of s̃ in the engine's form: P times a ciphertext of factor 1.
    fn encrypted_secret(&self, working: &Engine, keys: &BootstrapKeys) -> Extended {
        let (params, modulus) = (self.params(), self.working_ring().modulus());
        let model = working.noise(modulus.exponent());
        let ct = Ciphertext {
            context: Arc::clone(working.context()),
            key: keys.key_id(),
            hypercube: Arc::clone(self.working_ring().hypercube()),
            scheme: working.scheme(),
            parts: keys.encrypted_secret.pair().map(Clone::clone).into(),
            prime: modulus.prime(),
            exponent: modulus.exponent(),
            factor: 1,
            noise: EncryptedSecret::noise(params, model, self.spec().ephemeral_weight, modulus.value()),
            content: Content::any(self.working_ring()),
        };
        Extended { ct, level: params.top_level() }
    }
}

impl Refresh<Ciphertext> for Bootstrapper {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        Bootstrapper::refresh(self, ct)
    }

    /// In batches where the plan is a packed one and all hold integers.
    fn refresh_all(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        if self.plan.spec().mode == Mode::Thin || list.iter().any(|ct| ct.content != Content::Integers) {
            return list.iter().map(|ct| self.refresh(ct)).collect();
        }
        in_batches(list, self.batch_plan(), &self.plan, |batch| self.refresh_batch(batch), |ct| self.refresh(ct))
    }

    /// What is spent may bring the ciphertext to a lower level, so more is kept back than its own
    /// level needs where a lower one needs more.
    fn spare_bits(&self, ct: &Ciphertext) -> f64 {
        let schedule = &self.plan.schedule;
        self.circuit.message.capacity(ct) - schedule.least_input_bits.max(schedule.needed_bits(ct.level()))
    }
}
