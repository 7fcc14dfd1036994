//! Ciphertexts on the wire.

use windlass_ring::kernels::arith;
use windlass_rlwe::Bound;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Content;
use windlass_schemes::schemes::Ciphertext;
use windlass_schemes::schemes::engine::Statement;

use super::stored::{self, Stored};
use super::values::{Wire, WireContext, read_parts, scheme_code, write_parts};
use super::{FieldReader, FieldWriter, KeyId, Kind, WireError};

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
/// The second flag stands where d > 1 only: slots of degree 1 hold nothing but integers. Files that
/// were written before it was there read as [`Content::Elements`], about which nothing is claimed:
/// [`Ciphertext::assume_integers`] says what their owner knows.
pub type CiphertextV1 = Stored<Ciphertext>;

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
        let known = if context.slot_ring.degree() == 1 { SEEDED } else { SEEDED | INTEGERS };
        if flags & !known != 0 {
            return malformed("ciphertext flags");
        }
        let content = if flags & INTEGERS != 0 { Content::Integers } else { Content::any(&context.slot_ring) };
        if level == 0 || level > context.context.top_level() {
            return malformed("ciphertext level");
        }
        if exponent == 0 || exponent > context.slot_ring.modulus().exponent() {
            return malformed("plaintext exponent");
        }
        if parts != 2 {
            return malformed("number of polynomials");
        }
        let modulus = context.slot_ring.prime().pow(exponent);
        if factor >= modulus || arith::gcd(factor, context.slot_ring.prime()) != 1 {
            return malformed("plaintext factor");
        }
        // A bound below one bit or above the modulus is no bound, and −0 would be a second 0.
        if log2_noise.is_sign_negative() || !(0.0..=context.context.log2_modulus(level)).contains(&log2_noise) {
            return malformed("noise bound");
        }
        Ok(Self { seeded: flags & SEEDED != 0, content, level, exponent, factor, log2_noise })
    }
}

/// Bytes before the polynomials.
const FIELDS: u64 = 24;

/// A single ciphertext has the form of a [`Stored`] one.
impl Wire<WireContext> for Ciphertext {
    const KIND: Kind = Kind::Ciphertext;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.key_id())
    }

    fn encode(&self, context: &WireContext, out: &mut FieldWriter) {
        let told = context.slot_ring.degree() > 1 && self.content() == Content::Integers;
        let flags = if self.seed().is_some() { SEEDED } else { 0 } | if told { INTEGERS } else { 0 };
        out.bytes(&[scheme_code(self.scheme()), flags]);
        out.u16(self.level() as u16);
        out.u16(self.exponent() as u16);
        out.u16(self.parts().len() as u16);
        out.u64(self.factor());
        // The noise of zero times a ciphertext is zero: 1 is a bound of it too.
        out.f64(self.log2_noise().max(0.0) + 0.0);
        write_parts(out, self.parts(), self.seed());
    }

    fn decode(context: &WireContext, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let head = Fields::read(context, &mut fields)?;
        let parts = read_parts(&context.context, head.level, head.seeded, fields, "ciphertext")?;
        let Fields { content, exponent, factor, log2_noise, .. } = head;
        let statement = Statement { exponent, factor, noise: Bound::from_bits(log2_noise), content };
        Ok(Self::assembled((&context.context, key), (&context.slot_ring, context.scheme), parts, statement))
    }

    fn limit(context: &WireContext) -> u64 {
        stored::limit(context, FIELDS)
    }
}
