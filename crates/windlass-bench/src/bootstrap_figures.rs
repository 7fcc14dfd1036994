//! The figures of one measured bootstrapping, and records of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// One stage of one run: the capacity is that of the first time it comes, the seconds are those of all times.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StageFigure {
    pub name: String,
    pub times: usize,
    pub seconds: f64,
    pub capacity_before: f64,
    pub capacity_after: f64,
}

/// Everything about one preset.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figures {
    pub preset: String,
    pub mode: String,
    pub scheme: String,
    pub cpu: String,
    pub threads: usize,
    pub slots: usize,
    pub slot_bits: f64,
    pub security_bits: f64,
    pub ephemeral_security_bits: f64,
    pub failure_bits: f64,
    pub plan_seconds: f64,
    pub key_seconds: f64,
    pub table_seconds: f64,
    pub key_bytes: usize,
    pub stages: Vec<StageFigure>,
    pub runs: usize,
    pub total_seconds: f64,
    pub least_seconds: f64,
    pub processor_seconds: f64,
    pub capacity_in: f64,
    pub capacity_out: f64,
    pub throughput_bits_per_second: f64,
    pub peak_mebibytes: f64,
}

impl Figures {
    /// Of the processor on one thread, of the clock on several.
    pub fn seconds(&self) -> f64 {
        if self.threads == 1 { self.processor_seconds } else { self.total_seconds }
    }

    /// A record, to be appended to.
    pub fn open(path: &Path) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).open(path).map_err(|error| named(path, &error))
    }

    /// Appends a line to a record.
    pub fn append(&self, path: &Path) -> io::Result<()> {
        let mut file = Self::open(path)?;
        writeln!(file, "{}", serde_json::to_string(self).expect("figures are numbers and strings"))
    }

    /// For the terminal.
    pub fn print(&self) {
        println!("{:<40} {:>6} {:>9} {:>10} {:>10}", "stage", "times", "seconds", "bits before", "after");
        for stage in &self.stages {
            println!(
                "{:<40} {:>6} {:>9.3} {:>10.0} {:>10.0}",
                stage.name, stage.times, stage.seconds, stage.capacity_before, stage.capacity_after
            );
        }
        println!(
            "total {:.2} s ({:.2} s of processor time) on {} thread(s), {} to {:.0} bits; {:.0} bits of capacity times slot bits a second; peak memory {:.0} MiB",
            self.total_seconds,
            self.processor_seconds,
            self.threads,
            self.capacity_in.round(),
            self.capacity_out,
            self.throughput_bits_per_second,
            self.peak_mebibytes
        );
    }
}

/// All figures of a record; a later line replaces an earlier one of the same preset, mode, scheme and threads.
pub fn read(path: &Path) -> io::Result<Vec<Figures>> {
    let mut all: Vec<Figures> = Vec::new();
    let text = std::fs::read_to_string(path).map_err(|error| named(path, &error))?;
    for (number, line) in text.lines().enumerate() {
        let wrong = |error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: line {}: {error}", path.display(), number + 1))
        };
        let figures: Figures = serde_json::from_str(line).map_err(wrong)?;
        let name = |f: &Figures| (f.preset.clone(), f.mode.clone(), f.scheme.clone(), f.threads);
        match all.iter_mut().find(|known| name(known) == name(&figures)) {
            Some(known) => *known = figures,
            None => all.push(figures),
        }
    }
    Ok(all)
}

/// An error with the file that it is about.
pub fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
