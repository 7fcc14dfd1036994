//! Adding up the shares of a switch to the key of someone outside.

use std::sync::Arc;

use windlass::Exact;
use windlass::schemes::collective::SwitchingShare;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::PublicKey;

use crate::agreement::Agreement;
use crate::collected::{Collected, Expected};
use crate::error::Result;
use crate::family::CollectiveFamily;
use crate::header::{header, target_digest};
use crate::message::Receipt;
use crate::step::Step;

/// The switch of one ciphertext to the key of someone outside, by some members, whose shares come in any order. It holds
/// no secret.
///
/// Cost: a modulus switch, and two additions for each share.
pub struct Handover<F: CollectiveFamily = Exact> {
    switch: F::Switch,
    collected: Collected<F>,
}

impl<F: CollectiveFamily> std::fmt::Debug for Handover<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.collected.debug("Handover", f)
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
        let publication = (agreement.planned(), agreement.threshold());
        let (switch, basis, bits) = F::plan_switch(agreement.context(), ciphertext, publication, target)?;
        let mut header = header(agreement, ciphertext, members, (&basis, bits))?;
        header.extend_from_slice(&target_digest(agreement, target)?);
        let collected = Collected::new(agreement, ciphertext, members, (header, (basis, 2)))?;
        Ok(Self { switch, collected })
    }

    /// Takes a message. What is no share of a switch is not needed, and left alone.
    ///
    /// # Errors
    /// [`crate::PartiesError::OtherAgreement`], [`crate::PartiesError::Forged`],
    /// [`crate::PartiesError::AnotherShare`]; [`crate::PartiesError::OtherReading`] for a share of another ciphertext,
    /// with other members or to another key. Then nothing has changed.
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        self.collected.receive(message, &Expected { steps: &[Step::Switch], reader: None })
    }

    /// The names of the members whose shares are missing.
    pub fn missing(&self) -> Vec<String> {
        self.collected.missing()
    }

    /// The ciphertext under the key of someone outside.
    ///
    /// # Errors
    /// [`crate::PartiesError::Missing`].
    pub fn finish(&self) -> Result<F::Ciphertext> {
        let pair = |share: &Vec<Poly<Eval>>| -> SwitchingShare { [share[0].clone(), share[1].clone()] };
        let shares: Vec<SwitchingShare> = self.collected.all(Step::Switch)?.iter().map(pair).collect();
        Ok(F::finish_switch(&self.switch, &shares)?)
    }
}
