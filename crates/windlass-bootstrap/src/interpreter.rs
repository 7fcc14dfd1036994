//! The one interpreter of pipelines, for every kind of evaluator.
//!
//! Unpacking makes a tree of splits. The interpreter visits it depth first, so that only one path
//! is in memory. Near the leaves it takes a group of as many parts as there are threads and removes
//! their digits in parallel. So besides the path, memory holds at most as many parts, and as many
//! digit removals with their intermediate values, as the pool has threads.
//!
//! Several ciphertexts that are refreshed together form such a group from the start. Linear maps
//! process a group at once ([`LinearPlan::apply_each`](windlass_circuits::LinearPlan::apply_each)).

use std::collections::BTreeMap;
use std::slice::from_ref;

use rayon::prelude::*;
use windlass_circuits::DigitRemoval;
use windlass_circuits::linear::PreparedPlan;
use windlass_schemes::error::Result;
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::switching::Arithmetic;

use super::maps::Split;
use super::pipeline::{LinearStep, Parts, PipelineStep, Separation, Side, most_parts};
use super::stage::StageName;

/// An evaluator for each plaintext ring, with the constants of all steps.
pub(super) struct Circuit<E: Evaluator> {
    pub message: E,
    pub working: E,
    maps: BTreeMap<StageName, PreparedPlan<E>>,
    constants: BTreeMap<StageName, Vec<E::Constant>>,
}

impl<E: Evaluator> Circuit<E> {
    /// Converts the constants of every step, each for the level of its stage.
    pub fn new([message, working]: [E; 2], steps: &[PipelineStep], level: &dyn Fn(StageName) -> usize) -> Result<Self> {
        let mut circuit = Self { message, working, maps: BTreeMap::new(), constants: BTreeMap::new() };
        circuit.prepare(steps, level)?;
        Ok(circuit)
    }

    fn prepare(&mut self, steps: &[PipelineStep], level: &dyn Fn(StageName) -> usize) -> Result<()> {
        for step in steps {
            match step {
                PipelineStep::Linear(LinearStep { name, side, plan }) => {
                    let prepared = plan.prepare_at(self.on(*side), level(*name))?;
                    self.maps.insert(*name, prepared);
                }
                PipelineStep::Parts(Parts { side, apart, together, by, steps }) => {
                    match by {
                        Separation::Constants(plans) => {
                            let down = plans[0].prepare_at(self.on(*side), level(*apart))?;
                            let up = plans[1].prepare_at(&self.message, level(*together))?;
                            self.maps.extend([(*apart, down), (*together, up)]);
                        }
                        Separation::Monomials(splits) => {
                            let places = [(*apart, level(*apart)), (*together, level(*together))];
                            self.prepare_monomials(*side, splits, places)?;
                        }
                    }
                    self.prepare(steps, level)?;
                }
                PipelineStep::FrontEnd | PipelineStep::Digits(_) => {}
            }
        }
        Ok(())
    }

    fn prepare_monomials(
        &mut self,
        side: Side,
        splits: &[Split],
        [apart, together]: [(StageName, usize); 2],
    ) -> Result<()> {
        let (message, whole) = (&self.message, self.on(side));
        let down = splits.par_iter().map(|split| whole.prepare_at(&split.down(whole.slot_ring())?, apart.1));
        let up = splits.par_iter().map(|split| message.prepare_at(&split.up(message.slot_ring())?, together.1));
        let (down, up) = (down.collect::<Result<_>>()?, up.collect::<Result<_>>()?);
        self.constants.extend([(apart.0, down), (together.0, up)]);
        Ok(())
    }

    fn on(&self, side: Side) -> &E {
        match side {
            Side::Message => &self.message,
            Side::Working => &self.working,
        }
    }

    /// `A + X^s·B ↦ (2A, 2B)`.
    fn halves(
        &self,
        side: Side,
        split: &Split,
        down: &E::Constant,
        x: &E::Ciphertext,
    ) -> Result<(E::Ciphertext, E::Ciphertext)> {
        let evaluator = self.on(side);
        let (&first, rest) = split.route.split_first().expect("a split has an automorphism");
        let image = evaluator.automorphism(x, first)?;
        let image = rest.iter().try_fold(image, |image, &t| evaluator.automorphism(&image, t))?;
        let second = evaluator.multiply_constant(&evaluator.sub(x, &image)?, down)?;
        Ok((evaluator.add(x, &image)?, second))
    }

    /// One ciphertext into all its parts at once.
    pub fn apart(&self, step: &Parts, x: &E::Ciphertext) -> Result<Vec<E::Ciphertext>> {
        let splits = match &step.by {
            Separation::Constants(plans) => {
                return plans[0].apply_grid(&self.maps[&step.apart], self.on(step.side), from_ref(x));
            }
            Separation::Monomials(splits) => splits,
        };
        let mut parts = vec![x.clone()];
        for (split, down) in splits.iter().zip(&self.constants[&step.apart]) {
            let halves = parts.par_iter().map(|x| self.halves(step.side, split, down, x));
            parts = halves.collect::<Result<Vec<_>>>()?.into_iter().flat_map(<[_; 2]>::from).collect();
        }
        Ok(parts)
    }

    /// All parts into one ciphertext of the ring of messages.
    pub fn together(&self, step: &Parts, parts: &[E::Ciphertext]) -> Result<E::Ciphertext> {
        if let Separation::Constants(plans) = &step.by {
            return Ok(plans[1].apply_grid(&self.maps[&step.together], &self.message, parts)?.swap_remove(0));
        }
        let mut parts = parts.to_vec();
        for up in self.constants[&step.together].iter().rev() {
            let join = |pair: &[E::Ciphertext]| self.joined(up, [&pair[0], &pair[1]]);
            parts = parts.par_chunks_exact(2).map(join).collect::<Result<_>>()?;
        }
        Ok(parts.swap_remove(0))
    }

    /// `(A, B) ↦ A + X^s·B`.
    fn joined(&self, up: &E::Constant, [first, second]: [&E::Ciphertext; 2]) -> Result<E::Ciphertext> {
        self.message.add(first, &self.message.multiply_constant(second, up)?)
    }
}

/// What evaluates a pipeline: ciphertexts, the exact mock, or noise bounds.
pub(super) trait Machine: Sized {
    /// Evaluates circuits.
    type On: Evaluator;
    /// Whether all parts of a ciphertext are alike: then the first stands for all of them.
    const PARTS_ARE_ALIKE: bool = false;

    /// The evaluators with their constants.
    fn circuit(&self) -> &Circuit<Self::On>;

    /// Does work that stands for so many times the same, where parts are alike.
    fn repeat<T>(&mut self, _times: usize, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        work(self)
    }

    /// Comes before each time that a stage is run, and may stop it.
    fn begin(&mut self, _: StageName, _: &Ct<Self>) -> Result<()> {
        Ok(())
    }

    /// All brought down to one level: this one, or the lowest of theirs if that is lower.
    fn lower(&mut self, batch: Vec<Ct<Self>>, level: usize) -> Result<Vec<Ct<Self>>>;

    /// Makes a ciphertext ready for a stage: brings it to its level.
    fn enter(&mut self, stage: StageName, x: Ct<Self>) -> Result<Ct<Self>>;

    /// Hears of what came out of a stage.
    fn leave(&mut self, _: StageName, _: &Ct<Self>) -> Result<()> {
        Ok(())
    }

    /// [`PipelineStep::FrontEnd`].
    fn front_end(&mut self, x: Ct<Self>) -> Result<Ct<Self>>;

    /// A ciphertext that is about to lose digits: trace, unpacking and splitting end in the
    /// integers.
    fn integers(&self, x: Ct<Self>) -> Ct<Self> {
        x
    }

    /// A ciphertext without digits, for the evaluator of messages.
    fn to_message_ring(&self, x: Ct<Self>) -> Result<Ct<Self>> {
        Ok(x)
    }
}

/// A ciphertext of a machine.
pub(super) type Ct<M> = <<M as Machine>::On as Arithmetic>::Ciphertext;

/// Runs steps on one ciphertext.
///
/// # Errors
/// Those of the machine.
pub(super) fn run<M: Machine>(machine: &mut M, steps: &[PipelineStep], x: Ct<M>) -> Result<Ct<M>> {
    Ok(run_all(machine, steps, vec![x])?.swap_remove(0))
}

/// Runs steps that end in parts, which are not put together again: the first `wanted` of them.
pub(super) fn run_apart<M: Machine>(
    machine: &mut M,
    steps: &[PipelineStep],
    group: Vec<Ct<M>>,
    wanted: usize,
) -> Result<Vec<Ct<M>>> {
    let Some((PipelineStep::Parts(parts), before)) = steps.split_last() else {
        return run_all(machine, steps, group);
    };
    let group = run_all(machine, before, group)?;
    let apart = |x| {
        machine.begin(parts.apart, &x)?;
        let x = machine.enter(parts.apart, x)?;
        let list = machine.circuit().apart(parts, &x)?;
        list.iter().try_for_each(|x| machine.leave(parts.apart, x)).map(|()| list)
    };
    let mut group: Vec<Ct<M>> = each(group, apart)?.into_iter().flatten().collect();
    // Of what is behind those that are wanted nothing is needed.
    group.truncate(wanted.div_ceil(most_parts(&parts.steps)));
    run_apart(machine, &parts.steps, group, wanted)
}

/// Runs steps on ciphertexts that are held together.
///
/// # Errors
/// Those of the machine.
pub(super) fn run_all<M: Machine>(
    machine: &mut M,
    steps: &[PipelineStep],
    mut group: Vec<Ct<M>>,
) -> Result<Vec<Ct<M>>> {
    for step in steps {
        group = match step {
            PipelineStep::Linear(step) => linear(machine, step, group)?,
            PipelineStep::FrontEnd => each(group, |x| stage(machine, StageName::FrontEnd, x, M::front_end))?,
            PipelineStep::Digits(removal) => without_digits(machine, removal, group)?,
            PipelineStep::Parts(parts) => match &parts.by {
                Separation::Constants(_) => each(group, |x| by_constants(machine, parts, x))?,
                Separation::Monomials(splits) => by_monomials(machine, parts, splits, group)?,
            },
        };
    }
    Ok(group)
}

/// One after the other.
fn each<T, U>(list: Vec<T>, work: impl FnMut(T) -> Result<U>) -> Result<Vec<U>> {
    list.into_iter().map(work).collect()
}

/// One stage, of which the machine hears before and after.
fn stage<M: Machine>(
    machine: &mut M,
    name: StageName,
    x: Ct<M>,
    work: impl FnOnce(&mut M, Ct<M>) -> Result<Ct<M>>,
) -> Result<Ct<M>> {
    machine.begin(name, &x)?;
    let x = machine.enter(name, x)?;
    let x = work(machine, x)?;
    machine.leave(name, &x)?;
    Ok(x)
}

/// A map takes a whole group, after the machine has heard of each.
fn linear<M: Machine>(
    machine: &mut M,
    LinearStep { name, side, plan }: &LinearStep,
    group: Vec<Ct<M>>,
) -> Result<Vec<Ct<M>>> {
    let enter = |x| {
        machine.begin(*name, &x)?;
        machine.enter(*name, x)
    };
    let group = each(group, enter)?;
    let circuit = machine.circuit();
    let images = plan.apply_each(&circuit.maps[name], circuit.on(*side), &group)?;
    images.iter().try_for_each(|x| machine.leave(*name, x)).map(|()| images)
}

/// Digits are removed of as many ciphertexts side by side as there are threads, after the machine
/// has heard of each of them.
fn without_digits<M: Machine>(machine: &mut M, removal: &DigitRemoval, group: Vec<Ct<M>>) -> Result<Vec<Ct<M>>> {
    let name = StageName::DigitRemoval;
    let (mut done, mut rest) = (Vec::with_capacity(group.len()), group.into_iter().peekable());
    while rest.peek().is_some() {
        let enter = |x| {
            let x = machine.integers(x);
            machine.begin(name, &x)?;
            machine.enter(name, x)
        };
        let now: Vec<Ct<M>> = rest.by_ref().take(rayon::current_num_threads()).map(enter).collect::<Result<_>>()?;
        let working = &machine.circuit().working;
        let removed: Vec<Ct<M>> = now.par_iter().map(|x| removal.apply(working, x)).collect::<Result<_>>()?;
        for x in removed {
            machine.leave(name, &x)?;
            done.push(machine.to_message_ring(x)?);
        }
    }
    Ok(done)
}

/// How many of the parts of one ciphertext are held together, that as many digit removals run side
/// by side as there are threads.
fn together<M: Machine>(parts: &Parts) -> usize {
    if M::PARTS_ARE_ALIKE { 1 } else { (rayon::current_num_threads() / most_parts(&parts.steps)).max(1) }
}

/// All parts come out at once; they are gone through in groups.
fn by_constants<M: Machine>(machine: &mut M, step: &Parts, x: Ct<M>) -> Result<Ct<M>> {
    machine.begin(step.apart, &x)?;
    let x = machine.enter(step.apart, x)?;
    let mut parts = machine.circuit().apart(step, &x)?;
    machine.leave(step.apart, &parts[0])?;
    let count = parts.len();
    let times = if M::PARTS_ARE_ALIKE { count } else { 1 };
    parts.truncate(count / times);
    let (mut parts, mut done) = (parts.into_iter(), Vec::with_capacity(count));
    while parts.len() > 0 {
        let group = parts.by_ref().take(together::<M>(step)).collect();
        let of_group = |machine: &mut M| {
            let group = run_all(machine, &step.steps, group)?;
            each(group, |x| machine.enter(step.together, x))
        };
        done.extend(machine.repeat(times, of_group)?);
    }
    if M::PARTS_ARE_ALIKE {
        done.resize(count, done[0].clone());
    }
    machine.begin(step.together, &done[0])?;
    let x = machine.circuit().together(step, &done)?;
    machine.leave(step.together, &x)?;
    Ok(x)
}

/// `Σ_k X^{s_k}·(steps of part k)`, s_k the sum of the shifts of the splits whose second half part
/// k is in.
///
/// Cost: parts − 1 automorphisms, and two products with monomials for each.
fn by_monomials<M: Machine>(machine: &mut M, step: &Parts, splits: &[Split], group: Vec<Ct<M>>) -> Result<Vec<Ct<M>>> {
    let group = each(group, |x| machine.enter(step.apart, x))?;
    let joined = walk(machine, step, splits, group)?;
    joined.iter().try_for_each(|x| machine.leave(step.together, x))?;
    Ok(joined)
}

/// Both halves of each ciphertext of a group by one split, the one at this depth.
fn halved<M: Machine>(
    machine: &mut M,
    step: &Parts,
    (split, depth): (&Split, usize),
    group: Vec<Ct<M>>,
) -> Result<(Vec<Ct<M>>, Vec<Ct<M>>)> {
    let (mut first, mut second) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
    for x in group {
        machine.begin(step.apart, &x)?;
        let circuit = machine.circuit();
        let (a, b) = circuit.halves(step.side, split, &circuit.constants[&step.apart][depth], &x)?;
        first.push(a);
        second.push(b);
    }
    Ok((first, second))
}

/// Splits a group from the first of `splits` on, and joins what comes back. The halves of a group
/// continue together if there are threads for all of their parts, else one after the other.
fn walk<M: Machine>(machine: &mut M, step: &Parts, splits: &[Split], group: Vec<Ct<M>>) -> Result<Vec<Ct<M>>> {
    let Some((split, rest)) = splits.split_first() else {
        group.iter().try_for_each(|x| machine.leave(step.apart, x))?;
        let group = run_all(machine, &step.steps, group)?;
        return each(group, |x| machine.enter(step.together, x));
    };
    let depth = step.by.parts().ilog2() as usize - splits.len();
    let count = group.len();
    let (mut first, mut second) = halved(machine, step, (split, depth), group)?;
    if M::PARTS_ARE_ALIKE {
        first = machine.repeat(2, |machine| walk(machine, step, rest, first))?;
        second.clone_from(&first);
    } else if count << splits.len() <= together::<M>(step) {
        first.append(&mut second);
        first = walk(machine, step, rest, first)?;
        second = first.split_off(count);
    } else {
        first = walk(machine, step, rest, first)?;
        second = walk(machine, step, rest, second)?;
    }
    let join = |(first, second): (&Ct<M>, &Ct<M>)| {
        machine.begin(step.together, first)?;
        let circuit = machine.circuit();
        circuit.joined(&circuit.constants[&step.together][depth], [first, second])
    };
    first.iter().zip(&second).map(join).collect()
}
