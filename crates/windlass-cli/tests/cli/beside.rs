//! `windlass serve` and `windlass ask`, which are separate programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Writes a program that tells its name and its arguments, and ends with code 3.
fn program(dir: &Path, name: &str) {
    let path = dir.join(name);
    fs::write(&path, "#!/bin/sh\necho \"$(basename \"$0\"): $*\"\nexit 3\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(own: &Path, path: &Path, line: &str) -> Output {
    Command::new(own)
        .args(line.split_whitespace())
        .env("PATH", format!("{}:/usr/bin:/bin", path.display()))
        .output()
        .unwrap()
}

#[test]
fn programs_beside_or_on_the_path_take_over_with_all_their_arguments() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let own = here.path().join("windlass");
    fs::copy(env!("CARGO_BIN_EXE_windlass"), &own).unwrap();
    let missing = run(&own, there.path(), "serve --table T");
    assert_eq!(missing.status.code(), Some(2));
    let message = String::from_utf8(missing.stderr).unwrap();
    assert!(message.contains("'windlass-serve'") && message.contains("cargo install"), "{message}");
    program(there.path(), "windlass-serve");
    program(here.path(), "windlass-ask");
    for (line, told) in [
        ("serve --table T --listen [::1]:0", "windlass-serve: --table T --listen [::1]:0\n"),
        ("--json --threads 3 serve --table T", "windlass-serve: --json --threads 3 --table T\n"),
        ("serve --json --table T --threads 2", "windlass-serve: --json --table T --threads 2\n"),
        ("serve --help", "windlass-serve: --help\n"),
        ("ask host:1 --key -- --json", "windlass-ask: host:1 --key -- --json\n"),
        ("ask --json host:1 --row 7", "windlass-ask: --json host:1 --row 7\n"),
    ] {
        let output = run(&own, there.path(), line);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), told, "{line}");
        assert_eq!(output.status.code(), Some(3), "{line}");
    }
}
