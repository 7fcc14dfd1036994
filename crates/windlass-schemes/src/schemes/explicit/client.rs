//! Keys, encryption and checked decryption.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_rlwe::{EvaluationKeys, SecretKey, check_same_keys};
use zeroize::Zeroize;

use super::ciphertext::Ciphertext;
use super::context::Context;
use super::encode::Values;
use super::scale::Scale;
use crate::error::Result;
#[cfg(doc)]
use crate::error::{Error, ExplicitError};

/// The holder of a secret key.
#[derive(Debug)]
pub struct Client {
    context: Arc<Context>,
    key: SecretKey,
}

impl Client {
    /// With a fresh secret key.
    pub fn generate(context: &Arc<Context>, rng: &mut impl RngCore) -> Self {
        Self { context: Arc::clone(context), key: SecretKey::generate(context.rlwe(), rng) }
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Evaluation keys for rotations by these amounts and, if asked for, for relinearisation. They serve every
    /// level.
    ///
    /// # Errors
    /// Those of key generation.
    pub fn evaluation_keys(
        &self,
        rotations: &[i64],
        relinearisation: bool,
        rng: &mut impl RngCore,
    ) -> Result<EvaluationKeys> {
        let level = self.context.rlwe().top_level();
        let mut keys = EvaluationKeys::of(&self.key);
        if relinearisation {
            keys.add_relinearisation(&self.key, level, rng)?;
        }
        for &amount in rotations {
            keys.add_galois(&self.key, self.context.rotation_element(amount), level, rng)?;
        }
        Ok(keys)
    }

    /// A fresh encryption under the secret key. In CKKS the values are at most `bound` in absolute value,
    /// which is public. BGV takes no notice of it.
    ///
    /// # Errors
    /// As [`Context::encode`]; [`Error::ValueTooLarge`].
    pub fn encrypt(
        &self,
        values: &Values,
        bound: f64,
        level: usize,
        scale: Scale,
        rng: &mut impl RngCore,
    ) -> Result<Ciphertext> {
        let context = &self.context;
        let (mut message, encoded) = context.secret_element(values, bound, level, scale)?;
        let t = context.multiplier();
        let bounds = encoded.with_noise(context.fresh_noise());
        if let Err(refusal) = context.check_room("encrypt", level, bounds.phase()) {
            message.zeroize();
            return Err(refusal);
        }
        let mut seed = [0; 32];
        rng.fill_bytes(&mut seed);
        let mut parts = Vec::from(self.key.encrypt_zero(context.rlwe_level(level), seed, t, rng));
        if t != 1 {
            parts.iter_mut().for_each(|part| part.mul_scalar_assign(|q| q.reduce(t)));
        }
        parts[0].add_assign(&message);
        message.zeroize();
        Ok(Ciphertext { context: Arc::clone(context), key: self.key.key_id(), parts, level, scale, bounds })
    }

    /// The vector: n/2 complex numbers in CKKS; n integers in BGV, row by row. Takes ciphertexts of 2 and of 3
    /// polynomials.
    ///
    /// **Warning.** Errors of CKKS depend on the secret key. Round what you publish.
    ///
    /// # Errors
    /// [`ExplicitError::NoRoom`] if the bound does not fit the modulus;
    /// [`Error::NotDecryptable`] if the ciphertext holds more than its bound;
    /// [`Error::ContextMismatch`];
    /// [`Error::OtherKeyPair`].
    pub fn decrypt(&self, ct: &Ciphertext) -> Result<Values> {
        self.context.check_same("decrypt", &ct.context)?;
        check_same_keys("decrypt", self.key.key_id(), ct.key)?;
        self.context.check_room("decrypt", ct.level, ct.bounds.phase())?;
        self.context.decode(ct, self.key.phase(&ct.parts))
    }

    /// log2 of the largest coefficient of the phase.
    #[cfg(test)]
    pub(super) fn exact_log2_phase(&self, ct: &Ciphertext) -> f64 {
        let phase = self.key.phase(&ct.parts).into_coeff();
        windlass_ring::rns::centred_floats(&phase).iter().fold(0.0f64, |most, x| most.max(x.abs())).log2()
    }
}
