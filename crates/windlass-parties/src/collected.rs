//! Shares of one decryption or switch that come in any order.

use windlass::wire::FieldReader;
use windlass_ring::{Basis, Eval, Poly};
use zeroize::Zeroizing;

use crate::agreement::Agreement;
use crate::assembly::Senders;
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::header::check_members;
use crate::identity::Identity;
use crate::message::{Receipt, read, read_polys};
use crate::step::Step;

/// The shares of exactly some members, all with one header.
pub(crate) struct Collected<F: CollectiveFamily> {
    agreement: Agreement<F>,
    members: Vec<u32>,
    header: Vec<u8>,
    /// The primes of shares, and how many polynomials each has.
    layout: (Basis, usize),
    senders: Senders,
    shares: Vec<Vec<Poly<Eval>>>,
}

/// What a share is expected to be.
pub(crate) struct Expected<'a> {
    /// Its step.
    pub steps: &'a [Step],
    /// The identity that shares may be encrypted for.
    pub reader: Option<&'a Identity>,
}

impl<F: CollectiveFamily> Collected<F> {
    /// # Errors
    /// [`PartiesError::OutOfRange`] for the members; [`PartiesError::Windlass`] for a ciphertext of another key pair.
    pub fn new(
        agreement: &Agreement<F>,
        ciphertext: &F::Ciphertext,
        members: &[u32],
        (header, layout): (Vec<u8>, (Basis, usize)),
    ) -> Result<Self> {
        check_members(agreement, members)?;
        windlass_rlwe::check_same_keys("decrypt with several parties", agreement.key_id(), F::key_id(ciphertext))?;
        let (agreement, members) = (agreement.clone(), members.to_vec());
        Ok(Self { agreement, members, header, layout, senders: Senders::default(), shares: Vec::new() })
    }

    pub fn agreement(&self) -> &Agreement<F> {
        &self.agreement
    }

    /// Takes a message, if it is a share that is expected. On an error nothing has changed.
    pub fn receive(&mut self, message: &[u8], expected: &Expected<'_>) -> Result<Receipt> {
        let agreement = &self.agreement;
        let envelope = read(agreement, message)?;
        if !expected.steps.contains(&envelope.step) {
            return Ok(Receipt::NotNeeded);
        }
        let receipt = self.senders.check(agreement, (envelope.from, envelope.step), &envelope.digest)?;
        if receipt != Receipt::New {
            return Ok(receipt);
        }
        let opened: Option<Zeroizing<Vec<u8>>> = match (envelope.to, expected.reader) {
            (0, _) => None,
            (_, Some(identity)) => Some(envelope.opened(agreement, identity)?),
            (to, None) => return Err(PartiesError::NotForYou { to: agreement.name_of(to) }),
        };
        let body = opened.as_ref().map_or(envelope.body, |body| body.as_slice());
        let mut fields = FieldReader::new(body);
        let length = self.header.len().min(body.len());
        if fields.bytes(length, WHAT)? != self.header || !self.members.contains(&envelope.from) {
            return Err(PartiesError::OtherReading { from: agreement.name_of(envelope.from) });
        }
        let (basis, count) = &self.layout;
        let polys = read_polys(agreement.common().context(), (basis, *count), &mut fields)?;
        fields.finish(WHAT)?;
        self.shares.push(polys);
        self.senders.0.insert(envelope.from, envelope.digest);
        Ok(receipt)
    }

    /// The names of the members whose shares are missing.
    pub fn missing(&self) -> Vec<String> {
        let have = self.senders.numbers();
        self.agreement.names_of(self.members.iter().copied().filter(|number| !have.contains(number)))
    }

    /// The shares of all members.
    ///
    /// # Errors
    /// [`PartiesError::Missing`].
    pub fn all(&self, step: Step) -> Result<&[Vec<Poly<Eval>>]> {
        match self.missing() {
            missing if missing.is_empty() => Ok(&self.shares),
            from => Err(PartiesError::Missing { step, from }),
        }
    }

    pub fn debug(&self, name: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let have = self.senders.numbers();
        f.debug_struct(name).field("members", &self.members).field("have", &have).finish_non_exhaustive()
    }
}

const WHAT: &str = "share of a decryption or hand-over";
