//! What the threads of a load share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use windlass_retrieval::{Client, KeyContext};

use super::ledger::Ledger;
use super::plot::Plot;
use super::tally::Tally;
use super::victim::Victim;
use crate::client::{Asker, Remote, Result};

/// Everything that the threads of a run share.
pub struct LoadRun {
    /// What is to be done.
    pub plot: Plot,
    /// The service.
    pub victim: Victim,
    /// What the table holds.
    pub ledger: Ledger,
    /// What was seen.
    pub tally: Tally,
    /// The beginning.
    pub begun: Instant,
    /// Whether it is over before its time.
    pub ended: AtomicBool,
}

impl LoadRun {
    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.begun.elapsed() >= self.plot.time
    }

    /// Sleeps, but not beyond the end; false at the end.
    pub fn rest(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if self.is_over() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20).min(time));
        }
        !self.is_over()
    }

    /// A new client, with separate keys.
    ///
    /// # Errors
    /// If the service does not run.
    pub fn asker(&self) -> Result<Asker> {
        let remote = Remote::new(&self.victim.address, None, Duration::from_secs(90))?;
        let (schema, setting) = Asker::schema(&remote)?;
        let client = Client::new(schema, &setting)?;
        let keys = windlass::wire::to_bytes(&KeyContext::new(&setting), &client.evaluation_keys()?)?;
        Ok(Asker::of(remote, client, keys.to_vec()))
    }
}
