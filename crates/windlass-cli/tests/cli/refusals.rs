//! Every bad input: exit code 2, a message that names the cause, and no file made or changed.

use std::fs;
use std::path::Path;

use crate::common::{fail, snapshot, succeed, windlass};
use serde_json::json;
use tempfile::TempDir;

const TABLE: &str = "code,name\n1,one\n2,two\n3,three\n";

/// A table of several bins, so that a query is expanded and evaluation keys are not empty.
fn long_table(last: u32) -> String {
    let cell = "abcdefgh".repeat(25);
    let rows: String = (1..=last).map(|code| format!("{code},{code} {cell}\n")).collect();
    format!("code,name\n{rows}")
}

/// A directory with a prepared table, keys, a query and an answer.
fn workshop() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), long_table(300)).unwrap();
    succeed(at, "table build --table table.csv --key code --out served");
    succeed(at, "table keygen --schema served/schema.json --out keys");
    succeed(at, "table query --schema served/schema.json --secret-key keys/secret.key --query 2 --out query.bin");
    let inputs = "--evaluation-keys keys/evaluation.keys --in query.bin";
    succeed(at, &format!("table answer --dir served {inputs} --out answer.bin"));
    dir
}

/// Runs a line that must fail and change no file; the message must contain `wanted`.
fn refused(at: &Path, line: &str, wanted: &str) {
    let before = snapshot(at);
    let message = fail(at, line);
    assert!(message.contains(wanted), "windlass {line}\nsays: {message}wanted: {wanted}");
    assert!(snapshot(at) == before, "windlass {line} made or changed a file");
}

#[test]
fn bad_tables_and_keys() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for (name, text) in [
        ("table.csv", TABLE),
        ("empty.csv", "code,name\n"),
        ("nothing.csv", ""),
        ("ragged.csv", "code,name\n1,one\n2\n"),
        ("twice.csv", "code,name\n1,one\n2,two\n1,uno\n"),
        ("columns.csv", "code,code\n1,one\n"),
    ] {
        fs::write(at.join(name), text).unwrap();
    }
    fs::write(at.join("latin1.csv"), b"code,name\n1,caf\xe9\n").unwrap();
    let lookup = |table: &str, rest: &str| format!("lookup --table {table} --out out {rest}");
    for (table, rest, wanted) in [
        ("table.csv", "--key code --query 4", "no row where code is '4'"),
        ("table.csv", "--key kode --query 1", "its columns are code, name"),
        ("table.csv", "--key name --query tree", "did you mean 'three'?"),
        ("table.csv", "--key code --query 1 --params demo", "leave --params out"),
        ("table.csv", "--key code --query 1 --threads 0", "--threads"),
        ("missing.csv", "--key code --query 1", "missing.csv: no such file"),
        ("empty.csv", "--key code --query 1", "no rows"),
        ("nothing.csv", "--key code --query 1", "nothing.csv: not a table: the file is empty"),
        ("ragged.csv", "--key code --query 1", "not a table"),
        ("latin1.csv", "--key code --query 1", "not a table"),
        ("twice.csv", "--key code --query 1", "rows 1 and 3"),
        ("columns.csv", "--key code --query 1", "two columns"),
    ] {
        refused(at, &lookup(table, rest), wanted);
    }
    refused(at, "lookup --table table.csv --key code", "--query");
    refused(at, "table keygen --out keys", "--schema");
}

#[test]
fn existing_files_stay() {
    let dir = workshop();
    let at = dir.path();
    refused(at, "table keygen --schema served/schema.json --out keys", "already exists");
    let query = "table query --schema served/schema.json --secret-key keys/secret.key --query 1";
    refused(at, &format!("{query} --out query.bin"), "query.bin: already exists");
    let inputs = "--evaluation-keys keys/evaluation.keys --in query.bin";
    refused(at, &format!("table answer --dir served {inputs} --out answer.bin"), "answer.bin: already exists");
    for taken in ["secret.key", "table"] {
        fs::create_dir(at.join("out")).unwrap();
        fs::write(at.join("out").join(taken), "mine").unwrap();
        refused(at, "lookup --table table.csv --key code --query 1 --out out", "already exists");
        fs::remove_dir_all(at.join("out")).unwrap();
    }
}

/// A command line that reads a given file.
type Run<'a> = &'a dyn Fn(&str) -> String;

#[test]
fn damaged_files() {
    let dir = workshop();
    let at = dir.path();
    let answer = |keys: &str, query: &str| {
        format!("table answer --dir served --evaluation-keys {keys} --in {query} --out new.bin")
    };
    let with = |key: &str| format!("--schema served/schema.json --secret-key {key} --query 2");
    let decrypt = |key: &str, answer: &str| format!("table decrypt {} --in {answer}", with(key));
    let runs: [(&str, Run); 5] = [
        ("keys/evaluation.keys", &|file| answer(file, "query.bin")),
        ("query.bin", &|file| answer("keys/evaluation.keys", file)),
        ("answer.bin", &|file| decrypt("keys/secret.key", file)),
        ("keys/secret.key", &|file| decrypt(file, "answer.bin")),
        ("keys/secret.key", &|file| format!("table query {} --out new.bin", with(file))),
    ];
    for (file, run) in runs {
        let whole = fs::read(at.join(file)).unwrap();
        assert!(whole.len() > 200, "{file} holds something");
        let damage = |bytes: Vec<u8>, wanted: &str| {
            fs::write(at.join("damaged"), bytes).unwrap();
            refused(at, &run("damaged"), wanted);
        };
        for end in [0, 5, 51, 67, 70, whole.len() / 2, whole.len() - 1] {
            damage(whole[..end].to_vec(), if end == 0 { "damaged: " } else { "truncated" });
        }
        for at in [68, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            damage(bytes, "corrupt");
        }
        damage([&whole[..], b"\n"].concat(), "1 bytes follow the end");
        damage(TABLE.as_bytes().to_vec(), "not a Windlass file");
        refused(at, &run("missing"), "missing: no such file");
        refused(at, &run("keys"), "keys: ");
    }
    let wanted = "expected a secret key, but found evaluation keys";
    refused(at, &decrypt("keys/evaluation.keys", "answer.bin"), wanted);
    refused(at, &answer("keys/evaluation.keys", "answer.bin"), "expected a query");
}

#[test]
fn files_of_others() {
    let dir = workshop();
    let at = dir.path();
    let answer = |dir: &str, keys: &str| {
        format!("table answer --dir {dir} --evaluation-keys {keys}/evaluation.keys --in query.bin --out new.bin")
    };
    let decrypt = |keys: &str, key: &str| {
        let with = "--schema served/schema.json --in answer.bin";
        format!("table decrypt {with} --secret-key {keys}/secret.key --query {key}")
    };
    // Keys of other parameters.
    succeed(at, "refresh keygen --preset insecure_boot_256_p257 --out boot");
    refused(at, &answer("served", "boot"), "another context");
    refused(at, &decrypt("boot", "2"), "another context");

    // Another version of the table: the query was made for the first.
    fs::write(at.join("new.csv"), long_table(301)).unwrap();
    succeed(at, "table build --table new.csv --key code --out new");
    refused(at, &answer("new", "keys"), "query.bin: ");

    // Another client's keys, under the same parameters.
    succeed(at, "table keygen --schema served/schema.json --out stranger");
    let wanted = "answer.bin: it belongs to another key pair than stranger/secret.key (";
    refused(at, &decrypt("stranger", "2"), wanted);
    let wanted = "stranger/evaluation.keys: it belongs to another key pair than query.bin (";
    refused(at, &answer("served", "stranger"), wanted);
    refused(at, &decrypt("keys", "3"), "another");
}

/// A wide table expands its queries, and the keys of a narrow one do not cover that.
#[test]
fn missing_evaluation_keys_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("narrow.csv"), TABLE).unwrap();
    fs::write(at.join("wide.csv"), long_table(300)).unwrap();
    for name in ["narrow", "wide"] {
        succeed(at, &format!("table build --table {name}.csv --key code --out {name}"));
    }
    succeed(at, "table keygen --schema narrow/schema.json --out keys");
    succeed(at, "table query --schema wide/schema.json --secret-key keys/secret.key --query 7 --out query.bin");
    let inputs = "--evaluation-keys keys/evaluation.keys --in query.bin --out new.bin";
    refused(at, &format!("table answer --dir wide {inputs}"), "make them for this table's schema");
}

/// Who writes a parameter file himself learns which file it was and which of its numbers.
#[test]
fn parameter_files_are_named_with_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    succeed(at, "params plan --modulus 2 --out good.json");
    let good: serde_json::Value = serde_json::from_slice(&fs::read(at.join("good.json")).unwrap()).unwrap();
    for (field, value, wanted) in [
        ("m", json!(0), "cyclotomic index 0 is not supported"),
        ("p", json!(4), "plaintext prime p is 4, but must be a prime"),
        ("p", json!((1u64 << 61) - 1), "log2 of the plaintext modulus p^r is 61"),
        ("r", json!(0), "exponent r of the plaintext modulus is 0"),
        ("digits", json!(0), "the number of digits is 0"),
        ("q_prime_bits", json!([60, 60]), "the size of a prime of Q in bits is 60"),
        ("special_prime_bits", json!([60]), "the size of a special prime in bits is 60"),
        ("windlass_parameters", json!(9), "format version 9 is not supported (this build reads versions up to 5)"),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        fs::write(at.join("bad.json"), bad.to_string()).unwrap();
        for line in ["params show bad.json", "refresh --preset bad.json --explain"] {
            refused(at, line, &format!("bad.json: {wanted}"));
        }
    }
    fs::write(at.join("good"), good.to_string()).unwrap();
    for line in ["params show good", "refresh --preset good --explain"] {
        refused(at, line, "good: the name of a parameter file must end in .json");
    }
}

/// Options that a command does not use are refused, not ignored; so are numbers out of range, with
/// the range.
#[test]
fn options_are_used_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("t.csv"), TABLE).unwrap();
    succeed(at, "table build --table t.csv --key code --out keyed");
    let range = "is not in 1..=1024";
    for (line, wanted) in [
        ("table set --dir keyed --table t.csv --first 7", "its rows have keys (column 'code')"),
        ("table set --dir keyed --table t.csv --first -7", "-7 is not in 0.."),
        ("table remove --dir keyed --row -1", "-1 is not in 0.."),
        ("params list --threads -1", range),
        ("params list --threads 0", range),
        ("params list --threads 1025", range),
        ("search --table t.csv --k 0 --plan", "0 is not in 1.."),
        ("search --table t.csv --k -3 --plan", "-3 is not in 1.."),
        ("search --table t.npy --query q.npy --skip name", "t.npy, q.npy: an array has no column names"),
        ("search --table t.npy --key a --plan", "leave out --key a"),
        ("search schema --table t.npy --key a --out s.json", "t.npy: an array has no column names"),
    ] {
        refused(at, line, wanted);
    }
    assert!(succeed(at, "params list --threads 1024")["presets"].is_array());
}

#[test]
fn capacities_are_numbers_of_bits() {
    let dir = tempfile::tempdir().unwrap();
    for bits in ["nan", "inf", "-5", "1e300"] {
        let line =
            format!("refresh encrypt --preset insecure_boot_105 --values 1 --secret-key k --out o --capacity {bits}");
        refused(dir.path(), &line, "give a number of bits from 0 to 1000000");
    }
}

/// Scripts that ask for an object get one, for any error in their arguments.
#[test]
fn usage_errors_are_objects_with_json() {
    let dir = tempfile::tempdir().unwrap();
    for (line, wanted) in [
        (
            "table plan --tabel t.csv --json",
            "unexpected argument '--tabel' found tip: a similar argument exists: '--table'",
        ),
        ("--json table keygen --schema s.json", "the following required arguments were not provided: --out <DIR>"),
        ("params frobnicate --json", "unrecognized subcommand 'frobnicate'"),
        ("--json", "'windlass' requires a subcommand but one was not provided"),
        ("--json params", "a command is missing; 'windlass --help' lists them"),
        ("--json --threads many params list", "invalid value 'many' for '--threads <N>'"),
    ] {
        let output = windlass(dir.path(), line.split(' '));
        assert_eq!(output.status.code(), Some(2), "{line}");
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let error = object["error"].as_str().unwrap();
        assert!(error.starts_with(wanted) && !error.contains("Usage"), "{line}: {error}");
        assert_eq!(object["exit_code"], 2);
        assert!(!output.stderr.is_empty(), "{line}: the text is there, too");
    }
    // Without it nothing is printed on standard output, and help and version are what they were.
    for line in ["table plan --tabel t.csv", "table plan -- --json"] {
        let output = windlass(dir.path(), line.split(' '));
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{line}");
    }
    for line in ["--json --help", "--version --json", "help table"] {
        let output = windlass(dir.path(), line.split(' '));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}");
        assert!(text.contains("Usage") || text.starts_with("windlass "), "{line}: {text}");
    }
}
