//! The wire form of CKKS ciphertexts.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_rlwe::Context;
use windlass_schemes::error::Result;
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, FiledInfo, states_most};

use super::stored::{self, Stored};
use super::values::{FileContext, Wire, read_parts, write_parts};
use super::{ContextHash, FieldReader, FieldWriter, KeyId, Kind, WireError};

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
        // Sets without levels of a refresh have the hash that they had before there were any.
        if !context.spec().refresh_levels.is_empty() {
            hash.update((context.spec().depth as u64).to_le_bytes());
        }
        for level in &context.spec().refresh_levels {
            hash.update((level.prime_bits.len() as u64).to_le_bytes());
            hash.update(level.scale_bits.unwrap_or(0).to_le_bytes());
        }
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
/// | 1 | the sum of: 1 if the second polynomial is a seed, 2 if the errors of its own slots follow, 4 if the number of its entries follows, 8, only with 2, if what may be in a slot at most follows, 16, only with 2, if what may be in all slots at once follows |
/// | 2 | level |
/// | 4 | number of slots |
/// | 8 | scale, a double |
/// | 8 | bound on the absolute value of a slot (of an entry, where their number follows), a double |
/// | 8 | standard deviation of the error of any slot of the ring, a double; no less than that of a fresh encryption |
/// | 8 | where it follows: what the encryption with this second polynomial has given to that of the own slots, a double |
/// | 8 | where it follows: the deviation of all else there, a double; both together no less than that of a fresh encryption, and less than that of the whole ring |
/// | 8 | where it follows: what may be in one of the own slots at most beside that, with a negligible probability, a double; more than the bound on the rest, 72 times the sum of the two figures before |
/// | 8 | where it follows: what may be in each of the own slots, and in all of them at once, beside that, a double; more than 0 |
/// | 4 | where it follows: the number of entries, the first of the slots; fewer than there are slots |
/// | 8 | with it: bound on the absolute value of the slots beside the entries, a double; 0 for zeros |
/// | | two polynomials, packed; a seed takes 32 bytes |
pub type ApproximateCiphertextV1 = Stored<Ciphertext>;

/// The second polynomial is a seed.
const SEEDED: u8 = 1;

/// The errors of the own slots follow.
const OWN: u8 = 2;

/// The number of entries follows.
const ENTRIES: u8 = 4;

/// What may be in one of the own slots at most follows their errors.
const MOST: u8 = 8;

/// What may be in all of the own slots at once follows.
const SYSTEMATIC: u8 = 16;

/// The fields before the polynomials.
struct Fields {
    seeded: bool,
    level: usize,
    info: FiledInfo,
}

impl Fields {
    fn read(context: &CkksContext, fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let malformed = |what| Err(WireError::Malformed { what });
        let [degree] = fields.array("degree of a CKKS ciphertext")?;
        let [flags] = fields.array("flags of a CKKS ciphertext")?;
        let level = usize::from(fields.u16("level of a CKKS ciphertext")?);
        let slots = fields.u32("number of slots")? as usize;
        let scale = fields.f64("scale")?;
        let magnitude = fields.f64("bound on the slots")?;
        let deviation = fields.f64("error of the slots")?;
        if !(1..=2).contains(&degree) {
            return malformed("degree of a CKKS ciphertext");
        }
        let needs_own = flags & (MOST | SYSTEMATIC) != 0;
        if flags & !(SEEDED | OWN | ENTRIES | MOST | SYSTEMATIC) != 0 || needs_own && flags & OWN == 0 {
            return malformed("flags of a CKKS ciphertext");
        }
        if !context.is_level(level) {
            return malformed("level of a CKKS ciphertext");
        }
        if slots == 0 || !context.most_slots().is_multiple_of(slots) {
            return malformed("number of slots");
        }
        if scale.to_bits() != context.scale_of(level, degree.into()).to_bits() {
            return malformed("scale");
        }
        if !is_bound(magnitude) {
            return malformed("bound on the slots");
        }
        // Publication adds noise in proportion: a file must not turn it off.
        if deviation < context.fresh_deviation(level, context.spec().n) {
            return malformed("error of the slots");
        }
        let own = if flags & OWN == 0 { None } else { Some(own_error(context, fields, (level, slots), deviation)?) };
        let most = if flags & MOST == 0 { None } else { Some(most(fields, own)?) };
        let systematic = if flags & SYSTEMATIC == 0 { None } else { Some(systematic(fields)?) };
        let beside = if flags & ENTRIES == 0 { None } else { Some(entries(fields, slots)?) };
        let info = FiledInfo { degree: degree.into(), slots, magnitude, beside, deviation, own, most, systematic };
        Ok(Self { seeded: flags & SEEDED != 0, level, info })
    }
}

/// −0 would be written as itself.
fn is_bound(x: f64) -> bool {
    x >= 0.0 && x.is_sign_positive()
}

/// The number of entries, and the bound on the slots beside them.
fn entries(fields: &mut FieldReader<'_>, slots: usize) -> Result<(usize, f64), WireError> {
    let count = fields.u32("number of entries")? as usize;
    let rest = fields.f64("bound on the slots beside the entries")?;
    if count == 0 || count >= slots {
        return Err(WireError::Malformed { what: "number of entries" });
    }
    if !is_bound(rest) {
        return Err(WireError::Malformed { what: "bound on the slots beside the entries" });
    }
    Ok((count, rest))
}

/// The two figures of the own slots. What is no less than that of the whole ring is not stated.
fn own_error(
    context: &CkksContext,
    fields: &mut FieldReader<'_>,
    (level, slots): (usize, usize),
    whole: f64,
) -> Result<(f64, f64), WireError> {
    const WHAT: &str = "error of the own slots";
    let (fresh, rest) = (fields.f64(WHAT)?, fields.f64(WHAT)?);
    let positive = [fresh, rest].iter().all(|x| x.is_sign_positive());
    let least = context.fresh_deviation(level, 2 * slots);
    if !positive || fresh + rest < least || fresh + rest >= whole {
        return Err(WireError::Malformed { what: WHAT });
    }
    Ok((fresh, rest))
}

/// What may be in one of the own slots at most. Less than the bound on their errors is not stated apart.
fn most(fields: &mut FieldReader<'_>, own: Option<(f64, f64)>) -> Result<f64, WireError> {
    const WHAT: &str = "largest error of the own slots";
    let most = fields.f64(WHAT)?;
    match own.is_some_and(|(fresh, rest)| states_most(most, fresh + rest)) {
        true => Ok(most),
        false => Err(WireError::Malformed { what: WHAT }),
    }
}

/// What may be in all of the own slots at once. Nothing is not stated.
fn systematic(fields: &mut FieldReader<'_>) -> Result<f64, WireError> {
    const WHAT: &str = "systematic error of the own slots";
    match fields.f64(WHAT)? {
        size if size > 0.0 => Ok(size),
        _ => Err(WireError::Malformed { what: WHAT }),
    }
}

/// Bytes before the polynomials.
const FIELDS: u64 = 76;

/// A single ciphertext has the form of a [`Stored`] one.
impl Wire<ApproximateContext> for Ciphertext {
    const KIND: Kind = Kind::ApproximateCiphertext;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key_id())
    }

    fn encode(&self, _: &ApproximateContext, out: &mut FieldWriter) {
        let FiledInfo { deviation, own, most, systematic, beside, .. } = self.to_file();
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let flags = flag(self.seed().is_some(), SEEDED)
            | flag(own.is_some(), OWN)
            | flag(beside.is_some(), ENTRIES)
            | flag(most.is_some(), MOST)
            | flag(systematic.is_some(), SYSTEMATIC);
        out.bytes(&[self.degree() as u8, flags]);
        out.u16(self.level() as u16);
        out.u32(self.slots() as u32);
        out.f64(self.scale());
        out.f64(self.magnitude());
        out.f64(deviation);
        if let Some((fresh, rest)) = own {
            out.f64(fresh);
            out.f64(rest);
        }
        if let Some(most) = most {
            out.f64(most);
        }
        if let Some(size) = systematic {
            out.f64(size);
        }
        if let Some((count, rest)) = beside {
            out.u32(count as u32);
            out.f64(rest);
        }
        write_parts(out, self.parts(), self.seed());
    }

    /// Refuses also what states values that do not fit its modulus:
    /// [`windlass_schemes::Error::ModulusExhausted`].
    fn decode(context: &ApproximateContext, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let head = Fields::read(&context.context, &mut fields)?;
        let parts = read_parts(context.rlwe(), head.level, head.seeded, fields, "CKKS ciphertext")?;
        Self::from_file((&context.context, key), parts, head.info)
    }

    fn limit(context: &ApproximateContext) -> u64 {
        stored::limit(context, FIELDS)
    }
}
