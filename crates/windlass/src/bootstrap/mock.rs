//! The pipeline on the exact mock, with the rounding error of the front end played by random numbers.

use std::sync::{Arc, Mutex};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use super::Refresh;
use super::packed::{self, Way};
use super::plan::{BootstrapPlan, LinearStage};
use super::splitting::{Tree, Visitor};
use crate::circuits::linear::PreparedPlan;
use crate::error::Result;
use crate::plaintext::Plaintext;
use crate::schemes::clear::{Clear, ClearCiphertext};

/// Runs a plan on plaintexts: the same circuits at the same size, in exact arithmetic.
pub struct ClearBootstrapper {
    plan: Arc<BootstrapPlan>,
    message: Clear,
    working: Clear,
    to_coefficients: Vec<PreparedPlan<Clear>>,
    to_slots: Vec<PreparedPlan<Clear>>,
    rng: Mutex<ChaCha20Rng>,
}

impl ClearBootstrapper {
    /// A mock whose rounding errors come from `seed`.
    ///
    /// # Errors
    /// What the plans report.
    pub fn new(plan: Arc<BootstrapPlan>, seed: u64) -> Result<Self> {
        let (message, working) = (Clear::new(&plan.message), Clear::new(&plan.working));
        let prepare = |clear: &Clear, stages: &[LinearStage]| -> Result<Vec<PreparedPlan<Clear>>> {
            stages.iter().map(|stage| stage.plan.prepare(clear)).collect()
        };
        Ok(Self {
            to_coefficients: prepare(&message, &plan.to_coefficients)?,
            to_slots: prepare(&working, &plan.to_slots)?,
            rng: Mutex::new(ChaCha20Rng::seed_from_u64(seed)),
            plan,
            message,
            working,
        })
    }

    /// p^v·k + (up to the bound), and half of p^v more for p = 2.
    fn front_end(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext> {
        let numbers = &self.plan.numbers;
        let modulus = self.plan.working.modulus();
        let unit = numbers.prime.pow(numbers.removed);
        let mut rng = self.rng.lock().expect("no panic while drawing");
        let mut spread = |x: u64| {
            let error = (rng.next_u64() % (2 * numbers.bound + 1)) as i64 - numbers.bound as i64;
            let middle = if numbers.prime == 2 { unit / 2 } else { 0 };
            modulus.reduce_i64((x * unit + middle) as i64 + error)
        };
        let coefficients = ct.plaintext().coefficients().iter().map(|&x| spread(x)).collect();
        self.working.encrypt(&Plaintext::new(&self.plan.working, coefficients)?)
    }
}

impl ClearBootstrapper {
    fn linear(
        clear: &Clear,
        stages: &[LinearStage],
        prepared: &[PreparedPlan<Clear>],
        x: ClearCiphertext,
    ) -> Result<ClearCiphertext> {
        stages.iter().zip(prepared).try_fold(x, |x, (stage, prepared)| stage.plan.apply(prepared, clear, &x))
    }

    fn to_coefficients(&self, x: ClearCiphertext) -> Result<ClearCiphertext> {
        Self::linear(&self.message, &self.plan.to_coefficients, &self.to_coefficients, x)
    }

    fn to_slots(&self, x: ClearCiphertext) -> Result<ClearCiphertext> {
        Self::linear(&self.working, &self.plan.to_slots, &self.to_slots, x)
    }

    fn digits(&self, x: &ClearCiphertext) -> Result<ClearCiphertext> {
        let removed = self.plan.digits.apply(&self.working, x)?;
        self.message.encrypt(&Plaintext::new(&self.plan.message, removed.plaintext().coefficients().to_vec())?)
    }

    fn walk(
        &self,
        tree: &Tree,
        x: ClearCiphertext,
        part: impl FnMut(ClearCiphertext) -> Result<ClearCiphertext>,
    ) -> Result<ClearCiphertext> {
        let on = (&self.working, &self.message);
        tree.prepare(on.0, on.1)?.walk(on, x, &mut Parts(part))
    }
}

/// A visitor that hears of nothing but the parts.
struct Parts<F>(F);

impl<F: FnMut(ClearCiphertext) -> Result<ClearCiphertext>> Visitor<Clear, Clear> for Parts<F> {
    fn part(&mut self, part: ClearCiphertext) -> Result<ClearCiphertext> {
        (self.0)(part)
    }
}

impl Refresh<ClearCiphertext> for ClearBootstrapper {
    fn refresh(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext> {
        self.plan.check_content(ct.content())?;
        let refreshed = match &self.plan.way {
            Way::Thin => self.digits(&self.to_slots(self.front_end(&self.to_coefficients(ct.clone())?)?)?),
            Way::Constants { packing, .. } => {
                let packed = self.to_slots(self.front_end(ct)?)?;
                let constants = packing.unpacking(&self.plan.working)?;
                let parts = packed::unpack(&self.working, &constants, packing.index(), &packed)?;
                let parts: Vec<ClearCiphertext> = parts.iter().map(|x| self.digits(x)).collect::<Result<_>>()?;
                self.to_coefficients(packed::repack(&self.message, &packing.repacking(&self.plan.message)?, &parts)?)
            }
            Way::Monomials { elements, slots } => self.walk(elements, self.front_end(ct)?, |x| {
                self.to_coefficients(self.walk(slots, self.to_slots(x)?, |x| self.digits(&x))?)
            }),
        }?;
        Ok(refreshed.declared(ct.content()))
    }

    fn spare_bits(&self, _: &ClearCiphertext) -> f64 {
        f64::INFINITY
    }
}
