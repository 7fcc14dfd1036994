//! What the parties agree on.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand_core::RngCore;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windlass::needs::{KeyRequest, NeedsKeys};
use windlass::schemes::Publication;
use windlass::wire::{FileContext, from_json, hex};
use windlass::{Context, Exact};
use windlass_rlwe::collective::{Common, KeyName, KeyShare, Stage};
use windlass_rlwe::context::os_rng;
use windlass_rlwe::{Limits, RlweParams};

use crate::bootstrapping::NamedBootstrapping;
use crate::error::{PartiesError, Result};
use crate::family::CollectiveFamily;
use crate::identity::{Member, PUBLIC, from_hex};
use crate::members::check_members;

/// Parameters, members, how many of them are needed, keys, and how many decryptions there will be. Public: a text that
/// all parties have, and that every message names by its digest.
///
/// The uniform polynomials of the keys and the name of the key pair follow from the digest of the whole text. So keys of
/// two agreements have nothing in common, even if their seeds are equal.
///
/// **Warning.** An agreement serves one making of keys. Its seed may come from anyone, but the identities must be those
/// of the members: who gives another identity for one of them becomes that member. Read the whole text before you take
/// part: whoever wrote it chose the parameters, how many members are needed, and the noise of decryptions.
pub struct Agreement<F: CollectiveFamily = Exact> {
    inner: Arc<Inner<F>>,
}

struct Inner<F: CollectiveFamily> {
    context: Context<F>,
    common: Common,
    members: Vec<Member>,
    threshold: u32,
    keys: Vec<KeyName>,
    refreshes: Refreshes<F>,
    publication: Publication,
    fresh: F::Decryption,
    text: String,
    digest: [u8; 32],
}

impl<F: CollectiveFamily> Clone for Agreement<F> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<F: CollectiveFamily> std::fmt::Debug for Agreement<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.members().iter().map(|member| &member.name).collect::<Vec<_>>();
        let digest = hex(self.digest());
        f.debug_struct("Agreement").field("digest", &digest).field("members", &names).finish_non_exhaustive()
    }
}

/// The text of an agreement.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object in braces")]
struct AgreementFile {
    windlass_agreement: u32,
    parameters: serde_json::Value,
    members: Vec<MemberFile>,
    threshold: u32,
    seed: String,
    /// The level of the relinearisation key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relinearisation: Option<usize>,
    /// Elements and levels of Galois keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    galois: Vec<(u64, usize)>,
    /// Whether the keys of the context's own bootstrapping, or refresh of CKKS, are made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    bootstrapping: bool,
    /// Further bootstrappings; each entry lists the choices in which it differs from the context's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    other_bootstrappings: Vec<NamedBootstrapping>,
    security_bits: u32,
    decryptions: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object in braces")]
struct MemberFile {
    name: String,
    identity: String,
}

/// The version of the text.
const VERSION: u32 = 1;
/// The longest text that is read.
const MOST_BYTES: usize = 1 << 22;
/// The most Galois keys of an agreement.
const MOST_KEYS: usize = 1 << 12;
/// The most bootstrappings that a text may name.
const MOST_BOOTSTRAPPINGS: usize = 8;

fn wrong(reason: impl ToString) -> PartiesError {
    PartiesError::Text { what: "agreement", reason: reason.to_string() }
}

/// The names of the keys that a request asks for, beside those of refreshes.
fn names(request: &KeyRequest, top: usize) -> Vec<KeyName> {
    let relinearisation = request.relinearisation.map(|level| KeyName::Relinearisation { level: level.in_chain(top) });
    let galois = request.galois.iter().filter(|(element, _)| **element != 1);
    let galois = galois.map(|(&element, level)| KeyName::Galois { element, level: level.in_chain(top) });
    relinearisation.into_iter().chain(galois).collect()
}

/// The refreshes whose keys are made: first the context's own, if it is among them, then those that have a name.
#[derive(Debug)]
struct Refreshes<F: CollectiveFamily> {
    plans: Vec<Arc<F::Refresh>>,
    /// Whether the first is the context's own.
    has_own: bool,
    names: Vec<NamedBootstrapping>,
}

impl<F: CollectiveFamily> Clone for Refreshes<F> {
    fn clone(&self) -> Self {
        Self { plans: self.plans.clone(), has_own: self.has_own, names: self.names.clone() }
    }
}

impl<F: CollectiveFamily> Refreshes<F> {
    /// Those that a text names.
    fn named(context: &Context<F>, has_own: bool, names: Vec<NamedBootstrapping>) -> Result<Self> {
        Limits::at_most(MOST_BOOTSTRAPPINGS).check("the number of bootstrappings", names.len())?;
        let own = has_own.then(|| F::own_refresh(context)).transpose()?;
        let mut plans: Vec<Arc<F::Refresh>> = own.into_iter().collect();
        for name in &names {
            let plan = F::of_name(context, name)?;
            if plans.iter().any(|known| F::is_same(known, &plan)) {
                return Err(wrong("a bootstrapping is named twice"));
            }
            plans.push(plan);
        }
        Ok(Self { plans, has_own, names })
    }

    /// Those that a request asks for.
    fn requested(context: &Context<F>, request: &KeyRequest) -> Result<Self> {
        let unsupported = || PartiesError::Unsupported { what: request.needed_by.clone() };
        let requested = F::requested(request).ok_or_else(unsupported)?;
        let own = if requested.is_empty() { None } else { Some(F::own_refresh(context)?) };
        let is_own = |plan: &&Arc<F::Refresh>| own.as_ref().is_some_and(|own| F::is_same(own, plan));
        let others = requested.iter().filter(|plan| !is_own(plan));
        let names = others.map(|plan| F::named(context, plan).ok_or_else(unsupported)).collect::<Result<_>>()?;
        Self::named(context, requested.iter().any(|plan| is_own(&plan)), names)
    }
}

/// Whether a text has parameters of CKKS. False for other texts, and for one that is longer than an agreement may be.
pub fn is_approximate(text: &str) -> bool {
    if text.len() > MOST_BYTES {
        return false;
    }
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let kinds = ["windlass_ckks_parameters", "windlass_ckks_refresh", "windlass_precise_refresh"];
    kinds.iter().any(|kind| value["parameters"].get(kind).is_some())
}

impl<F: CollectiveFamily> Agreement<F> {
    /// An agreement on keys for these circuits, of which any `threshold` members can decrypt. Decryptions have a
    /// statistical security of 40 bits for 1024 of them ([`Self::for_publication`]).
    ///
    /// The parameters must be those of as many parties ([`windlass::Params::with_parties`],
    /// [`windlass::schemes::ckks::CkksSpec::with_parties`], [`windlass::bootstrap::approximate::RefreshSpec::with_parties`]).
    ///
    /// # Errors
    /// [`PartiesError::OutOfRange`] for another number of parties, an impossible threshold, or more than 4096 Galois keys;
    /// [`PartiesError::MemberTwice`]; [`PartiesError::Unsupported`] for a refresh of CKKS other than the context's own
    /// ([`Context::refresh`]), and for a bootstrapping that has no name;
    /// [`PartiesError::Name`] for a name that people cannot tell from others; [`PartiesError::NoRoom`] if a fresh
    /// ciphertext could not be decrypted.
    pub fn new(context: &Context<F>, members: Vec<Member>, threshold: u32, needs: &[&dyn NeedsKeys]) -> Result<Self> {
        Self::for_publication(context, members, threshold, needs, Publication::default())
    }

    /// As [`Self::new`], with this statistical security for so many decryptions of each member.
    ///
    /// Cost: an encryption and the plan of its decryption, beside that of the parameters.
    ///
    /// # Errors
    /// As there; [`PartiesError::OutOfRange`] for a security outside 1 to 128, or no decryptions.
    pub fn for_publication(
        context: &Context<F>,
        members: Vec<Member>,
        threshold: u32,
        needs: &[&dyn NeedsKeys],
        publication: Publication,
    ) -> Result<Self> {
        let mut seed = [0; 32];
        os_rng()?.fill_bytes(&mut seed);
        let request = needs.iter().map(|needs| needs.key_request());
        let request = request.fold(KeyRequest::none("an agreement"), |all, one| {
            // The name of the circuit that asks for what cannot be made.
            let refreshes = !one.bootstrapping.is_empty() || !one.refreshes.is_empty();
            let needed_by = if refreshes { one.needed_by.clone() } else { all.needed_by.clone() };
            KeyRequest { needed_by, ..all.and(one) }
        });
        let keys = (names(&request, F::top_level(context)), Refreshes::requested(context, &request)?);
        Self::build(context.clone(), members, threshold, keys, publication, seed)
    }

    /// An agreement of the same members on the same keys with another statistical security and number of decryptions. It
    /// has a seed and a key pair of its own.
    ///
    /// # Errors
    /// [`PartiesError::OutOfRange`] for a security outside 1 to 128, or no decryptions; [`PartiesError::NoRoom`].
    pub fn with_publication(&self, publication: Publication) -> Result<Self> {
        let Inner { context, members, threshold, keys, refreshes, .. } = &*self.inner;
        let mut seed = [0; 32];
        os_rng()?.fill_bytes(&mut seed);
        let keys = keys.iter().copied().filter(|name| *name != KeyName::Public).collect();
        let keys = (keys, refreshes.clone());
        Self::build(context.clone(), members.clone(), *threshold, keys, publication, seed)
    }

    fn build(
        context: Context<F>,
        members: Vec<Member>,
        threshold: u32,
        (keys, refreshes): (Vec<KeyName>, Refreshes<F>),
        publication: Publication,
        seed: [u8; 32],
    ) -> Result<Self> {
        let rlwe = Arc::clone(F::files(&context).rlwe());
        let common = Common::new(&rlwe, seed)?;
        check(&common, &members, threshold, &keys, publication)?;
        let parties = common.parties();
        let mut parameters: serde_json::Value = serde_json::from_str(&F::to_json(&context)).map_err(wrong)?;
        // In one order, also in programs that build serde_json with `preserve_order`: the digest is of these bytes.
        parameters.sort_all_objects();
        let file = AgreementFile {
            windlass_agreement: VERSION,
            parameters,
            members: members
                .iter()
                .map(|member| MemberFile { name: member.name.clone(), identity: hex(&member.identity) })
                .collect(),
            threshold,
            seed: hex(&seed),
            relinearisation: keys.iter().find_map(|name| match name {
                KeyName::Relinearisation { level } => Some(*level),
                _ => None,
            }),
            galois: keys
                .iter()
                .filter_map(|name| match name {
                    KeyName::Galois { element, level } => Some((*element, *level)),
                    _ => None,
                })
                .collect(),
            bootstrapping: refreshes.has_own,
            other_bootstrappings: refreshes.names.clone(),
            security_bits: publication.security_bits,
            decryptions: publication.decryptions,
        };
        let text = serde_json::to_string_pretty(&file).map_err(wrong)?;
        let digest = Sha256::digest(text.as_bytes()).into();
        let common = Common::new(&rlwe, digest)?;
        let keys = std::iter::once(KeyName::Public).chain(keys).collect();
        let planned = (planned(publication, parties, threshold), threshold);
        let plan = F::plan(&context, &F::fresh(&context, common.key_id())?, planned);
        let fresh = plan.map_err(|error| no_room(error, "a fresh ciphertext", (publication, threshold, parties)))?;
        let inner = Inner { context, common, members, threshold, keys, refreshes, publication, fresh, text, digest };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The agreement as text.
    pub fn to_json(&self) -> &str {
        &self.inner.text
    }

    /// The agreement of a text that [`Self::to_json`] wrote. Everything in it is checked.
    ///
    /// # Errors
    /// [`PartiesError::Text`] for another text; those of [`Self::new`] and of the parameters.
    pub fn from_json(text: &str) -> Result<Self> {
        if text.len() > MOST_BYTES {
            return Err(wrong(format!("it is longer than {MOST_BYTES} bytes")));
        }
        let file: AgreementFile = from_json(text.as_bytes()).map_err(wrong)?;
        if file.windlass_agreement != VERSION {
            return Err(wrong(format!(
                "windlass_agreement is {}, but this build knows version {VERSION}",
                file.windlass_agreement
            )));
        }
        let seed = from_hex::<32>(&file.seed).ok_or_else(|| wrong("seed has to be 64 hexadecimal digits"))?;
        Limits::at_most(RlweParams::MAX_PARTIES).check("the number of members", file.members.len())?;
        let member = |member: MemberFile| {
            let identity = from_hex::<PUBLIC>(&member.identity);
            let identity = identity
                .ok_or_else(|| wrong(format!("the identity of {:?} has to be 128 hexadecimal digits", member.name)))?;
            Ok(Member { name: member.name, identity })
        };
        let members = file.members.into_iter().map(member).collect::<Result<Vec<_>>>()?;
        let context = F::from_json(&serde_json::to_string(&file.parameters).map_err(wrong)?)?;
        if !file.galois.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(wrong("the elements of galois have to ascend, each once"));
        }
        let relinearisation = file.relinearisation.map(|level| KeyName::Relinearisation { level });
        let galois = file.galois.iter().map(|&(element, level)| KeyName::Galois { element, level });
        let keys: Vec<KeyName> = relinearisation.into_iter().chain(galois).collect();
        let publication = Publication { security_bits: file.security_bits, decryptions: file.decryptions };
        // Before a bootstrapping is planned.
        check(&Common::new(F::files(&context).rlwe(), seed)?, &members, file.threshold, &keys, publication)?;
        let refreshes = Refreshes::named(&context, file.bootstrapping, file.other_bootstrappings)?;
        Self::build(context, members, file.threshold, (keys, refreshes), publication, seed)
    }

    /// SHA-256 of the text in its canonical form: what the members compare, by telephone say, before they take part.
    pub fn digest(&self) -> &[u8; 32] {
        &self.inner.digest
    }

    /// The context.
    pub fn context(&self) -> &Context<F> {
        &self.inner.context
    }

    /// The members, in the order of their numbers.
    pub fn members(&self) -> &[Member] {
        &self.inner.members
    }

    /// How many members decrypt together.
    pub fn threshold(&self) -> u32 {
        self.inner.threshold
    }

    /// Security and number of decryptions: each member takes part in so many.
    pub fn publication(&self) -> Publication {
        self.inner.publication
    }

    /// What the noise of shares is planned for: all decryptions in which any member outside of a coalition of
    /// threshold − 1 takes part.
    pub(crate) fn planned(&self) -> Publication {
        planned(self.publication(), self.common().parties(), self.threshold())
    }

    /// The plan of a decryption of a fresh ciphertext, with every slot in use and, for CKKS, values up to 1: what
    /// circuits add comes on top.
    pub fn fresh_decryption(&self) -> &F::Decryption {
        &self.inner.fresh
    }

    /// The plan of a decryption after so many squarings in a row of a fresh ciphertext: an agreement on circuits of
    /// this depth should be made only if there is one.
    ///
    /// It squares without refreshes: a depth that only circuits with refreshes reach is refused.
    ///
    /// Cost: keys of a secret that is thrown away, and the squarings.
    ///
    /// # Errors
    /// [`PartiesError::NoRoom`] if there is no room for the noise of the shares; [`PartiesError::Windlass`] for a
    /// depth that the parameters do not have.
    pub fn decryption_after(&self, products: usize) -> Result<F::Decryption> {
        let (context, parties) = (self.context(), self.common().parties());
        let what = format!("a ciphertext after {products} squarings");
        let plan = F::after_squarings(context, products)
            .and_then(|ciphertext| F::plan(context, &ciphertext, (self.planned(), self.threshold())));
        plan.map_err(|error| no_room(error, &what, (self.publication(), self.threshold(), parties)))
    }

    /// The keys that are made, the public one first.
    pub fn keys(&self) -> &[KeyName] {
        &self.inner.keys
    }

    /// The bootstrappings, or refreshes of CKKS, whose keys are made.
    pub fn refreshes(&self) -> &[Arc<F::Refresh>] {
        &self.inner.refreshes.plans
    }

    /// The name of the key pair, known before it exists.
    pub fn key_id(&self) -> windlass_rlwe::KeyId {
        self.common().key_id()
    }

    pub(crate) fn common(&self) -> &Common {
        &self.inner.common
    }

    /// The number of a member.
    pub(crate) fn number_of(&self, identity: &[u8; PUBLIC]) -> Option<u32> {
        self.members().iter().zip(1..).find(|(member, _)| member.identity == *identity).map(|(_, number)| number)
    }

    /// The name of the member with a number.
    pub(crate) fn name_of(&self, number: u32) -> String {
        (number as usize)
            .checked_sub(1)
            .and_then(|index| self.members().get(index))
            .map_or_else(|| format!("member {number}"), |member| member.name.clone())
    }

    pub(crate) fn names_of(&self, numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
        numbers.into_iter().map(|number| self.name_of(number)).collect()
    }

    /// The numbers of all members that are not in a set.
    pub(crate) fn others_than(&self, have: &BTreeSet<u32>) -> Vec<u32> {
        (1..=self.common().parties()).filter(|number| !have.contains(number)).collect()
    }

    /// The relinearisation key, if it is made.
    pub(crate) fn relinearisation(&self) -> Option<KeyName> {
        self.keys().iter().copied().find(|name| matches!(name, KeyName::Relinearisation { .. }))
    }

    /// Whether a relinearisation key is made.
    pub(crate) fn relinearises(&self) -> bool {
        self.relinearisation().is_some()
    }

    /// Whether shares are dealt: where not all members are needed.
    pub(crate) fn deals(&self) -> bool {
        self.threshold() < self.common().parties()
    }
}

/// What is refused before anything is planned.
fn check(
    common: &Common,
    members: &[Member],
    threshold: u32,
    keys: &[KeyName],
    publication: Publication,
) -> Result<()> {
    let parties = common.parties();
    let limits = Limits::between(parties, parties).with("the number of parties of the parameters");
    limits.check("the number of members", members.len())?;
    Limits::between(1, parties).with("the number of members").check("the threshold", threshold)?;
    Limits::between(1, 128).check("security in bits", publication.security_bits)?;
    // Each member takes part in so many. Those of the members outside of a coalition of threshold − 1 add up.
    let most = u32::MAX / (parties - threshold + 1);
    Limits::between(1, most).check("the number of decryptions", publication.decryptions)?;
    let galois = keys.iter().filter(|name| matches!(name, KeyName::Galois { .. }));
    Limits::at_most(MOST_KEYS).check("the number of Galois keys", galois.count())?;
    for &name in keys {
        KeyShare::layout(common, name, Stage::First)?;
    }
    check_members(members)
}

/// All decryptions in which any member outside of a coalition of threshold − 1 takes part.
fn planned(publication: Publication, parties: u32, threshold: u32) -> Publication {
    Publication { decryptions: publication.decryptions * (parties - threshold + 1), ..publication }
}

/// The error of a plan, with what is missing.
fn no_room(
    error: windlass::Error,
    what: &str,
    (publication, threshold, parties): (Publication, u32, u32),
) -> PartiesError {
    let missing_bits = match error {
        windlass::Error::CapacityExhausted { needed_bits, left_bits, .. } => needed_bits - left_bits,
        // At least one bit of a number has to be right.
        windlass::Error::PrecisionExhausted { left_bits } => 1.0 - left_bits,
        other => return other.into(),
    };
    let what = what.to_owned();
    PartiesError::NoRoom { what, threshold, parties, publication, missing_bits: missing_bits.max(0.0).ceil() }
}
