//! Plans: linear maps with a way to evaluate them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;

use super::choice::{Method, choose};
use super::cost::OperationCount;
use super::layout::BATCH;
use super::spec::{HoistMode, PlanSpec};
use super::strategy::Strategy;
use crate::linear::map::{ComplexSlots, LinearGrid, LinearMap, Plannable};

/// A way to evaluate one [`LinearMap`], or a [`LinearGrid`] of them: `Σ_o θ_o( Σ_i κ'_{oi} · θ_i(v)
/// )`, `κ'_{oi} = θ_o^{-1}(κ_{oi})`.
///
/// Inputs `θ_i(v)` are hoisted and left in base `QP`; each row of products is one fused
/// accumulation; rows are gathered by giant steps that stay in `QP`; one mod-down ends it (double
/// hoisting). The same bits come out for any number of threads.
#[derive(Debug, Clone)]
pub struct LinearPlan<R: Plannable = Arc<SlotRing>> {
    grid: LinearGrid<R>,
    method: Method,
    spec: PlanSpec,
    count: OperationCount,
    price: f64,
    /// Ties constants to their plan; copies of a plan share it.
    number: u64,
}

/// What a decomposition is counted as, in ciphertexts: eight digits.
const DIGITS: usize = 4;

/// Plans made so far.
static PLANS: AtomicU64 = AtomicU64::new(0);

/// A representation whose plans this crate makes.
///
/// The planner is generic over representations. A program that called it would compile it. The
/// implementations of this trait have no type parameters, so this crate compiles it, once for each.
pub trait Planned: Plannable {
    /// [`LinearPlan::for_grid`].
    ///
    /// # Errors
    /// As there.
    fn plan(grid: &LinearGrid<Self>, spec: &PlanSpec) -> Result<LinearPlan<Self>>;
}

impl Planned for Arc<SlotRing> {
    fn plan(grid: &LinearGrid, spec: &PlanSpec) -> Result<LinearPlan> {
        LinearPlan::cheapest(grid, spec)
    }
}

impl Planned for ComplexSlots {
    fn plan(grid: &LinearGrid<Self>, spec: &PlanSpec) -> Result<LinearPlan<Self>> {
        LinearPlan::cheapest(grid, spec)
    }
}

impl<R: Planned> LinearMap<R> {
    /// The cheapest plan for this map, by the default prices. See [`LinearPlan::new`].
    ///
    /// # Errors
    /// As there.
    pub fn plan(&self) -> Result<LinearPlan<R>> {
        LinearPlan::new(self, &PlanSpec::default())
    }
}

impl LinearPlan<ComplexSlots> {
    /// The number of rescalings that a product takes: constants have a scale too.
    pub fn depth(&self) -> usize {
        1
    }
}

impl<R: Planned> LinearPlan<R> {
    /// Chooses a factoring of the map's support: the cheapest that the strategy offers and the keys
    /// allow.
    ///
    /// Errors: [`windlass_schemes::Error::MissingGaloisKey`] if no factoring makes do with the given keys (it
    /// names one that the cheapest would need), [`windlass_schemes::Error::Unplannable`] if none has as few as
    /// [`PlanSpec::max_keys`], or for a strategy that is only for maps of another form.
    pub fn new(map: &LinearMap<R>, spec: &PlanSpec) -> Result<Self> {
        Self::for_grid(&LinearGrid::single(map), spec)
    }

    /// A plan for a grid of maps: inputs are prepared once for all outputs, outputs gathered once
    /// for all inputs.
    ///
    /// Errors: as [`Self::new`].
    pub fn for_grid(grid: &LinearGrid<R>, spec: &PlanSpec) -> Result<Self> {
        R::plan(grid, spec)
    }
}

impl<R: Plannable> LinearPlan<R> {
    fn cheapest(grid: &LinearGrid<R>, spec: &PlanSpec) -> Result<Self> {
        let chosen = choose(grid, spec)?;
        let number = PLANS.fetch_add(1, Ordering::Relaxed);
        let (method, count, price) = (chosen.method, chosen.count, chosen.price);
        Ok(Self { grid: grid.clone(), method, spec: spec.clone(), count, price, number })
    }

    /// The maps that this plan evaluates.
    pub fn grid(&self) -> &LinearGrid<R> {
        &self.grid
    }

    /// The strategy asked for.
    pub fn strategy(&self) -> Strategy {
        self.spec.strategy
    }

    /// The automorphisms that need keys, the identity left out: with just these the plan runs.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.method.keys()
    }

    /// How often each operation is used.
    pub fn count(&self) -> OperationCount {
        self.count
    }

    /// The price by the model that chose this plan, in its unit (milliseconds, if the model was
    /// measured).
    pub fn price(&self) -> f64 {
        self.price
    }

    /// What may be used and is preferred.
    pub fn spec(&self) -> &PlanSpec {
        &self.spec
    }

    /// About how many ciphertexts in base QP are held while the map is evaluated: sums and their
    /// images, and inputs with digits, each of which is half a ciphertext; without double hoisting
    /// all inputs.
    pub(crate) fn held(&self) -> usize {
        match &self.method {
            Method::Sums { layout, schedule } => {
                let count = |list: Vec<bool>| list.into_iter().filter(|&is| is).count();
                let inputs = schedule.made.iter().map(|made| match self.spec.hoisting {
                    HoistMode::Double => DIGITS * count(layout.inputs.parents(made)).min(BATCH),
                    _ => count(made.clone()),
                });
                2 * schedule.sums.len() + inputs.sum::<usize>()
            }
            Method::Doubling(_) => 3 + DIGITS,
        }
    }

    pub(in crate::linear) fn method(&self) -> &Method {
        &self.method
    }

    /// The number of this plan, which only its copies share: by it constants are tied to their
    /// plan.
    pub fn number(&self) -> u64 {
        self.number
    }
}
