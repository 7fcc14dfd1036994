//! Adding up the shares of a decryption.

use windlass::Exact;
use windlass::wire::FieldReader;
use windlass_ring::{Eval, Poly};

use crate::agreement::Agreement;
use crate::assembly::Senders;
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::identity::Identity;
use crate::message::{Receipt, Step, read, read_polys};
use crate::party::{check_members, header};

/// The decryption of one ciphertext by some members, whose shares come in any order.
pub struct Reading<F: CollectiveFamily = Exact> {
    agreement: Agreement<F>,
    decryption: F::Decryption,
    members: Vec<u32>,
    header: Vec<u8>,
    reader: Option<Identity>,
    senders: Senders,
    shares: Vec<Poly<Eval>>,
}

impl<F: CollectiveFamily> std::fmt::Debug for Reading<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { members, senders, .. } = self;
        f.debug_struct("Reading").field("members", members).field("have", &senders.numbers()).finish_non_exhaustive()
    }
}

impl<F: CollectiveFamily> Reading<F> {
    /// A decryption by exactly these members (numbers, ascending), whose shares are for everyone.
    ///
    /// # Errors
    /// As [`crate::Party::decrypt`].
    pub fn new(agreement: &Agreement<F>, ciphertext: &F::Ciphertext, members: &[u32]) -> Result<Self> {
        check_members(agreement, members)?;
        windlass_rlwe::check_same_keys("decrypt with several parties", agreement.key_id(), F::key_id(ciphertext))?;
        let publication = (agreement.planned(), agreement.threshold());
        Ok(Self {
            decryption: F::plan(agreement.context(), ciphertext, publication)?,
            header: header(agreement, ciphertext, members)?,
            agreement: agreement.clone(),
            members: members.to_vec(),
            reader: None,
            senders: Senders::default(),
            shares: Vec::new(),
        })
    }

    /// The same, whose shares are encrypted for the holder of this identity.
    ///
    /// # Errors
    /// [`PartiesError::NoMember`].
    pub fn for_reader(self, identity: &Identity) -> Result<Self> {
        self.agreement.number_of(&identity.public()).ok_or(PartiesError::NoMember)?;
        Ok(Self { reader: Some(identity.copy()), ..self })
    }

    /// The plan of the decryption: level, noise, and for CKKS the precision that is left.
    pub fn decryption(&self) -> &F::Decryption {
        &self.decryption
    }

    /// Takes a message.
    ///
    /// # Errors
    /// [`PartiesError::OtherAgreement`], [`PartiesError::Forged`], [`PartiesError::Conflict`];
    /// [`PartiesError::OtherReading`] for a share of another ciphertext or with other members;
    /// [`PartiesError::NotForYou`], [`PartiesError::Unreadable`] for a share that is encrypted for another. Then nothing
    /// has changed.
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        let agreement = self.agreement.clone();
        let envelope = read(&agreement, message)?;
        if envelope.step != Step::Decryption {
            return Ok(Receipt::NotNeeded);
        }
        let receipt = self.senders.check(&agreement, (envelope.from, envelope.step), &envelope.digest)?;
        if receipt != Receipt::New {
            return Ok(receipt);
        }
        let opened = match (envelope.to, &self.reader) {
            (0, _) => None,
            (_, Some(identity)) => Some(envelope.opened(&agreement, identity)?),
            (to, None) => return Err(PartiesError::NotForYou { to: agreement.name_of(to) }),
        };
        let body = opened.as_ref().map_or(envelope.body, |body| body.as_slice());
        let mut fields = FieldReader::new(body);
        let other = || PartiesError::OtherReading { from: agreement.name_of(envelope.from) };
        let length = self.header.len().min(body.len());
        if fields.bytes(length, "share of a decryption")? != self.header || !self.members.contains(&envelope.from) {
            return Err(other());
        }
        let context = agreement.common().context();
        let basis = F::basis(agreement.context(), &self.decryption);
        let polys = read_polys(context, (&basis, 1), &mut fields)?;
        fields.finish("share of a decryption")?;
        self.shares.extend(polys);
        self.senders.0.insert(envelope.from, envelope.digest);
        Ok(receipt)
    }

    /// The names of the members whose shares are missing.
    pub fn missing(&self) -> Vec<String> {
        let have = self.senders.numbers();
        self.agreement.names_of(self.members.iter().copied().filter(|number| !have.contains(number)))
    }

    /// What was encrypted.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; [`windlass::Error::NotDecryptable`] if a share is none: whose it is cannot be told.
    pub fn open(&self) -> Result<F::Opened> {
        let missing = self.missing();
        if !missing.is_empty() {
            return Err(PartiesError::Missing { step: Step::Decryption, from: missing });
        }
        Ok(F::open(self.agreement.context(), &self.decryption, &self.shares)?)
    }
}
