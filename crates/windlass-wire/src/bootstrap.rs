//! Bootstrapping keys on the wire.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_bootstrap::{BootstrapKeys, BootstrapPlan};
use windlass_ring::Basis;
use windlass_rlwe::Context;
use windlass_schemes::error::Result;
use windlass_schemes::schemes::Scheme;

use super::values::{FileContext, Wire, WireContext, read_seeded, seeded_len, write_seeded};
use super::{ContextHash, FieldReader, FieldWriter, KeyId, Kind, WireError};

/// The seed and the other half of the key to the ephemeral secret, in refusals.
pub(super) const ENCAPSULATION: [&str; 2] = ["seed of the encapsulation key", "encapsulation key"];

/// Those of the ephemeral secret under the main one.
pub(super) const ENCRYPTED: [&str; 2] = ["seed of the encrypted ephemeral secret", "encrypted ephemeral secret"];

/// What bootstrapping keys must agree with: the context of the ciphertexts they refresh, and of the
/// plan the modulus at which a ciphertext meets the ephemeral key, that key's weight and norm, and
/// the modulus p^e of the digits.
///
/// Galois and relinearisation keys are files of [`Self::message`]: plans that differ in their
/// stages share them as far as they go.
#[derive(Debug, Clone)]
pub struct BootstrapContext {
    message: WireContext,
    plan: Arc<BootstrapPlan>,
    hash: ContextHash,
}

impl BootstrapContext {
    /// The files of a plan for one scheme.
    pub fn new(plan: &Arc<BootstrapPlan>, context: &Arc<Context>, scheme: Scheme) -> Self {
        let message = WireContext::new(context, plan.message_ring(), scheme);
        let working = WireContext::new(context, plan.working_ring(), scheme);
        let mut hash = Sha256::new();
        hash.update(b"windlass wire context of bootstrapping 1\n");
        hash.update(message.hash());
        hash.update(working.hash());
        let [level, special] = plan.input().shape();
        hash.update((level as u64).to_le_bytes());
        hash.update((special as u64).to_le_bytes());
        hash.update(plan.spec().ephemeral_weight.to_le_bytes());
        if plan.input().pairs() > 1 {
            hash.update(b"digits");
            hash.update(plan.input().base().to_le_bytes());
        }
        hash.update(plan.formula().row_square.to_bits().to_le_bytes());
        Self { message, plan: Arc::clone(plan), hash: hash.finalize().into() }
    }

    /// The context of ciphertexts and of all other keys.
    pub fn message(&self) -> &WireContext {
        &self.message
    }

    /// The basis of Q·P.
    fn whole(&self) -> Basis {
        let rlwe = self.message.context();
        rlwe.base_qp(rlwe.top_level())
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<BootstrapPlan> {
        &self.plan
    }
}

impl FileContext for BootstrapContext {
    fn hash(&self) -> &ContextHash {
        &self.hash
    }

    fn rlwe(&self) -> &Arc<Context> {
        self.message.context()
    }
}

impl Wire<BootstrapContext> for BootstrapKeys {
    const KIND: Kind = Kind::BootstrapKeys;

    fn key_id(&self) -> Option<KeyId> {
        Some(BootstrapKeys::key_id(self))
    }

    /// The encapsulation key: the seed of a (32 bytes), b over Q_in·P_in; over Q_in for each digit,
    /// where it has digits. Then the encrypted ephemeral secret, its seed and its b over Q·P.
    fn encode(&self, _: &BootstrapContext, out: &mut FieldWriter) {
        self.encapsulation_parts().chain([self.encrypted_parts()]).for_each(|part| write_seeded(out, part));
    }

    fn decode(context: &BootstrapContext, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let basis = context.plan.input().base_qp(context.rlwe());
        let mut pair = |_| read_seeded(context.rlwe(), &basis, &mut fields, ENCAPSULATION);
        let pairs = (0..context.plan.input().pairs()).map(&mut pair);
        let encapsulation = pairs.collect::<Result<Vec<_>, WireError>>()?;
        let encrypted = read_seeded(context.rlwe(), &context.whole(), &mut fields, ENCRYPTED)?;
        fields.finish("bootstrapping keys")?;
        let scheme = context.message.scheme();
        let keys = Self::from_parts(&context.plan, (context.rlwe(), key), scheme, encapsulation, encrypted);
        Ok(keys.ok_or(WireError::Malformed { what: "bootstrapping keys" })?)
    }

    fn limit(context: &BootstrapContext) -> u64 {
        let input = context.plan.input();
        let pair = |basis: &Basis| seeded_len(context.rlwe(), basis);
        input.pairs() as u64 * pair(&input.base_qp(context.rlwe())) + pair(&context.whole())
    }
}
