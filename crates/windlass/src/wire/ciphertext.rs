//! Ciphertexts on the wire.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::{Eval, Poly, sample};
use windlass_rlwe::Bound;

use super::values::{Wire, WireContext, poly_len, read_parts, scheme_code, write_parts};
use super::{FieldReader, FieldWriter, KeyId, Kind, WireError};
use crate::error::Result;
use crate::plaintext::Content;
use crate::schemes::Ciphertext;

/// Bytes before the polynomials.
const FIELDS: u64 = 24;

/// Version 1 of a ciphertext.
///
/// | Bytes | Field |
/// |---|---|
/// | 1 | scheme: 1 BGV, 2 BFV |
/// | 1 | flags: 1 if the second polynomial is a seed, 2 if the slots hold integers |
/// | 2 | level |
/// | 2 | exponent r of the plaintext modulus |
/// | 2 | number of polynomials |
/// | 8 | plaintext factor |
/// | 8 | log2 of the noise bound, a double |
/// | | polynomials, packed; a seed takes 32 bytes |
///
/// The second flag stands where d > 1 only: slots of degree 1 hold nothing but integers. Files that were written before it was there read as
/// [`Content::Elements`], about which nothing is claimed: [`Ciphertext::assume_integers`] says what their owner knows.
#[derive(Debug, Clone)]
pub struct CiphertextV1 {
    ciphertext: Ciphertext,
    seed: Option<[u8; 32]>,
}

impl CiphertextV1 {
    /// A ciphertext with all its polynomials.
    pub fn new(ciphertext: Ciphertext) -> Self {
        Self { ciphertext, seed: None }
    }

    /// A fresh secret-key encryption whose second polynomial is expanded from `seed`, as
    /// [`crate::schemes::Decryptor::encrypt`] gives it: half the size.
    pub fn seeded(ciphertext: Ciphertext, seed: [u8; 32]) -> Self {
        debug_assert!(ciphertext.parts().len() == 2 && expand(&ciphertext.parts()[1], &seed) == ciphertext.parts()[1]);
        Self { ciphertext, seed: Some(seed) }
    }

    /// The ciphertext.
    pub fn into_ciphertext(self) -> Ciphertext {
        self.ciphertext
    }
}

fn expand(like: &Poly<Eval>, seed: &[u8; 32]) -> Poly<Eval> {
    sample::uniform(like.ring(), like.basis(), seed, 0)
}

/// The flags.
const SEEDED: u8 = 1;
const INTEGERS: u8 = 2;

/// The fields before the polynomials.
struct Fields {
    seeded: bool,
    content: Content,
    level: usize,
    exponent: u32,
    factor: u64,
    log2_noise: f64,
}

impl Fields {
    fn read(context: &WireContext, fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let malformed = |what| Err(WireError::Malformed { what });
        let [scheme, flags] = fields.array("ciphertext scheme")?;
        let level = usize::from(fields.u16("ciphertext level")?);
        let exponent = u32::from(fields.u16("plaintext exponent")?);
        let parts = usize::from(fields.u16("number of polynomials")?);
        let factor = fields.u64("plaintext factor")?;
        let log2_noise = fields.f64("noise bound")?;
        if scheme != scheme_code(context.scheme) {
            return malformed("ciphertext scheme");
        }
        let known = if context.slots.degree() == 1 { SEEDED } else { SEEDED | INTEGERS };
        if flags & !known != 0 {
            return malformed("ciphertext flags");
        }
        let content = if flags & INTEGERS != 0 { Content::Integers } else { Content::any(&context.slots) };
        if level == 0 || level > context.context.top_level() {
            return malformed("ciphertext level");
        }
        if exponent == 0 || exponent > context.slots.modulus().exponent() {
            return malformed("plaintext exponent");
        }
        if parts != 2 {
            return malformed("number of polynomials");
        }
        let modulus = context.slots.prime().pow(exponent);
        if factor >= modulus || arith::gcd(factor, context.slots.prime()) != 1 {
            return malformed("plaintext factor");
        }
        // A bound below one bit or above the modulus is no bound, and −0 would be a second 0.
        if log2_noise.is_sign_negative() || !(0.0..=context.context.log2_modulus(level)).contains(&log2_noise) {
            return malformed("noise bound");
        }
        Ok(Self { seeded: flags & SEEDED != 0, content, level, exponent, factor, log2_noise })
    }
}

impl Wire for CiphertextV1 {
    const KIND: Kind = Kind::Ciphertext;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.ciphertext.key_id())
    }

    fn encode(&self, context: &WireContext, out: &mut FieldWriter) {
        let ct = &self.ciphertext;
        let told = context.slots.degree() > 1 && ct.content() == Content::Integers;
        let flags = if self.seed.is_some() { SEEDED } else { 0 } | if told { INTEGERS } else { 0 };
        out.bytes(&[scheme_code(ct.scheme()), flags]);
        out.u16(ct.level() as u16);
        out.u16(ct.exponent() as u16);
        out.u16(ct.parts().len() as u16);
        out.u64(ct.factor());
        // The noise of zero times a ciphertext is zero: 1 is a bound of it too.
        out.f64(ct.log2_noise().max(0.0) + 0.0);
        write_parts(out, ct.parts(), self.seed.as_ref());
    }

    fn decode(context: &WireContext, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let head = Fields::read(context, &mut fields)?;
        let (parts, seed) = read_parts(&context.context, head.level, head.seeded, fields, "ciphertext")?;
        let ciphertext = Ciphertext {
            context: Arc::clone(&context.context),
            key,
            hypercube: Arc::clone(context.slots.hypercube()),
            scheme: context.scheme,
            parts,
            prime: context.slots.prime(),
            exponent: head.exponent,
            factor: head.factor,
            noise: Bound::from_bits(head.log2_noise),
            content: head.content,
        };
        Ok(Self { ciphertext, seed })
    }

    fn limit(context: &WireContext) -> u64 {
        FIELDS + 2 * poly_len(&context.context, &context.context.basis(context.context.top_level())) as u64
    }
}

/// A ciphertext alone has the form of a [`CiphertextV1`] with all its polynomials.
impl Wire for Ciphertext {
    const KIND: Kind = Kind::Ciphertext;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key_id())
    }

    fn encode(&self, context: &WireContext, out: &mut FieldWriter) {
        CiphertextV1::new(self.clone()).encode(context, out);
    }

    fn decode(context: &WireContext, key: KeyId, fields: FieldReader<'_>) -> Result<Self> {
        Ok(CiphertextV1::decode(context, key, fields)?.into_ciphertext())
    }

    fn limit(context: &WireContext) -> u64 {
        CiphertextV1::limit(context)
    }
}
