//! The steps of a bootstrapping, and the maps that they are made of.

use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::RlweParams;

use super::maps::{self, Packing};
use super::partition::{Merging, to_coefficients_level};
use super::pipeline::{LinearStep, Pipeline, Separation, Side, Step, each_part};
use super::spec::{Order, Unpacking};
use super::stage::StageName;
use crate::circuits::{CostModel, DigitRemoval, LinearMap, LinearPlan, PlanSpec};
use crate::error::Result;
use crate::plaintext::Plaintext;

/// Thin: slots to coefficients, front end, coefficients to slots, trace, digits (Chen–Han 2018;
/// Halevi–Shoup 2018, §8).
pub(super) fn thin(pipeline: &Pipeline, merging: &Merging, digits: DigitRemoval) -> Result<Vec<Step>> {
    let Pipeline { params, spec, message, working, .. } = pipeline;
    let Merging { transform, to_coefficients, to_slots } = merging;
    if spec.transform.is_own() {
        maps::check_thin(message, *transform)?;
    }
    let to_coefficients = maps::thin_to_coefficients(message, *transform, to_coefficients)?;
    let to_slots = maps::thin_to_slots(working, *transform, to_slots)?;
    let foot = to_coefficients_level(params, None);
    let mut steps = linear(params, Side::Message, foot, to_coefficients, to_coefficients_name)?;
    steps.push(Step::FrontEnd);
    steps.extend(linear(params, Side::Working, params.top_level(), to_slots, to_slots_name)?);
    let trace = |part, count| StageName::Trace { part, count };
    steps.extend(linear(params, Side::Working, params.top_level(), maps::trace_stages(working)?, trace)?);
    steps.push(Step::Digits(digits));
    Ok(steps)
}

/// The maps of one way of unpacking, in whatever order they are run.
pub(super) struct PackedMaps {
    merging: Merging,
    /// What comes apart before the maps, which then are for each part.
    whole: Separation,
    /// What comes apart in the slots.
    in_slots: Separation,
    to_coefficients: Vec<LinearMap>,
    to_slots: Vec<LinearMap>,
}

impl PackedMaps {
    pub fn new(pipeline: &Pipeline, merging: Merging, unpacking: Unpacking) -> Result<Self> {
        let Pipeline { spec, message, working, .. } = pipeline;
        if spec.transform.is_own() {
            match unpacking {
                Unpacking::Constants => maps::check_packed(message, merging.transform)?,
                _ => maps::check_thin(message, merging.transform)?,
            }
        }
        let packing = (unpacking == Unpacking::Constants).then(|| merging.transform.packing(working));
        let [whole, in_slots] = separations(pipeline, packing.as_ref(), unpacking)?;
        let [to_coefficients, to_slots] = packed_maps([message, working], &merging, packing.as_ref(), &in_slots)?;
        Ok(Self { merging, whole, in_slots, to_coefficients, to_slots })
    }

    /// Whether these are the maps of this merging.
    pub fn are_of(&self, merging: &Merging) -> bool {
        let key =
            |merging: &Merging| (merging.transform.name(), merging.to_coefficients.clone(), merging.to_slots.clone());
        key(&self.merging) == key(merging)
    }

    /// Packed: front end, coefficients to slots, digits of each part, slots to coefficients
    /// (Halevi–Shoup 2015), or those first of all (Ma et al. 2024); what is split by monomials
    /// before the maps goes through them part by part.
    pub fn steps(&self, pipeline: &Pipeline, order: Order, digits: DigitRemoval) -> Result<Vec<Step>> {
        let Pipeline { params, message, .. } = pipeline;
        let names = match self.in_slots {
            Separation::Constants(_) => [StageName::Unpacking, StageName::Repacking],
            Separation::Monomials(_) => [StageName::SplittingSlots, StageName::JoiningSlots],
        };
        let to_slots = linear(params, Side::Working, params.top_level(), self.to_slots.clone(), to_slots_name)?;
        let digits = each_part(names, Side::Working, self.in_slots.clone(), vec![Step::Digits(digits)]);
        let of_each = [to_slots, digits].concat();
        let first = order == Order::ToCoefficientsFirst;
        let to_coefficients = if first { self.undoubled(message)? } else { self.to_coefficients.clone() };
        let level = to_coefficients_level(params, Some(order));
        let to_coefficients = linear(params, Side::Message, level, to_coefficients, to_coefficients_name)?;
        let names = [StageName::Splitting, StageName::Joining];
        if first {
            let of_message = [StageName::SplittingMessage, StageName::JoiningMessage];
            let before = each_part(of_message, Side::Message, self.whole.clone(), to_coefficients);
            let after = each_part(names, Side::Working, self.whole.clone(), of_each);
            return Ok([before, vec![Step::FrontEnd], after].concat());
        }
        let of_each = [of_each, to_coefficients].concat();
        Ok([vec![Step::FrontEnd], each_part(names, Side::Working, self.whole.clone(), of_each)].concat())
    }

    /// Maps to the coefficients for elements that splits have multiplied by the number of parts:
    /// the first divides by it. On the way to the slots the maps do so by themselves.
    fn undoubled(&self, message: &Arc<SlotRing>) -> Result<Vec<LinearMap>> {
        let mut maps = self.to_coefficients.clone();
        let parts = self.whole.parts() as u64;
        if parts == 1 {
            return Ok(maps);
        }
        let modulus = message.modulus();
        let inverse = modulus.inv(parts % modulus.value()).expect("p is odd for powers of two");
        let scaling = LinearMap::diagonal(&Plaintext::scalar(message, inverse as i64));
        match maps.first_mut() {
            Some(first) => *first = first.compose(&scaling)?,
            None => maps.push(scaling),
        }
        Ok(maps)
    }
}

fn to_coefficients_name(part: usize, count: usize) -> StageName {
    StageName::SlotsToCoefficients { part, count }
}

fn to_slots_name(part: usize, count: usize) -> StageName {
    StageName::CoefficientsToSlots { part, count }
}

/// How elements come apart before the maps to the slots, and after them.
fn separations(pipeline: &Pipeline, packing: Option<&Packing>, unpacking: Unpacking) -> Result<[Separation; 2]> {
    let Pipeline { params, message, working, .. } = pipeline;
    if let Some(packing) = packing {
        let top = params.top_level();
        let apart = packing.unpacking_plan(working, CostModel::at_level(params, top))?;
        let middle = params.levels().of_primes(params.q_primes().len().div_ceil(2));
        let together = packing.repacking_plan(message, CostModel::at_level(params, middle))?;
        return Ok([Separation::Monomials(Vec::new()), Separation::Constants(Box::new([apart, together]))]);
    }
    let [mut elements, mut in_slots] = maps::splits(working.m(), working.prime());
    if unpacking == Unpacking::MonomialsInSlots {
        elements.append(&mut in_slots);
        (elements, in_slots) = (Vec::new(), elements);
    }
    Ok([elements, in_slots].map(Separation::Monomials))
}

/// The maps to the coefficients and to the slots of packed mode. Where elements of a subring go
/// through them they are those of thin mode, without the trace; with maps inside the slots
/// otherwise.
fn packed_maps(
    [message, working]: [&Arc<SlotRing>; 2],
    merging: &Merging,
    packing: Option<&Packing>,
    in_slots: &Separation,
) -> Result<[Vec<LinearMap>; 2]> {
    let Merging { transform, to_coefficients, to_slots } = merging;
    let [_, of_subring] = maps::splits(working.m(), working.prime());
    Ok(match (packing, in_slots) {
        (Some(packing), _) => [
            maps::packed_to_coefficients(message, *transform, to_coefficients)?,
            maps::packed_to_slots(working, *transform, to_slots, packing)?,
        ],
        (None, Separation::Monomials(splits)) if *splits == of_subring => [
            maps::thin_to_coefficients(message, *transform, to_coefficients)?,
            maps::thin_to_slots(working, *transform, to_slots)?,
        ],
        _ => [maps::together_to_coefficients(message, to_coefficients)?, maps::together_to_slots(working, to_slots)?],
    })
}

/// Plans every map for the given level. Where a few more keys save a few hundredths of the price,
/// the time is the same when it is measured, and the keys are not there: a key counts for a fifth of
/// what it does once.
fn linear(
    params: &RlweParams,
    side: Side,
    level: usize,
    maps: Vec<LinearMap>,
    name: impl Fn(usize, usize) -> StageName,
) -> Result<Vec<Step>> {
    let cost = CostModel::at_level(params, level);
    let cost = CostModel { key: cost.hoisted_automorphism / 5.0, ..cost };
    let spec = PlanSpec { cost, constant_bytes: MAX_READY_BYTES, ..PlanSpec::default() };
    let count = maps.len();
    let step = |(map, part): (&LinearMap, usize)| {
        Ok(Step::Linear(LinearStep { name: name(part, count), side, plan: LinearPlan::new(map, &spec)? }))
    };
    maps.iter().zip(1..).map(step).collect()
}

/// Constants of one map that take more memory are not held ready, but as coefficients that are
/// expanded when they are used: two large maps and the keys of a packed bootstrapping with m =
/// 49981 fit into 16 GiB so.
const MAX_READY_BYTES: usize = 3 << 30;
