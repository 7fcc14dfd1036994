//! Ctrl-C and termination: what is half made goes, then the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{CliError, Result};

/// What an interrupted command has to remove, each path with a number of its own.
static UNFINISHED: Mutex<Vec<(u64, Unfinished)>> = Mutex::new(Vec::new());

/// The last line of a command that the system ends, below what the standard library says of it.
const ABORTED: &str = "windlass: ended for the reason above; where that is memory, give it more, or ask for smaller \
    parameters, fewer rows or fewer threads (files that were not finished go with the next command)\n";

/// A path that an interrupted command removes.
#[derive(Debug)]
pub enum Unfinished {
    /// A file or a directory under a name for work in progress: it goes with what is in it.
    Staging(PathBuf),
    /// A directory that was made to hold the output: it goes when nothing is in it.
    Parent(PathBuf),
}

/// From now on SIGINT, SIGTERM and SIGHUP remove what [`remove_if_interrupted`] names and end the
/// process, but for those that the caller has set to be ignored.
///
/// # Errors
/// When the system takes no handler, or starts no thread.
pub fn install(json: bool) -> Result<()> {
    let watched = windlass_secrets::watch_for_end(move |signal| end(signal, json));
    watched.map_err(|error| CliError::Usage(format!(
        "cannot start the thread that watches for Ctrl-C ({error}); raise the limits of processes (ulimit -u) and memory (ulimit -v), or end other programs"
    )))
}

/// From now on a process that is aborted says what to do.
///
/// # Errors
/// When the system takes no handler.
pub fn tell_when_aborted() -> Result<()> {
    let told = windlass_secrets::tell_when_aborted(ABORTED);
    told.map_err(|error| CliError::Usage(format!("cannot watch for the end of memory: {error}")))
}

/// Clears up and ends the process with the code that shells give: 128 and the number of the signal.
fn end(signal: i32, json: bool) {
    // Never let go of: nothing gets its place any more.
    let unfinished = lock();
    unfinished.iter().rev().for_each(|(_, path)| path.remove());
    windlass_secrets::show_again();
    let code = 128 + signal;
    if json {
        crate::report::print_error("interrupted", code);
    }
    crate::report::print_message("interrupted; files that were not finished are removed");
    std::process::exit(code);
}

/// A path that is removed when the command is interrupted while this lives, if it is there. It may
/// be gone or renamed by then.
#[derive(Debug)]
#[must_use = "a path is removed on interruption for as long as this lives"]
pub struct Watched(u64);

/// Has a path removed when the command is interrupted.
pub fn remove_if_interrupted(unfinished: Unfinished) -> Watched {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    lock().push((number, unfinished));
    Watched(number)
}

impl Drop for Watched {
    fn drop(&mut self) {
        lock().retain(|(number, _)| *number != self.0);
    }
}

/// Nothing is interrupted while the guard lives: for files that get their places one after another,
/// and for errors, which the clearing up of an interruption may have caused. Where one is under way
/// this waits for its end, which is that of the process.
pub fn hold_off() -> impl Drop {
    lock()
}

fn lock() -> MutexGuard<'static, Vec<(u64, Unfinished)>> {
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

/// Removes what an interrupted command would, below one directory, and counts the paths.
#[cfg(test)]
pub fn remove_below(directory: &Path) -> usize {
    let below = |(_, unfinished): &&(u64, Unfinished)| match unfinished {
        Unfinished::Staging(path) | Unfinished::Parent(path) => path.starts_with(directory),
    };
    lock().iter().rev().filter(below).map(|(_, path)| path.remove()).count()
}
