//! The bootstrappings of a server. Each one is prepared when it is first used.

use std::sync::Arc;

use windlass_rlwe::EvaluationKeys;

use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan};
use crate::bootstrap::exact_through_ckks::{ExactRefreshPlan, ExactRefresher};
use crate::bootstrap::in_batches;
use crate::bootstrap::{
    BatchPlan, BootstrapError, BootstrapKeys, BootstrapPlan, Bootstrapper, ClearBootstrapper, Mode, RefreshOptions,
};
use crate::error::{Error, Result};
use crate::once::Once;
use crate::plaintext::Content;
use crate::schemes::clear::ClearCiphertext;
use crate::schemes::{Ciphertext, Engine, Refresh, Scheme};

/// The bootstrappings of a server, thin and packed, or its refresh through CKKS, with their keys.
pub struct Refreshers {
    scheme: Scheme,
    keys: Arc<EvaluationKeys>,
    list: Vec<Refresher>,
    through_ckks: Option<ThroughCkks>,
}

/// A refresh through CKKS. A server with one uses it instead of bootstrappings.
struct ThroughCkks {
    plan: Arc<ExactRefreshPlan>,
    /// One that does not refresh by itself.
    engine: Engine,
    keys: RefreshKeys,
    ready: Once<ExactRefresher>,
}

impl ThroughCkks {
    fn prepared(&self) -> Result<&ExactRefresher> {
        self.ready.get_or_make(|| ExactRefresher::new(&self.plan, &self.engine, self.keys.clone()))
    }
}

struct Refresher {
    plan: Arc<BootstrapPlan>,
    keys: BootstrapKeys,
    ready: Once<Bootstrapper>,
    /// Planned before the bootstrapping is prepared, since a batch may cost more than single
    /// refreshes.
    batches: Once<Arc<BatchPlan>>,
}

impl Refreshers {
    pub(crate) fn new(
        scheme: Scheme,
        keys: &Arc<EvaluationKeys>,
        own: Vec<(Arc<BootstrapPlan>, BootstrapKeys)>,
    ) -> Self {
        let refresher = |(plan, keys)| Refresher { plan, keys, ready: Once::new(), batches: Once::new() };
        let list = own.into_iter().map(refresher).collect();
        Self { scheme, keys: Arc::clone(keys), list, through_ckks: None }
    }

    /// With a refresh through CKKS.
    pub(crate) fn through_ckks(self, engine: &Engine, (plan, keys): (&Arc<ExactRefreshPlan>, RefreshKeys)) -> Self {
        let (plan, engine) = (Arc::clone(plan), engine.plain());
        Self { through_ckks: Some(ThroughCkks { plan, engine, keys, ready: Once::new() }), ..self }
    }

    /// The plan of the refresh through CKKS and its keys.
    pub(crate) fn exact_refresh(&self) -> Option<(&Arc<ExactRefreshPlan>, &RefreshKeys)> {
        self.through_ckks.as_ref().map(|own| (&own.plan, &own.keys))
    }

    /// The refresh through CKKS.
    ///
    /// # Errors
    /// [`Error::MissingBootstrappingKeys`] if the server has no such refresh.
    pub(crate) fn exact_refresher(&self) -> Result<&ExactRefresher> {
        self.through_ckks.as_ref().ok_or(Error::MissingBootstrappingKeys)?.prepared()
    }

    pub(crate) fn plans_and_keys(&self) -> impl Iterator<Item = (&Arc<BootstrapPlan>, &BootstrapKeys)> {
        self.list.iter().map(|own| (&own.plan, &own.keys))
    }

    /// Whether nothing refreshes.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.through_ckks.is_none()
    }

    /// The bootstrapping for slots of this content and this exponent of p.
    pub(crate) fn bootstrapper(&self, content: Content, exponent: u32) -> Result<&Bootstrapper> {
        let plans = self.list.iter().map(|refresher| &*refresher.plan);
        self.prepared(choose(plans, (content, exponent))?)
    }

    fn prepared(&self, place: usize) -> Result<&Bootstrapper> {
        let refresher = &self.list[place];
        refresher.ready.get_or_make(|| self.make(refresher))
    }

    fn batch_plan(&self, place: usize) -> Result<&Arc<BatchPlan>> {
        let Refresher { plan, batches, .. } = &self.list[place];
        batches.get_or_make(|| BatchPlan::new(plan).map(Arc::new))
    }

    fn refresh_batch(
        &self,
        place: usize,
        batch: &[Ciphertext],
        options: RefreshOptions<'_>,
    ) -> Result<Vec<Ciphertext>> {
        let bootstrapper = self.prepared(place)?;
        bootstrapper.prepare_batches(self.batch_plan(place)?)?;
        bootstrapper.refresh_list(batch, options.in_one_batch())
    }

    /// [`Bootstrapper::refresh_list`], for each run of adjacent ciphertexts of one bootstrapping.
    pub(crate) fn refresh_list(&self, list: &[Ciphertext], mut options: RefreshOptions<'_>) -> Result<Vec<Ciphertext>> {
        if let Some(own) = &self.through_ckks {
            return own.prepared()?.refresh_list(list, options);
        }
        let plans = || self.list.iter().map(|refresher| &*refresher.plan);
        if options.is_one_batch() {
            let Some(first) = list.first() else { return Ok(Vec::new()) };
            let packed = packed(plans(), first.exponent()).ok_or(Error::MissingBootstrappingKeys)?;
            return self.refresh_batch(packed, list, options);
        }
        let place = |ct: &Ciphertext| choose(plans(), (ct.content(), ct.exponent()));
        let places: Vec<usize> = list.iter().map(place).collect::<Result<_>>()?;
        let mut runs = Vec::new();
        let mut rest = list;
        for alike in places.chunk_by(|a, b| a == b) {
            let (now, later) = rest.split_at(alike.len());
            runs.push((self.prepared(alike[0])?, now));
            rest = later;
        }
        for (bootstrapper, run) in &runs {
            bootstrapper.check_list(run, &options)?;
        }
        let mut done = Vec::with_capacity(list.len());
        for (bootstrapper, run) in runs {
            done.extend(bootstrapper.refresh_list(run, options.again())?);
        }
        Ok(done)
    }

    fn make(&self, refresher: &Refresher) -> Result<Bootstrapper> {
        Bootstrapper::new(Arc::clone(&refresher.plan), self.scheme, &self.keys, refresher.keys.clone())
    }
}

/// The index of the plan that refreshes slots of this content and this exponent of p. A thin plan
/// costs less, but keeps only integers. If no plan has the exponent, any plan of the mode is
/// chosen; its refusal then says why.
fn choose<'a>(
    plans: impl Iterator<Item = &'a BootstrapPlan> + Clone,
    (content, exponent): (Content, u32),
) -> Result<usize> {
    let place = |mode| {
        let of_mode = plans.clone().enumerate().filter(move |(_, plan)| plan.spec().mode == mode);
        let fitting = of_mode.clone().find(|(_, plan)| plan.formula().message_exponent == exponent);
        fitting.or(of_mode.clone().next()).map(|(at, _)| at)
    };
    let thin = place(Mode::Thin);
    match (content, thin, place(Mode::Packed)) {
        (Content::Integers, Some(at), _) | (_, _, Some(at)) => Ok(at),
        (Content::Elements, Some(_), None) => Err(BootstrapError::NotIntegers.into()),
        (_, None, None) => Err(Error::MissingBootstrappingKeys),
    }
}

/// The common exponent of p if all ciphertexts hold integers modulo the same p^e; `None` otherwise.
fn same_integers(mut list: impl Iterator<Item = (Content, u32)>) -> Option<u32> {
    let (_, exponent) = list.next().filter(|&(content, _)| content == Content::Integers)?;
    list.all(|other| other == (Content::Integers, exponent)).then_some(exponent)
}

/// The index of a packed plan for slots modulo p to this exponent.
fn packed<'a>(mut plans: impl Iterator<Item = &'a BootstrapPlan>, exponent: u32) -> Option<usize> {
    plans.position(|plan| plan.spec().mode == Mode::Packed && plan.formula().message_exponent == exponent)
}

/// The indices of the packed plan for integers modulo p to this exponent, and of the plan that
/// refreshes one such ciphertext separately. `None` if a batch cannot pay: there is a thin plan and
/// only one ciphertext.
fn batches<'a>(
    plans: impl Iterator<Item = &'a BootstrapPlan> + Clone,
    exponent: u32,
    count: usize,
) -> Option<(usize, usize)> {
    let packed = packed(plans.clone(), exponent)?;
    let single = choose(plans.clone(), (Content::Integers, exponent)).ok()?;
    let is_thin = plans.clone().nth(single).is_some_and(|plan| plan.spec().mode == Mode::Thin);
    (count > 1 || !is_thin).then_some((packed, single))
}

impl Refresh<Ciphertext> for Refreshers {
    fn refresh(&self, ct: &Ciphertext) -> Result<Ciphertext> {
        match &self.through_ckks {
            Some(own) => own.prepared()?.refresh(ct),
            None => self.bootstrapper(ct.content(), ct.exponent())?.refresh(ct),
        }
    }

    /// Integers under one plaintext modulus are refreshed in batches if there is a packed
    /// bootstrapping for them and a batch costs less than single refreshes.
    fn refresh_all(&self, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        if self.through_ckks.is_some() {
            return self.refresh_list(list, RefreshOptions::new());
        }
        let plans = || self.list.iter().map(|refresher| &*refresher.plan);
        let alike = same_integers(list.iter().map(|ct| (ct.content(), ct.exponent())));
        let places = alike.and_then(|exponent| batches(plans(), exponent, list.len()));
        let several = |list: &[Ciphertext]| self.refresh_list(list, RefreshOptions::new());
        let Some((packed, single)) = places else { return several(list) };
        let (plan, single) = (self.batch_plan(packed).map(|plan| &**plan), &self.list[single].plan);
        let batch = |batch: &[Ciphertext]| self.refresh_batch(packed, batch, RefreshOptions::new());
        in_batches(list, plan, single, batch, several)
    }

    /// Infinite also for ciphertexts that no bootstrapping here refreshes, such as a quotient
    /// modulo p^{r−1}.
    fn headroom_bits(&self, ct: &Ciphertext) -> f64 {
        if let Some(own) = &self.through_ckks {
            let is_whole = own.plan.spec().exponent == ct.exponent();
            return if is_whole { own.engine.capacity(ct) - own.plan.least_input_bits() } else { f64::INFINITY };
        }
        let bootstrapper = self.bootstrapper(ct.content(), ct.exponent()).ok();
        let fitting = bootstrapper.filter(|own| own.plan().formula().message_exponent == ct.exponent());
        fitting.map_or(f64::INFINITY, |own| own.headroom_bits(ct))
    }
}

/// The bootstrappings of a mock server.
pub struct MockRefreshers {
    list: Vec<(Arc<BootstrapPlan>, ClearBootstrapper)>,
    /// Refreshes through CKKS: without noise these change nothing.
    through_ckks: Vec<Arc<RefreshPlan>>,
}

impl MockRefreshers {
    /// Rounding errors are drawn from a fixed seed: the mock has no secrets.
    const SEED: u64 = 1;

    pub(crate) fn new(plans: &[Arc<BootstrapPlan>], through_ckks: &[Arc<RefreshPlan>]) -> Result<Self> {
        let one =
            |plan: &Arc<BootstrapPlan>| Ok((Arc::clone(plan), ClearBootstrapper::new(Arc::clone(plan), Self::SEED)?));
        Ok(Self { list: plans.iter().map(one).collect::<Result<_>>()?, through_ckks: through_ckks.to_vec() })
    }

    /// Whether there is this refresh through CKKS.
    pub(crate) fn refreshes(&self, plan: &Arc<RefreshPlan>) -> bool {
        self.through_ckks.iter().any(|own| own.spec() == plan.spec())
    }

    pub(crate) fn plans(&self) -> impl Iterator<Item = &Arc<BootstrapPlan>> {
        self.list.iter().map(|(plan, _)| plan)
    }
}

impl Refresh<ClearCiphertext> for MockRefreshers {
    fn refresh(&self, ct: &ClearCiphertext) -> Result<ClearCiphertext> {
        if !self.through_ckks.is_empty() {
            return Ok(ct.clone());
        }
        let at = choose(self.list.iter().map(|(plan, _)| &**plan), (ct.content(), ct.exponent()))?;
        self.list[at].1.refresh(ct)
    }

    fn refresh_all(&self, list: &[ClearCiphertext]) -> Result<Vec<ClearCiphertext>> {
        if !self.through_ckks.is_empty() {
            return Ok(list.to_vec());
        }
        let plans = || self.list.iter().map(|(plan, _)| &**plan);
        let alike = same_integers(list.iter().map(|ct| (ct.content(), ct.exponent())));
        let places = alike.and_then(|exponent| batches(plans(), exponent, list.len()));
        let several = |list: &[ClearCiphertext]| list.iter().map(|ct| self.refresh(ct)).collect();
        let Some((packed, single)) = places else { return several(list) };
        let (bootstrapper, single) = (&self.list[packed].1, &self.list[single].0);
        in_batches(list, bootstrapper.batch_plan(), single, |b| bootstrapper.refresh_batch(b), several)
    }

    fn headroom_bits(&self, _: &ClearCiphertext) -> f64 {
        f64::INFINITY
    }
}
