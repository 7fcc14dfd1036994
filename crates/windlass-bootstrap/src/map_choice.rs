//! Chooses the algorithm for each linear map.

use std::fmt;
use std::str::FromStr;

use windlass_circuits::{HoistMode, Strategy};
use windlass_schemes::error::{Error, Result};

/// The algorithm for the maps between slots and coefficients, and how automorphisms share work in
/// them. The planner chooses it for the trace and for unpacking in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct MapChoice {
    /// The algorithm; [`Strategy::AUTOMATIC`] leaves it to the prices.
    pub strategy: Strategy,
    /// How automorphisms share work.
    pub hoisting: HoistMode,
}

impl MapChoice {
    /// The cheapest by the prices.
    pub const AUTOMATIC: Self = Self { strategy: Strategy::AUTOMATIC, hoisting: HoistMode::Double };
}

/// A strategy by its own way to share work.
impl From<Strategy> for MapChoice {
    fn from(strategy: Strategy) -> Self {
        Self { strategy, ..Self::AUTOMATIC }
    }
}

impl fmt::Display for MapChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hoisting {
            HoistMode::Double => write!(f, "{}", self.strategy),
            HoistMode::Single => write!(f, "{}, hoisted once", self.strategy),
            HoistMode::Off => write!(f, "{}, not hoisted", self.strategy),
        }
    }
}

impl FromStr for MapChoice {
    type Err = Error;

    /// The name of a [`Strategy`].
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    fn from_str(text: &str) -> Result<Self> {
        text.parse::<Strategy>().map(Self::from).map_err(|error| match error {
            Error::UnknownName { given, known, .. } => {
                Error::UnknownName { what: "way to evaluate linear maps", given, known }
            }
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in ["automatic", "horner", "baby-giant:3"] {
            assert_eq!(name.parse::<MapChoice>().unwrap().to_string(), name);
        }
        let Err(Error::UnknownName { known, .. }) = "old".parse::<MapChoice>() else { panic!("a name") };
        assert!(known.iter().any(|name| name.starts_with("horner")));
    }
}
