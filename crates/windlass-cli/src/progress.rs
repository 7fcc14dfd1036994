//! Progress on standard error, and the clock of each stage.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a stage may take before it shows a sign of life.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a log hears of a stage whose steps come by the thousand.
const INTERVAL: Duration = Duration::from_secs(10);

/// Runs stages one by one and keeps their times.
#[derive(Debug)]
pub struct Stages {
    quiet: bool,
    seconds: Vec<(&'static str, f64)>,
}

impl Stages {
    /// With `quiet`, nothing is shown.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, seconds: Vec::new() }
    }

    /// Runs one stage: `name` is its key in reports, `message` says what it does.
    pub fn run<T>(&mut self, name: &'static str, message: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = if self.quiet { work() } else { with_spinner(message, work) };
        self.seconds.push((name, start.elapsed().as_secs_f64()));
        result
    }

    /// Runs a stage of `steps` equal steps, which calls what it is given after each: on a terminal
    /// a bar shows how far it is.
    pub fn count<T>(
        &mut self,
        name: &'static str,
        message: &str,
        steps: usize,
        work: impl FnOnce(&(dyn Fn() + Sync)) -> T,
    ) -> T {
        let start = Instant::now();
        let result = match std::io::stderr().is_terminal() {
            _ if self.quiet => work(&|| ()),
            true => with_bar(message, steps, work),
            false => with_spinner(message, || work(&|| ())),
        };
        self.seconds.push((name, start.elapsed().as_secs_f64()));
        result
    }

    /// Runs a stage of named steps, which tells what it is given before each: its name, its number
    /// from 0, how many there are. A terminal shows a bar, a log one line for each step that begins
    /// after [`PATIENCE`].
    pub fn follow<T>(
        &mut self,
        name: &'static str,
        message: &str,
        work: impl FnOnce(&mut (dyn FnMut(&str, usize, usize) + Send)) -> T,
    ) -> T {
        let start = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        let bar = self.bar(message, terminal);
        let result = work(&mut |step, number, count| {
            bar.set_length(count as u64);
            bar.set_position(number as u64);
            bar.set_message(step.to_owned());
            if !self.quiet && !terminal && start.elapsed() > PATIENCE {
                // A log that cannot be written to is no reason to stop.
                let _ = writeln!(std::io::stderr(), "windlass: {message}, {step} ({} of {count}) ...", number + 1);
            }
        });
        bar.finish_and_clear();
        self.seconds.push((name, start.elapsed().as_secs_f64()));
        result
    }

    /// Runs a stage that tells what it is given, from any thread, what it is at, how many steps are
    /// behind it and how many there are at the most. A terminal shows a bar, a log one line after
    /// [`PATIENCE`] and at most one in each [`INTERVAL`] from then on.
    pub fn watch<T>(
        &mut self,
        name: &'static str,
        message: &str,
        work: impl FnOnce(&(dyn Fn(&str, usize, usize) + Sync)) -> T,
    ) -> T {
        let start = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        let bar = self.bar(message, terminal);
        let next = Mutex::new(PATIENCE);
        let result = work(&|step, done, count| {
            bar.set_length(count as u64);
            bar.set_position(done as u64);
            bar.set_message(step.to_owned());
            if self.quiet || terminal {
                return;
            }
            // A thread that panicked while it wrote a line leaves nothing wrong behind.
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            if start.elapsed() >= *next {
                *next = start.elapsed() + INTERVAL;
                // A log that cannot be written to is no reason to stop.
                let _ = writeln!(std::io::stderr(), "windlass: {message}, {step} ({done} of {count} done) ...");
            }
        });
        bar.finish_and_clear();
        self.seconds.push((name, start.elapsed().as_secs_f64()));
        result
    }

    /// A bar with steps, hidden where nothing is to be shown.
    fn bar(&self, message: &str, terminal: bool) -> ProgressBar {
        let shown = !self.quiet && terminal;
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:20} {pos}/{len} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_prefix(message.to_owned());
        if shown {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        bar
    }

    /// Seconds of each stage, in order.
    pub fn seconds(&self) -> &[(&'static str, f64)] {
        &self.seconds
    }
}

/// A sign of life for work that takes longer than [`PATIENCE`]: a spinner on a terminal, one line
/// in a log.
fn with_spinner<T>(message: &str, work: impl FnOnce() -> T) -> T {
    let message = message.to_owned();
    watched(PATIENCE, work, move |finished| match std::io::stderr().is_terminal() {
        true => spin(message, finished),
        // A log that cannot be written to is no reason to stop.
        false => drop(writeln!(std::io::stderr(), "windlass: {message} ...")),
    })
}

/// A bar of `steps` equal steps.
fn with_bar<T>(message: &str, steps: usize, work: impl FnOnce(&(dyn Fn() + Sync)) -> T) -> T {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(message.to_owned());
    let result = work(&|| bar.inc(1));
    bar.finish_and_clear();
    result
}

/// Draws until the work has finished.
fn spin(message: String, finished: &Receiver<()>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.set_message(message);
    bar.enable_steady_tick(Duration::from_millis(120));
    // Ends when the sender is dropped.
    let _ = finished.recv();
    bar.finish_and_clear();
}

/// Runs work. If it takes longer than `patience`, `show` runs at the same time and ends when the
/// channel closes.
fn watched<T>(patience: Duration, work: impl FnOnce() -> T, show: impl FnOnce(&Receiver<()>) + Send + 'static) -> T {
    let (done, finished) = mpsc::channel::<()>();
    let watcher = std::thread::Builder::new().spawn(move || {
        if finished.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            show(&finished);
        }
    });
    let result = work();
    drop(done);
    // The watcher only shows; if it failed, or was not started, the result stands.
    let _ = watcher.map(std::thread::JoinHandle::join);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_keep_their_order_and_results() {
        for quiet in [false, true] {
            let mut stages = Stages::new(quiet);
            assert_eq!(stages.run("one", "doing one", || 1), 1);
            assert_eq!(stages.run("two", "doing two", || 2), 2);
            let three = stages.count("three", "doing three", 3, |tick| {
                (0..3).for_each(|_| tick());
                3
            });
            let four = stages.follow("four", "doing four", |show| {
                (0..4).for_each(|step| show("a step", step, 4));
                4
            });
            let five = stages.watch("five", "doing five", |tell| {
                std::thread::scope(|scope| (0..5).for_each(|done| drop(scope.spawn(move || tell("a step", done, 5)))));
                5
            });
            assert_eq!((three, four, five), (3, 4, 5));
            let names: Vec<_> = stages.seconds().iter().map(|(name, _)| *name).collect();
            assert_eq!(names, ["one", "two", "three", "four", "five"]);
            assert!(stages.seconds().iter().all(|(_, seconds)| *seconds >= 0.0));
        }
    }

    #[test]
    fn only_long_work_shows_a_sign_of_life() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU32, Ordering};
        let shown = Arc::new(AtomicU32::new(0));
        let show = || {
            let shown = Arc::clone(&shown);
            move |_: &Receiver<()>| shown.store(1, Ordering::SeqCst)
        };
        assert_eq!(watched(Duration::from_secs(600), || 5, show()), 5);
        assert_eq!(shown.load(Ordering::SeqCst), 0);
        let until_shown = || {
            while shown.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
        };
        watched(Duration::from_millis(1), until_shown, show());
        assert_eq!(shown.load(Ordering::SeqCst), 1);
    }
}
