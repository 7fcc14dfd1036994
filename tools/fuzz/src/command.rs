//! The command line's file inputs: commands run in this process, up to the file that is missing.

use std::path::PathBuf;

use windlass::schemes::ckks::CkksSpec;
use windlass::{Approximate, Context};

use crate::approximate::spec;
use crate::target::Target;

/// A place for a file of this process.
pub fn place(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("windlass-fuzz-{}-{name}", std::process::id()))
}

/// Commands that read one kind of file: `FILE` stands for the input, `NONE` for a file that is not
/// there. The first byte of an input chooses a command, the rest is the file.
fn target(
    extension: &'static str,
    commands: &'static [&'static str],
    files: &[&[u8]],
    held: Vec<Context<Approximate>>,
) -> Target {
    let chosen = |number: usize, file: &[u8]| [&[number as u8][..], file].concat();
    let seeds = files.iter().flat_map(|file| (0..commands.len()).map(move |number| chosen(number, file)));
    let (path, none) = (place(&format!("input.{extension}")), place("none"));
    Target::text(seeds.collect(), None, move |bytes| {
        // Rings are shared for as long as someone holds them.
        let _ = &held;
        let Some((number, file)) = bytes.split_first() else { return };
        std::fs::write(&path, file).expect("a file is written");
        let command = commands[usize::from(*number) % commands.len()];
        let [path, none] = [&path, &none].map(|path| path.to_str().expect("text"));
        let word = |word: &str| word.replace("FILE", path).replace("NONE", none);
        let line = ["windlass", "--json"].into_iter().chain(command.split(' ')).map(word);
        if let Err(line) = windlass_cli::run_here(line) {
            assert!(!line.is_empty() && !line.contains("unexpected argument"), "{line}");
        }
    })
}

const CSV: &[u8] = b"id,x,y\nEurope/Lisbon,1,2.5\n\"Asia, Tokyo\",-3,1e3\n";

/// Tables: for lookups of both kinds, as rows to score, as vectors, and as a model.
pub fn tables() -> Target {
    let model = b"x,y,bias\n0.5,-1,2\n";
    let quoted = b"\xef\xbb\xbfid,\"a \"\"b\"\"\"\r\n1,\"line\nbreak\"\r\n2,\r\n";
    target(
        "csv",
        &[
            "explain --table FILE --key id --params insecure_toy_256",
            "table plan --table FILE --key id",
            "table plan --table FILE",
            "search --table FILE --plan",
            "score --table FILE --label id --positive none --hold-out 1000000",
            "score apply --weights FILE --schema NONE --evaluation-keys NONE --in NONE --out NONE",
        ],
        &[CSV, model, quoted],
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
    target(
        "npy",
        &[
            "search --table FILE --plan",
            "search --table FILE --plan --metric euclidean",
            "search --table FILE --plan --metric inner-product --bits 4",
        ],
        &files.each_ref().map(|file| &file[..]),
        Vec::new(),
    )
}

/// Models as JSON.
pub fn models() -> Target {
    let several = br#"{"weights": [[1, 2], [3, -4.5], [0, 1]], "bias": [0, 1, 2], "means": [0, 1], "scales": [1, 2],
        "bound": 8, "classes": ["a", "b", "c"], "features": ["x", "y"]}"#;
    target(
        "json",
        &["score apply --weights FILE --schema NONE --evaluation-keys NONE --in NONE --out NONE"],
        &[br#"{"weights": [1, 0.5], "bias": 0.5}"#, several],
        Vec::new(),
    )
}

/// Schemas of lookups.
pub fn lookup_schemas() -> Target {
    let named = br#"{"format": "windlass-lookup-schema", "version": 1, "parameters": "insecure_toy_256",
        "columns": ["zone", "country"], "key": "zone", "record_bytes": 17, "keys": ["Europe/Lisbon", "Asia/Tokyo"]}"#;
    let params = windlass::Params::preset("insecure_toy_256", windlass::Scheme::Bgv).expect("a preset").to_json();
    let own = String::from_utf8(named.to_vec()).expect("text").replace("\"insecure_toy_256\"", &params);
    let own = own.replace("\"version\": 1,", "\"version\": 2,");
    target(
        "json",
        &[
            "explain --schema FILE",
            "query --schema FILE --insecure --query Europe/Lisbo --secret-key NONE --out NONE",
            "query --schema FILE --insecure --query Asia/Tokyo --secret-key NONE --out NONE",
            "decrypt --schema FILE --secret-key NONE --in NONE",
        ],
        &[named, own.as_bytes()],
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
        &["score decrypt --schema FILE --secret-key NONE --in NONE", "score keygen --schema FILE --out NONE"],
        &[text.as_bytes()],
        held,
    )
}

/// Schemas of vectors.
pub fn search_schemas() -> Target {
    let sides = crate::search::Sides::new();
    let shape = serde_json::to_string_pretty(&sides.shape).expect("numbers always serialise");
    let text = format!(r#"{{"format": "windlass-search-schema", "version": 1, "shape": {shape}}}"#);
    target(
        "json",
        &[
            "search query --schema FILE --secret-key NONE --query NONE --out NONE",
            "search answer --table NONE --schema FILE --evaluation-keys NONE --in NONE --out NONE",
        ],
        &[text.as_bytes()],
        Vec::new(),
    )
}
