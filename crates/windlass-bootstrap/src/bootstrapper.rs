//! Runs a bootstrapping plan on ciphertexts.

use std::slice::from_ref;
use std::sync::Arc;

#[cfg(doc)]
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
use super::options::RefreshOptions;
use super::progress::Reports;
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
        check_same_keys("keys of a bootstrapping", named, keys.key_id())?;
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

    /// The same message with the noise of a fresh computation: [`Self::refresh_list`] for one
    /// ciphertext, without options.
    ///
    /// # Errors
    /// As there.
    pub fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        Ok(self.refresh_list(from_ref(ct), RefreshOptions::new())?.swap_remove(0))
    }

    /// [`Self::refresh_list`] for one ciphertext.
    ///
    /// # Errors
    /// As there.
    pub fn refresh_one(&self, ct: &Ciphertext, options: RefreshOptions<'_>) -> Result<Ciphertext> {
        Ok(self.refresh_list(from_ref(ct), options)?.swap_remove(0))
    }

    /// Each message of a list with the noise of a fresh computation, in the order of the list. The
    /// result is the same for any number of threads.
    ///
    /// Under a thin plan several ciphertexts go through a linear map together, which reads keys and
    /// constants once for them ([`LinearPlan::apply_each`](windlass_circuits::LinearPlan::apply_each)),
    /// and digits are removed of as many side by side as there are threads. Under a packed plan they
    /// are refreshed one after the other.
    ///
    /// Memory beside keys and constants: one path of ciphertexts from the one that is unpacked down
    /// to its parts, and for each thread one part whose digits are removed.
    ///
    /// # Errors
    /// Before any work, if it is true of any ciphertext of the list:
    /// [`BootstrapError::WrongContext`], [`BootstrapError::WrongPlaintextModulus`],
    /// [`BootstrapError::NotIntegers`] (of elements under a thin plan, with a table or in a batch) and
    /// [`BootstrapError::CapacityTooLow`]; with a table those of [`BootstrapPlan::forecast_table`]; in
    /// a batch those of [`BatchPlan::new`], [`Error::ShapeMismatch`] for more than
    /// [`BatchPlan::size`], and [`BootstrapError::Unsupported`] with a table. Then
    /// [`BootstrapError::Cancelled`] if the observer breaks, those of [`SlotTable::apply`], and, if
    /// constants have larger norms than the typical ones that plans count with,
    /// [`BootstrapError::CapacityTooLow`] or [`Error::CapacityExhausted`] of a stage.
    pub fn refresh_list(&self, list: &[Ciphertext], options: RefreshOptions<'_>) -> Result<Vec<Ciphertext>> {
        if options.one_batch {
            return self.refresh_as_one(list, options);
        }
        self.check_list(list, &options)?;
        let RefreshOptions { table, observer, .. } = options;
        let stages: usize = self.plan.stages().iter().map(|stage| stage.times).sum();
        let count = stages + usize::from(table.is_some());
        let mut refreshing = self.refreshing(Reports::new(list.len() * count, observer));
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
    /// ([`RefreshOptions::in_one_batch`]). The first call makes what batches need beside the
    /// constants of the bootstrapping.
    fn refresh_as_one(&self, batch: &[Ciphertext], options: RefreshOptions<'_>) -> Result<Vec<Ciphertext>> {
        if options.table.is_some() {
            let what = "a batch takes no table: refresh the list without in_one_batch".to_owned();
            return Err(BootstrapError::Unsupported { what }.into());
        }
        let Batch { plan, own } = self.batch()?;
        plan.check_size(batch.len())?;
        self.check_integers(batch)?;
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let mut refreshing = self.refreshing(Reports::new(plan.reports(batch.len()), options.observer));
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

    /// What a refresh with [`RefreshOptions::in_one_batch`] does, and what it costs.
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

    /// Everything that [`Self::refresh_list`] refuses before any work.
    #[doc(hidden)]
    pub fn check_list(&self, list: &[Ciphertext], options: &RefreshOptions<'_>) -> Result<()> {
        if let Some(table) = options.table {
            self.check_integers(list)?;
            self.plan.forecast_table(table)?;
        }
        list.iter().try_for_each(|ct| self.check(ct))
    }

    /// Refuses ciphertexts of other parameters, keys or slots, and those that hold elements.
    fn check_integers(&self, list: &[Ciphertext]) -> Result<()> {
        list.iter().try_for_each(|ct| {
            self.check_origin(ct)?;
            self.plan.check_integers(ct.exponent(), ct.content())
        })
    }

    /// Refuses a ciphertext of other parameters, keys or slots.
    fn check_origin(&self, ct: &Ciphertext) -> Result<()> {
        let engine = &self.circuit.message;
        let prime = engine.slot_ring().prime();
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
        let several = |list: &[Ciphertext]| self.refresh_list(list, RefreshOptions::new());
        if self.plan.spec().mode == Mode::Thin || list.iter().any(|ct| ct.content() != Content::Integers) {
            return several(list);
        }
        in_batches(
            list,
            self.batch_plan(),
            &self.plan,
            |batch| self.refresh_as_one(batch, RefreshOptions::new()),
            several,
        )
    }

    /// What is spent may bring the ciphertext to a lower level, so more is kept back than its own
    /// level needs where a lower one needs more.
    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        let schedule = &self.plan.schedule;
        self.circuit.message.capacity(ct) - schedule.least_input_bits.max(schedule.needed_bits(ct.level()))
    }
}
