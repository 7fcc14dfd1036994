//! The specification of a bootstrapping, and the numbers that follow from it.

use windlass_circuits::Method;
use windlass_rlwe::KeyStrategy;
use windlass_schemes::names::by_name;
use windlass_schemes::params::{Encapsulation, Ephemeral};

use super::appendix_a::AppendixA;
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

/// How the noise becomes low digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum FrontEnd {
    /// Modulus p^e: the phase is p^{e−r}·message + noise (Chen–Han 2018, §4.2), for BGV and BFV
    /// alike (eprint 2022/1363).
    #[default]
    PrimePower,
    /// Modulus p^ẽ + 1 and digits divided out beforehand (Halevi–Shoup 2015, Lemmas 5.1 and 5.2,
    /// Appendix A).
    NearPrimePower,
}

by_name!(FrontEnd, "front end", {
    "prime-power" => FrontEnd::PrimePower,
    "near-prime-power" => FrontEnd::NearPrimePower,
});

/// How elementary stages of a linear map are merged where [`BootstrapSpec::to_slots`] and
/// [`BootstrapSpec::to_coefficients`] do not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
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
    /// The published one: Table 3 of Ma et al. 2024, for the three sets of that paper.
    Paper,
    /// All stages in one map each way: no factorisation, what Tables 4 and 5 of that paper have as
    /// their baseline. For small rings; [`super::BootstrapPlan::unfactored`] says what it would take
    /// of large ones.
    Single,
}

by_name!(Partition, "partition", {
    "standard" => Partition::Standard,
    "least-time" => Partition::LeastTime,
    "most-capacity" => Partition::MostCapacity,
    "paper" => Partition::Paper,
    "single" => Partition::Single,
    // An older name.
    "three" => Partition::Standard,
});

/// Whether the stage that acts inside of slots is merged into its neighbour: d Frobenius powers for
/// powers of two (`Eval` and `PtoN` of Ma et al. 2024), the first factor of a composite m. Thin maps
/// and elements that monomials split before the maps have no such stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum EvalStage {
    /// The choice that gives more capacity in a second, by forecast and prices, if the merged maps
    /// cost at most twice as much and their constants fit into 4 GiB. For powers of two this holds
    /// if [`Unpacking`] is named; otherwise the stage is separate. [`Partition::MostCapacity`]
    /// merges wherever they fit, [`Partition::Paper`] and [`Partition::Single`] always.
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
    /// e, e' and α of [`FrontEnd::NearPrimePower`] by the rule of its authors; `None` for ours, whose
    /// bound holds at [`Self::failure_bits`]. Their t is [`Self::ephemeral_weight`].
    pub appendix_a: Option<AppendixA>,
    /// How digits are removed.
    pub digits: Method,
    /// How packed elements come apart; of no account in thin mode.
    pub unpacking: Unpacking,
    /// Where the maps to the coefficients stand; of no account in thin mode.
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
    /// Whether the stage inside of slots is merged; of no account in thin mode.
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
            appendix_a: None,
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

    /// By the decryption formula of 2015 with e, e', α and t as [`AppendixA::solve`] found them, all
    /// else as by default.
    ///
    /// **Warning.** The rule bounds the removed part with a small probability of failure only where
    /// digits are large beside the noise: for p = 2 it may fail at every second refresh, and a
    /// refresh that fails gives a wrong plaintext without an error. Secure parameters are refused
    /// then ([`super::BootstrapError::TooLikelyToFail`]); `paper` and `insecure` ones are planned.
    /// [`super::BootstrapPlan::failure_bits`] and the plan in words say the probability.
    pub fn by_appendix_a(found: AppendixA) -> Self {
        let ephemeral_weight = u32::try_from(found.weight).unwrap_or(u32::MAX);
        Self { front_end: FrontEnd::NearPrimePower, appendix_a: Some(found), ephemeral_weight, ..Self::default() }
    }

    /// What parameters say of it ([`windlass_schemes::Params::ephemeral`]).
    pub fn ephemeral(&self) -> Ephemeral {
        Ephemeral { weight: self.ephemeral_weight, encapsulation: self.encapsulation }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::str::FromStr;

    use super::*;
    use windlass_schemes::error::Error;

    #[test]
    fn choices_read_back() {
        fn check<T: FromStr<Err = Error> + fmt::Display + PartialEq + fmt::Debug>(names: &[&str]) {
            for name in names {
                assert_eq!(name.parse::<T>().unwrap().to_string(), *name);
            }
            assert!(matches!("none".parse::<T>(), Err(Error::UnknownName { .. })));
        }
        check::<Mode>(&["thin", "packed"]);
        check::<FrontEnd>(&["prime-power", "near-prime-power"]);
        check::<Unpacking>(&["automatic", "constants", "monomials", "monomials-in-slots"]);
        check::<Order>(&["automatic", "to-coefficients-first", "to-coefficients-last"]);
        check::<EvalStage>(&["automatic", "alone", "merged"]);
        check::<Partition>(&["standard", "least-time", "most-capacity", "paper", "single"]);
        assert_eq!("three".parse::<Partition>().unwrap().to_string(), "standard");
    }
}
