//! The keys of a refresh through CKKS.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_rlwe::{EvaluationKeys, SecretKey};
use windlass_schemes::error::Result;

use super::plan::ExactRefreshPlan;
use crate::approximate::RefreshKeys;
use crate::estimate::KeyBytes;

impl ExactRefreshPlan {
    /// The evaluation keys of exact products and of the CKKS refresh, which are the same, and the keys
    /// to the ephemeral secret.
    ///
    /// # Errors
    /// [`windlass_schemes::error::BootstrapError::WrongContext`] for a secret key of other parameters;
    /// those of keys.
    pub fn generate_keys(
        &self,
        secret: &Arc<SecretKey>,
        rng: &mut impl RngCore,
    ) -> Result<(Arc<EvaluationKeys>, RefreshKeys)> {
        let keys = RefreshKeys::generate(self.ckks(), secret, rng)?;
        let mut evaluation = EvaluationKeys::of(secret);
        RefreshKeys::add_evaluation_keys(self.ckks(), &mut evaluation, secret, rng)?;
        Ok((Arc::new(evaluation), keys))
    }

    /// Sizes of all keys.
    pub fn key_bytes(&self) -> KeyBytes {
        self.ckks().key_bytes()
    }
}
