//! The keys that bootstrapping needs in addition to evaluation keys.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{Context, EvaluationKeys, KeyId, SecretKey};
use windlass_schemes::error::{BootstrapError, Result};
use windlass_schemes::schemes::Scheme;

use super::bootstrap_plan::BootstrapPlan;
use super::encapsulation::{EncapsulationKey, EncryptedSecret, SeededPair};
use super::ephemeral::EphemeralSecret;

/// The encapsulation key, and the ephemeral secret encrypted under the main one modulo Q·P for
/// plaintext modulus p^e. Public.
#[derive(Debug, Clone)]
pub struct BootstrapKeys {
    pub(super) encapsulation: EncapsulationKey,
    pub(super) encrypted_secret: SeededPair,
    pub(super) scheme: Scheme,
    purpose: Purpose,
    id: KeyId,
}

/// What of a plan its keys depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Purpose {
    /// p^e.
    modulus: u64,
    /// Primes of Q_in and of P_in, and the base of digits.
    input: [usize; 2],
    base: u64,
    /// Non-zero coefficients of the ephemeral secret, and the limit of its rows.
    weight: u32,
    row_square: f64,
}

impl Purpose {
    fn of(plan: &BootstrapPlan) -> Self {
        Self {
            modulus: plan.working_ring().modulus().value(),
            input: plan.input().shape(),
            base: plan.input().base(),
            weight: plan.spec().ephemeral_weight,
            row_square: plan.formula().row_square,
        }
    }
}

impl BootstrapKeys {
    /// Draws an ephemeral secret and makes both keys; the secret is wiped.
    ///
    /// # Errors
    /// [`BootstrapError::WrongContext`] for a secret key of other parameters;
    /// [`BootstrapError::Unsupported`] for a weight at which no short secret is found.
    pub fn generate(
        plan: &BootstrapPlan,
        scheme: Scheme,
        secret: &Arc<SecretKey>,
        rng: &mut impl RngCore,
    ) -> Result<Self> {
        let context = secret.context();
        if context.params().id() != plan.params().id() {
            return Err(BootstrapError::WrongContext { what: "the secret key" }.into());
        }
        let ephemeral = EphemeralSecret::generate(context.params(), plan.spec(), plan.formula(), rng)?;
        let encapsulation = EncapsulationKey::generate(secret, &ephemeral, plan.input(), rng);
        let modulus = plan.working_ring().modulus().value();
        let encrypted_secret = EncryptedSecret::generate(secret, &ephemeral, modulus, rng);
        Ok(Self { encapsulation, encrypted_secret, scheme, purpose: Purpose::of(plan), id: secret.key_id() })
    }

    /// The seed of the uniform half of each pair of the encapsulation key, and its other half.
    #[doc(hidden)]
    pub fn encapsulation_parts(&self) -> impl Iterator<Item = (&[u8; 32], &Poly<Eval>)> {
        self.encapsulation.pairs.iter().map(SeededPair::parts)
    }

    /// The seed of the uniform half of the encrypted ephemeral secret, and its other half.
    #[doc(hidden)]
    pub fn encrypted_parts(&self) -> (&[u8; 32], &Poly<Eval>) {
        self.encrypted_secret.parts()
    }

    /// Rebuilds keys from a file; `None` if a part is not what [`Self::generate`] makes for this
    /// plan.
    #[doc(hidden)]
    pub fn from_parts(
        plan: &BootstrapPlan,
        (context, id): (&Arc<Context>, KeyId),
        scheme: Scheme,
        encapsulation: Vec<([u8; 32], Poly<Eval>)>,
        (encrypted_seed, encrypted): ([u8; 32], Poly<Eval>),
    ) -> Option<Self> {
        let encapsulation = EncapsulationKey::from_parts(context, plan.input(), encapsulation)?;
        let encrypted_secret = EncryptedSecret::from_parts(context, encrypted_seed, encrypted)?;
        Some(Self { encapsulation, encrypted_secret, scheme, purpose: Purpose::of(plan), id })
    }

    /// Whether they were made for this plan, or for one with the same moduli and ephemeral secrets.
    pub(super) fn fit(&self, plan: &BootstrapPlan, context: &Context, scheme: Scheme) -> bool {
        Arc::ptr_eq(self.encrypted_secret.parts().1.ring(), context.ring())
            && self.scheme == scheme
            && self.purpose == Purpose::of(plan)
    }

    /// The name of the key pair.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.encapsulation.pairs.iter().map(SeededPair::bytes).sum::<usize>() + self.encrypted_secret.bytes()
    }
}

impl BootstrapPlan {
    /// Makes the Galois keys of all stages, each for the level it is used at, and a relinearisation
    /// key of the top level, unless they are there.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::Rlwe`] from key generation.
    pub fn add_keys(&self, keys: &mut EvaluationKeys, secret: &SecretKey, rng: &mut impl RngCore) -> Result<()> {
        if keys.relinearisation().is_none_or(|key| key.level() < self.params().top_level()) {
            keys.add_relinearisation(secret, self.params().top_level(), rng)?;
        }
        for (element, level) in self.required_key_levels() {
            keys.add_galois(secret, element, level, rng)?;
        }
        Ok(())
    }
}
