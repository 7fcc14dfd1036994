//! Keys on the wire: secret coefficients at two bits each, uniform halves as seeds.

use std::sync::Arc;

use windlass_ring::Basis;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::keys::{PublicKey, SecretKey};
use windlass_rlwe::switching::SwitchingKey;
use windlass_rlwe::{Context, ReceivingKey, ReencryptionKey};
use windlass_schemes::error::Result;
use windlass_schemes::file_sizes::packed_len;
use zeroize::Zeroizing;

use super::values::{FileContext, Wire, poly_len, read_poly, read_seeded, seeded_len, write_poly, write_seeded};
use super::{FieldReader, FieldWriter, KeyId, Kind, WireError};

/// Secret coefficients are stored as c + k, modulo 2k + 1, for a key of k parties; k is 1 for a key of one.
fn largest<C: FileContext>(context: &C) -> u64 {
    context.rlwe().params().secret().parties().into()
}

impl<C: FileContext> Wire<C> for SecretKey {
    const KIND: Kind = Kind::SecretKey;

    fn key_id(&self) -> Option<KeyId> {
        Some(SecretKey::key_id(self))
    }

    /// n coefficients, two bits each for a key of one party.
    fn encode(&self, context: &C, out: &mut FieldWriter) {
        let largest = largest(context);
        let shifted: Zeroizing<Vec<u64>> =
            Zeroizing::new(self.expose_coefficients().iter().map(|&c| (c + largest as i64) as u64).collect());
        out.residues(&shifted, 2 * largest + 1);
    }

    fn decode(context: &C, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let mut shifted = Zeroizing::new(vec![0; context.rlwe().ring().n()]);
        let largest = largest(context);
        fields.residues(&mut shifted, 2 * largest + 1, "secret key")?;
        fields.finish("secret key")?;
        let coefficients = Zeroizing::new(shifted.iter().map(|&c| c as i64 - largest as i64).collect());
        Ok(Self::from_coefficients(context.rlwe(), key, coefficients)?)
    }

    fn limit(context: &C) -> u64 {
        packed_len(context.rlwe().ring().n(), 2 * largest(context) + 1) as u64
    }
}

impl<C: FileContext> Wire<C> for PublicKey {
    const KIND: Kind = Kind::PublicKey;

    fn key_id(&self) -> Option<KeyId> {
        Some(PublicKey::key_id(self))
    }

    /// The seed of a, then b at the top level.
    fn encode(&self, _: &C, out: &mut FieldWriter) {
        let (seed, b) = self.parts();
        out.bytes(seed);
        write_poly(out, b);
    }

    fn decode(context: &C, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let seed = fields.array("public key seed")?;
        let basis = context.rlwe().basis(context.rlwe().top_level());
        let b = read_poly(context.rlwe(), &basis, &mut fields, "public key")?;
        fields.finish("public key")?;
        Ok(Self::from_parts(context.rlwe(), key, seed, b)?)
    }

    fn limit(context: &C) -> u64 {
        32 + poly_len(context.rlwe(), &context.rlwe().basis(context.rlwe().top_level())) as u64
    }
}

impl<C: FileContext> Wire<C> for ReceivingKey {
    const KIND: Kind = Kind::ReceivingKey;

    fn key_id(&self) -> Option<KeyId> {
        Some(ReceivingKey::key_id(self))
    }

    /// The seed of a, then b over all primes.
    fn encode(&self, _: &C, out: &mut FieldWriter) {
        write_seeded(out, self.parts());
    }

    fn decode(context: &C, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        const WHAT: &str = "receiving key";
        let basis = whole(context.rlwe());
        let (seed, b) = read_seeded(context.rlwe(), &basis, &mut fields, [WHAT; 2])?;
        fields.finish(WHAT)?;
        Ok(Self::from_parts(context.rlwe(), key, seed, b)?)
    }

    fn limit(context: &C) -> u64 {
        seeded_len(context.rlwe(), &whole(context.rlwe()))
    }
}

/// The basis of Q·P at the top.
fn whole(context: &Context) -> Basis {
    context.base_qp(context.top_level())
}

impl<C: FileContext> Wire<C> for ReencryptionKey {
    const KIND: Kind = Kind::ReencryptionKey;

    /// The pair that it leads to.
    fn key_id(&self) -> Option<KeyId> {
        Some(self.pairs().1)
    }

    /// The pair that ciphertexts come from (16 bytes), level (2 bytes), whether it is a delegation (1 byte). Then of a
    /// key between two pairs of one owner the seed (32 bytes) and b halves, of a delegation both halves of each digit.
    fn encode(&self, _: &C, out: &mut FieldWriter) {
        let key = self.switching_key();
        out.bytes(&self.pairs().0.0);
        out.u16(self.level() as u16);
        out.bytes(&[self.is_delegation().into()]);
        if self.is_delegation() {
            key.pairs().for_each(|half| write_poly(out, half));
        } else {
            out.bytes(key.seed());
            key.b().iter().for_each(|half| write_poly(out, half));
        }
    }

    fn decode(context: &C, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        const WHAT: &str = "re-encryption key";
        let rlwe = context.rlwe();
        let from = KeyId(fields.array(WHAT)?);
        let level = usize::from(fields.u16(WHAT)?);
        let [kind] = fields.array::<1>(WHAT)?;
        if level == 0 || level > rlwe.top_level() || kind > 1 {
            return Err(WireError::Malformed { what: WHAT }.into());
        }
        let seed = if kind == 0 { Some(fields.array(WHAT)?) } else { None };
        let halves = SwitchingKey::digits(rlwe, level) * (1 + usize::from(kind));
        let basis = rlwe.covering_basis(level);
        let polys = (0..halves).map(|_| read_poly(rlwe, &basis, &mut fields, WHAT));
        let polys = polys.collect::<Result<Vec<_>, WireError>>()?;
        fields.finish(WHAT)?;
        Ok(Self::from_parts(rlwe, (from, key), level, seed, polys)?)
    }

    fn limit(context: &C) -> u64 {
        let digits = context.rlwe().params().digits();
        (16 + 2 + 1 + 32 + 2 * digits * poly_len(context.rlwe(), &whole(context.rlwe()))) as u64
    }
}

/// Bytes of a switching key before its polynomials: element, level, seed.
pub(super) const KEY_FIELDS: usize = 8 + 2 + 32;

impl<C: FileContext> Wire<C> for EvaluationKeys {
    const KIND: Kind = Kind::EvaluationKeys;

    fn key_id(&self) -> Option<KeyId> {
        EvaluationKeys::key_id(self)
    }

    /// The number of keys (4 bytes), then for each its element (8 bytes; 0 for relinearisation,
    /// first), level (2 bytes), seed, and b halves. Elements increase.
    fn encode(&self, _: &C, out: &mut FieldWriter) {
        let keys = in_order(self);
        out.u32(keys.len() as u32);
        for (element, key) in keys {
            write_fields(out, element, key);
            key.b().iter().for_each(|digit| write_poly(out, digit));
        }
    }

    fn decode(context: &C, key: KeyId, mut fields: FieldReader<'_>) -> Result<Self> {
        let rlwe = context.rlwe();
        let keys = read_keys(rlwe, key, &mut fields, |&Fields { level, seed, .. }, fields| {
            let basis = rlwe.covering_basis(level);
            let b = (0..SwitchingKey::digits(rlwe, level))
                .map(|_| read_poly(rlwe, &basis, fields, "evaluation key"))
                .collect::<Result<Vec<_>, WireError>>()?;
            Ok(SwitchingKey::from_parts(rlwe, key, level, seed, b)?)
        })?;
        fields.finish("evaluation keys")?;
        Ok(keys)
    }

    /// One key for each automorphism and one for relinearisation, all at the top level.
    fn limit(context: &C) -> u64 {
        let level = context.rlwe().top_level();
        let basis = context.rlwe().base_qp(level);
        let digits = context.rlwe().params().digits();
        let key = (KEY_FIELDS + digits * poly_len(context.rlwe(), &basis)) as u64;
        4 + key.saturating_mul(context.rlwe().ring().n() as u64 + 1)
    }
}

/// The keys with their elements, 0 for relinearisation, in increasing order.
pub(super) fn in_order(keys: &EvaluationKeys) -> Vec<(u64, &SwitchingKey)> {
    let galois = keys.galois_elements().filter_map(|element| Some((element, &**keys.galois(element)?)));
    keys.relinearisation().map(|key| (0, &**key)).into_iter().chain(galois).collect()
}

/// What stands before the polynomials of a key.
pub(super) struct Fields {
    element: u64,
    pub level: usize,
    pub seed: [u8; 32],
}

pub(super) fn write_fields(out: &mut FieldWriter, element: u64, key: &SwitchingKey) {
    out.u64(element);
    out.u16(key.level() as u16);
    out.bytes(key.seed());
}

impl Fields {
    fn read(context: &Context, fields: &mut FieldReader<'_>) -> Result<Self, WireError> {
        let element = fields.u64("automorphism of an evaluation key")?;
        let level = usize::from(fields.u16("level of an evaluation key")?);
        if level == 0 || level > context.top_level() || element >= context.params().m() {
            return Err(WireError::Malformed { what: "level or automorphism of an evaluation key" });
        }
        Ok(Self { element, level, seed: fields.array("seed of an evaluation key")? })
    }
}

/// Reads the number of keys, and for each its fields; `switching(fields, reader)` gives the key.
pub(super) fn read_keys<'a>(
    context: &Arc<Context>,
    key: KeyId,
    reader: &mut FieldReader<'a>,
    mut switching: impl FnMut(&Fields, &mut FieldReader<'a>) -> Result<SwitchingKey>,
) -> Result<EvaluationKeys> {
    let count = reader.u32("number of evaluation keys")?;
    let mut keys = EvaluationKeys::of_pair(context, key);
    let mut last = None;
    for _ in 0..count {
        let fields = Fields::read(context, reader)?;
        let (element, switching) = (fields.element, switching(&fields, reader)?);
        if last.is_some_and(|last| element <= last) || element == 1 {
            return Err(WireError::Malformed { what: "order of the evaluation keys" }.into());
        }
        match element {
            0 => keys.insert_relinearisation(switching)?,
            _ => keys.insert_galois(element, switching)?,
        }
        last = Some(element);
    }
    Ok(keys)
}
