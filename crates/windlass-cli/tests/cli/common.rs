//! Runs the binary as a separate process.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The table that ships with the repository.
pub fn zones() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/zones.csv")
}

/// One run of `windlass` with the given arguments, in the directory `at`.
pub fn windlass<S: AsRef<OsStr>>(at: &Path, arguments: impl IntoIterator<Item = S>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_windlass")).current_dir(at).args(arguments).output().expect("the binary runs")
}

/// Splits a command line at blanks and runs it; it must succeed, and its JSON is the result.
pub fn succeed(at: &Path, line: &str) -> Value {
    let output = windlass(at, line.split_whitespace().chain(["--json"]));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "windlass {line}: {errors}");
    assert!(errors.lines().all(is_warning), "windlass {line} wrote to standard error: {errors}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// Whether a line of standard error warns of parameters below 128 bits. Scripts get the warning
/// too.
pub fn is_warning(line: &str) -> bool {
    line.starts_with("windlass: parameters ")
        && line.ends_with(" bits of security, fewer than 128: use it only in tests")
}

/// Runs a command line that must fail with exit code 2 and nothing on standard output; its message
/// is the result.
pub fn fail(at: &Path, line: &str) -> String {
    let output = windlass(at, line.split_whitespace());
    assert_eq!(output.status.code(), Some(2), "windlass {line}");
    assert!(output.stdout.is_empty(), "windlass {line} wrote to standard output");
    String::from_utf8(output.stderr).expect("a message in UTF-8")
}

/// The names and bytes of all files below a directory.
pub fn snapshot(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).expect("a readable directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let bytes = std::fs::read(&path).expect("a readable file");
                files.push((path, bytes));
            }
        }
    }
    files.sort();
    files
}
