//! The keys of a refresh of several passes.

use std::sync::Arc;

use rand_core::RngCore;
use windlass_rlwe::{EvaluationKeys, SecretKey};
use windlass_schemes::error::Result;

use super::plan::PreciseRefreshPlan;
use crate::approximate::RefreshKeys;
use crate::estimate::KeyBytes;

impl PreciseRefreshPlan {
    /// Adds the Galois and relinearisation keys of the plan to evaluation keys, and makes the keys to the
    /// ephemeral secret. The relinearisation key serves products of ciphertexts too.
    ///
    /// # Errors
    /// [`windlass_schemes::error::BootstrapError::WrongContext`] for a secret key of other parameters;
    /// those of keys.
    pub fn add_keys(
        &self,
        evaluation: &mut EvaluationKeys,
        secret: &Arc<SecretKey>,
        rng: &mut impl RngCore,
    ) -> Result<RefreshKeys> {
        let keys = RefreshKeys::generate(self.pass(), secret, rng)?;
        RefreshKeys::add_evaluation_keys(self.pass(), evaluation, secret, rng)?;
        Ok(keys)
    }

    /// Sizes of all keys.
    pub fn key_bytes(&self) -> KeyBytes {
        self.pass().key_bytes()
    }
}
