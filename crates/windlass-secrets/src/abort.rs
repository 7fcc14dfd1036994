//! The end of a program by the system, most often since memory ran out.

#[cfg(unix)]
#[allow(unsafe_code)]
mod system {
    use std::io;

    use signal_hook::consts::SIGABRT;
    use signal_hook::low_level;

    /// From now on a program that is aborted says `line` on the standard error, and then ends as it
    /// would have: memory that runs out where it was not asked for beforehand comes to this, after
    /// the standard library has said how many bytes were wanted.
    ///
    /// # Errors
    /// When the system takes no handler.
    pub fn tell_when_aborted(line: &'static str) -> io::Result<()> {
        // There is nobody left to tell that it cannot be written.
        let tell = move || {
            let _ = rustix::io::write(io::stderr(), line.as_bytes());
        };
        // SAFETY: a handler may do what is safe while a signal interrupts anything: one system call
        // on bytes that are always there. It neither allocates, locks nor panics.
        unsafe { low_level::register(SIGABRT, tell) }.map(drop)
    }
}

#[cfg(unix)]
pub use system::tell_when_aborted;
