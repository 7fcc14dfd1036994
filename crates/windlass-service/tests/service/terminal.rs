//! `windlass ask` at a terminal, on which it asks for a passphrase.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use windlass::wire::{Passphrase, PassphraseCost, seal_secret};

use crate::common::{Running, eventually, text};

/// The side of a terminal where a user types, and that of programs.
fn terminal() -> (File, File) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let name = ptsname(&keyboard, Vec::new()).unwrap().into_string().unwrap();
    let flags = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap();
    let line = OpenOptions::new().read(true).write(true).custom_flags(flags).open(name).unwrap();
    (File::from(keyboard), line)
}

/// Whether this was started where the signal is ignored, SIGHUP by `nohup`: so is it then by the
/// program.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

/// Signals from elsewhere end the program as they would have, and the terminal shows again what is
/// typed.
#[test]
fn a_signal_while_a_passphrase_is_asked_for_leaves_the_terminal_as_it_was() {
    let service = Running::small("");
    assert!(service.ask(&["--key", "key 7"]).status.success());
    let state = std::fs::read_dir(service.dir.path().join(".windlass")).unwrap().map(|entry| entry.unwrap().path());
    let secret = state.into_iter().find(|path| path.extension().is_some_and(|end| end == "key")).unwrap();
    let cost = PassphraseCost::new(64, 1, 1).unwrap();
    let sealed = seal_secret(&std::fs::read(&secret).unwrap(), &Passphrase::new("words").unwrap(), cost).unwrap();
    std::fs::write(&secret, sealed).unwrap();
    let start = |line: &File| -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-ask"));
        command.args([&service.address[..], "--key", "key 7"]).current_dir(service.dir.path());
        command.stdin(line.try_clone().unwrap()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let (mut keyboard, line) = terminal();
    let echoes = || tcgetattr(&line).unwrap().local_modes.contains(LocalModes::ECHO);
    assert!(echoes());
    for signal in [Signal::TERM, Signal::HUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        let mut asks = start(&line);
        eventually("no passphrase is asked for", || !echoes());
        kill_process(Pid::from_child(&asks), signal).unwrap();
        let ended = asks.wait().unwrap();
        assert_eq!(ended.signal(), Some(signal.as_raw()), "{ended:?}");
        assert!(echoes(), "what is typed after {signal:?} does not show");
    }
    let asks = start(&line);
    eventually("no passphrase is asked for", || !echoes());
    std::io::Write::write_all(&mut keyboard, b"words\n").unwrap();
    assert_eq!(text(&asks.wait_with_output().unwrap().stdout), "key 7: row 7\n");
    assert!(echoes());
}
