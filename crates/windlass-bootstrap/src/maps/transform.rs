//! The interface of a transform between slots and coefficients.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_schemes::error::{BootstrapError, Error, Result};

use super::packing::Packing;
use super::slot_map::SlotMap;

/// The elementary stages of one map, first to last: those that may be merged, and one before or
/// after them that is a separate stage.
#[derive(Debug)]
pub struct Stages {
    /// What comes before them.
    pub first: Option<SlotMap>,
    /// Those that may be merged.
    pub merged: Vec<SlotMap>,
    /// What comes after them.
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
/// Thin maps are for integers in the slots; those of packed mode for all elements, with
/// coefficients taken apart and put together by a [`Packing`]. The published ones are the constants
/// of [`super::Transform`]; one of your own becomes a [`super::Transform`] by
/// [`super::Transform::own`], and is checked on random plaintexts before a plan is made with it.
pub trait SlotTransform: fmt::Debug + Send + Sync {
    /// The name that it is chosen by.
    fn name(&self) -> &'static str;

    /// Where it was published.
    fn citation(&self) -> &'static str;

    /// What it needs that m and p do not have.
    fn refusal(&self, m: u64, p: u64) -> Option<&'static str>;

    /// Of thin maps: the s for which slots hold elements that σ^s fixes, σ the Frobenius map, so
    /// that automorphisms count up to powers of σ^s; s = 1 for integers. None where all count.
    fn fixed_step(&self, _: &SlotRing) -> Option<usize> {
        None
    }

    /// How many of the elementary stages of each thin map may be merged, over slots in this order.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`] for slots in another order than that of the maps.
    fn stage_count(&self, slots: &Hypercube) -> Result<usize>;

    /// The thin map from slots to coefficients: integer i becomes a coefficient of the powerful
    /// basis, each another one, and the other coefficients are 0.
    ///
    /// # Errors
    /// Errors of building maps.
    fn evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages>;

    /// The thin map from coefficients to slots, before the trace `Σ_{k<d} σ^k` of every slot. After
    /// the trace a slot holds the coefficient where [`Self::evaluation`] put its integer, for all
    /// values of the other coefficients.
    ///
    /// # Errors
    /// Errors of building maps.
    fn interpolation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages>;

    /// The bases of packed mode.
    fn packing(&self, slot_ring: &Arc<SlotRing>) -> Packing {
        Packing::normal(slot_ring)
    }

    /// Whether the stages are linear over a subring that monomials split elements into.
    fn allows_monomials(&self) -> bool {
        false
    }

    /// How many of the elementary stages may be merged in packed mode.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`] if the transform exists only in thin mode.
    fn packed_stage_count(&self, _: &Hypercube) -> Result<usize> {
        Err(thin_alone(self.name()))
    }

    /// From slots `Σ_i c_i·ε_i` (ε of [`Packing::repacked`]) to the element with these
    /// coefficients.
    ///
    /// # Errors
    /// As [`Self::packed_stage_count`].
    fn packed_evaluation(&self, _: &Arc<SlotRing>) -> Result<Stages> {
        Err(thin_alone(self.name()))
    }

    /// From an element to slots `Σ_i c_i·η_i` with its coefficients, η the given basis.
    ///
    /// # Errors
    /// As [`Self::packed_stage_count`].
    fn packed_interpolation(&self, _slots: &Arc<SlotRing>, _basis: &[Vec<u64>]) -> Result<Stages> {
        Err(thin_alone(self.name()))
    }

    /// The automorphisms of the stages of packed mode, to the coefficients and to the slots.
    ///
    /// # Errors
    /// As [`Self::packed_stage_count`].
    fn packed_supports(&self, slot_ring: &Arc<SlotRing>) -> Result<[StageSupports; 2]> {
        let forth = self.packed_evaluation(slot_ring)?;
        let back = self.packed_interpolation(slot_ring, self.packing(slot_ring).basis())?;
        Ok([forth, back].map(|stages| StageSupports::of(&stages)))
    }
}

fn thin_alone(name: &str) -> Error {
    let what = format!("{name} stages exist only in thin mode; use another transform, or Mode::Thin");
    BootstrapError::Unsupported { what }.into()
}

/// The automorphisms of each elementary stage, first to last.
pub type Supports = Vec<BTreeSet<u64>>;

/// The automorphisms of [`Stages`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageSupports {
    /// Of the stage before those that may be merged.
    pub first: Option<BTreeSet<u64>>,
    /// Of those.
    pub merged: Supports,
    /// Of the stage after them.
    pub last: Option<BTreeSet<u64>>,
}

impl StageSupports {
    /// Of these stages.
    pub fn of(stages: &Stages) -> Self {
        let one = |stage: &Option<SlotMap>| stage.as_ref().map(|map| map.support().into_iter().collect());
        Self { first: one(&stages.first), merged: supports(&stages.merged), last: one(&stages.last) }
    }

    /// Of maps without stages beside them.
    pub(crate) fn alone(merged: Supports) -> Self {
        Self { first: None, merged, last: None }
    }

    /// With those beside as parts of their neighbours, where there are any: automorphisms modulo m.
    pub(crate) fn joined(self, m: u64) -> Self {
        let Self { first, mut merged, last } = self;
        let product = |a: &BTreeSet<u64>, b: &BTreeSet<u64>| {
            a.iter().flat_map(|x| b.iter().map(move |y| x * y % m)).collect::<BTreeSet<u64>>()
        };
        let Some(end) = merged.len().checked_sub(1) else { return Self { first, merged, last } };
        if let Some(first) = &first {
            merged[0] = product(&merged[0], first);
        }
        if let Some(last) = &last {
            merged[end] = product(&merged[end], last);
        }
        Self::alone(merged)
    }

    /// How many automorphisms each of the stages beside has.
    pub(crate) fn beside(&self) -> impl Iterator<Item = usize> {
        [&self.first, &self.last].into_iter().flatten().map(BTreeSet::len)
    }
}

/// Of these stages.
pub(crate) fn supports(stages: &[SlotMap]) -> Supports {
    stages.iter().map(|stage| stage.support().into_iter().collect()).collect()
}
