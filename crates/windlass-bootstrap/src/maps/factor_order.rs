//! The order and the grouping of the factors of a composite m in the maps.

use std::fmt;
use std::str::FromStr;

use windlass_schemes::error::Error;
use windlass_schemes::names::unknown;

/// The factors of a composite m: the first, m_1, on which p has its whole order d, and the prime
/// powers behind it (Halevi–Shoup 2015, §4.2 and §6). Of no account for powers of two.
///
/// Slots stand in an order of their own for each. Where two have the same slots, as where the first
/// factor leaves no cyclic quotient and is gone through prime power by prime power, the maps are those
/// of the one that comes first by fewest prime powers.
///
/// By name `standard`, `least-price`, or the factors themselves: `73*13,37` for (73·13)·37.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub enum FactorOrder {
    /// The fewest prime powers on which p has its order d and leaves a cyclic quotient, of these
    /// the least product. It depends only on m and p: thin and packed plans share it.
    #[default]
    Standard,
    /// Of all first factors that leave a cyclic quotient the one whose plan gives the most capacity
    /// in a second, by forecast and prices: time against depth, as §6 of 2015 balances them. Cost: a
    /// plan for each.
    LeastPrice,
    /// These factors: m_1 first.
    Given(Vec<u64>),
}

impl fmt::Display for FactorOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => f.pad("standard"),
            Self::LeastPrice => f.pad("least-price"),
            Self::Given(list) => f.pad(&list.iter().map(u64::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

impl FromStr for FactorOrder {
    type Err = Error;

    /// # Errors
    /// [`Error::UnknownName`].
    fn from_str(text: &str) -> Result<Self, Error> {
        let product = |factor: &str| {
            let numbers = factor.split('*').map(|number| number.trim().parse::<u64>().ok().filter(|&x| x > 1));
            numbers.collect::<Option<Vec<u64>>>()?.into_iter().try_fold(1, u64::checked_mul)
        };
        match text {
            "standard" => Ok(Self::Standard),
            "least-price" => Ok(Self::LeastPrice),
            _ => text.split(',').map(product).collect::<Option<_>>().map(Self::Given).ok_or_else(|| {
                unknown(["standard", "least-price", "factors as 73*13,37"].into_iter(), text, "order of factors")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_read_back() {
        for name in ["standard", "least-price", "949,37", "9"] {
            assert_eq!(name.parse::<FactorOrder>().unwrap().to_string(), name);
        }
        assert_eq!("73*13, 37".parse::<FactorOrder>().unwrap(), FactorOrder::Given(vec![949, 37]));
        for wrong in ["", "73*", "0,37", "1", "a,b", "18446744073709551615*2"] {
            assert!(matches!(wrong.parse::<FactorOrder>(), Err(Error::UnknownName { .. })), "{wrong}");
        }
    }
}
