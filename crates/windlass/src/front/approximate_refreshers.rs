//! The refreshes of a server of real and complex numbers. Each is prepared when it is first used.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::bootstrap::approximate::precise::{PreciseRefreshPlan, PreciseRefresher};
use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan, Refresher};
use crate::bootstrap::{BootstrapError, Progress};
use crate::error::{Error, Result};
use crate::once::Once;
use crate::schemes::ckks::RefreshTerms;
use crate::schemes::{Refresh, ckks};

/// The refreshes of a server of real and complex numbers, with their keys.
pub struct ApproximateRefreshers {
    list: Vec<Kept>,
}

struct Kept {
    plan: Arc<RefreshPlan>,
    /// All passes, if the plan is that of one pass of several.
    passes: Option<Arc<PreciseRefreshPlan>>,
    /// One that does not refresh by itself.
    engine: ckks::Engine,
    keys: RefreshKeys,
    ready: Once<Ready>,
    /// What the plan states of one pass.
    terms: Once<RefreshTerms>,
}

/// A refresh whose maps are prepared.
enum Ready {
    OnePass(Refresher),
    Passes(PreciseRefresher),
}

impl Kept {
    fn prepared(&self) -> Result<&Ready> {
        self.ready.get_or_make(|| {
            let (engine, keys) = (self.engine.clone(), self.keys.clone());
            Ok(match &self.passes {
                None => Ready::OnePass(Refresher::new(&self.plan, engine, keys)?),
                Some(plan) => Ready::Passes(PreciseRefresher::new(plan, &engine, keys)?),
            })
        })
    }

    fn headroom_bits(&self, ct: &ckks::Ciphertext) -> f64 {
        match &self.passes {
            None => self.plan.headroom_bits(ct),
            Some(plan) => plan.headroom_bits(ct),
        }
    }

    fn terms(&self) -> Option<RefreshTerms> {
        match self.passes {
            None => self.terms.get_or_make(|| self.plan.terms()).ok().copied(),
            Some(_) => None,
        }
    }

    fn accepts(&self, ct: &ckks::Ciphertext) -> bool {
        match &self.passes {
            None => self.plan.accepts(ct),
            Some(plan) => plan.accepts(ct),
        }
    }
}

impl Ready {
    fn check(&self, ct: &ckks::Ciphertext) -> Result<()> {
        match self {
            Self::OnePass(refresher) => refresher.check(ct),
            Self::Passes(refresher) => refresher.check(ct),
        }
    }

    fn refresh(&self, ct: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        match self {
            Self::OnePass(refresher) => refresher.refresh(ct),
            Self::Passes(refresher) => refresher.refresh(ct),
        }
    }

    fn refresh_list(
        &self,
        list: &[ckks::Ciphertext],
        real: bool,
        observe: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Vec<ckks::Ciphertext>> {
        match self {
            Self::OnePass(refresher) if real => refresher.refresh_real_list(list, observe),
            Self::OnePass(refresher) => refresher.refresh_list(list, observe),
            Self::Passes(refresher) => refresher.refresh_list(list, observe),
        }
    }
}

impl ApproximateRefreshers {
    /// The smallest first. With `passes` every plan is that of their refresh.
    pub(crate) fn new(
        engine: &ckks::Engine,
        passes: Option<&Arc<PreciseRefreshPlan>>,
        own: Vec<(Arc<RefreshPlan>, RefreshKeys)>,
    ) -> Self {
        let kept = |(plan, keys)| {
            let (passes, engine) = (passes.cloned(), engine.clone());
            Kept { plan, passes, engine, keys, ready: Once::new(), terms: Once::new() }
        };
        let mut list: Vec<Kept> = own.into_iter().map(kept).collect();
        list.sort_by_key(|kept| kept.plan.spec().slots);
        Self { list }
    }

    pub(crate) fn plans_and_keys(&self) -> impl Iterator<Item = (&Arc<RefreshPlan>, &RefreshKeys)> {
        self.list.iter().map(|own| (&own.plan, &own.keys))
    }

    /// Whether there are no refreshes.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The smallest refresh that takes so many slots.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`] if it has several passes.
    pub(crate) fn of_slots(&self, slots: usize) -> Result<&Refresher> {
        match self.list[self.place(slots)?].prepared()? {
            Ready::OnePass(refresher) => Ok(refresher),
            Ready::Passes(_) => {
                let what = "this refresh has several passes; use precise_refresher".into();
                Err(BootstrapError::Unsupported { what }.into())
            }
        }
    }

    /// The refresh of several passes.
    ///
    /// # Errors
    /// [`Error::MissingBootstrappingKeys`] if the server has no such refresh.
    pub(crate) fn precise(&self) -> Result<&PreciseRefresher> {
        let of_passes = self.list.iter().find(|kept| kept.passes.is_some());
        match of_passes.ok_or(Error::MissingBootstrappingKeys)?.prepared()? {
            Ready::Passes(refresher) => Ok(refresher),
            Ready::OnePass(_) => Err(Error::MissingBootstrappingKeys),
        }
    }

    /// The index of that refresh.
    fn place(&self, slots: usize) -> Result<usize> {
        let most = self.list.last().ok_or(Error::MissingBootstrappingKeys)?.plan.spec().slots;
        let fitting = self.list.iter().position(|kept| kept.plan.spec().slots >= slots);
        fitting.ok_or(Error::SlotCount { got: slots, most })
    }

    /// [`Refresher::refresh_list`], or [`Refresher::refresh_real_list`], for each run of adjacent
    /// ciphertexts of one refresh.
    pub(crate) fn refresh_list(
        &self,
        list: &[ckks::Ciphertext],
        real: bool,
        observe: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Vec<ckks::Ciphertext>> {
        let places: Vec<usize> = list.iter().map(|ct| self.place(ct.slots())).collect::<Result<_>>()?;
        let (mut runs, mut rest) = (Vec::new(), list);
        for alike in places.chunk_by(|a, b| a == b) {
            let (now, later) = rest.split_at(alike.len());
            runs.push((self.list[alike[0]].prepared()?, now));
            rest = later;
        }
        for (refresher, run) in &runs {
            run.iter().try_for_each(|ct| refresher.check(ct))?;
        }
        let mut done = Vec::with_capacity(list.len());
        for (refresher, run) in runs {
            done.extend(refresher.refresh_list(run, real, observe)?);
        }
        Ok(done)
    }
}

impl Refresh<ckks::Ciphertext> for ApproximateRefreshers {
    fn refresh(&self, ct: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.list[self.place(ct.slots())?].prepared()?.refresh(ct)
    }

    fn refresh_all(&self, list: &[ckks::Ciphertext]) -> Result<Vec<ckks::Ciphertext>> {
        self.refresh_list(list, false, &mut |_| ControlFlow::Continue(()))
    }

    fn refresh_real_all(&self, list: &[ckks::Ciphertext]) -> Result<Vec<ckks::Ciphertext>> {
        self.refresh_list(list, true, &mut |_| ControlFlow::Continue(()))
    }

    fn terms(&self, slots: usize) -> Option<RefreshTerms> {
        self.place(slots).ok().and_then(|place| self.list[place].terms())
    }

    /// Infinite also for ciphertexts of more slots than any refresh here takes.
    fn headroom_bits(&self, ct: &ckks::Ciphertext) -> f64 {
        self.place(ct.slots()).map_or(f64::INFINITY, |place| self.list[place].headroom_bits(ct))
    }

    /// The most of all.
    fn levels(&self) -> usize {
        self.list.iter().map(|kept| kept.plan.spec().input_levels()).max().unwrap_or(0)
    }

    fn accepts(&self, ct: &ckks::Ciphertext) -> bool {
        self.place(ct.slots()).is_ok_and(|place| self.list[place].accepts(ct))
    }
}
