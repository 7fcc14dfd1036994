//! Messages between parties: signed, and encrypted where they are secret.
//!
//! A message is a container of kind [`Kind::PartyMessage`]. Its payload, integers little-endian:
//!
//! | bytes | field |
//! |---|---|
//! | 32 | digest of the agreement |
//! | 2 | number of the member that sends it |
//! | 2 | number of the member that it is for; 0 for everyone |
//! | 1 | step |
//! | 16 | which beginning of the member it belongs to: other bytes each time that it joins |
//! | L | body, encrypted for the member that it is for if there is one; a share of a key begins with its place, 2 bytes |
//! | 64 | signature (Ed25519) of SHA-256 of all that stands before |

use sha2::{Digest, Sha256};
use windlass::bootstrap::BootstrapShare;
use windlass::wire::{self, Expected, FieldReader, FieldWriter, FileContext, Kind, Label, WireError};
use windlass_ring::{Basis, Eval, Poly};
use windlass_rlwe::Context;
use windlass_rlwe::collective::{KeyName, KeyShare, Stage};
use zeroize::Zeroizing;

use crate::agreement::Agreement;
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::identity::{Identity, is_signed, seal};
use crate::sizes::{AROUND, longest_body};
use crate::step::Step;

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// It was taken.
    New,
    /// The same message had been taken before.
    Again,
    /// It is not one that is needed here: from this party itself, for another, or of another step.
    NotNeeded,
}

/// A message whose signature was checked.
pub(crate) struct Envelope<'a> {
    pub from: u32,
    pub to: u32,
    pub step: Step,
    pub join: JoinId,
    pub body: &'a [u8],
    /// SHA-256 of all that was signed.
    pub digest: [u8; 32],
}

/// Names one beginning of a member: follows from its secret, and says nothing of it.
pub(crate) type JoinId = [u8; 16];

/// The share of the keys of a refresh in a body, by its place in the agreement.
pub(crate) fn read_refresh_share<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    place: usize,
    fields: &mut FieldReader<'_>,
) -> Result<BootstrapShare> {
    let (common, plan) = (agreement.common(), &*agreement.refreshes()[place]);
    let layout = BootstrapShare::layout(plan, common);
    let poly = |basis: &Basis| Ok(wire::read_poly(common.context(), basis, fields, "share")?);
    let polys = layout.iter().map(poly).collect::<Result<Vec<_>>>()?;
    let share = BootstrapShare::from_polys(plan, common, polys);
    Ok(share.ok_or(WireError::Malformed { what: "share of bootstrapping keys" })?)
}

/// What encryption binds a body to.
fn about<F: CollectiveFamily>(agreement: &Agreement<F>, from: u32, to: u32, step: Step) -> Vec<u8> {
    let mut about = agreement.digest().to_vec();
    about.extend_from_slice(&from.to_le_bytes());
    about.extend_from_slice(&to.to_le_bytes());
    about.push(step.code());
    about
}

/// The bytes of a message to everyone (0), or encrypted for one member.
pub(crate) fn write<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    identity: &Identity,
    (from, to, step): (u32, u32, Step),
    join: &JoinId,
    body: &[u8],
) -> Result<Vec<u8>> {
    let mut out = FieldWriter::with_capacity(body.len() + AROUND + 64);
    out.bytes(agreement.digest());
    out.u16(from as u16);
    out.u16(to as u16);
    out.bytes(&[step.code()]);
    out.bytes(join);
    match to {
        0 => out.bytes(body),
        to => {
            let recipient = &agreement.members()[to as usize - 1].identity;
            out.bytes(&seal(recipient, body, &about(agreement, from, to, step))?);
        }
    }
    let mut payload = out.finish();
    let signature = identity.sign(&Sha256::digest(&payload).into());
    payload.extend_from_slice(&signature);
    let context = *F::files(agreement.context()).hash();
    Ok(wire::seal(&Label { kind: Kind::PartyMessage, context, key: agreement.key_id() }, &payload))
}

/// A message of a member of the agreement, as its signature shows.
pub(crate) fn read<'a, F: CollectiveFamily>(agreement: &Agreement<F>, bytes: &'a [u8]) -> Result<Envelope<'a>> {
    const WHAT: &str = "message of a party";
    let context = *F::files(agreement.context()).hash();
    let limit = longest_body(agreement) + AROUND as u64;
    let expected = Expected { kind: Kind::PartyMessage, context, key: None, limit };
    let (key, payload) = wire::open(bytes, &expected)?;
    let malformed = || WireError::Malformed { what: WHAT };
    let (signed, signature) = payload.split_last_chunk::<64>().ok_or_else(malformed)?;
    let mut fields = FieldReader::new(signed);
    let of: [u8; 32] = fields.array(WHAT)?;
    if of != *agreement.digest() || key != agreement.key_id() {
        return Err(PartiesError::OtherAgreement { what: "message" });
    }
    let (from, to) = (u32::from(fields.u16(WHAT)?), u32::from(fields.u16(WHAT)?));
    let [code] = fields.array::<1>(WHAT)?;
    let step = Step::ALL.into_iter().find(|step| step.code() == code).ok_or_else(malformed)?;
    let join = fields.array(WHAT)?;
    let parties = agreement.common().parties();
    let may_be_for_one = matches!(step, Step::Dealt | Step::Decryption | Step::Masked);
    let may_be_for_all = !matches!(step, Step::Dealt | Step::Masked);
    let is_for_its_reader = if to == 0 { may_be_for_all } else { may_be_for_one };
    if from == 0 || from > parties || to > parties || !is_for_its_reader {
        return Err(malformed().into());
    }
    let digest = Sha256::digest(signed).into();
    if !is_signed(&agreement.members()[from as usize - 1].identity, &digest, signature) {
        return Err(PartiesError::Forged { from: agreement.name_of(from) });
    }
    Ok(Envelope { from, to, step, join, body: &signed[AROUND - 64..], digest })
}

impl Envelope<'_> {
    /// The body of a message that is encrypted for the holder of this identity.
    pub(crate) fn opened<F: CollectiveFamily>(
        &self,
        agreement: &Agreement<F>,
        identity: &Identity,
    ) -> Result<Zeroizing<Vec<u8>>> {
        if agreement.number_of(&identity.public()) != Some(self.to) {
            return Err(PartiesError::NotForYou { to: agreement.name_of(self.to) });
        }
        let about = about(agreement, self.from, self.to, self.step);
        let plain = identity.open(self.body, &about);
        plain.ok_or_else(|| PartiesError::Unreadable { from: agreement.name_of(self.from) })
    }
}

/// The polynomials of shares, one after the other.
pub(crate) fn write_polys<'a>(polys: impl IntoIterator<Item = &'a Poly<Eval>>) -> Zeroizing<Vec<u8>> {
    let polys: Vec<_> = polys.into_iter().collect();
    // All room at once: growing would leave copies of what may be secret behind.
    let bytes = polys.iter().map(|poly| poly.bytes()).sum();
    let mut out = FieldWriter::with_capacity(bytes);
    polys.iter().for_each(|poly| wire::write_poly(&mut out, poly));
    Zeroizing::new(out.finish())
}

/// So many polynomials over a basis.
pub(crate) fn read_polys(
    context: &Context,
    (basis, count): (&Basis, usize),
    fields: &mut FieldReader<'_>,
) -> Result<Vec<Poly<Eval>>> {
    (0..count).map(|_| Ok(wire::read_poly(context, basis, fields, "share")?)).collect()
}

/// The share of a key in a body.
pub(crate) fn read_share<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    (name, stage): (KeyName, Stage),
    fields: &mut FieldReader<'_>,
) -> Result<KeyShare> {
    let common = agreement.common();
    let (basis, count) = KeyShare::layout(common, name, stage)?;
    let polys = read_polys(common.context(), (&basis, count), fields)?;
    Ok(KeyShare::from_polys(common, name, stage, polys)?)
}

#[cfg(test)]
mod tests {
    use windlass::{Context, Params, Scheme};

    use super::*;

    fn agreement(identities: &[Identity]) -> Agreement {
        let params = Params::preset("insecure_toy_256", Scheme::Bgv).unwrap().with_parties(3).unwrap();
        let context = Context::from_params(params).unwrap();
        let members = identities.iter().zip(["Ada", "Ben", "Cleo"]).map(|(own, name)| own.member(name)).collect();
        Agreement::new(&context, members, 2, &[]).unwrap()
    }

    #[test]
    fn no_member_speaks_or_reads_for_another() {
        let identities = [(); 3].map(|()| Identity::generate().unwrap());
        let agreement = agreement(&identities);
        let body = b"a body";
        let as_ben = write(&agreement, &identities[2], (2, 0, Step::Keys), &[0; 16], body).unwrap();
        assert!(matches!(read(&agreement, &as_ben), Err(PartiesError::Forged { from }) if from == "Ben"));
        let for_ada = write(&agreement, &identities[1], (2, 1, Step::Dealt), &[0; 16], body).unwrap();
        let envelope = read(&agreement, &for_ada).unwrap();
        assert_eq!(envelope.opened(&agreement, &identities[0]).unwrap().as_slice(), body);
        let refused = envelope.opened(&agreement, &identities[2]);
        assert!(matches!(refused, Err(PartiesError::NotForYou { to }) if to == "Ada"));
        // What Ben encrypted for Ada, sent on by Cleo as a message of her own, and for Cleo.
        let mut redirected = FieldWriter::with_capacity(200);
        redirected.bytes(agreement.digest());
        redirected.u16(3);
        redirected.u16(1);
        redirected.bytes(&[Step::Dealt.code()]);
        redirected.bytes(&[0; 16]);
        redirected.bytes(envelope.body);
        let mut payload = redirected.finish();
        let signature = identities[2].sign(&Sha256::digest(&payload).into());
        payload.extend_from_slice(&signature);
        let context = *windlass::wire::FileContext::hash(agreement.context().files());
        let bytes = wire::seal(&Label { kind: Kind::PartyMessage, context, key: agreement.key_id() }, &payload);
        let sent_on = read(&agreement, &bytes).unwrap();
        let refused = sent_on.opened(&agreement, &identities[0]);
        assert!(matches!(refused, Err(PartiesError::Unreadable { from }) if from == "Cleo"));
        // Steps that are for everyone, or for one.
        for (to, step) in [(1, Step::Keys), (0, Step::Dealt), (0, Step::Masked), (1, Step::Switch), (1, Step::Second)] {
            let bytes = write(&agreement, &identities[1], (2, to, step), &[0; 16], body).unwrap();
            assert!(matches!(read(&agreement, &bytes), Err(PartiesError::Wire(_))), "{step} for {to}");
        }
    }
}
