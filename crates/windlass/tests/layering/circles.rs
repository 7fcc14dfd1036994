//! No two files of a crate import each other, directly or around a circle.

use std::collections::{BTreeSet, VecDeque};

use crate::imports::{Imports, read};
use crate::{LAYERS, crates_dir};

/// Arrows that still close a circle: crate, importing file, imported file. The list only shrinks:
/// an arrow that closes none beside the others is an error.
const KNOWN: &[(&str, &str, &str)] = &[];

/// The shortest way from one file to another along arrows.
fn way(arrows: &BTreeSet<(usize, usize)>, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut ways = VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::from([from]);
    while let Some(way) = ways.pop_front() {
        let end = way[way.len() - 1];
        if end == to {
            return Some(way);
        }
        for &(_, next) in arrows.range((end, 0)..=(end, usize::MAX)) {
            if seen.insert(next) {
                ways.push_back([way.clone(), vec![next]].concat());
            }
        }
    }
    None
}

/// A circle of least length through an arrow, as file names.
fn circle(imports: &Imports, arrows: &BTreeSet<(usize, usize)>) -> Option<String> {
    let ways = arrows.iter().filter_map(|&(from, to)| way(arrows, to, from));
    let shortest = ways.min_by_key(Vec::len)?;
    let names: Vec<&str> = shortest.iter().chain(&shortest[..1]).map(|&file| &*imports.files[file]).collect();
    Some(names.join(" → "))
}

fn arrow(imports: &Imports, from: &str, to: &str) -> Option<(usize, usize)> {
    let index = |file: &str| imports.files.iter().position(|f| f == file);
    Some((index(from)?, index(to)?))
}

fn known_arrows(name: &str, imports: &Imports) -> BTreeSet<(usize, usize)> {
    KNOWN.iter().filter(|(of, ..)| *of == name).filter_map(|(_, from, to)| arrow(imports, from, to)).collect()
}

#[test]
fn files_do_not_import_in_circles() {
    for (name, _) in LAYERS {
        let imports = read(&crates_dir().join(name).join("src"));
        let known = known_arrows(name, &imports);
        let without: BTreeSet<_> = imports.arrows.difference(&known).copied().collect();
        if let Some(circle) = circle(&imports, &without) {
            panic!("{name}: files import each other: {circle}");
        }
        for (of, from, to) in KNOWN.iter().filter(|(of, ..)| *of == name) {
            let mut with = without.clone();
            with.extend(arrow(&imports, from, to).and_then(|arrow| imports.arrows.get(&arrow)));
            let closes = circle(&imports, &with).is_some();
            assert!(closes, "{of}: {from} → {to} closes no circle any more: strike it out of the list");
        }
    }
}

#[test]
fn imports_lead_through_re_exports_to_the_file_that_defines() {
    let dir = tempfile::tempdir().expect("a directory");
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use c::{inner::Deep as Renamed, Shallow};"),
        ("a.rs", "use crate::Renamed; fn a() -> Renamed { super::b::make() } pub struct A; // crate::c::Shallow"),
        (
            "b.rs",
            "use crate::c::*; use std::fmt; pub fn make() -> Deep { x.shallow(); crate::c::named!() } mod t { use super::*; }",
        ),
        ("c/mod.rs", "pub mod inner; pub use inner::Deep; pub struct Shallow; macro_rules! named { () => {} }"),
        ("c/inner.rs", "pub enum Deep { One } impl From<crate::a::A> for Deep {} use self::Deep::One;"),
    ];
    std::fs::create_dir(dir.path().join("c")).expect("a directory");
    files.iter().for_each(|(name, text)| std::fs::write(dir.path().join(name), text).expect("a file"));
    let imports = read(dir.path());
    let names = |&(from, to): &(usize, usize)| format!("{} {}", imports.files[from], imports.files[to]);
    let found: BTreeSet<String> = imports.arrows.iter().map(names).collect();
    let expected = [
        "lib.rs c/mod.rs",
        "lib.rs c/inner.rs",
        "a.rs c/inner.rs",
        "a.rs b.rs",
        "b.rs c/inner.rs",
        "b.rs c/mod.rs",
        "c/mod.rs c/inner.rs",
        "c/inner.rs a.rs",
    ];
    assert_eq!(found, expected.map(str::to_owned).into());
    let found = circle(&imports, &imports.arrows).expect("a, c and b are a circle");
    assert_eq!(found.matches(" → ").count(), 2, "{found}");
}
