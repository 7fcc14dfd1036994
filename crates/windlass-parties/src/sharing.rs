//! Additive shares of real numbers: what each member keeps, and what the reader adds to its own.

use windlass::Approximate;
use windlass::schemes::ckks::Ciphertext;
use windlass::schemes::collective::{ApproximateSharing, RealShare};
use windlass_ring::{Eval, Poly};
use windlass_rlwe::Limits;

use crate::agreement::Agreement;
use crate::collected::{Collected, Expected};
use crate::error::{PartiesError, Result};
use crate::header::header;
use crate::identity::Identity;
use crate::message::{Receipt, write_polys};
use crate::party::Party;
use crate::step::Step;

/// The plan of a sharing, and what every message of it says it is for.
fn planned(
    agreement: &Agreement<Approximate>,
    ciphertext: &Ciphertext,
    members: &[u32],
    reader: u32,
) -> Result<(ApproximateSharing, Vec<u8>)> {
    if !members.contains(&reader) {
        let limits = Limits::only("one of the members that take part");
        return Err(limits.refuse("the number of the reader", reader).into());
    }
    let publication = (agreement.planned(), agreement.threshold());
    let plan = ApproximateSharing::plan(agreement.context().ckks(), ciphertext, publication)?;
    let mut header = header(agreement, ciphertext, members, (plan.basis(), plan.mask().bits))?;
    header.extend_from_slice(&(reader as u16).to_le_bytes());
    Ok((plan, header))
}

impl Party<Approximate> {
    /// This party's additive share of the values of a ciphertext, and its message for the reader, one of the members that
    /// take part. Every one of them calls this, the reader too, which collects the messages and completes its share
    /// ([`crate::ShareReading`]). The sum of all shares is then the phase of the ciphertext, as integers. To come back
    /// each member encrypts its share under the collective key, and anyone adds them up
    /// ([`ApproximateSharing::encrypt`], [`ApproximateSharing::finish`]).
    ///
    /// The noise of a share hides the values, not their error alone. It cancels in the sum, and the values lose no bits. The
    /// level of the ciphertext must have room for it: about κ + log2(decryptions) + log2 n bits more than the values.
    ///
    /// The share follows from the state, the ciphertext, the members and the reader: a party that is asked again has the
    /// same share. It counts as a decryption.
    ///
    /// **Warning.** The sum of all shares has the error of the ciphertext, and must not be published as it is
    /// ([`RealShare::fixed_point`]). Do this once for a ciphertext: two readers of one ciphertext together learn the
    /// difference of its shares.
    ///
    /// # Errors
    /// As [`Self::decrypt`]; [`PartiesError::OutOfRange`] for a reader that does not take part, and where one member
    /// decrypts alone.
    pub fn decrypt_to_share(
        &mut self,
        ciphertext: &Ciphertext,
        members: &[u32],
        reader: u32,
    ) -> Result<(Vec<u8>, RealShare)> {
        self.share_of(ciphertext, members, |party, holder| {
            let (plan, mut body) = planned(&party.agreement, ciphertext, members, reader)?;
            let mut rng = party.secret.derived("windlass additive share of real numbers 1", &body);
            let (mut sent, own) = plan.share(holder, &mut rng)?;
            party.mask(Step::Masked, members, &body, std::slice::from_mut(&mut sent))?;
            body.extend_from_slice(&write_polys([&sent]));
            Ok((party.message(reader, Step::Masked, &body)?, own))
        })
    }
}

/// What the reader of a sharing collects, in any order: the messages of [`Party::decrypt_to_share`].
///
/// Cost: an addition for each message.
pub struct ShareReading {
    plan: ApproximateSharing,
    collected: Collected<Approximate>,
    reader: Identity,
}

impl std::fmt::Debug for ShareReading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.collected.debug("ShareReading", f)
    }
}

impl ShareReading {
    /// A sharing among exactly these members (numbers, ascending) with the holder of this identity as the reader.
    ///
    /// # Errors
    /// [`PartiesError::NoMember`]; as [`Party::decrypt_to_share`].
    pub fn new(
        agreement: &Agreement<Approximate>,
        ciphertext: &Ciphertext,
        members: &[u32],
        identity: &Identity,
    ) -> Result<Self> {
        let reader = agreement.number_of(&identity.public()).ok_or(PartiesError::NoMember)?;
        let (plan, header) = planned(agreement, ciphertext, members, reader)?;
        let layout = (plan.basis().clone(), 1);
        let collected = Collected::new(agreement, ciphertext, members, (header, layout))?;
        Ok(Self { plan, collected, reader: identity.copy() })
    }

    /// The plan: how many bits the values have, and how a ciphertext is made of shares again.
    pub fn plan(&self) -> &ApproximateSharing {
        &self.plan
    }

    /// Takes a message. What is no share of a sharing is not needed, and left alone.
    ///
    /// # Errors
    /// As [`crate::Reading::receive`].
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        self.collected.receive(message, &Expected { steps: &[Step::Masked], reader: Some(&self.reader) })
    }

    /// The names of the members whose messages are missing.
    pub fn missing(&self) -> Vec<String> {
        self.collected.missing()
    }

    /// The reader's share, from the one that [`Party::decrypt_to_share`] gave it and the messages of all members.
    ///
    /// **Warning.** A wrong message is not seen: the shares are then without meaning.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; [`PartiesError::Windlass`] for a share of another ciphertext's level, or a sum of
    /// shares.
    pub fn open(&self, kept: &RealShare) -> Result<RealShare> {
        let sent: Vec<Poly<Eval>> = self.collected.all(Step::Masked)?.iter().flatten().cloned().collect();
        Ok(self.plan.open(kept, &sent)?)
    }
}
