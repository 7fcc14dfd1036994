//! A strategy as data: what it splits, how it walks, where cofactors go.

use super::factoring::{Cofactors, Factoring, Powers, Walk, ceil_sqrt};
use super::spread::Spread;
use super::strategy::{MapStrategy, Proposal, Support};

/// Which axis is split into baby and giant steps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// The one that the support fills most, as in the papers; where keys are given, any that it
    /// spreads over.
    Fullest,
    /// The one that the support fills most, for any given keys.
    Longest,
    /// Each that it spreads over except that one.
    Shorter,
    /// Any that it spreads over.
    Any,
}

/// How many baby steps are tried, where the caller leaves it open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Babies {
    /// As many as the axis is long: there are no giant steps.
    Axis,
    /// The cheapest.
    Any,
    /// The square root of the axis; with given keys, the cheapest.
    Root,
}

/// How one side reaches its powers of the split axis' generator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Power and cofactor in one automorphism, from the root.
    Merged,
    /// Each power in one automorphism, from its cofactor.
    Direct,
    /// By steps of 1.
    Unit,
    /// By steps of the number of baby steps.
    Giant,
    /// A giant step, which is taken once for all baby steps behind it, then a baby step.
    TwoLevel,
    /// A separate giant step and baby step for each.
    OneByOne,
}

/// Which side takes the cofactors: the parts of the support off the split axis (`{1}` in a good
/// dimension, `{1, θ^{−D}}` in a bad one, Frobenius powers for block maps).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Placement {
    Inputs,
    Outputs,
    /// Axis by axis where it is cheapest.
    Any,
}

/// One strategy: what it splits, how it walks, where cofactors go.
pub(super) struct Row {
    pub name: &'static str,
    pub citation: &'static str,
    pub split: Split,
    pub babies: Babies,
    pub inputs: Reach,
    pub outputs: Reach,
    /// Ways to the cofactors that are priced against each other, the one with fewest keys last. A side that
    /// is `Merged` ignores them. Add `Iterate` if the strategy must run with the fewest keys.
    pub cofactors: &'static [Cofactors],
    pub placement: Placement,
    /// With many cofactors and a free choice of keys, only the last way is priced.
    pub spares_keys: bool,
}

impl Row {
    /// Numbers of baby steps worth pricing on an axis; keys for powers of its generator suggest
    /// some.
    fn sizes(&self, support: &Support<'_>, axis: usize, fixed: Option<usize>) -> Vec<usize> {
        let size = support.axes.list()[axis].size;
        match (self.babies, fixed, support.keys) {
            (Babies::Axis, ..) => vec![size],
            (_, Some(babies), _) => vec![babies.clamp(1, size)],
            (Babies::Root, None, None) => vec![ceil_sqrt(size)],
            (_, None, keys) => {
                let suggested = |e: &usize| keys.is_some_and(|keys| keys.contains(&support.axes.power(axis, *e)));
                candidate_sizes(size, (1..size).filter(suggested))
            }
        }
    }

    /// Which axes are split in turn.
    fn split_axes(&self, spread: &Spread, narrow: bool) -> Vec<usize> {
        let mut axes = spread.split_axes(narrow);
        if self.split == Split::Shorter {
            let longest = spread.split_axes(true);
            axes.retain(|axis| !longest.contains(axis));
        }
        axes
    }

    /// Which axes off the split one go to the outputs.
    fn placements(&self, spread: &Spread, split: usize) -> Vec<Vec<bool>> {
        let axes = 0..spread.used.len();
        let none = vec![false; axes.len()];
        match self.placement {
            Placement::Inputs => vec![none],
            Placement::Outputs => vec![axes.map(|s| s != split).collect()],
            Placement::Any => {
                let free: Vec<usize> = axes.filter(|&s| s != split && spread.used[s]).collect();
                let chosen = |mask: usize| {
                    let mut outer = none.clone();
                    free.iter().enumerate().for_each(|(bit, &s)| outer[s] = mask >> bit & 1 == 1);
                    outer
                };
                (0..1usize << free.len()).map(chosen).collect()
            }
        }
    }
}

impl Reach {
    fn walk(self, babies: usize, cofactors: Cofactors) -> Walk {
        let powers = match self {
            Reach::Merged => return Walk::MERGED,
            Reach::Direct => Powers::Direct,
            Reach::Unit => Powers::Iterate { stride: 1 },
            Reach::Giant => Powers::Iterate { stride: babies },
            Reach::TwoLevel | Reach::OneByOne => Powers::TwoLevel { stride: babies },
        };
        Walk { powers, cofactors, shared: self != Reach::OneByOne }
    }
}

impl MapStrategy for Row {
    fn name(&self) -> &'static str {
        self.name
    }

    fn citation(&self) -> &'static str {
        self.citation
    }

    fn takes_babies(&self) -> bool {
        self.babies != Babies::Axis
    }

    fn is_general(&self) -> bool {
        self.split != Split::Shorter
    }

    fn proposals(&self, support: &Support<'_>, babies: Option<usize>) -> Vec<Proposal> {
        let spread = Spread::of(support);
        let narrow = self.split == Split::Longest || support.keys.is_none() && self.split == Split::Fullest;
        let mut list = Vec::new();
        for split in self.split_axes(&spread, narrow) {
            let spare = self.spares_keys && narrow && spread.cofactors(support, split) > 2;
            let cofactors = if spare { &self.cofactors[self.cofactors.len() - 1..] } else { self.cofactors };
            for steps in self.sizes(support, split, babies) {
                for &cofactors in cofactors {
                    let factorings = self.factorings(&spread, split, support.axes.list()[split].size, steps, cofactors);
                    list.extend(factorings.into_iter().map(Proposal::Rule));
                }
            }
        }
        list
    }
}

impl Row {
    /// The factorings of one split axis of this size, with walks by so many steps and one way to the
    /// cofactors: one for each placement of the cofactors and each origin of the baby steps.
    fn factorings(
        &self,
        spread: &Spread,
        split: usize,
        size: usize,
        steps: usize,
        cofactors: Cofactors,
    ) -> Vec<Factoring> {
        // Two levels of inputs leave nothing to the outputs.
        let babies = if matches!(self.inputs, Reach::TwoLevel | Reach::OneByOne) { size } else { steps };
        let (inputs, outputs) = (self.inputs.walk(steps, cofactors), self.outputs.walk(steps, cofactors));
        // Without giant steps it does not matter where they would begin.
        let any_origin = inputs == Walk::MERGED || self.inputs == Reach::Unit;
        let shifted = any_origin && spread.origin[split] != 0 && babies < size;
        let origins = if shifted { vec![0, spread.origin[split]] } else { vec![0] };
        let mut list = Vec::new();
        for outer in self.placements(spread, split) {
            for &origin in &origins {
                list.push(Factoring { split, babies, origin, outer: outer.clone(), inputs, outputs });
            }
        }
        list
    }
}

/// Baby counts to price: all of a small axis; for a larger one those that make the giant count as
/// small as it gets, a geometric sample, the powers of two (the distances in a stage of a
/// power-of-two transform), and those that the caller suggests.
fn candidate_sizes(size: usize, suggested: impl Iterator<Item = usize>) -> Vec<usize> {
    if size <= 24 {
        return (1..=size).collect();
    }
    let mut sizes: Vec<usize> = (1..=24).map(|giants| size.div_ceil(giants)).collect();
    let mut next = 1;
    while next < size {
        sizes.push(next);
        next += 1 + next / 4;
    }
    sizes.extend((0..usize::BITS).map(|k| 1 << k).take_while(|&babies| babies < size));
    sizes.extend(suggested);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baby_counts() {
        assert_eq!(candidate_sizes(5, std::iter::empty()), [1, 2, 3, 4, 5]);
        let sizes = candidate_sizes(682, std::iter::once(99));
        assert!(sizes.contains(&29) && sizes.contains(&682) && sizes.contains(&99) && sizes.len() < 64);
    }
}
