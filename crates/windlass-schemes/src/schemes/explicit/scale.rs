//! Scales: what a message is multiplied by in its phase.

use std::fmt;

use crate::schemes::ckks::Wide;

/// What a message is multiplied by in its phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Δ of CKKS, to some 100 bits: from 2^−64 to 2^960.
    Real(Wide),
    /// The plaintext factor of BGV, a unit modulo t.
    Factor(u64),
}

impl Scale {
    /// 2^bits, for CKKS.
    pub fn bits(bits: f64) -> Self {
        Self::real(bits.exp2())
    }

    /// A real scale, for CKKS.
    pub fn real(scale: f64) -> Self {
        Self::Real(scale.into())
    }

    /// log2 of a real scale; 0 for a plaintext factor.
    pub fn log2(self) -> f64 {
        match self {
            Self::Real(scale) => scale.high().log2(),
            Self::Factor(_) => 0.0,
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real(scale) => write!(f, "2^{:.9}", scale.high().log2()),
            Self::Factor(factor) => write!(f, "factor {factor}"),
        }
    }
}
