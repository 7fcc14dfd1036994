//! The refreshes of a server of real and complex numbers. Each is prepared when it is first used.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::bootstrap::Progress;
use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan, Refresher};
use crate::error::{Error, Result};
use crate::once::Once;
use crate::schemes::{Refresh, ckks};

/// The refreshes of a server of real and complex numbers, with their keys.
pub struct ApproximateRefreshers {
    list: Vec<Kept>,
}

struct Kept {
    plan: Arc<RefreshPlan>,
    /// One that does not refresh by itself.
    engine: ckks::Engine,
    keys: RefreshKeys,
    ready: Once<Refresher>,
}

impl Kept {
    fn prepared(&self) -> Result<&Refresher> {
        self.ready.get_or_make(|| Refresher::new(&self.plan, self.engine.clone(), self.keys.clone()))
    }
}

impl ApproximateRefreshers {
    /// The smallest first.
    pub(crate) fn new(engine: &ckks::Engine, own: Vec<(Arc<RefreshPlan>, RefreshKeys)>) -> Self {
        let kept = |(plan, keys)| Kept { plan, engine: engine.clone(), keys, ready: Once::new() };
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
    pub(crate) fn of_slots(&self, slots: usize) -> Result<&Refresher> {
        self.list[self.place(slots)?].prepared()
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
        observe: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
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
            done.extend(match real {
                true => refresher.refresh_real_list(run, observe)?,
                false => refresher.refresh_list(run, observe)?,
            });
        }
        Ok(done)
    }
}

impl Refresh<ckks::Ciphertext> for ApproximateRefreshers {
    fn refresh(&self, ct: &ckks::Ciphertext) -> Result<ckks::Ciphertext> {
        self.of_slots(ct.slots())?.refresh(ct)
    }

    fn refresh_all(&self, list: &[ckks::Ciphertext]) -> Result<Vec<ckks::Ciphertext>> {
        self.refresh_list(list, false, &mut |_| ControlFlow::Continue(()))
    }

    /// Infinite also for ciphertexts of more slots than any refresh here takes.
    fn headroom_bits(&self, ct: &ckks::Ciphertext) -> f64 {
        self.place(ct.slots()).map_or(f64::INFINITY, |place| self.list[place].plan.headroom_bits(ct))
    }

    /// The most of all.
    fn levels(&self) -> usize {
        self.list.iter().map(|kept| kept.plan.spec().input_levels()).max().unwrap_or(0)
    }

    fn accepts(&self, ct: &ckks::Ciphertext) -> bool {
        self.place(ct.slots()).is_ok_and(|place| self.list[place].plan.accepts(ct))
    }
}
