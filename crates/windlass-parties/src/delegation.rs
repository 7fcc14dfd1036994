//! Adding up the shares of a re-encryption key.

use windlass::Exact;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::{ReceivingKey, ReencryptionKey};

use crate::agreement::Agreement;
use crate::collected::{Collected, Expected};
use crate::error::Result;
use crate::family::CollectiveFamily;
use crate::header::delegation_header;
use crate::message::Receipt;
use crate::sizes::delegation_layout;
use crate::step::Step;

/// A key that brings ciphertexts of an agreement to a recipient without the parties, from the shares of some members,
/// which come in any order. It holds no secret.
///
/// **Warning.** The recipient, together with the server that has the key, reads *all* ciphertexts of the agreement, for good: the
/// key is an encryption of the collective secret under that of the recipient. To give single values to someone outside, use
/// [`crate::Handover`].
///
/// Cost: an addition for each residue of each share, which has twice the size of a Galois key.
pub struct Delegation<F: CollectiveFamily = Exact> {
    to: ReceivingKey,
    collected: Collected<F>,
}

impl<F: CollectiveFamily> std::fmt::Debug for Delegation<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.collected.debug("Delegation", f)
    }
}

impl<F: CollectiveFamily> Delegation<F> {
    /// A key by exactly these members (numbers, ascending) to a recipient with a key of the agreement's context.
    ///
    /// # Errors
    /// As [`crate::Party::delegate`].
    pub fn new(agreement: &Agreement<F>, to: &ReceivingKey, members: &[u32]) -> Result<Self> {
        let header = delegation_header(agreement, to, members)?;
        let collected = Collected::of(agreement, members, (header, delegation_layout(agreement)))?;
        Ok(Self { to: to.clone(), collected })
    }

    /// Takes a message. What is no share of a re-encryption key is not needed, and left alone.
    ///
    /// # Errors
    /// [`crate::PartiesError::OtherAgreement`], [`crate::PartiesError::Forged`],
    /// [`crate::PartiesError::AnotherShare`]; [`crate::PartiesError::OtherReading`] for a share with other members or to
    /// another recipient. Then nothing has changed.
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        self.collected.receive(message, &Expected { steps: &[Step::Delegation], reader: None })
    }

    /// The names of the members whose shares are missing.
    pub fn missing(&self) -> Vec<String> {
        self.collected.missing()
    }

    /// The key.
    ///
    /// **Warning.** A wrong share is not seen here: what is re-encrypted does not decrypt then, or has another value.
    ///
    /// # Errors
    /// [`crate::PartiesError::Missing`].
    pub fn finish(&self) -> Result<ReencryptionKey> {
        let agreement = self.collected.agreement();
        let mut sum: Vec<Poly<Eval>> = Vec::new();
        for share in self.collected.all(Step::Delegation)? {
            if sum.is_empty() {
                sum.clone_from(share);
            } else {
                sum.iter_mut().zip(share).for_each(|(sum, poly)| sum.add_assign(poly));
            }
        }
        let pairs = (agreement.key_id(), self.to.key_id());
        let level = F::top_level(agreement.context());
        Ok(ReencryptionKey::from_parts(agreement.common().context(), pairs, level, None, sum)?)
    }
}
