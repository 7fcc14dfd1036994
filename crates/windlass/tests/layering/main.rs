//! Keeps the arrows pointing up, from a crate to those that use it (kernels → ring → rlwe → schemes → circuits → bootstrap → wire → windlass
//! → {cli, py, service, wasm, papers → bench}),
//! `unsafe` behind its fence, and the words of the layers above out of the ring.

mod circles;
mod imports;
mod lexer;
mod messages;
mod published;
mod rooms;
mod ways;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lexer::identifiers;

/// Every crate, with the crates that its sources may name.
const LAYERS: [(&str, &[&str]); 20] = [
    ("windlass-kernels", &[]),
    ("windlass-ring", &["windlass_kernels"]),
    ("windlass-rlwe", &["windlass_kernels", "windlass_ring"]),
    ("windlass-schemes", &["windlass_kernels", "windlass_ring", "windlass_rlwe"]),
    ("windlass-circuits", &["windlass_kernels", "windlass_ring", "windlass_rlwe", "windlass_schemes"]),
    (
        "windlass-bootstrap",
        &["windlass_kernels", "windlass_ring", "windlass_rlwe", "windlass_schemes", "windlass_circuits"],
    ),
    (
        "windlass-wire",
        &[
            "windlass_kernels",
            "windlass_ring",
            "windlass_rlwe",
            "windlass_schemes",
            "windlass_circuits",
            "windlass_bootstrap",
        ],
    ),
    (
        "windlass",
        &[
            "windlass_kernels",
            "windlass_ring",
            "windlass_rlwe",
            "windlass_schemes",
            "windlass_circuits",
            "windlass_bootstrap",
            "windlass_wire",
        ],
    ),
    ("windlass-retrieval", &["windlass_kernels", "windlass_ring", "windlass_rlwe", "windlass"]),
    ("windlass-scoring", &["windlass"]),
    ("windlass-parties", &["windlass_ring", "windlass_rlwe", "windlass"]),
    ("windlass-gpu", &["windlass_kernels", "windlass_ring", "windlass_rlwe"]),
    ("windlass-features", &[]),
    ("windlass-secrets", &["windlass"]),
    (
        "windlass-cli",
        &[
            "windlass",
            "windlass_features",
            "windlass_parties",
            "windlass_retrieval",
            "windlass_scoring",
            "windlass_secrets",
        ],
    ),
    ("windlass-py", &["windlass", "windlass_features", "windlass_parties", "windlass_retrieval"]),
    ("windlass-service", &["windlass", "windlass_retrieval", "windlass_secrets"]),
    ("windlass-wasm", &["windlass", "windlass_retrieval", "windlass_scoring"]),
    // As any researcher would.
    ("windlass-papers", &["windlass"]),
    (
        "windlass-bench",
        &[
            "windlass_kernels",
            "windlass_ring",
            "windlass_rlwe",
            "windlass",
            "windlass_features",
            "windlass_papers",
            "windlass_parties",
            "windlass_retrieval",
        ],
    ),
];

/// Words that belong to schemes; an identifier of the ring with one as a part is in the wrong
/// layer.
const SCHEME_WORDS: [&str; 4] = ["plaintext", "scale", "level", "noise"];

/// The kernels' own: `rows::mul_scalar_assign` multiplies a row by an integer.
const KERNEL_WORD: &str = "mul_scalar_assign";

fn crates_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in crates/").to_path_buf()
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(&dir).expect("a readable directory") {
            let path = entry.expect("a directory entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The parts of an identifier in snake, camel or capital case, in lower case.
fn words(identifier: &str) -> impl Iterator<Item = String> {
    let own = identifier.replace(KERNEL_WORD, "");
    let mut parts = vec![String::new()];
    let mut after_lower = false;
    for c in own.chars() {
        if c == '_' || (c.is_uppercase() && after_lower) {
            parts.push(String::new());
        }
        if c != '_' {
            parts.last_mut().expect("never empty").extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    parts.into_iter().filter(|part| !part.is_empty())
}

#[test]
fn identifiers_fall_into_words() {
    let parts = |identifier| words(identifier).collect::<Vec<_>>().join(" ");
    assert_eq!(parts("NoiseBound"), "noise bound");
    assert_eq!(parts("MAX_LEVEL"), "max level");
    assert_eq!(parts("drop_to_level"), "drop to level");
    assert_eq!(parts("rescale"), "rescale");
    assert_eq!(parts("sub_mul_scalar_assign"), "sub");
}

#[test]
fn arrows_point_up() {
    for (name, allowed) in LAYERS {
        let own = name.replace('-', "_");
        for file in rust_files(&crates_dir().join(name).join("src")) {
            let source = fs::read_to_string(&file).expect("a readable source");
            for word in identifiers(&source) {
                let is_crate = LAYERS.iter().any(|(layer, _)| layer.replace('-', "_") == word);
                assert!(
                    !is_crate || word == own || word == "windlass" || allowed.contains(&word.as_str()),
                    "{} names {word}, which {name} must not depend on",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn manifests_depend_downwards_only() {
    for (name, allowed) in LAYERS {
        let manifest = fs::read_to_string(crates_dir().join(name).join("Cargo.toml")).expect("a manifest");
        for line in manifest.lines() {
            let dependency = line.split(['=', '.', ' ']).next().unwrap_or("").replace('-', "_");
            if dependency.starts_with("windlass") {
                assert!(allowed.contains(&dependency.as_str()), "{name}/Cargo.toml depends on {dependency}");
            }
        }
    }
}

#[test]
fn every_crate_is_listed() {
    let listed: BTreeSet<_> = LAYERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let present: BTreeSet<_> = fs::read_dir(crates_dir())
        .expect("crates/")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(listed, present, "crates/ and the layers of this test differ");
}

/// Every source with `unsafe`, and how often it stands there: vector instructions, which only one
/// kind of processor has; a hint to its cache; places in memory that are checked together; a file
/// as memory; kernels of a device and its memory; memory of Python objects; what runs when a process is
/// aborted, and before it begins.
/// What is not listed has none.
const UNSAFE: [(&str, &str, usize); 17] = [
    ("windlass-gpu", "cuda.rs", 3),
    ("windlass-gpu", "emulated.rs", 6),
    ("windlass-kernels", "lanes/avx2.rs", 13),
    ("windlass-kernels", "lanes/avx2_u32.rs", 17),
    ("windlass-kernels", "lanes/avx2_word64.rs", 11),
    ("windlass-kernels", "lanes/avx512.rs", 14),
    ("windlass-kernels", "lanes/avx512_u32.rs", 18),
    ("windlass-kernels", "lanes/avx512_word64.rs", 11),
    ("windlass-kernels", "lanes/fetch.rs", 1),
    ("windlass-kernels", "lanes/ifma.rs", 14),
    ("windlass-kernels", "lanes/neon.rs", 12),
    ("windlass-kernels", "lanes/neon_u32.rs", 13),
    ("windlass-kernels", "lanes/strided.rs", 3),
    ("windlass-kernels", "mapping.rs", 1),
    ("windlass-py", "shared.rs", 1),
    ("windlass-secrets", "abort.rs", 1),
    ("windlass-secrets", "stdout.rs", 1),
];

#[test]
fn unsafe_stays_behind_its_fence() {
    let mut listed = 0;
    for (name, _) in LAYERS {
        let src = crates_dir().join(name).join("src");
        for file in rust_files(&src) {
            let inside = file.strip_prefix(&src).expect("a file of the crate");
            let row = UNSAFE.iter().find(|row| row.0 == name && Path::new(row.1) == inside);
            let source = fs::read_to_string(&file).expect("a readable source");
            let uses = identifiers(&source).iter().filter(|word| *word == "unsafe").count();
            assert_eq!(uses, row.map_or(0, |row| row.2), "uses of unsafe code in {}", file.display());
            listed += usize::from(row.is_some());
        }
        if !["windlass-gpu", "windlass-kernels", "windlass-py", "windlass-secrets", "windlass-wasm"].contains(&name) {
            let root = if src.join("lib.rs").exists() { src.join("lib.rs") } else { src.join("main.rs") };
            let source = fs::read_to_string(&root).expect("a readable source");
            assert!(source.contains("#![forbid(unsafe_code)]"), "{} does not forbid unsafe code", root.display());
        }
    }
    assert_eq!(listed, UNSAFE.len(), "a file of the list is gone");
}

/// The second invariant of ARCHITECTURE.md names every file of the list, the vector instructions by
/// their folder, and no other.
#[test]
fn the_second_invariant_names_every_file_with_unsafe_code() {
    let text = fs::read_to_string(crates_dir().join("../ARCHITECTURE.md")).expect("a readable page");
    let (_, rest) = text.split_once("\n2. `unsafe` occurs in").expect("the second invariant");
    let (invariant, _) = rest.split_once("\n3. ").expect("the third invariant");
    let mut named: Vec<&str> = invariant.split('`').filter(|word| word.starts_with("windlass-")).collect();
    let of_row = |row: &(&str, &str, usize)| match row.1.split_once('/') {
        Some((folder, _)) => format!("{}/src/{folder}", row.0),
        None => format!("{}/src/{}", row.0, row.1),
    };
    let mut listed: Vec<String> = UNSAFE.iter().map(of_row).collect();
    listed.dedup();
    listed.sort();
    named.sort_unstable();
    assert_eq!(named, listed);
}

/// What is computed, written or refused depends on no wall clock, which may jump: durations are
/// those of the monotonic one. Records of measurements have dates.
#[test]
fn nothing_reads_the_wall_clock() {
    for (name, _) in LAYERS.into_iter().filter(|(name, _)| *name != "windlass-bench") {
        for file in rust_files(&crates_dir().join(name).join("src")) {
            let source = fs::read_to_string(&file).expect("a readable source");
            let reads = identifiers(&source).iter().any(|word| ["SystemTime", "UNIX_EPOCH"].contains(&word.as_str()));
            assert!(!reads, "{} reads the wall clock", file.display());
        }
    }
    let package = crates_dir().join("../python/windlass");
    for entry in fs::read_dir(package).expect("the Python package").map(|entry| entry.expect("an entry").path()) {
        if entry.extension().is_some_and(|end| end == "py") {
            let source = fs::read_to_string(&entry).expect("a readable source");
            let reads = ["time.time", "datetime.now", "utcnow", "localtime"].iter().any(|call| source.contains(call));
            assert!(!reads, "{} reads the wall clock", entry.display());
        }
    }
}

#[test]
fn the_ring_knows_nothing_of_schemes() {
    for file in rust_files(&crates_dir().join("windlass-ring").join("src")) {
        let source = fs::read_to_string(&file).expect("a readable source");
        for word in identifiers(&source) {
            let foreign = words(&word).any(|part| SCHEME_WORDS.contains(&part.as_str()));
            assert!(!foreign, "{}: the identifier {word} belongs to a layer above the ring", file.display());
        }
    }
}
