//! Choosing among the ways that a strategy proposes.

use std::collections::{BTreeMap, BTreeSet};

use windlass_schemes::error::{Error, Result};

use super::bounds::Bounds;
use super::cost::OperationCount;
use super::doubling::Doubling;
use super::layout::PlanLayout;
use super::schedule::Schedule;
use super::spec::PlanSpec;
use super::strategy::{Proposal, Strategy, Support};
use crate::linear::map::{Axes, LinearGrid, Plannable};

/// What a plan does.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each plan")]
pub(crate) enum Method {
    /// Inputs, sums of products, outputs.
    Sums { layout: PlanLayout, schedule: Schedule },
    /// Repeated doubling.
    Doubling(Doubling),
}

impl Method {
    pub fn keys(&self) -> BTreeSet<u64> {
        match self {
            Method::Sums { layout, .. } => layout.keys(),
            Method::Doubling(doubling) => doubling.keys(),
        }
    }
}

/// A method with its cost.
pub(crate) struct Chosen {
    pub method: Method,
    pub count: OperationCount,
    pub price: f64,
}

/// The cheapest method so far, the first proposed of equal ones, and the cheapest that was refused.
#[derive(Default)]
struct Choice {
    best: Option<(usize, Chosen)>,
    refused: Option<(f64, Refusal)>,
}

enum Refusal {
    MissingKey(u64),
    TooManyKeys(usize),
}

/// The cheapest of all that the strategy proposes and the keys allow.
///
/// # Errors
/// [`Error::MissingGaloisKey`] for a key that the cheapest of all would need, [`Error::Unplannable`] where
/// none has few enough keys, there is no proposal, or one is no factoring of the map.
pub(super) fn choose<R: Plannable>(grid: &LinearGrid<R>, spec: &PlanSpec) -> Result<Chosen> {
    let axes = grid.representation().axes();
    let along = |axes: Axes| axes.along(grid.supports().values().flatten().copied());
    match (&spec.keys, spec.max_keys) {
        (Some(_), _) => {
            choose_on(&axes, grid, spec).or_else(|refused| choose_on(&along(axes), grid, spec).map_err(|_| refused))
        }
        (None, Some(_)) => choose_on(&along(axes), grid, spec),
        (None, None) => choose_on(&axes, grid, spec),
    }
}

/// As [`choose`], on given axes.
fn choose_on<R: Plannable>(axes: &Axes, grid: &LinearGrid<R>, spec: &PlanSpec) -> Result<Chosen> {
    let representation = grid.representation();
    let ones = grid.constants().filter(|one| representation.is_one(one)).count();
    let doubling = Doubling::of(axes, grid, spec.keys.as_ref());
    let pattern = Pattern { shape: (grid.rows(), grid.columns()), axes, blocks: &grid.supports(), ones, doubling };
    pattern.choose(representation.conductor(), spec)
}

/// All that a choice depends on: which automorphisms occur where, not with which constants.
pub(crate) struct Pattern<'a> {
    /// Rows and columns of the grid.
    pub shape: (usize, usize),
    pub axes: &'a Axes,
    /// The automorphisms of each block, by (row, column).
    pub blocks: &'a BTreeMap<(usize, usize), BTreeSet<u64>>,
    /// How many constants are 1.
    pub ones: usize,
    /// What repeated doubling comes to, if the map has this form.
    pub doubling: Option<Doubling>,
}

impl Pattern<'_> {
    /// As [`choose`].
    pub fn choose(&self, m: u64, spec: &PlanSpec) -> Result<Chosen> {
        let elements: Vec<u64> =
            self.blocks.values().flatten().copied().collect::<BTreeSet<u64>>().into_iter().collect();
        let support = Support { m, axes: self.axes, elements: &elements, keys: spec.keys.as_ref() };
        let unplannable = |reason: String| Error::Unplannable { strategy: spec.strategy.to_string(), reason };
        let mut choice = Choice::default();
        for (least, number, proposal) in self.by_bounds(&support, spec).map_err(unplannable)? {
            if choice.best.as_ref().is_some_and(|(_, best)| least > best.price) {
                break;
            }
            if let Some(layout) = PlanLayout::of(&proposal, &support).map_err(unplannable)? {
                let schedule = Schedule::new(self.shape, self.blocks, &layout);
                let count = schedule.count(&layout, self.ones, spec.hoisting);
                let keys = layout.keys();
                choice.offer(spec, number, count, || Method::Sums { layout, schedule }, &keys);
            } else if let Some(doubling) = self.doubling.clone() {
                let (count, keys) = (doubling.count(spec.hoisting), doubling.keys());
                choice.offer(spec, number, count, || Method::Doubling(doubling), &keys);
            }
        }
        choice.settle().map_err(|refusal| match refusal {
            Some(Refusal::MissingKey(element)) => missing_key(element),
            Some(Refusal::TooManyKeys(needed)) => unplannable(format!(
                "the plan with the fewest keys needs {needed}; choose the strategy horner, or allow more keys"
            )),
            None => unplannable("it cannot evaluate a map of this form".into()),
        })
    }

    /// The strategy's proposals with their numbers, those that may be cheapest first.
    ///
    /// # Errors
    /// A rule that does not fit the axes.
    fn by_bounds(&self, support: &Support<'_>, spec: &PlanSpec) -> Result<Vec<(f64, usize, Proposal)>, String> {
        let products = self.blocks.values().map(BTreeSet::len).sum::<usize>() - self.ones;
        let bounds = Bounds::new(support, spec, products);
        let mut list = Vec::new();
        let mut proposals = spec.strategy.proposals(support);
        if spec.strategy == Strategy::AUTOMATIC && spec.has_few_keys() {
            proposals.extend(Strategy::BABY_HORNER.proposals(support));
        }
        for (number, proposal) in proposals.into_iter().enumerate() {
            if let Proposal::Rule(rule) = &proposal
                && !rule.fits(support.axes)
            {
                return Err(format!("its rule {rule:?} does not fit the axes"));
            }
            list.push((bounds.lower_bound(&proposal), number, proposal));
        }
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Ok(list)
    }
}

impl Choice {
    fn offer(
        &mut self,
        spec: &PlanSpec,
        number: usize,
        count: OperationCount,
        method: impl FnOnce() -> Method,
        keys: &BTreeSet<u64>,
    ) {
        let price = count.price(&spec.cost) + spec.expanded(count.constant_products) as f64 * spec.cost.prepare;
        let missing = spec.keys.as_ref().and_then(|given| keys.difference(given).next().copied());
        let many = spec.max_keys.is_some_and(|most| keys.len() > most);
        let refusal = missing.map(Refusal::MissingKey).or(many.then_some(Refusal::TooManyKeys(keys.len())));
        match refusal {
            Some(refusal) if self.refused.as_ref().is_none_or(|(least, _)| price < *least) => {
                self.refused = Some((price, refusal));
            }
            None if self
                .best
                .as_ref()
                .is_none_or(|(known, best)| price < best.price || (price == best.price && number < *known)) =>
            {
                self.best = Some((number, Chosen { method: method(), count, price }));
            }
            _ => {}
        }
    }

    fn settle(self) -> std::result::Result<Chosen, Option<Refusal>> {
        self.best.map(|(_, best)| best).ok_or(self.refused.map(|(_, refusal)| refusal))
    }
}

/// The error for a missing key.
pub(crate) fn missing_key(element: u64) -> Error {
    let make_with = "LinearPlan::required_keys, or plan with the existing keys (PlanSpec::with_keys)".to_owned();
    Error::MissingGaloisKey { element, make_with }
}

#[cfg(test)]
mod tests {
    use windlass_ring::slots::Hypercube;

    use super::super::spec::HoistMode;
    use super::*;
    use crate::linear::map::Axis;

    /// What a plan of the block map along the longest dimension takes, for p = 2.
    fn block_count(m: u64, generators: Option<&[u64]>, strategy: Strategy, hoisting: HoistMode) -> OperationCount {
        let cube = match generators {
            Some(generators) => Hypercube::with_generators(m, 2, generators).unwrap(),
            None => Hypercube::automatic(m, 2).unwrap(),
        };
        let dimensions = cube.dimensions();
        let longest = (0..dimensions.len()).max_by_key(|&s| dimensions[s].size).unwrap();
        let mut list: Vec<Axis> =
            dimensions.iter().map(|s| Axis { generator: s.generator, size: s.size, frobenius: false }).collect();
        list.push(Axis { generator: 2, size: cube.slot_degree(), frobenius: true });
        let (frobenius, size) = (list.len() - 1, list[longest].size);
        let axes = Axes::new(m, list);
        let powers = |i: usize| {
            let axes = &axes;
            (0..cube.slot_degree()).map(move |j| axes.product(axes.power(longest, i), axes.power(frobenius, j)))
        };
        let blocks = BTreeMap::from([((0, 0), (0..size).flat_map(powers).collect::<BTreeSet<u64>>())]);
        let pattern = Pattern { shape: (1, 1), axes: &axes, blocks: &blocks, ones: 0, doubling: None };
        let spec = PlanSpec { strategy, hoisting, ..PlanSpec::default() };
        pattern.choose(m, &spec).unwrap().count
    }

    #[test]
    fn block_maps_of_the_paper_with_its_key_sets() {
        // D and d, decompositions of B/H on either side, key switches of B/N: by §2.5 and §5.1.
        let rings: [(u64, Option<&[u64]>, [usize; 2], [usize; 2], usize); 5] = [
            (24295, Some(&[16386, 16427]), [42, 28], [6, 45], 71 + 45),
            (24295, Some(&[53, 42]), [42, 28], [6, 45], 71 + 45),
            (18631, Some(&[17, 1177]), [120, 25], [11, 40], 218 + 40),
            (18631, Some(&[7, 626]), [120, 25], [11, 40], 218 + 40),
            (15709, None, [682, 22], [26, 34], 1311 + 34),
        ];
        for (m, generators, [size, d], [inner, outer], whole) in rings {
            let count = |strategy, hoisting| block_count(m, generators, strategy, hoisting);
            let hoisted = count(Strategy::TWO_LEVEL_HOISTED, HoistMode::Single);
            assert_eq!([hoisted.hoists, hoisted.automorphisms], [inner, outer], "m = {m}");
            assert_eq!([hoisted.hoisted_automorphisms, hoisted.constant_products], [size - 1, size * d]);
            assert_eq!(count(Strategy::ONE_BY_ONE, HoistMode::Off).automorphisms, whole, "m = {m}");
            let shared = count(Strategy::TWO_LEVEL_SHARED, HoistMode::Double);
            assert!(shared.hoists + shared.extended_automorphisms < inner + d, "m = {m}: {shared}");
            let full = count(Strategy::BLOCK, HoistMode::Single);
            assert_eq!([full.hoists, full.hoisted_automorphisms, full.automorphisms], [1, size - 1, d - 1]);
        }
    }

    /// What a sum of powers of 5 modulo 4096 takes, as a stage of a power-of-two transform has them.
    fn powers_of_five(exponents: impl Iterator<Item = usize>, spec: &PlanSpec) -> Chosen {
        let powers = Axis { generator: 5, size: 1024, frobenius: false };
        let axes = Axes::new(4096, vec![powers, Axis { generator: 4095, size: 2, frobenius: true }]);
        let units: BTreeSet<u64> = exponents.map(|e| axes.power(0, e)).collect();
        let axes = axes.along(units.iter().copied());
        let blocks = BTreeMap::from([((0, 0), units)]);
        let pattern = Pattern { shape: (1, 1), axes: &axes, blocks: &blocks, ones: 0, doubling: None };
        pattern.choose(4096, spec).unwrap()
    }

    #[test]
    fn horner_over_hoisted_baby_steps_has_one_key_for_all_giant_steps() {
        let spec = |strategy| PlanSpec { strategy, ..PlanSpec::default() };
        for stride in [1, 8] {
            let chosen = |strategy: Strategy| powers_of_five((0..64).map(|e| e * stride), &spec(strategy));
            let [known, horner] =
                [Strategy::BABY_GIANT, Strategy::BABY_HORNER].map(|strategy| chosen(strategy.with_babies(8)));
            assert_eq!([known.method.keys().len(), horner.method.keys().len()], [14, 8], "stride {stride}");
            let operations = |chosen: &Chosen| {
                let count = &chosen.count;
                [count.hoists, count.hoisted_automorphisms, count.extended_automorphisms, count.mod_downs]
            };
            assert_eq!(operations(&horner), operations(&known));
            assert_eq!(operations(&known), [1, 7, 7, 1]);
        }
    }

    #[test]
    fn two_keys_and_one_for_the_first_power_serve_a_stage() {
        for stride in [1, 4] {
            let around = || (0..63).map(|k| (1024 - 31 * stride + k * stride) % 1024);
            let few = PlanSpec { max_keys: Some(3), ..PlanSpec::default() };
            let (most, few) = (powers_of_five(around(), &PlanSpec::default()), powers_of_five(around(), &few));
            assert_eq!((few.method.keys().len(), few.count.constant_products), (3, 63), "stride {stride}");
            assert!(few.price < 2.0 * most.price, "{} instead of {}", few.price, most.price);
        }
    }
}
