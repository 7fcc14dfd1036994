//! Stages as processes.

use std::path::Path;
use std::process::{Command, Output};

/// Runs a stage of a program in a directory.
fn stage(program: &str, directory: &Path, name: &str, arguments: &[&str]) -> Output {
    Command::new(program).arg(name).args(arguments).current_dir(directory).output().expect("the program runs")
}

/// Expects success.
pub fn succeed(program: &str, directory: &Path, name: &str, arguments: &[&str]) {
    let output = stage(program, directory, name, arguments);
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Expects an error that says `what`, and no panic.
pub fn refuse(program: &str, directory: &Path, name: &str, arguments: &[&str], what: &str) {
    let output = stage(program, directory, name, arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name}: {message}");
    assert!(message.starts_with("error: ") && message.contains(what), "{name}: {message}");
}
