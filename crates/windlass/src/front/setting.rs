//! The data that contexts hold.

use std::sync::Arc;

use crate::bootstrap::BootstrapSpec;
use crate::bootstrap::approximate::RefreshPlan;
use crate::bootstrap::approximate::precise::PreciseRefreshPlan;
use crate::bootstrap::exact_through_ckks::ExactRefreshPlan;
use crate::params::Params;
use crate::schemes::ckks::CkksContext;
use crate::wire::{ApproximateContext, WireContext};

/// The data of a context of exact integers.
#[derive(Debug)]
pub struct ExactSetting {
    pub(crate) params: Params,
    pub(crate) files: WireContext,
    pub(crate) bootstrapping: Option<BootstrapSpec>,
    /// The refresh through CKKS that the parameters are made for.
    pub(crate) exact_refresh: Option<Arc<ExactRefreshPlan>>,
}

/// The data of a context of approximate numbers.
#[derive(Debug)]
pub struct ApproximateSetting {
    /// The refresh that the parameters are made for.
    pub(crate) refresh: Option<Arc<RefreshPlan>>,
    /// The refresh of several passes that they are made for.
    pub(crate) precise_refresh: Option<Arc<PreciseRefreshPlan>>,
    pub(crate) context: Arc<CkksContext>,
    pub(crate) files: ApproximateContext,
}
