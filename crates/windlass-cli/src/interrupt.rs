//! Ctrl-C and termination: what is half made goes, then the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::error::{CliError, Result};

/// What an interrupted command has to remove.
static UNFINISHED: Mutex<Vec<Unfinished>> = Mutex::new(Vec::new());

/// A path that an interrupted command removes.
#[derive(Debug)]
pub enum Unfinished {
    /// A file or a directory under a name for work in progress: it goes with what is in it.
    Staging(PathBuf),
    /// A directory that was made to hold the output: it goes when nothing is in it.
    Parent(PathBuf),
}

/// From now on SIGINT, SIGTERM and SIGHUP remove what [`remove_if_interrupted`] names and end the
/// process; but one that the caller has set to be ignored (`nohup`, a job in the background of a
/// script) stays so.
///
/// # Errors
/// When the system takes no handler, or starts no thread.
pub fn install(json: bool) -> Result<()> {
    let ignored = ignored_signals();
    let watched = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let signals = Signals::new(watched.collect::<Vec<_>>());
    let mut signals = signals.map_err(|error| CliError::Usage(format!("cannot watch for Ctrl-C: {error}")))?;
    let watch = move || {
        if let Some(signal) = signals.forever().next() {
            end(signal, json);
        }
    };
    // Under a limit on the length of files: what is too long is then an error of the write, where
    // the signal would end the process.
    let handled = signal_hook::flag::register(SIGXFSZ, Arc::default());
    handled.map_err(|error| CliError::Usage(format!("cannot watch for a limit on files: {error}")))?;
    let watcher = std::thread::Builder::new().spawn(watch);
    watcher.map_err(|error| CliError::Usage(format!("cannot start a thread that watches for Ctrl-C: {error}")))?;
    Ok(())
}

/// Bit s − 1 for an ignored signal s, where the system says so.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Clears up and ends the process with the code that shells give: 128 and the number of the signal.
fn end(signal: i32, json: bool) {
    // Never let go of: nothing gets its place any more.
    let unfinished = lock();
    unfinished.iter().rev().for_each(Unfinished::remove);
    windlass_secrets::show_again();
    let code = 128 + signal;
    if json {
        crate::report::print_error("interrupted", code);
    }
    crate::report::print_message("interrupted; files that were not finished are removed");
    std::process::exit(code);
}

/// A path that is removed when the command is interrupted, if it is there. It may be gone or
/// renamed by then.
pub fn remove_if_interrupted(unfinished: Unfinished) {
    lock().push(unfinished);
}

/// Nothing is interrupted while the guard lives: for files that get their places one after another,
/// and for errors, which the clearing up of an interruption may have caused. Where one is under way
/// this waits for its end, which is that of the process.
pub fn hold_off() -> impl Drop {
    lock()
}

fn lock() -> MutexGuard<'static, Vec<Unfinished>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Unfinished {
    fn remove(&self) {
        match self {
            // What is left is not this command's any more.
            Self::Parent(path) => drop(fs::remove_dir(path)),
            Self::Staging(path) => remove_whole(path),
        }
    }
}

/// Removes a file, or a directory with the files in it.
fn remove_whole(path: &Path) {
    // The command goes on writing: a file that appears while the directory is emptied takes another
    // turn.
    for _ in 0..100 {
        if fs::remove_dir_all(path).is_ok() || fs::remove_file(path).is_ok() || path.symlink_metadata().is_err() {
            return;
        }
    }
}

/// Removes what an interrupted command would, below one directory.
#[cfg(test)]
pub fn remove_below(directory: &Path) {
    let below = |unfinished: &&Unfinished| match unfinished {
        Unfinished::Staging(path) | Unfinished::Parent(path) => path.starts_with(directory),
    };
    lock().iter().rev().filter(below).for_each(Unfinished::remove);
}
