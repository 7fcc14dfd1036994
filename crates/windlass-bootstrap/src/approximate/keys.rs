//! The keys that a refresh needs beside Galois and relinearisation keys.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::sample;
use windlass_rlwe::{EvaluationKeys, KeyId, SecretKey};
use windlass_schemes::error::{BootstrapError, Result};

use super::plan::RefreshPlan;
use crate::encapsulation::{EncapsulationKey, EncryptedSecret, InputModulus, SeededPair};
use crate::ephemeral::EphemeralSecret;

/// The key to the ephemeral secret, and that secret encrypted under the main one. Public.
#[derive(Debug, Clone)]
pub struct RefreshKeys {
    pub(super) encapsulation: EncapsulationKey,
    pub(super) encrypted_secret: SeededPair,
    pub(super) id: KeyId,
}

impl RefreshKeys {
    /// Draws an ephemeral secret and makes both keys; the secret is wiped.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a secret key of other parameters.
    pub fn generate(plan: &RefreshPlan, secret: &Arc<SecretKey>, rng: &mut impl RngCore) -> Result<Self> {
        let context = secret.context();
        if !Arc::ptr_eq(context, plan.context().rlwe()) {
            return Err(BootstrapError::WrongContext { what: "the secret key" }.into());
        }
        let spec = plan.spec();
        let ephemeral = EphemeralSecret(sample::sparse(spec.n, spec.ephemeral_weight as usize, rng));
        let input = InputModulus::at_level(plan.context().base_level(), spec.ephemeral_special);
        let encapsulation = EncapsulationKey::generate(secret, &ephemeral, &input, rng);
        let encrypted_secret = EncryptedSecret::generate(secret, &ephemeral, 1, rng);
        Ok(Self { encapsulation, encrypted_secret, id: secret.key_id() })
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
