//! The progress of a search for parameters.

use std::fmt;

/// What a search for parameters is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// Indices m of the range are looked at.
    Indices,
    /// Bootstrapping is planned for the ring of this index, which may take seconds to a minute.
    Plan {
        /// m.
        m: u64,
    },
}

impl fmt::Display for SearchStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indices => f.write_str("indices m"),
            Self::Plan { m } => write!(f, "planning m = {m}"),
        }
    }
}

/// What a search is at, and how many of its steps of this kind are behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchProgress {
    /// What is done now.
    pub step: SearchStep,
    /// Steps of this kind that are done.
    pub done: usize,
    /// The maximum number of steps of this kind.
    pub count: usize,
}
