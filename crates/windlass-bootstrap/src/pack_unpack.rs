//! The two ends of a batched bootstrapping: packing a batch into one ciphertext, and unpacking the
//! result.

use std::collections::BTreeSet;

use windlass_circuits::{CostModel, LinearPlan, PlanSpec};
use windlass_schemes::error::Result;
use windlass_schemes::evaluator::Evaluator;

use super::interpreter::{Circuit, Ct, Machine, run, run_apart};
use super::maps;
use super::pipeline::{Parts, Pipeline, PipelineStep, Separation, Side};
use super::spec::Unpacking;
use super::stage::StageName;

/// Where a batch becomes one ciphertext, and where that comes apart.
#[derive(Debug, Clone)]
pub(super) enum PackUnpack {
    /// The bootstrapping takes elements apart last of all: its own constants put a batch together.
    Shared,
    /// It ends with elements: constants of their own, in the ring of messages at this level.
    Own { parts: Box<Parts>, level: usize },
}

/// The constants of [`PackUnpack::Own`].
pub(super) type Own<'a, M> = Option<&'a Circuit<<M as Machine>::On>>;

impl PackUnpack {
    /// The ends of a packed pipeline that takes elements apart in this way, and has these keys at
    /// the level of its results.
    pub fn new(pipeline: &Pipeline, unpacking: Unpacking, keys: BTreeSet<u64>, level: usize) -> Result<Self> {
        if ends_in_digits(&pipeline.steps) {
            return Ok(Self::Shared);
        }
        let message = &pipeline.message;
        let by = match unpacking {
            Unpacking::Constants => {
                let cost = CostModel::at_level(&pipeline.params, level);
                let spec = PlanSpec { keys: Some(keys.clone()), cost, ..PlanSpec::default() };
                let packing = maps::Packing::normal(message);
                let plan = |grid| LinearPlan::for_grid(&grid, &spec);
                let apart = plan(packing.unpacking_grid(message)?)?;
                Separation::Constants(Box::new([apart, plan(packing.packing_grid(message)?)?]))
            }
            _ => {
                let ring = (message.m(), message.prime());
                let splits = maps::splits(ring.0, ring.1).concat();
                Separation::Monomials(splits.into_iter().map(|split| split.by_keys(ring, &keys)).collect())
            }
        };
        let [apart, together] = [StageName::Unpacking, StageName::Repacking];
        let parts = Box::new(Parts { side: Side::Message, apart, together, by, steps: Vec::new() });
        Ok(Self::Own { parts, level })
    }

    pub fn circuit<E: Evaluator>(&self, both: impl FnOnce() -> [E; 2]) -> Result<Option<Circuit<E>>> {
        let Self::Own { parts, level } = self else { return Ok(None) };
        Circuit::new(both(), &[PipelineStep::Parts((**parts).clone())], &|_| *level).map(Some)
    }

    pub fn gather<M: Machine>(
        &self,
        machine: &mut M,
        steps: &[PipelineStep],
        own: Own<'_, M>,
        batch: Vec<Ct<M>>,
    ) -> Result<Ct<M>> {
        if let (Self::Own { parts, level }, Some(circuit)) = (self, own) {
            return circuit.together(parts, &machine.lower(batch, *level)?);
        }
        let nest = nest(steps);
        let Some(outer) = nest.first() else { return Ok(batch.into_iter().next().expect("a batch is not empty")) };
        let lowered = batch.into_iter().map(|x| machine.enter(outer.together, x)).collect::<Result<Vec<_>>>()?;
        // From the innermost parts outwards.
        let circuit = machine.circuit();
        let mut list = lowered;
        for parts in nest.iter().rev() {
            let chunks = list.chunks_exact(parts.by.parts());
            list = chunks.map(|chunk| circuit.together(parts, chunk)).collect::<Result<_>>()?;
        }
        Ok(list.swap_remove(0))
    }

    pub fn refresh<M: Machine>(
        &self,
        machine: &mut M,
        steps: &[PipelineStep],
        own: Own<'_, M>,
        gathered: Ct<M>,
        wanted: usize,
    ) -> Result<Vec<Ct<M>>> {
        let (Self::Own { parts, .. }, Some(circuit)) = (self, own) else {
            return run_apart(machine, steps, vec![gathered], wanted);
        };
        let mut list = circuit.apart(parts, &run(machine, steps, gathered)?)?;
        list.truncate(wanted);
        Ok(list.into_iter().map(|x| machine.integers(x)).collect())
    }
}

/// Whether the last thing that steps do is to remove digits, of each part.
fn ends_in_digits(steps: &[PipelineStep]) -> bool {
    match steps.last() {
        Some(PipelineStep::Digits(_)) => true,
        Some(PipelineStep::Parts(parts)) => ends_in_digits(&parts.steps),
        _ => false,
    }
}

/// What a ciphertext comes apart by at the end of its steps, outermost first.
pub(super) fn nest(steps: &[PipelineStep]) -> Vec<&Parts> {
    match steps.last() {
        Some(PipelineStep::Parts(parts)) => [vec![parts], nest(&parts.steps)].concat(),
        _ => Vec::new(),
    }
}
