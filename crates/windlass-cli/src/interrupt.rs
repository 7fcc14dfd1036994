//! Removes unfinished files on Ctrl-C and on termination, then ends the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{CliError, Result};

/// What an interrupted command has to remove, each path with a number of its own.
static UNFINISHED: Mutex<Vec<(u64, Unfinished)>> = Mutex::new(Vec::new());

/// An existing file or directory that a command changes.
static CHANGE: Mutex<Option<(PathBuf, ChangeStage)>> = Mutex::new(None);

/// How far a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeStage {
    /// It is made piece by piece, and the same command continues it.
    Resumable,
    /// Nothing of it is seen.
    Prepared,
    /// It is being made, in one step, which takes a moment.
    Made,
    /// It is made.
    Done,
}

/// The last line of a command that the system ends, below what the standard library says about it.
const ABORTED: &str = "windlass: ended for the reason above; if that is memory, provide more, or ask for smaller parameters, fewer rows or fewer threads (the next command removes unfinished files)\n";

/// A path that an interrupted command removes.
#[derive(Debug)]
pub enum Unfinished {
    /// A file or a directory under a name for work in progress: it goes with what is in it.
    Staging(PathBuf),
    /// A directory that was made to hold the output: it goes when nothing is in it.
    Parent(PathBuf),
}

/// From now on SIGINT, SIGTERM and SIGHUP remove what [`remove_if_interrupted`] names and end the
/// process, except signals that the caller ignores.
///
/// # Errors
/// When the system takes no handler, or starts no thread.
pub fn install(json: bool) -> Result<()> {
    let watched = windlass_secrets::watch_for_end(move |signal| end(signal, json));
    watched.map_err(|error| CliError::Usage(format!(
        "cannot start the thread that watches for Ctrl-C ({error}); raise the limits of processes (ulimit -u) and memory (ulimit -v), or stop other programs"
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
    // Never let go of: nothing is changed and nothing gets its place any more.
    let change = change_that_rests();
    let unfinished = lock();
    unfinished.iter().rev().for_each(|(_, path)| path.remove());
    windlass_secrets::show_again();
    let code = 128 + signal;
    if json {
        crate::report::print_error("interrupted", code);
    }
    crate::report::print_message(message(change.as_ref()));
    std::process::exit(code);
}

/// What an interrupted command says about what it has done.
fn message(change: Option<&(PathBuf, ChangeStage)>) -> String {
    match change {
        None => "interrupted; unfinished files were removed".to_owned(),
        Some((path, ChangeStage::Done)) => {
            format!("interrupted after the command had changed {}", path.display())
        }
        Some((path, ChangeStage::Resumable)) => {
            format!(
                "interrupted; the finished part stays in {}, and the same command continues from there",
                path.display()
            )
        }
        Some((path, _)) => {
            format!("interrupted; {} is unchanged (the next change removes unfinished files)", path.display())
        }
    }
}

/// Waits for the end of a change that is being made. It takes a moment, during which the state is
/// not known. None begins while the guard lives.
fn change_that_rests() -> MutexGuard<'static, Option<(PathBuf, ChangeStage)>> {
    loop {
        let change = changing();
        if !matches!(*change, Some((_, ChangeStage::Made))) {
            return change;
        }
        drop(change);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A change of something that exists, while this value lives. An interrupted command says whether
/// it was made.
#[derive(Debug)]
#[must_use = "what became of a change is told for as long as this lives"]
pub struct Change;

impl Change {
    /// A change that makes the path piece by piece. An interrupted command can continue it.
    pub fn resumable(path: &Path) -> Self {
        *changing() = Some((path.to_owned(), ChangeStage::Resumable));
        Self
    }

    /// Of what is at this path.
    pub fn of(path: &Path) -> Self {
        *changing() = Some((path.to_owned(), ChangeStage::Prepared));
        Self
    }

    /// From now on the change may be seen. Where an interruption is under way this waits for its
    /// end, which is that of the process.
    pub fn begins(&self) {
        Self::reach(ChangeStage::Made);
    }

    /// The change was made.
    pub fn is_made(&self) {
        Self::reach(ChangeStage::Done);
    }

    fn reach(stage: ChangeStage) {
        if let Some((_, now)) = &mut *changing() {
            *now = stage;
        }
    }
}

impl Drop for Change {
    /// What is made stays so until the end of the process, which may be interrupted still; a change
    /// that failed does not count.
    fn drop(&mut self) {
        let mut change = changing();
        if !matches!(*change, Some((_, ChangeStage::Done))) {
            *change = None;
        }
    }
}

fn changing() -> MutexGuard<'static, Option<(PathBuf, ChangeStage)>> {
    CHANGE.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The message states the true state, at every point of the change.
    #[test]
    fn an_interrupted_change_says_whether_it_was_made() {
        let told = || message(change_that_rests().as_ref());
        assert!(told().contains("unfinished files were removed"));
        let change = Change::resumable(Path::new("served"));
        assert!(told().contains("stays in served, and the same command continues"));
        drop(change);
        let change = Change::of(Path::new("served"));
        assert!(told().contains("served is unchanged"));
        change.begins();
        // In this moment nobody can say: who asks waits.
        let waits = std::thread::spawn(move || message(change_that_rests().as_ref()));
        std::thread::sleep(Duration::from_millis(30));
        assert!(!waits.is_finished());
        change.is_made();
        assert!(waits.join().unwrap().contains("had changed served"));
        drop(change);
        assert!(told().contains("had changed served"));
        // One that fails while it is made is none.
        let change = Change::of(Path::new("served"));
        change.begins();
        drop(change);
        assert!(told().contains("unfinished files were removed"));
    }
}
