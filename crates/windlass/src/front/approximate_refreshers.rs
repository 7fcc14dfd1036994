//! The refreshes of a server of real and complex numbers. Each is prepared when it is first used.

use std::sync::Arc;

use crate::bootstrap::approximate::{RefreshKeys, RefreshPlan, Refresher};
use crate::error::{Error, Result};
use crate::once::Once;
use crate::schemes::ckks;

/// The refreshes of a server of real and complex numbers, with their keys.
#[derive(Default)]
pub struct ApproximateRefreshers {
    list: Vec<Kept>,
}

struct Kept {
    plan: Arc<RefreshPlan>,
    engine: ckks::Engine,
    keys: RefreshKeys,
    ready: Once<Refresher>,
}

impl ApproximateRefreshers {
    /// The smallest first.
    pub(crate) fn new(engine: &ckks::Engine, own: Vec<(Arc<RefreshPlan>, RefreshKeys)>) -> Self {
        let kept = |(plan, keys)| Kept { plan, engine: engine.clone(), keys, ready: Once::new() };
        let mut list: Vec<Kept> = own.into_iter().map(kept).collect();
        list.sort_by_key(|kept| kept.plan.spec().slots);
        Self { list }
    }

    /// The smallest refresh that takes so many slots.
    pub(crate) fn of_slots(&self, slots: usize) -> Result<&Refresher> {
        let most = self.list.last().ok_or(Error::MissingBootstrappingKeys)?.plan.spec().slots;
        let fitting = self.list.iter().find(|kept| kept.plan.spec().slots >= slots);
        let kept = fitting.ok_or(Error::SlotCount { got: slots, most })?;
        kept.ready.get_or_make(|| Refresher::new(&kept.plan, kept.engine.clone(), kept.keys.clone()))
    }
}
