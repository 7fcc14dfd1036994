//! The state of a party as bytes.

use std::collections::BTreeMap;

use windlass::wire::{self, Expected, FieldReader, FieldWriter, FileContext, Kind, Label, WireError, poly_len};
use windlass_rlwe::collective::{DealtShare, KeyShare, KeySum, SecretShare, Stage};
use zeroize::Zeroizing;

use crate::agreement::Agreement;
use crate::assembly::{Joins, Senders};
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::identity::Identity;
use crate::message::read_polys;
use crate::party::Party;

/// Coefficients of a secret are −1, 0 and 1.
const TERNARY: u64 = 3;
const WHAT: &str = "state of a party";

fn write_senders(out: &mut FieldWriter, senders: &Senders) {
    out.u16(senders.0.len() as u16);
    for (number, digest) in &senders.0 {
        out.u16(*number as u16);
        out.bytes(digest);
    }
}

fn read_senders(fields: &mut FieldReader<'_>, parties: u32) -> Result<Senders> {
    let malformed = WireError::Malformed { what: WHAT };
    let mut senders = Senders::default();
    for _ in 0..fields.u16(WHAT)? {
        let number = u32::from(fields.u16(WHAT)?);
        let digest = fields.array(WHAT)?;
        let last = senders.0.keys().next_back().copied().unwrap_or(0);
        if number <= last || number > parties {
            return Err(malformed.into());
        }
        senders.0.insert(number, digest);
    }
    Ok(senders)
}

fn write_joins(out: &mut FieldWriter, joins: &Joins) {
    out.u16(joins.0.len() as u16);
    for (number, join) in &joins.0 {
        out.u16(*number as u16);
        out.bytes(join);
    }
}

fn read_joins(fields: &mut FieldReader<'_>, parties: u32) -> Result<Joins> {
    let mut joins = Joins::default();
    for _ in 0..fields.u16(WHAT)? {
        let number = u32::from(fields.u16(WHAT)?);
        let join = fields.array(WHAT)?;
        let last = joins.0.keys().next_back().copied().unwrap_or(0);
        if number <= last || number > parties {
            return Err(WireError::Malformed { what: WHAT }.into());
        }
        joins.0.insert(number, join);
    }
    Ok(joins)
}

/// What stands first in a state: the digest of the agreement, the number of the member, its decryptions.
fn read_header(fields: &mut FieldReader<'_>) -> Result<([u8; 32], u32, u32)> {
    Ok((fields.array(WHAT)?, u32::from(fields.u16(WHAT)?), fields.u32(WHAT)?))
}

/// What a party took from the others.
struct Received {
    joins: Joins,
    first: (Senders, Option<KeySum>),
    dealt: (Senders, Option<DealtShare>),
}

fn read_received<F: CollectiveFamily>(agreement: &Agreement<F>, fields: &mut FieldReader<'_>) -> Result<Received> {
    let (common, context) = (agreement.common(), agreement.common().context());
    let joins = read_joins(fields, common.parties())?;
    let first = read_senders(fields, common.parties())?;
    let sum = match (agreement.relinearisation(), first.0.len() as u32) {
        (Some(name), added @ 1..) => {
            let (basis, count) = KeyShare::layout(common, name, Stage::First)?;
            let polys = read_polys(context, (&basis, count), fields)?;
            Some(KeySum::from_polys(common, (name, Stage::First), added, polys)?)
        }
        (None, 0) => None,
        _ => return Err(WireError::Malformed { what: WHAT }.into()),
    };
    let dealt = read_senders(fields, common.parties())?;
    let share = match (agreement.deals(), dealt.0.is_empty()) {
        (true, false) => {
            let basis = context.base_qp(context.top_level());
            let poly = read_polys(context, (&basis, 1), fields)?.swap_remove(0);
            Some(DealtShare::from_poly(common, poly)?)
        }
        (false, true) => None,
        _ => return Err(WireError::Malformed { what: WHAT }.into()),
    };
    Ok(Received { joins, first: (first, sum), dealt: (dealt, share) })
}

/// Whether all entries of one map are in another.
fn contains<V: PartialEq>(all: &BTreeMap<u32, V>, some: &BTreeMap<u32, V>) -> bool {
    some.iter().all(|(number, value)| all.get(number) == Some(value))
}

/// The longest state.
fn limit<F: CollectiveFamily>(agreement: &Agreement<F>) -> u64 {
    let (common, context) = (agreement.common(), agreement.common().context());
    let first = agreement.relinearisation().and_then(|name| KeyShare::layout(common, name, Stage::First).ok());
    let first = first.map_or(0, |(basis, count)| count * poly_len(context, &basis));
    let dealt = poly_len(context, &context.base_qp(context.top_level()));
    (first + dealt + context.params().n() + 86 * common.parties() as usize + 256) as u64
}

impl<F: CollectiveFamily> Party<F> {
    /// The state of this party, its secret among it. **Secret**: keep the bytes as a secret key. The identity is kept
    /// apart from it.
    ///
    /// # Errors
    /// None.
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        let agreement = &self.agreement;
        let (coefficients, errors) = self.secret.expose_parts();
        // All room at once: growing would leave copies behind.
        let mut out = FieldWriter::with_capacity(limit(agreement) as usize);
        out.bytes(agreement.digest());
        out.u16(self.number as u16);
        out.u32(self.decryptions);
        let shifted: Zeroizing<Vec<u64>> = Zeroizing::new(coefficients.iter().map(|&c| (c + 1) as u64).collect());
        out.residues(&shifted, TERNARY);
        out.bytes(errors);
        write_joins(&mut out, &self.joins);
        write_senders(&mut out, &self.first.0);
        self.first.1.iter().flat_map(KeySum::polys).for_each(|poly| wire::write_poly(&mut out, poly));
        write_senders(&mut out, &self.dealt.0);
        self.dealt.1.iter().for_each(|share| wire::write_poly(&mut out, share.expose_poly()));
        let payload = Zeroizing::new(out.finish());
        let context = *F::files(agreement.context()).hash();
        let label = Label { kind: Kind::PartyState, context, key: agreement.key_id() };
        Ok(Zeroizing::new(wire::seal(&label, &payload)))
    }

    /// Refuses to replace a state, as [`Self::to_bytes`] gave it, by that of this party: one of another agreement, member
    /// or beginning, one that has counted more decryptions, and one that has taken a message which this party has not: a
    /// party that forgets whose first shares it answered could answer others ([`Self::closing`]).
    ///
    /// Compare and replace under one lock of the file ([`crate::lock_state`]).
    ///
    /// # Errors
    /// [`PartiesError::StateKept`]; those of reading files.
    pub fn check_over(&self, old: &[u8]) -> Result<()> {
        let kept = |reason: &str| Err(PartiesError::StateKept { reason: reason.into() });
        let agreement = &self.agreement;
        let hash = *F::files(agreement.context()).hash();
        let expected = Expected { kind: Kind::PartyState, context: hash, key: None, limit: limit(agreement) };
        let Ok((_, payload)) = wire::open(old, &expected) else {
            return kept("it belongs to another agreement, or is damaged");
        };
        let mut fields = FieldReader::new(payload);
        let (of, number, decryptions) = read_header(&mut fields)?;
        let mut shifted = Zeroizing::new(vec![0; agreement.common().context().params().n()]);
        fields.residues(&mut shifted, TERNARY, WHAT)?;
        let seed: Zeroizing<[u8; 32]> = Zeroizing::new(fields.array(WHAT)?);
        let (coefficients, errors) = self.secret.expose_parts();
        // All are compared: the time depends on nothing.
        let same = shifted.iter().zip(coefficients).fold(true, |same, (&x, &c)| same & (x as i64 - 1 == c));
        let same = seed.iter().zip(errors).fold(same, |same, (x, e)| same & (x == e));
        if of != *agreement.digest() {
            return kept("it belongs to another agreement");
        }
        if number != self.number || !same {
            return kept("it holds another secret, that of another member or of another beginning");
        }
        if decryptions > self.decryptions {
            return kept("it has counted more decryptions");
        }
        let Received { joins, first, dealt } = read_received(agreement, &mut fields)?;
        if !contains(&self.first.0.0, &first.0.0) || !contains(&self.dealt.0.0, &dealt.0.0) {
            return kept("it has taken messages that this party has not");
        }
        if !contains(&self.joins.0, &joins.0) {
            return kept("it knows other beginnings of the members");
        }
        Ok(())
    }

    /// The party of a state that [`Self::to_bytes`] gave.
    ///
    /// # Errors
    /// [`PartiesError::OtherAgreement`]; [`PartiesError::NoMember`] for the identity of another; those of reading files.
    pub fn from_bytes(agreement: &Agreement<F>, identity: &Identity, bytes: &[u8]) -> Result<Self> {
        let common = agreement.common();
        let hash = *F::files(agreement.context()).hash();
        let expected = Expected { kind: Kind::PartyState, context: hash, key: None, limit: limit(agreement) };
        let (key, payload) = wire::open(bytes, &expected)?;
        let mut fields = FieldReader::new(payload);
        let (of, number, decryptions) = read_header(&mut fields)?;
        if of != *agreement.digest() || key != agreement.key_id() {
            return Err(PartiesError::OtherAgreement { what: WHAT });
        }
        let own = agreement.number_of(&identity.public()).ok_or(PartiesError::NoMember)?;
        if own != number {
            return Err(PartiesError::OtherMember { name: agreement.name_of(number) });
        }
        let mut shifted = Zeroizing::new(vec![0; common.context().params().n()]);
        fields.residues(&mut shifted, TERNARY, WHAT)?;
        let coefficients = Zeroizing::new(shifted.iter().map(|&c| c as i64 - 1).collect());
        let errors = Zeroizing::new(fields.array(WHAT)?);
        let secret = SecretShare::from_parts(common, coefficients, errors)?;
        let Received { joins, first, dealt } = read_received(agreement, &mut fields)?;
        fields.finish(WHAT)?;
        let (agreement, identity) = (agreement.clone(), identity.copy());
        Ok(Self { agreement, identity, number, secret, joins, first, dealt, decryptions })
    }
}
