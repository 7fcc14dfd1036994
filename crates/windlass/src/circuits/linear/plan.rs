//! Plans: a linear map with a way to evaluate it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rayon::prelude::*;

use super::axes::Axes;
use super::cost::{CostModel, OperationCount};
use super::factoring::Layout;
use super::map::LinearMap;
use super::strategy::Strategy;
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::hoisting::Hoisting;
use crate::plaintext::Plaintext;

/// What a plan may use and what it should prefer.
#[derive(Debug, Clone, Default)]
pub struct PlanSpec {
    /// The algorithm; [`Strategy::Automatic`] leaves it to the prices.
    pub strategy: Strategy,
    /// The automorphisms that have keys; `None` if keys will be made for the plan.
    pub keys: Option<BTreeSet<u64>>,
    /// The prices.
    pub cost: CostModel,
}

impl PlanSpec {
    /// A given strategy, with any keys it likes.
    pub fn with_strategy(strategy: Strategy) -> Self {
        Self { strategy, ..Self::default() }
    }

    /// The cheapest plan that the given keys allow.
    pub fn with_keys(keys: impl IntoIterator<Item = u64>) -> Self {
        Self { keys: Some(keys.into_iter().collect()), ..Self::default() }
    }
}

/// A way to evaluate one [`LinearMap`]: `Σ_o θ_o( Σ_i κ'_{oi} · θ_i(v) )`, with `κ'_{oi} = θ_o^{-1}(κ_{oi})`.
///
/// Inputs `θ_i(v)` are hoisted and left in base `QP`; each row of products is one fused accumulation; rows are gathered by
/// giant steps that stay in `QP`; one mod-down ends it (double hoisting). The same bits come out for any number of threads.
#[derive(Debug, Clone)]
pub struct LinearPlan {
    pub(super) map: LinearMap,
    pub(super) layout: Layout,
    strategy: Strategy,
    count: OperationCount,
    price: f64,
}

/// The constants of a plan, converted for one evaluator.
pub struct PreparedPlan<E: Hoisting> {
    pub(crate) rows: Vec<PreparedRow<E>>,
}

/// One row: the input nodes with constants, and those with the constant 1.
pub(crate) struct PreparedRow<E: Hoisting> {
    pub(crate) weighted: Vec<(usize, E::Constant)>,
    pub(crate) plain: Vec<usize>,
}

impl LinearPlan {
    /// Chooses a factoring of the map's support: the cheapest that the strategy offers and the keys allow.
    ///
    /// Errors: [`Error::MissingGaloisKey`] if no factoring makes do with the given keys (it names one that the cheapest
    /// would need).
    pub fn new(map: &LinearMap, spec: &PlanSpec) -> Result<Self> {
        let axes = Axes::of(map.slots());
        let units = map.terms().filter(|(_, constant)| constant.is_one()).count();
        let chosen = choose(&axes, map.slots().quotient().m(), &map.support(), units, spec)?;
        let Chosen { layout, count, price } = chosen;
        Ok(Self { map: map.clone(), layout, strategy: spec.strategy, count, price })
    }

    /// The map that this plan evaluates.
    pub fn map(&self) -> &LinearMap {
        &self.map
    }

    /// The automorphisms that need keys, the identity left out.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.layout.keys()
    }

    /// How often each operation is used.
    pub fn count(&self) -> OperationCount {
        self.count
    }

    /// The price by the model that chose this plan, in its unit.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// The plan in words, one line for each stage.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let slots = self.map.slots();
        let (inputs, outputs) = (&self.layout.inputs, &self.layout.outputs);
        let write = |text: &mut String| -> std::fmt::Result {
            writeln!(
                text,
                "linear map on m = {}, {} slots: {} automorphisms, strategy {}",
                slots.quotient().m(),
                slots.slots(),
                self.map.terms().len(),
                self.strategy
            )?;
            writeln!(text, "  inputs:  {} ({} deep)", inputs.nodes().len(), inputs.depth())?;
            writeln!(text, "  outputs: {} ({} deep)", outputs.nodes().len(), outputs.depth())?;
            writeln!(text, "  uses:    {}", self.count)?;
            writeln!(text, "  price:   {:.1}", self.price)?;
            write!(text, "  keys:    {:?}", self.required_keys())
        };
        write(&mut text).expect("writing to a string cannot fail");
        text
    }

    /// Converts the constants for an evaluator, in parallel; done once for any number of [`LinearPlan::apply`].
    ///
    /// Errors: [`Error::ContextMismatch`] for an evaluator of another plaintext ring.
    pub fn prepare<E: Evaluator>(&self, evaluator: &E) -> Result<PreparedPlan<E>> {
        crate::plaintext::check_same_ring(self.map.slots(), evaluator.slots(), "LinearPlan::prepare")?;
        let m = self.map.slots().quotient().m();
        let rows = self
            .layout
            .rows
            .par_iter()
            .zip(self.layout.outputs.nodes())
            .map(|(row, node)| {
                let back = super::axes::inverse_mod(node.element, m);
                let constants: Vec<(usize, Option<E::Constant>)> = row
                    .par_iter()
                    .map(|&(input, t)| {
                        let constant = self.row_constant(t, back)?;
                        let prepared = if constant.is_one() { None } else { Some(evaluator.prepare(&constant)?) };
                        Ok((input, prepared))
                    })
                    .collect::<Result<_>>()?;
                let (mut weighted, mut plain) = (Vec::new(), Vec::new());
                for (input, constant) in constants {
                    match constant {
                        Some(constant) => weighted.push((input, constant)),
                        None => plain.push(input),
                    }
                }
                Ok(PreparedRow { weighted, plain })
            })
            .collect::<Result<_>>()?;
        Ok(PreparedPlan { rows })
    }

    /// `θ_back(κ_t)`.
    fn row_constant(&self, t: u64, back: u64) -> Result<Plaintext> {
        self.map.constant(t).expect("the layout was made from the map's support").automorphism(back)
    }
}

/// A layout with what it takes.
pub(crate) struct Chosen {
    pub(crate) layout: Layout,
    pub(crate) count: OperationCount,
    pub(crate) price: f64,
}

/// The cheapest layout of a support set that the strategy offers and the keys allow; `units` of its constants are 1.
pub(crate) fn choose(axes: &Axes, m: u64, support: &[u64], units: usize, spec: &PlanSpec) -> Result<Chosen> {
    let mut best: Option<(f64, Layout)> = None;
    let mut refused: Option<(f64, u64)> = None;
    for factoring in spec.strategy.factorings(axes, support, spec.keys.as_ref()) {
        let layout = factoring.lay_out(axes, m, support);
        let price = layout.count(units).price(&spec.cost);
        let missing = spec.keys.as_ref().and_then(|keys| layout.keys().difference(keys).next().copied());
        match missing {
            Some(t) if refused.is_none_or(|(least, _)| price < least) => refused = Some((price, t)),
            None if best.as_ref().is_none_or(|(least, _)| price < *least) => best = Some((price, layout)),
            _ => {}
        }
    }
    match (best, refused) {
        (Some((price, layout)), _) => {
            let count = layout.count(units);
            Ok(Chosen { layout, count, price })
        }
        (None, Some((_, element))) => Err(missing_key(element)),
        (None, None) => unreachable!("every strategy offers a factoring for every support"),
    }
}

/// The error for a key that is not there.
pub(super) fn missing_key(element: u64) -> Error {
    let make_with = "LinearPlan::required_keys, or plan for the keys there are with PlanSpec::with_keys".to_owned();
    Error::MissingGaloisKey { element, make_with }
}
