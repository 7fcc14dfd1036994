//! Ciphertexts of every scheme on the wire: fields, then two polynomials, the second of which may
//! be a seed.

use super::values::{FileContext, Wire, poly_len, write_parts};
use super::{FieldReader, FieldWriter, KeyId, Kind, WireError};
use crate::error::Result;
use crate::schemes::pairs::Pair;
use crate::schemes::{Seed, is_seed_of};

/// Bytes of a seed.
const SEED: usize = 32;

/// A ciphertext as files hold it: the second polynomial as its seed while that is known
/// ([`crate::schemes::Ciphertext::seed`]), which halves them.
#[derive(Debug, Clone)]
pub struct Stored<C> {
    ciphertext: C,
}

impl<C: Pair> Stored<C> {
    /// A ciphertext with its seed, if it knows one, or with both polynomials.
    pub fn new(ciphertext: C) -> Self {
        Self { ciphertext }
    }

    /// A fresh secret-key encryption whose second polynomial is expanded from `seed`, as
    /// [`crate::schemes::Decryptor::encrypt`] and [`crate::schemes::ckks::Decryptor::encrypt`] give
    /// it. They give ciphertexts that know their seed: [`Self::new`] does as well, without the cost.
    ///
    /// Cost: the expansion of the seed.
    ///
    /// # Errors
    /// [`WireError::Malformed`] for a seed that is not that of this ciphertext.
    pub fn seeded(ciphertext: C, seed: Seed) -> Result<Self> {
        if !is_seed_of(ciphertext.parts(), &seed) {
            return Err(WireError::Malformed { what: "seed, which is not that of the ciphertext" }.into());
        }
        Ok(Self { ciphertext: ciphertext.with_seed(seed) })
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
    fn write_fields(&self, context: &X, out: &mut FieldWriter);

    /// Reads all of it. Errors: as [`Wire::decode`].
    fn read(context: &X, key: KeyId, fields: FieldReader<'_>) -> Result<Self>;
}

impl<X: FileContext, C: Payload<X>> Wire<X> for Stored<C> {
    const KIND: Kind = C::KIND;

    fn key_id(&self) -> Option<KeyId> {
        Some(self.ciphertext.key_id())
    }

    fn encode(&self, context: &X, out: &mut FieldWriter) {
        self.ciphertext.encode(context, out);
    }

    fn decode(context: &X, key: KeyId, fields: FieldReader<'_>) -> Result<Self> {
        Ok(Self { ciphertext: C::decode(context, key, fields)? })
    }

    fn limit(context: &X) -> u64 {
        let rlwe = context.rlwe();
        let part = poly_len(rlwe, &rlwe.basis(rlwe.top_level()));
        // In the smallest rings a seed is longer than the polynomial that it stands for.
        C::FIELDS + (part + part.max(SEED)) as u64
    }
}

/// A ciphertext alone has the form of a [`Stored`] one.
impl<X: FileContext, C: Payload<X>> Wire<X> for C {
    const KIND: Kind = C::KIND;

    fn key_id(&self) -> Option<KeyId> {
        Some(Pair::key_id(self))
    }

    fn encode(&self, context: &X, out: &mut FieldWriter) {
        self.write_fields(context, out);
        write_parts(out, self.parts(), self.seed());
    }

    fn decode(context: &X, key: KeyId, fields: FieldReader<'_>) -> Result<Self> {
        C::read(context, key, fields)
    }

    fn limit(context: &X) -> u64 {
        Stored::<C>::limit(context)
    }
}
