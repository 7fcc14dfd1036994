//! Factorings worked out: the inputs and outputs of one support set, as trees.

use std::collections::BTreeSet;

use super::factoring::Route;
use super::strategy::{Proposal, Support};
use super::tree::Tree;

/// How many inputs are held in base `QP` at a time, beside those that others hang from.
pub(crate) const BATCH: usize = 64;

/// Inputs in one of as few equal batches as there can be.
pub(crate) fn batch_size(inputs: usize) -> usize {
    inputs.div_ceil(inputs.div_ceil(BATCH).max(1)).max(1)
}

/// A factoring worked out for one support set.
#[derive(Debug, Clone)]
pub(crate) struct PlanLayout {
    pub inputs: Tree,
    pub outputs: Tree,
    /// For each output node: which input node it takes, with the element `t = output · input`.
    pub rows: Vec<Vec<(usize, u64)>>,
}

impl PlanLayout {
    /// What a proposal comes to, a rule that fits the axes or routes; `None` for repeated doubling,
    /// which has no layout.
    ///
    /// # Errors
    /// What is wrong with the proposal.
    pub fn of(proposal: &Proposal, support: &Support<'_>) -> Result<Option<Self>, String> {
        let (axes, elements) = (support.axes, support.elements);
        match proposal {
            Proposal::Doubling => Ok(None),
            Proposal::Rule(rule) => {
                let shared = [rule.inputs.shared, rule.outputs.shared];
                Self::by_routes(support, shared, elements.iter().map(|&t| rule.route(axes, t))).map(Some)
            }
            Proposal::Routes(routes) if routes.len() != elements.len() => {
                Err(format!("it gives {} routes to {} automorphisms", routes.len(), elements.len()))
            }
            Proposal::Routes(routes) => Self::by_routes(support, [true; 2], routes.iter().cloned()).map(Some),
        }
    }

    /// Routes to all elements of the support, in their order, joined into trees of inputs and of
    /// outputs, in which ways share steps or do not.
    fn by_routes(
        support: &Support<'_>,
        shared: [bool; 2],
        routes: impl Iterator<Item = Route>,
    ) -> Result<Self, String> {
        let m = support.m;
        let [mut inputs, mut outputs] = shared.map(|shared| Tree::new(m, shared));
        let mut rows: Vec<Vec<(usize, u64)>> = vec![Vec::new()];
        for (&t, route) in support.elements.iter().zip(routes) {
            let (o, i) = (outputs.reach(route.output), inputs.reach(route.input));
            let reached = outputs.nodes()[o].element * inputs.nodes()[i].element % m;
            if reached != t % m {
                return Err(format!("its route to the automorphism {t} leads to {reached}"));
            }
            rows.resize(outputs.nodes().len(), Vec::new());
            rows[o].push((i, t));
        }
        Ok(Self { inputs, outputs, rows })
    }

    /// The order in which input nodes are used: those of one number together, the root by itself.
    pub fn batches(&self) -> Vec<usize> {
        let nodes = self.inputs.nodes().len();
        (0..nodes).map(|i| if i == 0 { 0 } else { 1 + (i - 1) / batch_size(nodes - 1) }).collect()
    }

    /// The automorphisms that need a key, in increasing order.
    pub fn keys(&self) -> BTreeSet<u64> {
        self.inputs.steps().chain(self.outputs.steps()).collect()
    }

    /// Whether no automorphism is needed, so that base `QP` is left out altogether.
    pub fn is_diagonal(&self) -> bool {
        self.inputs.nodes().len() == 1 && self.outputs.nodes().len() == 1
    }
}
