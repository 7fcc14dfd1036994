//! BGV and BFV by name.

use std::fmt;

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
