//! The named ways to evaluate a linear map.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::axes::Axes;
use super::factoring::{Cofactors, Factoring, Powers, Walk};
use crate::error::Error;

/// How a [`super::LinearPlan`] evaluates its map. `D` is the size of the axis that the plan splits, `C` the set of cofactors:
/// the parts of the support off that axis (`{1}` in a good dimension, `{1, θ^{−D}}` in a bad one, Frobenius powers for
/// block maps).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Strategy {
    /// The cheapest of all by the cost model, among those that the keys allow.
    #[default]
    Automatic,
    /// Every automorphism hoisted from the one input: `|S|` keys (Halevi–Shoup 2018, §6.1, column F/FH).
    Hoisted,
    /// Full multiplication from baby-step/giant-step keys: giant steps hoisted, each decomposed again for the baby steps
    /// (§5.1, column B/FH).
    TwoLevelHoisted {
        /// The number g of baby steps; `None` takes ⌈√D⌉, or what the keys suggest.
        babies: Option<usize>,
    },
    /// Baby-step/giant-step with every baby hoisted from the one input (§6.3, Algorithm 1). Cofactors go where they are
    /// cheapest.
    BabyGiant {
        /// The number g of baby steps; `None` lets the cost model choose.
        babies: Option<usize>,
    },
    /// Baby-step/giant-step with the cofactors applied to the input first, baby steps hoisted from each (§6.4, Algorithm 2).
    BabyGiantInner {
        /// The number g of baby steps; `None` lets the cost model choose.
        babies: Option<usize>,
    },
    /// Baby-step/giant-step with the cofactors applied last, to sums of giant steps (§6.5, Algorithm 3).
    BabyGiantOuter {
        /// The number g of baby steps; `None` lets the cost model choose.
        babies: Option<usize>,
    },
    /// All powers of one axis hoisted, all cofactors as outputs (§6.6 and §6.7, Algorithms 4 and 5; §6.2 in a bad dimension).
    Block,
    /// Every power of θ by iteration from the one before it: a key for θ alone, and one for each cofactor (§6.1, column M/F).
    Iteration,
    /// `w^{(s+t)} = θ^t(w^{(s)}) + w^{(t)}` for a sum of powers of one automorphism with one constant, as the trace: about
    /// 2·log2 steps one after the other (§8). For other maps there is no such plan.
    Doubling,
    /// Iterated baby steps and Horner's rule over the giant steps: keys for θ and θ^g, and one for each cofactor (§4.5).
    Horner {
        /// The number g of baby steps; `None` lets the cost model choose.
        babies: Option<usize>,
    },
}

/// The names, as [`Strategy::from_str`] reads and [`fmt::Display`] writes them.
const NAMES: [&str; 10] = [
    "automatic",
    "hoisted",
    "two-level-hoisted",
    "baby-giant",
    "baby-giant-inner",
    "baby-giant-outer",
    "block",
    "horner",
    "iteration",
    "doubling",
];

impl Strategy {
    /// The strategies for any map that [`Strategy::Automatic`] chooses from; it tries [`Strategy::Doubling`] too.
    pub const CANDIDATES: [Strategy; 8] = [
        Strategy::Hoisted,
        Strategy::BabyGiant { babies: None },
        Strategy::BabyGiantInner { babies: None },
        Strategy::BabyGiantOuter { babies: None },
        Strategy::Block,
        Strategy::TwoLevelHoisted { babies: None },
        Strategy::Horner { babies: None },
        Strategy::Iteration,
    ];

    /// The number of baby steps that the caller fixed.
    pub fn babies(self) -> Option<usize> {
        match self {
            Strategy::TwoLevelHoisted { babies }
            | Strategy::BabyGiant { babies }
            | Strategy::BabyGiantInner { babies }
            | Strategy::BabyGiantOuter { babies }
            | Strategy::Horner { babies } => babies,
            Strategy::Automatic | Strategy::Hoisted | Strategy::Block | Strategy::Iteration | Strategy::Doubling => {
                None
            }
        }
    }

    fn name(self) -> &'static str {
        NAMES[match self {
            Strategy::Automatic => 0,
            Strategy::Hoisted => 1,
            Strategy::TwoLevelHoisted { .. } => 2,
            Strategy::BabyGiant { .. } => 3,
            Strategy::BabyGiantInner { .. } => 4,
            Strategy::BabyGiantOuter { .. } => 5,
            Strategy::Block => 6,
            Strategy::Horner { .. } => 7,
            Strategy::Iteration => 8,
            Strategy::Doubling => 9,
        }]
    }

    /// The factorings of this strategy that are worth pricing for a support set.
    ///
    /// With a key set given, baby counts that its powers of a generator suggest are tried too.
    pub(crate) fn factorings(self, axes: &Axes, support: &[u64], keys: Option<&BTreeSet<u64>>) -> Vec<Factoring> {
        if self == Strategy::Automatic {
            return Self::CANDIDATES.iter().flat_map(|candidate| candidate.factorings(axes, support, keys)).collect();
        }
        if self == Strategy::Doubling {
            return Vec::new();
        }
        let spread = Spread::of(axes, support);
        if self == Strategy::Hoisted {
            let size = axes.list()[0].size;
            let outer = vec![false; axes.list().len()];
            let inputs = Walk::MERGED;
            return vec![Factoring { split: 0, babies: size, origin: 0, outer, inputs, outputs: Walk::MERGED }];
        }
        // With free choice of keys the papers' algorithms split the axis that the support fills most.
        let narrow = keys.is_none() && !matches!(self, Strategy::BabyGiant { .. });
        let mut list = Vec::new();
        for split in spread.split_axes(narrow) {
            let size = axes.list()[split].size;
            let sizes = match (self, self.babies()) {
                (Strategy::Block | Strategy::Iteration, _) => vec![size],
                (_, Some(babies)) => vec![babies.clamp(1, size)],
                (Strategy::TwoLevelHoisted { .. }, None) if keys.is_none() => vec![ceil_sqrt(size)],
                (_, None) => candidate_sizes(
                    size,
                    (1..size).filter(|&e| keys.is_some_and(|k| k.contains(&axes.power(split, e)))),
                ),
            };
            let minimal = narrow && spread.cofactors(axes, support, split) > 2;
            self.factorings_on(&spread, split, size, &sizes, minimal, &mut list);
        }
        list
    }

    fn factorings_on(
        self,
        spread: &Spread,
        split: usize,
        size: usize,
        sizes: &[usize],
        minimal: bool,
        list: &mut Vec<Factoring>,
    ) {
        let two_level = matches!(self, Strategy::TwoLevelHoisted { .. });
        for &babies in sizes {
            for (inputs, outputs) in self.walks(babies, minimal) {
                for outer in self.placements(spread, split) {
                    let mut origins = vec![0];
                    if inputs == Walk::MERGED && spread.origin[split] != 0 {
                        origins.push(spread.origin[split]);
                    }
                    for origin in origins {
                        let babies = if two_level { size } else { babies };
                        list.push(Factoring { split, babies, origin, outer: outer.clone(), inputs, outputs });
                    }
                }
            }
        }
    }

    /// How inputs and outputs are reached; `minimal` asks Horner's rule to spare the keys of many cofactors too.
    fn walks(self, babies: usize, minimal: bool) -> Vec<(Walk, Walk)> {
        let direct = |cofactors| Walk { powers: Powers::Direct, cofactors };
        let iterate = |stride, cofactors| Walk { powers: Powers::Iterate { stride }, cofactors };
        let both = [Cofactors::Joint, Cofactors::PerAxis];
        match self {
            Strategy::Automatic | Strategy::Hoisted | Strategy::Doubling => Vec::new(),
            Strategy::Iteration => [Cofactors::Joint, Cofactors::Iterate]
                .map(|cofactors| (iterate(1, cofactors), iterate(babies, cofactors)))
                .to_vec(),
            Strategy::BabyGiant { .. } => vec![(Walk::MERGED, Walk::MERGED)],
            Strategy::BabyGiantInner { .. } => both.map(|c| (direct(c), Walk::MERGED)).to_vec(),
            Strategy::BabyGiantOuter { .. } => both.map(|c| (Walk::MERGED, direct(c))).to_vec(),
            Strategy::Block => [Cofactors::Merged, Cofactors::PerAxis, Cofactors::Iterate]
                .map(|cofactors| (Walk::MERGED, direct(cofactors)))
                .to_vec(),
            Strategy::TwoLevelHoisted { .. } => both
                .map(|cofactors| (Walk { powers: Powers::TwoLevel { stride: babies }, cofactors }, Walk::MERGED))
                .to_vec(),
            Strategy::Horner { .. } if minimal => {
                vec![(iterate(1, Cofactors::Iterate), iterate(babies, Cofactors::Iterate))]
            }
            Strategy::Horner { .. } => [Cofactors::Joint, Cofactors::PerAxis, Cofactors::Iterate]
                .map(|cofactors| (iterate(1, cofactors), iterate(babies, cofactors)))
                .to_vec(),
        }
    }

    /// Which axes off the split one go to the outputs.
    fn placements(self, spread: &Spread, split: usize) -> Vec<Vec<bool>> {
        let none = vec![false; spread.used.len()];
        let all: Vec<bool> = (0..spread.used.len()).map(|s| s != split).collect();
        match self {
            Strategy::BabyGiantInner { .. } | Strategy::TwoLevelHoisted { .. } => vec![none],
            Strategy::BabyGiantOuter { .. } | Strategy::Block => vec![all],
            _ => {
                let free: Vec<usize> = (0..spread.used.len()).filter(|&s| s != split && spread.used[s]).collect();
                (0..1usize << free.len())
                    .map(|mask| {
                        let mut outer = none.clone();
                        free.iter().enumerate().for_each(|(bit, &s)| outer[s] = mask >> bit & 1 == 1);
                        outer
                    })
                    .collect()
            }
        }
    }
}

/// Where a support set lies on each axis.
struct Spread {
    /// Whether the set has more than one exponent on the axis.
    used: Vec<bool>,
    /// How many exponents it has there.
    count: Vec<usize>,
    /// The exponent after the longest cyclic gap: where an interval that wraps around begins.
    origin: Vec<usize>,
}

impl Spread {
    fn of(axes: &Axes, support: &[u64]) -> Self {
        let mut present: Vec<Vec<bool>> = axes.list().iter().map(|axis| vec![false; axis.size]).collect();
        for &t in support {
            axes.exponents(t).iter().enumerate().for_each(|(s, &e)| present[s][e] = true);
        }
        let count: Vec<usize> = present.iter().map(|axis| axis.iter().filter(|&&p| p).count()).collect();
        let used = count.iter().map(|&count| count > 1).collect();
        let origin = present.iter().map(|axis| after_longest_gap(axis)).collect();
        Self { used, count, origin }
    }

    /// The axes worth splitting: all that the set spreads over, or only the one it fills most; the first if it is a point.
    fn split_axes(&self, narrow: bool) -> Vec<usize> {
        let most = self.count.iter().copied().max().unwrap_or(0);
        if narrow || most < 2 {
            return vec![self.count.iter().position(|&count| count == most).unwrap_or(0)];
        }
        (0..self.used.len()).filter(|&s| self.used[s]).collect()
    }

    /// The number of different parts off one axis.
    fn cofactors(&self, axes: &Axes, support: &[u64], split: usize) -> usize {
        let strip = |&t: &u64| {
            let power = axes.power(split, axes.exponents(t)[split]);
            axes.product(t, axes.inverse(power))
        };
        support.iter().map(strip).collect::<BTreeSet<u64>>().len()
    }
}

/// The index after the longest cyclic run of absent entries; 0 for a full or empty axis.
fn after_longest_gap(present: &[bool]) -> usize {
    let size = present.len();
    let (mut best, mut run, mut origin) = (0, 0, 0);
    for i in 0..2 * size {
        if present[i % size] {
            if run > best && run < size {
                (best, origin) = (run, i % size);
            }
            run = 0;
        } else {
            run += 1;
        }
    }
    origin
}

/// `⌈√size⌉`.
fn ceil_sqrt(size: usize) -> usize {
    let root = size.isqrt();
    root + usize::from(root * root < size)
}

/// Baby counts to price: all of a small axis; for a larger one those that make the giant count as small as it gets, and a
/// geometric sample, with those that the caller suggests.
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
    sizes.extend(suggested);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.babies() {
            Some(babies) => write!(f, "{}:{babies}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

impl FromStr for Strategy {
    type Err = Error;

    /// Reads a name, with `:g` behind it to fix the number of baby steps: `baby-giant:26`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let unknown = || Error::Unplannable {
            strategy: text.to_owned(),
            reason: format!("its name is not one of {}, with :g behind it for g baby steps", NAMES.join(", ")),
        };
        let (name, babies) = match text.split_once(':') {
            Some((name, count)) => (name, Some(count.parse().ok().filter(|&g| g > 0).ok_or_else(unknown)?)),
            None => (text, None),
        };
        let strategy = match name {
            "automatic" => Strategy::Automatic,
            "hoisted" => Strategy::Hoisted,
            "two-level-hoisted" => Strategy::TwoLevelHoisted { babies },
            "baby-giant" => Strategy::BabyGiant { babies },
            "baby-giant-inner" => Strategy::BabyGiantInner { babies },
            "baby-giant-outer" => Strategy::BabyGiantOuter { babies },
            "block" => Strategy::Block,
            "horner" => Strategy::Horner { babies },
            "iteration" => Strategy::Iteration,
            "doubling" => Strategy::Doubling,
            _ => return Err(unknown()),
        };
        if strategy.babies() == babies { Ok(strategy) } else { Err(unknown()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for strategy in Strategy::CANDIDATES.into_iter().chain([Strategy::BabyGiant { babies: Some(26) }]) {
            assert_eq!(strategy.to_string().parse::<Strategy>().unwrap(), strategy);
        }
        assert!("block:3".parse::<Strategy>().is_err() && "baby-giant:0".parse::<Strategy>().is_err());
    }

    #[test]
    fn gaps() {
        assert_eq!(after_longest_gap(&[true, true, false, false, true]), 4);
        assert_eq!(after_longest_gap(&[true; 4]), 0);
        assert_eq!(after_longest_gap(&[false; 4]), 0);
    }
}
