//! What to do, and the numbers that follow from it.

use windlass_ring::kernels::Shape;
use windlass_ring::slots::PrimePower;

use super::error::BootstrapError;
use super::maps::Transform;
use crate::circuits::Method;
use crate::error::Result;
use crate::names::by_name;
use crate::params::{Encapsulation, Ephemeral};

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
    /// Powers of two alone: the element is split into d, or d/2, elements of a subring by
    /// automorphisms and monomials, without constants and nearly without noise; each goes to the
    /// slots and back by itself.
    Monomials,
    /// Powers of two alone: one map to the slots and back as in [`Unpacking::Constants`], split by
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
    /// Powers of two: whatever gives more capacity in a second, by forecast and prices. Composite
    /// m: last.
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
    /// The least time, by the prices of [`crate::circuits::CostModel`], of all partitions whose
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
    /// How packed elements come apart; of no account in thin mode.
    pub unpacking: Unpacking,
    /// Where the maps to the coefficients stand; of no account in thin mode.
    pub order: Order,
    /// How the linear maps are split into elementary stages.
    pub transform: Transform,
    /// How the stages of the linear maps are merged.
    pub partition: Partition,
    /// After which elementary stages of the map to the slots a merged stage ends; `None` merges as
    /// [`Self::partition`] says.
    pub to_slots: Option<Vec<usize>>,
    /// The same for the map to the coefficients.
    pub to_coefficients: Option<Vec<usize>>,
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
            partition: Partition::Standard,
            to_slots: None,
            to_coefficients: None,
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

    /// What parameters say of it ([`crate::Params::ephemeral`]).
    pub fn ephemeral(&self) -> Ephemeral {
        Ephemeral { weight: self.ephemeral_weight, encapsulation: self.encapsulation }
    }
}

/// The digits of one bootstrapping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecryptionFormula {
    /// p.
    pub prime: u64,
    /// r: messages are modulo p^r.
    pub message_exponent: u32,
    /// e: digits are removed modulo p^e.
    pub exponent: u32,
    /// v = e − r.
    pub removed: u32,
    /// No coefficient of the removed part is larger, but for [`BootstrapSpec::failure_bits`].
    pub bound: u64,
    /// e' of Halevi–Shoup 2015: digits that are made zero and divided out beforehand; 0 for
    /// [`FrontEnd::PrimePower`].
    pub cleared: u32,
    /// The greatest sum of squares W of a row of the ephemeral secret's multiplication matrix that
    /// key generation accepts.
    pub row_square: f64,
}

impl DecryptionFormula {
    /// What the noise of a ciphertext may be after rounding to modulus p^e, beside the rounding
    /// itself.
    pub(crate) const BEFORE: f64 = 0.49;

    /// The least number of digits that holds the rounding error of the front end.
    ///
    /// Rounding c_0 and c_1 to modulus p^e adds δ_0 + δ_1·s̃ with δ uniform in \[−1/2, 1/2\]: every
    /// coefficient is sub-Gaussian of variance (1 + W)/12, and one of n exceeds k·√((1+W)/12) with
    /// probability at most 2^{−f} for k = √(2·ln 2·(f + log2 2n)). No coefficient exceeds (1 +
    /// 2^t·h)/2 at all, t the number of odd axes and h the weight: less, for powers of two and
    /// small h. What was there before the rounding adds less than a half.
    ///
    /// # Errors
    /// [`crate::Error::Ring`] when p^r is not a supported prime power;
    /// [`BootstrapError::EphemeralWeight`]; [`BootstrapError::FailureBits`];
    /// [`BootstrapError::Unsupported`] for a plaintext modulus that is too large.
    pub fn new(shape: &Shape, (prime, r): (u64, u32), spec: &BootstrapSpec) -> Result<Self> {
        PrimePower::new(prime, r)?;
        let (weight, n) = (spec.ephemeral_weight, shape.n());
        if weight == 0 || weight as usize > n {
            return Err(BootstrapError::EphemeralWeight { weight, n }.into());
        }
        let got = spec.failure_bits;
        if !(got.is_finite() && got > 0.0) {
            return Err(BootstrapError::FailureBits { got }.into());
        }
        let row_square = row_square_limit(shape, spec.ephemeral_weight);
        let tail = (2.0 * std::f64::consts::LN_2 * (spec.failure_bits + (2.0 * shape.n() as f64).log2())).sqrt();
        let certain = (1.0 + row_sum(shape, spec.ephemeral_weight)) / 2.0;
        let spread = (tail * ((1.0 + row_square) / 12.0).sqrt()).min(certain);
        // With q̃ = p^ẽ + 1: (z_0 + k)/p^{e'} is at most spread·(1 + 3p^{r−e'}) + 2p^{r−e'}, so two
        // more cover it once p^{e'−r} ≥ 3·spread + 2.
        let near = spec.front_end == FrontEnd::NearPrimePower;
        let bound = (spread + if near { 2.0 } else { Self::BEFORE }).floor() as u64;
        let cleared = if near { r + (3.0 * spread + 2.0).log(prime as f64).ceil() as u32 } else { 0 };
        let holds = |v: &u32| {
            let whole = prime.saturating_pow(*v);
            if prime == 2 { whole / 2 > bound } else { (whole - 1) / 2 >= bound }
        };
        let removed = (1..64).find(holds).unwrap_or(64);
        let exponent = r + removed;
        if near && (prime as f64).log2() * (2 * cleared + removed) as f64 >= 120.0 {
            let what = format!("q = {prime}^{} + 1 is too large; use FrontEnd::PrimePower", removed + cleared);
            return Err(BootstrapError::Unsupported { what }.into());
        }
        if (prime as f64).log2() * exponent as f64 >= 45.0 {
            let what = format!("p^e = {prime}^{exponent} is not below 2^45; use a smaller plaintext modulus");
            return Err(BootstrapError::Unsupported { what }.into());
        }
        Ok(Self { prime, message_exponent: r, exponent, removed, bound, cleared, row_square })
    }

    /// log2 of the modulus that the ciphertext is switched to: p^e, or p^ẽ + 1.
    pub(crate) fn log2_switched(&self) -> f64 {
        let digits = if self.cleared == 0 { self.exponent } else { self.removed + self.cleared };
        (self.prime as f64).log2() * digits as f64
    }
}

/// Axes of odd index: on each, reduction subtracts a top coefficient from others.
pub(super) fn odd_axes(shape: &Shape) -> u32 {
    shape.axes().iter().map(|axis| u32::from(axis.prime != 2)).sum()
}

/// The greatest sum of absolute values in a row of the multiplication matrix of a secret of this
/// weight: reduction on each odd axis doubles it.
fn row_sum(shape: &Shape, weight: u32) -> f64 {
    weight as f64 * f64::from(1 << odd_axes(shape))
}

/// What key generation enforces of W: its mean 2^t·h, t the number of odd axes, which every secret
/// of a power of two has, and a tenth and 8 above it elsewhere, by drawing again.
pub(crate) fn row_square_limit(shape: &Shape, weight: u32) -> f64 {
    let odd = odd_axes(shape);
    if odd == 0 { weight as f64 } else { weight as f64 * 1.1 * f64::from(1 << odd) + 8.0 }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::str::FromStr;

    use super::*;
    use crate::error::Error;

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
        check::<Partition>(&["standard", "least-time", "most-capacity", "paper", "single"]);
        assert_eq!("three".parse::<Partition>().unwrap().to_string(), "standard");
    }

    #[test]
    fn failure_bits_are_finite_and_positive() {
        let shape = Shape::new(64).unwrap();
        let formula = |failure_bits| {
            DecryptionFormula::new(
                &shape,
                (257, 1),
                &BootstrapSpec { failure_bits, ephemeral_weight: 8, ..BootstrapSpec::default() },
            )
        };
        for got in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
            match formula(got) {
                Err(Error::Bootstrap(BootstrapError::FailureBits { got: named })) => {
                    assert_eq!(named.to_bits(), got.to_bits());
                }
                other => panic!("{got}: {other:?}"),
            }
        }
        // More of them, and the bound is larger; never above the one that holds for certain.
        let bound = |failure_bits| formula(failure_bits).unwrap().bound;
        assert!(bound(1.0) < bound(128.0) && bound(128.0) <= bound(1e300) && bound(1e300) == (9.0 / 2.0 + 0.49) as u64);
    }
}
