//! Records which rows the table had at which time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use windlass_retrieval::KeyChange;

/// How long a version may be served after the next one is there: the service looks every second,
/// and opens what it finds.
const LAG: Duration = Duration::from_secs(10);

/// Every version changes one row in so many.
const SHARE: usize = 10;

/// What every row is in every version, and when versions were written.
#[derive(Debug)]
pub struct Ledger {
    rows: usize,
    bytes: usize,
    /// When writing each version after the first began, and when it was done.
    written: Mutex<Vec<(Instant, Option<Instant>)>>,
}

impl Ledger {
    /// A ledger for `rows` rows.
    pub fn new(rows: usize, bytes: usize) -> Self {
        Self { rows, bytes, written: Mutex::default() }
    }

    /// The rows of the first version.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The key of a row.
    pub fn key(&self, row: usize) -> String {
        format!("key {row}")
    }

    /// A row as it is in a version.
    pub fn row(&self, row: usize, version: usize) -> String {
        // The last version up to this one that changed it.
        let since = (0..=version).rev().find(|v| *v > 0 && v % SHARE == row % SHARE).unwrap_or(0);
        let mut text = format!("row {row} since {since} ");
        while text.len() < self.bytes {
            text.push((b'a' + ((text.len() * 7 + row * 13 + since) % 26) as u8) as char);
        }
        text.truncate(self.bytes);
        text
    }

    /// What a key has in a version: row N + v is there since version v.
    fn holds(&self, row: usize, version: usize) -> Option<String> {
        (row < self.rows + version).then(|| self.row(row, if row < self.rows { version } else { row + 1 - self.rows }))
    }

    /// The changes that make a version out of the one before.
    pub fn changes(&self, version: usize) -> Vec<KeyChange> {
        let changed = (0..self.rows).filter(|row| row % SHARE == version % SHARE).map(|row| (row, version));
        let set = |(row, version)| KeyChange::Set(self.key(row).into(), self.row(row, version).into());
        changed.chain([(self.rows + version - 1, version)]).map(set).collect()
    }

    /// Notes that a version begins to be written.
    pub fn begin(&self) -> usize {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.push((Instant::now(), None));
        written.len()
    }

    /// Notes that it is there.
    pub fn finish(&self) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = written.last_mut() {
            last.1 = Some(Instant::now());
        }
    }

    /// Versions after the first.
    pub fn versions(&self) -> usize {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether a row that was asked for at `sent` and is there now is one of a version that may have
    /// been served in between.
    pub fn is_right(&self, row: usize, found: Option<&[u8]>, sent: Instant) -> bool {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Version v ends when v + 1 has been there for a while.
        let over = |version: usize| {
            let next = written.get(version).and_then(|(_, done)| *done);
            next.is_some_and(|done| done + LAG < sent)
        };
        let served = (0..=written.len()).filter(|&version| !over(version));
        served.map(|version| self.holds(row, version)).any(|row| row.as_deref().map(str::as_bytes) == found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_version_that_may_be_served_are_right_and_no_others() {
        let ledger = Ledger::new(30, 40);
        let now = Instant::now();
        let right = |row, version, sent| ledger.is_right(row, Some(ledger.row(row, version).as_bytes()), sent);
        assert!(right(11, 0, now) && !ledger.is_right(11, None, now) && ledger.is_right(30, None, now));
        assert_eq!(ledger.begin(), 1);
        assert_eq!(ledger.row(11, 0).len(), 40);
        assert_ne!(ledger.row(11, 0), ledger.row(11, 1));
        assert!(right(11, 0, now) && right(11, 1, now) && ledger.is_right(30, None, now) && right(30, 1, now));
        ledger.finish();
        let later = now + LAG + Duration::from_secs(1);
        assert!(right(11, 1, later) && !right(11, 0, later) && right(30, 1, later));
        assert!(!ledger.is_right(30, None, later) && !ledger.is_right(12, Some(b"row"), later));
        assert_eq!(ledger.changes(1).len(), 4);
    }
}
