//! Packed mode: which way to take, its linear maps, and the levels of what comes before and after them.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, RlweParams};

use super::schedule::record;
use super::{BootstrapPlan, JOIN, JOIN_SLOTS, Named, REPACK, SPLIT, SPLIT_SLOTS, Stage, UNPACK, named};
use crate::bootstrap::error::BootstrapError;
use crate::bootstrap::forecast::{Expected, Forecast};
use crate::bootstrap::maps::{self, Factoring};
use crate::bootstrap::packed::{self, Choice, Way};
use crate::bootstrap::partition::Merging;
use crate::bootstrap::spec::{BootstrapSpec, MAX_CHOSEN_BYTES, Mode, Unpacking};
use crate::bootstrap::splitting::Tree;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::switching::Switching;

/// What the specification leaves to choose among.
///
/// # Errors
/// [`BootstrapError::Unsupported`] for monomials where m is no power of two or the stages are Bruun's, and for constants that do not fit into memory.
pub(super) fn candidates(params: &RlweParams, working: &Arc<SlotRing>, spec: &BootstrapSpec) -> Result<Vec<Choice>> {
    let unsupported = |what: String| Err(BootstrapError::Unsupported { what }.into());
    if spec.mode == Mode::Thin {
        return Ok(vec![Choice::Thin]);
    }
    if !params.m().is_power_of_two() {
        return match spec.unpacking {
            Unpacking::Automatic | Unpacking::Constants => Ok(vec![Choice::Constants]),
            _ => unsupported(format!("m = {} is no power of two; use Unpacking::Constants", params.m())),
        };
    }
    // Upper bounds: everything at the top level.
    let d = working.degree();
    let bytes = 8 * (params.top_level() + params.special_primes().len()) * params.n();
    if Factoring::choices(params.m(), working.prime(), spec.transform)? == [Factoring::Bruun] {
        // Of pairs of slots 2d constants, and d to unpack.
        return match spec.unpacking {
            Unpacking::Automatic | Unpacking::Constants if 3 * d * bytes <= MAX_CHOSEN_BYTES => {
                Ok(vec![Choice::Constants])
            }
            _ => unsupported(format!("Bruun's stages unpack by up to {} constants; use Transform::Radix2", 3 * d)),
        };
    }
    let fits = d * d * bytes <= MAX_CHOSEN_BYTES;
    match spec.unpacking {
        Unpacking::Constants if !fits => {
            let size = (d * d * bytes) as f64 / 1e9;
            unsupported(format!("{} constants take up to {size:.0} GB; use Unpacking::Monomials", d * d))
        }
        Unpacking::Constants => Ok(vec![Choice::Constants]),
        Unpacking::Monomials => Ok(vec![Choice::Monomials]),
        Unpacking::MonomialsInSlots => Ok(vec![Choice::MonomialsInSlots]),
        Unpacking::Automatic => {
            let [elements, _] = maps::splits(params.m(), working.prime());
            let mut choices = vec![Choice::Monomials];
            // With one element nothing is gained by maps inside the slots; splitting after them costs as much capacity as constants do.
            if !elements.is_empty() && fits {
                choices.push(Choice::Constants);
            }
            Ok(choices)
        }
    }
}

/// The plan with the most capacity for computing divided by its price, later ones only where they have half as much again: prices are rough (by them constants
/// win for p = 8191 and n = 2^15, by the clock monomials do), and the first takes least memory. The first error if there is none.
pub(super) fn best(plans: impl Iterator<Item = Result<BootstrapPlan>>) -> Result<BootstrapPlan> {
    let rate = |plan: &BootstrapPlan| (plan.output_bits() - plan.least_input_bits()) / plan.price();
    let mut best: Option<Result<BootstrapPlan>> = None;
    for plan in plans {
        match (&best, &plan) {
            (Some(Ok(old)), Ok(new)) if rate(new) <= 1.5 * rate(old) => {}
            (Some(_), Err(_)) => {}
            _ => best = Some(plan),
        }
    }
    best.expect("there is at least one candidate")
}

/// The maps to the coefficients and to the slots of [`Way::Monomials`]: those of thin mode, without the trace, where no element is split in the slots beside
/// those of F; with maps inside the slots otherwise.
pub(super) fn split_maps(
    [message, working]: [&Arc<SlotRing>; 2],
    merging: &Merging,
    slots: &Tree,
) -> Result<[Named; 2]> {
    let [_, in_slots] = maps::splits(working.m(), working.prime());
    let Merging { factoring, to_coefficients: there, to_slots: back } = merging;
    let (there, back) = if slots.splits == in_slots {
        (maps::thin_to_coefficients(message, *factoring, there)?, maps::thin_to_slots(working, *factoring, back)?)
    } else {
        (maps::together_to_coefficients(message, there)?, maps::together_to_slots(working, back)?)
    };
    Ok([named("slots to coefficients", there), named("coefficients to slots", back)])
}

impl BootstrapPlan {
    pub(super) fn schedule_split_elements(
        &mut self,
        high: &Forecast,
        ct: Expected,
        stages: &mut Vec<Stage>,
    ) -> Result<Expected> {
        match &mut self.way {
            Way::Monomials { elements, .. } => schedule_split(elements, SPLIT, 1, high, ct, stages),
            _ => Ok(ct),
        }
    }

    /// What comes between the maps to the slots and the digits.
    pub(super) fn schedule_unpacking(
        &mut self,
        high: &Forecast,
        ct: Expected,
        stages: &mut Vec<Stage>,
    ) -> Result<Expected> {
        match &mut self.way {
            Way::Thin => Ok(ct),
            Way::Monomials { elements, slots } => {
                schedule_split(slots, SPLIT_SLOTS, elements.parts(), high, ct, stages)
            }
            Way::Constants { packing, levels } => {
                let ct = high.reduce(&ct);
                let constants: Vec<Bound> =
                    packing.unpacking(&self.working)?.iter().map(|c| high.prepare(c)).collect::<Result<_>>()?;
                let after = packed::unpack(high, &constants, packing.index(), &ct)?[0];
                levels[0] = ct.level;
                let (p, m, index) = (self.numbers.prime, self.params.m(), packing.index().len());
                let keys = packed::unpacking_powers(index).map(|j| arith::pow_mod(p % m, j, m)).collect();
                let work = format!("to {index} ciphertexts with {} constants", constants.len());
                record(stages, Stage { keys, ..Stage::between(UNPACK, high, [&ct, &after], work) })?;
                Ok(after)
            }
        }
    }

    /// What comes between the digits and the maps to the coefficients.
    pub(super) fn schedule_repacking(
        &mut self,
        low: &Forecast,
        ct: Expected,
        stages: &mut Vec<Stage>,
    ) -> Result<Expected> {
        match &mut self.way {
            Way::Thin => Ok(ct),
            Way::Monomials { elements, slots } => schedule_join(slots, JOIN_SLOTS, elements.parts(), low, ct, stages),
            Way::Constants { packing, levels } => {
                let ct = low.reduce(&ct);
                let constants: Vec<Bound> =
                    packing.repacking(&self.message)?.iter().map(|c| low.prepare(c)).collect::<Result<_>>()?;
                levels[1] = ct.level;
                let after = packed::repack(low, &constants, &vec![ct; constants.len()])?;
                let work = format!("{} products with constants", constants.len());
                record(stages, Stage::between(REPACK, low, [&ct, &after], work))?;
                Ok(after)
            }
        }
    }

    pub(super) fn schedule_join_elements(
        &mut self,
        low: &Forecast,
        ct: Expected,
        stages: &mut Vec<Stage>,
    ) -> Result<Expected> {
        match &mut self.way {
            Way::Monomials { elements, .. } => schedule_join(elements, JOIN, 1, low, ct, stages),
            _ => Ok(ct),
        }
    }
}

/// Fixes the level that a tree splits at, and records the stage, which comes `times` times.
fn schedule_split(
    tree: &mut Tree,
    name: &str,
    times: usize,
    forecast: &Forecast,
    ct: Expected,
    stages: &mut Vec<Stage>,
) -> Result<Expected> {
    if tree.splits.is_empty() {
        return Ok(ct);
    }
    let before = forecast.reduce(&ct);
    tree.split_level = before.level;
    let halved = |x: Expected, element| forecast.add(&x, &forecast.automorphism(&x, element)?);
    let after = tree.splits.iter().try_fold(before, |x, split| halved(x, split.element))?;
    let times = times * (tree.parts() - 1);
    let work = format!("{times} in all to 2 each, by automorphisms and monomials");
    let keys = tree.splits.iter().map(|split| split.element).collect();
    record(stages, Stage { keys, times, ..Stage::between(name, forecast, [&before, &after], work) })?;
    Ok(after)
}

/// The same for joining.
fn schedule_join(
    tree: &mut Tree,
    name: &str,
    times: usize,
    forecast: &Forecast,
    ct: Expected,
    stages: &mut Vec<Stage>,
) -> Result<Expected> {
    if tree.splits.is_empty() {
        return Ok(ct);
    }
    let before = forecast.reduce(&ct);
    tree.join_level = before.level;
    let after = tree.splits.iter().try_fold(before, |x, _| forecast.add(&x, &x))?;
    let stage = Stage::between(name, forecast, [&before, &after], "by monomials".into());
    record(stages, Stage { times: times * (tree.parts() - 1), ..stage })?;
    Ok(after)
}
