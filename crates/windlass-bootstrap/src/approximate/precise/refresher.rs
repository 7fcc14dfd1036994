//! Runs a refresh of several passes.

use std::ops::ControlFlow;
use std::sync::Arc;

use windlass_ring::kernels::Modulus;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::check_same_keys;
use windlass_rlwe::switching::Epilogue;
use windlass_schemes::error::{BootstrapError, Error, Result};
use windlass_schemes::schemes::Refresh;
use windlass_schemes::schemes::ckks::{Ciphertext, Engine, Stated};

use super::plan::{PreciseRefreshPlan, read_of};
use crate::approximate::{RefreshKeys, RefreshStep, Refresher, Rounds};
use crate::progress::Progress;

/// Refreshes CKKS ciphertexts by several passes.
pub struct PreciseRefresher {
    plan: Arc<PreciseRefreshPlan>,
    engine: Engine,
    pass: Refresher,
}

impl PreciseRefresher {
    /// Checks the keys and prepares the constants of the maps. The engine is that of the ciphertexts; it has
    /// the evaluation keys of the plan.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for an engine or keys of another context;
    /// [`BootstrapError::MissingKey`] and [`BootstrapError::MissingRelinearisationKey`] with the stage that
    /// lacks it; [`Error::OtherKeyPair`].
    pub fn new(plan: &Arc<PreciseRefreshPlan>, engine: &Engine, keys: RefreshKeys) -> Result<Self> {
        if !Arc::ptr_eq(engine.context(), plan.context()) {
            return Err(BootstrapError::WrongContext { what: "the engine" }.into());
        }
        let inner = Engine::new(plan.pass().context(), Arc::clone(engine.keys()))?;
        let pass = Refresher::new(plan.pass(), inner, keys)?;
        Ok(Self { plan: Arc::clone(plan), engine: engine.plain(), pass })
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<PreciseRefreshPlan> {
        &self.plan
    }

    /// Bytes in memory of all keys.
    pub fn key_bytes(&self) -> usize {
        self.pass.key_bytes()
    }

    /// Bytes in memory of the constants of the maps.
    pub fn constant_bytes(&self) -> usize {
        self.pass.constant_bytes()
    }

    /// The same message with new levels.
    ///
    /// **Warning.** A ciphertext whose values exceed its bound is refreshed to a wrong message. No error is
    /// returned, and decryption refuses it only if the wrong values exceed the bound too.
    ///
    /// # Errors
    /// Those of [`Self::check`]; those of key switches and products.
    pub fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        self.refresh_with(ct, &mut |_, _| ControlFlow::Continue(()))
    }

    /// As [`Self::refresh`]. `observe` is called after each step of each pass, with the number of the pass
    /// from 1, and may stop the refresh.
    ///
    /// # Errors
    /// As there; [`Error::Cancelled`] if it was stopped before the last step of the last pass.
    pub fn refresh_with(
        &self,
        ct: &Ciphertext,
        observe: &mut dyn FnMut(usize, RefreshStep) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        self.check(ct)?;
        let x = self.engine.lower(ct, self.plan.context().base_level())?;
        let mut y: Option<Ciphertext> = None;
        for pass in 1..=self.plan.spec().passes {
            y = Some(self.pass(pass, &x, y.as_ref(), observe)?);
        }
        let errors = self.plan.bounds().stated(read_of(&x));
        Ok(y.expect("there is a pass at least").refreshed_from(&x, errors))
    }

    /// What [`Self::refresh`] refuses before any work.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`], [`Error::OtherKeyPair`]; [`BootstrapError::BoundTooLarge`] if the bound on the values and that on
    /// their errors together exceed [`PreciseRefreshPlan::most`]; [`Error::LevelsExhausted`] for a product at the lowest level that was
    /// not rescaled.
    pub fn check(&self, ct: &Ciphertext) -> Result<()> {
        // Of another context, or with no level for its own rescaling.
        self.engine.rescaled_level(ct)?;
        check_same_keys("refresh", self.engine.keys().key_id().unwrap_or(ct.key_id()), ct.key_id())?;
        let (bound, most) = (read_of(ct), self.plan.most());
        match bound <= most {
            true => Ok(()),
            false => Err(BootstrapError::BoundTooLarge { bound, most }.into()),
        }
    }

    /// [`Self::refresh`] for each message of a list, one after the other. `observe` is called before each stage of
    /// each pass, and once after the last ([`Progress`]). `Break` stops before the stage.
    ///
    /// # Errors
    /// Those of [`Self::check`], before any work, if it is true of any ciphertext of the list;
    /// [`Error::Cancelled`] if the observer breaks; those of [`Self::refresh`].
    pub fn refresh_list(
        &self,
        list: &[Ciphertext],
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Vec<Ciphertext>> {
        list.iter().try_for_each(|ct| self.check(ct))?;
        let rounds = Rounds { plan: self.plan.pass(), passes: self.plan.spec().passes };
        let mut tell = |progress: &Progress, _: &Ciphertext| observe(progress);
        rounds.run(list, &mut tell, |ct, told| Ok(vec![self.refresh_with(ct, told)?]))
    }

    /// `y + C·z` for the refresh z of what is left, x − y.
    fn pass(
        &self,
        pass: usize,
        x: &Ciphertext,
        y: Option<&Ciphertext>,
        observe: &mut dyn FnMut(usize, RefreshStep) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        let plan = &*self.plan;
        let left = self.left(pass, x, y)?;
        // A CKKS refresh cannot be stopped at its last step, but there may be another pass.
        let mut is_stopped = false;
        let mut observe = |step| {
            let flow = observe(pass, step);
            is_stopped = flow.is_break();
            flow
        };
        let most = plan.bounds().largest(pass);
        let mut sum = self.pass.refresh_coefficients((x.key_id(), left), most, &mut observe)?;
        if is_stopped && pass < plan.spec().passes {
            return Err(Error::Cancelled { operation: "refresh" });
        }
        sum.iter_mut().for_each(|part| part.mul_scalar_assign(|q| self.primes_of(pass, q)));
        if let Some(y) = y {
            sum.iter_mut().zip(y.parts()).for_each(|(sum, part)| sum.add_assign(part));
        }
        let stated = Stated { slots: plan.spec().refresh.slots, magnitude: read_of(x), deviation: 0.0 };
        self.engine.assembled(x.key_id(), sum, stated)
    }

    /// x − y over Q_B: divided by the primes of the passes that follow.
    fn left(&self, pass: usize, x: &Ciphertext, y: Option<&Ciphertext>) -> Result<Vec<Poly<Eval>>> {
        let (plan, rlwe) = (&*self.plan, self.plan.context().rlwe());
        let basis = rlwe.basis(plan.level_of(pass));
        let mut parts: Vec<Poly<Eval>> = x.parts().iter().map(|part| part.restrict(&basis)).collect();
        if let Some(y) = y {
            let y = self.engine.lower(y, plan.context().base_level())?;
            parts.iter_mut().zip(y.parts()).for_each(|(left, part)| left.sub_assign(&part.restrict(&basis)));
        }
        let base = rlwe.basis(plan.level_of(plan.spec().passes));
        if pass == plan.spec().passes {
            return Ok(parts);
        }
        Ok(Poly::divide_pair([&parts[0], &parts[1]], &base, 1, &Epilogue::default()).into())
    }

    /// C modulo q: the primes of the passes that follow.
    fn primes_of(&self, pass: usize, q: Modulus) -> u64 {
        let (plan, primes) = (&*self.plan, self.plan.context().rlwe().params().q_primes());
        let range = plan.level_of(plan.spec().passes)..plan.level_of(pass);
        primes[range].iter().fold(1, |product, prime| q.mul(product, q.reduce(prime.value())))
    }
}

impl Refresh<Ciphertext> for PreciseRefresher {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        PreciseRefresher::refresh(self, ct)
    }

    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        self.plan.headroom_bits(ct)
    }

    fn accepts(&self, ct: &Ciphertext) -> bool {
        self.plan.accepts(ct)
    }
}
