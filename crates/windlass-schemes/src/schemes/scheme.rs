//! BGV and BFV by name.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::names::named;

/// The form of a ciphertext: where the message sits in the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Least significant: phase m + t·e (Brakerski–Gentry–Vaikuntanathan).
    Bgv,
    /// Most significant: phase round(Q·m/t) + e (Brakerski; Fan–Vercauteren).
    Bfv,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Bgv => "BGV",
            Scheme::Bfv => "BFV",
        })
    }
}

impl FromStr for Scheme {
    type Err = Error;

    /// Reads `bgv` or `bfv`, small or as they are printed.
    fn from_str(text: &str) -> Result<Self> {
        named(&[("bgv", Self::Bgv), ("bfv", Self::Bfv)], &text.to_ascii_lowercase(), "scheme")
    }
}
