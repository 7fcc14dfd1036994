//! Families of schemes: exact, approximate and mock.
//!
//! Contexts, clients and servers are generic over a [`Family`], which names the types that they
//! hold.

use std::sync::Arc;

use windlass_rlwe::SecretRng;
use windlass_rlwe::{Context as RlweContext, EvaluationKeys, SecretKey};

use super::approximate_refreshers::ApproximateRefreshers;
use super::needs::{KeyLevel, KeyRequest, same_bootstrapping};
use super::refreshers::{MockRefreshers, Refreshers};
use super::setting::{ApproximateSetting, ExactSetting};
use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan};
use crate::bootstrap::{BootstrapKeys, BootstrapPlan};
use crate::error::{Error, Result, check_same_order};
use crate::evaluator::Evaluator;
use crate::schemes::clear::Clear;
use crate::schemes::{Ciphertext, Engine, Refresh, ckks};
use crate::switching::Switching;
use crate::wire::WireContext;

/// The operation named in the error if slots are not in the order that bootstrapping needs.
pub(super) const BOOTSTRAPPING: &str = "bootstrapping, which needs a context from Context::for_bootstrapping";

mod sealed {
    pub trait Sealed {}
}

/// A family of schemes: the types that its contexts, clients and servers hold.
///
/// There are three: [`Exact`], [`Approximate`] and [`Mock`].
pub trait Family: sealed::Sealed + std::fmt::Debug + Sized + 'static {
    /// What a context holds.
    type Setting: std::fmt::Debug + Send + Sync;
    /// What a client holds.
    type Secret: Clone + Send + Sync;
    /// What a server computes with.
    type Engine: Switching + Send + Sync + 'static;
    /// What a server refreshes with.
    type Refreshers: Send + Sync;

    /// Whether a product with constants takes a rescaling, and so counts as depth.
    #[doc(hidden)]
    const RESCALES: bool = false;

    /// The highest level at which the relinearisation key can be used; `None` if there is no such
    /// key.
    fn relinearisation_level(engine: &Self::Engine) -> Option<usize>;

    /// The highest level at which the Galois key of θ_t can be used; `None` if there is no such
    /// key. The identity needs no key.
    fn galois_level(engine: &Self::Engine, t: u64) -> Option<usize>;

    /// Whether a key for levels up to `held` can be used at level `needed`.
    #[doc(hidden)]
    fn serves(_: &Self::Engine, held: usize, needed: usize) -> bool {
        held >= needed
    }

    /// Whether there are keys for this bootstrapping.
    fn bootstraps(refreshers: &Self::Refreshers, plan: &Arc<BootstrapPlan>) -> bool;

    /// Whether there are keys for this refresh of CKKS.
    fn refreshes(_: &Self::Refreshers, _: &Arc<RefreshPlan>) -> bool {
        false
    }

    /// The highest level that a refresh gives, and the same engine without automatic refreshes.
    /// `None` if the engine does not refresh automatically, or if its levels do not matter.
    #[doc(hidden)]
    fn refreshing(_: &Self::Engine, _: &Self::Refreshers) -> Option<(usize, Self::Engine)> {
        None
    }

    /// A fresh secret.
    #[doc(hidden)]
    fn generate_secret(setting: &Self::Setting, rng: &mut SecretRng) -> Self::Secret;

    /// The requested keys, ready for use. `made` is called after each key and may stop the
    /// generation.
    #[doc(hidden)]
    fn generate(
        setting: &Self::Setting,
        secret: &Self::Secret,
        requests: &KeyRequest,
        rng: &mut SecretRng,
        made: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Self::Engine, Self::Refreshers)>;
}

/// The families of exact arithmetic: [`Exact`] and [`Mock`].
pub trait ExactFamily: Family<Engine: Evaluator> {}

impl ExactFamily for Exact {}
impl ExactFamily for Mock {}

/// Integers modulo p^r, or elements of GR(p^r; d), in the slots: BGV and BFV.
#[derive(Debug, Clone, Copy)]
pub enum Exact {}

/// Real or complex numbers in the slots: CKKS.
#[derive(Debug, Clone, Copy)]
pub enum Approximate {}

/// The plaintext ring of [`Exact`] without encryption. A mock server still tracks the keys that
/// were requested, so that a missing key is an error here too.
#[derive(Debug, Clone, Copy)]
pub enum Mock {}

impl sealed::Sealed for Exact {}
impl sealed::Sealed for Approximate {}
impl sealed::Sealed for Mock {}

impl Family for Exact {
    type Setting = ExactSetting;
    type Secret = Arc<SecretKey>;
    type Engine = Engine;
    type Refreshers = Arc<Refreshers>;

    fn relinearisation_level(engine: &Engine) -> Option<usize> {
        engine.keys().relinearisation().map(|key| key.level())
    }

    fn galois_level(engine: &Engine, t: u64) -> Option<usize> {
        galois_level(engine.keys(), t)
    }

    fn serves(engine: &Engine, held: usize, needed: usize) -> bool {
        engine.context().levels().covers(held, needed)
    }

    fn bootstraps(refreshers: &Arc<Refreshers>, plan: &Arc<BootstrapPlan>) -> bool {
        refreshers.plans_and_keys().any(|(own, _)| same_bootstrapping(own, plan))
    }

    fn refreshes(refreshers: &Arc<Refreshers>, plan: &Arc<RefreshPlan>) -> bool {
        refreshers.exact_refresh().is_some_and(|(own, _)| own.ckks().spec() == plan.spec())
    }

    fn refreshing(engine: &Engine, refreshers: &Arc<Refreshers>) -> Option<(usize, Engine)> {
        let levels = refreshers.plans_and_keys().map(|(plan, _)| plan.highest_output_level());
        let through_ckks = refreshers.exact_refresh().map(|(plan, _)| plan.output_level());
        Some((levels.chain(through_ckks).max()?, engine.plain()))
    }

    fn generate_secret(setting: &ExactSetting, rng: &mut SecretRng) -> Arc<SecretKey> {
        Arc::new(SecretKey::generate(setting.files.context(), rng))
    }

    fn generate(
        setting: &ExactSetting,
        secret: &Arc<SecretKey>,
        requests: &KeyRequest,
        rng: &mut SecretRng,
        made: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Engine, Arc<Refreshers>)> {
        check_schemes(setting, requests)?;
        check_orders(&setting.files, &requests.bootstrapping)?;
        let scheme = setting.files.scheme();
        let levels = (setting.files.context(), setting.params.top_level());
        let keys = Arc::new(evaluation_keys(levels, secret, requests, rng, made)?);
        let mut own = Vec::with_capacity(requests.bootstrapping.len());
        for plan in &requests.bootstrapping {
            own.push((Arc::clone(plan), BootstrapKeys::generate(plan, scheme, secret, rng)?));
            made()?;
        }
        let mut through_ckks = None;
        for plan in &requests.refreshes {
            through_ckks = Some(RefreshKeys::generate(plan, secret, rng)?);
            made()?;
        }
        exact_keys(setting, keys, own, through_ckks)
    }
}

/// Refuses refreshes of CKKS in a context of exact integers, except that of its own refresh through CKKS.
///
/// # Errors
/// [`Error::ContextMismatch`].
fn check_schemes(setting: &ExactSetting, requests: &KeyRequest) -> Result<()> {
    let own = setting.exact_refresh.as_ref().map(|plan| plan.ckks());
    let is_own = |plan: &Arc<RefreshPlan>| {
        own.is_some_and(|own| Arc::ptr_eq(own.context(), plan.context()) && own.spec() == plan.spec())
    };
    if requests.refreshes.iter().all(is_own) {
        return Ok(());
    }
    let left = match own {
        None => "a context of exact integers".to_owned(),
        Some(_) => "a context of exact integers with another refresh".to_owned(),
    };
    Err(Error::ContextMismatch { operation: "generate_keys", left, right: "a refresh of CKKS".to_owned() })
}

/// Refuses bootstrappings whose slots are in another order, before any key is made. Errors:
/// [`Error::OtherSlotOrder`].
fn check_orders<'a>(files: &WireContext, plans: impl IntoIterator<Item = &'a Arc<BootstrapPlan>>) -> Result<()> {
    let own = files.slot_ring();
    let mut same_ring = plans.into_iter().map(|plan| plan.message_ring()).filter(|ring| ring.m() == own.m());
    same_ring.try_for_each(|ring| check_same_order(BOOTSTRAPPING, own.hypercube(), ring.hypercube()))
}

/// An engine with these keys, which refreshes with these bootstrappings, or by the refresh of the context through
/// CKKS with its keys.
pub(super) fn exact_keys(
    setting: &ExactSetting,
    keys: Arc<EvaluationKeys>,
    bootstrappings: Vec<(Arc<BootstrapPlan>, BootstrapKeys)>,
    through_ckks: Option<RefreshKeys>,
) -> Result<(Engine, Arc<Refreshers>)> {
    let files = &setting.files;
    check_orders(files, bootstrappings.iter().map(|(plan, _)| plan))?;
    let mut refreshers = Refreshers::new(files.scheme(), &keys, bootstrappings);
    let engine = Engine::new(files.scheme(), files.slot_ring(), keys)?.below(setting.params.top_level());
    if let (Some(plan), Some(keys)) = (&setting.exact_refresh, through_ckks) {
        refreshers = refreshers.through_ckks(&engine, (plan, keys));
    }
    let refreshers = Arc::new(refreshers);
    if refreshers.is_empty() {
        return Ok((engine, refreshers));
    }
    Ok((engine.refreshing_with(Arc::clone(&refreshers) as Arc<dyn Refresh<Ciphertext>>), refreshers))
}

impl Family for Approximate {
    type Setting = ApproximateSetting;
    type Secret = Arc<SecretKey>;
    type Engine = ckks::Engine;
    type Refreshers = Arc<ApproximateRefreshers>;

    const RESCALES: bool = true;

    fn relinearisation_level(engine: &ckks::Engine) -> Option<usize> {
        engine.keys().relinearisation().map(|key| key.level())
    }

    fn galois_level(engine: &ckks::Engine, t: u64) -> Option<usize> {
        galois_level(engine.keys(), t)
    }

    fn bootstraps(_: &Arc<ApproximateRefreshers>, _: &Arc<BootstrapPlan>) -> bool {
        false
    }

    fn refreshes(refreshers: &Arc<ApproximateRefreshers>, plan: &Arc<RefreshPlan>) -> bool {
        refreshers.plans_and_keys().any(|(own, _)| Arc::ptr_eq(own, plan) || own.spec() == plan.spec())
    }

    fn refreshing(engine: &ckks::Engine, refreshers: &Arc<ApproximateRefreshers>) -> Option<(usize, ckks::Engine)> {
        (!refreshers.is_empty()).then(|| (engine.context().top_level(), engine.plain()))
    }

    fn generate_secret(setting: &ApproximateSetting, rng: &mut SecretRng) -> Arc<SecretKey> {
        Arc::new(SecretKey::generate(setting.context.rlwe(), rng))
    }

    fn generate(
        setting: &ApproximateSetting,
        secret: &Arc<SecretKey>,
        requests: &KeyRequest,
        rng: &mut SecretRng,
        made: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(ckks::Engine, Arc<ApproximateRefreshers>)> {
        if !requests.bootstrapping.is_empty() {
            let refused = "a bootstrapping of exact integers".to_owned();
            let (operation, left) = ("generate_keys", "a CKKS context".to_owned());
            return Err(Error::ContextMismatch { operation, left, right: refused });
        }
        check_contexts(setting, &requests.refreshes)?;
        // Callers' circuits work below the levels of a refresh.
        let top = setting.context.top_level();
        let keys = evaluation_keys((setting.context.rlwe(), top), secret, requests, rng, made)?;
        let mut refreshes = Vec::with_capacity(requests.refreshes.len());
        for plan in &requests.refreshes {
            refreshes.push((Arc::clone(plan), RefreshKeys::generate(plan, secret, rng)?));
            made()?;
        }
        approximate_keys(setting, Arc::new(keys), refreshes)
    }
}

/// Refuses refreshes of other parameters. A context with a refresh of several passes takes that of its pass.
///
/// # Errors
/// [`Error::ContextMismatch`].
fn check_contexts<'a>(
    setting: &ApproximateSetting,
    plans: impl IntoIterator<Item = &'a Arc<RefreshPlan>>,
) -> Result<()> {
    let name = |context: &ckks::CkksContext| format!("CKKS {}", context.rlwe().params().id());
    let expected = setting.precise_refresh.as_ref().map_or(&setting.context, |plan| plan.pass().context());
    match plans.into_iter().find(|plan| !Arc::ptr_eq(plan.context(), expected)) {
        Some(plan) => {
            let (operation, left, right) = ("keys for a refresh", name(&setting.context), name(plan.context()));
            Err(Error::ContextMismatch { operation, left, right })
        }
        None => Ok(()),
    }
}

/// An engine with these keys, which refreshes with these refreshes.
pub(super) fn approximate_keys(
    setting: &ApproximateSetting,
    keys: Arc<EvaluationKeys>,
    refreshes: Vec<(Arc<RefreshPlan>, RefreshKeys)>,
) -> Result<(ckks::Engine, Arc<ApproximateRefreshers>)> {
    check_contexts(setting, refreshes.iter().map(|(plan, _)| plan))?;
    let engine = ckks::Engine::new(&setting.context, keys)?;
    let refreshers = Arc::new(ApproximateRefreshers::new(&engine, setting.precise_refresh.as_ref(), refreshes));
    if refreshers.is_empty() {
        return Ok((engine, refreshers));
    }
    Ok((engine.refreshing_with(Arc::clone(&refreshers) as Arc<dyn Refresh<ckks::Ciphertext>>), refreshers))
}

impl Family for Mock {
    type Setting = ExactSetting;
    type Secret = ();
    type Engine = Clear;
    type Refreshers = MockRefreshers;

    fn relinearisation_level(engine: &Clear) -> Option<usize> {
        engine.has_relinearisation_key().then_some(engine.top_level())
    }

    fn galois_level(engine: &Clear, t: u64) -> Option<usize> {
        engine.has_key(t).then_some(engine.top_level())
    }

    fn bootstraps(refreshers: &MockRefreshers, plan: &Arc<BootstrapPlan>) -> bool {
        refreshers.plans().any(|own| same_bootstrapping(own, plan))
    }

    fn refreshes(refreshers: &MockRefreshers, plan: &Arc<RefreshPlan>) -> bool {
        refreshers.refreshes(plan)
    }

    fn generate_secret(_: &ExactSetting, _: &mut SecretRng) {}

    fn generate(
        setting: &ExactSetting,
        (): &(),
        requests: &KeyRequest,
        _: &mut SecretRng,
        made: &mut dyn FnMut() -> Result<()>,
    ) -> Result<(Clear, MockRefreshers)> {
        check_schemes(setting, requests)?;
        check_orders(&setting.files, &requests.bootstrapping)?;
        (0..requests.count()).try_for_each(|_| made())?;
        let clear = Clear::with_keys(setting.files.slot_ring(), requests.galois.keys().copied());
        let clear = if requests.relinearisation.is_some() { clear } else { clear.without_relinearisation() };
        Ok((clear, MockRefreshers::new(&requests.bootstrapping, &requests.refreshes)?))
    }
}

/// The level of the Galois key of θ_t; the top level for the identity.
fn galois_level(keys: &EvaluationKeys, t: u64) -> Option<usize> {
    let context = keys.context();
    match t % context.params().m() {
        1 => Some(context.top_level()),
        t => keys.galois(t).map(|key| key.level()),
    }
}

/// Makes each key for the highest level that any request names; `top` is that of every level.
fn evaluation_keys(
    (context, top): (&Arc<RlweContext>, usize),
    secret: &SecretKey,
    requests: &KeyRequest,
    rng: &mut SecretRng,
    made: &mut dyn FnMut() -> Result<()>,
) -> Result<EvaluationKeys> {
    let level_of = |level: KeyLevel| level.in_chain(top).min(context.top_level());
    let mut keys = EvaluationKeys::of(secret);
    if let Some(level) = requests.relinearisation {
        keys.add_relinearisation(secret, level_of(level), rng)?;
        made()?;
    }
    for (&element, &level) in &requests.galois {
        keys.add_galois(secret, element, level_of(level), rng)?;
        made()?;
    }
    Ok(keys)
}
