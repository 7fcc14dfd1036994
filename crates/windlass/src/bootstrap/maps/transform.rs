//! What a transform between slots and coefficients is.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use windlass_ring::slots::SlotRing;

use super::packing::Packing;
use super::slot_map::{Fixed, SlotMap};
use crate::error::Result;

/// The elementary stages of one map, first to last: those that may be merged, and one before or
/// after them that is a stage by itself.
#[derive(Debug)]
pub(crate) struct Stages {
    pub first: Option<SlotMap>,
    pub merged: Vec<SlotMap>,
    pub last: Option<SlotMap>,
}

impl Stages {
    /// All may be merged.
    pub fn of(merged: Vec<SlotMap>) -> Self {
        Self { first: None, merged, last: None }
    }
}

/// A way to split the maps between slots and coefficients into elementary stages.
///
/// Thin maps are for integers in the slots; those of packed mode for all elements, with coefficients
/// taken apart and put together by a [`Packing`].
pub(crate) trait SlotTransform: fmt::Debug + Send + Sync {
    /// The name that it is chosen by.
    fn name(&self) -> &'static str;

    /// Where it was published.
    fn citation(&self) -> &'static str;

    /// What it needs that m and p do not have.
    fn refusal(&self, m: u64, p: u64) -> Option<&'static str>;

    /// Of thin maps: the slots hold elements that a power of σ fixes, so that automorphisms count up
    /// to that.
    fn fixed(&self, _: &Arc<SlotRing>) -> Option<Fixed> {
        None
    }

    /// The thin map from slots to coefficients.
    fn evaluation(&self, slots: &Arc<SlotRing>) -> Result<Stages>;

    /// The thin map from coefficients to slots, before the trace.
    fn interpolation(&self, slots: &Arc<SlotRing>) -> Result<Stages>;

    /// The bases of packed mode.
    fn packing(&self, slots: &Arc<SlotRing>) -> Packing {
        Packing::normal(slots)
    }

    /// Whether the stages are linear over a subring that monomials split elements into.
    fn allows_monomials(&self) -> bool {
        false
    }

    /// How many of the elementary stages may be merged in packed mode.
    fn packed_stage_count(&self, m: u64, p: u64) -> Result<usize>;

    /// From slots `Σ_i c_i·ε_i` (ε of [`Packing::repacking`]) to the element with these coefficients.
    fn packed_evaluation(&self, slots: &Arc<SlotRing>) -> Result<Stages>;

    /// From an element to slots `Σ_i c_i·η_i` with its coefficients, η the given basis.
    fn packed_interpolation(&self, slots: &Arc<SlotRing>, basis: &[Vec<u64>]) -> Result<Stages>;

    /// The automorphisms of the stages of packed mode: of those that may be merged, to the
    /// coefficients and to the slots, and of the one beside them where it depends on the transform.
    fn packed_supports(&self, slots: &Arc<SlotRing>) -> Result<([Supports; 2], BTreeSet<u64>)>;
}

/// The automorphisms of each elementary stage, first to last.
pub(crate) type Supports = Vec<BTreeSet<u64>>;

/// Of these stages.
pub(crate) fn supports(stages: &[SlotMap]) -> Supports {
    stages.iter().map(|stage| stage.support().into_iter().collect()).collect()
}
