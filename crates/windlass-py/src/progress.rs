//! How far long work is, from the threads that do it to the thread that shows it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pyo3::prelude::*;

/// Counters that working threads set and the waiting thread reads.
#[derive(Debug, Default)]
pub struct Ticker {
    done: AtomicUsize,
    count: AtomicUsize,
    stopped: AtomicBool,
}

impl Ticker {
    /// So many of so many steps are done; whether to go on.
    pub fn tell(&self, done: usize, count: usize) -> ControlFlow<()> {
        self.count.store(count, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
        self.go_on()
    }

    /// One more of so many steps is done; whether to go on.
    pub fn tick(&self, count: usize) -> ControlFlow<()> {
        self.count.store(count, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
        self.go_on()
    }

    /// Whether to go on.
    pub fn go_on(&self) -> ControlFlow<()> {
        if self.stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// An error where it was asked to stop: before each of many parts.
    pub fn check(&self, operation: &'static str) -> windlass::Result<()> {
        match self.go_on() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(windlass::Error::Cancelled { operation }),
        }
    }

    /// Asks the work to stop at its next step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Steps done, and how many there are.
    pub fn state(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.count.load(Ordering::Relaxed))
    }
}

/// A bar on the screen, or whatever the caller gave instead.
pub struct Bar {
    callback: Py<PyAny>,
    shown: (usize, usize),
}

impl Bar {
    /// What `progress=` says: `False` is none, `None` and `True` a bar of tqdm, anything else is
    /// called with (done, count).
    pub fn new(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, label: &str) -> PyResult<Option<Self>> {
        let made = PyModule::import(py, "windlass._progress")?.getattr("callback")?.call1((progress, label))?;
        Ok((!made.is_none()).then(|| Self { callback: made.unbind(), shown: (0, 0) }))
    }

    /// Shows the state if it is new.
    pub fn show(&mut self, py: Python<'_>, ticker: &Arc<Ticker>) -> PyResult<()> {
        let state = ticker.state();
        if state != self.shown {
            self.shown = state;
            self.callback.call1(py, state)?;
        }
        Ok(())
    }

    /// Takes the bar away.
    pub fn close(&self, py: Python<'_>) {
        if let Ok(close) = self.callback.getattr(py, "close") {
            let _ = close.call0(py);
        }
    }
}
