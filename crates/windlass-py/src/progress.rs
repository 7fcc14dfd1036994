//! How far long work is, from the threads that do it to the thread that shows it.

use std::ops::ControlFlow;
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
    /// Reports that so many of so many steps are done. Returns whether to continue.
    pub fn tell(&self, done: usize, count: usize) -> ControlFlow<()> {
        self.count.store(count, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
        self.go_on()
    }

    /// Reports that one more of so many steps is done. Returns whether to continue.
    pub fn tick(&self, count: usize) -> ControlFlow<()> {
        self.count.store(count, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
        self.go_on()
    }

    /// Whether to continue.
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

/// A bar on the screen, or what the caller gave instead. A bar is made when there is something to
/// wait for.
pub struct Bar {
    label: String,
    /// Whether there is to be one at all.
    wanted: bool,
    /// Whether the caller gave a function, or asked for a bar.
    asked: bool,
    callback: Option<Py<PyAny>>,
    shown: (usize, usize),
}

impl Bar {
    /// What `progress=` says: `False` means no progress, `None` and `True` a bar of tqdm, anything
    /// else is called with (done, count).
    pub fn new(progress: Option<&Bound<'_, PyAny>>, label: &str) -> PyResult<Self> {
        let flag = progress.and_then(|progress| progress.extract::<bool>().ok());
        let own = progress.filter(|progress| flag.is_none() && !progress.is_none());
        let callback = own.map(|own| make(own.py(), Some(own), label)).transpose()?.flatten();
        let (wanted, asked) = (flag != Some(false), flag == Some(true) || callback.is_some());
        Ok(Self { label: label.to_owned(), wanted, asked, callback, shown: (0, 0) })
    }

    /// Whether the caller gave a function, or asked for a bar.
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// Shows the state if it is new.
    pub fn show(&mut self, py: Python<'_>, ticker: &Ticker) -> PyResult<()> {
        if !self.wanted {
            return Ok(());
        }
        if self.callback.is_none() {
            self.callback = make(py, None, &self.label)?;
        }
        let state = ticker.state();
        if let Some(callback) = self.callback.as_ref().filter(|_| state != self.shown) {
            self.shown = state;
            callback.call1(py, state)?;
        }
        Ok(())
    }

    /// Shows the end of work that went well, and takes the bar away.
    pub fn close(mut self, py: Python<'_>, ticker: &Ticker, well: bool) -> PyResult<()> {
        if self.callback.is_none() {
            return Ok(());
        }
        let shown = if well { self.show(py, ticker) } else { Ok(()) };
        if let Some(close) = self.callback.and_then(|callback| callback.getattr(py, "close").ok()) {
            close.call0(py)?;
        }
        shown
    }
}

fn make(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, label: &str) -> PyResult<Option<Py<PyAny>>> {
    let made = PyModule::import(py, "windlass._progress")?.getattr("callback")?.call1((progress, label))?;
    Ok((!made.is_none()).then(|| made.unbind()))
}
