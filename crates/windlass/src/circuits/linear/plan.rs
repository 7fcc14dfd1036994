//! Plans: linear maps with a way to evaluate them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use super::axes::Axes;
use super::cost::OperationCount;
use super::doubling::Doubling;
use super::factoring::Layout;
use super::grid::LinearGrid;
use super::map::LinearMap;
use super::schedule::{Pattern, Schedule};
pub(super) use super::spec::HoistMode;
use super::spec::{ConstantForm, PlanSpec};
use super::strategy::Strategy;
use crate::error::{Error, Result};

/// A way to evaluate one [`LinearMap`], or a [`LinearGrid`] of them: `Σ_o θ_o( Σ_i κ'_{oi} · θ_i(v) )`, `κ'_{oi} = θ_o^{-1}(κ_{oi})`.
///
/// Inputs `θ_i(v)` are hoisted and left in base `QP`; each row of products is one fused accumulation; rows are gathered by
/// giant steps that stay in `QP`; one mod-down ends it (double hoisting). The same bits come out for any number of threads.
#[derive(Debug, Clone)]
pub struct LinearPlan {
    pub(super) grid: LinearGrid,
    pub(super) method: Method,
    pub(super) spec: PlanSpec,
    count: OperationCount,
    price: f64,
    /// Ties constants to their plan; copies of a plan share it.
    pub(super) number: u64,
}

/// Plans made so far.
static PLANS: AtomicU64 = AtomicU64::new(0);

/// What a plan does.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each plan")]
pub(super) enum Method {
    /// Inputs, sums of products, outputs.
    Sums { layout: Layout, schedule: Schedule },
    /// Repeated doubling.
    Doubling(Doubling),
}

impl Method {
    fn keys(&self) -> BTreeSet<u64> {
        match self {
            Method::Sums { layout, .. } => layout.keys(),
            Method::Doubling(doubling) => doubling.keys(),
        }
    }
}

/// The cheapest method so far, and the cheapest that was refused.
#[derive(Default)]
struct Choice {
    best: Option<(f64, OperationCount, Method)>,
    refused: Option<(f64, Refusal)>,
}

enum Refusal {
    MissingKey(u64),
    TooManyKeys(usize),
}

impl Choice {
    fn offer(&mut self, spec: &PlanSpec, count: OperationCount, method: impl FnOnce() -> Method, keys: &BTreeSet<u64>) {
        let expanded = if spec.constants == ConstantForm::Coefficients { count.constant_products } else { 0 };
        let price = count.price(&spec.cost) + expanded as f64 * spec.cost.prepare;
        let missing = spec.keys.as_ref().and_then(|given| keys.difference(given).next().copied());
        let many = spec.max_keys.is_some_and(|most| keys.len() > most);
        let refusal = missing.map(Refusal::MissingKey).or(many.then_some(Refusal::TooManyKeys(keys.len())));
        match refusal {
            Some(refusal) if self.refused.as_ref().is_none_or(|(least, _)| price < *least) => {
                self.refused = Some((price, refusal));
            }
            None if self.best.as_ref().is_none_or(|(least, ..)| price < *least) => {
                self.best = Some((price, count, method()));
            }
            _ => {}
        }
    }
}

impl Choice {
    fn offer_sums(&mut self, axes: &Axes, m: u64, support: &[u64], pattern: &Pattern, ones: usize, spec: &PlanSpec) {
        for factoring in spec.strategy.factorings(axes, support, spec.keys.as_ref()) {
            let layout = factoring.lay_out(axes, m, support);
            let schedule = Schedule::new(pattern, &layout);
            let count = schedule.count(&layout, ones, spec.hoisting);
            let keys = layout.keys();
            self.offer(spec, count, || Method::Sums { layout, schedule }, &keys);
        }
    }

    fn settle(self, spec: &PlanSpec) -> Result<(f64, OperationCount, Method)> {
        let unplannable = |reason: String| Err(Error::Unplannable { strategy: spec.strategy.to_string(), reason });
        match (self.best, self.refused) {
            (Some(best), _) => Ok(best),
            (None, Some((_, Refusal::MissingKey(element)))) => Err(missing_key(element)),
            (None, Some((_, Refusal::TooManyKeys(needed)))) => {
                unplannable(format!("the cheapest way needs {needed} keys; ask for strategy horner, or allow more"))
            }
            (None, None) => {
                unplannable("it sums all of the first powers of one automorphism with one constant, and no more".into())
            }
        }
    }
}

/// A layout with what it takes.
pub(crate) struct Chosen {
    pub(crate) layout: Layout,
    pub(crate) count: OperationCount,
    pub(crate) price: f64,
}

/// The cheapest layout of a support set that the strategy offers and the keys allow; `ones` of its constants are 1.
pub(crate) fn choose(axes: &Axes, m: u64, support: &[u64], ones: usize, spec: &PlanSpec) -> Result<Chosen> {
    let mut choice = Choice::default();
    choice.offer_sums(axes, m, support, &Pattern::single(support.iter().copied()), ones, spec);
    match choice.settle(spec)? {
        (price, count, Method::Sums { layout, .. }) => Ok(Chosen { layout, count, price }),
        (.., Method::Doubling(_)) => unreachable!("only sums were offered"),
    }
}

impl LinearPlan {
    /// Chooses a factoring of the map's support: the cheapest that the strategy offers and the keys allow.
    ///
    /// Errors: [`Error::MissingGaloisKey`] if no factoring makes do with the given keys (it names one that the cheapest
    /// would need), [`Error::Unplannable`] if none has as few as [`PlanSpec::max_keys`], or for a strategy that is only for
    /// maps of another form.
    pub fn new(map: &LinearMap, spec: &PlanSpec) -> Result<Self> {
        Self::for_grid(&LinearGrid::single(map), spec)
    }

    /// A plan for a grid of maps: inputs are prepared once for all outputs, outputs gathered once for all inputs.
    ///
    /// Errors: as [`Self::new`].
    pub fn for_grid(grid: &LinearGrid, spec: &PlanSpec) -> Result<Self> {
        let axes = Axes::of(grid.slots());
        let ones = grid.constants().filter(|constant| constant.is_one()).count();
        let m = grid.slots().m();
        let mut choice = Choice::default();
        choice.offer_sums(&axes, m, &grid.support(), &grid.pattern(), ones, spec);
        if matches!(spec.strategy, Strategy::Automatic | Strategy::Doubling)
            && let Some(doubling) = Doubling::of(&axes, grid)
        {
            let (count, keys) = (doubling.count(spec.hoisting), doubling.keys());
            choice.offer(spec, count, || Method::Doubling(doubling), &keys);
        }
        let (price, count, method) = choice.settle(spec)?;
        let number = PLANS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { grid: grid.clone(), method, spec: spec.clone(), count, price, number })
    }

    /// The number of this plan, which only its copies share: by it constants are tied to their plan.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The maps that this plan evaluates.
    pub fn grid(&self) -> &LinearGrid {
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

    /// The price by the model that chose this plan, in its unit (milliseconds, if the model was measured).
    pub fn price(&self) -> f64 {
        self.price
    }
}

/// The error for a key that is not there.
pub(super) fn missing_key(element: u64) -> Error {
    let make_with = "LinearPlan::required_keys, or plan for the keys there are with PlanSpec::with_keys".to_owned();
    Error::MissingGaloisKey { element, make_with }
}
