//! The pipeline as a value.

mod explain;
mod packed;
mod schedule;

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::kernels::Isa;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, RlweParams};

pub(super) use self::explain::check_ephemeral_key;
use super::encapsulation::InputModulus;
use super::forecast::Expected;
use super::maps::{self, Packing};
use super::packed::{Choice, Way};
use super::partition::Merging;
use super::spec::{BootstrapSpec, Numbers};
use crate::circuits::{CostModel, DigitRemoval, DigitSpec, LinearMap, LinearPlan, PlanSpec, Strategy};
use crate::error::Result;

/// One stage, as [`BootstrapPlan::stages`] lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// The level it starts at.
    pub level: usize,
    /// Bits of capacity before and after, as forecast from the noise bounds; for what comes before the front end counted from the least capacity
    /// that a ciphertext may arrive with.
    pub capacity: (f64, f64),
    /// What it does, in words.
    pub work: String,
    /// The automorphisms that it needs keys for.
    pub keys: BTreeSet<u64>,
    /// How often it comes: once, or for each of the ciphertexts that a packed one comes apart into.
    pub times: usize,
}

/// A linear map of the pipeline and the level it runs at.
#[derive(Debug, Clone)]
pub(super) struct LinearStage {
    pub name: String,
    pub plan: LinearPlan,
    pub level: usize,
}

/// Everything about one bootstrapping that depends on no key: made once, printed before anything runs.
#[derive(Debug, Clone)]
pub struct BootstrapPlan {
    pub(super) params: RlweParams,
    pub(super) spec: BootstrapSpec,
    pub(super) numbers: Numbers,
    pub(super) message: Arc<SlotRing>,
    pub(super) working: Arc<SlotRing>,
    pub(super) to_coefficients: Vec<LinearStage>,
    pub(super) to_slots: Vec<LinearStage>,
    pub(super) digits: DigitRemoval,
    pub(super) input: InputModulus,
    pub(super) way: Way,
    stages: Vec<Stage>,
    least_input_bits: f64,
    output: Expected,
}

/// Names of stages that are no linear maps.
pub(super) const FRONT_END: &str = "front end";
pub(super) const DIGITS: &str = "digit removal";
pub(super) const UNPACK: &str = "unpacking";
pub(super) const REPACK: &str = "repacking";
pub(super) const SPLIT: &str = "splitting";
pub(super) const SPLIT_SLOTS: &str = "splitting the slots";
pub(super) const JOIN_SLOTS: &str = "joining the slots";
pub(super) const JOIN: &str = "joining";

impl BootstrapPlan {
    /// Plans bootstrapping of ciphertexts modulo p^r under the given parameters.
    ///
    /// Cost: the slot rings modulo p^r and p^e, and the constants of all linear maps.
    ///
    /// # Errors
    /// [`super::BootstrapError::EphemeralWeight`], [`super::BootstrapError::FailureBits`]; [`super::BootstrapError::EphemeralKeyTooWeak`] under parameters
    /// that are [`windlass_rlwe::Assurance::Secure`];
    /// [`super::BootstrapError::Unsupported`], [`super::BootstrapError::ChainTooShort`] with the stage that the chain does not carry;
    /// [`crate::Error::Unplannable`] for an m without evaluation maps; [`super::BootstrapError::Partition`] for one that does not fit.
    pub fn new(params: &RlweParams, (p, r): (u64, u32), spec: BootstrapSpec) -> Result<Self> {
        let m = params.m();
        let numbers = Numbers::new(params.shape(), (p, r), &spec)?;
        let input = InputModulus::choose(params, &numbers, &spec)?;
        check_ephemeral_key(params, &input, &spec)?;
        let message = maps::evaluation_ring(m, p, r)?;
        let working = Arc::new(message.with_exponent(numbers.exponent, Isa::best())?);
        let digits = DigitRemoval::new(DigitSpec {
            bound: (p != 2).then_some(numbers.bound),
            method: spec.digits,
            ..DigitSpec::new(p, numbers.exponent, numbers.removed)
        })?;
        let assemble = |choice: Choice| -> Result<Self> {
            let merging = Merging::choose(params, &message, &spec, choice)?;
            let way = Way::new(choice, &working, merging.factoring);
            let [there, back] = match &way {
                Way::Thin => linear_maps([&message, &working], &merging, None)?,
                Way::Constants { packing, .. } => linear_maps([&message, &working], &merging, Some(packing))?,
                Way::Monomials { slots, .. } => packed::split_maps([&message, &working], &merging, slots)?,
            };
            let lower = if matches!(way, Way::Thin) { 4 } else { params.top_level() / 2 };
            let mut plan = Self {
                params: params.clone(),
                numbers,
                to_coefficients: planned(params, there, lower)?,
                to_slots: planned(params, back, params.top_level())?,
                message: Arc::clone(&message),
                working: Arc::clone(&working),
                digits: digits.clone(),
                input: input.clone(),
                spec: spec.clone(),
                way,
                stages: Vec::new(),
                least_input_bits: 0.0,
                output: Expected { level: 1, exponent: r, factor: 1, noise: Bound::ONE },
            };
            plan.schedule()?;
            Ok(plan)
        };
        packed::best(packed::candidates(params, &working, &spec)?.into_iter().map(assemble))
    }
}

/// Maps with the names of their stages.
type Named = Vec<(String, LinearMap)>;

/// The maps to the coefficients and to the slots (with the trace in thin mode), named.
fn linear_maps(
    [message, working]: [&Arc<SlotRing>; 2],
    merging: &Merging,
    packing: Option<&Packing>,
) -> Result<[Named; 2]> {
    let Merging { factoring, to_coefficients, to_slots } = merging;
    let (there, back) = match packing {
        None => (
            maps::thin_to_coefficients(message, *factoring, to_coefficients)?,
            maps::thin_to_slots(working, *factoring, to_slots)?,
        ),
        Some(packing) => (
            maps::packed_to_coefficients(message, *factoring, to_coefficients)?,
            maps::packed_to_slots(working, *factoring, to_slots, packing)?,
        ),
    };
    let mut back = named("coefficients to slots", back);
    if packing.is_none() {
        back.extend(named("trace", maps::trace_stages(working)?));
    }
    Ok([named("slots to coefficients", there), back])
}

fn named(name: &str, maps: Vec<LinearMap>) -> Named {
    let count = maps.len();
    let label = |i: usize| if count == 1 { name.to_owned() } else { format!("{name}, part {} of {count}", i + 1) };
    maps.into_iter().enumerate().map(|(i, map)| (label(i), map)).collect()
}

/// Plans every map for the given level.
fn planned(params: &RlweParams, maps: Named, level: usize) -> Result<Vec<LinearStage>> {
    let level = level.min(params.top_level());
    let digits = params.digits().min(level);
    let cost = CostModel::hybrid(level, params.special_primes().len(), digits);
    maps.into_iter().map(|(name, map)| Ok(LinearStage { plan: best_plan(&map, cost)?, name, level })).collect()
}

/// Constants of one map that take more memory are not held ready, but as coefficients that are expanded when they are used: two large maps and the keys of a packed
/// bootstrapping with m = 49981 fit into 16 GiB so.
const MAX_READY_BYTES: usize = 3 << 30;

/// The cheapest plan, with baby steps at the distances of the map's diagonals too: the planner's own candidates suppose that they lie close.
fn best_plan(map: &LinearMap, cost: CostModel) -> Result<LinearPlan> {
    let spec =
        |strategy: Strategy| PlanSpec { cost, constant_bytes: MAX_READY_BYTES, ..PlanSpec::with_strategy(strategy) };
    let mut best = LinearPlan::new(map, &spec(Strategy::AUTOMATIC))?;
    let size = map.slots().hypercube().dimensions().iter().map(|dimension| dimension.size).max().unwrap_or(1);
    if map.slots().m().is_power_of_two() && map.support().len() > 4 {
        let mut babies = 2;
        while babies < size {
            let plan = LinearPlan::new(map, &spec(Strategy::BABY_GIANT.with_babies(babies)))?;
            if plan.price() < best.price() {
                best = plan;
            }
            babies *= 2;
        }
    }
    Ok(best)
}
