//! Prints a last line before the system ends a program, most often because memory ran out.

#[cfg(unix)]
#[allow(unsafe_code)]
mod system {
    use std::io::{self, Write};

    use signal_hook::consts::SIGABRT;
    use signal_hook::low_level;

    /// From now on a program that is aborted says `line` on the standard error, and then ends as it
    /// would have: memory that runs out where it was not asked for beforehand comes to this, after
    /// the standard library has said how many bytes were wanted.
    ///
    /// # Errors
    /// When the system takes no handler.
    pub fn tell_when_aborted(line: &'static str) -> io::Result<()> {
        report_lost_threads();
        // There is nobody left to tell that it cannot be written.
        let tell = move || {
            let _ = rustix::io::write(io::stderr(), line.as_bytes());
        };
        // SAFETY: a handler may do what is safe while a signal interrupts anything: one system call
        // on bytes that are always there. It neither allocates, locks nor panics.
        unsafe { low_level::register(SIGABRT, tell) }.map(drop)
    }

    /// A thread for which there is no memory panics inside the standard library. The default hook then
    /// holds a lock while it allocates, and the failure of that allocation waits for the same lock: the
    /// program would hang. This hook says where and why without that lock, and the program is aborted.
    /// Other panics are reported as before.
    fn report_lost_threads() {
        let other = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_lost = panic.location().is_some_and(|place| is_at_the_start_of_threads(place.file()));
            match is_lost {
                true => drop(writeln!(io::stderr(), "a thread {panic}")),
                false => other(panic),
            }
        }));
    }

    /// Whether a panic in this file is one of the standard library at the start of a thread, or what it
    /// makes of one that cannot unwind.
    fn is_at_the_start_of_threads(file: &str) -> bool {
        ["library/std/src/sys/", "library/core/src/panicking.rs"].iter().any(|place| file.contains(place))
    }
}

#[cfg(unix)]
pub use system::tell_when_aborted;
