//! Messages in the words of their reader: a Rust name in an error message has words of Python in
//! `windlass-py/src/error.rs`, and words of the command line in `windlass-cli/src/words.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::crates_dir;

/// The crates whose errors reach Python.
const CRATES: [&str; 9] = [
    "windlass-kernels",
    "windlass-ring",
    "windlass-rlwe",
    "windlass-schemes",
    "windlass-circuits",
    "windlass-bootstrap",
    "windlass-wire",
    "windlass-retrieval",
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

/// Lines of code whose literals no user reads: attributes, comments, our own bugs, and the exact mock, which is
/// for tests.
fn is_silent(line: &str) -> bool {
    let line = line.trim_start();
    ["//", "#[", "let context", "Exact, WireContext"].iter().any(|start| line.starts_with(start))
        || ["assert", "expect(", "panic!", "files!(", "\"let spec", "Clear::"].iter().any(|part| line.contains(part))
}

/// Every literal of the crates whose messages reach users of Python and of the command line.
#[test]
fn rust_names_in_messages_have_words_of_python_and_of_commands() {
    let read = |path: &str| fs::read_to_string(crates_dir().join(path)).expect("the words");
    let words = ["windlass-py/src/error.rs", "windlass-cli/src/words.rs"].map(|path| (path, read(path)));
    let mut files = Vec::new();
    CRATES.iter().for_each(|name| sources(&crates_dir().join(name).join("src"), &mut files));
    let mut found = 0;
    for file in &files {
        let text = fs::read_to_string(file).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in code.lines().filter(|line| !is_silent(line)).flat_map(names) {
            found += 1;
            for (path, words) in &words {
                assert!(words.contains(&name), "{}: {name} has no words in {path}", file.display());
            }
        }
    }
    assert!(found > 20, "{found} names");
}
