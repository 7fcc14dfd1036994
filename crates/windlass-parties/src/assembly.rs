//! Adding up shares: who sent what, and the keys that follow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass::Exact;
use windlass::bootstrap::{BootstrapKeys, BootstrapPlan, BootstrapShare};
use windlass::wire::{FieldReader, WireError};
use windlass_rlwe::collective::{KeyName, KeySum, Stage};
use windlass_rlwe::{EvaluationKeys, PublicKey};

use crate::agreement::Agreement;
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::message::{Envelope, JoinId, Receipt, read, read_bootstrap_share, read_share};
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
    keys: Senders,
    second: Senders,
    sums: BTreeMap<KeyName, KeySum>,
    relinearisation: Option<KeySum>,
    bootstrapping: Option<BootstrapShare>,
    /// What the members' second shares were made from: the same for all.
    first: Option<(u32, [u8; 32])>,
}

/// The keys of several parties: everything but a secret key.
#[derive(Debug, Clone)]
pub struct CollectiveKeys {
    /// With which anyone encrypts.
    pub public: Arc<PublicKey>,
    /// With which anyone computes.
    pub evaluation: Arc<EvaluationKeys>,
    /// With which anyone refreshes, if the agreement has a bootstrapping: what
    /// [`windlass::Context::server_from_keys`] takes.
    pub bootstrapping: Vec<(Arc<BootstrapPlan>, BootstrapKeys)>,
}

impl<F: CollectiveFamily> Assembly<F> {
    /// An assembly that has no share yet.
    pub fn new(agreement: &Agreement<F>) -> Self {
        let agreement = agreement.clone();
        let (keys, second) = (Senders::default(), Senders::default());
        let (sums, joins) = (BTreeMap::new(), Joins::default());
        Self { agreement, joins, keys, second, sums, relinearisation: None, bootstrapping: None, first: None }
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
                let receipt = self.keys.check(&agreement, who, &envelope.digest)?;
                if receipt == Receipt::New {
                    let names = agreement.keys().iter().filter(|name| !matches!(name, KeyName::Relinearisation { .. }));
                    let share = |&name| read_share(&agreement, (name, Stage::First), &mut fields);
                    let shares = names.map(share).collect::<Result<Vec<_>>>()?;
                    let refresh = read_bootstrap_share(&agreement, &mut fields)?;
                    fields.finish("shares of keys")?;
                    for share in shares {
                        let mut sum = self.sums.remove(&share.name());
                        let name = share.name();
                        add_to(&mut sum, share)?;
                        self.sums.extend(sum.map(|sum| (name, sum)));
                    }
                    match (&mut self.bootstrapping, refresh) {
                        (Some(sum), Some(share)) => sum.add(&share).map_err(windlass::Error::from)?,
                        (sum, share) => *sum = share,
                    }
                    self.keys.0.insert(envelope.from, envelope.digest);
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
        let senders = match step {
            Step::Keys => &self.keys,
            Step::Second if self.agreement.relinearises() => &self.second,
            _ => return Vec::new(),
        };
        self.agreement.names_of(self.agreement.others_than(&senders.numbers()))
    }

    /// The keys.
    ///
    /// **Warning.** A wrong share of a key is not seen here: only the secrets would tell it from a right one. The first
    /// decryption is refused then ([`windlass::Error::NotDecryptable`]), or gives numbers without meaning for keys that
    /// it did not use; try all keys once on values that are known.
    ///
    /// # Errors
    /// [`PartiesError::Missing`].
    pub fn finish(&self) -> Result<CollectiveKeys> {
        let agreement = &self.agreement;
        self.keys.check_complete(agreement, Step::Keys)?;
        if agreement.relinearises() {
            self.second.check_complete(agreement, Step::Second)?;
        }
        let common = agreement.common();
        let mut evaluation = EvaluationKeys::of_pair(common.context(), common.key_id());
        let mut public = None;
        for sum in self.sums.values().chain(&self.relinearisation).cloned() {
            match sum.name() {
                KeyName::Public => public = Some(Arc::new(sum.into_public_key(common)?)),
                _ => sum.insert_into(common, &mut evaluation)?,
            }
        }
        let missing = || PartiesError::Missing { step: Step::Keys, from: agreement.names_of([1]) };
        let mut bootstrapping = Vec::new();
        if let (Some(plan), Some(sum)) = (agreement.bootstrapping(), self.bootstrapping.clone()) {
            bootstrapping.push((Arc::clone(plan), F::bootstrap_keys(agreement.context(), common, plan, sum)?));
        }
        Ok(CollectiveKeys { public: public.ok_or_else(missing)?, evaluation: Arc::new(evaluation), bootstrapping })
    }
}
