//! Secret keys that a passphrase encrypts, without a terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::common::{fail, snapshot, succeed};

const TABLE: &str = "code,name\n1,one\n2,two\n3,three\n";
const WORDS: &str = "two or three words";

/// A table, its schema, and a file with a passphrase.
fn workshop() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("table.csv"), TABLE).unwrap();
    fs::write(at.join("words"), format!("{WORDS}\n")).unwrap();
    fs::write(at.join("wrong"), "another\n").unwrap();
    succeed(at, "table build --table table.csv --key code --out served");
    dir
}

/// Runs a line that must fail and change no file; the message must contain `wanted`, and no
/// passphrase.
fn refused(at: &Path, line: &str, wanted: &str) {
    let before = snapshot(at);
    let message = fail(at, line);
    assert!(message.contains(wanted), "windlass {line}\nsays: {message}wanted: {wanted}");
    // Beside the error the bits of security; a busy machine says what it does.
    let lines = message.lines().filter(|line| !line.ends_with(" ...")).count();
    assert!(!message.contains(WORDS) && !message.contains("another\n") && lines <= 2, "{message}");
    assert!(snapshot(at) == before, "windlass {line} made or changed a file");
}

/// With the environment variable that names a passphrase's file.
fn with_variable(at: &Path, file: &str, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.current_dir(at).env("WINDLASS_PASSPHRASE_FILE", file).args(line.split_whitespace());
    command.stdin(Stdio::null()).output().unwrap()
}

fn is_encrypted(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap();
    assert!(bytes.starts_with(b"WINDLASS"));
    bytes[10] == 15
}

#[test]
fn a_lookup_goes_through_with_an_encrypted_key() {
    let dir = workshop();
    let at = dir.path();
    succeed(at, "table keygen --schema served/schema.json --passphrase-file words --out keys");
    assert!(is_encrypted(&at.join("keys/secret.key")));
    let query = "table query --schema served/schema.json --secret-key keys/secret.key --query 2 --out query.bin";
    refused(at, query, "keys/secret.key: a passphrase is needed, but standard input is not a terminal");
    refused(at, query, "--passphrase-file FILE");
    refused(at, &format!("{query} --passphrase-file wrong"), "keys/secret.key: the passphrase is wrong");
    refused(at, &format!("{query} --passphrase-file none"), "none: no such file");
    fs::write(at.join("empty"), "\nsecond line\n").unwrap();
    refused(at, &format!("{query} --passphrase-file empty"), "empty: the passphrase is empty");
    succeed(at, &format!("{query} --passphrase-file words"));
    let inputs = "--evaluation-keys keys/evaluation.keys --in query.bin";
    succeed(at, &format!("table answer --dir served {inputs} --out answer.bin"));
    let decrypt = "table decrypt --schema served/schema.json --secret-key keys/secret.key --in answer.bin --query 2";
    refused(at, decrypt, "--passphrase-file FILE");
    let report = succeed(at, &format!("{decrypt} --passphrase-file words"));
    assert_eq!(report["rows"][0]["name"], "two");
    // And with the file that the environment names; an option goes before it.
    assert!(with_variable(at, "words", decrypt).status.success());
    assert!(!with_variable(at, "wrong", decrypt).status.success());
    assert!(with_variable(at, "wrong", &format!("{decrypt} --passphrase-file words")).status.success());
    // Public keys have none.
    let public = "refresh encrypt --preset insecure_boot_256_p257 --public-key keys/public.key --values 1 --out q";
    assert!(fail(at, &format!("{public} --passphrase-file words")).contains("cannot be used with"));
}

#[test]
fn keys_are_encrypted_where_that_was_said_and_nowhere_else() {
    let dir = workshop();
    let at = dir.path();
    let keygen = "table keygen --schema served/schema.json";
    refused(at, &format!("{keygen} --passphrase --out keys"), "--passphrase-file FILE");
    assert!(with_variable(at, "words", &format!("{keygen} --passphrase --out sealed")).status.success());
    assert!(with_variable(at, "words", &format!("{keygen} --out plain")).status.success());
    assert!(is_encrypted(&at.join("sealed/secret.key")) && !is_encrypted(&at.join("plain/secret.key")));
    // Who names a passphrase expects a key that has one; the environment expects nothing.
    let query = "table query --schema served/schema.json --secret-key plain/secret.key --query 2 --out query.bin";
    refused(at, &format!("{query} --passphrase-file words"), "plain/secret.key: this secret key is not encrypted");
    assert!(with_variable(at, "none", query).status.success());
}

/// If the system has no memory for a passphrase, the message says how much is needed and what to
/// do.
#[cfg(target_os = "linux")]
#[test]
fn passphrases_take_memory_that_a_refusal_names() {
    let dir = workshop();
    let at = dir.path();
    succeed(at, "table keygen --schema served/schema.json --passphrase-file words --out keys");
    let told = |kilobytes: u32| {
        let line = "key open --in keys/secret.key --passphrase-file words --out new.key --threads 1";
        let line = format!("ulimit -v {kilobytes}; exec {} {line}", env!("CARGO_BIN_EXE_windlass"));
        let output = Command::new("sh").current_dir(at).args(["-c", &line]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // What a process takes beside it differs.
    let refused = (20_000..200_000).step_by(5000).map(told).find(|(_, told)| told.contains("its passphrase needs"));
    let (code, told) = refused.expect("a limit at which the passphrase is what does not fit");
    assert!(told.starts_with("windlass: keys/secret.key: its passphrase needs 64 MiB of memory"), "{told}");
    assert!(code == Some(2) && told.contains("ulimit -v") && told.lines().count() == 1, "{told}");
}

#[test]
fn keys_are_sealed_and_opened() {
    let dir = workshop();
    let at = dir.path();
    succeed(at, "table keygen --schema served/schema.json --out keys");
    let plain = fs::read(at.join("keys/secret.key")).unwrap();
    succeed(at, "key seal --in keys/secret.key --passphrase-file words --out sealed.key");
    let sealed = fs::read(at.join("sealed.key")).unwrap();
    assert!(is_encrypted(&at.join("sealed.key")));
    assert!(!sealed.windows(16).any(|bytes| plain[68..].windows(16).any(|secret| secret == bytes)));
    succeed(at, "key open --in sealed.key --passphrase-file words --out plain.key");
    assert_eq!(fs::read(at.join("plain.key")).unwrap(), plain);
    assert_eq!(fs::read(at.join("keys/secret.key")).unwrap(), plain);
    #[cfg(unix)]
    for name in ["sealed.key", "plain.key"] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(at.join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    // A new passphrase, without a plain key in between.
    let again = "key seal --in sealed.key --passphrase-file wrong";
    refused(at, &format!("{again} --out new.key"), "sealed.key: a passphrase is needed");
    // The passphrase that it has is no new one, and the variable is one passphrase.
    let same = "key seal --in sealed.key --passphrase-file words --old-passphrase-file words --out new.key";
    refused(at, same, "the new passphrase is the same as that of sealed.key");
    for line in
        ["key seal --in sealed.key --out new.key", "key seal --in sealed.key --passphrase-file words --out new.key"]
    {
        let output = with_variable(at, "words", line);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && !at.join("new.key").exists(), "{told}");
        let wanted = if line.contains("words") { "is the same as that of" } else { "with --passphrase-file" };
        assert!(told.contains(wanted), "{told}");
    }
    succeed(at, &format!("{again} --old-passphrase-file words --out new.key"));
    assert!(with_variable(at, "words", &format!("{again} --out newer.key")).status.success());
    refused(at, "key open --in newer.key --passphrase-file words --out x", "the passphrase is wrong");
    refused(at, "key open --in new.key --passphrase-file words --out x", "the passphrase is wrong");
    succeed(at, "key open --in new.key --passphrase-file wrong --out x");
    // What is no secret key, what is damaged, and what would be written over.
    refused(at, "key seal --in keys/evaluation.keys --passphrase-file words --out y", "expected a secret key");
    refused(
        at,
        "key open --in keys/evaluation.keys --passphrase-file words --out y",
        "expected an encrypted secret key",
    );
    refused(at, "key open --in keys/secret.key --out y", "is not encrypted");
    refused(at, "key seal --in table.csv --passphrase-file words --out y", "table.csv: this is not a Windlass file");
    refused(at, "key seal --in missing --passphrase-file words --out y", "missing: no such file");
    refused(at, "key seal --in keys/secret.key --passphrase-file words --out x", "x: already exists");
    let mut damaged = sealed;
    damaged[130] ^= 1;
    fs::write(at.join("damaged.key"), damaged).unwrap();
    refused(at, "key open --in damaged.key --passphrase-file words --out y", "damaged.key: the file is corrupt");
}

/// A key of other parameters is refused before its passphrase is asked for, or read from a file.
#[test]
fn keys_of_other_parameters_are_not_asked_about() {
    let dir = workshop();
    let at = dir.path();
    succeed(at, "table keygen --schema served/schema.json --passphrase-file words --out keys");
    let earlier = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/lookup-schema-v1.json");
    fs::copy(earlier, at.join("earlier.json")).unwrap();
    let other = "belongs to another context";
    for line in [
        "decrypt --schema earlier.json --secret-key keys/secret.key --in none",
        "refresh encrypt --preset insecure_boot_256_p257 --secret-key keys/secret.key --values 3 --out q",
        "refresh decrypt --preset insecure_boot_256_p257 --secret-key keys/secret.key --in none",
    ] {
        refused(at, line, other);
        refused(at, &format!("{line} --passphrase-file nowhere"), other);
    }
}

/// Every command that reads a secret key; `windlass ask` has its own test, beside its service.
#[test]
fn other_applications_take_encrypted_keys() {
    let dir = workshop();
    let at = dir.path();
    succeed(at, "refresh keygen --preset insecure_boot_256_p257 --passphrase-file words --out boot");
    let with = "--preset insecure_boot_256_p257 --secret-key boot/secret.key";
    refused(at, &format!("refresh encrypt {with} --values 3,1 --out x.bin"), "--passphrase-file FILE");
    succeed(at, &format!("refresh encrypt {with} --values 3,1 --out x.bin --passphrase-file words"));
    refused(at, &format!("refresh decrypt {with} --in x.bin"), "--passphrase-file FILE");
    succeed(at, &format!("refresh decrypt {with} --in x.bin --values 3,1 --passphrase-file words"));

    fs::write(at.join("model.csv"), "a,b,bias\n0.5,-0.25,0.125\n").unwrap();
    fs::write(at.join("rows.csv"), "id,a,b\n1,1,2\n2,-1,0.5\n").unwrap();
    succeed(at, "score schema --weights model.csv --out score.json");
    succeed(at, "score keygen --schema score.json --passphrase-file words --out score");
    let with = "--schema score.json --secret-key score/secret.key";
    refused(at, &format!("score encrypt {with} --table rows.csv --out rows.bin"), "--passphrase-file FILE");
    succeed(at, &format!("score encrypt {with} --table rows.csv --out rows.bin --passphrase-file words"));
    let keys = "--weights model.csv --evaluation-keys score/evaluation.keys";
    succeed(at, &format!("score apply --schema score.json {keys} --in rows.bin --out scores.bin"));
    refused(at, &format!("score decrypt {with} --in scores.bin"), "--passphrase-file FILE");
    let report = succeed(at, &format!("score decrypt {with} --in scores.bin --passphrase-file words"));
    assert_eq!(report["rows"], 2);

    succeed(at, "search schema --table rows.csv --key id --metric inner-product --out search.json");
    succeed(at, "search keygen --schema search.json --passphrase-file words --out search");
    let with = "--schema search.json --secret-key search/secret.key --query rows.csv --key id";
    refused(at, &format!("search query {with} --out near.bin"), "--passphrase-file FILE");
    succeed(at, &format!("search query {with} --out near.bin --passphrase-file words"));
    let keys = "--table rows.csv --key id --evaluation-keys search/evaluation.keys";
    succeed(at, &format!("search answer --schema search.json {keys} --in near.bin --out scored.bin"));
    refused(at, &format!("search decrypt {with} --in scored.bin"), "--passphrase-file FILE");
    let report = succeed(at, &format!("search decrypt {with} --in scored.bin --passphrase-file words"));
    assert_eq!(report["nearest"].as_array().map(Vec::len), Some(2));

    succeed(at, "table keygen --schema served/schema.json --passphrase-file words --out client");
    let with = "--schema served/schema.json --secret-key client/secret.key --query 2";
    refused(at, &format!("table query {with} --out rows.bin2"), "--passphrase-file FILE");
    succeed(at, &format!("table query {with} --out asked.bin --passphrase-file words"));
    let keys = "--dir served --evaluation-keys client/evaluation.keys";
    succeed(at, &format!("table answer {keys} --in asked.bin --out told.bin"));
    refused(at, &format!("table decrypt {with} --in told.bin"), "--passphrase-file FILE");
    let report = succeed(at, &format!("table decrypt {with} --in told.bin --passphrase-file words"));
    assert_eq!(report["rows"][0]["name"], "two");
}
