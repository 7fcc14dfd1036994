//! The service as a process that is watched, killed and started again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::plot::{Plot, failed};
use crate::client::{AskError, Result};

/// A service.
#[derive(Debug)]
pub struct Victim {
    /// Where it is; it comes back there.
    pub address: String,
    command: Vec<String>,
    program: PathBuf,
    log: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    child: Child,
    /// Processor seconds of those that are dead.
    spent: f64,
    deaths: u64,
}

/// MiB that the service holds of its own, mapped files not counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// A quarter of the time after its last start.
    pub start: f64,
    /// At the end.
    pub end: f64,
    /// At most, since its last start.
    pub most: f64,
}

impl Victim {
    /// Starts it.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(plot: &Plot, dir: &Path, cache: u64) -> Result<Self> {
        let line =
            format!("--threads {} --key-cache {cache} --body-seconds 5 --head-seconds 5 --log warn", plot.threads);
        let mut command: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        command.extend(["--table".to_owned(), dir.join("table").display().to_string()]);
        if plot.faults {
            command.extend(["--drill-panic-every".to_owned(), "997".to_owned()]);
        }
        let log = dir.join("log");
        let (child, address) = begin(&plot.program, &command, &log, "127.0.0.1:0")?;
        let state = Mutex::new(State { child, spent: 0.0, deaths: 0 });
        Ok(Self { address, command, program: plot.program.clone(), log, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills it, and starts it again at its address.
    ///
    /// # Errors
    /// When it does not come back.
    pub fn kill(&self) -> Result<()> {
        let mut state = self.state();
        state.spent += processor_seconds(state.child.id());
        state.deaths += 1;
        state.child.kill().and_then(|()| state.child.wait()).map_err(|error| failed(&error))?;
        let listen = self.address.trim_start_matches("http://").to_owned();
        state.child = begin(&self.program, &self.command, &self.log, &listen)?.0;
        Ok(())
    }

    /// Processor seconds of all its lives.
    pub fn processor_seconds(&self) -> f64 {
        let state = self.state();
        state.spent + processor_seconds(state.child.id())
    }

    /// Looks at its memory, until `rest` says that it is over.
    pub fn watch_memory(&self, rest: impl Fn() -> bool) -> Memory {
        let (mut deaths, mut samples) = (0, Vec::new());
        loop {
            let state = self.state();
            if state.deaths != deaths {
                deaths = state.deaths;
                samples.clear();
            }
            samples.push(own_memory(state.child.id()));
            drop(state);
            if !rest() {
                break;
            }
        }
        let start = samples[samples.len() / 4];
        let most = samples.iter().copied().fold(0.0, f64::max);
        Memory { start, end: samples.last().copied().unwrap_or(0.0), most }
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It may be gone by itself.
        let _ = self.state().child.kill();
        let _ = self.state().child.wait();
    }
}

fn begin(program: &Path, arguments: &[String], log: &Path, listen: &str) -> Result<(Child, String)> {
    let log_file = std::fs::File::options().create(true).append(true).open(log).map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    command.args(arguments).args(["--listen", listen]).stdout(Stdio::piped()).stderr(log_file);
    // Where a drill panics, the names for its backtrace would stay in memory.
    command.env("RUST_BACKTRACE", "0");
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(|error| failed(&error))?;
    }
    match line.trim().strip_prefix("listening on ") {
        Some(address) => Ok((child, address.to_owned())),
        None => {
            let said = std::fs::read_to_string(log).unwrap_or_default();
            Err(AskError::File { path: program.to_owned(), reason: format!("it did not start: {said}") })
        }
    }
}

/// Processor seconds of a process; zero where the system does not say.
fn processor_seconds(process: u32) -> f64 {
    // Fields 14 and 15, in hundredths, after the name in brackets.
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// MiB of anonymous memory of a process; zero where the system does not say.
fn own_memory(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
