//! The plan of a load test.

use std::path::PathBuf;
use std::time::Duration;

use crate::client::AskError;

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Clients that ask, each as soon as it has its answer.
    pub clients: usize,
    /// How long.
    pub time: Duration,
    /// Rows of the table, and bytes of each.
    pub rows: usize,
    /// See `rows`.
    pub bytes: usize,
    /// Threads of the service.
    pub threads: usize,
    /// Whether anything is done to the service but asking.
    pub faults: bool,
    /// The program that serves.
    pub program: PathBuf,
}

/// An error of the system.
pub fn failed(error: &std::io::Error) -> AskError {
    AskError::File { path: "the load".into(), reason: error.to_string() }
}
