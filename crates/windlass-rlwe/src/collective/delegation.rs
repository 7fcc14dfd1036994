//! Keys of re-encryption that several parties make.

use rand_core::RngCore;
use windlass_ring::{Eval, Poly};

use super::decryption::Holder;
use crate::error::RlweError;
use crate::limits::Limits;
use crate::reencryption::{ReceivingKey, delegated};

impl Holder<'_> {
    /// The share of a delegation to a recipient ([`crate::ReencryptionKey::delegation`]): for each digit an encryption of
    /// P·g_k times this party's share of s under the receiving key. The sum of the shares of all that take part is the
    /// key, for [`crate::ReencryptionKey::from_parts`] without a seed.
    ///
    /// Each u_k and error is drawn afresh. In the sum the norm of u_k is at most that of the collective secret, and its
    /// errors are sums of as many, which [`crate::NoiseModel::reencryption`] counts.
    ///
    /// **Warning.** The recipient decrypts the sum to the secret of all, and each share, if it is not masked, to that of
    /// its party.
    ///
    /// Cost: that of two switching keys.
    ///
    /// # Errors
    /// [`RlweError::BadKey`] for a receiving key of another context; [`RlweError::OutOfRange`] for the level, and as
    /// [`super::check_participants`].
    pub fn delegation_share(
        &self,
        to: &ReceivingKey,
        level: usize,
        rng: &mut impl RngCore,
    ) -> Result<Vec<Poly<Eval>>, RlweError> {
        let context = self.common().context();
        if !std::sync::Arc::ptr_eq(to.context(), context) {
            return Err(RlweError::BadKey { what: "key of the recipient" });
        }
        Limits::between(1, context.top_level()).check("the level of a key", level)?;
        let basis = context.covering_basis(level);
        let secret = match self {
            Self::All(secret) => secret.restricted(&basis),
            Self::Threshold { share, participants } => share.restricted(participants, &basis)?,
        };
        Ok(delegated(&secret.0, to, level, rng))
    }
}
