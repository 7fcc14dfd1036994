//! The command line's file inputs: commands run in this process, up to the file that is missing.

use std::path::PathBuf;

use windlass::schemes::ckks::CkksSpec;
use windlass::{Approximate, Context};
use windlass_retrieval::vectors::SearchShape;

use crate::approximate::spec;
use crate::memory::Bound;
use crate::tables::is_time;
use crate::target::Target;

/// What a command may hold: cells are copied and counted, and plans of the smallest table take
/// megabytes.
const TABLES: Bound = Bound { fixed: 4 << 20, per_byte: 64 };

/// Where a file chooses parameters: their ring, of the largest possible dimension.
const RINGS: Bound = Bound { fixed: 256 << 20, per_byte: 64 };

/// What a key derivation of the least cost holds beside the file.
const PASSPHRASES: Bound = Bound { fixed: 4 << 20, per_byte: 64 };

/// A place for a file of this process.
pub fn place(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("windlass-fuzz-{}-{name}", std::process::id()))
}

/// A command that reads a file of the kind.
struct Command<'a> {
    /// `FILE` stands for the input, `NONE` for a missing file, `OUT` for one that is removed again,
    /// `KEPT` for what the target made beforehand.
    line: &'static str,
    /// Files that it accepts.
    files: &'a [&'a [u8]],
    /// What its error says where it ends behind a file that is accepted, before anything is
    /// computed.
    end: Option<&'static str>,
}

impl<'a> Command<'a> {
    /// A command that runs, or misses `NONE`.
    fn new(line: &'static str, files: &'a [&'a [u8]]) -> Self {
        Self { line, files, end: line.contains("NONE").then_some("NONE") }
    }
}

/// Commands that read one kind of file. The first byte of an input chooses a command, the rest is
/// the file.
fn target(extension: &str, commands: &[Command], memory: Bound, held: Vec<Context<Approximate>>) -> Target {
    let seeds = commands
        .iter()
        .enumerate()
        .flat_map(|(number, command)| command.files.iter().map(move |file| [&[number as u8][..], file].concat()));
    let seeds = seeds.collect();
    let commands: Vec<_> = commands.iter().map(|command| (command.line, command.end)).collect();
    let path = place(&format!("input.{extension}"));
    Target::text(seeds, memory, move |bytes| {
        // Rings are shared for as long as someone holds them.
        let _ = &held;
        let Some((number, file)) = bytes.split_first() else { return false };
        std::fs::write(&path, file).expect("a file is written");
        let (command, end) = commands[usize::from(*number) % commands.len()];
        // A second for each plan or change of a table: most of the time it is left out.
        if ["table plan", "table set"].iter().any(|slow| command.starts_with(slow)) && !is_time() {
            return false;
        }
        let word = |word: &str| word.replace("FILE", path.to_str().expect("text")).replace("NONE", &text_of("none"));
        let ended = windlass_cli::run_here(words(command).map(|each| word(&each)));
        // It may not be there.
        let _ = std::fs::remove_file(place("out"));
        match ended {
            Ok(()) => true,
            Err(line) => {
                assert!(!line.is_empty() && !line.contains("unexpected argument"), "{line}");
                end.is_some_and(|end| line.contains(&word(end)))
            }
        }
    })
}

fn text_of(name: &str) -> String {
    place(name).into_os_string().into_string().expect("text")
}

/// The words of a line, with the places that do not depend on the input.
fn words(line: &str) -> impl Iterator<Item = String> {
    let place = |word: &str| word.replace("OUT", &text_of("out")).replace("KEPT", &text_of("kept"));
    ["windlass", "--json"].into_iter().chain(line.split(' ')).map(place)
}

/// Runs a line that makes what the target needs.
fn prepare(line: &str) {
    windlass_cli::run_here(words(line)).unwrap_or_else(|error| panic!("{line}: {error}"));
}

const CSV: &[u8] = b"id,x,y\nEurope/Lisbon,1,2.5\n\"Asia, Tokyo\",-3,1e3\n";

const QUOTED: &[u8] = b"\xef\xbb\xbfid,\"a \"\"b\"\"\"\r\n1,\"line\nbreak\"\r\n2,\r\n";

/// Tables: for lookups, as rows to score, as vectors, and as a model.
pub fn tables() -> Target {
    let model = b"x,y,bias\n0.5,-1,2\n";
    let labelled = b"id,x,y\nnone,1,2.5\nsome,-3,1e3\nsome,0.5,7\n";
    target(
        "csv",
        &[
            Command::new("table plan --table FILE --key id", &[CSV, QUOTED]),
            Command::new("table plan --table FILE", &[CSV, model, QUOTED]),
            Command::new("search --table FILE --plan", &[CSV, model]),
            Command {
                line: "score --table FILE --label id --positive none --hold-out 1000000",
                files: &[labelled],
                end: Some("holds out no row of 3"),
            },
            Command::new(
                "score apply --weights FILE --schema NONE --evaluation-keys NONE --in NONE --out NONE",
                &[model],
            ),
        ],
        TABLES,
        Vec::new(),
    )
}

/// Vectors as NumPy has them, under every metric.
pub fn vectors() -> Target {
    let file = |kind: &str, shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
    };
    let floats: Vec<u8> = [0.5f32, -1.0, 2.0, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let doubles: Vec<u8> = [0.5f64, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let files = [file("<f4", "(2, 2)", &floats), file("<f8", "(2,)", &doubles), file("|i1", "(3, 1)", &[1, 255, 128])];
    let all = files.each_ref().map(|file| &file[..]);
    target(
        "npy",
        &[
            Command::new("search --table FILE --plan", &all),
            Command::new("search --table FILE --plan --metric euclidean", &all),
            Command::new("search --table FILE --plan --metric inner-product --bits 4", &all),
        ],
        TABLES,
        Vec::new(),
    )
}

/// Models as JSON.
pub fn models() -> Target {
    let several = br#"{"weights": [[1, 2], [3, -4.5], [0, 1]], "bias": [0, 1, 2], "means": [0, 1], "scales": [1, 2],
        "bound": 8, "classes": ["a", "b", "c"], "features": ["x", "y"]}"#;
    let command = "score apply --weights FILE --schema NONE --evaluation-keys NONE --in NONE --out NONE";
    let files: [&[u8]; 2] = [br#"{"weights": [1, 0.5], "bias": 0.5}"#, several];
    target("json", &[Command::new(command, &files)], TABLES, Vec::new())
}

/// Schemas of lookups that earlier versions wrote.
pub fn lookup_schemas() -> Target {
    let named = br#"{"format": "windlass-lookup-schema", "version": 1, "parameters": "insecure_toy_256",
        "columns": ["zone", "country"], "key": "zone", "record_bytes": 17, "keys": ["Europe/Lisbon", "Asia/Tokyo"]}"#;
    let params = windlass::Params::preset("insecure_toy_256", windlass::Scheme::Bgv).expect("a preset").to_json();
    let own = String::from_utf8(named.to_vec()).expect("text").replace("\"insecure_toy_256\"", &params);
    let own = own.replace("\"version\": 1,", "\"version\": 2,");
    let files: [&[u8]; 2] = [named, own.as_bytes()];
    target(
        "json",
        &[
            Command::new("decrypt --schema FILE --secret-key NONE --in NONE", &files),
            // A key that is not there is looked for among those that are like it.
            Command::new("decrypt --schema FILE --secret-key NONE --in NONE --query Europe/Lisbo", &[]),
            Command::new("decrypt --schema FILE --secret-key NONE --in NONE --query Asia/Tokyo", &files),
        ],
        RINGS,
        Vec::new(),
    )
}

/// Schemas of models.
pub fn score_schemas() -> Target {
    let toy = CkksSpec { special_prime_bits: vec![50, 50], ..spec(256, 40, 2) };
    let text = format!(
        r#"{{"format": "windlass-scoring-schema", "version": 1, "parameters": {}, "features": 3, "scores": 1,
        "unit": 16.0, "bound": 16.0, "clips": false, "columns": ["x", "y", "z"], "classes": ["no", "yes"],
        "means": [0.0, 1.0, 2.0], "scales": [1.0, 2.0, 0.5]}}"#,
        toy.to_json()
    );
    let held = vec![Context::approximate(&toy).expect("a context")];
    target(
        "json",
        &[
            Command::new("score decrypt --schema FILE --secret-key NONE --in NONE", &[text.as_bytes()]),
            Command::new("score keygen --schema FILE --insecure --passphrase-file NONE --out NONE", &[text.as_bytes()]),
        ],
        RINGS,
        held,
    )
}

/// Schemas of vectors.
pub fn search_schemas() -> Target {
    let sides = crate::search::Sides::new();
    let schema = |version: u32, shape: &SearchShape| {
        let shape = serde_json::to_string_pretty(shape).expect("numbers always serialise");
        format!(r#"{{"format": "windlass-search-schema", "version": {version}, "shape": {shape}}}"#)
    };
    let untold = SearchShape { table: None, ..sides.shape.clone() };
    let named = SearchShape { names: Some(["x", "y", "z"].map(String::from).to_vec()), ..sides.shape.clone() };
    let texts = [schema(1, &untold), schema(2, &sides.shape), schema(2, &named)];
    let texts = texts.each_ref().map(|text| text.as_bytes());
    target(
        "json",
        &[
            Command::new("search query --schema FILE --secret-key NONE --query NONE --out NONE", &texts),
            Command::new(
                "search answer --table NONE --schema FILE --evaluation-keys NONE --in NONE --out NONE",
                &texts,
            ),
        ],
        TABLES,
        Vec::new(),
    )
}

/// Rows that are added to a table, or replace those that are there.
pub fn changes() -> Target {
    std::fs::write(place("kept.csv"), CSV).expect("a file is written");
    prepare("table build --table KEPT.csv --key id --room 40 --out KEPT");
    let more = b"id,x,y\nnew,1,2\nEurope/Lisbon,,\n";
    target("csv", &[Command::new("table set --dir KEPT --table FILE", &[CSV, more])], RINGS, Vec::new())
}

/// Parameter files.
pub fn parameters() -> Target {
    let names = ["insecure_toy_256", "insecure_toy_2048"];
    let files = names.map(|name| windlass::Params::preset(name, windlass::Scheme::Bgv).expect("a preset").to_json());
    let files = files.each_ref().map(|file| file.as_bytes());
    let command = Command::new("params show FILE", &files);
    target("json", &[command], RINGS, Vec::new())
}

/// Passphrases in files, for a key under one of them.
pub fn passphrases() -> Target {
    std::fs::write(place("kept"), crate::sealed::under_words(b"two or three words")).expect("a file is written");
    let files: [&[u8]; 3] = [b"two or three words\n", b"two or three words", b"two or three words\r\nand more\n"];
    let command = Command::new("key open --in KEPT --passphrase-file FILE --out OUT", &files);
    target("txt", &[command], PASSPHRASES, Vec::new())
}
