//! Runs the pipeline on the exact mock. Random numbers replace the rounding error of the front end.

use std::sync::{Arc, Mutex};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use windlass_circuits::SlotTable;
use windlass_schemes::error::{BootstrapError, Result, check_same_order};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::once::Once;
use windlass_schemes::plaintext::{Content, Plaintext};
use windlass_schemes::schemes::Refresh;
use windlass_schemes::schemes::clear::{Clear, ClearCiphertext};

use super::batch::{Batch, BatchPlan, in_batches};
use super::bootstrap_plan::BootstrapPlan;
use super::interpreter::{Circuit, Machine, run};
use super::spec::Mode;
use super::stage::StageName;

/// Runs a plan on plaintexts: the same circuits at the same size, in exact arithmetic.
pub struct ClearBootstrapper {
    plan: Arc<BootstrapPlan>,
    circuit: Circuit<Clear>,
    rng: Mutex<ChaCha20Rng>,
    batch: Once<Batch<Clear>>,
}

impl ClearBootstrapper {
    /// A mock whose rounding errors come from `seed`.
    ///
    /// # Errors
    /// What the plans report.
    pub fn new(plan: Arc<BootstrapPlan>, seed: u64) -> Result<Self> {
        let both = [plan.message_ring(), plan.working_ring()].map(Clear::new);
        let level = both[0].top_level();
        let circuit = Circuit::new(both, &plan.pipeline.steps, &|_| level)?;
        Ok(Self { plan, circuit, rng: Mutex::new(ChaCha20Rng::seed_from_u64(seed)), batch: Once::new() })
    }
}

impl ClearBootstrapper {
    /// Refuses what a bootstrapper of ciphertexts refuses, bounds on noise apart; else the input as
    /// an element of the ring of messages.
    fn checked(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext> {
        let (plan, plaintext) = (&self.plan, ct.plaintext());
        let [ours, theirs] = [plan.message_ring(), plaintext.slot_ring()];
        if (ours.m(), ours.prime()) != (theirs.m(), theirs.prime()) {
            return Err(BootstrapError::WrongContext { what: "the ciphertext" }.into());
        }
        check_same_order("refresh", ours.hypercube(), theirs.hypercube())?;
        plan.check_exponent(ct.exponent())?;
        plan.check_content(ct.content())?;
        self.circuit.message.encrypt(&plaintext)
    }
}

impl ClearBootstrapper {
    /// As [`super::Bootstrapper::refresh_list`] with [`super::RefreshOptions::in_one_batch`].
    ///
    /// # Errors
    /// As there, bounds on noise apart.
    pub fn refresh_batch(&self, batch: &[ClearCiphertext]) -> Result<Vec<ClearCiphertext>> {
        let Batch { plan, own } = self.batch()?;
        plan.check_size(batch.len())?;
        let checked = |ct: &ClearCiphertext| {
            let checked = self.checked(ct)?;
            self.plan.check_integers(ct.exponent(), ct.content()).map(|()| checked)
        };
        let inputs: Vec<ClearCiphertext> = batch.iter().map(checked).collect::<Result<_>>()?;
        if inputs.is_empty() {
            return Ok(inputs);
        }
        let mut refreshing = Refreshing(self);
        let gathered = plan.gather(&mut refreshing, own.as_ref(), &inputs)?;
        let list = plan.refresh(&mut refreshing, own.as_ref(), gathered, batch.len())?;
        let message = &self.circuit.message;
        let modulus = message.slot_ring().modulus();
        let inverse = modulus.inv(plan.multiple() % modulus.value()).expect("monomials come with an odd p");
        let exact = |x: ClearCiphertext| match plan.multiple() {
            1 => Ok(x),
            _ => message.multiply_scalar(&x, inverse as i64),
        };
        list.into_iter().map(|x| Ok(exact(x)?.declared(Content::Integers))).collect()
    }

    /// As [`super::Bootstrapper::refresh_list`] with [`super::RefreshOptions::with_table`].
    ///
    /// # Errors
    /// As there, bounds on noise apart.
    pub fn refresh_with_table(&self, ct: &ClearCiphertext, table: &SlotTable) -> Result<ClearCiphertext> {
        table.check(self.plan.message_ring().prime(), self.plan.formula().message_exponent)?;
        self.plan.check_integers(ct.exponent(), ct.content())?;
        table.apply(&self.circuit.message, &self.refresh(ct)?)
    }

    /// As [`super::Bootstrapper::batch_plan`].
    ///
    /// # Errors
    /// As there.
    pub fn batch_plan(&self) -> Result<&BatchPlan> {
        Ok(&self.batch()?.plan)
    }

    fn batch(&self) -> Result<&Batch<Clear>> {
        let both = || [self.plan.message_ring(), self.plan.working_ring()].map(Clear::new);
        let plan = || BatchPlan::new(&self.plan).map(Arc::new);
        self.batch.get_or_make(|| Batch::new(plan()?, both))
    }
}

/// One refresh.
struct Refreshing<'a>(&'a ClearBootstrapper);

impl Machine for Refreshing<'_> {
    type On = Clear;

    fn circuit(&self) -> &Circuit<Clear> {
        &self.0.circuit
    }

    fn lower(&mut self, batch: Vec<ClearCiphertext>, _: usize) -> Result<Vec<ClearCiphertext>> {
        Ok(batch)
    }

    fn enter(&mut self, _: StageName, x: ClearCiphertext) -> Result<ClearCiphertext> {
        Ok(x)
    }

    fn integers(&self, x: ClearCiphertext) -> ClearCiphertext {
        x.assume_integers()
    }

    /// p^v·k + (up to the bound), and half of p^v more for p = 2.
    fn front_end(&mut self, ct: ClearCiphertext) -> Result<ClearCiphertext> {
        let plan = &self.0.plan;
        let (formula, modulus) = (plan.formula(), plan.working_ring().modulus());
        let unit = formula.prime.pow(formula.removed);
        let mut rng = self.0.rng.lock().expect("no panic while drawing");
        let mut spread = |x: u64| {
            let error = (rng.next_u64() % (2 * formula.bound + 1)) as i64 - formula.bound as i64;
            let middle = if formula.prime == 2 { unit / 2 } else { 0 };
            modulus.reduce_i64((x * unit + middle) as i64 + error)
        };
        let coefficients = ct.plaintext().coefficients().iter().map(|&x| spread(x)).collect();
        self.0.circuit.working.encrypt(&Plaintext::new(plan.working_ring(), coefficients)?)
    }

    fn to_message_ring(&self, x: ClearCiphertext) -> Result<ClearCiphertext> {
        let coefficients = x.plaintext().coefficients().to_vec();
        self.0.circuit.message.encrypt(&Plaintext::new(self.0.plan.message_ring(), coefficients)?)
    }
}

impl Refresh<ClearCiphertext> for ClearBootstrapper {
    fn refresh(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext> {
        let input = self.checked(ct)?;
        let refreshed = run(&mut Refreshing(self), &self.plan.pipeline.steps, input)?;
        Ok(refreshed.declared(ct.content()))
    }

    fn refresh_all(&self, list: &[ClearCiphertext]) -> Result<Vec<ClearCiphertext>> {
        let several = |list: &[ClearCiphertext]| list.iter().map(|ct| self.refresh(ct)).collect();
        if self.plan.spec().mode == Mode::Thin || list.iter().any(|ct| ct.content() != Content::Integers) {
            return several(list);
        }
        in_batches(list, self.batch_plan(), &self.plan, |batch| self.refresh_batch(batch), several)
    }

    fn headroom_bits(&self, _: &ClearCiphertext) -> f64 {
        f64::INFINITY
    }
}
