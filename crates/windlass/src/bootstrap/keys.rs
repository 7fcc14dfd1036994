//! What bootstrapping needs beside evaluation keys.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Context, EvaluationKeys, SecretKey};

use super::encapsulation::{EncapsulationKey, EphemeralSecret, InputModulus};
use super::error::BootstrapError;
use super::plan::BootstrapPlan;
use crate::error::Result;
use crate::plaintext::Plaintext;
use crate::schemes::{Ciphertext, Decryptor, Scheme};
use crate::wire::CiphertextV1;

/// The encapsulation key, and the ephemeral secret encrypted under the main one with plaintext modulus p^e. Public.
#[derive(Debug, Clone)]
pub struct BootstrapKeys {
    pub(super) encapsulation: EncapsulationKey,
    pub(super) encrypted_secret: Ciphertext,
    /// Expands to the second polynomial of the encrypted secret.
    seed: [u8; 32],
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
        let (encrypted_secret, seed) = decryptor.encrypt(&plaintext, context.top_level(), rng)?;
        Ok(Self { encapsulation, encrypted_secret, seed })
    }

    /// The seed of the uniform half of the encapsulation key, and its other half.
    pub(crate) fn encapsulation_parts(&self) -> (&[u8; 32], &Poly<Eval>) {
        self.encapsulation.parts()
    }

    /// The encrypted ephemeral secret.
    pub(crate) fn encrypted_secret(&self) -> CiphertextV1 {
        CiphertextV1::seeded(self.encrypted_secret.clone(), self.seed)
    }

    /// Rebuilds keys from a file; `None` when a part is not what [`Self::generate`] makes for this plan.
    pub(crate) fn from_parts(
        plan: &BootstrapPlan,
        context: &Arc<Context>,
        (encapsulation_seed, b): ([u8; 32], Poly<Eval>),
        encrypted: CiphertextV1,
    ) -> Option<Self> {
        let (encrypted_secret, seed) = encrypted.into_parts();
        let encapsulation = EncapsulationKey::from_parts(context, &plan.input, encapsulation_seed, b)?;
        let whole = encrypted_secret.level() == context.top_level();
        (whole && encrypted_secret.exponent() == plan.numbers.exponent).then_some(Self {
            encapsulation,
            encrypted_secret,
            seed: seed?,
        })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.encapsulation.bytes() + self.encrypted_secret.bytes()
    }
}

impl BootstrapPlan {
    /// Where a ciphertext meets the ephemeral key.
    pub(crate) fn input(&self) -> &InputModulus {
        &self.input
    }

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
