//! Whether standard output was closed when the program started.
//!
//! A command whose output would be lost, such as a decrypted row, must refuse to work. The standard
//! library hides a closed stream by opening `/dev/null` instead, so this module looks before
//! `main`.

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod system {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::stdout;

    static CLOSED: AtomicBool = AtomicBool::new(false);

    /// Looks at standard output while it is as the caller left it: before `main` the standard
    /// library opens `/dev/null` instead of a closed stream, and so do callers that want no output.
    /// The two can then not be distinguished.
    extern "C" fn look() {
        CLOSED.store(fcntl_getfd(stdout()) == Err(Errno::BADF), Ordering::Relaxed);
    }

    // SAFETY: the loader calls what stands in this section once, before `main`, with arguments that
    // a function of the C convention need not take. `look` makes one system call and stores one
    // byte; it needs nothing that the standard library sets up. `stdout()` lends descriptor 1 as one
    // that is open, on which nobody can rely before `main`: whether it is, is the question. What it
    // gives is a valid value all the same (any number but −1 is), lives within this call, and only
    // has its flags read: of a number that is closed the system says EBADF and touches nothing, and
    // of one that another constructor has opened meanwhile it tells what is there now.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    /// Whether standard output was closed when the program was started: what is printed is lost.
    pub fn stdout_is_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }
}

#[cfg(target_os = "linux")]
pub use system::stdout_is_closed;

/// Not known on other systems.
#[cfg(not(target_os = "linux"))]
pub fn stdout_is_closed() -> bool {
    false
}
