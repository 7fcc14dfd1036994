//! The demo as a user runs it: the binary `windlass` beside this one, on two threads.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::args::Standard;
use super::report::Report;

/// The command line's binary, built into the same directory.
fn binary() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name("windlass");
    path.exists().then_some(path)
}

/// Runs the layer.
pub fn run(report: &mut Report, args: &Standard) {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/zones.csv");
    let Some(binary) = binary().filter(|_| table.exists()) else {
        report.note("the demo is not measured: build windlass-cli in the same profile first");
        report.failed = args.only.iter().any(|name| !name.is_empty());
        return;
    };
    let start = Instant::now();
    let output = Command::new(&binary)
        .args(["lookup", "--key", "zone", "--query", "Europe/Lisbon", "--threads", "2", "--json", "--table"])
        .arg(&table)
        .output();
    let total = start.elapsed().as_secs_f64();
    let parsed = output.ok().and_then(|output| serde_json::from_slice::<serde_json::Value>(&output.stdout).ok());
    let Some(result) = parsed.filter(|result| result["verified"] == true) else {
        report.note("the demo failed");
        report.failed = true;
        report.goals.at_most("demo on 2 threads: seconds in all", f64::INFINITY, 60.0);
        return;
    };
    report.note(&format!("demo: seconds by stage {}, bytes by file {}", result["seconds"], result["bytes"]));
    let keygen = result["seconds"]["keygen"].as_f64().unwrap_or(f64::NAN);
    report.goals.at_most("demo on 2 threads: seconds of keygen", keygen, 10.0);
    report.goals.at_most("demo on 2 threads: seconds in all", total, 60.0);
}
