//! Runs a bootstrapping plan on ciphertexts.

use std::ops::ControlFlow;
use std::slice::from_ref;
use std::sync::Arc;

use windlass_circuits::SlotTable;
use windlass_ring::kernels::arith;
use windlass_rlwe::{EvaluationKeys, RandomEvents, check_same_keys};
use windlass_schemes::error::{BootstrapError, Error, Result, check_same_order};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::once::Once;
use windlass_schemes::plaintext::Content;
use windlass_schemes::schemes::engine::Extended;
use windlass_schemes::schemes::{Ciphertext, Engine, Refresh, Scheme};

use super::batch::{Batch, BatchPlan, in_batches};
use super::bootstrap_plan::BootstrapPlan;
use super::interpreter::{Circuit, run_all};
use super::keys::BootstrapKeys;
use super::progress::{Observer, Progress, Reports};
use super::refreshing::Refreshing;
use super::spec::Mode;
use super::stage::StageName;

/// How many ciphertexts of a list are refreshed at a time at least, under a thin plan.
const SEVERAL: usize = 8;

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
    /// plans count with, [`BootstrapError::CapacityTooLow`] or [`windlass_schemes::Error::CapacityExhausted`]
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
        Ok(self.refresh_list(from_ref(ct), None, &mut observe)?.swap_remove(0))
    }

    /// The values of a table at the integers in the slots, with the noise of a fresh computation: a
    /// refresh whose last stage evaluates the table. The keys are those of the refresh, and each
    /// call may bring another table.
    ///
    /// Cost: a refresh and [`SlotTable::products`]; [`BootstrapPlan::forecast_table`] says what is
    /// left.
    ///
    /// **Warning.** The table sees the integer that the ciphertext decrypts to, in \[0, p^r). A
    /// ciphertext that was said to hold integers ([`Ciphertext::assume_integers`]) and holds elements
    /// gets unspecified values. No error is returned.
    ///
    /// # Errors
    /// As [`Bootstrapper::refresh`]; before any work [`BootstrapError::NotIntegers`] for slots that
    /// hold elements, under a packed plan too, and those of [`BootstrapPlan::forecast_table`]; then
    /// those of [`SlotTable::apply`].
    pub fn refresh_with_table(&self, ct: &Ciphertext, table: &SlotTable) -> Result<Ciphertext> {
        self.refresh_with_table_observed(ct, table, |_| ControlFlow::Continue(()))
    }

    /// As [`Self::refresh_with_table`], telling what comes next as [`Self::refresh_with`] does; the
    /// last stage is the table.
    ///
    /// # Errors
    /// As there; [`BootstrapError::Cancelled`].
    pub fn refresh_with_table_observed(
        &self,
        ct: &Ciphertext,
        table: &SlotTable,
        mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.check_origin(ct)?;
        self.plan.check_integers(ct.exponent(), ct.content())?;
        self.plan.forecast_table(table)?;
        let mut observe = |progress: &Progress, _: &Ciphertext| observe(progress);
        Ok(self.refresh_list(from_ref(ct), Some(table), &mut observe)?.swap_remove(0))
    }

    /// [`Bootstrapper::refresh`] for each of a list, under a thin plan several at a time: they go
    /// through a linear map together, which reads keys and constants once for them
    /// ([`LinearPlan::apply_each`](windlass_circuits::LinearPlan::apply_each)), and digits are
    /// removed of as many side by side as there are threads. Under a packed plan one after the
    /// other.
    ///
    /// # Errors
    /// As there; what can be refused before any work is refused before any of the list.
    pub fn refresh_several(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        self.refresh_several_with(list, |_| ControlFlow::Continue(()))
    }

    /// As [`Self::refresh_several`], telling what comes next as [`Self::refresh_with`] does;
    /// reports are counted over the whole list.
    ///
    /// # Errors
    /// As there; [`BootstrapError::Cancelled`].
    pub fn refresh_several_with(
        &self,
        list: &[Ciphertext],
        mut observe: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        self.refresh_list(list, None, &mut |progress, _| observe(progress))
    }

    fn refresh_list(
        &self,
        list: &[Ciphertext],
        table: Option<&SlotTable>,
        observe: &mut Observer<'_>,
    ) -> Result<Vec<Ciphertext>> {
        list.iter().try_for_each(|ct| self.check(ct))?;
        let stages: usize = self.plan.stages().iter().map(|stage| stage.times).sum();
        let count = stages + usize::from(table.is_some());
        let mut refreshing = self.refreshing(Reports::new(list.len() * count, observe));
        let mut done = Vec::with_capacity(list.len());
        let several = match self.plan.spec().mode {
            Mode::Thin => SEVERAL.max(rayon::current_num_threads()),
            Mode::Packed => 1,
        };
        for group in list.chunks(several) {
            done.extend(run_all(&mut refreshing, &self.plan.pipeline.steps, group.to_vec())?);
        }
        for ((x, ct), unit) in done.iter_mut().zip(list).zip(&refreshing.units) {
            // The message is what it was.
            let t = self.circuit.message.modulus(x.exponent());
            x.restate(arith::mul_mod(x.factor() % t, *unit, t), ct.content());
            if let Some(table) = table {
                refreshing.reports.next(StageName::Table, x, self.circuit.message.capacity(x))?;
                *x = table.apply(&self.circuit.message, x)?;
            }
        }
        if let Some(last) = done.last() {
            refreshing.reports.end(last, self.circuit.message.capacity(last));
        }
        Ok(done)
    }

    /// Up to d ciphertexts with integers in their slots, refreshed as one of elements
    /// (Halevi–Shoup 2018, §8): see [`BatchPlan`]. The first call makes what batches need beside
    /// the constants of the bootstrapping.
    ///
    /// # Errors
    /// Those of [`Self::refresh`], with [`BootstrapError::CapacityTooLow`] instead of
    /// [`windlass_schemes::Error::CapacityExhausted`]; those of [`BatchPlan::new`];
    /// [`windlass_schemes::Error::ShapeMismatch`] if there are more than [`BatchPlan::size`].
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
            self.plan.check_integers(ct.exponent(), ct.content())?;
        }
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let mut observe = |progress: &Progress, _: &Ciphertext| observe(progress);
        let reports = Reports::new(plan.reports(batch.len()), &mut observe);
        let mut refreshing = self.refreshing(reports);
        let gathered = plan.gather(&mut refreshing, own.as_ref(), batch);
        let gathered = gathered.map_err(too_low_for("gathering a batch"))?;
        self.plan.check(&gathered)?;
        let list = plan.refresh(&mut refreshing, own.as_ref(), gathered, batch.len());
        let mut list = list.map_err(too_low_for("refreshing a batch"))?;
        for x in &mut list {
            let t = self.circuit.message.modulus(x.exponent());
            let multiple = arith::mul_mod(refreshing.units[0], plan.multiple() % t, t);
            x.restate(arith::mul_mod(x.factor() % t, multiple, t), Content::Integers);
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
    #[doc(hidden)]
    pub fn prepare_batches(&self, plan: &Arc<BatchPlan>) -> Result<()> {
        self.batch_by(|| Ok(Arc::clone(plan))).map(drop)
    }

    fn batch_by(&self, plan: impl FnOnce() -> Result<Arc<BatchPlan>> + Send) -> Result<&Batch<Engine>> {
        let both = || [&self.circuit.message, &self.circuit.working].map(Engine::clone);
        self.batch.get_or_make(|| Batch::new(plan()?, both))
    }

    fn refreshing<'a>(&'a self, reports: Reports<'a>) -> Refreshing<'a> {
        let Self { plan, keys, encrypted_secret, circuit, .. } = self;
        Refreshing { plan, keys, encrypted_secret, circuit, reports, units: Vec::new() }
    }

    /// Everything that can be refused beforehand is refused here; constants are counted with
    /// typical norms, so a stage may still refuse.
    #[doc(hidden)]
    pub fn check(&self, ct: &Ciphertext) -> Result<()> {
        self.check_origin(ct)?;
        self.plan.check(ct)
    }

    /// Refuses a ciphertext of other parameters, keys or slots.
    fn check_origin(&self, ct: &Ciphertext) -> Result<()> {
        let engine = &self.circuit.message;
        let prime = engine.slots().prime();
        if !Arc::ptr_eq(ct.context(), engine.context()) || ct.scheme() != engine.scheme() || ct.prime() != prime {
            return Err(BootstrapError::WrongContext { what: "the ciphertext" }.into());
        }
        check_same_keys("refresh", self.keys.key_id(), ct.key_id())?;
        check_same_order("refresh", self.plan.message_ring().hypercube(), ct.hypercube())
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
    let (digits, levels) = (StageName::DigitRemoval, plan.params().levels());
    if keys.relinearisation().is_none_or(|key| !levels.covers(key.level(), plan.schedule.level(digits))) {
        return Err(BootstrapError::MissingRelinearisationKey { stage: digits.to_string() }.into());
    }
    for stage in plan.stages() {
        let missing =
            stage.keys.iter().find(|&&t| keys.galois(t).is_none_or(|key| !levels.covers(key.level(), stage.level)));
        if let Some(&element) = missing {
            return Err(BootstrapError::MissingKey { stage: stage.name.to_string(), element }.into());
        }
    }
    Ok(())
}

impl Refresh<Ciphertext> for Bootstrapper {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        Bootstrapper::refresh(self, ct)
    }

    /// In batches where the plan is a packed one and all hold integers, else several at a time.
    fn refresh_all(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        let several = |list: &[Ciphertext]| self.refresh_several(list);
        if self.plan.spec().mode == Mode::Thin || list.iter().any(|ct| ct.content() != Content::Integers) {
            return several(list);
        }
        in_batches(list, self.batch_plan(), &self.plan, |batch| self.refresh_batch(batch), several)
    }

    /// What is spent may bring the ciphertext to a lower level, so more is kept back than its own
    /// level needs where a lower one needs more.
    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        let schedule = &self.plan.schedule;
        self.circuit.message.capacity(ct) - schedule.least_input_bits.max(schedule.needed_bits(ct.level()))
    }
}
