//! The steps of a bootstrapping, and their linear maps.

use std::sync::Arc;

use windlass_circuits::{CostModel, DigitRemoval, LinearGrid, LinearMap, LinearPlan, PlanSpec};
use windlass_ring::slots::SlotRing;
use windlass_rlwe::RlweParams;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Plaintext;

use super::key_rules::{KeyRule, by_rules, price_of};
use super::map_choice::MapChoice;
use super::maps::{self, Packing, Split};
use super::partition::{Merging, to_coefficients_level};
use super::pipeline::{LinearStep, Pipeline, PipelineStep, Separation, Side, each_part};
use super::spec::{Order, Unpacking};
use super::stage::StageName;

/// Thin: slots to coefficients, front end, coefficients to slots, trace, digits (Chen–Han 2018;
/// Halevi–Shoup 2018, §8).
pub(super) fn thin(pipeline: &Pipeline, merging: &Merging, digits: &DigitRemoval) -> Result<Vec<PipelineStep>> {
    let Pipeline { params, spec, message, working, .. } = pipeline;
    let Merging { transform, to_coefficients, to_slots, .. } = merging;
    if spec.transform.is_own() {
        maps::check_thin(message, *transform)?;
    }
    let to_coefficients = maps::thin_to_coefficients(message, *transform, &to_coefficients.ends)?;
    let to_slots = maps::thin_to_slots(working, *transform, &to_slots.ends)?;
    let (foot, top) = (to_coefficients_level(params, None), params.top_level());
    by_rules(params, spec, message.hypercube(), |rule| {
        let linear = Linear { params, rule, choice: spec.maps };
        let before = linear.steps(Side::Message, foot, &to_coefficients, to_coefficients_name)?;
        let after = linear.steps(Side::Working, top, &to_slots, to_slots_name)?;
        let trace = trace(&Linear { choice: MapChoice::AUTOMATIC, ..linear }, working)?;
        Ok([before, vec![PipelineStep::FrontEnd], after, trace, vec![PipelineStep::Digits(digits.clone())]].concat())
    })
}

/// The trace, in the groups that are cheapest with the available keys.
fn trace(linear: &Linear<'_>, working: &Arc<SlotRing>) -> Result<Vec<PipelineStep>> {
    let name = |part, count| StageName::Trace { part, count };
    let steps = |maps: Vec<LinearMap>| linear.steps(Side::Working, linear.params.top_level(), &maps, name);
    let mut best = steps(maps::trace_stages(working)?)?;
    if !linear.rule.is_plain() {
        for most in [16, working.degree() as u64] {
            let other = steps(maps::trace_in_groups(working, most)?)?;
            if price_of(linear.params, &other) < price_of(linear.params, &best) {
                best = other;
            }
        }
    }
    Ok(best)
}

/// How elements come apart, before it is planned with what keys.
enum Apart {
    /// The maps from one ciphertext to d, and those back.
    Constants(Box<[LinearGrid; 2]>),
    Monomials(Vec<Split>),
}

impl Apart {
    fn parts(&self) -> usize {
        match self {
            Self::Constants(grids) => grids[0].rows(),
            Self::Monomials(splits) => 1 << splits.len(),
        }
    }

    fn separation(&self, pipeline: &Pipeline, rule: &KeyRule) -> Result<Separation> {
        let Pipeline { params, working, .. } = pipeline;
        Ok(match self {
            Self::Constants(grids) => {
                let top = CostModel::at_level(params, params.top_level());
                let middle = params.levels().of_primes(params.q_primes().len().div_ceil(2));
                let apart = Packing::unpacking_plan(&grids[0], top, rule.keys.as_ref())?;
                let together = Packing::repacking_plan(&grids[1], CostModel::at_level(params, middle))?;
                Separation::Constants(Box::new([apart, together]))
            }
            Self::Monomials(splits) => Separation::Monomials(match &rule.keys {
                None => splits.clone(),
                Some(keys) => {
                    let ring = (working.m(), working.prime());
                    splits.iter().map(|split| split.clone().by_keys(ring, keys)).collect()
                }
            }),
        })
    }
}

/// The maps of one way of unpacking, independent of the order in which they run.
pub(super) struct PackedMaps {
    merging: Merging,
    /// What comes apart before the maps, which then are for each part.
    whole: Apart,
    /// What comes apart in the slots.
    in_slots: Apart,
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
        let [to_coefficients, to_slots] = packed_maps([message, working], &merging, packing.as_ref(), unpacking)?;
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
    pub fn steps(&self, pipeline: &Pipeline, order: Order, digits: &DigitRemoval) -> Result<Vec<PipelineStep>> {
        let Pipeline { params, spec, message, .. } = pipeline;
        let first = order == Order::ToCoefficientsFirst;
        let to_coefficients = if first { &self.undoubled(message)? } else { &self.to_coefficients };
        by_rules(params, spec, message.hypercube(), |rule| {
            self.steps_by(pipeline, order, (rule, to_coefficients), digits.clone())
        })
    }

    fn steps_by(
        &self,
        pipeline: &Pipeline,
        order: Order,
        (rule, to_coefficients): (&KeyRule, &[LinearMap]),
        digits: DigitRemoval,
    ) -> Result<Vec<PipelineStep>> {
        let Pipeline { params, spec, .. } = pipeline;
        let linear = Linear { params, rule, choice: spec.maps };
        let [whole, in_slots] = [&self.whole, &self.in_slots].map(|apart| apart.separation(pipeline, rule));
        let (whole, in_slots) = (whole?, in_slots?);
        let names = match in_slots {
            Separation::Constants(_) => [StageName::Unpacking, StageName::Repacking],
            Separation::Monomials(_) => [StageName::SplittingSlots, StageName::JoiningSlots],
        };
        let to_slots = linear.steps(Side::Working, params.top_level(), &self.to_slots, to_slots_name)?;
        let digits = each_part(names, Side::Working, in_slots, vec![PipelineStep::Digits(digits)]);
        let of_each = [to_slots, digits].concat();
        let level = to_coefficients_level(params, Some(order));
        let to_coefficients = linear.steps(Side::Message, level, to_coefficients, to_coefficients_name)?;
        let names = [StageName::Splitting, StageName::Joining];
        if order == Order::ToCoefficientsFirst {
            let of_message = [StageName::SplittingMessage, StageName::JoiningMessage];
            let before = each_part(of_message, Side::Message, whole.clone(), to_coefficients);
            let after = each_part(names, Side::Working, whole, of_each);
            return Ok([before, vec![PipelineStep::FrontEnd], after].concat());
        }
        let of_each = [of_each, to_coefficients].concat();
        Ok([vec![PipelineStep::FrontEnd], each_part(names, Side::Working, whole, of_each)].concat())
    }

    /// Maps to the coefficients for elements that splits have multiplied by the number of parts:
    /// the first divides by it. On the way to the slots the maps do this without further steps.
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
fn separations(pipeline: &Pipeline, packing: Option<&Packing>, unpacking: Unpacking) -> Result<[Apart; 2]> {
    let Pipeline { message, working, .. } = pipeline;
    if let Some(packing) = packing {
        let grids = [packing.unpacking_grid(working)?, packing.repacking_grid(message)?];
        return Ok([Apart::Monomials(Vec::new()), Apart::Constants(Box::new(grids))]);
    }
    let [mut elements, mut in_slots] = maps::splits(working.m(), working.prime());
    if unpacking == Unpacking::MonomialsInSlots {
        elements.append(&mut in_slots);
        (elements, in_slots) = (Vec::new(), elements);
    }
    Ok([elements, in_slots].map(Apart::Monomials))
}

/// The maps to the coefficients and to the slots of packed mode. Where elements of a subring go
/// through them they are those of thin mode, without the trace; with maps inside the slots
/// otherwise.
fn packed_maps(
    [message, working]: [&Arc<SlotRing>; 2],
    merging: &Merging,
    packing: Option<&Packing>,
    unpacking: Unpacking,
) -> Result<[Vec<LinearMap>; 2]> {
    let Merging { transform, to_coefficients, to_slots, .. } = merging;
    let [elements, _] = maps::splits(working.m(), working.prime());
    Ok(match packing {
        Some(packing) => [
            maps::packed_to_coefficients(message, *transform, to_coefficients)?,
            maps::packed_to_slots(working, *transform, to_slots, packing)?,
        ],
        None if unpacking == Unpacking::MonomialsInSlots && !elements.is_empty() => {
            [maps::together_to_coefficients(message, to_coefficients)?, maps::together_to_slots(working, to_slots)?]
        }
        None => [
            maps::thin_to_coefficients(message, *transform, &to_coefficients.ends)?,
            maps::thin_to_slots(working, *transform, &to_slots.ends)?,
        ],
    })
}

/// Linear maps as steps, planned with the keys of a rule.
#[derive(Clone, Copy)]
struct Linear<'a> {
    params: &'a RlweParams,
    rule: &'a KeyRule,
    choice: MapChoice,
}

impl Linear<'_> {
    /// Plans every map for the given level.
    fn steps(
        &self,
        side: Side,
        level: usize,
        maps: &[LinearMap],
        name: impl Fn(usize, usize) -> StageName,
    ) -> Result<Vec<PipelineStep>> {
        let spec = self.rule.plan_spec(CostModel::at_level(self.params, level), self.choice);
        let spec = PlanSpec { constant_bytes: MAX_READY_BYTES, ..spec };
        let count = maps.len();
        let step = |(map, part): (&LinearMap, usize)| {
            Ok(PipelineStep::Linear(LinearStep { name: name(part, count), side, plan: LinearPlan::new(map, &spec)? }))
        };
        maps.iter().zip(1..).map(step).collect()
    }
}

/// Constants of one map that take more memory are not held ready, but as coefficients that are
/// expanded when they are used: two large maps and the keys of a packed bootstrapping with m =
/// 49981 fit into 16 GiB so.
const MAX_READY_BYTES: usize = 3 << 30;
