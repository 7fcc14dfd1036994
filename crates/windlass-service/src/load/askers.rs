//! Clients that ask, check what comes back, and ask again.

use std::time::{Duration, Instant};

use super::shared::LoadRun;
use crate::client::{AskError, Asker, Result, Wanted};

/// A client: asks until the end.
///
/// # Errors
/// When it cannot begin.
pub fn ask(run: &LoadRun, number: u64) -> Result<()> {
    let mut asker = run.asker()?;
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while !run.is_over() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // One in eight of a key that is not there, or comes with one of the next versions.
        let (rows, number) = (run.ledger.rows(), (state >> 33) as usize);
        let row = if state >> 61 == 0 { rows + number % (run.ledger.versions() + 8) } else { number % rows };
        one(run, &mut asker, row)?;
    }
    run.tally.note(|counts| counts.uploads += asker.uploads);
    Ok(())
}

/// One query, asked until it is answered or the time is over.
fn one(run: &LoadRun, asker: &mut Asker, row: usize) -> Result<()> {
    let wanted = Wanted::Keys(vec![run.ledger.key(row).into()]);
    let query = asker.query(&wanted)?;
    let begun = Instant::now();
    loop {
        let sent = Instant::now();
        match asker.send(&wanted, &query).and_then(|answer| asker.rows(&wanted, &answer)) {
            Ok(rows) => {
                let found = rows[0].as_deref();
                let right = run.ledger.is_right(row, found, sent);
                run.tally.note(|counts| {
                    counts.times.push(begun.elapsed().as_secs_f32() * 1e3);
                    *(if found.is_some() { &mut counts.found } else { &mut counts.absent }) += 1;
                    if !right {
                        let said = found.map(String::from_utf8_lossy);
                        counts.wrong.push(format!("row {row} of version {}: {said:?}", run.ledger.versions()));
                    }
                });
                return Ok(());
            }
            Err(error) => {
                let (kind, silent) = kind(&error);
                run.tally.note(|counts| {
                    *counts.errors.entry(kind).or_default() += 1;
                    counts.silent += u64::from(silent);
                });
            }
        }
        if !run.rest(Duration::from_millis(200)) {
            return Ok(());
        }
    }
}

/// The kind of an error, and whether it is that no response came.
fn kind(error: &AskError) -> (String, bool) {
    match error {
        AskError::Refused(refused) => (format!("{} {}", refused.status, refused.kind), false),
        AskError::Unreachable { reason, .. } => ("connection".to_owned(), reason.contains("timeout")),
        other => (other.to_string(), false),
    }
}
