//! Ciphertexts of every scheme on the wire: fields, then two polynomials, the second of which may
//! be a seed.

use windlass_schemes::error::Result;
use windlass_schemes::schemes::pairs::RlweCiphertext;
use windlass_schemes::schemes::{Seed, is_seed_of};

use super::values::{FileContext, Wire, poly_len};
use super::{FieldReader, FieldWriter, KeyId, Kind, WireError};

/// Bytes of a seed.
const SEED: usize = 32;

/// A ciphertext as files hold it: the second polynomial as its seed while that is known
/// ([`windlass_schemes::schemes::Ciphertext::seed`]), which halves them.
#[derive(Debug, Clone)]
pub struct Stored<C> {
    ciphertext: C,
}

impl<C: RlweCiphertext> Stored<C> {
    /// A ciphertext with its seed, if it knows one, or with both polynomials.
    pub fn new(ciphertext: C) -> Self {
        Self { ciphertext }
    }

    /// A fresh secret-key encryption whose second polynomial is expanded from `seed`, as
    /// [`windlass_schemes::schemes::Decryptor::encrypt`] and [`windlass_schemes::schemes::ckks::Decryptor::encrypt`] give
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

impl<X: FileContext, C: RlweCiphertext + Wire<X>> Wire<X> for Stored<C> {
    const KIND: Kind = C::KIND;

    fn key_id(&self) -> Option<KeyId> {
        Wire::key_id(&self.ciphertext)
    }

    fn encode(&self, context: &X, out: &mut FieldWriter) {
        self.ciphertext.encode(context, out);
    }

    fn decode(context: &X, key: KeyId, fields: FieldReader<'_>) -> Result<Self> {
        Ok(Self { ciphertext: C::decode(context, key, fields)? })
    }

    fn limit(context: &X) -> u64 {
        C::limit(context)
    }
}

/// The longest payload of a ciphertext with so many bytes before its polynomials.
pub(super) fn limit(context: &impl FileContext, fields: u64) -> u64 {
    let rlwe = context.rlwe();
    let part = poly_len(rlwe, &rlwe.basis(rlwe.top_level()));
    // In the smallest rings a seed is longer than the polynomial that it stands for.
    fields + (part + part.max(SEED)) as u64
}
