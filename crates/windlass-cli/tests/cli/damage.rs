//! Deliberate damage to every command that writes: killed at any moment, a disk that is full, a
//! directory that takes nothing, two writers, too little memory. A file is whole or does not exist,
//! and the message of the command is one line that says what to do.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::succeed;
use crate::workshop::{
    LINES, WORKSHOP, copy, damaged_lines, hidden, is_nightly, is_whole, names, output_of, prepared, whole_or_absent,
};

/// How often each line meets with each kind of damage.
fn rounds(few: u32, many: u32) -> u32 {
    if is_nightly() { many } else { few }
}

fn start(at: &Path, line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.current_dir(at).args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Kills a line at `rounds` moments of its life; afterwards the same line does its work, and
/// nothing hidden stays.
fn kill_at_any_moment(line: &'static str, rounds: u32) {
    let whole = WORKSHOP.seconds[line];
    for round in 0..rounds {
        let (dir, output) = prepared(line);
        let mut child = start(dir.path(), line);
        // Moments that the golden ratio spreads over its life, however many there are; beside other
        // tests it lives longer.
        let part = (f64::from(round) * 0.618_034 + f64::from(std::process::id() % 97) / 97.0).fract();
        std::thread::sleep(whole.mul_f64(1.3 * part));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        whole_or_absent(line, &output);
        if names(&output) != names(&WORKSHOP.dir.path().join(output_of(line))) {
            succeed(dir.path(), line);
        } else {
            // Any command that writes beside it.
            succeed(dir.path(), "params plan --modulus 257 --depth 1 --out out/next.json");
        }
        is_whole(dir.path(), line);
        let left = hidden(&dir.path().join("out"));
        assert!(left.is_empty(), "windlass {line} left {left:?}");
    }
}

/// Every `part`-th line of `parts`: tests run side by side.
fn share(part: usize, parts: usize) -> impl Iterator<Item = &'static str> {
    damaged_lines().skip(part).step_by(parts)
}

#[test]
fn killed_commands_leave_whole_files_or_none() {
    share(0, 2).for_each(|line| kill_at_any_moment(line, rounds(2, 60)));
}

#[test]
fn other_killed_commands_leave_whole_files_or_none() {
    share(1, 2).for_each(|line| kill_at_any_moment(line, rounds(2, 60)));
}

/// Runs a line in a shell that sets a limit first, for a minute at most.
fn limited(at: &Path, limit: &str, line: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_windlass");
    let line = format!("{limit}; exec timeout -s KILL 60 {program} {line} --threads 2");
    Command::new("sh").current_dir(at).env("RUST_BACKTRACE", "0").args(["-c", &line]).output().unwrap()
}

/// One line on standard error, the last if there is progress before.
fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().rfind(|line| !line.ends_with("...")).unwrap_or_default().to_owned()
}

/// A limit on the length of files imitates a full disk: the write fails in its middle.
#[test]
fn a_disk_that_is_full_is_an_error_that_says_so() {
    for line in damaged_lines() {
        let (dir, output) = prepared(line);
        let made = WORKSHOP.dir.path().join(output_of(line));
        let longest = fs::read_dir(&made).map_or_else(
            |_| fs::metadata(&made).unwrap().len(),
            |entries| entries.map(|entry| entry.unwrap().metadata().unwrap().len()).max().unwrap(),
        );
        // In blocks of 512 bytes; a shell that counts in 1024 gives twice as much.
        for blocks in [0, longest / 2048] {
            let ended = limited(dir.path(), &format!("ulimit -f {blocks}"), line);
            let told = message(&ended);
            assert_eq!(ended.status.code(), Some(2), "windlass {line}, {blocks} blocks: {told}");
            assert!(told.contains("ulimit -f"), "windlass {line}, {blocks} blocks: {told}");
            assert!(!told.contains("windlass-part"), "windlass {line}, {blocks} blocks: {told}");
            whole_or_absent(line, &output);
            assert!(line.starts_with("table build") || !output.exists(), "windlass {line} left something");
            let left = hidden(&dir.path().join("out"));
            assert!(left.is_empty(), "windlass {line} left {left:?}");
        }
        succeed(dir.path(), line);
        is_whole(dir.path(), line);
    }
}

/// Standard output holds the result of a command, or says that files were made. It is not lost
/// without an error.
#[test]
fn a_report_that_nobody_gets_is_an_error_that_says_so() {
    let decrypt = "table decrypt --schema out/served/schema.json --secret-key out/client/secret.key --query 2 \
                   --in out/told.bin";
    for (line, wanted) in [
        ("params list", "nothing was changed: run the command again with its output redirected to a file (> FILE)"),
        (decrypt, "nothing was changed: run the command again with its output redirected to a file (> FILE)"),
        (LINES[0], "the output of the command is complete"),
        (LINES[4], "the output of the command is complete"),
    ] {
        let makes = line.contains("--out");
        for json in ["", " --json"] {
            let prepared = makes.then(|| prepared(line));
            let at = prepared.as_ref().map_or(WORKSHOP.dir.path(), |(dir, _)| dir.path());
            let full = limited(at, "exec >/dev/full", &format!("{line}{json}"));
            let told = message(&full);
            assert_eq!(full.status.code(), Some(2), "windlass {line}: {told}");
            let cannot = "its report cannot be written to standard output (the disk is full; free some space";
            assert!(told.contains(cannot) && told.contains(wanted), "windlass {line}: {told}");
            assert!(!told.contains("os error") && prepared.is_none_or(|(_, made)| made.exists()), "{line}: {told}");
        }
    }
}

/// Where standard output is closed nothing is begun; `/dev/null` is a choice of the user, however it
/// was opened.
#[test]
fn a_closed_standard_output_is_refused_before_the_work() {
    let (dir, output) = prepared(LINES[0]);
    for line in [LINES[0], "params list", "params list --json", "ask 127.0.0.1:1 --key k"] {
        let closed = limited(dir.path(), "exec >&-", line);
        assert_eq!(closed.status.code(), Some(2), "windlass {line}");
        let told = message(&closed);
        assert!(told.contains("standard output is closed") && told.contains("> FILE"), "windlass {line}: {told}");
        assert!(!output.exists(), "windlass {line}");
    }
    for null in ["exec >/dev/null", "exec 1<>/dev/null"] {
        assert!(limited(dir.path(), null, LINES[0]).status.success(), "{null}");
        fs::remove_file(&output).unwrap();
    }
}

/// Some account that is not the superuser.
const NOBODY: u32 = 65_534;

/// Gives everything below a path to another account.
fn give(path: &Path, account: u32) {
    chown(path, Some(account), Some(account)).unwrap();
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path(), account));
    }
}

#[test]
fn a_directory_that_takes_nothing_is_an_error_that_says_so() {
    for line in damaged_lines() {
        let (dir, output) = prepared(line);
        let out = dir.path().join("out");
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.current_dir(dir.path()).args(line.split_whitespace());
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            // Permissions do not stop the superuser, and others do not read its secrets.
            give(dir.path(), NOBODY);
            command.uid(NOBODY).gid(NOBODY);
        }
        let set = |mode| fs::set_permissions(&out, fs::Permissions::from_mode(mode)).unwrap();
        set(0o555);
        let ended = command.output().unwrap();
        set(0o755);
        let told = message(&ended);
        assert_eq!(ended.status.code(), Some(2), "windlass {line}: {told}");
        assert!(told.contains("permission denied; choose another path"), "windlass {line}: {told}");
        assert!(!output.exists() && hidden(&out).is_empty(), "windlass {line} left something");
    }
}

/// Of two commands that write to one place one does, and the other says that something is there.
#[test]
fn of_two_writers_one_wins() {
    for line in damaged_lines() {
        for _ in 0..rounds(1, 20) {
            let (dir, _) = prepared(line);
            let both = || {
                let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
                command.current_dir(dir.path()).args(line.split_whitespace());
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            };
            let ended = [both(), both()].map(|child| child.wait_with_output().unwrap());
            let won = ended.iter().filter(|output| output.status.success()).count();
            let told: Vec<String> = ended.iter().map(message).collect();
            // The same table again is no other table.
            let again = line.starts_with("table build");
            assert!(won == 1 || again && won == 2, "windlass {line}: {won} have won; {told:?}");
            let slower = ended.iter().find(|output| !output.status.success());
            let expected = ["already exists", "another process is writing"];
            if let Some(slower) = slower {
                assert_eq!(slower.status.code(), Some(2));
                assert!(expected.iter().any(|part| message(slower).contains(part)), "windlass {line}: {told:?}");
            }
            is_whole(dir.path(), line);
            assert!(hidden(&dir.path().join("out")).is_empty(), "windlass {line}");
        }
    }
}

/// Where memory is short a command ends: with its work done, with a message, or, where the need was
/// not known before, as the system ends it, with a last line that says what to do. No file is half
/// written, nothing hangs or panics.
#[test]
fn too_little_memory_leaves_nothing_half_written() {
    let mut ends = BTreeMap::new();
    for (number, line) in damaged_lines().enumerate() {
        let (count, lines) = (rounds(6, 40), damaged_lines().count());
        for round in 0..count {
            // From what a process can hardly start in (then it is the loader who says so) to what most
            // commands take.
            let step = (round as usize * lines + number) * 300 / (count as usize * lines);
            let kilobytes = 50_000 + 2_000 * step;
            let (dir, output) = prepared(line);
            let ended = limited(dir.path(), &format!("ulimit -v {kilobytes}"), line);
            let (told, said) = (message(&ended), String::from_utf8_lossy(&ended.stderr));
            let code = ended.status.code().or(ended.status.signal().map(|signal| 128 + signal));
            assert!(!told.contains("panicked") && code != Some(137), "windlass {line}, {kilobytes} kB: {told}");
            let known = match code {
                Some(0) => true,
                Some(2) => told.starts_with("windlass: ") && told.len() > 20,
                Some(127) => told.contains("error while loading shared libraries"),
                // What the standard library says before it aborts: of the heap, of the stack of a
                // thread that starts, or of an error that it has no memory to raise. Then our last line.
                Some(134) => {
                    let reasons = ["memory allocation of", "annot allocate memory", "fatal runtime error"];
                    reasons.iter().any(|reason| said.contains(reason)) && said.contains("is memory, provide more")
                }
                _ => false,
            };
            assert!(known, "windlass {line}, {kilobytes} kB: {code:?} {said}");
            *ends.entry(code).or_insert(0) += 1;
            whole_or_absent(line, &output);
            if code == Some(0) {
                is_whole(dir.path(), line);
            }
        }
    }
    assert!(ends.contains_key(&Some(2)), "no command said that memory is short: {ends:?}");
}

/// A file that a killed command had almost finished is recognised by its beginning, for every
/// command.
#[test]
fn whole_leftovers_of_every_command_go() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    fs::create_dir(&out).unwrap();
    for (number, line) in LINES.into_iter().enumerate() {
        let made = WORKSHOP.dir.path().join(output_of(line));
        // No system has processes of so high a number.
        let left = out.join(format!(".made.{number:016x}.4194305.windlass-part"));
        if made.is_dir() {
            fs::create_dir(&left).unwrap();
            copy(&made, &left, &|_| false, &|from, to| fs::copy(from, to).map(drop));
        } else {
            fs::copy(&made, &left).unwrap();
        }
    }
    succeed(dir.path(), "params plan --modulus 257 --depth 1 --out out/next.json");
    assert_eq!(hidden(&out), Vec::<std::path::PathBuf>::new());
}

/// The number of a process comes again, in containers with every command: what one of them left
/// when it was killed is neither taken for one's own nor in the way.
#[test]
fn leftovers_of_the_same_process_number_go() {
    let line = LINES[0];
    let (dir, output) = prepared(line);
    for old in ["params.json", "params.json.0123456789abcdef"] {
        let leftover = format!("printf WINDLASS > out/.{old}.$$.windlass-part");
        let ended = Command::new("sh")
            .current_dir(dir.path())
            .args(["-c", &format!("{leftover}; exec {} {line}", env!("CARGO_BIN_EXE_windlass"))])
            .output()
            .unwrap();
        assert!(ended.status.success(), "{}", message(&ended));
        assert!(hidden(&dir.path().join("out")).is_empty(), "{:?}", hidden(&dir.path().join("out")));
        fs::remove_file(&output).unwrap();
    }
}

/// A change of a table that is killed: readers have the rows before or after it.
fn kill_a_change(line: &str, after: &str) {
    let answered = |at: &Path| {
        let keys = "--dir out/served --evaluation-keys out/client/evaluation.keys";
        let _ = fs::remove_file(at.join("out/told.bin"));
        succeed(at, &format!("table answer {keys} --in out/asked.bin --out out/told.bin"));
        let with = "--schema out/served/schema.json --secret-key out/client/secret.key";
        succeed(at, &format!("table decrypt {with} --query 2 --in out/told.bin"))["rows"][0]["name"].to_string()
    };
    let mut seconds = Duration::ZERO;
    let mut seen = BTreeMap::new();
    for round in 0..=rounds(4, 100) {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        // Links would be changed for all.
        copy(WORKSHOP.dir.path(), at, &|_| false, &|from, to| fs::copy(from, to).map(drop));
        fs::write(at.join("more.csv"), "code,name\n2,zwei\n4,vier\n").unwrap();
        fs::write(at.join("four.csv"), "code,name\n4,vier\n").unwrap();
        let begun = Instant::now();
        let mut child = start(at, line);
        if round > 0 {
            std::thread::sleep(seconds.mul_f64((f64::from(round) * 0.618_034).fract()));
            let _ = child.kill();
        }
        child.wait().unwrap();
        if round == 0 {
            seconds = begun.elapsed();
        }
        let name = answered(at);
        assert!(name == "\"two\"" || name == after, "windlass {line}: {name}");
        // Rows that are gone are not removed again.
        let next = if name == after && line.starts_with("table remove") { ADD } else { line };
        *seen.entry(name).or_insert(0) += 1;
        succeed(at, next);
        assert_eq!(answered(at), after, "windlass {line}");
        assert!(hidden(&at.join("out/served")).is_empty(), "windlass {line}");
    }
    assert!(seen.contains_key(after), "the first change was not killed: {seen:?}");
}

/// A change of other rows than the one that is looked at.
const ADD: &str = "table set --dir out/served --table four.csv";

#[test]
fn a_killed_change_of_a_table_is_made_or_not() {
    kill_a_change("table set --dir out/served --table more.csv", "\"zwei\"");
}

#[test]
fn a_killed_removal_of_rows_is_made_or_not() {
    kill_a_change("table remove --dir out/served --query 2", "null");
}
