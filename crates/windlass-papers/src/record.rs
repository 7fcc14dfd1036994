//! The format of all records: one line of JSON for each measurement, what every measurement has in
//! front.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One measurement, verified before it was timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<T> {
    /// The processor.
    pub cpu: String,
    /// Threads.
    pub threads: usize,
    /// Median seconds: of processor time on one thread, of the clock on several.
    pub median_s: f64,
    /// Least seconds.
    pub min_s: f64,
    /// The median over the yardstick T of the same run, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yardsticks: Option<f64>,
    /// Runs, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
    /// What was measured.
    #[serde(flatten)]
    pub of: T,
}

/// What stands in the last brackets of the name of a processor: its family and model.
pub fn model(cpu: &str) -> &str {
    cpu.rsplit_once('(').map_or(cpu, |(_, last)| last.trim_end_matches(')'))
}

/// Opens a record for appending, so that one that cannot be written is refused before anything is
/// measured.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path).map_err(|error| named(path, &error))
}

/// Appends lines to a record.
pub fn append<T: Serialize>(path: &Path, lines: &[T]) -> io::Result<()> {
    let mut file = open(path)?;
    let text: String =
        lines.iter().map(|line| serde_json::to_string(line).expect("numbers and strings") + "\n").collect();
    file.write_all(text.as_bytes()).map_err(|error| named(path, &error))
}

/// All measurements of a record; a later one replaces an earlier one of the same key.
pub fn read<T: DeserializeOwned, K: PartialEq>(
    path: &Path,
    key: impl Fn(&Record<T>) -> K,
) -> io::Result<Vec<Record<T>>> {
    let text = std::fs::read_to_string(path).map_err(|error| named(path, &error))?;
    let mut all: Vec<Record<T>> = Vec::new();
    for (number, record) in parse(&text).enumerate() {
        let record = record.map_err(|error| {
            let text = format!("{}: line {}: {error}", path.display(), number + 1);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        match all.iter_mut().find(|known| key(known) == key(&record)) {
            Some(known) => *known = record,
            None => all.push(record),
        }
    }
    Ok(all)
}

/// The lines of a record.
pub fn parse<T: DeserializeOwned>(text: &str) -> impl Iterator<Item = serde_json::Result<T>> {
    text.lines().map(serde_json::from_str)
}

/// An error with the file that it is about.
pub fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
