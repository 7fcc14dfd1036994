//! Adding up the shares of a switch to the key of someone outside.

use std::sync::Arc;

use windlass::Exact;
use windlass::schemes::collective::SwitchingShare;
use windlass::wire::FieldReader;
use windlass_ring::Basis;
use windlass_rlwe::PublicKey;

use crate::agreement::Agreement;
use crate::assembly::Senders;
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::message::{Receipt, Step, read, read_polys};
use crate::party::{check_members, header, target_digest};

/// The switch of one ciphertext to the key of someone outside, by some members, whose shares come in any order. It holds
/// no secret.
pub struct Handover<F: CollectiveFamily = Exact> {
    agreement: Agreement<F>,
    switch: F::Switch,
    basis: Basis,
    members: Vec<u32>,
    header: Vec<u8>,
    senders: Senders,
    shares: Vec<SwitchingShare>,
}

impl<F: CollectiveFamily> std::fmt::Debug for Handover<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { members, senders, .. } = self;
        f.debug_struct("Handover").field("members", members).field("have", &senders.numbers()).finish_non_exhaustive()
    }
}

impl<F: CollectiveFamily> Handover<F> {
    /// A switch by exactly these members (numbers, ascending) to a public key of the agreement's context.
    ///
    /// # Errors
    /// As [`crate::Party::switch`].
    pub fn new(
        agreement: &Agreement<F>,
        ciphertext: &F::Ciphertext,
        members: &[u32],
        target: &Arc<PublicKey>,
    ) -> Result<Self> {
        check_members(agreement, members)?;
        windlass_rlwe::check_same_keys("decrypt with several parties", agreement.key_id(), F::key_id(ciphertext))?;
        let publication = (agreement.planned(), agreement.threshold());
        let (switch, basis) = F::plan_switch(agreement.context(), ciphertext, publication, target)?;
        let mut header = header(agreement, ciphertext, members)?;
        header.extend_from_slice(&target_digest(agreement, target)?);
        let (members, agreement) = (members.to_vec(), agreement.clone());
        Ok(Self { agreement, switch, basis, members, header, senders: Senders::default(), shares: Vec::new() })
    }

    /// Takes a message.
    ///
    /// # Errors
    /// [`PartiesError::OtherAgreement`], [`PartiesError::Forged`], [`PartiesError::Conflict`];
    /// [`PartiesError::OtherReading`] for a share of another ciphertext, with other members or to another key. Then
    /// nothing has changed.
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        let envelope = read(&self.agreement, message)?;
        if envelope.step != Step::Switch {
            return Ok(Receipt::NotNeeded);
        }
        let receipt = self.senders.check(&self.agreement, (envelope.from, envelope.step), &envelope.digest)?;
        if receipt != Receipt::New {
            return Ok(receipt);
        }
        let mut fields = FieldReader::new(envelope.body);
        let length = self.header.len().min(envelope.body.len());
        let same = fields.bytes(length, "share of a switch")? == self.header;
        if !same || !self.members.contains(&envelope.from) {
            return Err(PartiesError::OtherReading { from: self.agreement.name_of(envelope.from) });
        }
        let context = self.agreement.common().context();
        let polys = read_polys(context, (&self.basis, 2), &mut fields)?;
        fields.finish("share of a switch")?;
        self.shares.extend(SwitchingShare::try_from(polys));
        self.senders.0.insert(envelope.from, envelope.digest);
        Ok(receipt)
    }

    /// The names of the members whose shares are missing.
    pub fn missing(&self) -> Vec<String> {
        let have = self.senders.numbers();
        self.agreement.names_of(self.members.iter().copied().filter(|number| !have.contains(number)))
    }

    /// The ciphertext under the key of someone outside.
    ///
    /// # Errors
    /// [`PartiesError::Missing`].
    pub fn finish(&self) -> Result<F::Ciphertext> {
        let missing = self.missing();
        if !missing.is_empty() {
            return Err(PartiesError::Missing { step: Step::Switch, from: missing });
        }
        Ok(F::finish_switch(&self.switch, &self.shares)?)
    }
}
