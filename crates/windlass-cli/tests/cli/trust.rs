//! What a client need not believe, and what a bad surrounding does: schemas of strangers,
//! terminals, pipes, memory, threads.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{fail, snapshot, succeed, windlass};

const TABLE: &str = "code,name\n1,one\n2,two\n3,three\n";

/// A directory with a table and its schema.
fn with_schema(params: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("table.csv"), TABLE).unwrap();
    succeed(dir.path(), &format!("schema --table table.csv --key code --params {params} --out schema.json"));
    dir
}

/// The schema with one field changed.
fn crafted(at: &Path, field: &str, value: Value) {
    let mut schema: Value = serde_json::from_slice(&fs::read(at.join("schema.json")).unwrap()).unwrap();
    schema[field] = value;
    fs::write(at.join("crafted.json"), serde_json::to_vec_pretty(&schema).unwrap()).unwrap();
}

#[test]
fn crafted_schemas_are_refused_before_any_key() {
    let dir = with_schema("insecure_toy_2048");
    let at = dir.path();
    let refused = |wanted: &str| {
        let before = snapshot(at);
        let message = fail(at, "keygen --schema crafted.json --insecure --out keys");
        assert!(message.contains(wanted), "{message}");
        assert!(snapshot(at) == before && !at.join("keys").exists());
    };
    for bytes in [u64::MAX, u64::MAX / 2 + 1, u64::MAX / 8 + 1, 1 << 40] {
        crafted(at, "record_bytes", json!(bytes));
        refused("is too large for its parameters 'insecure_toy_2048'");
        refused("only the owner of the table can choose others");
    }
    crafted(at, "record_bytes", json!(2));
    refused("its longest row is shorter than one of its keys");
    crafted(at, "keys", json!(["1", "2", "1"]));
    refused("have the same name");
    crafted(at, "columns", json!(["code", "code"]));
    refused("have the same name");
    crafted(at, "parameters", json!("\u{1b}]0;owned\u{7}"));
    let message = fail(at, "keygen --schema crafted.json --insecure --out keys");
    assert!(message.contains("owned") && !message.contains(['\u{1b}', '\u{7}']), "{message:?}");
    assert!(message.contains("crafted.json: its parameters are not valid: there is no parameter set"), "{message}");
    crafted(at, "\u{1b}[31m", json!(1));
    assert!(!fail(at, "keygen --schema crafted.json --insecure --out keys").contains('\u{1b}'));
}

#[test]
fn weak_parameters_of_a_schema_need_consent() {
    let dir = with_schema("insecure_toy_2048");
    let at = dir.path();
    for line in
        ["keygen --schema schema.json --out keys", "query --schema schema.json --secret-key k --query 1 --out q"]
    {
        let message = fail(at, line);
        assert!(message.contains("bits of security") && message.contains("--insecure"), "{message}");
    }
    assert!(!at.join("keys").exists());
    let message = fail(at, "keygen --schema schema.json --params demo --out keys");
    assert!(message.contains("'insecure_toy_2048', but --params names 'demo'"), "{message}");
    let output =
        windlass(at, "keygen --schema schema.json --params insecure_toy_2048 --insecure --out keys".split(' '));
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("parameters 'insecure_toy_2048': ") && told.contains("bits of security"), "{told}");
}

/// A user of fewer than 128 bits has said so: by the name of a preset, or by a word where a file
/// has no such name. Every command prints λ.
#[test]
fn weak_parameters_of_ones_own_need_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), TABLE).unwrap();
    let own = windlass::Params::preset("insecure_toy_2048", windlass::Scheme::Bgv).unwrap().to_json();
    fs::write(at.join("own.json"), own).unwrap();
    let table = "--table table.csv --key code --params";
    for line in [
        format!("schema {table} own.json --out made"),
        format!("lookup {table} own.json --query 1 --out made"),
        format!("keygen {table} own.json --out made"),
        format!("query {table} own.json --secret-key none --query 1 --out made"),
    ] {
        let message = fail(at, &line);
        let wanted = "own.json: the parameters 'insecure_toy_2048' have ";
        assert!(message.contains(wanted) && message.contains("--insecure"), "windlass {line}: {message}");
        assert!(!at.join("made").exists(), "windlass {line}");
    }
    for (params, out) in [("own.json --insecure", "1"), ("insecure_toy_2048", "2"), ("paper_hs15_18631", "3")] {
        let output = windlass(at, format!("schema {table} {params} --out {out}").split(' '));
        let told = String::from_utf8(output.stderr).unwrap();
        let warned = told.lines().filter(|line| crate::common::is_warning(line)).count();
        assert!(output.status.success() && warned == 1, "{params}: {told}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(" bits of security)"), "{params}");
    }
    let told = succeed(at, &format!("keygen {table} own.json --insecure --out keys"));
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
    assert_eq!(lines.len(), 11, "{lines:?}");
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
    let line = "query --schema out/schema.json --insecure --secret-key no.key --query 2 --out q --json";
    let refused = windlass(prepared(LINES[3]).0.path(), line.split(' '));
    assert!(String::from_utf8(refused.stderr).unwrap().lines().next().is_some_and(is_warning));
}

#[test]
fn a_lookup_takes_a_parameter_file_and_its_schema_carries_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), TABLE).unwrap();
    succeed(at, "params plan --modulus 257 --depth 1 --slots 64 --out own.json");
    let table = "--table table.csv --key code --params own.json";
    let report = succeed(at, &format!("lookup {table} --query 3 --out out"));
    assert_eq!((report["row"]["name"].as_str(), report["verified"].as_bool()), (Some("three"), Some(true)));
    // The client has the schema alone.
    fs::rename(at.join("own.json"), at.join("server.json")).unwrap();
    succeed(at, "keygen --schema out/schema.json --out keys");
    let message = fail(at, "keygen --schema out/schema.json --params demo --out other");
    assert!(message.contains("but --params names 'demo'"), "{message}");
    // A stranger's set is checked as any other, whatever it calls itself.
    fs::copy(at.join("out/schema.json"), at.join("schema.json")).unwrap();
    let own: Value = serde_json::from_slice(&fs::read(at.join("server.json")).unwrap()).unwrap();
    let changed = |field: &str, value: Value| {
        let mut own = own.clone();
        own[field] = value;
        crafted(at, "parameters", own);
        fail(at, "keygen --schema crafted.json --out other")
    };
    let longer: Vec<u32> = vec![50; 40];
    assert!(changed("q_prime_bits", json!(longer)).contains("bits"));
    assert!(changed("assurance", json!("none")).contains("assurance"));
    assert!(changed("m", json!(1u64 << 60)).contains("crafted.json") || !at.join("other").exists());
    for digits in [json!(0), json!(u64::MAX), json!(-1), json!(null)] {
        changed("digits", digits);
    }
    changed("q_prime_bits", json!(vec![50; 100_000]));
    assert!(!at.join("other").exists());
    let mut renamed = own.clone();
    renamed["name"] = json!("\u{1b}[31mred");
    crafted(at, "parameters", renamed);
    let told = windlass(at, "keygen --schema crafted.json --out other".split(' '));
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("[31mred") && !told.contains('\u{1b}'), "{told:?}");
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
    let dir = with_schema("insecure_toy_2048");
    let at = dir.path();
    succeed(at, "keygen --schema schema.json --insecure --out keys");
    succeed(at, "query --schema schema.json --insecure --secret-key keys/secret.key --query 2 --out query.bin");
    let answer = "windlass answer --table table.csv --key code --params insecure_toy_2048 --out answer.bin \
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
    let decrypt = "windlass decrypt --schema schema.json --secret-key keys/secret.key --query 2 --in /dev/stdin";
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
    let dir = with_schema("insecure_toy_2048");
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
    command.current_dir(dir.path()).args("keygen --schema schema.json --out keys".split(' ')).stderr(Stdio::null());
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
