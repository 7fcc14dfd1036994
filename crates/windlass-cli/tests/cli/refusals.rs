//! Every bad input: exit code 2, a message that names the cause, and no file made or changed.

use std::fs;
use std::path::Path;

use crate::common::{fail, snapshot, succeed, windlass};
use serde_json::json;
use tempfile::TempDir;

const TABLE: &str = "code,name\n1,one\n2,two\n3,three\n";

/// A table whose product takes several diagonals, so that evaluation keys are not empty.
fn long_table(last: &str) -> String {
    let cell = "abcdefgh".repeat(20);
    let rows: String = (1..40).map(|code| format!("{code},{code} {cell}\n")).collect();
    format!("code,name\n{rows}{last},last\n")
}

/// A directory with a table, its schema, keys, a query and an answer under the parameters `params`.
fn workshop(params: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), long_table("40")).unwrap();
    succeed(at, &format!("schema --table table.csv --key code --params {params} --out schema.json"));
    succeed(at, "keygen --schema schema.json --insecure --out keys");
    succeed(at, "query --schema schema.json --insecure --secret-key keys/secret.key --query 2 --out query.bin");
    let inputs = "--evaluation-keys keys/evaluation.keys --in query.bin";
    succeed(at, &format!("answer --table table.csv --key code --params {params} {inputs} --out answer.bin"));
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
    let wide = "x".repeat(9000);
    for (name, text) in [
        ("table.csv", TABLE),
        ("empty.csv", "code,name\n"),
        ("nothing.csv", ""),
        ("ragged.csv", "code,name\n1,one\n2\n"),
        ("twice.csv", "code,name\n1,one\n2,two\n1,uno\n"),
        ("columns.csv", "code,code\n1,one\n"),
        ("wide.csv", &format!("code,name\n1,{wide}\n2,{wide}\n3,{wide}\n")),
    ] {
        fs::write(at.join(name), text).unwrap();
    }
    fs::write(at.join("latin1.csv"), b"code,name\n1,caf\xe9\n").unwrap();
    let lookup = |table: &str, rest: &str| format!("lookup --table {table} --out out {rest}");
    for (table, rest, wanted) in [
        ("table.csv", "--key code --query 4", "no row where code is '4'"),
        ("table.csv", "--key kode --query 1", "its columns are code, name"),
        ("table.csv", "--key name --query tree", "did you mean 'three'?"),
        ("table.csv", "--key code --query 1 --params none", "none"),
        ("table.csv", "--key code --query 1 --threads 0", "--threads"),
        ("missing.csv", "--key code --query 1", "missing.csv: no such file"),
        ("empty.csv", "--key code --query 1", "no rows"),
        ("nothing.csv", "--key code --query 1", "nothing.csv: not a table: the file is empty"),
        ("ragged.csv", "--key code --query 1", "not a table"),
        ("latin1.csv", "--key code --query 1", "not a table"),
        ("twice.csv", "--key code --query 1", "rows 1 and 3"),
        ("columns.csv", "--key code --query 1", "two columns"),
        ("wide.csv", "--key code --query 1 --params insecure_toy_2048", "too large"),
    ] {
        refused(at, &lookup(table, rest), wanted);
    }
    refused(at, "lookup --table table.csv --key code", "--query");
    refused(at, "keygen --out keys", "--schema");
}

#[test]
fn existing_files_stay() {
    let dir = workshop("insecure_toy_2048");
    let at = dir.path();
    refused(at, "schema --table table.csv --key code --out schema.json", "schema.json: already exists");
    refused(at, "keygen --schema schema.json --insecure --out keys", "already exists");
    refused(
        at,
        "query --schema schema.json --insecure --secret-key keys/secret.key --query 1 --out query.bin",
        "already exists",
    );
    let inputs = "--params insecure_toy_2048 --evaluation-keys keys/evaluation.keys --in query.bin";
    refused(at, &format!("answer --table table.csv --key code {inputs} --out answer.bin"), "already exists");
    fs::create_dir(at.join("out")).unwrap();
    fs::write(at.join("out/public.key"), "mine").unwrap();
    refused(at, "lookup --table table.csv --key code --query 1 --out out", "already exists");
}

/// A command line that reads a given file.
type Run<'a> = &'a dyn Fn(&str) -> String;

#[test]
fn damaged_files() {
    let dir = workshop("insecure_toy_2048");
    let at = dir.path();
    let answer = |keys: &str, query: &str| {
        let table = "--table table.csv --key code --params insecure_toy_2048";
        format!("answer {table} --evaluation-keys {keys} --in {query} --out new.bin")
    };
    let decrypt = |key: &str, answer: &str| format!("decrypt --schema schema.json --secret-key {key} --in {answer}");
    let query = |schema: &str, key: &str| format!("query --schema {schema} --insecure {key} --query 1 --out new.bin");
    let runs: [(&str, Run); 5] = [
        ("keys/evaluation.keys", &|file| answer(file, "query.bin")),
        ("query.bin", &|file| answer("keys/evaluation.keys", file)),
        ("answer.bin", &|file| decrypt("keys/secret.key", file)),
        ("keys/secret.key", &|file| decrypt(file, "answer.bin")),
        ("keys/public.key", &|file| query("schema.json", &format!("--public-key {file}"))),
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
    refused(at, &decrypt("keys/public.key", "answer.bin"), "expected a secret key, but found a public key");
    refused(at, &answer("keys/evaluation.keys", "answer.bin"), "expected a query, but found an answer");
    fs::write(at.join("damaged"), "{}").unwrap();
    refused(at, &query("damaged", "--secret-key keys/secret.key"), "not a lookup schema");
}

#[test]
fn files_of_others() {
    let (dir, other) = (workshop("insecure_toy_2048"), workshop("demo"));
    let at = dir.path();
    for name in ["evaluation.keys", "secret.key", "public.key"] {
        fs::copy(other.path().join("keys").join(name), at.join(name)).unwrap();
    }
    let answer = |table: &str, rest: &str| {
        format!("answer --table {table} --key code --params insecure_toy_2048 {rest} --out new.bin")
    };
    let keys = "--evaluation-keys evaluation.keys --in query.bin";
    refused(at, &answer("table.csv", keys), "another context");
    let keys = "--secret-key secret.key --in answer.bin";
    refused(at, &format!("decrypt --schema schema.json {keys}"), "another context");

    // Another version of the table: the query was made for the first.
    fs::write(at.join("new.csv"), long_table("41")).unwrap();
    let keys = "--evaluation-keys keys/evaluation.keys --in query.bin";
    refused(at, &answer("new.csv", keys), "made for another table");

    // Another client's keys, under the same parameters.
    succeed(at, "keygen --schema schema.json --insecure --out stranger");
    let keys = "--secret-key stranger/secret.key --in answer.bin";
    refused(
        at,
        &format!("decrypt --schema schema.json {keys}"),
        "answer.bin: it belongs to another key pair than stranger/secret.key (",
    );
    let keys = "--evaluation-keys stranger/evaluation.keys --in query.bin";
    refused(
        at,
        &answer("table.csv", keys),
        "stranger/evaluation.keys: it belongs to another key pair than query.bin (",
    );
    let keys = "--secret-key keys/secret.key --in answer.bin --query 3";
    refused(at, &format!("decrypt --schema schema.json {keys}"), "holds the row of '2', not of '3'");
}

#[test]
fn missing_evaluation_keys_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    // The wide table needs more automorphisms than the narrow one's keys cover.
    fs::write(at.join("narrow.csv"), "code,name\n1,one\n").unwrap();
    fs::write(at.join("wide.csv"), long_table("40")).unwrap();
    let params = "--params insecure_toy_2048";
    succeed(at, &format!("keygen --table narrow.csv --key code {params} --out keys"));
    succeed(
        at,
        &format!("query --table wide.csv --key code {params} --secret-key keys/secret.key --query 7 --out query.bin"),
    );
    let inputs = "--evaluation-keys keys/evaluation.keys --in query.bin --out new.bin";
    refused(at, &format!("answer --table wide.csv --key code {params} {inputs}"), "the Galois key for");
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
        ("windlass_parameters", json!(9), "format version 9 is not supported (this build reads versions up to 4)"),
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
    fs::write(at.join("long.csv"), format!("code,name\n{}", "1,x\n".replace('x', &"x".repeat(2 << 20)))).unwrap();
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
        (
            "lookup --table long.csv --key code --query 1 --params demo",
            "without --params, 'lookup' takes tables of any size",
        ),
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
            "schema --tabel t.csv --json",
            "unexpected argument '--tabel' found tip: a similar argument exists: '--table'",
        ),
        ("--json keygen --schema s.json", "the following required arguments were not provided: --out <DIR>"),
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
    for line in ["schema --tabel t.csv", "schema -- --json"] {
        let output = windlass(dir.path(), line.split(' '));
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{line}");
    }
    for line in ["--json --help", "--version --json", "help schema"] {
        let output = windlass(dir.path(), line.split(' '));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}");
        assert!(text.contains("Usage") || text.starts_with("windlass "), "{line}: {text}");
    }
}
