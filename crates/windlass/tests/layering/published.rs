//! A published crate has only its own files: what its sources include must lie in its folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{crates_dir, rust_files};

/// Whether an attribute makes the next item a part of tests alone.
fn is_for_tests(line: &str) -> bool {
    line == "#[cfg(test)]" || line == "#[cfg(doctest)]"
}

/// The files that a source includes outside of tests. An item of tests is one line, or ends at the first `}`
/// that is not indented.
fn included(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if is_for_tests(line) {
            let item = lines.find(|line| !line.starts_with("#["));
            if item.is_some_and(|line| line.ends_with('{')) {
                let _ = lines.find(|line| *line == "}");
            }
            continue;
        }
        for (at, call) in line.match_indices("include_str!(\"").chain(line.match_indices("include_bytes!(\"")) {
            found.extend(line[at + call.len()..].split('"').next());
        }
    }
    found
}

/// A path without `..`, which need not exist.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
        plain
    })
}

#[test]
fn includes_of_tests_are_left_out() {
    let source = "#[doc = include_str!(\"a\")]\n#[cfg(doctest)]\n#[doc = include_str!(\"b\")]\nstruct B;\n\
                  #[cfg(test)]\nmod tests {\n    use x;\n    const C: &str = include_str!(\"c\");\n}\nconst D: &[u8] = include_bytes!(\"d\");\n";
    assert_eq!(included(source), ["a", "d"]);
}

#[test]
fn published_crates_include_only_their_own_files() {
    let (mut outside, mut seen) = (Vec::new(), 0);
    for folder in fs::read_dir(crates_dir()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        if fs::read_to_string(folder.join("Cargo.toml")).unwrap().lines().any(|line| line == "publish = false") {
            continue;
        }
        let own = folder.join("src");
        for file in rust_files(&own).into_iter().filter(|file| !file.ends_with("tests.rs")) {
            let source = fs::read_to_string(&file).unwrap();
            for name in included(&source) {
                let path = plain(&file.with_file_name(name));
                seen += 1;
                if !path.starts_with(&folder) {
                    outside.push(format!("{} includes {name}", file.display()));
                }
            }
        }
    }
    assert!(seen >= 8, "only {seen} files are included: were they read?");
    assert!(outside.is_empty(), "`cargo publish` cannot build these: {outside:#?}");
}
