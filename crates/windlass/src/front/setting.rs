//! What contexts hold.

use std::sync::Arc;

use crate::bootstrap::BootstrapSpec;
use crate::params::Params;
use crate::schemes::ckks::CkksContext;
use crate::wire::{ApproximateContext, WireContext};

/// What a context of exact integers holds.
#[derive(Debug)]
pub struct ExactSetting {
    pub(crate) params: Params,
    pub(crate) files: WireContext,
    pub(crate) bootstrapping: Option<BootstrapSpec>,
}

/// What a context of approximate numbers holds.
#[derive(Debug)]
pub struct ApproximateSetting {
    pub(crate) context: Arc<CkksContext>,
    pub(crate) files: ApproximateContext,
}
