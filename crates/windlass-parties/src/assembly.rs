//! Adding up shares: who sent what, and the keys that follow.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass::Exact;
use windlass::bootstrap::BootstrapShare;
use windlass::wire::{FieldReader, WireError};
use windlass_rlwe::collective::{KeyName, KeySum, Stage};
use windlass_rlwe::{EvaluationKeys, PublicKey};

use crate::agreement::Agreement;
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::message::{Envelope, JoinId, Receipt, read, read_refresh_share, read_share};
use crate::sizes::{Part, parts};
use crate::step::Step;

/// Which members sent a message for one step, and what its digest was.
#[derive(Debug, Clone, Default)]
pub(crate) struct Senders(pub(crate) BTreeMap<u32, [u8; 32]>);

impl Senders {
    /// Whether the message is new; the same one again is not.
    ///
    /// # Errors
    /// [`PartiesError::Conflict`], [`PartiesError::AnotherShare`] for a different one of the same member.
    pub(crate) fn check<F: CollectiveFamily>(
        &self,
        agreement: &Agreement<F>,
        (from, step): (u32, Step),
        digest: &[u8; 32],
    ) -> Result<Receipt> {
        match self.0.get(&from) {
            None => Ok(Receipt::New),
            Some(known) if known == digest => Ok(Receipt::Again),
            Some(_) if matches!(step, Step::Decryption | Step::Switch | Step::Masked) => {
                Err(PartiesError::AnotherShare { from: agreement.name_of(from) })
            }
            Some(_) => Err(PartiesError::Conflict { from: agreement.name_of(from), step }),
        }
    }

    pub(crate) fn numbers(&self) -> BTreeSet<u32> {
        self.0.keys().copied().collect()
    }

    /// # Errors
    /// [`PartiesError::Missing`] unless all members sent one.
    pub(crate) fn check_complete<F: CollectiveFamily>(&self, agreement: &Agreement<F>, step: Step) -> Result<()> {
        match agreement.others_than(&self.numbers()) {
            missing if missing.is_empty() => Ok(()),
            missing => Err(PartiesError::Missing { step, from: agreement.names_of(missing) }),
        }
    }
}

/// Which beginning of each member its messages belong to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Joins(pub(crate) BTreeMap<u32, JoinId>);

impl Joins {
    /// # Errors
    /// [`PartiesError::Conflict`] for a message of another beginning than those before.
    pub(crate) fn check<F: CollectiveFamily>(&self, agreement: &Agreement<F>, envelope: &Envelope<'_>) -> Result<()> {
        match self.0.get(&envelope.from) {
            Some(known) if *known != envelope.join => {
                Err(PartiesError::Conflict { from: agreement.name_of(envelope.from), step: envelope.step })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn note(&mut self, envelope: &Envelope<'_>) {
        self.0.entry(envelope.from).or_insert(envelope.join);
    }
}

/// Adds a share to a sum that may not have begun.
pub(crate) fn add_to(sum: &mut Option<KeySum>, share: windlass_rlwe::collective::KeyShare) -> Result<()> {
    match sum {
        Some(sum) => sum.add(&share)?,
        None => *sum = Some(KeySum::of(share)),
    }
    Ok(())
}

/// Collects the shares of all members and makes the keys. It holds no secret: anyone can run it, a server, a member or
/// all of them.
///
/// Cost: one addition for each residue of each share. Shares are added as they come.
#[derive(Debug)]
pub struct Assembly<F: CollectiveFamily = Exact> {
    agreement: Agreement<F>,
    joins: Joins,
    /// What the messages with shares of keys are of, and who sent each.
    keys: Vec<(Part, Senders)>,
    second: Senders,
    sums: BTreeMap<KeyName, KeySum>,
    relinearisation: Option<KeySum>,
    /// By their places in the agreement.
    refreshes: BTreeMap<usize, BootstrapShare>,
    /// What the members' second shares were made from: the same for all.
    first: Option<(u32, [u8; 32])>,
}

/// The keys of several parties: everything but a secret key.
#[derive(Debug)]
pub struct CollectiveKeys<F: CollectiveFamily = Exact> {
    /// With which anyone encrypts.
    pub public: Arc<PublicKey>,
    /// With which anyone computes.
    pub evaluation: Arc<EvaluationKeys>,
    /// With which anyone refreshes, if the agreement has a bootstrapping or a refresh of CKKS: what
    /// [`windlass::Context::server_from_keys`] takes.
    pub bootstrapping: Vec<(Arc<F::Refresh>, F::RefreshKeys)>,
}

/// Deriving it would ask that plans can be cloned too.
impl<F: CollectiveFamily> Clone for CollectiveKeys<F> {
    fn clone(&self) -> Self {
        let Self { public, evaluation, bootstrapping } = self;
        Self { public: Arc::clone(public), evaluation: Arc::clone(evaluation), bootstrapping: bootstrapping.clone() }
    }
}

impl<F: CollectiveFamily> Assembly<F> {
    /// An assembly that has no share yet.
    pub fn new(agreement: &Agreement<F>) -> Self {
        let agreement = agreement.clone();
        let keys = parts(&agreement).into_iter().map(|part| (part, Senders::default())).collect();
        let second = Senders::default();
        let (sums, joins) = (BTreeMap::new(), Joins::default());
        Self { agreement, joins, keys, second, sums, relinearisation: None, refreshes: BTreeMap::new(), first: None }
    }

    /// Takes a message. Messages of other steps are not needed here, and left alone.
    ///
    /// # Errors
    /// [`PartiesError::OtherAgreement`], [`PartiesError::Forged`], [`PartiesError::Conflict`]; those of reading files.
    /// Then nothing has changed.
    pub fn receive(&mut self, message: &[u8]) -> Result<Receipt> {
        let agreement = self.agreement.clone();
        let envelope = read(&agreement, message)?;
        let who = (envelope.from, envelope.step);
        self.joins.check(&agreement, &envelope)?;
        let mut fields = FieldReader::new(envelope.body);
        match envelope.step {
            Step::Keys => {
                const WHAT: &str = "share of a key";
                let place = usize::from(fields.u16(WHAT)?);
                let (part, senders) = self.keys.get_mut(place).ok_or(WireError::Malformed { what: WHAT })?;
                let receipt = senders.check(&agreement, who, &envelope.digest)?;
                if receipt == Receipt::New {
                    match *part {
                        Part::Key(name) => {
                            let share = read_share(&agreement, (name, Stage::First), &mut fields)?;
                            fields.finish(WHAT)?;
                            match self.sums.entry(name) {
                                Entry::Occupied(mut sum) => sum.get_mut().add(&share)?,
                                Entry::Vacant(place) => drop(place.insert(KeySum::of(share))),
                            }
                        }
                        Part::Refresh(place) => {
                            let share = read_refresh_share(&agreement, place, &mut fields)?;
                            fields.finish(WHAT)?;
                            match self.refreshes.entry(place) {
                                Entry::Occupied(mut sum) => sum.get_mut().add(&share).map_err(windlass::Error::from)?,
                                Entry::Vacant(place) => drop(place.insert(share)),
                            }
                        }
                    }
                    senders.0.insert(envelope.from, envelope.digest);
                    self.joins.note(&envelope);
                }
                Ok(receipt)
            }
            Step::Second => {
                let receipt = self.second.check(&agreement, who, &envelope.digest)?;
                let first: [u8; 32] = fields.array("second share")?;
                if let Some((before, _)) = self.first.filter(|(_, known)| *known != first) {
                    let [from, before] = [envelope.from, before].map(|number| agreement.name_of(number));
                    return Err(PartiesError::Disagreement { from, before });
                }
                if receipt == Receipt::New {
                    let malformed = WireError::Malformed { what: "second share" };
                    let name = agreement.relinearisation().ok_or(malformed)?;
                    let share = read_share(&agreement, (name, Stage::Second), &mut fields)?;
                    fields.finish("second share")?;
                    add_to(&mut self.relinearisation, share)?;
                    self.first.get_or_insert((envelope.from, first));
                    self.second.0.insert(envelope.from, envelope.digest);
                    self.joins.note(&envelope);
                }
                Ok(receipt)
            }
            _ => Ok(Receipt::NotNeeded),
        }
    }

    /// The members whose message for a step is missing; none for steps that are not collected here.
    pub fn missing(&self, step: Step) -> Vec<String> {
        let have = match step {
            Step::Keys => self.sent_keys(),
            Step::Second if self.agreement.relinearises() => self.second.numbers(),
            _ => return Vec::new(),
        };
        self.agreement.names_of(self.agreement.others_than(&have))
    }

    /// The members whose shares of all keys are there.
    fn sent_keys(&self) -> BTreeSet<u32> {
        let all = (1..=self.agreement.common().parties()).collect();
        self.keys.iter().fold(all, |all: BTreeSet<u32>, (_, senders)| &all & &senders.numbers())
    }

    fn check_complete(&self) -> Result<()> {
        let agreement = &self.agreement;
        self.keys.iter().try_for_each(|(_, senders)| senders.check_complete(agreement, Step::Keys))?;
        if agreement.relinearises() { self.second.check_complete(agreement, Step::Second) } else { Ok(()) }
    }

    /// The keys.
    ///
    /// **Warning.** A wrong share of a key is not seen here: only the secrets would tell it from a right one. The first
    /// decryption is refused then ([`windlass::Error::NotDecryptable`]), or gives numbers without meaning for keys that
    /// it did not use; try all keys once on values that are known.
    ///
    /// # Errors
    /// [`PartiesError::Missing`].
    pub fn finish(&self) -> Result<CollectiveKeys<F>> {
        self.check_complete()?;
        let sums = self.sums.values().chain(&self.relinearisation).cloned();
        finished(&self.agreement, sums, self.refreshes.values().cloned())
    }

    /// As [`Self::finish`], without a second copy of the keys: what has been added up becomes the keys.
    ///
    /// # Errors
    /// As there. What has been added up is gone then.
    pub fn into_keys(self) -> Result<CollectiveKeys<F>> {
        self.check_complete()?;
        finished(&self.agreement, self.sums.into_values().chain(self.relinearisation), self.refreshes.into_values())
    }
}

/// The keys of complete sums.
fn finished<F: CollectiveFamily>(
    agreement: &Agreement<F>,
    sums: impl Iterator<Item = KeySum>,
    refreshes: impl Iterator<Item = BootstrapShare>,
) -> Result<CollectiveKeys<F>> {
    let common = agreement.common();
    let mut evaluation = EvaluationKeys::of_pair(common.context(), common.key_id());
    let mut public = None;
    for sum in sums {
        match sum.name() {
            KeyName::Public => public = Some(Arc::new(sum.into_public_key(common)?)),
            _ => sum.insert_into(common, &mut evaluation)?,
        }
    }
    let missing = || PartiesError::Missing { step: Step::Keys, from: agreement.names_of([1]) };
    let refreshes = agreement
        .refreshes()
        .iter()
        .zip(refreshes)
        .map(|(plan, sum)| Ok((Arc::clone(plan), F::refresh_keys(agreement.context(), common, plan, sum)?)));
    let bootstrapping = refreshes.collect::<Result<_>>()?;
    let public = public.ok_or_else(missing)?;
    Ok(CollectiveKeys { public, evaluation: Arc::new(evaluation), bootstrapping })
}
