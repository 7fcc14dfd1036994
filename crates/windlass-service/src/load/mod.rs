//! A service under load: clients that check every row, while others cut, alter and delay what they
//! send, keys are driven out, the table is replaced and the service killed.

mod askers;
mod faults;
mod ledger;
mod plot;
mod report;
mod shared;
mod tally;
mod victim;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use windlass_retrieval::{Plan, RowStatistics, Table, TableRequirements, unobserved};

use crate::client::Result;
use ledger::Ledger;
use plot::failed;
use shared::LoadRun;
use tally::Tally;
use victim::Victim;

pub use plot::Plot;
pub use report::Report;

/// Puts a service under load and says what came of it.
///
/// # Errors
/// When table or service cannot be set up.
pub fn run(plot: &Plot) -> Result<Report> {
    let dir = tempfile::tempdir().map_err(|error| failed(&error))?;
    let place = dir.path().join("table");
    let ledger = Ledger::new(plot.rows, plot.bytes);
    let (memory, prepared) = prepare(plot, &ledger, &place)?;
    // Room for those who ask and a few more: the keys of strangers drive theirs out.
    let cache = memory * (plot.clients as u64 + 2);
    let victim = Victim::start(plot, dir.path(), cache.div_ceil(1 << 20))?;
    let (begun, ended) = (Instant::now(), AtomicBool::new(false));
    let run = LoadRun { plot: plot.clone(), victim, ledger, tally: Tally::default(), begun, ended };
    std::thread::scope(|scope| {
        let run = &run;
        let begin = |number| scope.spawn(move || askers::ask(run, number));
        let askers: Vec<_> = (0..plot.clients as u64).map(begin).collect();
        if plot.faults {
            let place = &place;
            faults::ALL.iter().for_each(|fault| drop(scope.spawn(move || fault(run, place))));
        }
        let memory = scope.spawn(|| run.victim.watch_memory(|| run.rest(Duration::from_secs(1))));
        let told: Result<Vec<()>> =
            askers.into_iter().map(|asker| asker.join().expect("askers do not panic")).collect();
        run.ended.store(true, Ordering::Relaxed);
        let memory = memory.join().expect("looking does not panic");
        told.map(|_| Report::of(run, prepared, memory))
    })
}

/// Makes the table: bytes of memory that a client's keys take, and bytes of the prepared table.
fn prepare(plot: &Plot, ledger: &Ledger, place: &Path) -> Result<(u64, u64)> {
    let entries: Vec<(String, String)> = (0..plot.rows).map(|k| (ledger.key(k), ledger.row(k, 0))).collect();
    let rows: Vec<&String> = entries.iter().map(|(_, row)| row).collect();
    let requirements =
        TableRequirements { room: Some(plot.rows + plot.rows / 4 + 100), ..TableRequirements::default() };
    let plan = Plan::keywords(RowStatistics::of(&rows)?, "5eed", 1.2, &requirements)?;
    let table = Table::create_keywords(place, &plan.schema, &entries, &unobserved)?;
    let shape = &table.schema().shape;
    let keys = shape.elements().len() as u64 + u64::from(shape.selectors() > 0);
    let memory = keys * table.setting().context().params().key_sizes().switching_key_memory;
    Ok((memory, shape.sizes(table.setting()).prepared))
}
