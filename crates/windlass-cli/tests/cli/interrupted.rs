//! Commands that are killed: files are whole or do not exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{succeed, zones};
use crate::party;
use crate::workshop::copy;

/// Names in a directory that do not begin with a dot.
fn visible(at: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with('.')).collect()
}

fn start(at: &Path, line: &str) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.current_dir(at).args(line.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// How many times a command is killed in a directory of its own.
const KILLS: u32 = 12;

/// Kills a command after growing parts of the time that it takes, each time in a copy of what is
/// prepared; `check` sees the directory after each.
fn kill_at_many_times(line: &str, prepare: impl Fn(&Path), mut check: impl FnMut(&Path)) {
    let template = tempfile::tempdir().unwrap();
    prepare(template.path());
    let copied = || {
        let dir = tempfile::tempdir().unwrap();
        copy(template.path(), dir.path(), &|_| false, &|from, to| fs::copy(from, to).map(drop));
        dir
    };
    let whole = {
        let dir = copied();
        let start_of_run = Instant::now();
        assert!(start(dir.path(), line).wait().unwrap().success(), "windlass {line}");
        check(dir.path());
        start_of_run.elapsed()
    };
    for part in 0..KILLS {
        let dir = copied();
        let mut child = start(dir.path(), line);
        std::thread::sleep(whole * part / (KILLS - 2) + Duration::from_micros(u64::from(part) * 137));
        // It may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        check(dir.path());
    }
}

fn with_table(at: &Path) {
    fs::copy(zones(), at.join("zones.csv")).unwrap();
}

fn with_prepared_table(at: &Path) {
    with_table(at);
    succeed(at, "table build --table zones.csv --key zone --out served");
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

/// Everything in a directory.
fn entries(at: &Path) -> BTreeSet<String> {
    fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The next command in that place removes what a killed one left.
#[test]
fn a_directory_of_keys_appears_whole_or_not_at_all() {
    let keys = names(&["evaluation.keys", "secret.key"]);
    kill_at_many_times("table keygen --schema served/schema.json --out new/keys", with_prepared_table, |at| {
        let parent = at.join("new");
        let made = parent.join("keys");
        assert!(!made.exists() || visible(&made) == keys, "{:?}", visible(&made));
        if parent.exists() {
            succeed(at, "params plan --modulus 257 --depth 1 --out new/params.json");
            let left = entries(&parent);
            assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
        }
    });
}

/// Ctrl-C, and what a service manager sends.
#[cfg(unix)]
#[test]
fn interrupted_commands_leave_nothing() {
    let mut interrupted = 0;
    for (part, signal) in (0..32).zip(["-INT", "-TERM"].iter().cycle()) {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        let line = "refresh keygen --preset insecure_boot_4369 --out new/keys";
        let mut child = command.current_dir(dir.path()).args(line.split(' ')).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(30 + 12 * part));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([*signal, pid.as_str()]).status().unwrap().success());
        let status = child.wait().unwrap();
        let left = entries(dir.path());
        match status.code() {
            Some(130 | 143) => {
                interrupted += 1;
                assert!(left.is_empty(), "{left:?}");
            }
            // Before the handler was there, or after the keys were.
            None => assert!(left.is_empty(), "{left:?}"),
            Some(0) => assert_eq!(entries(&dir.path().join("new/keys")).len(), 4),
            other => panic!("{other:?}"),
        }
    }
    assert!(interrupted > 2, "only {interrupted} commands were interrupted on their way");
}

/// Waits until a command would handle a termination, or has ended. Where the system does not say, a
/// while.
#[cfg(unix)]
fn wait_for_handler(child: &mut std::process::Child) {
    let status = format!("/proc/{}/status", child.id());
    let handles = |status: String| {
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:").map(str::trim))?;
        Some(u64::from_str_radix(caught, 16).ok()? >> (Signal::TERM.as_raw() - 1) & 1 == 1)
    };
    while child.try_wait().unwrap().is_none() {
        match fs::read_to_string(&status).ok().and_then(handles) {
            Some(false) => std::thread::sleep(Duration::from_micros(100)),
            Some(true) => break,
            None => return std::thread::sleep(Duration::from_millis(15)),
        }
    }
}

/// Ends a command as Ctrl-C does, by the signal that is not ignored where tests run in the
/// background, and without another program, which would take as long as a change.
#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    // It may have ended already; its number stays its own until it is waited for.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
}

/// A table is changed or not, whenever the signal comes, and the last line says which.
#[cfg(unix)]
#[test]
fn interrupted_changes_of_a_table_say_whether_they_were_made() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let rows: String = (0..20_000).map(|i| format!("key-{i},{}\n", "x".repeat(i % 90))).collect();
    fs::write(at.join("t.csv"), format!("id,note\n{rows}")).unwrap();
    succeed(at, "table build --table t.csv --key id --out served");
    let manifest = || fs::read(at.join("served/table.json")).unwrap();
    let (mut last, mut interrupted) = (Duration::from_millis(200), 0);
    for turn in 0..40u32 {
        let before = manifest();
        fs::write(at.join("new.csv"), format!("id,note\nkey-7,{turn}\n")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.current_dir(at).args("table set --dir served --table new.csv".split(' '));
        let begun = Instant::now();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // Every fourth one has its time; the others are stopped about where its end was, anywhere
        // before, or, whatever else the machine does, as soon as signals are waited for.
        if turn % 4 > 0 {
            match turn % 4 {
                1 => wait_for_handler(&mut child),
                2 => std::thread::sleep(last * (80 + turn % 40) / 100),
                _ => std::thread::sleep(last * (20 + 2 * (turn % 40)) / 100),
            }
            interrupt(&child);
        }
        let mut told = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut told).unwrap();
        let status = child.wait().unwrap();
        let changed = manifest() != before;
        interrupted += u32::from(status.code() == Some(143));
        match status.code() {
            Some(0) => assert!(changed, "{told}"),
            Some(143) if changed => assert!(told.contains("had changed served"), "{told}"),
            Some(143) => assert!(!told.contains("had changed"), "{told}"),
            // Before the handler was there.
            None => assert!(!changed),
            other => panic!("{other:?}: {told}"),
        }
        if turn % 4 == 0 {
            last = begun.elapsed();
        }
    }
    assert!(interrupted > 2, "only {interrupted} changes were interrupted on their way");
}

/// After a hang-up nothing can be written to standard error: messages are lost, and everything else
/// is done.
#[cfg(unix)]
#[test]
fn commands_end_as_they_should_without_standard_error() {
    let without_reader = || std::io::pipe().unwrap().1;
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.current_dir(dir.path()).args("table build --table none.csv --key zone --out served".split(' '));
    assert_eq!(command.stderr(without_reader()).status().unwrap().code(), Some(2));
}

/// Opening a pipe waits for a writer that never comes; where everyone may write, anyone may leave
/// one.
#[cfg(unix)]
#[test]
fn pipes_and_links_among_leftovers_are_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    // Above the largest process number of any Linux.
    let [pipe, link, inside, linked] =
        ["pipe", "link", "inside", "linked"].map(|name| dir.path().join(format!(".{name}.4194305.windlass-part")));
    let make_pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    make_pipe(&pipe);
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    fs::create_dir(&inside).unwrap();
    make_pipe(&inside.join("secret.key"));
    fs::write(dir.path().join("target"), "WINDLASS").unwrap();
    std::os::unix::fs::symlink("target", &linked).unwrap();
    let mut child = start(dir.path(), "params plan --modulus 257 --depth 1 --out params.json");
    let end = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success(), "the command waits for a pipe");
    for path in [pipe, link, inside, linked, dir.path().join("target")] {
        assert!(path.symlink_metadata().is_ok(), "{}", path.display());
    }
}

#[cfg(unix)]
#[test]
fn ignored_signals_stay_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!(
        "trap '' HUP; exec {} refresh keygen --preset insecure_boot_4369 --out keys",
        env!("CARGO_BIN_EXE_windlass")
    );
    let mut child =
        Command::new("sh").current_dir(dir.path()).args(["-c", &line]).stdout(Stdio::null()).spawn().unwrap();
    let pid = child.id().to_string();
    for _ in 0..8 {
        std::thread::sleep(Duration::from_millis(25));
        // It may have ended already.
        let _ = Command::new("kill").args(["-HUP", pid.as_str()]).stderr(Stdio::null()).status();
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(entries(&dir.path().join("keys")).len(), 4);
}

#[test]
fn a_lookup_leaves_all_of_its_files_or_none() {
    let files = names(&["answer.bin", "evaluation.keys", "query.bin", "secret.key", "table"]);
    kill_at_many_times("lookup --table zones.csv --key zone --query Asia/Tokyo --out out", with_table, |at| {
        assert!(!at.join("out").exists() || visible(&at.join("out")) == files, "{:?}", visible(&at.join("out")));
    });
}

/// In a directory that exists the files appear one after another, each whole.
#[test]
fn every_visible_file_is_whole() {
    let sizes = {
        let dir = tempfile::tempdir().unwrap();
        with_prepared_table(dir.path());
        let report = succeed(dir.path(), "table keygen --schema served/schema.json --out .");
        report["bytes"].clone()
    };
    kill_at_many_times("table keygen --schema served/schema.json --out .", with_prepared_table, |at| {
        for name in visible(at).iter().filter(|name| !["zones.csv", "served"].contains(&name.as_str())) {
            let bytes = fs::metadata(at.join(name)).unwrap().len();
            assert_eq!(Some(bytes), sizes[name].as_u64(), "{name}");
        }
    });
    let prepare = |at: &Path| {
        with_prepared_table(at);
        succeed(at, "table keygen --schema served/schema.json --out keys");
    };
    let line =
        "table query --schema served/schema.json --secret-key keys/secret.key --query Asia/Tokyo --out query.bin";
    let mut whole = None;
    kill_at_many_times(line, prepare, |at| {
        if let Ok(query) = fs::metadata(at.join("query.bin")) {
            assert_eq!(query.len(), *whole.get_or_insert(query.len()));
        }
    });
}

/// The state of a party is the old or the new one, and a share that is there is counted.
#[test]
fn a_killed_party_counts_what_it_sends() {
    let ada = party::own("Ada");
    let line = format!("party decrypt {ada} --in x.ct --out ada.share");
    let prepare = |at: &Path| {
        party::agree(at, "--preset insecure_toy_256");
        party::make_keys(at);
        succeed(at, "party encrypt --agreement agreement.json --public-key keys/public.key --values 1 --out x.ct");
    };
    kill_at_many_times(&line, prepare, |at| {
        let counted = succeed(at, &format!("party status {ada}"))["decryptions"].as_u64().unwrap();
        let sent = u64::from(at.join("ada.share").exists());
        assert!(sent <= counted && counted <= 1, "{sent} sent, {counted} counted");
        // What the killed command left beside state and share goes with the next one that writes there.
        let next = if sent == 1 { "again.share" } else { "ada.share" };
        succeed(at, &format!("party decrypt {ada} --in x.ct --out {next}"));
        let hidden = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = hidden.filter(|name| name.starts_with('.')).collect();
        assert!(left.is_empty(), "{left:?}");
    });
    let line = format!("party open {ada} --out mailbox");
    let prepare = |at: &Path| {
        party::agree(at, "--preset insecure_toy_256");
        succeed(at, &format!("party join {ada}"));
    };
    kill_at_many_times(&line, prepare, |at| {
        assert!(!at.join("mailbox").exists() || visible(&at.join("mailbox")).len() == 1, "all or none");
    });
}
