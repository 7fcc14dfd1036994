//! The rooms inside a crate, from the ground up: a file imports from its own room and from those
//! below. Larger rooms are crates of their own, which Cargo keeps apart.

use crate::crates_dir;
use crate::imports::read;

/// A room: its name, and what the paths of its files begin with. The longest beginning counts.
type Room = (&'static str, &'static [&'static str]);

/// The rooms of each crate that has several, from the ground up. Errors are words that every crate
/// reports with, so those of bootstrapping and of files lie on the ground, too.
const ROOMS: [(&str, &[Room]); 2] = [
    (
        "windlass-schemes",
        &[
            (
                "ground",
                &[
                    "error.rs",
                    "error/",
                    "hex.rs",
                    "file_sizes.rs",
                    "names.rs",
                    "integer.rs",
                    "json.rs",
                    "memory",
                    "once.rs",
                    "secret_words.rs",
                ],
            ),
            ("plaintext", &["plaintext"]),
            ("evaluator", &["evaluator", "switching"]),
            ("schemes", &["schemes/"]),
            ("params", &["params/"]),
            ("root", &["lib.rs"]),
        ],
    ),
    ("windlass", &[("ground", &["main_result.rs", "lookup.rs"]), ("front door", &["front/", "lib.rs"])]),
];

/// The height of a file's room.
fn height(rooms: &[Room], file: &str) -> usize {
    let beginnings = rooms.iter().enumerate().flat_map(|(height, (_, all))| all.iter().map(move |one| (height, *one)));
    let fitting = beginnings.filter(|(_, beginning)| file.starts_with(beginning));
    let room = fitting.max_by_key(|(_, beginning)| beginning.len());
    room.unwrap_or_else(|| panic!("{file} lies in no room: name one for it")).0
}

#[test]
fn rooms_import_from_those_below() {
    for (name, rooms) in ROOMS {
        let imports = read(&crates_dir().join(name).join("src"));
        for &(from, to) in &imports.arrows {
            let files = [&*imports.files[from], &*imports.files[to]];
            let [below, above] = files.map(|file| height(rooms, file));
            let [from, to] = files;
            assert!(below >= above, "{name}: {from} → {to} leads up, from {} to {}", rooms[below].0, rooms[above].0);
        }
    }
}

#[test]
fn every_room_has_files() {
    for (name, rooms) in ROOMS {
        let files = read(&crates_dir().join(name).join("src")).files;
        for (room, beginnings) in rooms {
            for beginning in *beginnings {
                let has_files = files.iter().any(|file| file.starts_with(beginning));
                assert!(has_files, "{name}, {room}: no file begins with {beginning}");
            }
        }
    }
}
