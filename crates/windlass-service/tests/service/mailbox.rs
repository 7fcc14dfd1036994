//! A mailbox and its clients as processes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use windlass::wire::{KeyId, Kind, Label, seal, sha256};

struct Running {
    child: Child,
    address: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(at: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-mailbox"));
    command.current_dir(at).args(line.split_whitespace());
    command
}

fn start(at: &Path, options: &str) -> Running {
    let mut serve = command(at, &format!("serve --dir box --listen 127.0.0.1:0 {options}"));
    let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
    Running { child, address }
}

fn run(at: &Path, line: &str) -> Output {
    command(at, &format!("{line} --json")).output().unwrap()
}

fn succeed(at: &Path, line: &str) -> Value {
    let output = run(at, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn fail(at: &Path, line: &str) -> String {
    let output = run(at, line);
    assert_eq!(output.status.code(), Some(2), "{line}");
    String::from_utf8(output.stderr).unwrap()
}

/// A message in the form of one of this agreement.
fn message(agreement: &str, body: &[u8]) -> Vec<u8> {
    let payload = [&sha256(agreement.as_bytes())[..], &[2, 0, 0, 0, 1], body, &[0; 64]].concat();
    seal(&Label { kind: Kind::PartyMessage, context: [5; 32], key: KeyId([1; 16]) }, &payload)
}

#[test]
fn messages_go_through_a_mailbox_once() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("agreement.json"), "an agreement\n").unwrap();
    fs::write(at.join("other.json"), "another").unwrap();
    fs::create_dir(at.join("mine")).unwrap();
    let [first, second] = [b"first", b"later"].map(|body| message("an agreement", body));
    fs::write(at.join("mine/a.message"), &first).unwrap();
    fs::write(at.join("mine/b.message"), &second).unwrap();
    fs::write(at.join("mine/notes"), "no message").unwrap();
    let running = start(at, "--messages 3");
    let to = format!("{} --agreement agreement.json", running.address);
    assert_eq!(succeed(at, &format!("send {to} mine")), json!({ "new": 2, "again": 0 }));
    assert_eq!(succeed(at, &format!("send {to} mine")), json!({ "new": 0, "again": 2 }));
    assert_eq!(succeed(at, &format!("fetch {to} --out theirs")), json!({ "new": 2, "again": 0 }));
    assert_eq!(succeed(at, &format!("fetch {to} --out theirs")), json!({ "new": 0, "again": 2 }));
    let mut found: Vec<Vec<u8>> = Vec::new();
    for entry in fs::read_dir(at.join("theirs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with("2-keys-") && name.ends_with(".message"), "{name}");
        found.push(fs::read(path).unwrap());
    }
    found.sort();
    let mut wanted = [first, second];
    wanted.sort();
    assert_eq!(found, wanted);
    // What does not belong, what is none, and too much.
    let other = format!("{} --agreement other.json", running.address);
    assert_eq!(succeed(at, &format!("fetch {other} --out nothing")), json!({ "new": 0, "again": 0 }));
    assert!(fail(at, &format!("send {other} mine")).contains("no message of this agreement"));
    assert!(fail(at, &format!("send {to} mine/notes")).contains("no message of this agreement"));
    assert!(fail(at, &format!("send {to} mine/none.message")).contains("none.message"));
    for (name, wanted) in [("c", true), ("d", false)] {
        fs::write(at.join(name), message("an agreement", name.as_bytes())).unwrap();
        let output = run(at, &format!("send {to} {name}"));
        assert_eq!(output.status.success(), wanted, "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(fail(at, &format!("send {to} d")).contains("The mailbox is full"));
    // After a restart as before.
    drop(running);
    let running = start(at, "--messages 3");
    let to = format!("{} --agreement agreement.json", running.address);
    assert!(fail(at, &format!("send {to} d")).contains("The mailbox is full"));
    assert_eq!(succeed(at, &format!("fetch {to} --out again")), json!({ "new": 3, "again": 0 }));
    assert!(fail(at, "send 127.0.0.1:1 --agreement agreement.json mine").contains("127.0.0.1:1"));
}

#[test]
fn strangers_have_no_token() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let token = "a-token-of-more-than-enough-letters-0123456789";
    let hash = windlass::wire::hex(&sha256(token.as_bytes()));
    fs::write(at.join("tokens"), format!("ada {hash}\n")).unwrap();
    fs::write(at.join("token"), token).unwrap();
    fs::write(at.join("agreement.json"), "an agreement").unwrap();
    let running = start(at, "--tokens tokens");
    let from = format!("fetch {} --agreement agreement.json --out there", running.address);
    assert!(fail(at, &from).contains("needs a token"));
    assert_eq!(succeed(at, &format!("{from} --token-file token")), json!({ "new": 0, "again": 0 }));
}
