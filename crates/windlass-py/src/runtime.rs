//! Where work runs: threads, signals, forks, panics.
//!
//! All work runs inside a pool of this module, never in rayon's global one: a forked process has
//! none of its parent's threads, and finds a pool of its own here. With one thread every Python
//! thread computes separately, so that two of them keep two cores busy.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use windlass::{Error, Result};

use crate::error::{plain, raise};
use crate::natural::Natural;
use crate::progress::{Bar, Ticker};

/// How often a waiting thread looks for signals.
const POLL: Duration = Duration::from_millis(20);

/// Threads that were asked for; 0 before the first request.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// A pool, and the process that it belongs to.
struct Owned {
    process: u32,
    threads: usize,
    pool: ThreadPool,
}

static POOL: RwLock<Option<Arc<Owned>>> = RwLock::new(None);

thread_local! {
    /// The pool that consists of this thread.
    static ALONE: RefCell<Option<Arc<ThreadPool>>> = const { RefCell::new(None) };
    /// Whether this is the thread that gets signals, in a process.
    static IS_MAIN: Cell<Option<(u32, bool)>> = const { Cell::new(None) };
}

/// The number of threads that one call computes with.
///
/// Returns
/// -------
/// int
///     The number from :func:`set_threads`; before that ``WINDLASS_THREADS``, ``RAYON_NUM_THREADS``
///     or the number of cores.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> wl.threads() >= 1
/// True
#[pyfunction]
pub fn threads() -> usize {
    let chosen = THREADS.load(Ordering::Relaxed);
    if chosen > 0 {
        return chosen;
    }
    let named = ["WINDLASS_THREADS", "RAYON_NUM_THREADS"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.parse().ok().filter(|&threads| threads > 0));
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = named.unwrap_or_else(cores);
    THREADS.store(threads, Ordering::Relaxed);
    threads
}

/// Sets the number of threads that one call computes with.
///
/// With one thread, every Python thread computes separately, which is best if Python threads or
/// processes share the work. With more, calls share one pool.
///
/// Parameters
/// ----------
/// count : int
///     At least 1.
///
/// Raises
/// ------
/// ParameterError
///     For 0.
/// OutOfMemory
///     If the system does not provide so many threads.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> before = wl.threads()
/// >>> wl.set_threads(1)
/// >>> wl.threads()
/// 1
/// >>> wl.set_threads(before)
#[pyfunction]
pub fn set_threads(py: Python<'_>, count: Natural) -> PyResult<()> {
    let count = count.0 as usize;
    if count == 0 || count > 1 << 12 {
        return Err(plain(
            py,
            "ParameterError",
            format!("the number of threads is {count}, but must be from 1 to 4096"),
        ));
    }
    let before = THREADS.swap(count, Ordering::Relaxed);
    // Now rather than in the middle of something else.
    if count > 1
        && let Err(error) = shared()
    {
        THREADS.store(before, Ordering::Relaxed);
        return Err(raise(py, error));
    }
    Ok(())
}

/// The shared pool; a new one after a fork, or when another number of threads was asked for.
fn shared() -> Result<Arc<Owned>> {
    let (process, threads) = (std::process::id(), threads());
    let fits = |owned: &&Arc<Owned>| owned.process == process && owned.threads == threads;
    if let Some(owned) = POOL.read().unwrap_or_else(PoisonError::into_inner).as_ref().filter(fits) {
        return Ok(Arc::clone(owned));
    }
    let mut place = POOL.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(owned) = place.as_ref().filter(fits) {
        return Ok(Arc::clone(owned));
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|_| no_threads(threads))?;
    let owned = Arc::new(Owned { process, threads, pool });
    let former = place.replace(Arc::clone(&owned));
    // The threads of a pool from before a fork are not there: it could not be dropped.
    if let Some(former) = former.filter(|former| former.process != process) {
        std::mem::forget(former);
    }
    Ok(owned)
}

/// The error where the system gives no more threads. Each takes a stack of 2 MiB.
fn no_threads(threads: usize) -> Error {
    Error::OutOfMemory { what: "the threads that were asked for", bytes: (threads as u64) << 21 }
}

/// Leaves the shared pool to the work that it is at, so that the next call gets another one.
fn abandon() {
    POOL.write().unwrap_or_else(PoisonError::into_inner).take();
}

/// The pool of the calling thread alone.
fn alone() -> Result<Arc<ThreadPool>> {
    ALONE.with_borrow_mut(|place| {
        if let Some(own) = place {
            return Ok(Arc::clone(own));
        }
        let make = || {
            let own = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
            // A thread of somebody else's pool cannot be one of ours as well.
            let pool = own.or_else(|_| ThreadPoolBuilder::new().num_threads(1).build());
            pool.map(Arc::new).map_err(|_| no_threads(1))
        };
        Ok(Arc::clone(place.insert(make()?)))
    })
}

/// Runs work on the threads that were asked for, and waits for it.
fn install<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    if threads() == 1 { alone()?.install(work) } else { shared()?.pool.install(work) }
}

/// What a panic of ours becomes: an exception, and not the end of the process.
fn panicked(py: Python<'_>, panic: Box<dyn std::any::Any + Send>) -> PyErr {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    plain(py, "InternalError", format!("a bug of Windlass, please report it: {said}"))
}

/// Runs work of microseconds to milliseconds without the interpreter's lock.
pub fn quick<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(|| install(work)))) {
        Ok(done) => done.map_err(|error| raise(py, error)),
        Err(panic) => Err(panicked(py, panic)),
    }
}

/// Runs work that may take long: signals are looked for meanwhile, and progress is shown.
///
/// An interrupt asks the work to stop at its next step and does not wait for that.
pub fn long<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    label: &str,
    work: impl FnOnce(&Arc<Ticker>) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let ticker = Arc::new(Ticker::default());
    let mut bar = Bar::new(progress, label)?;
    if !bar.is_asked() && !is_main_thread(py)? {
        return quick(py, || work(&ticker));
    }
    let (sender, mut receiver) = channel();
    let own = Arc::clone(&ticker);
    let job = move || {
        let _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&own))));
    };
    let pool = shared().map_err(|error| raise(py, error))?;
    pool.pool.spawn(job);
    let outcome = loop {
        let waited = py.detach(move || (receiver.recv_timeout(POLL), receiver));
        receiver = waited.1;
        match waited.0 {
            Ok(Ok(done)) => break done.map_err(|error| raise(py, error)),
            Ok(Err(panic)) => break Err(panicked(py, panic)),
            Err(RecvTimeoutError::Disconnected) => {
                break Err(plain(py, "InternalError", "work ended without a result"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(interrupt) = bar.show(py, &ticker).and_then(|()| py.check_signals()) {
            ticker.stop();
            abandon();
            break Err(interrupt);
        }
    };
    let closed = bar.close(py, &ticker, outcome.is_ok());
    outcome.and_then(|done| closed.map(|()| done))
}

/// Runs work on so many ciphertexts, which looks at the ticker before each: where they are many, an
/// interrupt stops it there.
pub fn by_parts<T: Send>(py: Python<'_>, count: usize, work: impl FnOnce(&Ticker) -> Result<T> + Send) -> PyResult<T> {
    let ticker = Ticker::default();
    if count <= FEW || !is_main_thread(py)? {
        return quick(py, || work(&ticker));
    }
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel::<()>();
        let ticker = &ticker;
        let worker = scope.spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| shared()?.pool.install(|| work(ticker))));
            drop(sender);
            done
        });
        let mut interrupt = None;
        loop {
            let waited = py.detach(move || (receiver.recv_timeout(POLL), receiver));
            receiver = waited.1;
            if waited.0 == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            if let Err(error) = py.check_signals() {
                ticker.stop();
                interrupt = Some(error);
            }
        }
        match (interrupt, py.detach(|| worker.join())) {
            (Some(interrupt), _) => Err(interrupt),
            (None, Ok(Ok(done))) => done.map_err(|error| raise(py, error)),
            (None, Ok(Err(panic)) | Err(panic)) => Err(panicked(py, panic)),
        }
    })
}

/// Up to so many ciphertexts the wait is short.
const FEW: usize = 8;

/// The error of work that was asked to stop.
pub fn stopped(operation: &'static str) -> Error {
    Error::Cancelled { operation }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let process = std::process::id();
    if let Some((_, known)) = IS_MAIN.get().filter(|(known, _)| *known == process) {
        return Ok(known);
    }
    let threading = PyModule::import(py, "threading")?;
    let main = threading.call_method0("main_thread")?;
    let is_main = threading.call_method0("current_thread")?.is(&main);
    IS_MAIN.set(Some((process, is_main)));
    Ok(is_main)
}
