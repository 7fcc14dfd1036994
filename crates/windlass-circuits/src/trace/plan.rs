//! Chooses which factors of a trace are unrolled together.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use windlass_schemes::error::{Error, Result};
use windlass_schemes::file_sizes;
use windlass_schemes::switching::Switching;

use super::chain::TraceChain;
use crate::linear::{CostModel, OperationCount, impl_plan};

/// What a plan should keep small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Objective {
    /// The predicted time.
    #[default]
    Time,
    /// The number of keys; of equal ones the fastest.
    Keys,
}

/// What a plan may use and what it should prefer.
#[derive(Debug, Clone, Default)]
pub struct TraceSpec {
    /// The number h of groups; `None` leaves it to the objective.
    pub groups: Option<usize>,
    /// What to keep small.
    pub objective: Objective,
    /// The automorphisms that have keys; `None` if keys will be made for the plan.
    pub keys: Option<BTreeSet<u64>>,
    /// The most keys that the plan may need.
    pub most_keys: Option<usize>,
    /// The prices.
    pub cost: CostModel,
}

impl TraceSpec {
    /// A given number of groups.
    pub fn with_groups(groups: usize) -> Self {
        Self { groups: Some(groups), ..Self::default() }
    }

    /// The fastest plan that the given keys allow.
    pub fn with_keys(keys: impl IntoIterator<Item = u64>) -> Self {
        Self { keys: Some(keys.into_iter().collect()), ..Self::default() }
    }
}

/// Groups of more products than this are not considered.
const LARGEST_GROUP: u64 = 1 << 10;

/// A chain with its factors cut into groups: each is one hoisted sum, accumulated in base `QP`,
/// with one mod-down.
#[derive(Debug, Clone)]
pub struct TracePlan {
    chain: TraceChain,
    /// For each group the elements to sum, the identity left out, with repetitions, and how often
    /// the identity occurs.
    groups: Vec<Group>,
    count: OperationCount,
    prices: CostModel,
}

#[derive(Debug, Clone)]
struct Group {
    factors: std::ops::Range<usize>,
    elements: Vec<u64>,
    identities: usize,
}

impl Group {
    fn of(chain: &TraceChain, factors: std::ops::Range<usize>) -> Self {
        let (identity, elements): (Vec<u64>, Vec<u64>) =
            chain.products(factors.clone()).into_iter().partition(|&t| t == 1);
        Self { factors, elements, identities: identity.len() }
    }

    fn keys(&self) -> BTreeSet<u64> {
        self.elements.iter().copied().collect()
    }

    fn price(&self, cost: &CostModel) -> f64 {
        let elements = self.elements.len() as f64;
        cost.hoist + elements * cost.hoisted_automorphism + cost.mod_down + elements * cost.key
    }
}

/// The value of a cut and the ends of its groups.
type Cut = (f64, Vec<usize>);

impl TracePlan {
    /// Cuts the chain into groups of neighbouring factors, the best by the objective (dynamic
    /// programming over the cuts).
    ///
    /// # Errors
    /// [`Error::Unplannable`] if the number of groups is 0 or above the number of factors, or no
    /// cut meets the limit on keys; [`Error::MissingGaloisKey`] if the given keys allow no cut.
    pub fn new(chain: &TraceChain, spec: &TraceSpec) -> Result<Self> {
        let factors = chain.factors().len();
        if let Some(groups) = spec.groups
            && (groups > factors || (groups == 0 && factors > 0))
        {
            return Err(unplannable(format!("{groups} groups of {factors} factors")));
        }
        let candidates: Vec<usize> = spec.groups.map_or_else(|| (0..=factors).collect(), |groups| vec![groups]);
        let mut best: Option<(f64, Self)> = None;
        for groups in candidates {
            let Some((value, cuts)) = best_cut(chain, spec, groups) else { continue };
            let plan = Self::from_cuts(chain, &cuts, &spec.cost);
            let fits = spec.most_keys.is_none_or(|most| plan.required_keys().len() <= most);
            if fits && best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, plan));
            }
        }
        best.map(|(_, plan)| plan).ok_or_else(|| match &spec.keys {
            Some(keys) => {
                let missing = chain.sequential_keys().difference(keys).next().copied();
                missing.map_or_else(|| unplannable("no factoring uses only the given keys".into()), missing_key)
            }
            None => unplannable(match spec.most_keys {
                Some(most) => format!("every factoring needs more than {most} keys"),
                None => format!("every factoring has a group of more than {} automorphisms", largest_group(spec)),
            }),
        })
    }

    fn from_cuts(chain: &TraceChain, cuts: &[usize], cost: &CostModel) -> Self {
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let groups: Vec<Group> = starts.zip(cuts).map(|(start, &end)| Group::of(chain, start..end)).collect();
        let mut count = OperationCount { hoists: groups.len(), mod_downs: groups.len(), ..OperationCount::default() };
        count.hoisted_automorphisms = groups.iter().map(|group| group.elements.len()).sum();
        count.keys = groups.iter().flat_map(Group::keys).collect::<BTreeSet<u64>>().len();
        Self { chain: chain.clone(), groups, count, prices: *cost }
    }

    /// The chain.
    pub fn chain(&self) -> &TraceChain {
        &self.chain
    }

    /// The number h of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The automorphisms that need keys.
    pub fn required_keys(&self) -> BTreeSet<u64> {
        self.groups.iter().flat_map(Group::keys).collect()
    }

    /// How often each operation is used.
    pub fn count(&self) -> OperationCount {
        self.count
    }

    /// The predicted time, in the unit of the prices.
    pub fn price(&self) -> f64 {
        self.price_at(&self.prices)
    }

    fn price_at(&self, prices: &CostModel) -> f64 {
        self.groups.iter().map(|group| group.price(prices)).sum()
    }

    /// The plan in words, one line for each group, by the prices that chose it.
    pub fn explain(&self) -> String {
        self.explain_at(&self.prices)
    }

    /// As [`Self::explain`], with times and sizes by other prices: in seconds or milliseconds, and
    /// in bytes, where these know them (`context.prices()`, [`CostModel::measure`]).
    pub fn explain_at(&self, prices: &CostModel) -> String {
        let mut text = format!(
            "trace-type function on m = {}: {} factors in {} groups\n",
            self.chain.conductor(),
            self.chain.factors().len(),
            self.groups.len(),
        );
        for group in &self.groups {
            let counts: Vec<String> =
                self.chain.factors()[group.factors.clone()].iter().map(|f| f.count.to_string()).collect();
            writeln!(text, "  {} = {} automorphisms and the identity", counts.join(" x "), group.elements.len())
                .expect("writing to a string cannot fail");
        }
        let size = prices.key_bytes.map(|each| file_sizes::in_words(self.count.keys as u64 * each));
        let keys = size.map_or(String::new(), |size| format!("\n  keys: {} of {size} in all", self.count.keys));
        let time = prices.in_words(self.price_at(prices));
        write!(text, "  uses: {}\n  time: {time}{keys}", self.count).expect("writing to a string cannot fail");
        text
    }

    /// Everything that can be refused before any work is done.
    pub(crate) fn check<E: Switching>(
        &self,
        operation: &'static str,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
    ) -> Result<()> {
        self.chain.check(operation, evaluator, ciphertext)?;
        match self.required_keys().into_iter().find(|&t| !evaluator.has_key(t)) {
            Some(element) => Err(missing_key(element)),
            None => Ok(()),
        }
    }

    /// Evaluates the chain.
    ///
    /// Cost: what [`Self::count`] says.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`], [`Error::OtherSlotOrder`], [`Error::NotIntegers`] (see
    /// [`TraceChain::needs_integers`]) and [`Error::MissingGaloisKey`] before any work is done, and errors
    /// of the evaluator.
    pub fn apply<E: Switching>(&self, evaluator: &E, ciphertext: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.check("sum of automorphisms", evaluator, ciphertext)?;
        let mut value: Option<E::Ciphertext> = None;
        for group in &self.groups {
            value = Some(group.apply(evaluator, value.as_ref().unwrap_or(ciphertext))?);
        }
        Ok(value.unwrap_or_else(|| ciphertext.clone()))
    }
}

impl_plan!([] TracePlan, |plan| format!("a sum over {} automorphisms", plan.chain().factors().len()));

impl Group {
    fn apply<E: Switching>(&self, evaluator: &E, value: &E::Ciphertext) -> Result<E::Ciphertext> {
        let mut sum = match self.elements[..] {
            [] => None,
            [element] => Some(evaluator.automorphism(value, element)?),
            _ => {
                let extended = evaluator.sum_hoisted(&evaluator.hoist(value)?, &self.elements)?;
                Some(evaluator.mod_down(extended)?)
            }
        };
        for _ in 0..self.identities {
            sum = Some(match sum {
                Some(sum) => evaluator.add(value, &sum)?,
                None => value.clone(),
            });
        }
        Ok(sum.expect("a group has the identity"))
    }
}

/// The best cut into exactly `groups` groups, if the keys allow one.
fn best_cut(chain: &TraceChain, spec: &TraceSpec, groups: usize) -> Option<Cut> {
    let factors = chain.factors().len();
    let mut best: Vec<Option<Cut>> = vec![None; factors + 1];
    best[0] = Some((0.0, Vec::new()));
    for _ in 0..groups {
        let mut next: Vec<Option<Cut>> = vec![None; factors + 1];
        for start in 0..factors {
            let Some((value, cuts)) = &best[start] else { continue };
            for end in start + 1..=factors {
                let Some(more) = group_value(chain, spec, start..end) else { continue };
                if next[end].as_ref().is_none_or(|(least, _)| value + more < *least) {
                    next[end] = Some((value + more, [&cuts[..], &[end]].concat()));
                }
            }
        }
        best = next;
    }
    best.swap_remove(factors)
}

/// The contribution of a group to the objective; `None` if it is too large or its keys are missing.
fn group_value(chain: &TraceChain, spec: &TraceSpec, factors: std::ops::Range<usize>) -> Option<f64> {
    let several = factors.len() > 1;
    let size = chain.factors()[factors.clone()].iter().try_fold(1u64, |size, f| size.checked_mul(f.count))?;
    if size > largest_group(spec) && several {
        return None;
    }
    let group = Group::of(chain, factors);
    if spec.keys.as_ref().is_some_and(|keys| !group.keys().is_subset(keys)) {
        return None;
    }
    let price = group.price(&spec.cost);
    Some(match spec.objective {
        Objective::Time => price,
        // Whole keys decide, the price breaks ties.
        Objective::Keys => group.keys().len() as f64 * 1e6 + price,
    })
}

/// The maximum number of automorphisms of a group of several factors. A search considers groups of
/// every size up to it. If the caller sets the number of groups, larger ones are allowed.
fn largest_group(spec: &TraceSpec) -> u64 {
    if spec.groups.is_some() { 64 * LARGEST_GROUP } else { LARGEST_GROUP }
}

fn unplannable(reason: String) -> Error {
    Error::Unplannable { strategy: "unrolled trace".into(), reason }
}

fn missing_key(element: u64) -> Error {
    let make_with = "TracePlan::required_keys, or plan with the existing keys (TraceSpec::with_keys)".to_owned();
    Error::MissingGaloisKey { element, make_with }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(steps: u32) -> TraceChain {
        TraceChain::window(1 << 16, 1, 1 << steps).unwrap()
    }

    #[test]
    fn groups_can_be_forced_and_are_balanced() {
        for (groups, automorphisms) in [(1, 127), (2, 22), (3, 13), (4, 10), (5, 9), (6, 8), (7, 7)] {
            let plan = TracePlan::new(&chain(7), &TraceSpec::with_groups(groups)).unwrap();
            assert_eq!(
                (plan.groups(), plan.count().hoisted_automorphisms),
                (groups, automorphisms),
                "{}",
                plan.explain()
            );
            assert_eq!(plan.required_keys().len(), automorphisms);
        }
        for groups in [0, 8] {
            assert!(matches!(
                TracePlan::new(&chain(7), &TraceSpec::with_groups(groups)),
                Err(Error::Unplannable { .. })
            ));
        }
    }

    #[test]
    fn objectives_limits_and_keys_are_followed() {
        let fast = TracePlan::new(&chain(7), &TraceSpec::default()).unwrap();
        assert!((2..=4).contains(&fast.groups()), "{}", fast.explain());
        let few = TracePlan::new(&chain(7), &TraceSpec { objective: Objective::Keys, ..TraceSpec::default() }).unwrap();
        assert_eq!((few.groups(), few.required_keys().len()), (7, 7));
        let limited = TracePlan::new(&chain(7), &TraceSpec { most_keys: Some(9), ..TraceSpec::default() }).unwrap();
        assert_eq!(limited.groups(), 5);
        let held = TracePlan::new(&chain(7), &TraceSpec::with_keys(few.required_keys())).unwrap();
        assert_eq!(held.groups(), 7);
        let short: Vec<u64> = few.required_keys().into_iter().skip(1).collect();
        let refused = TracePlan::new(&chain(7), &TraceSpec::with_keys(short));
        assert!(matches!(refused, Err(Error::MissingGaloisKey { .. })));
        let tight = TraceSpec { most_keys: Some(6), ..TraceSpec::default() };
        assert!(matches!(TracePlan::new(&chain(7), &tight), Err(Error::Unplannable { .. })));
    }

    #[test]
    fn single_groups_of_thousands_are_planned_and_limits_are_named() {
        for steps in [11, 13] {
            let plan = TracePlan::new(&chain(steps), &TraceSpec::with_groups(1)).unwrap();
            assert_eq!(plan.required_keys().len(), (1 << steps) - 1);
        }
        let long = TraceChain::window(1 << 20, 1, 1 << 17).unwrap();
        let refused = TracePlan::new(&long, &TraceSpec::with_groups(1)).unwrap_err().to_string();
        assert!(refused.contains("more than 65536 automorphisms"), "{refused}");
    }

    #[test]
    fn the_empty_chain_is_the_identity() {
        let plan = TracePlan::new(&chain(0), &TraceSpec::default()).unwrap();
        assert_eq!((plan.groups(), plan.required_keys().len()), (0, 0));
    }
}
