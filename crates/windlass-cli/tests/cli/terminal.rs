//! Passphrases that are typed on a terminal.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::common::succeed;

/// A command at a terminal, and what the terminal shows.
struct Session {
    child: Child,
    /// The side of a terminal where a user types.
    keyboard: File,
    /// The command's side: its settings can be looked at also when the command has ended.
    line: File,
    shown: Vec<u8>,
    /// Bytes of it that were waited for.
    seen: usize,
    pieces: Receiver<Vec<u8>>,
}

/// How long anything may take that a command does between two questions.
const PATIENCE: Duration = Duration::from_secs(60);

impl Session {
    fn start(at: &Path, line: &str) -> Self {
        Self::with_output(at, line, false)
    }

    /// The terminal shows standard output, too, where it is `shown`.
    fn with_output(at: &Path, line: &str, shown: bool) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
        let open = || {
            use std::os::unix::fs::OpenOptionsExt;
            let flags = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap();
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(&name).unwrap()
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.current_dir(at).args(line.split_whitespace()).stdin(open()).stderr(open());
        command.stdout(if shown { open().into() } else { Stdio::null() });
        let (line, child, keyboard) = (open(), command.spawn().unwrap(), File::from(keyboard));
        let (send, pieces) = channel();
        let mut screen = keyboard.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut piece = [0; 1024];
            while let Ok(count @ 1..) = screen.read(&mut piece) {
                if send.send(piece[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, line, shown: Vec::new(), seen: 0, pieces }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown).into_owned()
    }

    /// Waits until the terminal shows a question after what was waited for before, and types what
    /// does not show.
    fn answer(&mut self, question: &str, typed: &[u8]) {
        self.wait_for(question);
        // Before anything is typed, which would show at once.
        assert!(!self.has(LocalModes::ECHO), "the terminal shows what is typed after {question}");
        self.keyboard.write_all(typed).unwrap();
    }

    fn wait_for(&mut self, question: &str) {
        let end = Instant::now() + PATIENCE;
        let wanted = question.as_bytes();
        loop {
            if let Some(place) = self.shown[self.seen..].windows(wanted.len()).position(|bytes| bytes == wanted) {
                self.seen += place + wanted.len();
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            let piece = self.pieces.recv_timeout(left);
            let piece = piece.unwrap_or_else(|_| panic!("no '{question}' after\n{}", self.text()));
            self.shown.extend_from_slice(&piece);
        }
    }

    /// Whether the terminal has each of these modes.
    fn has(&self, modes: LocalModes) -> bool {
        tcgetattr(&self.line).unwrap().local_modes.contains(modes)
    }

    /// Waits for the end of the command; the terminal is as it was before.
    fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            while let Ok(piece) = self.pieces.try_recv() {
                self.shown.extend_from_slice(&piece);
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                let before = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
                assert!(self.has(before), "the terminal is not as it was");
                return status;
            }
            assert!(Instant::now() < end, "no end after\n{}", self.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It has ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory with a prepared table.
fn workshop() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("table.csv"), "code,name\n1,one\n2,two\n").unwrap();
    succeed(dir.path(), "table build --table table.csv --key code --out served");
    dir
}

const KEYGEN: &str = "table keygen --schema served/schema.json --passphrase --out keys";
const QUERY: &str =
    "table query --schema served/schema.json --secret-key keys/secret.key --query 2 --out query.bin --threads 1";

#[test]
fn passphrases_are_typed_and_do_not_show() {
    let dir = workshop();
    let mut session = Session::start(dir.path(), KEYGEN);
    session.answer("New passphrase for keys/secret.key: ", b"two wordz\x7fs\n");
    session.answer("The same again: ", b"two words\n");
    assert_eq!(session.end().code(), Some(0), "{}", session.text());
    assert!(!session.text().contains("two"), "{}", session.text());

    // Two mistakes are forgiven.
    let mut session = Session::start(dir.path(), QUERY);
    for wrong in [&b"two word\n"[..], b"Two words\n"] {
        session.answer("Passphrase for keys/secret.key: ", wrong);
        session.wait_for("try again");
    }
    session.answer("Passphrase for keys/secret.key: ", b"two words\n");
    assert_eq!(session.end().code(), Some(0), "{}", session.text());
    assert!(dir.path().join("query.bin").exists() && !session.text().contains("wo words"));
}

#[test]
fn three_wrong_passphrases_are_enough() {
    let dir = workshop();
    fs::write(dir.path().join("words"), "two words").unwrap();
    succeed(dir.path(), &KEYGEN.replace("--passphrase", "--passphrase-file words"));
    let mut session = Session::start(dir.path(), QUERY);
    for wrong in [b"one\n", b"two\n", b"six\n"] {
        session.answer("Passphrase for keys/secret.key: ", wrong);
    }
    session.wait_for("the passphrase is wrong, or someone changed the file");
    assert_eq!(session.end().code(), Some(2), "{}", session.text());
    assert!(!dir.path().join("query.bin").exists());
}

#[test]
fn new_passphrases_are_typed_twice_alike() {
    for (first, second, wanted) in [
        (&b"one\n"[..], Some(&b"two\n"[..]), "the two passphrases differ, so nothing was written"),
        (b"\n", None, "the passphrase is empty"),
        (b"\x04", None, "the passphrase could not be read from the terminal"),
    ] {
        let dir = workshop();
        let mut session = Session::start(dir.path(), KEYGEN);
        session.answer("New passphrase for keys/secret.key: ", first);
        if let Some(second) = second {
            session.answer("The same again: ", second);
        }
        session.wait_for(wanted);
        assert_eq!(session.end().code(), Some(2), "{}", session.text());
        let left = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left, 2, "the table and what was prepared of it");
    }
}

/// The plan of a search stands before the work, and once.
#[test]
fn a_terminal_shows_the_plan_of_a_search_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "id,x,y\na,1,0\nb,0,1\n").unwrap();
    fs::write(dir.path().join("q.csv"), "x,y\n0.1,0.9\n").unwrap();
    for shown in [true, false] {
        let mut session = Session::with_output(dir.path(), "search --table t.csv --query q.csv --k 1", shown);
        session.wait_for("prepared table");
        assert_eq!(session.end().code(), Some(0), "{}", session.text());
        std::thread::sleep(Duration::from_millis(200));
        session.end();
        let text = session.text();
        assert_eq!((text.matches("prepared table").count(), text.contains("recall@1")), (1, shown), "{text}");
    }
}

/// Whether this was started where SIGINT is ignored, as jobs in the background of a script are: so
/// are then the commands.
fn ignores_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> 1 & 1 == 1)
}

/// Ctrl-C, and a signal from elsewhere: the terminal is left as it was, and nothing is left behind.
#[test]
fn interrupted_questions_leave_the_terminal_as_it_was() {
    for signal in [None, Some("-TERM"), Some("-INT")] {
        if signal != Some("-TERM") && ignores_interrupts() {
            continue;
        }
        let dir = workshop();
        let mut session = Session::start(dir.path(), KEYGEN);
        session.wait_for("New passphrase for keys/secret.key: ");
        match signal {
            None => session.keyboard.write_all(b"half a wo\x03").unwrap(),
            Some(signal) => {
                let pid = session.child.id().to_string();
                assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
            }
        }
        let wanted = if signal == Some("-TERM") { 143 } else { 130 };
        assert_eq!(session.end().code(), Some(wanted), "{}", session.text());
        let left = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left, 2, "the table and what was prepared of it");
        assert!(!session.text().contains("half"));
    }
}
