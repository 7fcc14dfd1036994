//! Counts what the clients and the faults of a load test saw.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What all of them have seen.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Counts>);

/// See [`Tally`].
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Milliseconds from a query to its row, other attempts included.
    pub times: Vec<f32>,
    /// Rows that were there, and keys that were not.
    pub found: u64,
    /// See `found`.
    pub absent: u64,
    /// Rows that are of no version.
    pub wrong: Vec<String>,
    /// Queries without an answer and without an error.
    pub silent: u64,
    /// Attempts that ended in an error, by its kind.
    pub errors: BTreeMap<String, u64>,
    /// What was done to the service, and what came of it.
    pub faults: BTreeMap<String, u64>,
    /// Keys that were uploaded.
    pub uploads: u64,
}

impl Tally {
    /// Changes the counts.
    pub fn note(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts something that was done to the service.
    pub fn fault(&self, what: &str) {
        self.note(|counts| *counts.faults.entry(what.to_owned()).or_default() += 1);
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
