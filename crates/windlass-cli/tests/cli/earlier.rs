//! Files of earlier versions, and commands that they had.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{fail, snapshot, succeed, windlass};

/// A schema, a secret key and an answer that version 0.2 made: with the name of a parameter set, or
/// with the parameters written out.
fn earlier(version: u32) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, extension) in [("schema", "json"), ("secret-key", "bin"), ("answer", "bin")] {
        fs::copy(golden.join(format!("lookup-{name}-v{version}.{extension}")), dir.path().join(name)).unwrap();
    }
    dir
}

const DECRYPT: &str = "decrypt --schema schema --secret-key secret-key --in answer";

fn refused(at: &Path, line: &str, wanted: &str) {
    let before = snapshot(at);
    let message = fail(at, line);
    assert!(message.contains(wanted), "windlass {line}\nsays: {message}wanted: {wanted}");
    assert!(snapshot(at) == before, "windlass {line} made or changed a file");
}

#[test]
fn answers_of_earlier_versions_are_decrypted() {
    for version in [1, 2] {
        let dir = earlier(version);
        let report = succeed(dir.path(), DECRYPT);
        assert_eq!(report["row"], json!({"zone": "Asia/Tokyo", "country": "JP"}));
        assert_eq!(report["verified"], false);
        let report = succeed(dir.path(), &format!("{DECRYPT} --query Asia/Tokyo"));
        assert_eq!((&report["row"]["country"], &report["verified"]), (&json!("JP"), &json!(true)));
    }
}

#[test]
fn an_encrypted_key_of_an_earlier_version_decrypts() {
    let dir = earlier(1);
    let at = dir.path();
    fs::write(at.join("words"), "two words\n").unwrap();
    succeed(at, "key seal --in secret-key --passphrase-file words --out sealed");
    let line = DECRYPT.replace("secret-key secret-key", "secret-key sealed");
    refused(at, &line, "--passphrase-file FILE");
    assert_eq!(succeed(at, &format!("{line} --passphrase-file words"))["row"]["country"], "JP");
}

#[test]
fn answers_to_other_queries_and_of_other_tables_are_refused() {
    let (dir, other) = (earlier(1), earlier(2));
    let at = dir.path();
    refused(at, &format!("{DECRYPT} --query Europe/Lisbon"), "holds the row of 'Asia/Tokyo', not of 'Europe/Lisbon'");
    refused(at, &format!("{DECRYPT} --query Asia/Tokio"), "did you mean 'Asia/Tokyo'?");
    // The same rows under another name: not the table of the query.
    let text = fs::read_to_string(at.join("schema")).unwrap();
    fs::write(at.join("renamed"), text.replace("country", "land")).unwrap();
    refused(at, &DECRYPT.replace("schema schema", "schema renamed"), "answer: it was made for another table");
    for name in ["secret-key", "answer"] {
        fs::copy(other.path().join(name), at.join("foreign")).unwrap();
        let with = if name == "answer" { "in" } else { name };
        let line = DECRYPT.replace(&format!("--{with} {name}"), &format!("--{with} foreign"));
        refused(at, &line, "foreign: it belongs to another context");
    }
}

#[test]
fn damaged_files_of_earlier_versions_are_refused() {
    let dir = earlier(1);
    let at = dir.path();
    for (name, line) in [("answer", "--in damaged"), ("secret-key", "--secret-key damaged")] {
        let whole = fs::read(at.join(name)).unwrap();
        let option = line.split(' ').next().unwrap();
        let line = DECRYPT.replace(&format!("{option} {name}"), line);
        for end in [5, 70, whole.len() - 1] {
            fs::write(at.join("damaged"), &whole[..end]).unwrap();
            refused(at, &line, "damaged: ");
        }
        let mut bytes = whole;
        bytes[100] ^= 1;
        fs::write(at.join("damaged"), bytes).unwrap();
        refused(at, &line, "corrupt");
    }
}

/// A schema comes from another party and may contain anything.
#[test]
fn crafted_schemas_are_refused() {
    let dir = earlier(2);
    let at = dir.path();
    let schema: Value = serde_json::from_slice(&fs::read(at.join("schema")).unwrap()).unwrap();
    let line = DECRYPT.replace("schema schema", "schema crafted");
    let refused = |field: &str, value: Value, wanted: &str| {
        let mut crafted = schema.clone();
        crafted[field] = value;
        fs::write(at.join("crafted"), crafted.to_string()).unwrap();
        let message = fail(at, &line);
        assert!(message.contains("crafted: ") && message.contains(wanted), "{field}: {message}");
        assert!(!message.contains(['\u{1b}', '\u{7}']), "{message:?}");
    };
    for bytes in [u64::MAX, u64::MAX / 2 + 1, u64::MAX / 8 + 1, 1 << 40] {
        refused("record_bytes", json!(bytes), "only the owner of the table can choose others");
    }
    refused("\u{1b}[31m", json!(1), "not a lookup schema");
    let parameters = |field: &str, value: Value| {
        let mut own = schema["parameters"].clone();
        own[field] = value;
        refused("parameters", own, "");
    };
    parameters("q_prime_bits", json!(vec![50; 40]));
    parameters("q_prime_bits", json!(vec![50; 100_000]));
    parameters("assurance", json!("none"));
    parameters("m", json!(1u64 << 60));
    for digits in [json!(0), json!(u64::MAX), json!(-1), json!(null)] {
        parameters("digits", digits);
    }
    let mut named: Value = serde_json::from_slice(&fs::read(earlier(1).path().join("schema")).unwrap()).unwrap();
    named["parameters"] = json!("\u{1b}]0;owned\u{7}");
    fs::write(at.join("crafted"), named.to_string()).unwrap();
    let message = fail(at, &line);
    assert!(message.contains("there is no parameter set") && message.contains("owned"), "{message}");
    assert!(!message.contains(['\u{1b}', '\u{7}']), "{message:?}");
}

/// Who types a command of an earlier version learns which command replaces it, whatever the options.
#[test]
fn removed_commands_name_those_that_replace_them() {
    let dir = tempfile::tempdir().unwrap();
    for (line, replacement) in [
        ("schema --table t.csv --key id --out schema.json", "windlass table build --table FILE"),
        ("keygen --schema schema.json --out keys", "windlass table keygen --schema FILE"),
        ("query --table t.csv --key id --secret-key k --query 1 --out q", "windlass table query --schema FILE"),
        ("answer --help", "windlass table answer --dir DIR"),
        ("explain", "windlass table plan --table FILE"),
    ] {
        let name = line.split(' ').next().unwrap();
        let told = fail(dir.path(), line);
        assert!(told.contains(&format!("'windlass {name}' is a command of earlier versions")), "{told}");
        assert!(told.contains(replacement) && told.lines().count() == 1, "{told}");
        for line in [format!("--json {line}"), format!("{line} --json")] {
            let output = windlass(dir.path(), line.split(' '));
            let object: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
            assert!(object["error"].as_str().unwrap().contains(replacement) && object["exit_code"] == 2, "{line}");
        }
    }
    let help = String::from_utf8(windlass(dir.path(), ["--help"]).stdout).unwrap();
    assert!(help.contains("  lookup ") && !help.contains("  explain ") && !help.contains("  keygen "), "{help}");
}
