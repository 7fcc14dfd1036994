//! Signals that end a program, also while it asks for a passphrase.

#[cfg(unix)]
pub use system::{show_again_at_end, watch_for_end};

#[cfg(unix)]
mod system {
    use std::io;
    use std::sync::Arc;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::terminal::show_again;

    /// From now on the first SIGINT, SIGTERM or SIGHUP calls `end` with its number, in a thread of
    /// its own; but one that the caller has set to be ignored (`nohup`, a job in the background of
    /// a script) stays so. A file beyond a limit on their length is an error of its write, where
    /// SIGXFSZ would end the program.
    ///
    /// # Errors
    /// When the system takes no handler, or starts no thread.
    pub fn watch_for_end(end: impl FnOnce(i32) + Send + 'static) -> io::Result<()> {
        flag::register(SIGXFSZ, Arc::default())?;
        let ignored = ignored_signals();
        let watched = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let mut signals = Signals::new(watched.collect::<Vec<_>>())?;
        let watch = move || {
            if let Some(signal) = signals.forever().next() {
                end(signal);
            }
        };
        std::thread::Builder::new().spawn(watch).map(drop)
    }

    /// From now on a signal that ends the program has the terminal shown again first, and then ends
    /// it as it would have.
    ///
    /// # Errors
    /// As [`watch_for_end`].
    pub fn show_again_at_end() -> io::Result<()> {
        watch_for_end(|signal| {
            show_again();
            // It refuses those alone that no program can do without.
            let _ = emulate_default_handler(signal);
        })
    }

    /// Bit s − 1 for an ignored signal s, where the system says so.
    fn ignored_signals() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
