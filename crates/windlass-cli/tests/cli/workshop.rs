//! Lines that each make something, the files that they read, and what a whole file is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use windlass::wire::sha256;

use crate::common::succeed;

/// Lines that each make something, in an order in which every line has what it reads: what is
/// written is below `out/`.
pub const LINES: [&str; 26] = [
    "params plan --modulus 257 --depth 1 --out out/params.json",
    "params search --least 16384 --most 16384 --slots 1000 --m 21845 --plan --security 60 --out out/found.json",
    "lookup --table table.csv --key code --query 3 --out out/lookup",
    "lookup --table large.csv --key code --query 30 --out out/large",
    "table build --table table.csv --key code --out out/served",
    "table keygen --schema out/served/schema.json --out out/client",
    "table keygen --schema out/served/schema.json --passphrase-file words --out out/sealed",
    "table query --schema out/served/schema.json --secret-key out/client/secret.key --query 2 --out out/asked.bin",
    "table answer --dir out/served --evaluation-keys out/client/evaluation.keys --in out/asked.bin --out out/told.bin",
    "table blind --schema hiding/schema.json --secret-key client/secret.key --query 2 --out out/blind.bin",
    "table blind-evaluate --dir hiding --oprf-key oprf.key --in blind.bin --out out/helped.bin",
    "key seal --in out/client/secret.key --passphrase-file words --out out/sealed.key",
    "key open --in out/sealed.key --passphrase-file words --out out/open.key",
    "refresh keygen --preset insecure_boot_256_p257 --out out/boot",
    "refresh encrypt --preset insecure_boot_256_p257 --secret-key out/boot/secret.key --values 3,1 --out out/spent.bin",
    "refresh apply --preset insecure_boot_256_p257 --evaluation-keys out/boot/evaluation.keys \
     --bootstrap-keys out/boot/bootstrap.keys --in out/spent.bin --out out/refreshed.bin",
    "refresh --preset insecure_boot_256_p257 --out out/refresh",
    "score schema --weights model.csv --out out/score.json",
    "score keygen --schema out/score.json --out out/score",
    "score encrypt --schema out/score.json --table rows.csv --secret-key out/score/secret.key --out out/rows.bin",
    "score apply --weights model.csv --schema out/score.json --evaluation-keys out/score/evaluation.keys \
     --in out/rows.bin --out out/scores.bin",
    "score decrypt --schema out/score.json --secret-key out/score/secret.key --in out/scores.bin --out out/scores.csv",
    "search schema --table rows.csv --key id --metric inner-product --out out/search.json",
    "search keygen --schema out/search.json --out out/search",
    "search query --schema out/search.json --secret-key out/search/secret.key --query rows.csv --key id --out out/near.bin",
    "search answer --table rows.csv --key id --schema out/search.json --evaluation-keys out/search/evaluation.keys \
     --in out/near.bin --out out/scored.bin",
];

/// The lines that meet with damage: all of them in `make nightly`, which sets `WINDLASS_NIGHTLY`, else one
/// of each way of writing: a file of JSON, a directory, a table, sealed keys, an answer, keys of a refresh,
/// a ciphertext, a file of CSV.
pub fn damaged_lines() -> impl Iterator<Item = &'static str> {
    let of_each_way = [0, 3, 4, 6, 8, 13, 15, 21];
    let is_chosen = move |number: usize| is_nightly() || of_each_way.contains(&number);
    LINES.into_iter().enumerate().filter(move |&(number, _)| is_chosen(number)).map(|(_, line)| line)
}

/// Whether tests take all their cases.
pub fn is_nightly() -> bool {
    std::env::var_os("WINDLASS_NIGHTLY").is_some()
}

/// All lines have run here once; their inputs and outputs, and how long each took.
pub struct Workshop {
    pub dir: TempDir,
    pub seconds: BTreeMap<&'static str, Duration>,
}

pub static WORKSHOP: LazyLock<Workshop> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    // Rows of many portions.
    let row = |number: usize| format!("{number},{}\n", "x".repeat(20_000 + number));
    let large: String = std::iter::once("code,name\n".to_owned()).chain((0..60).map(row)).collect();
    for (name, text) in [
        ("table.csv", "code,name\n1,one\n2,two\n3,three\n"),
        ("large.csv", &large),
        ("words", "two or three words\n"),
        ("model.csv", "a,b,bias\n0.5,-0.25,0.125\n"),
        ("rows.csv", "id,a,b\n1,1,2\n2,-1,0.5\n"),
    ] {
        fs::write(at.join(name), text).unwrap();
    }
    fs::create_dir(at.join("out")).unwrap();
    // A table with hidden keys, and a client of it.
    succeed(at, "table build --table table.csv --key code --oprf-key oprf.key --out hiding");
    succeed(at, "table keygen --schema hiding/schema.json --out client");
    succeed(at, "table blind --schema hiding/schema.json --secret-key client/secret.key --query 3 --out blind.bin");
    let timed = |line: &'static str| {
        let start = Instant::now();
        succeed(at, line);
        (line, start.elapsed())
    };
    let seconds = LINES.into_iter().map(timed).collect();
    Workshop { dir, seconds }
});

/// Where a line finds everything that lines before it made, and nothing that it makes itself.
pub fn prepared(line: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join(output_of(line));
    copy(WORKSHOP.dir.path(), dir.path(), &|path| path == output, &|from, to| fs::hard_link(from, to));
    (dir, output)
}

/// What a line writes, a file or a directory.
pub fn output_of(line: &str) -> &str {
    line.rsplit_once("--out ").expect("every line writes something").1
}

/// Everything below `from`, as `one` copies a file, but what is to be left out.
pub fn copy(
    from: &Path,
    to: &Path,
    leaves_out: &dyn Fn(&Path) -> bool,
    one: &dyn Fn(&Path, &Path) -> std::io::Result<()>,
) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, new) = (entry.path(), to.join(entry.file_name()));
        if leaves_out(&new) {
            continue;
        }
        if path.is_dir() {
            fs::create_dir(&new).unwrap();
            copy(&path, &new, leaves_out, one);
        } else {
            one(&path, &new).unwrap();
        }
    }
}

/// Checks every file that can be seen: containers by their length and checksum, JSON and CSV by
/// their ends.
fn all_are_whole(path: &Path, line: &str) {
    if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
        return;
    }
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| all_are_whole(&entry.unwrap().path(), line));
        return;
    }
    let bytes = fs::read(path).unwrap();
    let whole = match bytes.get(..8) {
        Some(b"WINDLASS") => {
            let (body, checksum) = bytes.split_at(bytes.len() - 32);
            checksum == sha256(body) && u64::from_le_bytes(body[60..68].try_into().unwrap()) == body.len() as u64 - 68
        }
        // The command that reads them checks those.
        Some(b"WLSEGMNT") => true,
        _ if path.extension().is_some_and(|end| end == "json") => serde_json::from_slice::<Value>(&bytes).is_ok(),
        // The lock of a table is empty.
        _ => bytes.ends_with(b"\n") || bytes.is_empty() && path.ends_with("lock"),
    };
    assert!(whole, "windlass {line} left {} half written, {} bytes", path.display(), bytes.len());
}

/// The names of the files below a directory that a run of the line makes.
pub fn names(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return if path.exists() { vec![PathBuf::new()] } else { Vec::new() };
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<PathBuf> = entries.map(PathBuf::from).collect();
    names.sort();
    names
}

/// Hidden entries of a directory.
pub fn hidden(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with('.')).collect()
}

/// Looks at what a line left that may have been stopped. Prepared tables continue where they were
/// stopped. Everything else exists as a whole or not at all.
pub fn whole_or_absent(line: &str, output: &Path) {
    let whole = names(&WORKSHOP.dir.path().join(output_of(line)));
    let found = names(output);
    if found == whole {
        all_are_whole(output, line);
    } else {
        assert!(found.is_empty() || line.starts_with("table build"), "windlass {line} left {found:?} of {whole:?}");
    }
}

/// Looks at what a line has made that did its work, in the directory `at`.
pub fn is_whole(at: &Path, line: &str) {
    let (whole, output) = (WORKSHOP.dir.path().join(output_of(line)), at.join(output_of(line)));
    assert_eq!(names(&output), names(&whole), "windlass {line}");
    all_are_whole(&output, line);
}
