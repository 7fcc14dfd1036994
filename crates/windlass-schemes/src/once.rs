//! Values that are computed by parallel work when they are first needed.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::Builder;

use crate::error::{Error, Result};

/// A value that is computed once, by parallel work, for all callers that need it at the same time.
///
/// The work runs on separate threads. A caller may be a task of a thread pool. If the work ran in
/// that pool, the caller would execute other tasks while it waits, and one of them might need this
/// same value and wait forever. Separate threads have no other tasks.
pub struct Once<T>(OnceLock<Result<T>>);

impl<T> Once<T> {
    /// A value that is not computed yet.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + Sync> Once<T> {
    /// The value. `make` computes it on the first call.
    ///
    /// **Warning.** An error is kept too: every later call returns it, and `make` is not called again.
    pub fn get_or_make(&self, make: impl FnOnce() -> Result<T> + Send) -> Result<&T> {
        self.0.get_or_init(|| by_threads_of_its_own(make)).as_ref().map_err(Error::clone)
    }
}

/// Runs the work on as many threads as the caller's pool has. If no thread can be started, it runs
/// on the caller's threads; then there are few that could wait for each other.
fn by_threads_of_its_own<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    by_threads_of(Builder::new(), work)
}

/// The same, the first of the threads made by `builder`.
fn by_threads_of<T: Send>(builder: Builder, work: impl FnOnce() -> T + Send) -> T {
    let threads = rayon::current_num_threads();
    // A thread that is refused drops what it was to do, so the work lies outside of it.
    let waiting = Mutex::new(Some(work));
    let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    let install = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
        Some(pool.install(take()?))
    };
    let done = std::thread::scope(|scope| Some(builder.spawn_scoped(scope, install).ok()?.join()));
    match done {
        Some(Ok(Some(made))) => made,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None | Some(Ok(None)) => take().expect("nobody has taken the work")(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// A pool of one thread has two tasks that ask. The work of the first yields, as work does that
    /// waits for a part of its own: on the thread of the pool it would come upon the second task,
    /// which waits for the first.
    #[test]
    fn tasks_that_ask_do_not_come_upon_each_other() {
        let (once, made) = (Arc::new(Once::new()), Arc::new(AtomicUsize::new(0)));
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let make = || {
                rayon::yield_now();
                Ok(made.fetch_add(1, Ordering::SeqCst) + 7)
            };
            let ask = || once.get_or_make(make).copied();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            send.send(pool.install(|| rayon::join(ask, ask))).unwrap();
        });
        let got = receive.recv_timeout(Duration::from_secs(60)).expect("neither task waits for ever");
        assert_eq!(got, (Ok(7), Ok(7)));
    }

    /// A thread with more stack than there are addresses is refused as one too many is.
    #[test]
    fn without_threads_the_work_is_done_here() {
        let here = || std::thread::current().id();
        let refused = Builder::new().stack_size(usize::MAX / 2);
        assert_eq!(by_threads_of(refused, here), here());
        assert_ne!(by_threads_of(Builder::new(), here), here());
    }

    #[test]
    fn errors_stay() {
        let once: Once<u32> = Once::new();
        let refused = || Err(Error::MissingBootstrappingKeys);
        assert_eq!(once.get_or_make(refused).err(), Some(Error::MissingBootstrappingKeys));
        assert_eq!(once.get_or_make(|| Ok(1)).err(), Some(Error::MissingBootstrappingKeys));
    }
}
