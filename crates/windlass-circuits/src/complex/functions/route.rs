//! How a function runs on a ciphertext: which values are refreshed before which steps.

use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::{Ciphertext, CkksContext, RefreshTerms};

use super::plan::{FunctionPlan, FunctionStep};
use super::schedule::{Levels, Node, Schedule, Stuck, schedule};

/// A ciphertext as far as routes depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Start {
    /// The levels that it has once it is rescaled.
    pub left: usize,
    /// Whether slots beside the entries are cleared first.
    pub clears: bool,
    /// A bound on its slots.
    pub bound: f64,
    /// A bound on its entries, and so on all slots once those beside them are cleared.
    pub entries: f64,
}

/// The steps of a function with the refreshes between them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Route {
    start: Start,
    /// With a node for clearing slots after that of the argument, if there is one.
    schedule: Schedule,
    terms: Option<RefreshTerms>,
}

impl Route {
    /// Without refreshes, of an argument that is cleared.
    pub fn direct() -> Self {
        let schedule = Schedule { before: Vec::new(), levels: Vec::new() };
        Self { start: Start { left: 0, clears: false, bound: 0.0, entries: 0.0 }, schedule, terms: None }
    }

    /// The values that are refreshed before a step, numbered from 1: 0 is the argument.
    pub fn before(&self, step: usize) -> impl Iterator<Item = usize> {
        let shift = usize::from(self.start.clears);
        self.schedule.before.get(step + shift).into_iter().flatten().map(move |value| value - shift)
    }

    /// Whether the argument is refreshed before its slots are cleared.
    pub fn refreshes_before_clearing(&self) -> bool {
        self.start.clears && self.schedule.before.get(1).is_some_and(|before| !before.is_empty())
    }

    /// What a refresh takes and adds, if there is one.
    pub fn terms(&self) -> Option<&RefreshTerms> {
        self.terms.as_ref().filter(|_| self.schedule.refreshes() > 0)
    }

    /// The bound on the argument, as the steps take it.
    pub fn bound(&self) -> f64 {
        if self.start.clears { self.start.entries } else { self.start.bound }
    }

    /// The levels that are left of the result of a step.
    pub fn left_after(&self, step: usize) -> usize {
        self.schedule.levels.get(step + usize::from(self.start.clears)).copied().unwrap_or(0)
    }

    /// The number of refreshes.
    pub fn refreshes(&self) -> usize {
        self.schedule.refreshes()
    }

    /// The levels that are left of the result.
    pub fn end(&self) -> usize {
        self.schedule.end()
    }

    /// Whether two ciphertexts go the same way, with the same refresh. Their bounds and levels may differ.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_cleared_alike = self.start.clears == other.start.clears;
        is_cleared_alike && self.schedule.before == other.schedule.before && self.terms == other.terms
    }
}

impl Start {
    /// Of a ciphertext.
    pub fn of(plan: &FunctionPlan, x: &Ciphertext) -> Self {
        let (entries, bound) = (x.magnitude(), x.magnitude().max(x.rest_magnitude()));
        Self { left: x.products_left(), clears: plan.clears(x), bound, entries }
    }

    /// Of a fresh encryption of numbers of the interval.
    pub fn fresh(plan: &FunctionPlan, context: &CkksContext) -> Self {
        let (low, high) = plan.interval();
        let bound = low.abs().max(high.abs());
        Self { left: context.spec().depth, clears: false, bound, entries: bound }
    }
}

impl FunctionPlan {
    /// The way of a ciphertext through the steps, after which `end` levels are left beside those that the next refresh
    /// takes.
    ///
    /// # Errors
    /// [`Error::LevelsExhausted`]; [`Error::StepTooDeep`] in a context with refreshes.
    pub(super) fn route(
        &self,
        context: &CkksContext,
        start: Start,
        end: usize,
        terms: Option<RefreshTerms>,
    ) -> Result<Route> {
        let nodes = self.nodes(start, terms.as_ref());
        let refresh = terms.map(|terms| (context.spec().depth, terms.input_level - context.base_level()));
        let kept = refresh.map_or(0, |(_, least)| least);
        let levels = Levels { start: start.left, end: end + kept, refresh };
        // Only a way without any refresh may use up what is kept for the next one, if nothing else helps.
        let direct = Levels { end, refresh: None, ..levels };
        let found = schedule(&nodes, levels).or_else(|stuck| schedule(&nodes, direct).map_err(|_| stuck));
        let route = |schedule| Route { start, schedule, terms };
        found.map(route).map_err(|stuck| self.refusal(context, (start, end), &nodes, stuck, terms.as_ref()))
    }

    fn nodes(&self, start: Start, terms: Option<&RefreshTerms>) -> Vec<Node> {
        let shift = usize::from(start.clears);
        let is_small = |bound: f64| terms.is_some_and(|terms| terms.takes(bound));
        let mut nodes = vec![Node { operands: Vec::new(), depth: 0, is_small: is_small(start.bound) }];
        if start.clears {
            nodes.push(Node { operands: vec![0], depth: 1, is_small: is_small(start.entries) });
        }
        for own in &self.steps {
            let (operands, depth) = match &own.step {
                FunctionStep::Polynomial { of, p } => (vec![*of], p.depth()),
                FunctionStep::Product(a, b) => (vec![*a, *b], 1),
                FunctionStep::Sum { terms, .. } => (terms.iter().map(|&(value, _)| value).collect(), 0),
            };
            let operands = operands.into_iter().map(|value| value + shift).collect();
            nodes.push(Node { operands, depth, is_small: is_small(own.bound) });
        }
        nodes
    }

    /// Why there is no way.
    fn refusal(
        &self,
        context: &CkksContext,
        (start, end): (Start, usize),
        nodes: &[Node],
        stuck: Stuck,
        terms: Option<&RefreshTerms>,
    ) -> Error {
        let depth = context.spec().depth;
        if context.spec().refresh_levels.is_empty() {
            // Of a product that only its own rescaling needs the last level.
            let needed = (self.depth() + usize::from(start.clears) + end).max(start.left + 1);
            return Error::LevelsExhausted { operation: "evaluate a function", depth, needed, left: start.left };
        }
        let needed = nodes[stuck.step].depth;
        let kept = terms.map_or(0, |terms| terms.input_level - context.base_level());
        let most = depth - kept.min(depth);
        let is_last = stuck.step + 1 == nodes.len();
        let beside = if is_last { end } else { 0 };
        let rlwe = context.rlwe();
        let bits = rlwe.log2_modulus(context.top_level()) - rlwe.log2_modulus(context.base_level());
        let missing = needed.saturating_sub(stuck.left).max(1);
        let remedy = match terms {
            None => "the server refreshes before it if the plan of context.refresh() is named when the keys are made: context.generate_keys([&refresh, &function])".to_owned(),
            Some(_) if needed + beside > most => format!(
                "a refreshed ciphertext has {most} levels for it: choose a set with {} more, or ask for fewer bits",
                needed + beside - most
            ),
            Some(_) if nodes[stuck.step].operands.iter().all(|&value| nodes[value].is_small) => format!(
                "a refresh before it takes values with {kept} levels or more, and there are fewer: refresh the argument earlier"
            ),
            Some(terms) => format!(
                "no refresh before it takes values as large as they may be, above {:.4}: divide the values first, or choose a smaller interval",
                terms.most
            ),
        };
        Error::StepTooDeep {
            function: self.name().to_owned(),
            step: self.step_name(stuck.step, start.clears),
            needed,
            left: stuck.left,
            missing_bits: missing as f64 * bits / depth as f64,
            remedy,
        }
    }

    /// A node in words.
    pub(super) fn step_name(&self, node: usize, clears: bool) -> String {
        let Some(place) = node.checked_sub(1 + usize::from(clears)) else {
            return "clearing the slots beside the entries".to_owned();
        };
        let what = match &self.steps[place].step {
            FunctionStep::Polynomial { p, .. } => format!("a polynomial of degree {}", p.degree()),
            FunctionStep::Product(..) => "a product".to_owned(),
            FunctionStep::Sum { .. } => "a sum".to_owned(),
        };
        format!("step {} of {}, {what},", place + 1, self.steps.len())
    }
}
