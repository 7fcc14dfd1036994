//! The keys that a refresh needs beside Galois and relinearisation keys.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{EvaluationKeys, KeyId, SecretKey, check_same_keys};
use windlass_schemes::error::{BootstrapError, Result};

use super::plan::RefreshPlan;
use crate::encapsulation::{EncapsulationKey, EncryptedSecret, SeededPair};
use crate::ephemeral::EphemeralSecret;
use crate::stage::StageName;

/// The key to the ephemeral secret, and that secret encrypted under the main one. Public.
#[derive(Debug, Clone)]
pub struct RefreshKeys {
    pub(super) encapsulation: EncapsulationKey,
    pub(super) encrypted_secret: SeededPair,
    /// Non-zero coefficients of the ephemeral secret, of the part of each party.
    weight: u32,
    id: KeyId,
}

impl RefreshKeys {
    /// Draws an ephemeral secret and makes both keys; the secret is wiped. For parameters of several parties it is a sum
    /// of one for each of them.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a secret key of other parameters.
    pub fn generate(plan: &RefreshPlan, secret: &Arc<SecretKey>, rng: &mut impl RngCore) -> Result<Self> {
        let context = secret.context();
        if !Arc::ptr_eq(context, plan.context().rlwe()) {
            return Err(BootstrapError::WrongContext { what: "the secret key" }.into());
        }
        let spec = plan.spec();
        let ephemeral = EphemeralSecret::sum_of_sparse(spec.n, spec.ephemeral_weight, spec.parties, rng);
        let encapsulation = EncapsulationKey::generate(secret, &ephemeral, &plan.input(), rng);
        let encrypted_secret = EncryptedSecret::generate(secret, &ephemeral, 1, rng);
        Ok(Self { encapsulation, encrypted_secret, weight: spec.ephemeral_weight, id: secret.key_id() })
    }

    /// The seeds of the uniform halves, each with the other half: the key to the ephemeral secret,
    /// then that secret under the main one.
    #[doc(hidden)]
    pub fn parts(&self) -> impl Iterator<Item = (&[u8; 32], &Poly<Eval>)> {
        self.encapsulation.pairs.iter().chain([&self.encrypted_secret]).map(SeededPair::parts)
    }

    /// Rebuilds keys from a file; `None` if a part is not what [`Self::generate`] makes for this plan.
    #[doc(hidden)]
    pub fn from_parts(plan: &RefreshPlan, id: KeyId, mut parts: Vec<([u8; 32], Poly<Eval>)>) -> Option<Self> {
        let context = plan.context().rlwe();
        let (seed, encrypted) = parts.pop()?;
        let encapsulation = EncapsulationKey::from_parts(context, &plan.input(), parts)?;
        let encrypted_secret = EncryptedSecret::from_parts(context, seed, encrypted)?;
        Some(Self { encapsulation, encrypted_secret, weight: plan.spec().ephemeral_weight, id })
    }

    /// Refuses keys that a plan does not run with: of other parameters or another ephemeral secret, of
    /// two key pairs, and sets of evaluation keys that lack one at the level of a stage.
    pub(super) fn check(&self, plan: &RefreshPlan, evaluation: &EvaluationKeys) -> Result<()> {
        let same_ring = Arc::ptr_eq(self.encrypted_secret.parts().1.ring(), plan.context().rlwe().ring());
        if !same_ring || !self.encapsulation.is_at(&plan.input()) || self.weight != plan.spec().ephemeral_weight {
            return Err(BootstrapError::WrongContext { what: "the refresh key" }.into());
        }
        check_same_keys("keys of a refresh", evaluation.key_id().unwrap_or(self.id), self.id)?;
        let stages = plan.stages();
        let sine = stages.iter().find(|stage| matches!(stage.name, StageName::Sine { .. }));
        let level = plan.relinearisation_level();
        if let Some(stage) = sine.filter(|_| evaluation.relinearisation().is_none_or(|key| key.level() < level)) {
            return Err(BootstrapError::MissingRelinearisationKey { stage: stage.name.to_string() }.into());
        }
        for stage in &stages {
            let lacks = |t: &&u64| evaluation.galois(**t).is_none_or(|key| key.level() < stage.level);
            if let Some(&element) = stage.keys.iter().find(lacks) {
                return Err(BootstrapError::MissingKey { stage: stage.name.to_string(), element }.into());
            }
        }
        Ok(())
    }

    /// Adds the Galois and relinearisation keys of a plan to evaluation keys, each for the levels
    /// where it is used.
    ///
    /// # Errors
    /// Those of keys.
    pub fn add_evaluation_keys(
        plan: &RefreshPlan,
        keys: &mut EvaluationKeys,
        secret: &SecretKey,
        rng: &mut impl RngCore,
    ) -> Result<()> {
        for (&element, &level) in plan.galois_levels() {
            keys.add_galois(secret, element, level, rng)?;
        }
        Ok(keys.add_relinearisation(secret, plan.relinearisation_level(), rng)?)
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.encapsulation.pairs.iter().chain([&self.encrypted_secret]).map(SeededPair::bytes).sum()
    }
}
