//! The pipeline as a value.

mod explain;

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::{Bound, RlweParams};

use super::encapsulation::{EncryptedSecret, InputModulus};
use super::error::BootstrapError;
use super::forecast::{Expected, Forecast};
use super::maps::{self, Packing};
use super::packed;
use super::partition::Stages;
use super::spec::{BootstrapSpec, FrontEnd, Mode, Numbers, Partition};
use crate::circuits::{CostModel, DigitRemoval, DigitSpec, LinearMap, LinearPlan, PlanSpec, Strategy};
use crate::error::Result;
use crate::evaluator::Evaluator;

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
    /// Packed mode only.
    pub(super) packing: Option<Packing>,
    /// The levels of unpacking and repacking.
    pub(super) packing_levels: [usize; 2],
    stages: Vec<Stage>,
    least_input_bits: f64,
    output: Expected,
}

/// Names of stages that are no linear maps.
pub(super) const FRONT_END: &str = "front end";
pub(super) const DIGITS: &str = "digit removal";
pub(super) const UNPACK: &str = "unpacking";
pub(super) const REPACK: &str = "repacking";

impl BootstrapPlan {
    /// Plans bootstrapping of ciphertexts modulo p^r under the given parameters.
    ///
    /// Cost: the slot rings modulo p^r and p^e, and the constants of all linear maps.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`], [`BootstrapError::ChainTooShort`] with the stage that the chain does not carry;
    /// [`crate::Error::Unplannable`] for an m without evaluation maps; [`crate::Error::OutOfRange`] for a partition that does not fit.
    pub fn new(params: &RlweParams, (p, r): (u64, u32), spec: BootstrapSpec) -> Result<Self> {
        let m = params.m();
        let numbers = Numbers::new(params.shape(), (p, r), &spec)?;
        let message = maps::evaluation_ring(m, p, r)?;
        let working = maps::evaluation_ring(m, p, numbers.exponent)?;
        let digits = DigitRemoval::new(DigitSpec {
            bound: (p != 2).then_some(numbers.bound),
            method: spec.digits,
            ..DigitSpec::new(p, numbers.exponent, numbers.removed)
        })?;
        let input = InputModulus::choose(params, &numbers, &spec)?;
        let packing = (spec.mode == Mode::Packed).then(|| Packing::new(&working));
        let [there, back] = linear_maps(params, [&message, &working], &spec, packing.as_ref())?;
        let mut plan = Self {
            params: params.clone(),
            numbers,
            to_coefficients: planned(params, there, if packing.is_some() { params.top_level() / 2 } else { 4 })?,
            to_slots: planned(params, back, params.top_level())?,
            message,
            working,
            digits,
            input,
            spec,
            packing,
            packing_levels: [1, 1],
            stages: Vec::new(),
            least_input_bits: 0.0,
            output: Expected { level: 1, exponent: r, factor: 1, noise: Bound::ONE },
        };
        plan.schedule()?;
        Ok(plan)
    }

    /// Fixes the levels by running the pipeline on noise bounds.
    fn schedule(&mut self) -> Result<()> {
        let low = Forecast::new(&self.params, &self.message);
        let high = Forecast::new(&self.params, &self.working);
        let mut stages = Vec::new();
        self.least_input_bits = self.input.needed_bits;
        if self.packing.is_none() {
            (stages, self.least_input_bits) = self.schedule_input(&low)?;
        }
        let mut ct = self.front_end_forecast(&high);
        stages.push(self.front_end_stage(high.capacity(&ct)));
        for stage in &mut self.to_slots {
            ct = stage.schedule(&high, &ct, &mut stages)?;
        }
        if let Some(packing) = &self.packing {
            ct = high.reduce(&ct);
            let constants: Vec<Bound> =
                packing.unpacking(&self.working)?.iter().map(|c| high.prepare(c)).collect::<Result<_>>()?;
            let after = packed::unpack(&high, &constants, packing.index(), &ct)?[0];
            let (p, m) = (self.numbers.prime, self.params.m());
            stages.push(Stage {
                name: UNPACK.into(),
                level: ct.level,
                capacity: (high.capacity(&ct), high.capacity(&after)),
                work: format!("to {} ciphertexts with {} constants", packing.index().len(), constants.len()),
                keys: (1..packing.index().len() as u64).map(|j| arith::pow_mod(p % m, j, m)).collect(),
            });
            self.packing_levels[0] = ct.level;
            ct = after;
        }
        ct = high.reduce(&ct);
        let (before, level) = (high.capacity(&ct), ct.level);
        ct = self.digits.apply(&high, &ct)?;
        let mut work = self.digits.explain();
        if let Some(packing) = &self.packing {
            work = format!("for each of {} ciphertexts: {work}", packing.index().len());
        }
        let capacity = (before, high.capacity(&ct));
        stages.push(Stage { name: DIGITS.into(), level, capacity, work, keys: BTreeSet::new() });
        check(DIGITS, high.capacity(&ct))?;
        if let Some(packing) = &self.packing {
            ct = low.reduce(&ct);
            let constants: Vec<Bound> =
                packing.repacking(&self.message)?.iter().map(|c| low.prepare(c)).collect::<Result<_>>()?;
            let after = packed::repack(&low, &constants, &vec![ct; constants.len()])?;
            stages.push(Stage {
                name: REPACK.into(),
                level: ct.level,
                capacity: (low.capacity(&ct), low.capacity(&after)),
                work: format!("{} products with constants", constants.len()),
                keys: BTreeSet::new(),
            });
            self.packing_levels[1] = ct.level;
            ct = after;
            for stage in &mut self.to_coefficients {
                ct = stage.schedule(&low, &ct, &mut stages)?;
            }
        }
        // A bootstrapping that leaves less than it needs to start is of no use.
        check("what is left for computing", low.capacity(&ct) - self.least_input_bits)?;
        self.output = ct;
        self.stages = stages;
        Ok(())
    }

    fn front_end_stage(&self, after: f64) -> Stage {
        Stage {
            name: FRONT_END.into(),
            level: self.input.level,
            capacity: (self.input.needed_bits, after),
            work: format!(
                "switch to the ephemeral key (weight {}) at {:.0} bits, to modulus {}, times the encrypted key",
                self.spec.ephemeral_weight,
                self.params.log2_q(self.input.level),
                match self.spec.front_end {
                    FrontEnd::PrimePower => format!("{}^{}", self.numbers.prime, self.numbers.exponent),
                    FrontEnd::NearPrimePower => format!(
                        "{}^{} + 1, {} digits cleared",
                        self.numbers.prime,
                        self.numbers.removed + self.numbers.cleared,
                        self.numbers.cleared
                    ),
                }
            ),
            keys: BTreeSet::new(),
        }
    }

    /// The stages before the front end, from the lowest level that carries them; and the least capacity to arrive with.
    fn schedule_input(&mut self, low: &Forecast) -> Result<(Vec<Stage>, f64)> {
        let prepared: Vec<_> =
            self.to_coefficients.iter().map(|stage| stage.plan.prepare(low)).collect::<Result<_>>()?;
        let run = |start: Expected| -> Result<Vec<(Expected, Expected)>> {
            let mut ct = start;
            let mut trail = Vec::new();
            for (stage, prepared) in self.to_coefficients.iter().zip(&prepared) {
                let before = low.reduce(&ct);
                ct = stage.plan.apply(prepared, low, &before)?;
                trail.push((before, ct));
            }
            Ok(trail)
        };
        let spare = |trail: &[(Expected, Expected)], start: &Expected| {
            let last = trail.last().map_or(start, |(_, after)| after);
            low.capacity(&low.switch(last, self.input.level)).min(low.capacity(last)) - self.input.needed_bits
        };
        let mut short = 0.0;
        for level in self.input.level..=self.params.top_level() {
            let start = low.floor(level, self.numbers.message_exponent);
            let trail = run(start)?;
            let margin = spare(&trail, &start);
            if margin < 0.0 {
                short = -margin;
                continue;
            }
            let least = low.capacity(&start) - margin;
            let mut stages = Vec::new();
            for (stage, (before, after)) in self.to_coefficients.iter_mut().zip(trail) {
                stage.level = before.level;
                stages.push(stage.describe(low.capacity(&before), low.capacity(&after)));
            }
            return Ok((stages, least));
        }
        Err(BootstrapError::ChainTooShort { stage: "slots to coefficients".into(), missing_bits: short }.into())
    }

    /// c_0 + c_1·Enc(s̃) with uniform c_0, c_1 modulo p^e.
    fn front_end_forecast(&self, high: &Forecast) -> Expected {
        let model = high.model(self.numbers.exponent);
        let norm = high.constant_norm(self.numbers.exponent);
        let t = self.working.quotient().modulus().value();
        let secret = EncryptedSecret::noise(&self.params, model, self.spec.ephemeral_weight, t);
        let noise = secret * norm + model.rounding(2) + norm;
        Expected { level: self.params.top_level(), exponent: self.numbers.exponent, factor: 1, noise }
    }

    /// Whether a ciphertext of this level and noise can be refreshed; the first stage that it would not survive.
    pub(super) fn check_input(&self, level: usize, noise: Bound) -> Result<()> {
        let low = Forecast::new(&self.params, &self.message);
        let mut ct = Expected { level, exponent: self.numbers.message_exponent, factor: 1, noise };
        let left_bits = low.capacity(&ct);
        let refuse = |stage: &str, missing_bits: f64| {
            Err(BootstrapError::CapacityTooLow { stage: stage.into(), left_bits, missing_bits }.into())
        };
        let before = if self.packing.is_some() { &[][..] } else { &self.to_coefficients };
        for stage in before {
            ct = stage.plan.apply_once(&low, &low.switch(&ct, stage.level))?;
            if low.capacity(&ct) <= 0.0 {
                return refuse(&stage.name, -low.capacity(&ct));
            }
        }
        let missing = self.input.needed_bits - low.capacity(&low.switch(&ct, self.input.level));
        if ct.level < self.input.level || missing > 0.0 { refuse(FRONT_END, missing.max(0.0)) } else { Ok(()) }
    }
}

impl LinearStage {
    /// Fixes the level and records the stage.
    fn schedule(&mut self, forecast: &Forecast, ct: &Expected, stages: &mut Vec<Stage>) -> Result<Expected> {
        let before = forecast.reduce(ct);
        self.level = before.level;
        let after = self.plan.apply_once(forecast, &before)?;
        stages.push(self.describe(forecast.capacity(&before), forecast.capacity(&after)));
        check(&self.name, forecast.capacity(&after))?;
        Ok(after)
    }

    fn describe(&self, before: f64, after: f64) -> Stage {
        Stage {
            name: self.name.clone(),
            level: self.level,
            capacity: (before, after),
            work: format!("{} automorphisms: {}", self.plan.grid().support().len(), self.plan.count()),
            keys: self.plan.required_keys(),
        }
    }
}

/// Maps with the names of their stages.
type Named = Vec<(String, LinearMap)>;

/// The maps to the coefficients and to the slots (with the trace in thin mode), named.
fn linear_maps(
    params: &RlweParams,
    [message, working]: [&Arc<SlotRing>; 2],
    spec: &BootstrapSpec,
    packing: Option<&Packing>,
) -> Result<[Named; 2]> {
    let (m, p) = (working.quotient().m(), working.hypercube().prime());
    let count = if packing.is_some() { maps::packed_stage_count(m, p)? } else { maps::stage_count(m, p)? };
    let supports = if spec.partition == Partition::Three { Vec::new() } else { maps::stage_supports(message)? };
    // The stages to the slots are those to the coefficients in the other order, at the top level.
    let ends = |given: &Option<Vec<usize>>, level: usize, reversed: bool| {
        if let Some(ends) = given {
            return ends.clone();
        }
        if spec.partition == Partition::Three || supports.len() != count {
            return default_partition(count, if m.is_power_of_two() { 3 } else { count });
        }
        let mut supports = supports.clone();
        if reversed {
            supports.reverse();
        }
        let special = params.special_primes().len();
        let cost = CostModel::hybrid(level, special, params.digits().min(level));
        let constant_bytes = (8 * (level + special) * params.n()) as f64;
        Stages { supports: &supports, m, cost, constant_bytes }.best(spec.partition)
    };
    let low = if packing.is_some() { params.top_level() / 2 } else { 4 }.clamp(1, params.top_level());
    let there_ends = ends(&spec.to_coefficients, low, false);
    let back_ends = ends(&spec.to_slots, params.top_level(), true);
    let (there, back) = match packing {
        None => (maps::thin_to_coefficients(message, &there_ends)?, maps::thin_to_slots(working, &back_ends)?),
        Some(packing) => {
            (maps::packed_to_coefficients(message, &there_ends)?, maps::packed_to_slots(working, &back_ends, packing)?)
        }
    };
    let mut back = named("coefficients to slots", back);
    if packing.is_none() {
        back.extend(named("trace", maps::trace_stages(working)?));
    }
    Ok([named("slots to coefficients", there), back])
}

/// Refuses negative capacity.
fn check(stage: &str, bits: f64) -> Result<()> {
    if bits > 0.0 {
        return Ok(());
    }
    Err(BootstrapError::ChainTooShort { stage: stage.into(), missing_bits: -bits }.into())
}

/// `count` stages merged into `groups` of sizes that differ by at most one.
fn default_partition(count: usize, groups: usize) -> Vec<usize> {
    let groups = groups.clamp(1, count.max(1));
    if count == 0 { Vec::new() } else { (1..=groups).map(|group| count * group / groups).collect() }
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

/// The cheapest plan, with baby steps at the distances of the map's diagonals too: the planner's own candidates suppose that they lie close.
fn best_plan(map: &LinearMap, cost: CostModel) -> Result<LinearPlan> {
    let spec = |strategy: Strategy| PlanSpec { cost, ..PlanSpec::with_strategy(strategy) };
    let mut best = LinearPlan::new(map, &spec(Strategy::Automatic))?;
    let size = map.slots().hypercube().dimensions().iter().map(|dimension| dimension.size).max().unwrap_or(1);
    if map.slots().quotient().m().is_power_of_two() && map.support().len() > 4 {
        let mut babies = 2;
        while babies < size {
            let plan = LinearPlan::new(map, &spec(Strategy::BabyGiant { babies: Some(babies) }))?;
            if plan.price() < best.price() {
                best = plan;
            }
            babies *= 2;
        }
    }
    Ok(best)
}
