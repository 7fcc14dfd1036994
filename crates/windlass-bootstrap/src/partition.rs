//! Lists the elementary stages of the linear maps, and decides which of them to merge.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_circuits::CostModel;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::RlweParams;
use windlass_schemes::error::{BootstrapError, Error, Result};

use super::maps::{self, Fixed, Runs, SlotTransform, StageSupports};
use super::pipeline::Pipeline;
use super::spec::{
    BootstrapSpec, ElementaryStages, EvalStage, MAX_CHOSEN_BYTES, Order, Partition, StagePartition, Unpacking,
};

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
    fn stages(self, m: u64, slots: &SlotRing, transform: &dyn SlotTransform) -> Result<ElementaryStages> {
        let count = match self.unpacking() {
            Some(Unpacking::Constants) => transform.packed_stage_count(slots.hypercube())?,
            _ => transform.stage_count(slots.hypercube())?,
        };
        let (transform, packed) = (transform.name(), self.packed.is_some());
        Ok(ElementaryStages { m, p: slots.prime(), transform, packed, count })
    }

    /// The automorphisms of the stages of both maps: to the coefficients, and to the slots.
    fn supports(self, m: u64, slots: &Arc<SlotRing>, transform: &dyn SlotTransform) -> Result<[StageSupports; 2]> {
        let supports = match self.unpacking() {
            Some(Unpacking::Constants) => transform.packed_supports(slots)?,
            Some(Unpacking::MonomialsInSlots) => maps::together_supports(slots)?,
            _ => maps::thin_supports(slots, transform)?.map(StageSupports::alone),
        };
        Ok(supports.map(|one| if self.joined { one.joined(m) } else { one }))
    }

    /// Whether there are stages beside those that may be merged.
    pub fn has_eval(unpacking: Unpacking, slots: &SlotRing) -> bool {
        match unpacking {
            Unpacking::Constants => true,
            Unpacking::MonomialsInSlots => !maps::splits(slots.m(), slots.prime())[0].is_empty(),
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
    pub fn choose(params: &RlweParams, slots: &Arc<SlotRing>, spec: &BootstrapSpec, way: Way) -> Result<Self> {
        let mut choices = spec.transform.choices(params.m(), slots.prime())?;
        let split = matches!(way.unpacking(), Some(Unpacking::Monomials | Unpacking::MonomialsInSlots));
        if split {
            choices.retain(|transform| transform.allows_monomials());
        }
        if let (Partition::Of(rule), true) = (spec.partition, choices.len() > 1) {
            // What is wrong where none is known is said below.
            let is_known = |transform: &&'static dyn SlotTransform| {
                way.stages(params.m(), slots, *transform).is_ok_and(|stages| rule.ends(&stages).is_some())
            };
            if choices.iter().any(is_known) {
                choices.retain(is_known);
            }
        }
        let single = choices.len() == 1 && !way.priced;
        let merged = choices.into_iter().map(|transform| Self::of(params, slots, spec, (transform, way), single));
        let merged = merged.collect::<Result<Vec<Self>>>()?;
        Ok(merged.into_iter().min_by(|a, b| a.price.total_cmp(&b.price)).expect("at least one choice"))
    }

    /// The stages of one kind, without a price where there is nothing to compare.
    fn of(
        params: &RlweParams,
        slots: &Arc<SlotRing>,
        spec: &BootstrapSpec,
        (transform, way): (&'static dyn SlotTransform, Way),
        single: bool,
    ) -> Result<Self> {
        let known = Self::known(params, slots, spec, transform, way)?;
        let runs = |ends| Runs { ends, joined: way.joined };
        if let (true, Some([forth, back])) = (single, &known) {
            let to_coefficients = runs(spec.to_coefficients.as_ref().unwrap_or(forth).clone());
            let to_slots = runs(spec.to_slots.as_ref().unwrap_or(back).clone());
            return Ok(Self { transform, to_coefficients, to_slots, price: 0.0, bytes: 0.0 });
        }
        let thin = matches!(way.unpacking(), None | Some(Unpacking::Monomials));
        let fixed = if thin { maps::fixed(slots, transform) } else { None };
        let [forth, back] = way.supports(params.m(), slots, transform)?;
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
        slots: &SlotRing,
        spec: &BootstrapSpec,
        transform: &'static dyn SlotTransform,
        way: Way,
    ) -> Result<Option<[Vec<usize>; 2]>> {
        let m = params.m();
        let stages = way.stages(m, slots, transform)?;
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

/// Bytes of a constant whose values all differ, for levels up to this one.
pub(super) fn constant_bytes(params: &RlweParams, level: usize) -> usize {
    8 * (params.levels().covering(level).len() + params.special_primes().len()) * params.n()
}

/// The price of a map of `count` automorphisms by so many hoisted baby steps, and giant steps.
pub(super) fn baby_giant(cost: &CostModel, count: usize, babies: usize) -> f64 {
    let giants = count.div_ceil(babies) - 1;
    cost.hoist
        + (babies - 1) as f64 * cost.hoisted_automorphism
        + giants as f64 * cost.extended_automorphism
        + count as f64 * cost.multiply_constant
        + cost.mod_down
}

/// One map of `size` automorphisms by baby and giant steps, the best of powers of two.
pub(super) fn price_of_one(cost: &CostModel, size: usize) -> f64 {
    let babies = std::iter::successors(Some(1), |b| Some(2 * b)).take_while(|&b| b <= 2 * size);
    babies.map(|babies| baby_giant(cost, size, babies)).fold(f64::INFINITY, f64::min)
}

/// `count` stages merged into `groups` of sizes that differ by at most one.
fn default_partition(count: usize, groups: usize) -> Vec<usize> {
    let groups = groups.clamp(1, count.max(1));
    if count == 0 { Vec::new() } else { (1..=groups).map(|group| count * group / groups).collect() }
}

/// What a search needs to know: the automorphisms of each elementary stage, in order, modulo m and
/// up to those that make no difference; prices; bytes of one constant.
struct Stages<'a> {
    supports: &'a [BTreeSet<u64>],
    m: u64,
    fixed: Option<&'a Fixed>,
    cost: CostModel,
    constant_bytes: f64,
}

/// A way to merge the first stages: the ends of merged ones, and what it costs.
#[derive(Debug, Clone)]
struct Merged {
    ends: Vec<usize>,
    price: f64,
    bytes: f64,
}

impl Merged {
    /// One merged stage more.
    fn then(&self, end: usize, price: f64, bytes: f64) -> Self {
        let ends = self.ends.iter().copied().chain([end]).collect();
        Self { ends, price: self.price + price, bytes: self.bytes + bytes }
    }

    /// Neither slower nor larger.
    fn beats(&self, other: &Self) -> bool {
        self.price <= other.price && self.bytes <= other.bytes
    }
}

/// Adds a way, unless one of `ways` beats it, and drops those that it beats.
fn keep(ways: &mut Vec<Merged>, next: Merged) {
    if !ways.iter().any(|old| old.beats(&next)) {
        ways.retain(|old| !next.beats(old));
        ways.push(next);
    }
}

impl Stages<'_> {
    /// The merged stages with these ends, or the best, with the price and bytes of the whole map: of
    /// the stages beside them too.
    fn merged(&self, ends: Option<Vec<usize>>, partition: Partition, all: &StageSupports) -> Merged {
        let ends = ends.unwrap_or_else(|| self.best(partition));
        let [price, bytes] = self.price_of(&ends);
        let price_beside: f64 = all.beside().map(|size| self.price(size)).sum();
        let bytes_beside: f64 = all.beside().map(|size| size as f64 * self.constant_bytes).sum();
        Merged { ends, price: price + price_beside, bytes: bytes + bytes_beside }
    }

    /// The ends of the merged stages of the best partition among those whose constants fit; if none
    /// does, no stages are merged.
    ///
    /// Exact: of each number of merged stages and end, every way is kept that no other one beats in
    /// both price and bytes.
    fn best(&self, partition: Partition) -> Vec<usize> {
        let count = self.supports.len();
        // table[k][stages merged so far]: the ways with k merged stages.
        let mut table: Vec<Vec<Vec<Merged>>> = vec![vec![Vec::new(); count + 1]; count + 1];
        table[0][0].push(Merged { ends: Vec::new(), price: 0.0, bytes: 0.0 });
        for from in 0..count {
            for (end, size) in self.runs(from) {
                let (price, bytes) = (self.price(size), size as f64 * self.constant_bytes);
                for merged in 0..count {
                    for way in table[merged][from].clone() {
                        let next = way.then(end, price, bytes);
                        if next.bytes <= MAX_CHOSEN_BYTES as f64 {
                            keep(&mut table[merged + 1][end], next);
                        }
                    }
                }
            }
        }
        let mut complete = table.iter().map(|row| &row[count]).filter(|ways| !ways.is_empty());
        let least = |a: &&Merged, b: &&Merged| a.price.total_cmp(&b.price);
        let best = match partition {
            Partition::MostCapacity => complete.next().and_then(|ways| ways.iter().min_by(least)),
            _ => complete.flatten().min_by(least),
        };
        best.map_or_else(|| (1..=count).collect(), |way| way.ends.clone())
    }

    /// The runs from one stage on, with their numbers of automorphisms.
    fn runs(&self, from: usize) -> Vec<(usize, usize)> {
        let mut support: BTreeSet<u64> = BTreeSet::from([1 % self.m]);
        let mut runs = Vec::new();
        for end in from..self.supports.len() {
            let stage = &self.supports[end];
            support = support
                .iter()
                .flat_map(|a| stage.iter().map(move |b| a * b % self.m))
                .map(|t| self.fixed.map_or(t, |fixed| fixed.representative(t)))
                .collect();
            if support.len() as f64 * self.constant_bytes > MAX_CHOSEN_BYTES as f64 {
                break;
            }
            runs.push((end + 1, support.len()));
        }
        runs
    }

    /// The price of all merged stages with these ends, and the bytes of their constants; infinite
    /// where they do not fit, which merging will refuse.
    fn price_of(&self, ends: &[usize]) -> [f64; 2] {
        const UNFIT: [f64; 2] = [f64::INFINITY; 2];
        let mut from = 0;
        let [mut price, mut bytes] = [0.0; 2];
        for &end in ends {
            match (from..end.max(from)).last().and_then(|_| self.runs(from).into_iter().find(|run| run.0 == end)) {
                Some((_, size)) => {
                    price += self.price(size);
                    bytes += size as f64 * self.constant_bytes;
                }
                None => return UNFIT,
            }
            from = end;
        }
        if from == self.supports.len() { [price, bytes] } else { UNFIT }
    }

    fn price(&self, size: usize) -> f64 {
        price_of_one(&self.cost, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_best_of_all_partitions() {
        let m = 1 << 12;
        let power = |k: u64| windlass_ring::kernels::arith::pow_mod(5, k, m);
        let order = 1 << 10;
        let supports: Vec<BTreeSet<u64>> =
            (0..8).map(|k| [0, 1 << k, order - (1 << k)].into_iter().map(power).collect()).collect();
        let stages = |bytes| Stages {
            supports: &supports,
            m,
            fixed: None,
            cost: CostModel::hybrid(12, 4, 3),
            constant_bytes: bytes,
        };
        let runs = stages(1.0).runs(0);
        assert_eq!(runs[..4].iter().map(|run| run.1).collect::<Vec<_>>(), [3, 7, 15, 31]);
        // Every partition of eight stages, by the bits of a number.
        let small = stages(1.0);
        let measure = |ends: &[usize]| {
            let (mut from, mut price, mut constants) = (0, 0.0, 0);
            for &end in ends {
                let size = small.runs(from).iter().find(|run| run.0 == end).unwrap().1;
                (price, constants) = (price + small.price(size), constants + size);
                from = end;
            }
            (price, constants)
        };
        let all: Vec<Vec<usize>> =
            (0..1u32 << 7).map(|cut| (1..=8).filter(|&end| end == 8 || cut >> (end - 1) & 1 == 1).collect()).collect();
        // Memory for so many constants; all of the elementary stages together have 24.
        for room in (24..120).chain([1 << 20]) {
            let limited = stages(MAX_CHOSEN_BYTES as f64 / (room as f64 + 0.5));
            let fitting: Vec<&Vec<usize>> = all.iter().filter(|ends| measure(ends).1 <= room).collect();
            let fewest = fitting.iter().map(|ends| ends.len()).min().unwrap();
            for (partition, count) in [(Partition::LeastTime, 0), (Partition::MostCapacity, fewest)] {
                let among = fitting.iter().filter(|ends| count == 0 || ends.len() == count);
                let least = among.map(|ends| measure(ends).0).fold(f64::INFINITY, f64::min);
                let found = limited.best(partition);
                assert!((measure(&found).0 - least).abs() < 1e-9 * least, "{room} constants: {found:?}");
                assert!(measure(&found).1 <= room && (count == 0 || found.len() == count), "{room}: {found:?}");
            }
        }
        assert_eq!(small.best(Partition::MostCapacity), [8]);
        // Memory for about 40 constants: runs of at most four stages.
        let ends = stages((4u64 << 30) as f64 / 70.0).best(Partition::MostCapacity);
        assert_eq!(ends.len(), 2, "{ends:?}");
    }
}
