//! Progress on standard error, and the clock of each stage.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a stage may take before it shows a sign of life.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs stages one by one and keeps their times.
#[derive(Debug)]
pub struct Stages {
    quiet: bool,
    seconds: Vec<(&'static str, f64)>,
}

impl Stages {
    /// With `quiet`, nothing is shown; nor when standard error is no terminal.
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

    /// Seconds of each stage, in order.
    pub fn seconds(&self) -> &[(&'static str, f64)] {
        &self.seconds
    }
}

/// A spinner that appears when the work takes longer than [`PATIENCE`].
fn with_spinner<T>(message: &str, work: impl FnOnce() -> T) -> T {
    let (done, watch) = mpsc::channel::<()>();
    let message = message.to_owned();
    let watcher = std::thread::spawn(move || {
        if watch.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message(message);
        bar.enable_steady_tick(Duration::from_millis(120));
        // Ends when the sender is dropped.
        let _ = watch.recv();
        bar.finish_and_clear();
    });
    let result = work();
    drop(done);
    // The watcher only draws; if it failed, the result stands.
    let _ = watcher.join();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_keep_their_order_and_results() {
        let mut stages = Stages::new(false);
        assert_eq!(stages.run("one", "doing one", || 1), 1);
        assert_eq!(stages.run("two", "doing two", || 2), 2);
        let names: Vec<_> = stages.seconds().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(stages.seconds().iter().all(|(_, seconds)| *seconds >= 0.0));
    }
}
