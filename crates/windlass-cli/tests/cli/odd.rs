//! Input as the world has it: unusual tables that must work, and arguments, files and outputs that
//! must be refused with cause and cure.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{fail, snapshot, succeed, windlass};

/// Looks a row up and gives it.
fn lookup(at: &Path, text: &[u8], key: &str, query: &str) -> Value {
    fs::write(at.join("table.csv"), text).unwrap();
    let line = ["lookup", "--table", "table.csv", "--key", key, "--query", query, "--json"];
    let output = windlass(at, line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{key} = {query:?}: {errors}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["verified"], true);
    assert_eq!(report["row"][key], query);
    report["row"].clone()
}

#[test]
fn unusual_tables_are_read_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    // One row, one column.
    lookup(at, b"id\nonly\n", "id", "only");
    lookup(at, b"id,text\n1,one", "id", "1");
    // A byte order mark and the line ends of other systems; blank lines.
    let row = lookup(at, b"\xef\xbb\xbfid,text\r\n1,one\r\n\r\n2,two\r\n\r\n", "id", "2");
    assert_eq!(row["text"], "two");
    // Quotes, commas and line breaks inside cells, also in the key and in the names of columns.
    let text = "\"the \"\"key\"\"\",\"a\nb\"\n\"x,y\nz\",\"say \"\"hi\"\"\"\nplain,\"\"\n";
    let row = lookup(at, text.as_bytes(), "the \"key\"", "x,y\nz");
    assert_eq!(row["a\nb"], "say \"hi\"");
    // Empty keys, blanks around keys and letters outside ASCII are values like others.
    let text = "clé,v\n,empty\n x,blank\nx,none\n\u{1f980}\u{301},crab\n";
    for (query, value) in [("", "empty"), (" x", "blank"), ("x", "none"), ("\u{1f980}\u{301}", "crab")] {
        assert_eq!(lookup(at, text.as_bytes(), "clé", query)["v"], value);
    }
    // Control characters reach a terminal as escapes only.
    let text = "id,v\n1,\x1b[31mred\x07\n";
    assert_eq!(lookup(at, text.as_bytes(), "id", "1")["v"], "\x1b[31mred\x07");
    let line = "lookup --table table.csv --key id --query 1";
    let shown = windlass(at, line.split(' '));
    assert!(!shown.stdout.contains(&0x1b) && !shown.stdout.contains(&7));
    // Many columns; the key is the last; a long cell.
    let names: Vec<String> = (0..300).map(|i| format!("c{i}")).collect();
    let rows: Vec<String> =
        (0..3).map(|r| (0..300).map(|c| format!("{}", r * 300 + c)).collect::<Vec<_>>().join(",")).collect();
    let row = lookup(at, format!("{}\n{}\n", names.join(","), rows.join("\n")).as_bytes(), "c299", "599");
    assert_eq!(row["c0"], "300");
    let huge = "long cell ".repeat(3000);
    let row = lookup(at, format!("id,v\n1,{huge}\n").as_bytes(), "id", "1");
    assert_eq!(row["v"], huge);
}

/// A sparse file: its length alone refuses it.
#[test]
fn files_too_large_are_refused_by_their_length() {
    let dir = tempfile::tempdir().unwrap();
    fs::File::create(dir.path().join("vast.csv")).unwrap().set_len(1 << 40).unwrap();
    let message = fail(dir.path(), "score --table vast.csv --label id --positive a");
    assert!(message.contains("1099511627776 bytes") && message.contains("split"), "{message}");
}

#[test]
fn absurd_queries_get_short_answers() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,v\nalpha,1\nbeta,2\n").unwrap();
    for query in ["x".repeat(100_000), "\x1b[2J".repeat(50), "alpha\n".into(), "ALPHA".into(), String::new()] {
        let output = windlass(at, ["lookup", "--table", "table.csv", "--key", "id", "--query", &query]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(message.contains("no row where id is") && message.len() < 400, "{message}");
        assert!(!message.contains('\x1b') && message.trim_end().lines().count() == 1, "{message:?}");
    }
    let output = windlass(at, ["lookup", "--table", "table.csv", "--key", &"k".repeat(100_000), "--query", "alpha"]);
    assert_eq!((output.status.code(), output.stderr.len() < 400), (Some(2), true));
}

#[test]
fn outputs_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,v\n1,one\n").unwrap();
    fs::create_dir(at.join("folder")).unwrap();
    let shape = "--table table.csv --key id";
    succeed(at, &format!("table build {shape} --out served"));
    let keygen = "table keygen --schema served/schema.json";
    succeed(at, &format!("{keygen} --out keys"));
    let query = "table query --schema served/schema.json --secret-key keys/secret.key --query 1";
    for (line, wanted) in [
        (format!("{query} --out missing/q"), "missing/q: no such file or directory"),
        (format!("{query} --out table.csv/q"), "table.csv/q: a part of this path is a file"),
        (format!("{query} --out folder"), "folder: already exists"),
        (format!("{keygen} --out table.csv"), "table.csv"),
        (format!("{keygen} --out table.csv/keys"), "table.csv"),
        (format!("{keygen} --out keys"), "secret.key: already exists"),
        (format!("lookup {shape} --query 1 --out table.csv"), "table.csv"),
        (format!("lookup {shape} --query 1 --out keys"), "already exists"),
    ] {
        let before = snapshot(at);
        let message = fail(at, &line);
        assert!(message.contains(wanted), "windlass {line}\nsays {message}wanted {wanted}");
        assert!(snapshot(at) == before, "windlass {line} made or changed a file");
    }
}

/// A directory instead of a file, in every command that reads one.
#[test]
fn directories_are_no_files() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,v\n1,one\n").unwrap();
    fs::create_dir(at.join("folder")).unwrap();
    fs::create_dir(at.join("folder.json")).unwrap();
    fs::create_dir(at.join("folder.npy")).unwrap();
    succeed(at, "table build --table table.csv --key id --out served");
    for line in [
        "lookup --table folder --key id --query 1 --out new",
        "decrypt --schema folder --secret-key none --in none",
        "table build --table folder --out new",
        "table keygen --schema folder --out new",
        "score schema --weights folder.json --out new",
        "score keygen --schema folder --out new",
        "search schema --table folder.npy --out new",
        "search keygen --schema folder --out new",
        "key seal --in folder --passphrase-file table.csv --out new",
        "params show folder.json",
        "refresh keygen --preset folder.json --out new",
        "table query --schema served/schema.json --secret-key folder --query 1 --out new",
        "table keygen --schema served/schema.json --passphrase-file folder --out new",
        "refresh encrypt --preset insecure_boot_256_p257 --public-key folder --values 1 --out new",
    ] {
        let message = fail(at, line);
        let last = message.lines().last().unwrap();
        assert!(last.contains("it is a directory, not a file"), "windlass {line}: {message}");
        assert!(last.starts_with("windlass: folder") && !last.contains("os error"), "windlass {line}: {message}");
        assert!(!at.join("new").exists(), "windlass {line}");
    }
    let message = fail(at, "refresh encrypt --preset insecure_boot_256_p257 --values 1 --out new");
    assert!(message.contains("--secret-key") && message.contains("--public-key"), "{message}");
}

#[test]
fn files_of_other_versions_and_kinds() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,v\n1,one\n").unwrap();
    succeed(at, "table build --table table.csv --key id --out served");
    succeed(at, "table keygen --schema served/schema.json --out keys");
    let whole = fs::read(at.join("keys/secret.key")).unwrap();
    let patched = |offset: usize, value: u8, wanted: &str| {
        let mut bytes = whole.clone();
        bytes[offset] = value;
        fs::write(at.join("patched"), bytes).unwrap();
        let message = fail(at, "table query --schema served/schema.json --secret-key patched --query 1 --out q");
        assert!(message.contains("patched: ") && message.contains(wanted), "{message}");
        assert!(!at.join("q").exists());
    };
    patched(8, 3, "format version 3 is not supported (this build reads versions up to 2); use a newer Windlass");
    patched(8, 1, "format version 1 is not supported (this build reads only version 2); make the file again");
    patched(9, 0xff, "format version 65282");
    patched(10, 77, "expected a secret key, but found unknown kind 77");
    patched(12, whole[12] ^ 1, "another context");
    patched(66, 1, "parameters allow at most");
    patched(0, b'w', "not a Windlass file");
    for (text, wanted) in [
        ("[]", "not the schema of a table"),
        ("6", "integer `6`, expected an object in braces at line 1"),
        ("{\"format\":\"windlass-lookup-schema\"}", "not the schema of a table"),
    ] {
        fs::write(at.join("schema.json"), text).unwrap();
        let message = fail(at, "table query --schema schema.json --secret-key keys/secret.key --query 1 --out q");
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn failures_are_objects_for_scripts() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,v\n1,one\n").unwrap();
    for line in [
        "lookup --table table.csv --key id --query 2 --json",
        "lookup --table none.csv --key id --query 2 --json",
        "--json params show nothing",
        "params plan --modulus 6 --json",
    ] {
        let output = windlass(at, line.split(' '));
        assert_eq!(output.status.code(), Some(2), "{line}");
        let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let message = object["error"].as_str().unwrap();
        assert!(
            object["exit_code"] == 2 && String::from_utf8(output.stderr).unwrap().contains(message),
            "{line}: {message}"
        );
    }
}

#[test]
fn every_command_speaks_json() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,v\n1,one\n2,two\n").unwrap();
    let has = |line: &str, fields: &[&str]| {
        let object = succeed(at, line);
        fields.iter().for_each(|field| assert!(!object[field].is_null(), "windlass {line}: no {field}"));
    };
    has("table plan --table table.csv --key id", &["plan", "key_bytes", "query_bytes", "answer_bytes"]);
    has("table build --table table.csv --key id --out served", &["rows", "schema", "plan", "seconds"]);
    has("table keygen --schema served/schema.json --out keys", &["security_bits", "bytes", "seconds"]);
    let with = "--schema served/schema.json --secret-key keys/secret.key --query 2";
    has(&format!("table query {with} --out q"), &["security_bits", "bytes", "seconds"]);
    has("table answer --dir served --evaluation-keys keys/evaluation.keys --in q --out a", &["bytes", "seconds"]);
    has(&format!("table decrypt {with} --in a"), &["rows", "seconds"]);
    has(
        "lookup --table table.csv --key id --query 1",
        &["row", "rows", "verified", "security_bits", "seconds", "bytes", "plan"],
    );
    has("params list", &["presets"]);
    has("params show demo", &["m", "n", "p", "r", "slots", "security_bits", "switching_key_bytes"]);
    has("params plan --modulus 257 --depth 2", &["m", "depth", "security_bits"]);
}

/// Reports and messages state the names of files, and stay on their lines for any name.
#[test]
fn names_of_files_are_told_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("model.csv"), "x,y,bias\n0.5,-1,2\n").unwrap();
    let line = |out| ["score", "schema", "--weights", "model.csv", "--out", out];
    let told = windlass(at, line("mine"));
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("\n  mine  ") && !told.contains("schema.json"), "{told}");
    assert!(succeed(at, "score schema --weights model.csv --out other")["bytes"]["schema.json"].is_u64());
    let name = "a\nwindlass: b\u{1b}[2J";
    let made = windlass(at, line(name));
    let told = String::from_utf8(made.stdout).unwrap();
    assert!(made.status.success() && told.contains("  a\\nwindlass: b\\u{1b}[2J  "), "{told}");
    let again = windlass(at, line(name));
    let told = String::from_utf8(again.stderr).unwrap();
    let lines: Vec<&str> = told.lines().filter(|line| !line.ends_with("...")).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("windlass: a\\nwindlass: b\\u{1b}[2J: already exists"), "{told}");
}

/// Editors put a mark before a text, and scripts give a dash instead of a file.
#[test]
fn byte_order_marks_are_read_over_and_dashes_are_no_files() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,x,y\n1,0.5,1\n2,-1,0.25\n").unwrap();
    fs::write(at.join("model.json"), "\u{feff}{\"weights\": [1, 2], \"features\": [\"x\", \"y\"]}").unwrap();
    let own = windlass::Params::preset("insecure_boot_256_p257", windlass::Scheme::Bgv).unwrap().to_json();
    fs::write(at.join("own.json"), format!("\u{feff}{own}")).unwrap();
    succeed(at, "refresh keygen --preset own.json --insecure --out boot");
    succeed(at, "score schema --weights model.json --out score");
    succeed(at, "search schema --table table.csv --out search");
    succeed(at, "table build --table table.csv --key id --out served");
    fs::copy(at.join("served/schema.json"), at.join("table")).unwrap();
    for (schema, keygen) in [("score", "score keygen"), ("search", "search keygen"), ("table", "table keygen")] {
        let text = fs::read_to_string(at.join(schema)).unwrap();
        fs::write(at.join(schema), format!("\u{feff}{text}")).unwrap();
        succeed(at, &format!("{keygen} --schema {schema} --out {schema}.keys"));
    }
    let message = fail(at, "table decrypt --schema table --secret-key table.keys/secret.key --query 1 --in -");
    assert!(message.contains("-: no such file or directory; for standard input give /dev/stdin"), "{message}");
    for line in ["search schema --table table.csv --out -", "table keygen --schema table --out -"] {
        let message = fail(at, line);
        assert!(
            message.contains("-: only the report goes to standard output; name a ") && !at.join("-").exists(),
            "{line}: {message}"
        );
    }
}

/// What a schema states and a client can check.
#[test]
fn schemas_that_contradict_themselves_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), "id,x,y\n1,0.5,1\n2,-1,0.25\n").unwrap();
    succeed(at, "search schema --table table.csv --out search");
    succeed(at, "table build --table table.csv --key id --out served");
    let refused = |from: &str, change: &dyn Fn(&mut Value), keygen: &str, wanted: &str| {
        let mut schema: Value = serde_json::from_slice(&fs::read(at.join(from)).unwrap()).unwrap();
        change(&mut schema);
        fs::write(at.join("crafted"), schema.to_string()).unwrap();
        let message = fail(at, &format!("{keygen} --schema crafted --out keys"));
        assert!(message.contains("crafted: not ") && message.contains(wanted), "{message}");
    };
    refused("search", &|schema| schema["shape"]["message_bits"] = 9.into(), "search keygen", "the bits of a score");
    refused("search", &|schema| schema["shape"]["scale"] = (-1.0).into(), "search keygen", "the scale of a table");
    let exact = |schema: &mut Value| schema["shape"]["exact"] = true.into();
    refused("search", &exact, "search keygen", "the scale of a table");
    refused("served/schema.json", &|schema| schema["key"] = "none".into(), "table keygen", "is not one of its fields");
    let twice = |schema: &mut Value| schema["fields"] = json!(["a", "b", "a"]);
    refused("served/schema.json", &twice, "table keygen", "two of its fields are named 'a'");
}

/// A score is as exact as the largest that the weights allow.
#[test]
fn scores_that_drown_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("model.csv"), "a,b,bias\n1e300,1,0\n").unwrap();
    fs::write(at.join("rows.csv"), "id,a,b\n1,1,2\n2,-1,0.5\n").unwrap();
    let told = windlass(at, "score --table rows.csv --weights model.csv".split(' '));
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("so smaller scores may give wrong decisions"), "{told}");
}

#[test]
fn plans_for_odd_requirements() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for modulus in ["0", "1", "6", "12", "35184372088832", "18446744073709551615"] {
        let message = fail(at, &format!("params plan --modulus {modulus}"));
        assert!(message.contains("a power of one prime below 2^45"), "{modulus}: {message}");
    }
    assert_eq!(succeed(at, "params plan --modulus 2187")["r"], 7);
    assert_eq!(succeed(at, "params plan --modulus 35184371884033 --depth 0")["p"], 35184371884033u64);
    for (line, wanted) in [
        ("params plan --modulus 257 --depth 4294967295", "no parameters meet the specification"),
        ("params plan --modulus 257 --depth 1000", "any depth with refreshes (--bootstrap)"),
        ("params plan --modulus 257 --m 14", "use m/2"),
        ("params plan --modulus 3 --m 32768 --slots 100", "m = 32768 has 2 slots modulo 3, fewer than 100"),
        ("params plan --modulus 257 --depth 4294967296", "--depth"),
        ("params plan --modulus 257 --slots 1000000000", "no parameters meet the specification"),
        ("params plan --modulus 257 --security 80", "insecure"),
        ("params plan --modulus 257 --security 1000", "must be at most 256"),
        ("params plan --modulus -1", "invalid value '-1' for '--modulus <T>'"),
        ("params plan --modulus 65537 --bootstrap --m 65536", "ask for no m, or for m = 131072"),
        ("params plan --modulus 65537 --bootstrap --m 65536", "ask for the plaintext modulus 257"),
        ("params plan --modulus 257 --bootstrap --m 65536 --security 192", "ask for at most 136 bits of security"),
        ("params plan --modulus 257 --bootstrap --m 65536 --slots 4096", "ask for at most 128 slots"),
        ("params plan --modulus 65537 --through-ckks --depth 1000", "the number of products"),
        ("params plan --modulus 65537 --through-ckks --m 65537", "the ring dimension"),
        ("params plan --modulus 65537 --through-ckks --bootstrap", "cannot be used with"),
        ("params plan --precision 20 --through-ckks", "cannot be used with"),
        ("params show", "<NAME>"),
        ("--threads 0 params list", "--threads"),
        ("--threads 99999 params list", "--threads"),
    ] {
        let message = fail(at, line);
        assert!(message.contains(wanted), "windlass {line}\nsays {message}");
    }
}

/// λ is never printed above the estimate, neither in text nor in JSON.
#[test]
fn security_is_rounded_down_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let listed = String::from_utf8(windlass(at, ["params", "list"]).stdout).unwrap();
    for name in windlass::params::preset_names() {
        let estimate = windlass::Params::preset(name, windlass::schemes::Scheme::Bgv).unwrap().rlwe().security().bits;
        let check =
            |printed: f64| assert!(printed <= estimate && printed > estimate - 0.11, "{name}: {printed}, {estimate}");
        check(succeed(at, &format!("params show {name}"))["security_bits"].as_f64().unwrap());
        let line = listed.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        check(line.split("security ").nth(1).unwrap().trim_end_matches(" bits").parse().unwrap());
        let shown = String::from_utf8(windlass(at, ["params", "show", name]).stdout).unwrap();
        check(shown.split("security").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap());
    }
}

/// `windlass params list | head -1` ends quietly.
#[test]
fn readers_may_go_away() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_windlass"))
        .args(["params", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
