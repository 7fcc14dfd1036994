//! The specification of a bootstrapping, and the numbers that follow from it.

use std::fmt;
use std::str::FromStr;

use windlass_circuits::Method;
use windlass_rlwe::KeyStrategy;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::names::{by_name, named};
use windlass_schemes::params::{Encapsulation, Ephemeral};

use super::front_end::FrontEnd;
use super::map_choice::MapChoice;
use super::maps::{FactorOrder, Transform};

/// What a ciphertext holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Mode {
    /// Integers modulo p^r in the slots.
    #[default]
    Thin,
    /// Any elements of R/(p^r).
    Packed,
}

by_name!(Mode, "mode", {
    "thin" => Mode::Thin,
    "packed" => Mode::Packed,
});

/// How packed elements come apart into ciphertexts with integers in their slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Unpacking {
    /// Constants for composite m. For powers of two monomials, unless constants fit into 4 GiB and
    /// give half as much capacity again in a second, by forecast and prices.
    #[default]
    Automatic,
    /// One map to the slots, whose d coefficients come apart by d Frobenius powers and products
    /// with constants (Halevi–Shoup 2015, §4.3).
    Constants,
    /// Powers of two only: the element is split into d, or d/2, elements of a subring by
    /// automorphisms and monomials, without constants and nearly without noise. Each goes to the
    /// slots and back separately.
    Monomials,
    /// Powers of two only: one map to the slots and back as in [`Unpacking::Constants`], split by
    /// monomials after it. Planning takes 4·d²·ℓ products in GR(p^e; d): seconds for d = 8, many
    /// minutes for d in the hundreds.
    MonomialsInSlots,
}

by_name!(Unpacking, "way of unpacking", {
    "automatic" => Unpacking::Automatic,
    "constants" => Unpacking::Constants,
    "monomials" => Unpacking::Monomials,
    "monomials-in-slots" => Unpacking::MonomialsInSlots,
});

/// Where the maps from slots to coefficients stand in packed mode. In thin mode they are always
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Order {
    /// For powers of two, the order that gives more capacity per second, by forecast and prices.
    /// For composite m, last.
    #[default]
    Automatic,
    /// Before the front end, on a spent ciphertext at the foot of the chain (Ma et al. 2024, eprint
    /// 2024/164): the maps are cheap there, and what they spend has to be left by then.
    ToCoefficientsFirst,
    /// Behind the digits, which come back as slots (Halevi–Shoup 2015).
    ToCoefficientsLast,
}

by_name!(Order, "order of the maps", {
    "automatic" => Order::Automatic,
    "to-coefficients-first" => Order::ToCoefficientsFirst,
    "to-coefficients-last" => Order::ToCoefficientsLast,
});

/// The elementary stages of the maps of one transform, which a [`StagePartition`] merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementaryStages {
    /// The cyclotomic index.
    pub m: u64,
    /// The prime of the plaintext modulus.
    pub p: u64,
    /// The name of the transform.
    pub transform: &'static str,
    /// Whether the maps are those of packed mode.
    pub packed: bool,
    /// The stages of each map that may be merged: all of the transform's, or all but the one on the
    /// side of the slots that packed mode has by itself.
    pub count: usize,
}

/// A rule by which elementary stages are merged. One of your own is used as [`Partition::Of`].
pub trait StagePartition: fmt::Debug + Send + Sync {
    /// The name that it is chosen by.
    fn name(&self) -> &'static str;

    /// Where it was published.
    fn citation(&self) -> &'static str;

    /// Where merged stages end: those of the map to the coefficients, and those of the map to the
    /// slots, which come in the opposite order. They ascend from above 0 to the number of stages. None
    /// if the rule says nothing of such stages: then the transform is not chosen, or refused where it
    /// is the only one.
    fn ends(&self, stages: &ElementaryStages) -> Option<[Vec<usize>; 2]>;
}

/// How elementary stages of a linear map are merged where [`BootstrapSpec::to_slots`] and
/// [`BootstrapSpec::to_coefficients`] do not say it.
#[derive(Debug, Clone, Copy, Default)]
pub enum Partition {
    /// Without a search. Composite m: the stages of each factor, none merged. Powers of two: three
    /// merged stages of sizes that differ by at most one; fewer, of four elementary stages at most,
    /// where packed elements are split by monomials and have few slots.
    #[default]
    Standard,
    /// The least time, by the prices of [`windlass_circuits::CostModel`], of all partitions whose
    /// constants fit into 4 GiB.
    LeastTime,
    /// The fewest merged stages whose constants fit into 4 GiB, of these the least time: each costs
    /// log2 of p^e and some bits of capacity.
    MostCapacity,
    /// All stages in one map each way, without factorisation: the baseline of Tables 4 and 5 of Ma et al.
    /// 2024 (eprint 2024/164). It is for small rings; [`super::BootstrapPlan::unfactored`] says what it
    /// would cost in large ones.
    Single,
    /// By this rule.
    Of(&'static dyn StagePartition),
}

impl Partition {
    /// By name; the last is an older one.
    const NAMED: [(&str, Self); 5] = [
        ("standard", Self::Standard),
        ("least-time", Self::LeastTime),
        ("most-capacity", Self::MostCapacity),
        ("single", Self::Single),
        ("three", Self::Standard),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::LeastTime => "least-time",
            Self::MostCapacity => "most-capacity",
            Self::Single => "single",
            Self::Of(rule) => rule.name(),
        }
    }
}

/// By name.
impl PartialEq for Partition {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Partition {}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Partition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named(&Self::NAMED, text, "partition")
    }
}

/// Whether the stage that acts inside of slots is merged into its neighbour: d Frobenius powers for
/// powers of two (`Eval` and `PtoN` of Ma et al. 2024), the first factor of a composite m. Thin maps
/// and elements that monomials split before the maps have no such stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum EvalStage {
    /// Whatever gives more capacity in a second, by forecast and prices, where the merged maps cost
    /// at most twice as much and their constants fit into 4 GiB; for powers of two where
    /// [`Unpacking`] is named, by itself otherwise.
    /// [`Partition::MostCapacity`] merges wherever they fit, [`Partition::Single`] and
    /// [`Partition::Of`] always.
    #[default]
    Automatic,
    /// A separate map.
    Alone,
    /// One map with the stages beside it: one map less each way, with more constants.
    Merged,
}

by_name!(EvalStage, "way of the stage inside of slots", {
    "automatic" => EvalStage::Automatic,
    "alone" => EvalStage::Alone,
    "merged" => EvalStage::Merged,
});

/// What the constants of a way may take in memory for [`Unpacking::Automatic`] and [`Partition`] to
/// choose it, and what unpacking may take at all.
pub(super) const MAX_CHOSEN_BYTES: usize = 4 << 30;

/// How to bootstrap.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapSpec {
    /// Thin or packed.
    pub mode: Mode,
    /// The decryption formula.
    pub front_end: FrontEnd,
    /// How digits are removed.
    pub digits: Method,
    /// How packed elements come apart; ignored in thin mode.
    pub unpacking: Unpacking,
    /// Where the maps to the coefficients stand; ignored in thin mode.
    pub order: Order,
    /// How the linear maps are split into elementary stages.
    pub transform: Transform,
    /// The factors of a composite m, in the order in which the maps take them. It decides where
    /// slots stand.
    pub factors: FactorOrder,
    /// How the stages of the linear maps are merged.
    pub partition: Partition,
    /// After which elementary stages of the map to the slots a merged stage ends; `None` merges as
    /// [`Self::partition`] says.
    pub to_slots: Option<Vec<usize>>,
    /// The same for the map to the coefficients.
    pub to_coefficients: Option<Vec<usize>>,
    /// Whether the stage inside of slots is merged; ignored in thin mode.
    pub eval: EvalStage,
    /// The algorithm for the linear maps.
    pub maps: MapChoice,
    /// The Galois keys that maps, trace and unpacking may use: those of a rule for every dimension of
    /// the slots and for Frobenius (Halevi–Shoup 2018, §2.5, §4.3 and §4.5). `None` leaves them to
    /// the prices.
    pub keys: Option<KeyStrategy>,
    /// The most Galois keys of the whole bootstrapping; of the plans that need no more the cheapest
    /// is taken.
    pub max_keys: Option<usize>,
    /// The Hamming weight of the ephemeral secret (sparse-secret encapsulation, eprint 2022/024),
    /// from 1 to n; under secure parameters with 128 bits at least.
    pub ephemeral_weight: u32,
    /// How ciphertexts come under the ephemeral secret.
    pub encapsulation: Encapsulation,
    /// −log2 of the probability that the bound on the noise of the front end fails: finite and
    /// above 0.
    pub failure_bits: f64,
}

impl Default for BootstrapSpec {
    fn default() -> Self {
        Self {
            mode: Mode::Thin,
            front_end: FrontEnd::PrimePower,
            digits: Method::Automatic,
            unpacking: Unpacking::Automatic,
            order: Order::Automatic,
            transform: Transform::AUTOMATIC,
            factors: FactorOrder::Standard,
            partition: Partition::Standard,
            to_slots: None,
            to_coefficients: None,
            eval: EvalStage::Automatic,
            maps: MapChoice::AUTOMATIC,
            keys: None,
            max_keys: None,
            ephemeral_weight: 32,
            encapsulation: Encapsulation::SpecialPrimes,
            failure_bits: 128.0,
        }
    }
}

impl BootstrapSpec {
    /// In thin mode under this ephemeral secret, all else as by default.
    pub fn under(ephemeral: Ephemeral) -> Self {
        let Ephemeral { weight: ephemeral_weight, encapsulation } = ephemeral;
        Self { ephemeral_weight, encapsulation, ..Self::default() }
    }

    /// What parameters say of it ([`windlass_schemes::Params::ephemeral`]).
    pub fn ephemeral(&self) -> Ephemeral {
        Ephemeral { weight: self.ephemeral_weight, encapsulation: self.encapsulation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_read_back() {
        fn check<T: FromStr<Err = Error> + fmt::Display + PartialEq + fmt::Debug>(names: &[&str]) {
            for name in names {
                assert_eq!(name.parse::<T>().unwrap().to_string(), *name);
            }
            assert!(matches!("none".parse::<T>(), Err(Error::UnknownName { .. })));
        }
        check::<Mode>(&["thin", "packed"]);
        check::<FrontEnd>(&["prime-power"]);
        check::<Unpacking>(&["automatic", "constants", "monomials", "monomials-in-slots"]);
        check::<Order>(&["automatic", "to-coefficients-first", "to-coefficients-last"]);
        check::<EvalStage>(&["automatic", "alone", "merged"]);
        check::<Partition>(&["standard", "least-time", "most-capacity", "single"]);
        assert_eq!("three".parse::<Partition>().unwrap().to_string(), "standard");
    }
}
