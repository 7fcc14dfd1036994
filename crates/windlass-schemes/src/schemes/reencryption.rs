//! Ciphertexts brought to another key pair.

use std::sync::Arc;

use windlass_rlwe::{NoiseModel, ReencryptionKey};

use super::engine::MARGIN_BITS;
use super::{Ciphertext, Scheme, ckks};
use crate::error::{Error, Result};

fn mismatch(left: &windlass_rlwe::Context, right: &windlass_rlwe::Context) -> Error {
    let id = |context: &windlass_rlwe::Context| context.params().id().to_string();
    Error::ContextMismatch { operation: "re-encrypt", left: id(left), right: id(right) }
}

impl Ciphertext {
    /// The same message under the key pair that the key leads to.
    ///
    /// Cost: one key switch. Noise: that of a key switch; for a delegation the error of the key is a public-key
    /// encryption's.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for a key of other parameters; [`Error::Rlwe`] for a ciphertext of another key pair or
    /// above the level of the key; [`Error::CapacityExhausted`].
    pub fn reencrypted(&self, key: &ReencryptionKey) -> Result<Self> {
        if !Arc::ptr_eq(&self.context, key.context()) {
            return Err(mismatch(&self.context, key.context()));
        }
        let t = self.prime.pow(self.exponent);
        let multiplier = if self.scheme == Scheme::Bgv { t } else { 1 };
        let parts = key.apply([&self.parts[0], &self.parts[1]], self.key, multiplier)?;
        let (model, level) = (NoiseModel::new(self.context.params(), t), self.level());
        let noise = self.noise + model.reencryption(level, key.is_delegation());
        let capacity = model.capacity(self.context.log2_modulus(level), noise);
        if capacity <= MARGIN_BITS {
            let left_bits = model.capacity(self.context.log2_modulus(level), self.noise).max(0.0);
            let needed_bits = left_bits - capacity;
            return Err(Error::CapacityExhausted { operation: "re-encrypt", needed_bits, left_bits });
        }
        Ok(self.under_key(key.pairs().1, parts, noise))
    }
}

impl ckks::Ciphertext {
    /// The same values under the key pair that the key leads to. As [`Ciphertext::reencrypted`].
    ///
    /// # Errors
    /// As there; [`Error::ModulusExhausted`] if the values may overflow.
    pub fn reencrypted(&self, key: &ReencryptionKey) -> Result<Self> {
        if !Arc::ptr_eq(self.context().rlwe(), key.context()) {
            return Err(mismatch(self.context().rlwe(), key.context()));
        }
        let parts = key.apply([&self.parts[0], &self.parts[1]], self.key, 1)?;
        Ok(self.with_reencryption(key.is_delegation())?.under_key(key.pairs().1, parts))
    }
}
