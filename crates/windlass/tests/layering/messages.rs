//! Messages in the words of their reader: a Rust name in an error message has words of Python in
//! `windlass-py/src/error.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::crates_dir;

/// The crates whose errors reach Python.
const CRATES: [&str; 7] = [
    "windlass-kernels",
    "windlass-ring",
    "windlass-rlwe",
    "windlass-schemes",
    "windlass-circuits",
    "windlass-bootstrap",
    "windlass",
];

/// `Type::item` names in the string literals of one line.
fn names(line: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let in_literal = |literal: &str| -> Vec<String> {
        let parts: Vec<&str> = literal.split("::").collect();
        let pairs = parts.windows(2).filter_map(|pair| {
            let item: String = pair[1].chars().take_while(|&c| is_name(c)).collect();
            let start = pair[0].rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
            let owner = &pair[0][start..];
            (!owner.is_empty() && !item.is_empty()).then(|| format!("{owner}::{item}"))
        });
        pairs.collect()
    };
    line.split('"').skip(1).step_by(2).flat_map(in_literal).collect()
}

/// All sources below a folder.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, into),
            false if path.extension().is_some_and(|end| end == "rs") => into.push(path),
            false => {}
        }
    }
}

#[test]
fn names_are_found_in_literals_alone() {
    assert_eq!(names(r#"f(A::b, "use C::d_e, or F::G(1)"); H::i"#), ["C::d_e", "F::G"]);
}

/// The files of errors, and every message that is formatted elsewhere and names an option.
#[test]
fn rust_names_in_messages_have_words_of_python() {
    let python = fs::read_to_string(crates_dir().join("windlass-py/src/error.rs")).expect("the words");
    let mut files = Vec::new();
    CRATES.iter().for_each(|name| sources(&crates_dir().join(name).join("src"), &mut files));
    let mut found = 0;
    for file in &files {
        let text = fs::read_to_string(file).expect("a source");
        let is_of_errors = file.components().any(|part| part.as_os_str().to_string_lossy().starts_with("error"));
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_message = |line: &&str| is_of_errors || line.contains("format!(") || line.contains("; use ");
        for name in code.lines().filter(is_message).filter(|line| !line.trim_start().starts_with("//")).flat_map(names)
        {
            found += 1;
            let said = python.contains(&name);
            assert!(said, "{}: {name} has no words in windlass-py/src/error.rs", file.display());
        }
    }
    assert!(found > 15, "{found} names");
}
