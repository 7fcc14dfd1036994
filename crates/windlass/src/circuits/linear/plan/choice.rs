//! Choosing among the ways that a strategy proposes.

use std::collections::BTreeSet;

use super::cost::OperationCount;
use super::doubling::Doubling;
use super::layout::Layout;
use super::schedule::Schedule;
use super::spec::{ConstantForm, PlanSpec};
use super::strategy::Support;
use crate::circuits::linear::map::{LinearGrid, Plannable};
use crate::error::{Error, Result};

/// What a plan does.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each plan")]
pub(crate) enum Method {
    /// Inputs, sums of products, outputs.
    Sums { layout: Layout, schedule: Schedule },
    /// Repeated doubling.
    Doubling(Doubling),
}

impl Method {
    pub fn keys(&self) -> BTreeSet<u64> {
        match self {
            Method::Sums { layout, .. } => layout.keys(),
            Method::Doubling(doubling) => doubling.keys(),
        }
    }
}

/// A method with what it takes.
pub(super) struct Chosen {
    pub method: Method,
    pub count: OperationCount,
    pub price: f64,
}

/// The cheapest method so far, and the cheapest that was refused.
#[derive(Default)]
struct Choice {
    best: Option<Chosen>,
    refused: Option<(f64, Refusal)>,
}

enum Refusal {
    MissingKey(u64),
    TooManyKeys(usize),
}

/// The cheapest of all that the strategy proposes and the keys allow.
///
/// Errors: [`Error::MissingGaloisKey`] for a key that the cheapest of all would need,
/// [`Error::Unplannable`] where none has few enough keys, there is no proposal, or one is no
/// factoring of the map.
pub(super) fn choose<R: Plannable>(grid: &LinearGrid<R>, spec: &PlanSpec) -> Result<Chosen> {
    let representation = grid.representation();
    let (m, axes, elements) = (representation.conductor(), representation.axes(), grid.support());
    let support = Support { m, axes: &axes, elements: &elements, keys: spec.keys.as_ref() };
    let (blocks, ones) = (grid.supports(), grid.constants().filter(|one| representation.is_one(one)).count());
    let unplannable = |reason: String| Error::Unplannable { strategy: spec.strategy.to_string(), reason };
    let mut choice = Choice::default();
    for proposal in spec.strategy.proposals(&support) {
        if let Some(layout) = Layout::of(&proposal, &support).map_err(unplannable)? {
            let schedule = Schedule::new((grid.rows(), grid.columns()), &blocks, &layout);
            let count = schedule.count(&layout, ones, spec.hoisting);
            let keys = layout.keys();
            choice.offer(spec, count, || Method::Sums { layout, schedule }, &keys);
        } else if let Some(doubling) = Doubling::of(&axes, grid) {
            let (count, keys) = (doubling.count(spec.hoisting), doubling.keys());
            choice.offer(spec, count, || Method::Doubling(doubling), &keys);
        }
    }
    choice.settle().map_err(|refusal| match refusal {
        Some(Refusal::MissingKey(element)) => missing_key(element),
        Some(Refusal::TooManyKeys(needed)) => {
            unplannable(format!("the cheapest way needs {needed} keys; ask for strategy horner, or allow more"))
        }
        None => unplannable("it has no way to evaluate a map of this form".into()),
    })
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
            None if self.best.as_ref().is_none_or(|best| price < best.price) => {
                self.best = Some(Chosen { method: method(), count, price });
            }
            _ => {}
        }
    }

    fn settle(self) -> std::result::Result<Chosen, Option<Refusal>> {
        self.best.ok_or(self.refused.map(|(_, refusal)| refusal))
    }
}

/// The error for a key that is not there.
pub(crate) fn missing_key(element: u64) -> Error {
    let make_with = "LinearPlan::required_keys, or plan for the keys there are with PlanSpec::with_keys".to_owned();
    Error::MissingGaloisKey { element, make_with }
}
