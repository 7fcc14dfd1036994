//! Keys of refreshes of CKKS on the wire.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_bootstrap::approximate::{RefreshKeys, RefreshPlan};
use windlass_ring::Basis;
use windlass_rlwe::Context;
use windlass_schemes::error::Result;

use super::approximate::ApproximateContext;
use super::bootstrap::{ENCAPSULATION, ENCRYPTED};
use super::values::{FileContext, Wire, read_seeded, seeded_len, write_seeded};
use super::{ContextHash, FieldReader, FieldWriter, KeyId, Kind, WireError};

/// What keys of a refresh must agree with: the context of the ciphertexts that they refresh, the
/// special primes of the key to the ephemeral secret, and the weight of that secret.
///
/// Galois and relinearisation keys are files of [`Self::message`]: plans that differ in their maps or
/// in the number of slots share them as far as they go, and have the same keys of a refresh.
#[derive(Debug, Clone)]
pub struct RefreshContext {
    message: ApproximateContext,
    plan: Arc<RefreshPlan>,
    hash: ContextHash,
}

impl RefreshContext {
    /// The files of a plan.
    pub fn new(plan: &Arc<RefreshPlan>) -> Self {
        let message = ApproximateContext::new(plan.context());
        let mut hash = Sha256::new();
        hash.update(b"windlass wire context of a refresh of CKKS 1\n");
        hash.update(message.hash());
        hash.update((plan.spec().ephemeral_special as u64).to_le_bytes());
        hash.update(plan.spec().ephemeral_weight.to_le_bytes());
        Self { message, plan: Arc::clone(plan), hash: hash.finalize().into() }
    }

    /// The context of ciphertexts and of all other keys.
    pub fn message(&self) -> &ApproximateContext {
        &self.message
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<RefreshPlan> {
        &self.plan
    }

    /// The basis of the key to the ephemeral secret, and that of Q·P.
    fn bases(&self) -> [Basis; 2] {
        let rlwe = self.rlwe();
        [self.plan.input().base_qp(rlwe), rlwe.base_qp(rlwe.top_level())]
    }
}

impl FileContext for RefreshContext {
    fn hash(&self) -> &ContextHash {
        &self.hash
    }

    fn rlwe(&self) -> &Arc<Context> {
        self.message.rlwe()
    }
}

impl Wire<RefreshContext> for RefreshKeys {
    const KIND: Kind = Kind::RefreshKeys;

    fn key_id(&self) -> Option<KeyId> {
        Some(RefreshKeys::key_id(self))
    }

    /// The key to the ephemeral secret: the seed of a (32 bytes), b over Q_B and its special primes.
    /// Then the encrypted ephemeral secret, its seed and its b over Q·P.
    fn encode(&self, _: &RefreshContext, out: &mut FieldWriter) {
        self.parts().for_each(|part| write_seeded(out, part));
    }

    fn decode(context: &RefreshContext, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let [input, whole] = context.bases();
        let encapsulation = read_seeded(context.rlwe(), &input, &mut fields, ENCAPSULATION)?;
        let encrypted = read_seeded(context.rlwe(), &whole, &mut fields, ENCRYPTED)?;
        fields.finish("keys of a refresh")?;
        let keys = Self::from_parts(&context.plan, key, vec![encapsulation, encrypted]);
        Ok(keys.ok_or(WireError::Malformed { what: "keys of a refresh" })?)
    }

    fn limit(context: &RefreshContext) -> u64 {
        context.bases().iter().map(|basis| seeded_len(context.rlwe(), basis)).sum()
    }
}
