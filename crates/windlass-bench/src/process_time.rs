//! Wall time and processor time. Other work on a shared machine disturbs processor time less.

use std::time::Instant;

use cpu_time::ProcessTime;

/// Measures from its start.
pub struct Stopwatch {
    clock: Instant,
    processor: ProcessTime,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Self {
        Self { clock: Instant::now(), processor: ProcessTime::now() }
    }

    /// Seconds by the clock.
    pub fn seconds(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    /// Seconds of processor time of all threads.
    pub fn processor_seconds(&self) -> f64 {
        self.processor.elapsed().as_secs_f64()
    }
}
