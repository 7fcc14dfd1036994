//! One party: its secret, its messages, and its part in decryptions.

use std::sync::Arc;

use rand_core::RngCore;
use sha2::{Digest, Sha256};
use windlass::bootstrap::BootstrapShare;
use windlass::schemes::Ciphertext;
use windlass::schemes::collective::Holder;
use windlass::wire::{FieldReader, FieldWriter};
use windlass::{Exact, Plaintext};
use windlass_ring::slots::SlotRing;
use windlass_ring::{Eval, Poly};
use windlass_rlwe::collective::{DealtShare, KeySum, SecretShare, Stage, ThresholdShare, deal};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Limits, PublicKey};

use crate::agreement::Agreement;
use crate::assembly::{Joins, Senders, add_to};
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::header::{check_members, header, target_digest};
use crate::identity::Identity;
use crate::mask::{Masked, mask};
use crate::message::{JoinId, Receipt, read, read_polys, read_share, write, write_polys};
use crate::sizes::{Part, parts};
use crate::step::Step;

/// A party of an agreement: a state machine without a network. Its shares of keys follow from its state, so that it can
/// be asked again, also after a restart from [`Self::to_bytes`]. Shares of decryptions have fresh noise each time, and
/// count each time.
///
/// **Warning.** Keep one state, and keep the newest: a party that goes back to an old one forgets how many decryptions
/// it has taken part in.
pub struct Party<F: CollectiveFamily = Exact> {
    pub(crate) agreement: Agreement<F>,
    pub(crate) identity: Identity,
    pub(crate) number: u32,
    pub(crate) secret: SecretShare,
    /// Which beginnings of the others its messages belong to.
    pub(crate) joins: Joins,
    /// The first shares of the relinearisation key.
    pub(crate) first: (Senders, Option<KeySum>),
    /// What was dealt to this party.
    pub(crate) dealt: (Senders, Option<DealtShare>),
    pub(crate) decryptions: u32,
}

impl<F: CollectiveFamily> std::fmt::Debug for Party<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.agreement.name_of(self.number);
        f.debug_struct("Party").field("name", &name).field("decryptions", &self.decryptions).finish_non_exhaustive()
    }
}

impl<F: CollectiveFamily> Party<F> {
    /// Takes part in an agreement with a fresh secret. The digest of the agreement ([`Agreement::digest`]) should have
    /// been compared with that of the others.
    ///
    /// # Errors
    /// [`PartiesError::NoMember`] if the identity is not among the members; [`PartiesError::Windlass`] without
    /// randomness.
    pub fn join(agreement: &Agreement<F>, identity: &Identity) -> Result<Self> {
        let number = agreement.number_of(&identity.public()).ok_or(PartiesError::NoMember)?;
        let secret = SecretShare::generate(agreement.common(), &mut os_rng()?);
        let (joins, first, dealt) = Default::default();
        let mut party = Self {
            agreement: agreement.clone(),
            identity: identity.copy(),
            number,
            secret,
            joins,
            first,
            dealt,
            decryptions: 0,
        };
        party.take_own()?;
        Ok(party)
    }

    /// Its own shares, which it keeps.
    fn take_own(&mut self) -> Result<()> {
        if let Some(name) = self.agreement.relinearisation() {
            self.first.1 = Some(KeySum::of(self.secret.first(name)?));
            self.first.0.0.insert(self.number, [0; 32]);
        }
        if self.agreement.deals() {
            let own = deal(&self.secret, self.agreement.threshold())?.swap_remove(self.number as usize - 1);
            self.dealt.1 = Some(own);
            self.dealt.0.0.insert(self.number, [0; 32]);
        }
        Ok(())
    }

    /// The agreement.
    pub fn agreement(&self) -> &Agreement<F> {
        &self.agreement
    }

    /// The number of this party, from 1 on.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many decryptions it has taken part in.
    pub fn decryptions(&self) -> u32 {
        self.decryptions
    }

    /// Names this beginning: a member that joins again has another secret.
    fn join_id(&self) -> JoinId {
        let mut id = JoinId::default();
        self.secret.derived("windlass beginning of a party 1", &[]).fill_bytes(&mut id);
        id
    }

    pub(crate) fn message(&self, to: u32, step: Step, body: &[u8]) -> Result<Vec<u8>> {
        write(&self.agreement, &self.identity, (self.number, to, step), &self.join_id(), body)
    }

    /// What this party sends first: a share of each key for everyone, and a dealt share for each other member where not
    /// all are needed to decrypt. All messages at once: [`Self::opening_messages`] makes one after the other.
    ///
    /// Cost: that of making the keys alone, with twice the work for the relinearisation key.
    ///
    /// # Errors
    /// None, for a party that [`Self::join`] or [`Self::from_bytes`] made.
    pub fn opening(&self) -> Result<Vec<Vec<u8>>> {
        self.opening_messages().collect()
    }

    /// The messages of [`Self::opening`], each made when it is asked for: in memory is one share of one key. They come in
    /// the order of [`Agreement::key_message_bytes`], then that of the relinearisation key, then the dealt shares.
    pub fn opening_messages(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        let keys = (0..).zip(parts(&self.agreement)).map(|(place, part)| self.key_message(place, part));
        let first = self.agreement.relinearisation().into_iter().map(|name| {
            let share = self.secret.first(name)?;
            self.message(0, Step::First, &write_polys(share.polys()))
        });
        let deals = std::iter::once(()).filter(|()| self.agreement.deals());
        keys.chain(first).chain(deals.flat_map(|()| self.dealt_messages()))
    }

    /// The message with this party's share of a key.
    fn key_message(&self, place: u16, part: Part) -> Result<Vec<u8>> {
        let share = match part {
            Part::Key(name) => write_polys(self.secret.first(name)?.polys()),
            Part::Refresh(place) => {
                let plan = &*self.agreement.refreshes()[place];
                write_polys(BootstrapShare::generate(plan, &self.secret)?.polys())
            }
        };
        let mut body = FieldWriter::with_capacity(2 + share.len());
        body.u16(place);
        body.bytes(&share);
        self.message(0, Step::Keys, &body.finish())
    }

    /// The messages with what is dealt to the others.
    fn dealt_messages(&self) -> Box<dyn Iterator<Item = Result<Vec<u8>>> + '_> {
        let dealt = match deal(&self.secret, self.agreement.threshold()) {
            Ok(dealt) => dealt,
            Err(error) => return Box::new(std::iter::once(Err(error.into()))),
        };
        let others = dealt.into_iter().zip(1..).filter(|(_, to)| *to != self.number);
        Box::new(others.map(|(share, to)| self.message(to, Step::Dealt, &write_polys([share.expose_poly()]))))
    }

    /// Takes a message of another member, in any order. What is not for this party is not needed, and left alone.
    ///
    /// # Errors
    /// [`PartiesError::OtherAgreement`], [`PartiesError::Forged`], [`PartiesError::Conflict`],
    /// [`PartiesError::Unreadable`]; those of reading files. Then nothing has changed.
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        let agreement = self.agreement.clone();
        let envelope = read(&agreement, message)?;
        let who = (envelope.from, envelope.step);
        let needed = match envelope.step {
            Step::First => agreement.relinearises(),
            Step::Dealt => envelope.to == self.number,
            _ => false,
        };
        if envelope.from != self.number {
            self.joins.check(&agreement, &envelope)?;
        }
        if !needed || envelope.from == self.number {
            return Ok(Receipt::NotNeeded);
        }
        let context = agreement.common().context();
        match (envelope.step, agreement.relinearisation()) {
            (Step::First, Some(name)) => {
                let receipt = self.first.0.check(&agreement, who, &envelope.digest)?;
                if receipt != Receipt::New {
                    return Ok(receipt);
                }
                let mut fields = FieldReader::new(envelope.body);
                let share = read_share(&agreement, (name, Stage::First), &mut fields)?;
                fields.finish("first share")?;
                add_to(&mut self.first.1, share)?;
                self.first.0.0.insert(envelope.from, envelope.digest);
                self.joins.note(&envelope);
            }
            _ => {
                let body = envelope.opened(&agreement, &self.identity)?;
                // What is encrypted again differs in all bytes, but not in what it holds.
                let digest = Sha256::digest(&*body).into();
                let receipt = self.dealt.0.check(&agreement, who, &digest)?;
                if receipt != Receipt::New {
                    return Ok(receipt);
                }
                let mut fields = FieldReader::new(&body);
                let basis = context.base_qp(context.top_level());
                let poly = read_polys(context, (&basis, 1), &mut fields)?.swap_remove(0);
                // Wiped, whatever becomes of it.
                let share = DealtShare::from_poly(agreement.common(), poly)?;
                fields.finish("dealt share")?;
                match &mut self.dealt.1 {
                    Some(sum) => sum.add(&share)?,
                    None => self.dealt.1 = Some(share),
                }
                self.dealt.0.0.insert(envelope.from, digest);
                self.joins.note(&envelope);
            }
        }
        Ok(Receipt::New)
    }

    /// The members from whom this party still needs a message of a step.
    pub fn missing(&self, step: Step) -> Vec<String> {
        let agreement = &self.agreement;
        let senders = match step {
            Step::First if agreement.relinearises() => &self.first.0,
            Step::Dealt if agreement.deals() => &self.dealt.0,
            _ => return Vec::new(),
        };
        agreement.names_of(agreement.others_than(&senders.numbers()))
    }

    /// What this party sends when it has the first shares of all: its second share of the relinearisation key; nothing
    /// for an agreement without that key.
    ///
    /// **Warning.** Save the state before the message leaves. A party that goes back to a state from before it had all
    /// first shares, and is then given another one, makes a second share from another sum: from both, the member whose
    /// first share changed computes the secret of this party.
    ///
    /// # Errors
    /// [`PartiesError::Missing`].
    pub fn closing(&self) -> Result<Vec<Vec<u8>>> {
        let (senders, sum) = &self.first;
        let Some(sum) = sum else { return Ok(Vec::new()) };
        senders.check_complete(&self.agreement, Step::First)?;
        let share = self.secret.second(sum)?;
        let mut body = FieldWriter::with_capacity(32);
        body.bytes(&sum.digest());
        let mut body = body.finish();
        body.extend_from_slice(&write_polys(share.polys()));
        Ok(vec![self.message(0, Step::Second, &body)?])
    }

    /// This party's share of the decryption of a ciphertext, together with exactly these members (numbers, ascending).
    /// With a reader it is encrypted for that member, who alone can read the values then. Without one, anyone who
    /// collects all shares can.
    ///
    /// Every call counts as a decryption. Save the state before the message leaves.
    ///
    /// **Warning.** A party that decrypts what others ask for reveals what they ask for: it must know what the
    /// ciphertext is, and that its noise bound is honest.
    ///
    /// # Errors
    /// [`PartiesError::Spent`]; [`PartiesError::OutOfRange`] for the members or the reader; [`PartiesError::Missing`]
    /// before all shares are dealt; [`windlass::Error::CapacityExhausted`] and
    /// [`windlass::Error::PrecisionExhausted`] if the noise of the shares does not fit;
    /// [`windlass::Error::OtherKeyPair`]. Then it does not count.
    pub fn decrypt(&mut self, ciphertext: &F::Ciphertext, members: &[u32], reader: Option<u32>) -> Result<Vec<u8>> {
        if let Some(reader) = reader {
            Limits::between(1, self.agreement.common().parties()).check("the number of the reader", reader)?;
        }
        self.share_of(ciphertext, members, |party, holder| {
            let agreement = &party.agreement;
            let plan = F::plan(agreement.context(), ciphertext, (agreement.planned(), agreement.threshold()))?;
            let mut share = F::share(&plan, holder, &mut os_rng()?)?;
            let mut body = header(agreement, ciphertext, members, (share.basis(), F::noise_bits(&plan)))?;
            party.mask(Step::Decryption, members, &body, std::slice::from_mut(&mut share))?;
            body.extend_from_slice(&write_polys([&share]));
            party.message(reader.unwrap_or(0), Step::Decryption, &body)
        })
    }

    /// This party's share of a switch of a ciphertext to the public key of someone outside, together with exactly these
    /// members: instead of values they make a ciphertext that only the holder of that key reads
    /// ([`crate::Handover`]). The key must have been made in the context of the agreement.
    ///
    /// It counts as a decryption, and the same warnings hold. **Warning.** Whose key it is must be known from elsewhere.
    ///
    /// # Errors
    /// As [`Self::decrypt`]; [`windlass::Error::ContextMismatch`] for a public key of other parameters.
    pub fn switch(&mut self, ciphertext: &F::Ciphertext, members: &[u32], target: &Arc<PublicKey>) -> Result<Vec<u8>> {
        self.share_of(ciphertext, members, |party, holder| {
            let agreement = &party.agreement;
            let publication = (agreement.planned(), agreement.threshold());
            let (plan, basis, bits) = F::plan_switch(agreement.context(), ciphertext, publication, target)?;
            let mut share = F::switching_share(&plan, holder, &mut os_rng()?)?;
            let mut body = header(agreement, ciphertext, members, (&basis, bits))?;
            body.extend_from_slice(&target_digest(agreement, target)?);
            party.mask(Step::Switch, members, &body, &mut share)?;
            body.extend_from_slice(&write_polys(&share));
            party.message(0, Step::Switch, &body)
        })
    }

    /// Adds this party's part of a sharing of zero among the members that take part.
    pub(crate) fn mask(&self, step: Step, members: &[u32], about: &[u8], share: &mut [Poly<Eval>]) -> Result<()> {
        let masked = Masked { step, number: self.number, members, about };
        mask(&self.agreement, &self.identity, &masked, share)
    }

    /// What `make` gives for this party's part of the secret, which counts as a decryption.
    pub(crate) fn share_of<T>(
        &mut self,
        ciphertext: &F::Ciphertext,
        members: &[u32],
        make: impl FnOnce(&Self, &Holder<'_>) -> Result<T>,
    ) -> Result<T> {
        let agreement = &self.agreement;
        let most = agreement.publication().decryptions;
        if self.decryptions >= most {
            return Err(PartiesError::Spent { most });
        }
        check_members(agreement, members)?;
        if !members.contains(&self.number) {
            let limits = Limits::only("one of the members that decrypt");
            return Err(limits.refuse("the number of this party", self.number).into());
        }
        windlass_rlwe::check_same_keys("decrypt with several parties", agreement.key_id(), F::key_id(ciphertext))?;
        let made = if agreement.deals() {
            self.dealt.0.check_complete(agreement, Step::Dealt)?;
            let Some(sum) = &self.dealt.1 else {
                return Err(PartiesError::Missing { step: Step::Dealt, from: self.missing(Step::Dealt) });
            };
            let (common, threshold) = (agreement.common(), agreement.threshold());
            let sum = DealtShare::from_poly(common, sum.expose_poly().clone())?;
            let own = ThresholdShare::of_sum(self.number, threshold, sum)?;
            make(self, &Holder::Threshold { share: &own, participants: members })?
        } else {
            make(self, &Holder::All(&self.secret))?
        };
        self.decryptions += 1;
        Ok(made)
    }
}

impl Party {
    /// As [`Self::decrypt`] for a reader, with a mask: the reader is left with an additive share of the values modulo
    /// p^r, and this party with the mask. All members but the reader call this, the reader [`Self::decrypt`], and
    /// [`crate::Reading::of_share`] adds up. The sum of all shares is what was encrypted. To come back each member
    /// encrypts its share, and anyone adds them up.
    ///
    /// The mask follows from the state, the ciphertext, the members and the reader: a party that is asked again has the
    /// same share.
    ///
    /// **Warning.** Do this once for a ciphertext. A party that also decrypts it reveals its share, and two readers of one
    /// ciphertext together learn the difference of its shares.
    ///
    /// # Errors
    /// As there; [`PartiesError::OutOfRange`] for this party as the reader.
    pub fn decrypt_to_share(
        &mut self,
        ciphertext: &Ciphertext,
        members: &[u32],
        reader: u32,
    ) -> Result<(Vec<u8>, Plaintext)> {
        Limits::between(1, self.agreement.common().parties()).check("the number of the reader", reader)?;
        if reader == self.number {
            let limits = Limits::only("another member, who is left with the last share");
            return Err(limits.refuse("the number of the reader", reader).into());
        }
        self.share_of(ciphertext, members, |party, holder| {
            let agreement = &party.agreement;
            let publication = (agreement.planned(), agreement.threshold());
            let plan = Exact::plan(agreement.context(), ciphertext, publication)?;
            let mut rng = os_rng()?;
            let basis = Exact::basis(agreement.context(), &plan);
            let mut body = header(agreement, ciphertext, members, (&basis, Exact::noise_bits(&plan)))?;
            let ring = agreement.context().slot_ring().lower(ciphertext.exponent()).map_err(windlass::Error::from)?;
            let purpose = [&body[..], &reader.to_le_bytes()].concat();
            let mask = uniform(&ring, &mut party.secret.derived("windlass additive share 1", &purpose))?;
            let mut share = plan.masked_share(holder, &mask, &mut rng)?;
            party.mask(Step::Decryption, members, &body, std::slice::from_mut(&mut share))?;
            body.extend_from_slice(&write_polys([&share]));
            Ok((party.message(reader, Step::Masked, &body)?, mask))
        })
    }
}

/// A uniform element of the plaintext ring: candidates of as many bits as p^r has, those below it.
fn uniform(ring: &Arc<SlotRing>, rng: &mut impl RngCore) -> Result<Plaintext> {
    let t = ring.modulus().value();
    let mask = t.next_power_of_two() - 1;
    let mut candidates = std::iter::repeat_with(|| rng.next_u64() & mask).filter(|&x| x < t);
    let residues = candidates.by_ref().take(ring.n()).collect();
    Ok(Plaintext::new(ring, residues)?)
}
