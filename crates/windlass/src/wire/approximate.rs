//! CKKS ciphertexts on the wire.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_rlwe::Context;

use super::stored::{Payload, Stored};
use super::values::{FileContext, read_parts};
use super::{ContextHash, FieldReader, FieldWriter, KeyId, Kind, WireError};
use crate::error::Result;
use crate::schemes::ckks::{Ciphertext, CkksContext};

/// What files of CKKS must agree with: ring, moduli, and the scales of the levels. Keys have the
/// same wire form as in BGV and BFV.
#[derive(Debug, Clone)]
pub struct ApproximateContext {
    context: Arc<CkksContext>,
    hash: ContextHash,
}

impl ApproximateContext {
    /// The files of one CKKS context.
    pub fn new(context: &Arc<CkksContext>) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"windlass wire context of CKKS 1\n");
        hash.update(context.rlwe().params().id().0);
        // The primes and these two fix the scale of every level.
        hash.update(context.spec().scale_bits.to_le_bytes());
        hash.update((context.base_level() as u64).to_le_bytes());
        Self { context: Arc::clone(context), hash: hash.finalize().into() }
    }

    /// The CKKS context.
    pub fn context(&self) -> &Arc<CkksContext> {
        &self.context
    }
}

impl FileContext for ApproximateContext {
    fn hash(&self) -> &ContextHash {
        &self.hash
    }

    fn rlwe(&self) -> &Arc<Context> {
        self.context.rlwe()
    }
}

/// Version 1 of a CKKS ciphertext.
///
/// | Bytes | Field |
/// |---|---|
/// | 1 | degree in the scale: 1, or 2 for a product that is not rescaled yet |
/// | 1 | 1 if the second polynomial is a seed, else 0 |
/// | 2 | level |
/// | 4 | number of slots |
/// | 8 | scale, a double |
/// | 8 | bound on the absolute value of a slot, a double |
/// | 8 | standard deviation of the error of a slot, a double: the precision; no less than that of a fresh encryption |
/// | | two polynomials, packed; a seed takes 32 bytes |
pub type ApproximateCiphertextV1 = Stored<Ciphertext>;

/// The fields before the polynomials.
struct Fields {
    seeded: bool,
    degree: i32,
    level: usize,
    slots: usize,
    magnitude: f64,
    deviation: f64,
}

impl Fields {
    fn read(context: &CkksContext, fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let malformed = |what| Err(WireError::Malformed { what });
        let [degree, seeded] = fields.array("degree of a CKKS ciphertext")?;
        let level = usize::from(fields.u16("level of a CKKS ciphertext")?);
        let slots = fields.u32("number of slots")? as usize;
        let scale = fields.f64("scale")?;
        let magnitude = fields.f64("bound on the slots")?;
        let deviation = fields.f64("error of the slots")?;
        if !(1..=2).contains(&degree) || seeded > 1 {
            return malformed("degree of a CKKS ciphertext");
        }
        if level < context.base_level() || level > context.top_level() {
            return malformed("level of a CKKS ciphertext");
        }
        if slots == 0 || !context.most_slots().is_multiple_of(slots) {
            return malformed("number of slots");
        }
        if scale.to_bits() != context.scale(level).powi(degree.into()).to_bits() {
            return malformed("scale");
        }
        // −0 would be written as itself.
        if magnitude < 0.0 || magnitude.to_bits() == (-0.0f64).to_bits() {
            return malformed("bound on the slots");
        }
        // Publication adds noise in proportion: a file must not turn it off.
        if deviation < context.fresh_deviation(level) {
            return malformed("error of the slots");
        }
        Ok(Self { seeded: seeded == 1, degree: degree.into(), level, slots, magnitude, deviation })
    }
}

impl Payload<ApproximateContext> for Ciphertext {
    const KIND: Kind = Kind::ApproximateCiphertext;
    const FIELDS: u64 = 32;

    fn write_fields(&self, context: &ApproximateContext, seeded: bool, out: &mut FieldWriter) {
        out.bytes(&[self.degree() as u8, u8::from(seeded)]);
        out.u16(self.level() as u16);
        out.u32(self.slots() as u32);
        out.f64(self.scale());
        out.f64(self.magnitude());
        out.f64(self.deviation().max(context.context.fresh_deviation(self.level())));
    }

    /// Refuses also what states values that do not fit its modulus:
    /// [`crate::Error::CapacityExhausted`].
    fn read(context: &ApproximateContext, key: KeyId, mut fields: FieldReader<'_>) -> Result<(Self, Option<[u8; 32]>)> {
        let head = Fields::read(&context.context, &mut fields)?;
        let (parts, seed) = read_parts(context.rlwe(), head.level, head.seeded, fields, "CKKS ciphertext")?;
        let (bounds, shape) = ((head.magnitude, head.deviation), (head.degree, head.slots));
        Ok((Self::from_file((&context.context, key), parts, shape, bounds)?, seed))
    }
}
