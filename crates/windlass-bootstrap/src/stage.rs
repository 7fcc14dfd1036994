//! Stages, as a plan lists them and a refresh reports them.

use std::collections::BTreeSet;
use std::fmt;

/// One stage, as [`super::BootstrapPlan::stages`] and, for CKKS,
/// [`RefreshPlan::stages`](super::approximate::RefreshPlan::stages) list it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: StageName,
    /// The level it starts at.
    pub level: usize,
    /// Bits of capacity before and after, as forecast from the noise bounds; for what comes before
    /// the front end counted from a ciphertext of the lowest level that is enough, with nothing but
    /// rounding noise. In CKKS the bits of the modulus above that of the lowest level.
    pub capacity: (f64, f64),
    /// What it does, in words.
    pub work: String,
    /// The automorphisms that it needs keys for.
    pub keys: BTreeSet<u64>,
    /// How often it comes: once, or for each of the ciphertexts that a packed one comes apart into.
    pub times: usize,
}

/// The name of a stage. One of a linear map that is split into several says which of them it is,
/// counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum StageName {
    SplittingMessage,
    SlotsToCoefficients { part: usize, count: usize },
    JoiningMessage,
    FrontEnd,
    Splitting,
    CoefficientsToSlots { part: usize, count: usize },
    Trace { part: usize, count: usize },
    Unpacking,
    SplittingSlots,
    DigitRemoval,
    JoiningSlots,
    Repacking,
    Joining,
    Table,
    Raise,
    Sine { part: usize, count: usize },
}

impl fmt::Display for StageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, part, count) = match *self {
            Self::SlotsToCoefficients { part, count } => ("slots to coefficients", part, count),
            Self::SplittingMessage => ("splitting the message", 1, 1),
            Self::JoiningMessage => ("joining the message", 1, 1),
            Self::FrontEnd => ("front end", 1, 1),
            Self::Splitting => ("splitting", 1, 1),
            Self::CoefficientsToSlots { part, count } => ("coefficients to slots", part, count),
            Self::Trace { part, count } => ("trace", part, count),
            Self::Unpacking => ("unpacking", 1, 1),
            Self::SplittingSlots => ("splitting the slots", 1, 1),
            Self::DigitRemoval => ("digit removal", 1, 1),
            Self::JoiningSlots => ("joining the slots", 1, 1),
            Self::Repacking => ("repacking", 1, 1),
            Self::Joining => ("joining", 1, 1),
            Self::Table => ("table", 1, 1),
            Self::Raise => ("raise", 1, 1),
            Self::Sine { part, count } => ("sine", part, count),
        };
        if count == 1 { f.write_str(name) } else { write!(f, "{name}, part {part} of {count}") }
    }
}
