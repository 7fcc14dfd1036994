//! What a client need not believe, and what a bad surrounding does: schemas of strangers,
//! terminals, pipes, memory, threads.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{fail, succeed, windlass};

const TABLE: &str = "code,name\n1,one\n2,two\n3,three\n";

/// A directory with a table, prepared.
fn with_schema() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("table.csv"), TABLE).unwrap();
    succeed(dir.path(), "table build --table table.csv --key code --out served");
    dir
}

/// A user of fewer than 128 bits has said so: by the name of a preset, or by a word where a file
/// has no such name. Every command prints λ.
#[test]
fn weak_parameters_of_ones_own_need_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let own = windlass::Params::preset("insecure_boot_256_p257", windlass::Scheme::Bgv).unwrap().to_json();
    fs::write(at.join("own.json"), own).unwrap();
    for line in [
        "refresh --preset own.json --out made",
        "refresh keygen --preset own.json --out made",
        "refresh encrypt --preset own.json --secret-key none --values 1 --out made",
    ] {
        let message = fail(at, line);
        let wanted = "own.json: the parameters 'insecure_boot_256_p257' have ";
        assert!(message.contains(wanted) && message.contains("--insecure"), "windlass {line}: {message}");
        assert!(!at.join("made").exists(), "windlass {line}");
    }
    for (params, out) in [("own.json --insecure", "1"), ("insecure_boot_256_p257", "2")] {
        let output = windlass(at, format!("refresh keygen --preset {params} --out {out}").split(' '));
        let told = String::from_utf8(output.stderr).unwrap();
        let warned = told.lines().filter(|line| crate::common::is_warning(line)).count();
        assert!(output.status.success() && warned == 1, "{params}: {told}");
    }
    let told = succeed(at, "refresh keygen --preset own.json --insecure --out keys");
    assert!(told["security_bits"].as_f64().unwrap() < 128.0);
}

/// A user who reads λ can still stop: it is printed before a key is looked for, and before the
/// report.
#[cfg(target_os = "linux")]
#[test]
fn clients_are_told_lambda_before_keys_or_queries_are_made() {
    use crate::workshop::{LINES, output_of, prepared};
    let makes = |line: &&str| line.split(' ').take(2).any(|word| ["keygen", "query", "encrypt"].contains(&word));
    let lines: Vec<&str> = LINES.into_iter().filter(makes).collect();
    assert_eq!(lines.len(), 9, "{lines:?}");
    let is_told = |line: &str| line.starts_with("windlass: parameters ") && line.contains(" bits of security");
    for line in lines {
        let (dir, output) = prepared(line);
        let run = shell(dir.path(), &format!("windlass {line} 2>&1"));
        let text = String::from_utf8(run.stdout).unwrap();
        let mut seen = text.lines().filter(|line| !line.ends_with("..."));
        assert!(run.status.success() && output.exists() && seen.next().is_some_and(is_told), "{line}: {text}");
        assert!(seen.next().is_some_and(|line| !line.starts_with("windlass: ")), "{line}: {text}");
        // What follows it has not begun: the place is taken, or there is no key.
        let (dir, output) = prepared(line);
        let refused = match line.split_once("--secret-key ") {
            None => {
                fs::create_dir_all(dir.path().join(output_of(line))).unwrap();
                for name in ["secret.key", "evaluation.keys"] {
                    fs::write(output.join(name), "mine").unwrap();
                }
                windlass(dir.path(), line.split_whitespace())
            }
            Some(_) => windlass(dir.path(), line.replace("secret.key", "no.key").split_whitespace()),
        };
        let text = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && text.lines().any(is_told), "{line}: {text}");
    }
}

/// A script gets it too, in the object of every command that makes keys or encrypts, and before the
/// work where it is a warning.
#[cfg(target_os = "linux")]
#[test]
fn scripts_are_told_lambda_too() {
    use crate::common::is_warning;
    use crate::workshop::{LINES, prepared};
    let makes = |line: &&str| line.split(' ').take(2).any(|word| ["keygen", "query", "encrypt"].contains(&word));
    for line in LINES.into_iter().filter(makes) {
        let (dir, _) = prepared(line);
        let output = windlass(dir.path(), line.split_whitespace().chain(["--json"]));
        let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let bits = report["security_bits"].as_f64().unwrap_or_else(|| panic!("{line}: {report}"));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.lines().all(is_warning), "{line}: {told}");
        assert_eq!(told.lines().count(), usize::from(bits < 128.0), "{line}: {bits} bits, {told}");
        assert_eq!(bits < 128.0, line.contains("insecure"), "{line}: {bits} bits");
    }
    // Before the work: there is no such key.
    let line = "refresh encrypt --preset insecure_boot_256_p257 --secret-key no.key --values 3 --out q --json";
    let refused = windlass(prepared(LINES[0]).0.path(), line.split(' '));
    assert!(String::from_utf8(refused.stderr).unwrap().lines().next().is_some_and(is_warning));
}

#[test]
fn cells_do_not_reach_the_terminal_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), "id,class,\"x\u{1b}[2J\"\n1,a,0.5\n2,b,\u{1b}[31mred\n").unwrap();
    let message = fail(dir.path(), "score --table t.csv --label class --positive a");
    assert!(message.contains("\\u{1b}[31mred") && message.contains("x\\u{1b}[2J"), "{message}");
    assert!(!message.contains('\u{1b}'));
}

/// A command line run by a shell.
fn shell(at: &Path, line: &str) -> Output {
    let line = line.replace("windlass", env!("CARGO_BIN_EXE_windlass"));
    Command::new("sh").current_dir(at).args(["-c", &line]).output().unwrap()
}

#[test]
fn inputs_may_be_pipes() {
    let dir = with_schema();
    let at = dir.path();
    succeed(at, "table keygen --schema served/schema.json --out keys");
    succeed(at, "table query --schema served/schema.json --secret-key keys/secret.key --query 2 --out query.bin");
    let answer = "windlass table answer --dir served --out answer.bin \
                  --evaluation-keys keys/evaluation.keys --in /dev/stdin";
    for (input, wanted) in [
        ("head -c 1000 query.bin", "truncated: it has 1000 of"),
        ("(cat query.bin; echo)", "1 bytes follow the end"),
        ("printf ''", "/dev/stdin: "),
    ] {
        let output = shell(at, &format!("{input} | {answer}"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains(wanted), "{input}: {message}");
    }
    assert!(shell(at, &format!("cat query.bin | {answer}")).status.success());
    let with = "--schema served/schema.json --secret-key keys/secret.key --query 2";
    let decrypt = format!("windlass table decrypt {with} --in /dev/stdin");
    assert!(shell(at, &format!("cat answer.bin | {decrypt}")).status.success());
}

/// A command with little memory, which is killed (137) if it hangs.
fn limited(at: &Path, kilobytes: usize, command: &str) -> Output {
    let output = shell(at, &format!("ulimit -v {kilobytes}; exec timeout -s KILL 120 windlass {command}"));
    assert!(output.status.signal() != Some(9) && output.status.code() != Some(137), "{kilobytes}: {command} hangs");
    output
}

/// Where threads or memory cannot be had: an error, or the end that the system makes, but no panic.
#[test]
fn limits_on_memory_do_not_panic() {
    let dir = with_schema();
    for kilobytes in (10_000..300_000).step_by(10_000) {
        let output = limited(dir.path(), kilobytes, "params show demo --threads 32");
        let message = String::from_utf8_lossy(&output.stderr);
        // A thread that gets its stack but not the little one for signals ends in the standard
        // library, before a line of ours; the command then says that it cannot start threads.
        let of_threads = ["library/std/src/sys/", "library/core/src/panicking.rs"];
        let is_ours = |line: &&str| line.contains("panicked") && !of_threads.iter().any(|place| line.contains(place));
        let panics = message.lines().filter(is_ours).count();
        assert!(output.status.code() != Some(101) && panics == 0, "{kilobytes}: {message}");
    }
    // Of several limits, since the thread that cannot be had may get its stack but not the one for
    // signals: the standard library then ends the process, and the last line is ours.
    let mut refused = 0;
    for kilobytes in (600_000..1_400_000).step_by(100_000) {
        let output = limited(dir.path(), kilobytes, "params list --threads 1024");
        let message = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(2) {
            assert!(message.contains("cannot start threads") && message.contains("ulimit -u"), "{message}");
            assert!(message.contains("use --threads 1, or raise the limit"), "{message}");
            refused += 1;
        } else {
            assert!(message.contains("windlass: ended for the reason above"), "{kilobytes}: {message}");
        }
    }
    assert!(refused > 0, "no limit let the command say that it cannot start threads");
}

/// Memory that runs out without a request beforehand: the last line is ours, and says what to do,
/// from the first moment of a command on.
#[test]
fn the_end_of_memory_has_a_last_line_of_ours() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for kilobytes in (40_000..140_000).step_by(20_000) {
        for backtrace in ["export RUST_BACKTRACE=0; ", "export RUST_BACKTRACE=1; "] {
            let line = format!(
                "ulimit -v {kilobytes}; {backtrace}exec windlass params plan --modulus 2 --bootstrap --threads 1"
            );
            let output = shell(dir.path(), &line);
            let told = String::from_utf8(output.stderr).unwrap();
            if !told.contains("memory allocation of ") {
                continue;
            }
            let (_, told) = told.split_at(told.find("memory allocation of ").unwrap());
            seen += 1;
            let last = told.lines().last().unwrap();
            assert!(
                last.starts_with("windlass: ended for the reason above") && last.contains("provide more"),
                "{told}"
            );
            // The rest is what the standard library says: stable Rust has no way to keep it from that.
            assert!(!told.contains("panicked"), "{told}");
        }
    }
    assert!(seen > 0, "memory never ran out");
}

/// The memory of a process with secrets is neither written to a core file nor shown to other
/// processes.
#[test]
fn core_dumps_are_off() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("schema.json")).status().unwrap().success());
    // Waits for the schema.
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command
        .current_dir(dir.path())
        .args("table keygen --schema schema.json --out keys".split(' '))
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let limits = || fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let is_off = || {
        limits().lines().any(|line| {
            line.starts_with("Max core file size") && line.split_whitespace().filter(|&word| word == "0").count() == 2
        })
    };
    let seen = (0..400).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        is_off()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(seen, "core dumps are on");
}
