//! Runs a refresh of exact ciphertexts through CKKS.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use windlass_ring::kernels::{Modulus, arith};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Bound, RandomEvents, check_same_keys};
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::schemes::engine::Statement;
use windlass_schemes::schemes::{Ciphertext, Engine, Refresh, Scheme, ckks};

use super::plan::ExactRefreshPlan;
use crate::approximate::{RefreshKeys, RefreshStep, Refresher, Rounds};
use crate::options::RefreshOptions;
use crate::progress::Progress;

/// Refreshes BGV and BFV ciphertexts by a plan.
///
/// BGV ciphertexts are refreshed in the form of BFV: the two differ by one scalar.
pub struct ExactRefresher {
    plan: Arc<ExactRefreshPlan>,
    /// In BFV form, for modulus switches.
    engine: Engine,
    scheme: Scheme,
    ckks: Refresher,
}

impl ExactRefresher {
    /// Checks the keys and prepares the constants of the maps. The engine is that of the exact
    /// ciphertexts; it has the evaluation keys of the plan.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for an engine or keys of another context, and for an engine of
    /// another plaintext prime; [`BootstrapError::WrongPlaintextModulus`] for one of another exponent;
    /// [`BootstrapError::MissingKey`] and [`BootstrapError::MissingRelinearisationKey`] with the stage
    /// that lacks it; [`windlass_schemes::Error::OtherKeyPair`].
    pub fn new(plan: &Arc<ExactRefreshPlan>, engine: &Engine, keys: RefreshKeys) -> Result<Self> {
        let modulus = engine.slot_ring().modulus();
        if !Arc::ptr_eq(engine.context(), plan.context()) || modulus.prime() != plan.spec().prime {
            return Err(BootstrapError::WrongContext { what: "the engine" }.into());
        }
        check_exponent(plan, modulus.exponent())?;
        let evaluation = Arc::clone(engine.keys());
        let approximate = ckks::Engine::new(plan.ckks().context(), evaluation)?;
        let ckks = Refresher::new(plan.ckks(), approximate, keys)?;
        let own = engine.to_scheme(Scheme::Bfv);
        Ok(Self { plan: Arc::clone(plan), engine: own, scheme: engine.scheme(), ckks })
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<ExactRefreshPlan> {
        &self.plan
    }

    /// Bytes in memory of all keys.
    pub fn key_bytes(&self) -> usize {
        self.ckks.key_bytes()
    }

    /// Bytes in memory of the constants of the maps.
    pub fn constant_bytes(&self) -> usize {
        self.ckks.constant_bytes()
    }

    /// The same message with new capacity, at [`ExactRefreshPlan::output_level`].
    ///
    /// **Warning.** A ciphertext with more noise than it states is refreshed to a wrong message. No error is
    /// returned. So is one whose refresh exceeds its bounds, with probability at most
    /// 2^−[`ExactRefreshPlan::failure_bits`].
    ///
    /// A ciphertext whose error a later pass can read already begins there. The random events of the passes count
    /// among those of the engine ([`Engine::random_events`]).
    ///
    /// # Errors
    /// Those of [`Self::check`]; those of key switches and products.
    pub fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        self.refresh_with(ct, &mut |_, _| ControlFlow::Continue(()))
    }

    /// As [`Self::refresh`]. `observe` is called after each step of the CKKS refresh of each pass, with
    /// the number of the pass from 1, and may stop the refresh.
    ///
    /// # Errors
    /// As there; [`windlass_schemes::Error::Cancelled`] if it was stopped before the last step of the last
    /// pass.
    pub fn refresh_with(
        &self,
        ct: &Ciphertext,
        observe: &mut dyn FnMut(usize, RefreshStep) -> ControlFlow<()>,
    ) -> Result<Ciphertext> {
        let first = self.check(ct)?;
        let mut x = ct.to_scheme(Scheme::Bfv);
        let mut largest = self.plan.coefficient_at(&x, self.plan.level_of(first));
        for pass in first..=self.plan.spec().passes {
            (x, largest) = self.pass(pass, (&x, largest), observe)?;
        }
        Ok(x.to_scheme(ct.scheme()))
    }

    /// The first pass that a ciphertext takes, or what [`Self::refresh`] refuses before any work.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a ciphertext of another context or plaintext prime;
    /// [`BootstrapError::WrongPlaintextModulus`] after a division by p;
    /// [`windlass_schemes::Error::OtherKeyPair`]; [`BootstrapError::CapacityTooLow`] if its noise is too
    /// large for the first pass.
    pub fn check(&self, ct: &Ciphertext) -> Result<usize> {
        let plan = &*self.plan;
        let is_own = Arc::ptr_eq(ct.context(), plan.context()) && ct.prime() == plan.spec().prime;
        if !is_own || ct.scheme() != self.scheme {
            return Err(BootstrapError::WrongContext { what: "the ciphertext" }.into());
        }
        check_exponent(plan, ct.exponent())?;
        check_same_keys("refresh", self.engine.keys().key_id().unwrap_or(ct.key_id()), ct.key_id())?;
        let is_readable = |pass: &usize| plan.coefficient_at(ct, plan.level_of(*pass)) <= plan.error().most;
        (1..=plan.spec().passes).rev().find(is_readable).ok_or_else(|| {
            let left_bits = self.engine.capacity(ct);
            let missing_bits = (plan.least_input_bits() - left_bits).max(0.0);
            BootstrapError::CapacityTooLow { stage: "pass 1".into(), left_bits, missing_bits }.into()
        })
    }

    /// One pass: reads ε at its level and subtracts it at the highest level. Also what no coefficient of
    /// ε exceeds when the result is at the level of the next pass.
    pub(super) fn pass(
        &self,
        pass: usize,
        (ct, largest): (&Ciphertext, f64),
        observe: &mut dyn FnMut(usize, RefreshStep) -> ControlFlow<()>,
    ) -> Result<(Ciphertext, f64)> {
        let (plan, error) = (&*self.plan, self.plan.error());
        let (level, top) = (plan.level_of(pass), plan.output_level());
        let ct = self.at_level(ct, level);
        let most = largest / error.most * plan.spec().excess_bits.exp2();
        // A CKKS refresh cannot be stopped at its last step, but there may be another pass.
        let mut is_stopped = false;
        let mut observe = |step| {
            let flow = observe(pass, step);
            is_stopped = flow.is_break();
            flow
        };
        let read = self.ckks.refresh_coefficients((ct.key_id(), self.read(&ct)), most, &mut observe)?;
        if is_stopped && pass < plan.spec().passes {
            return Err(windlass_schemes::Error::Cancelled { operation: "refresh" });
        }
        // Two bounds, each of which fails with less than the probability of an event.
        self.engine.count_events(RandomEvents::KEY_SWITCH);
        let parts: Vec<Poly<Eval>> = ct.parts().iter().zip(&read).map(|(x, z)| self.corrected(x, z, level)).collect();
        let [from, to] = [level, top].map(|level| plan.context().log2_modulus(level));
        let (left, norm) = (error.coefficient(plan.ckks(), largest), error.norm(plan.ckks(), largest));
        let noise = Bound::of(norm) * Bound::from_bits(to - from);
        let factor = arith::mul_mod(ct.factor(), self.ratio(level, top), self.modulus());
        let statement = Statement { exponent: ct.exponent(), factor, noise, content: ct.content() };
        let (context, slots) = ((plan.context(), ct.key_id()), (&**plan.slot_ring(), Scheme::Bfv));
        let next = if pass == plan.spec().passes { top } else { level + 1 };
        let change = (plan.context().log2_modulus(next) - from).exp2();
        let result = Ciphertext::assembled(context, slots, parts.into(), statement);
        Ok((result, left * change + error.rounding))
    }

    /// t times the ciphertext, modulo Q_B: its phase is ε.
    fn read(&self, ct: &Ciphertext) -> Vec<Poly<Eval>> {
        let base = self.plan.context().basis(self.plan.level_of(1));
        let t = self.modulus();
        ct.parts().iter().map(|part| part.restrict_times(&base, |q| q.reduce(t))).collect()
    }

    /// `D·x − (D/q_J)·z` for D = Q'/Q_level.
    fn corrected(&self, x: &Poly<Eval>, z: &Poly<Eval>, level: usize) -> Poly<Eval> {
        let top = self.plan.output_level();
        let mut result = self.raised(x, (level, top));
        result.sub_assign(&z.times_scalar(|q| self.product(level..top - 1, q)));
        result
    }

    /// `(Q_to/Q_from)·x` over the primes of the higher level.
    fn raised(&self, x: &Poly<Eval>, (from, to): (usize, usize)) -> Poly<Eval> {
        let context = self.plan.context();
        let primes = &context.params().q_primes()[..from];
        let factors: Vec<u64> = primes.iter().map(|&q| self.product(from..to, q)).collect();
        x.embed_times(&context.basis(to), &factors)
    }

    /// The product of these primes of the chain modulo q.
    fn product(&self, range: Range<usize>, q: Modulus) -> u64 {
        let primes = &self.plan.context().params().q_primes()[range];
        primes.iter().fold(1, |product, prime| q.mul(product, q.reduce(prime.value())))
    }

    /// The ciphertext at a level: switched down, or raised without rounding.
    fn at_level<'a>(&self, ct: &'a Ciphertext, level: usize) -> Cow<'a, Ciphertext> {
        if ct.level() >= level {
            return self.engine.switched(ct, level);
        }
        let (context, from) = (self.plan.context(), ct.level());
        let parts: Vec<Poly<Eval>> = ct.parts().iter().map(|part| self.raised(part, (from, level))).collect();
        let noise = ct.noise() * Bound::from_bits(context.log2_modulus(level) - context.log2_modulus(from));
        let factor = arith::mul_mod(ct.factor(), self.ratio(from, level), self.modulus());
        let statement = Statement { exponent: ct.exponent(), factor, noise, content: ct.content() };
        let slots = (&**self.plan.slot_ring(), Scheme::Bfv);
        Cow::Owned(Ciphertext::assembled((context, ct.key_id()), slots, parts.into(), statement))
    }

    /// t.
    fn modulus(&self) -> u64 {
        self.plan.spec().plaintext_modulus()
    }

    /// `Q_high/Q_low` modulo t.
    fn ratio(&self, low: usize, high: usize) -> u64 {
        self.plan.context().levels().ratio(low, high, self.modulus())
    }
}

/// Refuses ciphertexts and engines modulo another power of p.
fn check_exponent(plan: &ExactRefreshPlan, found: u32) -> Result<()> {
    let expected = plan.spec().exponent;
    match found == expected {
        true => Ok(()),
        false => Err(BootstrapError::WrongPlaintextModulus { expected, found }.into()),
    }
}

/// Lists, with reports as bootstrappings make them.
impl ExactRefresher {
    /// [`Self::refresh`] for each ciphertext of a list, one after the other. An observer of the options is called
    /// before each stage of each pass, and once after the last.
    ///
    /// # Errors
    /// Those of [`Self::check`], before any work, if it is true of any ciphertext of the list;
    /// [`BootstrapError::Unsupported`] for a table and for one batch; [`windlass_schemes::Error::Cancelled`] if the
    /// observer breaks; those of [`Self::refresh`].
    pub fn refresh_list(&self, list: &[Ciphertext], options: RefreshOptions<'_>) -> Result<Vec<Ciphertext>> {
        let RefreshOptions { table, observer, one_batch } = options;
        if table.is_some() || one_batch {
            let what = "a refresh through CKKS evaluates no table and takes no batch; use a bootstrapping".into();
            return Err(BootstrapError::Unsupported { what }.into());
        }
        list.iter().try_for_each(|ct| self.check(ct).map(drop))?;
        let mut observer = observer;
        let mut observe = |progress: &Progress, ct: &Ciphertext| match &mut observer {
            Some(observe) => observe(progress, ct),
            None => ControlFlow::Continue(()),
        };
        let rounds = Rounds { plan: self.plan.ckks(), passes: self.plan.spec().passes };
        rounds.run(list, &mut observe, |ct, told| Ok(vec![self.refresh_with(ct, told)?]))
    }
}

impl Refresh<Ciphertext> for ExactRefresher {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        ExactRefresher::refresh(self, ct)
    }

    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        self.engine.capacity(ct) - self.plan.least_input_bits()
    }
}
