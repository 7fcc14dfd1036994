//! Adding up the shares of a decryption.

use windlass::Exact;
use windlass_ring::{Eval, Poly};

use crate::agreement::Agreement;
use crate::collected::{Collected, Expected};
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::header::header;
use crate::identity::Identity;
use crate::message::Receipt;
use crate::step::Step;

/// The decryption of one ciphertext by some members, whose shares come in any order.
///
/// Cost: a modulus switch, and an addition for each share.
pub struct Reading<F: CollectiveFamily = Exact> {
    decryption: F::Decryption,
    collected: Collected<F>,
    reader: Option<Identity>,
    /// Whether masked shares are expected.
    of_share: bool,
}

impl<F: CollectiveFamily> std::fmt::Debug for Reading<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.collected.debug("Reading", f)
    }
}

impl<F: CollectiveFamily> Reading<F> {
    /// A decryption by exactly these members (numbers, ascending), whose shares are for everyone.
    ///
    /// # Errors
    /// As [`crate::Party::decrypt`].
    pub fn new(agreement: &Agreement<F>, ciphertext: &F::Ciphertext, members: &[u32]) -> Result<Self> {
        let context = agreement.context();
        let decryption = F::plan(context, ciphertext, (agreement.planned(), agreement.threshold()))?;
        let basis = F::basis(context, &decryption);
        let header = header(agreement, ciphertext, members, (&basis, F::noise_bits(&decryption)))?;
        let collected = Collected::new(agreement, ciphertext, members, (header, (basis, 1)))?;
        Ok(Self { decryption, collected, reader: None, of_share: false })
    }

    /// The same, whose shares may be encrypted for the holder of this identity.
    ///
    /// # Errors
    /// [`PartiesError::NoMember`].
    pub fn for_reader(self, identity: &Identity) -> Result<Self> {
        self.collected.agreement().number_of(&identity.public()).ok_or(PartiesError::NoMember)?;
        Ok(Self { reader: Some(identity.copy()), ..self })
    }

    /// The plan of the decryption: level, noise, and for CKKS the precision that is left.
    pub fn decryption(&self) -> &F::Decryption {
        &self.decryption
    }

    /// Takes a message. What is no share of a decryption is not needed, and left alone.
    ///
    /// # Errors
    /// [`PartiesError::OtherAgreement`], [`PartiesError::Forged`], [`PartiesError::AnotherShare`];
    /// [`PartiesError::OtherReading`] for a share of another ciphertext or with other members;
    /// [`PartiesError::NotForYou`], [`PartiesError::Unreadable`] for a share that is encrypted for another. Then nothing
    /// has changed.
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        let steps: &[Step] = if self.of_share { &[Step::Decryption, Step::Masked] } else { &[Step::Decryption] };
        self.collected.receive(message, &Expected { steps, reader: self.reader.as_ref() })
    }

    /// The names of the members whose shares are missing.
    pub fn missing(&self) -> Vec<String> {
        self.collected.missing()
    }

    /// What was encrypted.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; [`windlass::Error::NotDecryptable`] if a share is wrong: whose it is cannot be told.
    pub fn open(&self) -> Result<F::Opened> {
        let step = if self.of_share { Step::Masked } else { Step::Decryption };
        let shares: Vec<Poly<Eval>> = self.collected.all(step)?.iter().flatten().cloned().collect();
        Ok(F::open(self.collected.agreement().context(), &self.decryption, &shares)?)
    }
}

impl Reading {
    /// A decryption that leaves the holder of this identity with an additive share of the values: the other members send
    /// masked shares ([`crate::Party::decrypt_to_share`]), the reader its own by [`crate::Party::decrypt`] for itself.
    ///
    /// # Errors
    /// As [`Self::new`] and [`Self::for_reader`].
    pub fn of_share(
        agreement: &Agreement,
        ciphertext: &windlass::schemes::Ciphertext,
        members: &[u32],
        identity: &Identity,
    ) -> Result<Self> {
        let reading = Self::new(agreement, ciphertext, members)?.for_reader(identity)?;
        Ok(Self { of_share: true, ..reading })
    }
}
