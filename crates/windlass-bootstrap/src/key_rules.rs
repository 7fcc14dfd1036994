//! Decides which Galois keys the maps of a plan may use, and chooses plans with few keys.

use std::collections::BTreeSet;

use windlass_circuits::{CostModel, PlanSpec};
use windlass_ring::slots::Hypercube;
use windlass_rlwe::{KeyStrategy, RlweParams};
use windlass_schemes::error::{BootstrapError, Error, Result};

use super::map_choice::MapChoice;
use super::pipeline::{Parts, PipelineStep};
use super::spec::BootstrapSpec;

/// What the maps of one plan may use.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeyRule {
    /// The automorphisms that have keys; `None` if keys are made for the plan.
    pub keys: Option<BTreeSet<u64>>,
    /// What a key of one map counts for, in automorphisms of a hoisted ciphertext.
    price: f64,
}

impl KeyRule {
    /// The weight of a key in the price, as a fraction of the cost of using it once. A few more keys
    /// can save a few hundredths of the forecast price, but the measured time is the same, and the
    /// keys must be made.
    const PRICE: f64 = 0.2;

    /// Prices that are tried where few keys are asked for.
    const RAISED: [f64; 5] = [1.0, 4.0, 16.0, 64.0, 256.0];

    fn free(price: f64) -> Self {
        Self { keys: None, price }
    }

    fn of(strategy: KeyStrategy, cube: &Hypercube, price: f64) -> Self {
        Self { keys: Some(strategy.of_ring(cube)), price }
    }

    /// What the planner does unless something else is asked for.
    pub fn is_plain(&self) -> bool {
        *self == Self::free(Self::PRICE)
    }

    /// The rules that a specification leaves to choose among.
    fn all(spec: &BootstrapSpec, cube: &Hypercube) -> Vec<Self> {
        let strategy = spec.keys;
        let plain = |price: f64| match strategy {
            Some(strategy) => Self::of(strategy, cube, price),
            None => Self::free(price),
        };
        let mut rules = vec![plain(Self::PRICE)];
        if spec.max_keys.is_some() {
            rules.extend(Self::RAISED.map(plain));
            if strategy.is_none() {
                let by_rule = KeyStrategy::ALL.iter();
                rules.extend(
                    by_rule.flat_map(|&one| [Self::PRICE, 16.0, 256.0].map(|price| Self::of(one, cube, price))),
                );
            }
        }
        rules
    }

    /// How a map is to be planned.
    pub fn plan_spec(&self, cost: CostModel, choice: MapChoice) -> PlanSpec {
        let cost = CostModel { key: cost.hoisted_automorphism * self.price, ..cost };
        let (strategy, hoisting, keys) = (choice.strategy, choice.hoisting, self.keys.clone());
        PlanSpec { strategy, hoisting, keys, cost, ..PlanSpec::default() }
    }
}

/// The steps by the given rule; if there are several rules, the cheapest with few enough keys.
///
/// # Errors
/// Those of making steps; [`BootstrapError::TooManyKeys`].
pub(super) fn by_rules(
    params: &RlweParams,
    spec: &BootstrapSpec,
    cube: &Hypercube,
    steps: impl Fn(&KeyRule) -> Result<Vec<PipelineStep>>,
) -> Result<Vec<PipelineStep>> {
    let rules = KeyRule::all(spec, cube);
    let Some(most) = spec.max_keys else { return steps(&rules[0]) };
    let mut best: Option<(f64, Vec<PipelineStep>)> = None;
    let mut least = usize::MAX;
    let mut refused: Option<Error> = None;
    for rule in &rules {
        let made = match steps(rule) {
            Ok(made) => made,
            Err(error) => {
                refused.get_or_insert(error);
                continue;
            }
        };
        let (count, price) = (keys_of(&made).len(), price_of(params, &made));
        least = least.min(count);
        if count <= most && best.as_ref().is_none_or(|(known, _)| price < *known) {
            best = Some((price, made));
        }
    }
    match (best, refused) {
        (Some((_, steps)), _) => Ok(steps),
        (None, Some(error)) if least == usize::MAX => Err(error),
        (None, _) => Err(BootstrapError::TooManyKeys { most, least }.into()),
    }
}

/// The automorphisms of all steps.
fn keys_of(steps: &[PipelineStep]) -> BTreeSet<u64> {
    let of = |step: &PipelineStep| match step {
        PipelineStep::Linear(step) => step.plan.required_keys(),
        PipelineStep::Parts(Parts { by, steps, .. }) => by.keys().into_iter().chain(keys_of(steps)).collect(),
        PipelineStep::FrontEnd | PipelineStep::Digits(_) => BTreeSet::new(),
    };
    steps.iter().flat_map(of).collect()
}

/// The price of all maps, each at the level that it was planned for.
pub(super) fn price_of(params: &RlweParams, steps: &[PipelineStep]) -> f64 {
    let top = CostModel::at_level(params, params.top_level());
    let of = |step: &PipelineStep| match step {
        PipelineStep::Linear(step) => step.price(),
        PipelineStep::Parts(Parts { by, steps, .. }) => {
            by.price([Some(&top), None]) + by.parts() as f64 * price_of(params, steps)
        }
        PipelineStep::FrontEnd | PipelineStep::Digits(_) => 0.0,
    };
    steps.iter().map(of).sum()
}
