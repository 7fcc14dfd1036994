//! The rooms of the crate `windlass`, from the ground up: a file imports from its own room and from
//! those below.

use crate::crates_dir;
use crate::imports::read;

/// A room: its name, and what the paths of its files begin with. The longest beginning counts.
type Room = (&'static str, &'static [&'static str]);

/// From the ground up. Errors are words that every room reports with, so those of higher rooms lie
/// on the ground.
const ROOMS: [Room; 10] = [
    (
        "ground",
        &[
            "error.rs",
            "bootstrap/error.rs",
            "wire/error.rs",
            "wire/kind.rs",
            "hex.rs",
            "file_sizes.rs",
            "names.rs",
            "integer.rs",
            "main_result.rs",
            "memory",
            "once.rs",
        ],
    ),
    ("plaintext", &["plaintext"]),
    ("evaluator", &["evaluator", "switching"]),
    ("schemes", &["schemes/"]),
    ("params", &["params/"]),
    ("circuits", &["circuits/"]),
    ("bootstrap", &["bootstrap/"]),
    ("wire", &["wire/"]),
    ("applications", &["lookup/", "scoring/"]),
    ("front door", &["front/", "lib.rs"]),
];

/// Arrows that still lead up. The list only shrinks: an arrow that is gone is an error.
const KNOWN: &[(&str, &str)] = &[];

/// The height of a file's room.
fn room(file: &str) -> Option<usize> {
    let beginnings = ROOMS.iter().enumerate().flat_map(|(height, (_, all))| all.iter().map(move |one| (height, *one)));
    let fitting = beginnings.filter(|(_, beginning)| file.starts_with(beginning));
    Some(fitting.max_by_key(|(_, beginning)| beginning.len())?.0)
}

#[test]
fn rooms_import_from_those_below() {
    let imports = read(&crates_dir().join("windlass").join("src"));
    let height = |file: &str| room(file).unwrap_or_else(|| panic!("{file} lies in no room: name one for it"));
    let mut up = Vec::new();
    for &(from, to) in &imports.arrows {
        let (from, to) = (&*imports.files[from], &*imports.files[to]);
        if height(from) < height(to) {
            up.push((from, to));
        }
    }
    let name = |file: &str| ROOMS[height(file)].0;
    for (from, to) in &up {
        let known = KNOWN.contains(&(from, to));
        assert!(known, "{from} → {to} leads up, from {} to {}", name(from), name(to));
    }
    for arrow in KNOWN {
        assert!(up.contains(arrow), "{} → {} does not lead up any more: strike it out of the list", arrow.0, arrow.1);
    }
}

#[test]
fn every_room_has_files() {
    let files = read(&crates_dir().join("windlass").join("src")).files;
    for (name, beginnings) in ROOMS {
        for beginning in beginnings {
            assert!(files.iter().any(|file| file.starts_with(beginning)), "{name}: no file begins with {beginning}");
        }
    }
}
