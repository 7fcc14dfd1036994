//! Reads a line from the terminal without showing it.

use std::io::Write as _;
use std::path::Path;

use zeroize::Zeroizing;

pub use system::{read_hidden, show_again};

/// A path on one line of a terminal: it may come from a stranger.
pub fn printable(path: &Path) -> String {
    path.display().to_string().chars().flat_map(|c| if c.is_control() { '?'.into() } else { Some(c) }).collect()
}

/// A line on standard error. One that cannot be written is lost.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// What a byte that was typed means.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    /// A part of the line, or a correction.
    More,
    /// The end of the line.
    Done,
    /// Ctrl-C or Ctrl-\.
    Interrupt,
    /// Ctrl-D on an empty line.
    Nothing,
    /// One byte more than there may be.
    TooLong,
}

/// Adds a byte to a line of at most `most`, as terminals do: erase and kill work.
fn take(line: &mut Zeroizing<Vec<u8>>, byte: u8, most: usize) -> Typed {
    const INTERRUPT: u8 = 0x03;
    const END: u8 = 0x04;
    const BACKSPACE: u8 = 0x08;
    const KILL: u8 = 0x15;
    const QUIT: u8 = 0x1c;
    const DELETE: u8 = 0x7f;
    match byte {
        b'\n' | b'\r' => return Typed::Done,
        INTERRUPT | QUIT => return Typed::Interrupt,
        END if line.is_empty() => return Typed::Nothing,
        END => return Typed::Done,
        // A character goes with all of its bytes.
        BACKSPACE | DELETE => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
        KILL => line.clear(),
        0..0x20 => {}
        _ if line.len() == most => return Typed::TooLong,
        _ => line.push(byte),
    }
    Typed::More
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io::{self, IsTerminal as _, Read as _, Write as _};
    use std::os::fd::AsFd;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};
    use rustix::termios::{
        LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
    };
    use zeroize::Zeroizing;

    use super::{Typed, take};

    /// Standard input, where it is a terminal.
    static STANDARD: Screen = Screen::new();

    /// The terminal shows again what is typed, and from now on hides nothing: for programs that end
    /// while a passphrase is asked for, or might be.
    pub fn show_again() {
        STANDARD.show(io::stdin(), State::Ending);
    }

    /// What is done to a terminal, by the thread that asks and by the one that ends the program.
    pub(super) struct Screen(Mutex<State>);

    pub(super) enum State {
        /// It is as it was.
        Shown,
        /// It hides what is typed; these were its settings.
        Hidden(Box<Termios>),
        /// It is as it was and stays so: the program ends.
        Ending,
    }

    impl Screen {
        pub(super) const fn new() -> Self {
            Self(Mutex::new(State::Shown))
        }

        fn lock(&self) -> MutexGuard<'_, State> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Hides what is typed, which is handed over byte by byte.
        ///
        /// # Errors
        /// `Interrupted` in a program that ends; those of the terminal.
        pub(super) fn hide(&self, terminal: impl AsFd) -> io::Result<()> {
            // Until the settings are changed: who ends the program waits, and then puts them back.
            let mut state = self.lock();
            if matches!(*state, State::Ending) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let before = tcgetattr(&terminal)?;
            let mut settings = before.clone();
            settings.local_modes -= LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
            settings.special_codes[SpecialCodeIndex::VMIN] = 1;
            settings.special_codes[SpecialCodeIndex::VTIME] = 0;
            set(&terminal, &settings)?;
            *state = State::Hidden(Box::new(before));
            Ok(())
        }

        /// Puts a terminal back that hides what is typed; then it is as `next` says.
        pub(super) fn show(&self, terminal: impl AsFd, next: State) {
            let mut state = self.lock();
            if let State::Hidden(before) = &*state {
                // Nothing can be done about a terminal that has gone.
                let _ = set(&terminal, before);
            }
            if !matches!(*state, State::Ending) {
                *state = next;
            }
        }
    }

    /// New settings, at once: output that the terminal holds back is not waited for. What was typed
    /// under the old ones is forgotten.
    fn set(terminal: impl AsFd, settings: &Termios) -> io::Result<()> {
        tcsetattr(&terminal, OptionalActions::Now, settings)?;
        Ok(tcflush(&terminal, QueueSelector::IFlush)?)
    }

    /// While it lives standard input hides what is typed.
    struct Hidden;

    impl Hidden {
        fn begin() -> io::Result<Self> {
            STANDARD.hide(io::stdin()).map(|()| Self)
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            STANDARD.show(io::stdin(), State::Shown);
        }
    }

    /// A line of at most `most` bytes that is typed on the terminal, where it does not show.
    ///
    /// # Errors
    /// `Unsupported` when standard input is no terminal; those of the terminal.
    pub fn read_hidden(prompt: &str, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
        if !io::stdin().is_terminal() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Without the buffer of standard input, which would keep a copy.
        let mut terminal = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let hidden = Hidden::begin().inspect_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                wait_for_the_end();
            }
        })?;
        show(&mut terminal, prompt);
        let read = read_line(&mut terminal, most);
        drop(hidden);
        // The line break that was typed did not show either.
        show(&mut terminal, "\n");
        if matches!(&read, Err(error) if error.kind() == io::ErrorKind::Interrupted) {
            interrupt();
        }
        read
    }

    /// On the terminal itself, since standard error may go to a log; terminals are opened for both
    /// ways, except rare ones.
    fn show(terminal: &mut File, text: &str) {
        if terminal.write_all(text.as_bytes()).is_err() {
            let _ = io::stderr().write_all(text.as_bytes());
        }
    }

    fn read_line(input: &mut File, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
        let mut line = Zeroizing::new(Vec::with_capacity(most));
        let mut byte = Zeroizing::new([0]);
        loop {
            match input.read(&mut *byte) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => match take(&mut line, byte[0], most) {
                    Typed::More => {}
                    Typed::Done => return Ok(line),
                    Typed::Interrupt => return Err(io::ErrorKind::Interrupted.into()),
                    Typed::Nothing => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Typed::TooLong => return Err(io::Error::other(format!("more than {most} bytes"))),
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What the terminal would have done with Ctrl-C: the program ends as it does elsewhere.
    fn interrupt() {
        if kill_process(getpid(), Signal::INT).is_ok() {
            // Where the signal is ignored, the read fails.
            wait_for_the_end();
        }
    }

    /// Whoever handles a signal clears up beside this.
    fn wait_for_the_end() {
        std::thread::sleep(Duration::from_secs(2));
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;

    use zeroize::Zeroizing;

    /// Nothing is hidden here.
    pub fn show_again() {}

    /// Passphrases come from files here.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn read_hidden(_: &str, _: usize) -> io::Result<Zeroizing<Vec<u8>>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn typed(bytes: &[u8]) -> (String, Typed) {
        let mut line = Zeroizing::new(Vec::new());
        let end = bytes.iter().map(|&byte| take(&mut line, byte, 8)).find(|end| *end != Typed::More);
        (String::from_utf8(line.to_vec()).unwrap(), end.unwrap_or(Typed::More))
    }

    #[test]
    fn lines_are_corrected_as_they_are_typed() {
        for (bytes, line, end) in [
            (&b"secret\n"[..], "secret", Typed::Done),
            (b"secret\r\n", "secret", Typed::Done),
            (b"secre\x7fet", "secret", Typed::More),
            (b"\x7f\x08a", "a", Typed::More),
            ("aé\u{7f}b€\u{7f}".as_bytes(), "ab", Typed::More),
            (b"wrong\x15right\n", "right", Typed::Done),
            (b"a\tb\x1b\0\n", "ab", Typed::Done),
            (b"half\x03", "half", Typed::Interrupt),
            (b"\x1c", "", Typed::Interrupt),
            (b"\x04", "", Typed::Nothing),
            (b"line\x04", "line", Typed::Done),
            (b"12345678\n", "12345678", Typed::Done),
            (b"123456789", "12345678", Typed::TooLong),
        ] {
            assert_eq!(typed(bytes), (line.to_owned(), end), "{bytes:?}");
        }
    }

    /// The thread that ends the program and the one that asks may come in any order: afterwards the
    /// terminal shows what is typed.
    #[cfg(unix)]
    #[test]
    fn a_program_that_ends_leaves_a_terminal_that_shows_what_is_typed() {
        use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
        use rustix::termios::{LocalModes, tcgetattr};
        use system::{Screen, State};
        // Settings of a terminal's own side are those of the side where somebody types.
        let typing = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&typing).unwrap();
        unlockpt(&typing).unwrap();
        let shows = || tcgetattr(&typing).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON);
        assert!(shows());
        let screen = Screen::new();
        screen.hide(&typing).unwrap();
        assert!(!shows());
        screen.show(&typing, State::Shown);
        assert!(shows());
        screen.hide(&typing).unwrap();
        screen.show(&typing, State::Ending);
        assert_eq!(screen.hide(&typing).unwrap_err().kind(), std::io::ErrorKind::Interrupted);
        assert!(shows());
        // The end comes while the settings are changed, which takes its time.
        let (screen, slow) = (Screen::new(), Slow { terminal: &typing, asked: AtomicBool::new(false) });
        std::thread::scope(|scope| {
            let asks = scope.spawn(|| screen.hide(&slow));
            while !slow.asked.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            screen.show(&typing, State::Ending);
            asks.join().unwrap().unwrap();
        });
        assert!(shows());
    }

    /// A terminal that is slow to be found.
    #[cfg(unix)]
    struct Slow<'a> {
        terminal: &'a std::os::fd::OwnedFd,
        asked: AtomicBool,
    }

    #[cfg(unix)]
    impl std::os::fd::AsFd for Slow<'_> {
        fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
            self.asked.store(true, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(50));
            self.terminal.as_fd()
        }
    }

    #[test]
    fn paths_stay_on_their_line() {
        assert_eq!(printable(Path::new("a\n\u{1b}[2Jb")), "a??[2Jb");
    }
}
