//! The ways through the code that `ARCHITECTURE.md` lists: every function that it names exists, and
//! no way is longer than it has to be.

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

/// The section of the page.
fn section() -> String {
    let text = fs::read_to_string(crates_dir().join("../ARCHITECTURE.md")).expect("the page");
    let ways = text.split("### Six ways through the code").nth(1).and_then(|rest| rest.split("###").next());
    ways.expect("the section").to_owned()
}

/// Ways to a kernel, and the most functions of the library that each may have before it.
const MOST: [(&str, usize); 3] = [("An addition,", 5), ("An automorphism,", 8), ("A linear map", 14)];

#[test]
fn ways_to_a_kernel_are_short() {
    let text = section();
    for (title, most) in MOST {
        let way = text.split("\n\n").skip_while(|part| !part.trim_start().starts_with(title)).nth(1);
        let names = named(way.unwrap_or_else(|| panic!("no way {title}")));
        let (kernel, before) = names.split_last().expect("functions");
        assert!(kernel.0.starts_with("windlass-kernels/"), "{title} ends in a kernel: {kernel:?}");
        let count = before.iter().filter(|(file, _)| !file.starts_with("windlass-py/")).count();
        assert!((1..=most).contains(&count), "{title} has {count} functions before the kernel, at most {most}");
    }
}

#[test]
fn every_function_on_the_ways_exists() {
    let text = section();
    let ways = named(&text);
    assert!(ways.len() > 25, "{ways:?}");
    for (file, function) in ways {
        let source = fs::read_to_string(crates_dir().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let defined = ["(", "<"].iter().any(|next| source.contains(&format!("fn {function}{next}")));
        assert!(defined, "{file} has no function {function}: change the list in ARCHITECTURE.md");
    }
}
