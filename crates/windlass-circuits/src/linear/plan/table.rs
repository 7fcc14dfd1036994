//! The table of strategies. To add a strategy, add a row: names, `ALL` and the tests of all strategies
//! follow. The row also joins the automatic choice; exclude it there if its steps wait for each other. Add it
//! to the table of docs/how-to/linear-maps.md.

use std::str::FromStr;

use windlass_schemes::error::Error;

use super::factoring::Cofactors::{self, Iterate, Joint, Merge, PerAxis};
use super::row::Reach::{Direct, Giant, Merged, OneByOne, TwoLevel, Unit};
use super::row::{Babies, Placement, Row, Split};
use super::strategy::{MapStrategy, Proposal, Strategy, Support};

/// Where a row says nothing else: the fullest axis is split, both sides are reached in one
/// automorphism.
const ROW: Row = Row {
    name: "",
    citation: "",
    split: Split::Fullest,
    babies: Babies::Any,
    inputs: Merged,
    outputs: Merged,
    cofactors: &[Joint, PerAxis],
    placement: Placement::Any,
    spares_keys: false,
};

/// Algorithms 4 and 5 with full keys.
const BLOCK: Row = Row {
    name: "block",
    citation: "Halevi–Shoup 2018, §6.6 and §6.7, Algorithms 4 and 5",
    split: Split::Longest,
    babies: Babies::Axis,
    outputs: Direct,
    cofactors: &[Merge, PerAxis, Iterate],
    placement: Placement::Outputs,
    ..ROW
};

/// The same with keys for baby and giant steps on every axis: many cofactors are reached by two
/// steps each, a few (θ^{−D} in a bad dimension) by one.
const BLOCK_BY_STEPS: Row = Row {
    babies: Babies::Root,
    inputs: TwoLevel,
    outputs: OneByOne,
    cofactors: &[Joint, Cofactors::TwoLevel],
    spares_keys: true,
    ..BLOCK
};

/// Writes the table: a constant of [`Strategy`] for each row, and the list of them.
macro_rules! table {
    ($($(#[$doc:meta])* $constant:ident = $row:expr;)*) => {
        impl Strategy {
            $($(#[$doc])* pub const $constant: Strategy = Strategy::own(&$row);)*

            /// Every named strategy, in the order in which equal prices are settled.
            pub const ALL: &'static [Strategy] = &[$(Strategy::$constant),*];
        }
    };
}

table! {
    /// The cheapest of all by the cost model, among those that the keys allow.
    AUTOMATIC = Automatic;

    /// Every automorphism hoisted from the one input: `|S|` keys (Halevi–Shoup 2018, §6.1, column
    /// F/FH).
    HOISTED = Row {
        name: "hoisted",
        citation: "Halevi–Shoup 2018, §6.1, column F/FH",
        babies: Babies::Axis,
        cofactors: &[Merge],
        placement: Placement::Inputs,
        ..ROW
    };

    /// Baby-step/giant-step with every baby hoisted from the one input (§6.3, Algorithm 1).
    /// Cofactors go where they are cheapest.
    BABY_GIANT = Row {
        name: "baby-giant",
        citation: "Halevi–Shoup 2018, §6.3, Algorithm 1",
        split: Split::Any,
        cofactors: &[Merge],
        ..ROW
    };

    /// Baby-step/giant-step with the cofactors applied to the input first, baby steps hoisted from
    /// each (§6.4, Algorithm 2).
    BABY_GIANT_INNER = Row {
        name: "baby-giant-inner",
        citation: "Halevi–Shoup 2018, §6.4, Algorithm 2",
        inputs: Direct,
        placement: Placement::Inputs,
        ..ROW
    };

    /// Baby-step/giant-step with the cofactors applied last, to sums of giant steps (§6.5,
    /// Algorithm 3).
    BABY_GIANT_OUTER = Row {
        name: "baby-giant-outer",
        citation: "Halevi–Shoup 2018, §6.5, Algorithm 3",
        outputs: Direct,
        placement: Placement::Outputs,
        ..ROW
    };

    /// All powers of the longer axis hoisted, all cofactors as outputs (§6.6 and §6.7, Algorithms 4
    /// and 5; §6.2 in a bad dimension). The longer axis is θ, or σ where d > D.
    BLOCK = BLOCK;

    /// [`Strategy::BLOCK`] with the roles of θ and σ exchanged: the powers of a shorter axis
    /// hoisted, the longer one among the outputs. For maps along one axis there is no such plan.
    BLOCK_SWAPPED = Row {
        name: "block-swapped",
        citation: "Halevi–Shoup 2018, §6.6 and §6.7, roles of θ and σ exchanged",
        split: Split::Shorter,
        ..BLOCK
    };

    /// [`Strategy::BLOCK`] with baby-step/giant-step keys, g = ⌈√D⌉: the giant steps are hoisted
    /// and each is decomposed again for the baby steps, h = ⌈D/g⌉ decompositions in all (§5.1);
    /// each output is brought back separately in one or two steps (§2.5). Columns B/FH and B/H.
    TWO_LEVEL_HOISTED = Row {
        name: "two-level-hoisted",
        citation: "Halevi–Shoup 2018, §5.1 with Algorithms 4 and 5, columns B/FH and B/H",
        ..BLOCK_BY_STEPS
    };

    /// The same without sharing anything: one or two steps for each power, on either side (§2.5;
    /// what HElib did at first). Columns B/FN and B/N.
    ONE_BY_ONE = Row {
        name: "one-by-one",
        citation: "Halevi–Shoup 2018, §2.5 with Algorithms 4 and 5, columns B/FN and B/N",
        inputs: OneByOne,
        ..BLOCK_BY_STEPS
    };

    /// [`Strategy::TWO_LEVEL_HOISTED`] with giant steps shared by the outputs too:
    /// `Σ_k σ^{gk}(Σ_j σ^j(w_{j+gk}))` takes d − 1 automorphisms for any number of keys. Cofactors
    /// go where they are cheapest.
    TWO_LEVEL_SHARED = Row {
        name: "two-level-shared",
        citation: "as two-level-hoisted, giant steps shared by outputs",
        split: Split::Fullest,
        outputs: Direct,
        cofactors: &[Joint, PerAxis, Cofactors::TwoLevel],
        placement: Placement::Any,
        spares_keys: false,
        ..BLOCK_BY_STEPS
    };

    /// Iterated baby steps and Horner's rule over the giant steps: keys for θ and θ^g, and one for
    /// each cofactor (§4.5).
    HORNER = Row {
        name: "horner",
        citation: "Halevi–Shoup 2018, §4.5",
        inputs: Unit,
        outputs: Giant,
        cofactors: &[Joint, PerAxis, Iterate],
        spares_keys: true,
        ..ROW
    };

    /// Baby steps hoisted from the one input, and Horner's rule over the giant steps: as many key
    /// switches as [`Strategy::BABY_GIANT`] with about half of its keys, the giant steps one after the
    /// other (§6.3 with §4.5). [`Strategy::AUTOMATIC`] tries it if keys are limited.
    BABY_HORNER = Row {
        name: "baby-horner",
        citation: "Halevi–Shoup 2018, §6.3, Algorithm 1, with Horner's rule of §4.5",
        outputs: Giant,
        ..ROW
    };

    /// Every power of θ by iteration from the one before it: a key for θ, and one for each cofactor
    /// (§6.1, column M/F).
    ITERATION = Row {
        name: "iteration",
        citation: "Halevi–Shoup 2018, §6.1, column M/F",
        babies: Babies::Axis,
        inputs: Unit,
        outputs: Giant,
        cofactors: &[Joint, Iterate],
        ..ROW
    };

    /// `w^{(s+t)} = θ^t(w^{(s)}) + w^{(t)}` for a sum of powers of one automorphism with one
    /// constant, as the trace: about 2·log2 steps one after the other, at most 3·log2 with keys for
    /// baby and giant steps, of which two make up a step that has none (§8). For other maps there
    /// is no such plan.
    DOUBLING = RepeatedDoubling;
}

/// All others of the table but [`Strategy::BABY_HORNER`]: its giant steps wait for each other.
struct Automatic;

impl MapStrategy for Automatic {
    fn name(&self) -> &'static str {
        "automatic"
    }

    fn citation(&self) -> &'static str {
        "the cheapest of all"
    }

    fn proposals(&self, support: &Support<'_>, _: Option<usize>) -> Vec<Proposal> {
        let others =
            Strategy::ALL.iter().filter(|strategy| ![Strategy::AUTOMATIC, Strategy::BABY_HORNER].contains(strategy));
        others.flat_map(|strategy| strategy.proposals(support)).collect()
    }
}

/// Sums of powers of one automorphism.
struct RepeatedDoubling;

impl MapStrategy for RepeatedDoubling {
    fn name(&self) -> &'static str {
        "doubling"
    }

    fn citation(&self) -> &'static str {
        "Halevi–Shoup 2018, §8"
    }

    fn proposals(&self, _: &Support<'_>, _: Option<usize>) -> Vec<Proposal> {
        vec![Proposal::Doubling]
    }

    fn is_general(&self) -> bool {
        false
    }
}

impl Default for Strategy {
    fn default() -> Self {
        Self::AUTOMATIC
    }
}

impl Strategy {
    /// The named strategies that every map has a plan by; [`Strategy::AUTOMATIC`] chooses from
    /// them ([`Strategy::BABY_HORNER`] only if keys are limited), and tries
    /// [`Strategy::BLOCK_SWAPPED`] and [`Strategy::DOUBLING`] too.
    pub fn candidates() -> impl Iterator<Item = Strategy> + Clone {
        Self::ALL.iter().copied().filter(|strategy| strategy.is_general() && *strategy != Self::AUTOMATIC)
    }
}

impl FromStr for Strategy {
    type Err = Error;

    /// Reads a name, with `:g` behind it to fix the number of baby steps: `baby-giant:26`.
    ///
    /// # Errors
    /// [`Error::UnknownName`], also for a number of baby steps that is 0 or where none can be fixed.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, babies) = match text.split_once(':') {
            Some((name, count)) => (name, Some(count.parse().unwrap_or(0))),
            None => (text, None),
        };
        let found = Self::ALL.iter().find(|strategy| strategy.name() == name);
        let strategy = found.map(|strategy| strategy.with_babies(babies));
        strategy.filter(|strategy| strategy.babies() == babies && babies != Some(0)).ok_or_else(|| {
            let suffix = |strategy: &Strategy| if strategy.with_babies(1).babies().is_some() { "[:g]" } else { "" };
            let known = Self::ALL.iter().map(|strategy| format!("{}{}", strategy.name(), suffix(strategy)));
            Error::UnknownName { what: "strategy", given: text.to_owned(), known: known.collect() }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for strategy in Strategy::ALL.iter().copied().chain([Strategy::BABY_GIANT.with_babies(26)]) {
            assert_eq!(strategy.to_string().parse::<Strategy>().unwrap(), strategy);
            assert!(!strategy.citation().is_empty());
        }
        for wrong in ["block:3", "baby-giant:0", "baby-giant:x", "babygiant", ""] {
            let Err(Error::UnknownName { given, known, .. }) = wrong.parse::<Strategy>() else { panic!("{wrong}") };
            assert_eq!((given.as_str(), known.len()), (wrong, Strategy::ALL.len()));
        }
    }
}
