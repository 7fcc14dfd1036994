//! `windlass train`.

use std::fs;

use crate::common::{fail, succeed};

/// Forty rows of two features, labelled by a linear rule.
fn table() -> String {
    let row = |k: usize| {
        let (x, y) = ((k as f64 * 0.7).sin() * 3.0 + 10.0, (k as f64 * 1.3).cos() * 0.1);
        let label = if (x - 10.0) / 3.0 - 4.0 * y > 0.1 { "yes" } else { "no" };
        format!("{k},{label},{x},{y}\n")
    };
    "id,class,x,y\n".to_owned() + &(0..40).map(row).collect::<String>()
}

const TOY: &str = "--preset insecure_toy_refresh_1024_slots16";

/// The weights are those of the clear training, and the model is one that `windlass score` reads.
#[test]
fn a_model_is_trained_and_scores_rows() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table()).unwrap();
    let line = format!("train --table t.csv --label class --positive yes --steps 6 {TOY} --out model.json");
    let made = succeed(dir.path(), &line);
    assert!(made["largest_difference"].as_f64().unwrap() < 5e-5, "{made}");
    assert!(made["accuracy_encrypted"].as_f64().unwrap() > 0.8, "{made}");
    assert_eq!((made["rows"].as_u64(), made["refreshes"].as_u64()), (Some(40), Some(2)));
    let scored = succeed(dir.path(), "score --table t.csv --label class --positive yes --weights model.json");
    assert_eq!(scored["accuracy_encrypted_all"], made["accuracy_encrypted"], "{scored}");
    let taken = fail(dir.path(), &line);
    assert!(taken.contains("model.json"), "{taken}");
}

#[test]
fn a_plan_is_printed_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table()).unwrap();
    let line = format!("train --table t.csv --label class --positive yes {TOY} --explain --out model.json");
    let plan = succeed(dir.path(), &line);
    assert_eq!(plan["levels_per_step"].as_u64(), Some(7));
    assert!(!dir.path().join("model.json").exists());
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table()).unwrap();
    let refused = |line: &str, wanted: &str| {
        let message = fail(dir.path(), &format!("train --table t.csv {line}"));
        assert!(message.contains(wanted), "{line}: {message}");
    };
    refused("", "--label COLUMN");
    refused(&format!("--label class {TOY}"), "--positive");
    refused(&format!("--label class --positive yes --steps 0 {TOY}"), "--steps");
    refused("--label class --positive yes --preset none", "no refresh is called none");
    refused("--label class --positive yes --preset insecure_toy_refresh_1024", "depth");
    refused(&format!("--label class --positive yes --degree 8 {TOY}"), "an odd number");
    refused(&format!("--label class --positive yes --rate 0 {TOY}"), "learning rate");
    refused(&format!("--label class --positive yes --out model.txt {TOY}"), ".json");
    fs::write(dir.path().join("t.csv"), table().replace("3,", "3,x")).unwrap();
    refused(&format!("--label class --positive yes {TOY}"), "number");
}
