//! The ways through the code that `ARCHITECTURE.md` lists: every function that it names exists.

use std::fs;

use crate::crates_dir;

/// The `file.rs:function` pairs of a text, in backquotes.
fn named(text: &str) -> Vec<(&str, &str)> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|code| code.split_once(".rs:").map(|_| code.rsplit_once(':'))?)
        .collect()
}

#[test]
fn every_function_on_the_ways_exists() {
    let text = fs::read_to_string(crates_dir().join("../ARCHITECTURE.md")).expect("the page");
    let ways = text.split("### Five ways through the code").nth(1).and_then(|rest| rest.split("###").next());
    let ways = named(ways.expect("the section"));
    assert!(ways.len() > 25, "{ways:?}");
    for (file, function) in ways {
        let source = fs::read_to_string(crates_dir().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let defined = ["(", "<"].iter().any(|next| source.contains(&format!("fn {function}{next}")));
        assert!(defined, "{file} has no function {function}: change the list in ARCHITECTURE.md");
    }
}
