//! Lists the elementary stages of the linear maps, and decides which of them to merge.

mod cheapest;

use std::sync::Arc;

use windlass_circuits::CostModel;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::RlweParams;
use windlass_schemes::error::{BootstrapError, Error, Result};

use super::maps::{self, Runs, SlotTransform, StageSupports};
use super::pipeline::Pipeline;
use super::spec::{
    BootstrapSpec, ElementaryStages, EvalStage, MAX_CHOSEN_BYTES, Order, Partition, StagePartition, Unpacking,
};
use cheapest::Stages;
pub(super) use cheapest::{baby_giant, constant_bytes, price_of_one};

/// Elementary stages in a merged one where packed elements are split by monomials and slots are
/// few, unless the specification says otherwise.
const MERGED: usize = 4;

/// How many times the price of maps merged with the stage inside of slots may have, to be planned:
/// maps are less than half of a packed refresh, and one map less each way leaves a tenth or two of
/// capacity more.
const MOST_FOR_ONE_MAP_LESS: f64 = 2.0;

/// The stages of both maps, and which of them are merged.
#[derive(Debug, Clone)]
pub(super) struct Merging {
    pub transform: &'static dyn SlotTransform,
    pub to_coefficients: Runs,
    pub to_slots: Runs,
    /// The price of both maps, and the bytes of their constants; 0 where there was nothing to
    /// compare.
    pub price: f64,
    pub bytes: f64,
}

/// What is merged for: one way of packed mode, or thin mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// How packed elements come apart, and where the maps to the coefficients stand; none in thin
    /// mode.
    pub packed: Option<(Unpacking, Order)>,
    /// Whether stages beside those that may be merged become parts of their neighbours.
    pub joined: bool,
    /// Whether [`Merging::price`] is asked for.
    pub priced: bool,
}

impl Way {
    pub const THIN: Self = Self { packed: None, joined: false, priced: false };

    fn unpacking(self) -> Option<Unpacking> {
        self.packed.map(|way| way.0)
    }

    /// The stages of a transform that may be merged.
    fn stages(self, m: u64, slot_ring: &SlotRing, transform: &dyn SlotTransform) -> Result<ElementaryStages> {
        let count = match self.unpacking() {
            Some(Unpacking::Constants) => transform.packed_stage_count(slot_ring.hypercube())?,
            _ => transform.stage_count(slot_ring.hypercube())?,
        };
        let (transform, packed) = (transform.name(), self.packed.is_some());
        Ok(ElementaryStages { m, p: slot_ring.prime(), transform, packed, count })
    }

    /// The automorphisms of the stages of both maps: to the coefficients, and to the slots.
    fn supports(self, m: u64, slot_ring: &Arc<SlotRing>, transform: &dyn SlotTransform) -> Result<[StageSupports; 2]> {
        let supports = match self.unpacking() {
            Some(Unpacking::Constants) => transform.packed_supports(slot_ring)?,
            Some(Unpacking::MonomialsInSlots) => maps::together_supports(slot_ring)?,
            _ => maps::thin_supports(slot_ring, transform)?.map(StageSupports::alone),
        };
        Ok(supports.map(|one| if self.joined { one.joined(m) } else { one }))
    }

    /// Whether there are stages beside those that may be merged.
    pub fn has_eval(unpacking: Unpacking, slot_ring: &SlotRing) -> bool {
        match unpacking {
            Unpacking::Constants => true,
            Unpacking::MonomialsInSlots => !maps::splits(slot_ring.m(), slot_ring.prime())[0].is_empty(),
            _ => false,
        }
    }
}

/// The refusal of a rule that says nothing of these stages.
fn unknown_stages(rule: &dyn StagePartition, stages: &ElementaryStages) -> Error {
    let (name, ElementaryStages { m, p, transform, .. }) = (rule.name(), stages);
    let what =
        format!("the partition {name} has none for {transform} stages, m = {m}, p = {p}; use Partition::Standard");
    BootstrapError::Unsupported { what }.into()
}

impl Merging {
    /// What the specification says, for one way; what it leaves open is chosen by price.
    ///
    /// # Errors
    /// [`super::BootstrapError::Unsupported`] for a transform that the ring does not have.
    pub fn choose(params: &RlweParams, slot_ring: &Arc<SlotRing>, spec: &BootstrapSpec, way: Way) -> Result<Self> {
        let mut choices = spec.transform.choices(params.m(), slot_ring.prime())?;
        let split = matches!(way.unpacking(), Some(Unpacking::Monomials | Unpacking::MonomialsInSlots));
        if split {
            choices.retain(|transform| transform.allows_monomials());
        }
        if let (Partition::Of(rule), true) = (spec.partition, choices.len() > 1) {
            // What is wrong where none is known is said below.
            let is_known = |transform: &&'static dyn SlotTransform| {
                way.stages(params.m(), slot_ring, *transform).is_ok_and(|stages| rule.ends(&stages).is_some())
            };
            if choices.iter().any(is_known) {
                choices.retain(is_known);
            }
        }
        let single = choices.len() == 1 && !way.priced;
        let merged = choices.into_iter().map(|transform| Self::of(params, slot_ring, spec, (transform, way), single));
        let merged = merged.collect::<Result<Vec<Self>>>()?;
        Ok(merged.into_iter().min_by(|a, b| a.price.total_cmp(&b.price)).expect("at least one choice"))
    }

    /// The stages of one kind, without a price where there is nothing to compare.
    fn of(
        params: &RlweParams,
        slot_ring: &Arc<SlotRing>,
        spec: &BootstrapSpec,
        (transform, way): (&'static dyn SlotTransform, Way),
        single: bool,
    ) -> Result<Self> {
        let known = Self::known(params, slot_ring, spec, transform, way)?;
        let runs = |ends| Runs { ends, joined: way.joined };
        if let (true, Some([forth, back])) = (single, &known) {
            let to_coefficients = runs(spec.to_coefficients.as_ref().unwrap_or(forth).clone());
            let to_slots = runs(spec.to_slots.as_ref().unwrap_or(back).clone());
            return Ok(Self { transform, to_coefficients, to_slots, price: 0.0, bytes: 0.0 });
        }
        let thin = matches!(way.unpacking(), None | Some(Unpacking::Monomials));
        let fixed = if thin { maps::fixed(slot_ring, transform) } else { None };
        let [forth, back] = way.supports(params.m(), slot_ring, transform)?;
        let [known_forth, known_back] = known.map_or([None, None], |ends| ends.map(Some));
        let forth_level = to_coefficients_level(params, way.packed.map(|way| way.1));
        let merge = |supports: &StageSupports, given, level| {
            let (constant_bytes, cost) = (constant_bytes(params, level) as f64, CostModel::at_level(params, level));
            let (m, fixed) = (params.m(), fixed.as_ref());
            let stages = Stages { supports: &supports.merged, m, fixed, cost, constant_bytes };
            stages.merged(given, spec.partition, supports)
        };
        let forth = merge(&forth, spec.to_coefficients.clone().or(known_forth), forth_level);
        let back = merge(&back, spec.to_slots.clone().or(known_back), params.top_level());
        let (price, bytes) = (forth.price + back.price, forth.bytes + back.bytes);
        Ok(Self { transform, to_coefficients: runs(forth.ends), to_slots: runs(back.ends), price, bytes })
    }

    /// The ends that a partition without a search has.
    fn known(
        params: &RlweParams,
        slot_ring: &SlotRing,
        spec: &BootstrapSpec,
        transform: &'static dyn SlotTransform,
        way: Way,
    ) -> Result<Option<[Vec<usize>; 2]>> {
        let m = params.m();
        let stages = way.stages(m, slot_ring, transform)?;
        let count = stages.count;
        let groups = match way.unpacking() {
            _ if !m.is_power_of_two() => count,
            // Each merged stage spends the capacity of one, and two of four take no more time than
            // three of three.
            Some(Unpacking::Monomials | Unpacking::MonomialsInSlots) => count.div_ceil(MERGED).min(3),
            _ => 3,
        };
        let both = |ends: Vec<usize>| Some([ends.clone(), ends]);
        Ok(match spec.partition {
            Partition::Standard => both(default_partition(count, groups)),
            Partition::Single => both(default_partition(count, 1)),
            Partition::Of(rule) => Some(rule.ends(&stages).ok_or_else(|| unknown_stages(rule, &stages))?),
            Partition::LeastTime | Partition::MostCapacity => None,
        })
    }
}

/// Whether the stage inside of slots becomes a part of its neighbour: what there is to plan and
/// compare, for one way of unpacking.
///
/// # Errors
/// As [`Merging::choose`].
pub(super) fn eval_choices(pipeline: &Pipeline, unpacking: Unpacking, order: Order) -> Result<Vec<bool>> {
    let Pipeline { params, spec, message, .. } = pipeline;
    if !Way::has_eval(unpacking, message) {
        return Ok(vec![false]);
    }
    let open = spec.unpacking == Unpacking::Automatic && params.m().is_power_of_two();
    match (spec.eval, spec.partition) {
        (EvalStage::Alone, _) => return Ok(vec![false]),
        (EvalStage::Merged, _) | (_, Partition::Of(_) | Partition::Single) => return Ok(vec![true]),
        // What monomials are compared with.
        (EvalStage::Automatic, _) if open => return Ok(vec![false]),
        _ => {}
    }
    let of = |joined| {
        let way = Way { packed: Some((unpacking, order)), joined, priced: true };
        Merging::choose(params, message, spec, way)
    };
    let (alone, merged) = (of(false)?, of(true)?);
    let fits = merged.bytes <= MAX_CHOSEN_BYTES as f64;
    Ok(match spec.partition {
        Partition::MostCapacity if fits => vec![true],
        _ if fits && merged.price <= MOST_FOR_ONE_MAP_LESS * alone.price => vec![false, true],
        _ => vec![false],
    })
}

/// About where the maps to the coefficients run: at the foot of the chain before the front end,
/// in its middle behind the digits.
pub(super) fn to_coefficients_level(params: &RlweParams, order: Option<Order>) -> usize {
    let primes = if order == Some(Order::ToCoefficientsLast) { params.q_primes().len() / 2 } else { 4 };
    params.levels().of_primes(primes)
}

/// `count` stages merged into `groups` of sizes that differ by at most one.
fn default_partition(count: usize, groups: usize) -> Vec<usize> {
    let groups = groups.clamp(1, count.max(1));
    if count == 0 { Vec::new() } else { (1..=groups).map(|group| count * group / groups).collect() }
}
