//! Where a list of steps refreshes.
//!
//! A value is refreshed when a step is about to use it and too few levels are left of it. Which values are
//! refreshed, and before which steps, is found by trying all ways: a state is what is left of each value that later
//! steps use. Of all ways that lead to a state one is kept:
//!
//! ```text
//! the fewest refreshes                              a refresh takes as long as hundreds of products
//! of these the one with the latest refreshes        what a refresh adds goes through fewer steps
//! ```
//!
//! Lists have at most some thirty steps and three values in use, so there are few states.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A value, as far as its levels matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// The values that its step uses; none for the argument.
    pub operands: Vec<usize>,
    /// The levels that its step takes.
    pub depth: usize,
    /// Whether its bound is one that refreshes take.
    pub is_small: bool,
}

/// The levels of ciphertexts, counted from the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Levels {
    /// Of the argument.
    pub start: usize,
    /// That must be left of the result.
    pub end: usize,
    /// (of a refreshed ciphertext, the least of one that is refreshed); `None` without refreshes.
    pub refresh: Option<(usize, usize)>,
}

/// The values that are refreshed before each step, and what is left of the result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Schedule {
    /// For the step of each node those of its operands that are refreshed before it.
    pub before: Vec<Vec<usize>>,
    /// The levels that the values have, refreshes left out: each as its step gives it.
    pub levels: Vec<usize>,
}

impl Schedule {
    /// The number of refreshes.
    pub fn refreshes(&self) -> usize {
        self.before.iter().map(Vec::len).sum()
    }

    /// The levels that are left of the result.
    pub fn end(&self) -> usize {
        self.levels.last().copied().unwrap_or(0)
    }
}

/// The first step that no schedule can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stuck {
    /// Its node.
    pub step: usize,
    /// The most levels that there are for it.
    pub left: usize,
}

/// A way to a state.
#[derive(Debug, Clone)]
struct Way {
    schedule: Schedule,
    refreshes: usize,
    lateness: usize,
}

impl Way {
    /// Also by the levels that are left and by the places of the refreshes, so that equal plans are run alike.
    fn is_better(&self, other: &Self) -> bool {
        self.rank() < other.rank()
    }

    fn rank(&self) -> (usize, Reverse<usize>, Reverse<usize>, &[Vec<usize>]) {
        (self.refreshes, Reverse(self.lateness), Reverse(self.schedule.end()), &self.schedule.before)
    }
}

/// The schedule of the nodes, the argument first; `Err` with the first step that no schedule can run.
pub(super) fn schedule(nodes: &[Node], levels: Levels) -> Result<Schedule, Stuck> {
    let first = Schedule { before: vec![Vec::new()], levels: vec![levels.start] };
    let mut ways = BTreeMap::from([(vec![levels.start], Way { schedule: first, refreshes: 0, lateness: 0 })]);
    for step in 1..nodes.len() {
        let mut next: BTreeMap<Vec<usize>, Way> = BTreeMap::new();
        for (state, way) in &ways {
            for (state, way) in followed(nodes, levels, step, (state, way)) {
                match next.get(&state) {
                    Some(known) if !way.is_better(known) => {}
                    _ => drop(next.insert(state, way)),
                }
            }
        }
        if next.is_empty() {
            let most = ways.keys().map(|state| most_levels(nodes, levels, step, state)).max();
            let kept = if step + 1 == nodes.len() { levels.end } else { 0 };
            return Err(Stuck { step, left: most.unwrap_or(0).saturating_sub(kept) });
        }
        ways = next;
    }
    let best = ways.into_values().reduce(|best, way| if way.is_better(&best) { way } else { best });
    Ok(best.expect("there is a state for each step").schedule)
}

/// Whether a value is refreshed in a state.
fn can_refresh(nodes: &[Node], levels: Levels, value: usize, left: usize) -> bool {
    nodes[value].is_small && levels.refresh.is_some_and(|(fresh, least)| left >= least && left < fresh)
}

/// The most levels that a step can have from a state.
fn most_levels(nodes: &[Node], levels: Levels, step: usize, state: &[usize]) -> usize {
    let fresh = levels.refresh.map_or(0, |(fresh, _)| fresh);
    let most = |&value: &usize| if can_refresh(nodes, levels, value, state[value]) { fresh } else { state[value] };
    nodes[step].operands.iter().map(most).min().unwrap_or(0)
}

/// All ways to do a step from a state.
fn followed(
    nodes: &[Node],
    levels: Levels,
    step: usize,
    (state, way): (&[usize], &Way),
) -> impl Iterator<Item = (Vec<usize>, Way)> {
    let node = &nodes[step];
    let mut operands = node.operands.clone();
    operands.sort_unstable();
    operands.dedup();
    let is_last = step + 1 == nodes.len();
    let is_candidate = |&value: &usize| can_refresh(nodes, levels, value, state[value]);
    let candidates: Vec<usize> = operands.iter().copied().filter(is_candidate).collect();
    let mut found = Vec::new();
    for choice in 0..1usize << candidates.len() {
        let chosen: Vec<usize> =
            candidates.iter().enumerate().filter(|(place, _)| choice >> place & 1 == 1).map(|(_, &v)| v).collect();
        let mut state = state.to_vec();
        for &value in &chosen {
            state[value] = levels.refresh.map_or(0, |(fresh, _)| fresh);
        }
        let Some(left) = operands.iter().map(|&value| state[value]).min().unwrap_or(0).checked_sub(node.depth) else {
            continue;
        };
        if is_last && left < levels.end {
            continue;
        }
        state.push(left);
        // Ways that differ only in values that no later step uses lead to one state.
        for (value, own) in state.iter_mut().enumerate() {
            if !is_last && !nodes[step + 1..].iter().any(|later| later.operands.contains(&value)) {
                *own = 0;
            }
        }
        let (refreshes, lateness) = (way.refreshes + chosen.len(), way.lateness + step * chosen.len());
        let mut schedule = way.schedule.clone();
        schedule.before.push(chosen);
        schedule.levels.push(left);
        found.push((state, Way { schedule, refreshes, lateness }));
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(depths: &[usize]) -> Vec<Node> {
        let node = |(k, &depth): (usize, &usize)| Node { operands: vec![k], depth, is_small: true };
        let argument = Node { operands: Vec::new(), depth: 0, is_small: true };
        std::iter::once(argument).chain(depths.iter().enumerate().map(node)).collect()
    }

    fn refreshed(nodes: &[Node], start: usize, end: usize, refresh: (usize, usize)) -> Result<Vec<Vec<usize>>, Stuck> {
        schedule(nodes, Levels { start, end, refresh: Some(refresh) }).map(|own| own.before)
    }

    #[test]
    fn chains_refresh_as_late_as_possible() {
        let none: Vec<usize> = Vec::new();
        // Three polynomials of five levels each, nine levels after a refresh.
        let sign = chain(&[5, 5, 5]);
        assert_eq!(refreshed(&sign, 9, 0, (9, 0)), Ok(vec![none.clone(), none.clone(), vec![1], vec![2]]));
        assert_eq!(refreshed(&sign, 10, 0, (10, 0)), Ok(vec![none.clone(), none.clone(), none.clone(), vec![2]]));
        assert_eq!(refreshed(&sign, 0, 0, (10, 0)), Ok(vec![none.clone(), vec![0], none.clone(), vec![2]]));
        // One refresh is enough, and the last step is the latest place for it.
        assert_eq!(
            refreshed(&chain(&[3, 3, 3]), 6, 0, (9, 0)),
            Ok(vec![none.clone(), none.clone(), none.clone(), vec![2]])
        );
        // What a refresh takes is kept for it: after two steps too little is left to refresh.
        assert_eq!(refreshed(&sign, 10, 1, (10, 1)), Ok(vec![none.clone(), none.clone(), vec![1], vec![2]]));
        // Without refreshes.
        let levels = |start| Levels { start, end: 0, refresh: None };
        assert_eq!(schedule(&sign, levels(15)).map(|own| (own.refreshes(), own.end())), Ok((0, 0)));
        assert_eq!(schedule(&sign, levels(14)), Err(Stuck { step: 3, left: 4 }));
        // A single step that is too deep.
        assert_eq!(refreshed(&chain(&[5, 11, 5]), 10, 0, (10, 0)), Err(Stuck { step: 2, left: 10 }));
        assert_eq!(refreshed(&sign, 10, 6, (10, 0)), Err(Stuck { step: 3, left: 4 }));
    }

    /// x·sign(x): the argument is refreshed only if it was too low itself.
    #[test]
    fn an_argument_that_is_used_again_keeps_its_levels() {
        let mut nodes = chain(&[5, 5]);
        nodes.push(Node { operands: vec![0, 2], depth: 1, is_small: true });
        let none: Vec<usize> = Vec::new();
        assert_eq!(refreshed(&nodes, 10, 0, (10, 0)), Ok(vec![none.clone(), none.clone(), none.clone(), vec![2]]));
        assert_eq!(refreshed(&nodes, 0, 0, (11, 0)), Ok(vec![none.clone(), vec![0], none.clone(), none.clone()]));
        assert_eq!(refreshed(&nodes, 5, 0, (11, 0)), Ok(vec![none.clone(), none.clone(), vec![1], none.clone()]));
        // The argument has no level for the product: refreshed first, it serves both steps.
        assert_eq!(refreshed(&nodes, 5, 0, (12, 5)), Ok(vec![none.clone(), vec![0], none.clone(), none.clone()]));
    }

    /// Values above the bound of refreshes wait for a step whose value is small.
    #[test]
    fn large_values_are_not_refreshed() {
        let mut nodes = chain(&[3, 3, 3]);
        nodes[2].is_small = false;
        assert_eq!(
            refreshed(&nodes, 6, 0, (6, 0)).map(|before| before.iter().map(Vec::len).collect::<Vec<_>>()),
            Ok(vec![0, 0, 1, 0])
        );
    }
}
