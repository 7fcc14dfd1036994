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
use crate::linear::map::{ComplexSlots, LinearGrid, Plannable};

/// A way to evaluate one [`LinearMap`](crate::LinearMap), or a [`LinearGrid`] of them: `Σ_o θ_o( Σ_i κ'_{oi} · θ_i(v)
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

impl LinearPlan<ComplexSlots> {
    /// The number of rescalings that a product takes: constants have a scale too.
    pub fn depth(&self) -> usize {
        1
    }
}

impl<R: Plannable> LinearPlan<R> {
    /// As [`LinearPlan::for_grid`].
    pub(super) fn cheapest(grid: &LinearGrid<R>, spec: &PlanSpec) -> Result<Self> {
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

    /// The most automorphisms that an input of the products goes through, one after the other: so many
    /// errors of key switches it has.
    #[doc(hidden)]
    pub fn input_steps(&self) -> usize {
        match &self.method {
            Method::Sums { layout, .. } => layout.inputs.depth(),
            Method::Doubling(doubling) => doubling.keys().len(),
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
