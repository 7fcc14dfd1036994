//! The planner, compiled once for each representation.
//!
//! Plans are generic over the representation of their constants. A program that called generic code
//! would compile it, with all that it calls. [`Planned`] stands between: programs call its methods,
//! and its implementations have no type parameters, so this crate compiles them.

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;

use super::cost::CostModel;
use super::linear_plan::LinearPlan;
use super::spec::PlanSpec;
use crate::linear::map::{ComplexSlots, LinearGrid, LinearMap, Plannable};

/// A representation whose plans this crate makes and explains.
pub trait Planned: Plannable {
    /// [`LinearPlan::new`].
    ///
    /// # Errors
    /// As there.
    fn plan_map(map: &LinearMap<Self>, spec: &PlanSpec) -> Result<LinearPlan<Self>>;

    /// [`LinearPlan::for_grid`].
    ///
    /// # Errors
    /// As there.
    fn plan_grid(grid: &LinearGrid<Self>, spec: &PlanSpec) -> Result<LinearPlan<Self>>;

    /// [`LinearPlan::explain_at`].
    fn explain(plan: &LinearPlan<Self>, prices: &CostModel) -> String;
}

macro_rules! planned {
    ($($representation:ty)*) => {
        $(impl Planned for $representation {
            fn plan_map(map: &LinearMap<Self>, spec: &PlanSpec) -> Result<LinearPlan<Self>> {
                LinearPlan::cheapest(&LinearGrid::single(map), spec)
            }

            fn plan_grid(grid: &LinearGrid<Self>, spec: &PlanSpec) -> Result<LinearPlan<Self>> {
                LinearPlan::cheapest(grid, spec)
            }

            fn explain(plan: &LinearPlan<Self>, prices: &CostModel) -> String {
                plan.in_words(prices)
            }
        })*
    };
}

planned!(Arc<SlotRing> ComplexSlots);

impl<R: Planned> LinearMap<R> {
    /// The cheapest plan for this map, by the default prices. See [`LinearPlan::new`].
    ///
    /// # Errors
    /// As there.
    pub fn plan(&self) -> Result<LinearPlan<R>> {
        LinearPlan::new(self, &PlanSpec::default())
    }
}

impl<R: Planned> LinearPlan<R> {
    /// Chooses a factoring of the map's support: the cheapest that the strategy offers and the keys
    /// allow.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::MissingGaloisKey`] if no factoring makes do with the given keys (it names
    /// one that the cheapest would need), [`windlass_schemes::Error::Unplannable`] if none has as few as
    /// [`PlanSpec::max_keys`], or for a strategy that is only for maps of another form.
    pub fn new(map: &LinearMap<R>, spec: &PlanSpec) -> Result<Self> {
        R::plan_map(map, spec)
    }

    /// A plan for a grid of maps: inputs are prepared once for all outputs, outputs gathered once
    /// for all inputs.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn for_grid(grid: &LinearGrid<R>, spec: &PlanSpec) -> Result<Self> {
        R::plan_grid(grid, spec)
    }

    /// The plan in words: factoring, operations, time, capacity used, keys and constants, by the
    /// prices that chose it. See [`Self::explain_at`].
    pub fn explain(&self) -> String {
        self.explain_at(&self.spec().cost)
    }

    /// As [`Self::explain`], with times and sizes by other prices: in seconds or milliseconds, and
    /// in bytes, where these know them (`context.prices()`, [`CostModel::measure`]).
    pub fn explain_at(&self, prices: &CostModel) -> String {
        R::explain(self, prices)
    }
}
