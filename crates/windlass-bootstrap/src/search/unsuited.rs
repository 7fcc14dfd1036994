//! Reasons why an index is not suitable.

/// The first condition of a search that an index m fails. The library's messages name the condition,
/// what m has and what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsuited {
    /// There is no ring of this index, or none that the maps take.
    #[error("{reason}")]
    Ring {
        /// What is wrong with it.
        reason: String,
    },
    /// m is even.
    #[error("it is even, but the search takes odd m only; a power of two needs no search")]
    Even,
    /// p divides m.
    #[error("it is divisible by the plaintext prime {p}")]
    Divisible {
        /// p.
        p: u64,
    },
    /// m has fewer than two prime factors.
    #[error("it is a prime power, but the linear maps need two coprime factors")]
    PrimePower,
    /// φ(m) is outside of the range.
    #[error("phi(m) is {n}, which is not between {least} and {most}")]
    Dimension {
        /// φ(m).
        n: usize,
        /// The least that was asked for.
        least: usize,
        /// The greatest.
        most: usize,
    },
    /// d is too large.
    #[error("the slot degree d, the order of {p} modulo m, is {degree}, more than {most}")]
    Degree {
        /// p.
        p: u64,
        /// d.
        degree: u64,
        /// The greatest that was asked for.
        most: u64,
    },
    /// There are too few slots.
    #[error("it has {slots} slots, fewer than {least}")]
    Slots {
        /// φ(m)/d.
        slots: usize,
        /// As many were asked for.
        least: usize,
    },
    /// No factor can be the first.
    #[error(
        "{p} must have the order {degree} modulo a factor of m that is a prime power or a product of two prime powers, but m has no such factor"
    )]
    NoFirstFactor {
        /// p.
        p: u64,
        /// d.
        degree: u64,
    },
    /// The first dimension is not cyclic.
    #[error(
        "the units modulo a factor on which {p} has the order {degree} must be cyclic after division by the powers of {p}, but m has no such factor"
    )]
    NotCyclic {
        /// p.
        p: u64,
        /// d.
        degree: u64,
    },
    /// No modulus has the security that was asked for.
    #[error("{reason}")]
    Security {
        /// Why.
        reason: String,
    },
}
