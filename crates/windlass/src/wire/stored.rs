//! Ciphertexts of every scheme on the wire: fields, then two polynomials, the second of which may
//! be a seed.

use windlass_ring::sample;

use super::values::{FileContext, Wire, poly_len, write_parts};
use super::{FieldReader, FieldWriter, KeyId, Kind, WireError};
use crate::error::Result;
use crate::schemes::pairs::Pair;

/// Bytes of a seed.
const SEED: usize = 32;

/// A ciphertext, and the seed of its second polynomial where it is a fresh secret-key encryption:
/// half the size.
#[derive(Debug, Clone)]
pub struct Stored<C> {
    ciphertext: C,
    seed: Option<[u8; 32]>,
}

impl<C: Pair> Stored<C> {
    /// A ciphertext with both polynomials.
    pub fn new(ciphertext: C) -> Self {
        Self { ciphertext, seed: None }
    }

    /// A fresh secret-key encryption whose second polynomial is expanded from `seed`, as
    /// [`crate::schemes::Decryptor::encrypt`] and [`crate::schemes::ckks::Decryptor::encrypt`] give
    /// it.
    ///
    /// Cost: the expansion of the seed.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for a seed that is not that of this ciphertext.
    pub fn seeded(ciphertext: C, seed: [u8; 32]) -> Result<Self> {
        let second = &ciphertext.parts()[1];
        if sample::uniform(second.ring(), second.basis(), &seed, 0) != *second {
            return Err(WireError::Malformed { what: "seed, which is not that of the ciphertext" }.into());
        }
        Ok(Self { ciphertext, seed: Some(seed) })
    }

    /// The ciphertext.
    pub fn ciphertext(&self) -> &C {
        &self.ciphertext
    }

    /// The ciphertext.
    pub fn into_ciphertext(self) -> C {
        self.ciphertext
    }
}

/// What the schemes' ciphertexts differ by on the wire.
pub trait Payload<X: FileContext>: Pair {
    /// What files hold.
    const KIND: Kind;
    /// Bytes before the polynomials.
    const FIELDS: u64;

    /// Writes the fields before the polynomials.
    fn write_fields(&self, context: &X, seeded: bool, out: &mut FieldWriter);

    /// Reads all of it. Errors: as [`Wire::decode`].
    fn read(context: &X, key: KeyId, fields: FieldReader<'_>) -> Result<(Self, Option<[u8; 32]>)>;
}

impl<X: FileContext, C: Payload<X>> Wire<X> for Stored<C> {
    const KIND: Kind = C::KIND;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.ciphertext.key_id())
    }

    fn encode(&self, context: &X, out: &mut FieldWriter) {
        self.ciphertext.write_fields(context, self.seed.is_some(), out);
        write_parts(out, self.ciphertext.parts(), self.seed.as_ref());
    }

    fn decode(context: &X, key: KeyId, fields: FieldReader<'_>) -> Result<Self> {
        let (ciphertext, seed) = C::read(context, key, fields)?;
        Ok(Self { ciphertext, seed })
    }

    fn limit(context: &X) -> u64 {
        let rlwe = context.rlwe();
        let part = poly_len(rlwe, &rlwe.basis(rlwe.top_level()));
        // In the smallest rings a seed is longer than the polynomial that it stands for.
        C::FIELDS + (part + part.max(SEED)) as u64
    }
}

/// A ciphertext alone has the form of a [`Stored`] one with both polynomials.
impl<X: FileContext, C: Payload<X>> Wire<X> for C {
    const KIND: Kind = C::KIND;

    fn key_id(&self) -> Option<KeyId> {
        Some(Pair::key_id(self))
    }

    fn encode(&self, context: &X, out: &mut FieldWriter) {
        self.write_fields(context, false, out);
        write_parts(out, self.parts(), None);
    }

    fn decode(context: &X, key: KeyId, fields: FieldReader<'_>) -> Result<Self> {
        Ok(C::read(context, key, fields)?.0)
    }

    fn limit(context: &X) -> u64 {
        Stored::<C>::limit(context)
    }
}
