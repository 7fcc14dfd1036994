//! Runs a refresh of exact ciphertexts through CKKS.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Bound, check_same_keys};
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::schemes::engine::Statement;
use windlass_schemes::schemes::{Ciphertext, Engine, Refresh, Scheme, ckks};

use super::plan::ExactRefreshPlan;
use crate::approximate::{RefreshKeys, RefreshStep, Refresher};

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

/// Called after each step with the number of its pass; says whether to continue.
type Observer<'a> = dyn FnMut(usize, RefreshStep) -> ControlFlow<()> + 'a;

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
        let own = Engine::new(Scheme::Bfv, engine.slot_ring(), Arc::clone(&evaluation))?;
        let approximate = ckks::Engine::new(plan.ckks().context(), evaluation)?;
        let ckks = Refresher::new(plan.ckks(), approximate, keys)?;
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
    /// A ciphertext whose error a later pass can read already begins there.
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
    pub fn refresh_with(&self, ct: &Ciphertext, observe: &mut Observer<'_>) -> Result<Ciphertext> {
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
        observe: &mut Observer<'_>,
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
        let context = self.plan.context();
        let (top, primes) = (self.plan.output_level(), context.params().q_primes());
        let product = |range: std::ops::Range<usize>, q: windlass_ring::kernels::Modulus| {
            range.fold(1, |product, index| q.mul(product, q.reduce(primes[index].value())))
        };
        let factors: Vec<u64> = primes[..level].iter().map(|&q| product(level..top, q)).collect();
        let mut result = x.embed_times(&context.basis(top), &factors);
        result.sub_assign(&z.times_scalar(|q| product(level..top - 1, q)));
        result
    }

    /// The ciphertext at a level: switched down, or raised without rounding.
    fn at_level<'a>(&self, ct: &'a Ciphertext, level: usize) -> Cow<'a, Ciphertext> {
        if ct.level() >= level {
            return self.engine.switched(ct, level);
        }
        let (context, from) = (self.plan.context(), ct.level());
        let primes = context.params().q_primes();
        let raise = |part: &Poly<Eval>| {
            let factor = |&q: &windlass_ring::kernels::Modulus| {
                primes[from..level].iter().fold(1, |product, more| q.mul(product, q.reduce(more.value())))
            };
            part.embed_times(&context.basis(level), &primes[..from].iter().map(factor).collect::<Vec<u64>>())
        };
        let parts: Vec<Poly<Eval>> = ct.parts().iter().map(raise).collect();
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

impl Refresh<Ciphertext> for ExactRefresher {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        ExactRefresher::refresh(self, ct)
    }

    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        self.engine.capacity(ct) - self.plan.least_input_bits()
    }
}
