//! What bootstrapping needs beside evaluation keys.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_rlwe::{EvaluationKeys, SecretKey};

use super::encapsulation::{EncapsulationKey, EphemeralSecret};
use super::error::BootstrapError;
use super::plan::BootstrapPlan;
use crate::error::Result;
use crate::plaintext::Plaintext;
use crate::schemes::{Ciphertext, Decryptor, Scheme};

/// The encapsulation key, and the ephemeral secret encrypted under the main one with plaintext modulus p^e. Public.
#[derive(Debug, Clone)]
pub struct BootstrapKeys {
    pub(super) encapsulation: EncapsulationKey,
    pub(super) encrypted_secret: Ciphertext,
}

impl BootstrapKeys {
    /// Draws an ephemeral secret and makes both keys; the secret is wiped.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a secret key of other parameters; [`BootstrapError::Unsupported`] for a weight at which no short secret is
    /// found.
    pub fn generate(
        plan: &BootstrapPlan,
        scheme: Scheme,
        secret: &Arc<SecretKey>,
        rng: &mut impl RngCore,
    ) -> Result<Self> {
        let context = secret.context();
        if context.params().id() != plan.params.id() {
            return Err(BootstrapError::WrongContext { what: "the secret key" }.into());
        }
        let ephemeral = EphemeralSecret::generate(context.params().shape(), &plan.spec, &plan.numbers, rng)?;
        let encapsulation = EncapsulationKey::generate(secret, &ephemeral, &plan.input, rng);
        let modulus = plan.working.quotient().modulus();
        let residues = ephemeral.0.iter().map(|&x| modulus.reduce_i64(x)).collect();
        let plaintext = Plaintext::new(&plan.working, residues)?;
        let decryptor = Decryptor::new(scheme, &plan.working, Arc::clone(secret));
        let (encrypted_secret, _) = decryptor.encrypt(&plaintext, context.top_level(), rng)?;
        Ok(Self { encapsulation, encrypted_secret })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.encapsulation.bytes() + self.encrypted_secret.bytes()
    }
}

impl BootstrapPlan {
    /// Makes the Galois keys of all stages, each for the level it is used at, and a relinearisation key, unless they are there.
    ///
    /// # Errors
    /// [`crate::Error::Rlwe`] from key generation.
    pub fn add_keys(&self, keys: &mut EvaluationKeys, secret: &SecretKey, rng: &mut impl RngCore) -> Result<()> {
        if keys.relinearisation().is_none() {
            keys.add_relinearisation(secret, self.params.top_level(), rng)?;
        }
        for (element, level) in self.required_key_levels() {
            keys.add_galois(secret, element, level, rng)?;
        }
        Ok(())
    }
}
