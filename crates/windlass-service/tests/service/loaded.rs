//! The load, a short one.

use std::process::Command;

use crate::common::text;

#[test]
fn no_row_is_wrong_and_no_query_lost_while_everything_goes_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_windlass-load"))
        .args("--clients 4 --seconds 5 --rows 300 --bytes 60 --threads 2 --json load.json".split_whitespace())
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("load.json")).unwrap()).unwrap();
    assert!(report["answers"]["found"].as_u64().unwrap() > 20 && report["answers"]["absent"].as_u64().unwrap() > 0);
    assert!(
        report["faults"]["services killed"] == 2 && report["faults"]["altered bodies refused"].as_u64().unwrap() > 3
    );
}
