//! A measured function, and its clock.

use serde::{Deserialize, Serialize};
use windlass_papers::record::Record;

use super::args::Functions;
use crate::machine;
use crate::process_time::Stopwatch;
use crate::threads::with_threads;

/// A measured function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// `sign` or `training`.
    pub function: String,
    pub preset: String,
    pub dimension: usize,
    pub slots: usize,
    pub security_bits: f64,
    /// Ciphertexts that run together.
    pub ciphertexts: usize,
    /// Of one ciphertext, or of the weights.
    pub refreshes: usize,
    /// Rescalings, refreshes left out.
    pub depth: usize,
    /// −log2 of the largest error in all runs, against plain values.
    pub worst_bits: f64,
    /// −log2 of what was stated before anything ran: a bound for the sign, a standard deviation for weights.
    pub stated_bits: f64,
    pub set_up_seconds: f64,
    /// By the clock.
    pub total_seconds: f64,
    pub peak_mebibytes: f64,
    pub date: String,
}

/// What one run took: seconds that count, and seconds by the clock.
pub type Seconds = (f64, f64);

/// One run on threads, by processor time on one.
pub fn timed<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> (T, Seconds) {
    let watch = Stopwatch::start();
    let result = with_threads(threads, run);
    let (processor, clock) = (watch.processor_seconds(), watch.seconds());
    (result, (if threads == 1 { processor } else { clock }, clock))
}

/// The record of all runs.
pub fn row(args: &Functions, mut seconds: Vec<Seconds>, of: Measured) -> Record<Measured> {
    seconds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = seconds[seconds.len() / 2];
    Record {
        cpu: machine::cpu(),
        threads: args.threads,
        median_s: median.0,
        min_s: seconds[0].0,
        yardsticks: None,
        rounds: Some(seconds.len()),
        of: Measured { total_seconds: median.1, peak_mebibytes: machine::peak_mebibytes(), ..of },
    }
}
