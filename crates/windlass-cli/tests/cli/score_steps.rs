//! Models that were made elsewhere, and the steps of scoring as separate processes.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{fail, snapshot, succeed, windlass};

/// Row-major, and the model that they are for.
struct Case {
    weights: Vec<Vec<f64>>,
    biases: Vec<f64>,
    rows: Vec<Vec<f64>>,
}

impl Case {
    fn new(features: usize, classes: usize, rows: usize) -> Self {
        let value = |j: usize, k: usize| ((j * 37 + k * 11 + 1) as f64).sin();
        let table = |count: usize, shift: usize| {
            (0..count).map(|j| (0..features).map(|k| value(j + shift, k)).collect()).collect::<Vec<Vec<f64>>>()
        };
        let biases = (0..classes).map(|class| class as f64 / 4.0 - 0.5).collect();
        Self { weights: table(classes, 0), biases, rows: table(rows, 100) }
    }

    fn features(&self) -> usize {
        self.weights[0].len()
    }

    /// The scores of raw features after (x − mean)/scale.
    fn scores(&self, mean: f64, scale: f64) -> Vec<Vec<f64>> {
        let product =
            |row: &[f64], weights: &[f64]| row.iter().zip(weights).map(|(x, w)| (x - mean) / scale * w).sum::<f64>();
        let of = |row: &Vec<f64>| {
            self.weights.iter().zip(&self.biases).map(|(weights, bias)| product(row, weights) + bias).collect()
        };
        self.rows.iter().map(of).collect()
    }

    /// Writes `rows.csv`, with columns c0, c1, .. and an id.
    fn write_rows(&self, at: &Path) {
        let header: Vec<String> = (0..self.features()).map(|k| format!("c{k}")).collect();
        let line = |(j, row): (usize, &Vec<f64>)| {
            format!("{j},{}\n", row.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        };
        let rows: String = self.rows.iter().enumerate().map(line).collect();
        fs::write(at.join("rows.csv"), format!("id,{}\n{rows}", header.join(","))).unwrap();
    }
}

fn write(at: &Path, name: &str, value: &Value) {
    fs::write(at.join(name), value.to_string()).unwrap();
}

fn close(found: &Value, expected: &[Vec<f64>]) {
    let found: Vec<Vec<f64>> = serde_json::from_value(found.clone()).unwrap();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        let largest = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(largest < 1e-2, "{found:?} is not {expected:?}");
    }
}

const ENCRYPT: &str = "score encrypt --schema schema.json --table rows.csv --out rows.bin";
const APPLY: &str = "score apply --schema schema.json --weights model.json \
                     --evaluation-keys keys/evaluation.keys --in rows.bin --out scores.bin";
const DECRYPT: &str = "score decrypt --schema schema.json --secret-key keys/secret.key --in scores.bin";

/// Client and server in one directory, `model.json` and `rows.csv` in it.
fn prepare(at: &Path, case: &Case, model: &Value) {
    case.write_rows(at);
    write(at, "model.json", model);
    succeed(at, "score schema --weights model.json --out schema.json");
    succeed(at, "score keygen --schema schema.json --out keys");
}

/// λ is nowhere said to be more than it is, nor less by a tenth of a bit.
#[test]
fn what_is_told_of_security_is_rounded_down_to_a_tenth() {
    use windlass::Context;
    use windlass_scoring::scoring_spec;
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let case = Case::new(4, 2, 3);
    case.write_rows(at);
    write(at, "model.json", &json!({ "weights": case.weights, "bias": case.biases }));
    let context = Context::approximate(&scoring_spec(2).unwrap()).unwrap();
    let bits = context.ckks().rlwe().params().security().bits;
    let encrypt = format!("{ENCRYPT} --secret-key keys/secret.key");
    let lines = [
        ("score schema --weights model.json --out schema.json", 1),
        ("score keygen --schema schema.json --out keys", 2),
        (&encrypt, 1),
    ];
    for (line, count) in lines {
        let output = windlass(at, line.split_whitespace());
        let text = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        let before = text.split(" bits of security").map(|part| part.rsplit([' ', '(']).next().unwrap());
        let told: Vec<f64> = before.take(count).map(|number| number.parse().unwrap_or(f64::NAN)).collect();
        assert_eq!(text.matches(" bits of security").count(), count, "{text}");
        assert!(told.iter().all(|&told| told <= bits && bits - told < 0.1), "{bits} bits: {text}");
    }
}

#[test]
fn the_server_scores_with_public_files_alone() {
    let (client, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (client, server) = (client.path(), server.path());
    let send = |from: &Path, to: &Path, name: &str| fs::copy(from.join(name), to.join(name)).unwrap();
    let case = Case::new(20, 3, 9);
    let model = json!({
        "weights": case.weights, "bias": case.biases, "classes": ["red", "green", "blue"],
        "means": vec![0.25; 20], "scales": vec![0.5; 20],
    });
    write(server, "model.json", &model);
    let shape = succeed(server, "score schema --weights model.json --out schema.json");
    assert_eq!((shape["features"].as_u64(), shape["scores"].as_u64()), (Some(20), Some(3)));
    assert!(shape["security_bits"].as_f64().unwrap() >= 128.0);
    let published = fs::read_to_string(server.join("schema.json")).unwrap();
    assert!(!published.contains("weights"), "no weight is published");
    case.write_rows(client);
    send(server, client, "schema.json");
    succeed(client, "score keygen --schema schema.json --out keys");
    let expected = case.scores(0.25, 0.5);
    for (key, name) in [("--secret-key keys/secret.key", "a.bin"), ("--public-key keys/public.key", "b.bin")] {
        let out = format!("{} {key}", ENCRYPT.replace("rows.bin", name));
        assert_eq!(succeed(client, &out)["rows"], 9);
        send(client, server, name);
        fs::copy(client.join("keys/evaluation.keys"), server.join("evaluation.keys")).unwrap();
        let apply = APPLY.replace("keys/", "").replace("rows.bin", name).replace("scores", &format!("scores-{name}"));
        succeed(server, &apply);
        let scores = format!("scores-{name}.bin");
        send(server, client, &scores);
        let report = succeed(client, &DECRYPT.replace("scores.bin", &scores));
        close(&report["scores"], &expected);
        let best = |scores: &[f64]| (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        let names: Vec<&str> = expected.iter().map(|scores| ["red", "green", "blue"][best(scores)]).collect();
        assert_eq!(report["decisions"], json!(names));
        // As CSV, into a file and onto the terminal.
        succeed(client, &format!("{} --out {name}.csv", DECRYPT.replace("scores.bin", &scores)));
        let text = fs::read_to_string(client.join(format!("{name}.csv"))).unwrap();
        assert!(text.starts_with("row,score of red,score of green,score of blue,class,close\n1,"), "{text}");
        assert_eq!(text.lines().count(), 10);
        let shown = windlass(client, DECRYPT.replace("scores.bin", &scores).split_whitespace());
        assert!(String::from_utf8(shown.stdout).unwrap().starts_with(&text));
    }
}

#[test]
fn any_number_of_features_is_scored() {
    for (features, classes, rows) in [(1, 1, 3), (784, 1, 6), (784, 10, 6), (20_000, 1, 2), (9000, 3, 1)] {
        let dir = tempfile::tempdir().unwrap();
        let case = Case::new(features, classes, rows);
        prepare(dir.path(), &case, &json!({ "weights": case.weights, "bias": case.biases }));
        succeed(dir.path(), &format!("{ENCRYPT} --secret-key keys/secret.key"));
        succeed(dir.path(), APPLY);
        close(&succeed(dir.path(), DECRYPT)["scores"], &case.scores(0.0, 1.0));
        let report = succeed(dir.path(), "score --table rows.csv --weights model.json");
        assert_eq!((report["rows"].as_u64(), report["disagreements"].as_u64()), (Some(rows as u64), Some(0)));
        assert!(report["largest_difference"].as_f64().unwrap() < 1e-2, "{report}");
    }
}

/// More features than rows: the training took minutes, and with larger weights failed.
#[test]
fn a_model_of_784_features_is_trained_and_scored() {
    let dir = tempfile::tempdir().unwrap();
    let case = Case::new(784, 1, 30);
    case.write_rows(dir.path());
    let text = fs::read_to_string(dir.path().join("rows.csv")).unwrap();
    let label = |(row, line): (usize, &str)| match row {
        0 => format!("{line},class,flat\n"),
        _ => format!("{line},{},7\n", if row % 2 == 0 { "a" } else { "b" }),
    };
    let labelled: String = text.lines().enumerate().map(label).collect();
    fs::write(dir.path().join("t.csv"), labelled).unwrap();
    let report = succeed(dir.path(), "score --table t.csv --label class --positive a");
    assert_eq!((report["features"].as_u64(), report["disagreements"].as_u64()), (Some(785), Some(0)));
}

#[test]
fn models_come_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("rows.csv"), "id,class,x,y,note\n1,yes,2,1,n\n2,no,-1,3,n\n3,yes,4,-2,n\n4,no,0,1,n\n").unwrap();
    let score = |model: &str, more: &str| {
        let report = succeed(at, &format!("score --table rows.csv --weights {model} --label class {more}"));
        (report["accuracy_encrypted_all"].as_f64().unwrap(), report["features"].as_u64().unwrap())
    };
    // x − y is positive in the first and the third row.
    let positive = "--positive yes --skip note";
    fs::write(at.join("m.csv"), "y,bias,x\n-1,-0.5,1\n").unwrap();
    assert_eq!(score("m.csv", "--positive yes"), (1.0, 2), "columns are found by name, others left out");
    for model in [
        json!({ "weights": [1, -1], "bias": -0.5 }),
        json!({ "weights": [[1, -1]], "bias": [-0.5] }),
        json!({ "weights": [-1, 1], "features": ["y", "x"] }),
        json!({ "weights": [2, -4], "means": [0, 1], "scales": [1, 2], "bias": -3 }),
        json!({ "weights": [1, -1], "bias": null, "means": null, "classes": null }),
        json!({ "weights": [1, -1], "bias": -0.5, "classes": ["no", "yes"] }),
    ] {
        write(at, "m.json", &model);
        assert_eq!(score("m.json", positive), (1.0, 2), "{model}");
    }
    assert_eq!(score("m.json", "--skip note"), (1.0, 2), "classes have names");
    let label = |column: &str| {
        fail(at, &format!("score --table rows.csv --weights m.json --label {column} --skip class --skip note"))
    };
    // No cell is the name of a class: an accuracy of 0 would say nothing of the model.
    let message = label("id");
    for wanted in ["rows.csv: column 'id'", "'1', '2', '3' and more", "'no', 'yes'", "\"classes\""] {
        assert!(message.contains(wanted), "{wanted}: {message}");
    }
    write(at, "m.json", &json!({ "weights": [[-1, 1], [1, -1], [0, 0]], "classes": ["no", "yes", "never"] }));
    assert_eq!(score("m.json", "--skip note"), (1.0, 2));
    let message = fail(at, "score --table rows.csv --weights m.json --label class --positive yes --skip note");
    assert!(message.contains("several classes"), "{message}");
    // Classes are numbers in many tables.
    fs::write(at.join("rows.csv"), "id,class,x,y,note\n1,7,2,1,n\n2,-1,-1,3,n\n3,7,4,-2,n\n4,-1,0,1,n\n").unwrap();
    write(at, "m.json", &json!({ "weights": [1, -1], "bias": -0.5, "classes": [-1, 7] }));
    assert_eq!(score("m.json", "--skip note"), (1.0, 2));
}

#[test]
fn bad_models_and_rows_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let refused = |name: &str, text: &str, wanted: &str| {
        fs::write(at.join(name), text).unwrap();
        let before = snapshot(at);
        let message = fail(at, &format!("score schema --weights {name} --out new.json"));
        assert!(message.contains(wanted), "{text}: {message}");
        assert!(snapshot(at) == before);
    };
    for (text, wanted) in [
        ("", "not a model"),
        ("{}", "missing field `weights`"),
        (r#"{"weights": [1, NaN]}"#, "not a model"),
        (r#"{"weights": [1, 1e999]}"#, "not a model"),
        (r#"{"weights": []}"#, "not a model"),
        (r#"{"weights": [[]]}"#, "features"),
        (r#"{"weights": [[1, 2], [3]]}"#, "expected 2 entries, got 1"),
        (r#"{"weights": [[1, 2], [3, 4]], "bias": 1}"#, "biases"),
        (r#"{"weights": [1, 2], "means": [1]}"#, "means"),
        (r#"{"weights": [1, 2], "scales": [1, 0]}"#, "a scale"),
        (r#"{"weights": [1, 2], "bound": 0}"#, "the bound on features"),
        (r#"{"weights": [1, 2], "classes": ["a"]}"#, "it names 1 classes, but has 2"),
        (r#"{"weights": [1, 2], "features": ["a", "a"]}"#, "have the same name"),
        (r#"{"weights": [1, 2], "wieghts": 1}"#, "unknown field"),
        (r#"{"weights": [1e308, 1e308]}"#, "divide weights and bias by one number"),
        ("null", r#"it holds null, but {"weights": [..], "bias": ..} is expected"#),
        (r#""text""#, "it holds text, but"),
        ("1.5", "it holds a number, but"),
        ("[[1, 2]]", "it holds a list, but"),
        (r#"{"weights": null}"#, r#""weights" is a list of numbers, or one such list for each class, not null"#),
        (r#"{"weights": "1, 2"}"#, "each class, not text"),
        (r#"{"weights": 1.5}"#, "each class, not a number"),
        (r#"{"weights": [1, null]}"#, "a weight is a number, not null"),
        (r#"{"weights": [[1, 2], 3]}"#, "for each class: one is a number"),
        (r#"{"weights": [[1, "2"], [3, 4]]}"#, "for each class: one is text"),
        (r#"{"weights": [1, 2], "bias": "0"}"#, r#""bias" is a number, or one for each class, not text"#),
        (r#"{"weights": [1, 2], "bias": [null]}"#, "one for each class, not null"),
        (r#"{"weights": [1, 2], "classes": "ab"}"#, r#""classes" is a list of names, not text"#),
        (r#"{"weights": [1, 2], "classes": [true, false]}"#, "text or a number, not true or false"),
        (r#"{"weights": [1, 2], "classes": [1, "1"]}"#, "two of its classes have the same name"),
    ] {
        refused("m.json", text, wanted);
    }
    for (text, wanted) in [
        ("", "the file is empty"),
        ("x,y\n1,2\n", "no column 'bias'"),
        ("x,bias\n1,2\n3,4\n", "2 rows of weights"),
        ("x,bias\nNaN,2\n", "not a finite number"),
        ("x,bias\n1,inf\n", "not a finite number"),
        ("bias\n1\n", "features"),
    ] {
        refused("m.csv", text, wanted);
    }
    let many = vec![vec![1.0]; 5000];
    refused("m.json", &json!({ "weights": many, "bias": vec![0.0; 5000] }).to_string(), "the number of classes");
    // Rows that the model is not for.
    write(at, "m.json", &json!({ "weights": [1, 2], "bias": 0 }));
    let refused = |rows: &str, wanted: &str| {
        fs::write(at.join("rows.csv"), rows).unwrap();
        let message = fail(at, "score --table rows.csv --weights m.json");
        assert!(message.contains(wanted), "{message}");
    };
    refused(
        "1,2\n3,4\n",
        "rows.csv: a table must begin with a line of column names, but its first line holds only numbers ('1, 2')",
    );
    refused("id,x\n1,2\n", "the table has 1 feature columns, but the model takes 2");
    refused("id,x,y\n1,2,3\n2,250,1\n", "row 2 has '250' in column 'x', but standardised features must be at most 16");
    refused("id,x,y\n1,2,NaN\n", "not a finite number");
    let message = fail(at, "score --weights m.json");
    assert!(message.contains("give --table FILE"), "{message}");
    let message = fail(at, "score --table rows.csv");
    assert!(message.contains("--weights FILE"), "{message}");
}

#[test]
fn steps_refuse_files_that_do_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let case = Case::new(30, 2, 4);
    let model = json!({ "weights": case.weights, "bias": case.biases });
    prepare(at, &case, &model);
    succeed(at, &format!("{ENCRYPT} --secret-key keys/secret.key"));
    succeed(at, "score keygen --schema schema.json --out stranger");
    let refused = |line: &str, wanted: &str| {
        let before = snapshot(at);
        let message = fail(at, line);
        assert!(message.contains(wanted), "windlass {line}\nsays: {message}wanted: {wanted}");
        assert!(snapshot(at) == before, "windlass {line} made or changed a file");
    };
    let apply = APPLY.replace("scores.bin", "new.bin");
    refused(&apply.replace("keys/evaluation", "stranger/evaluation"), "belongs to another key pair");
    refused(
        &apply.replace("rows.bin", "keys/public.key"),
        "expected encrypted rows for a model, but found a public key",
    );
    let whole = fs::read(at.join("rows.bin")).unwrap();
    for (name, bytes) in [("cut.bin", &whole[..whole.len() / 2]), ("empty.bin", &[][..])] {
        fs::write(at.join(name), bytes).unwrap();
        refused(&apply.replace("rows.bin", name), &format!("{name}: the file is truncated"));
    }
    let mut altered = whole.clone();
    altered[5000] ^= 1;
    fs::write(at.join("altered.bin"), altered).unwrap();
    refused(&apply.replace("rows.bin", "altered.bin"), "altered.bin: the file is corrupt");
    // A model of another shape or size, rows of another shape.
    for (name, other) in [
        ("more.json", json!({ "weights": vec![vec![1.0; 31]; 2], "bias": [0, 0] })),
        ("classes.json", json!({ "weights": vec![vec![1.0; 30]; 3], "bias": [0, 0, 0] })),
        ("large.json", json!({ "weights": vec![vec![1e6; 30]; 2], "bias": [0, 0] })),
    ] {
        write(at, name, &other);
        refused(&apply.replace("model.json", name), "schema.json: it was made for another model than");
    }
    // The remedy is one of this command.
    refused(
        &apply.replace("model.json", "large.json"),
        "give clients the schema of this model ('windlass score schema')",
    );
    // Rows for another schema, and keys of one.
    let long = json!({ "weights": vec![vec![1.0; 100]; 2], "bias": [0, 0] });
    write(at, "long.json", &long);
    succeed(at, "score schema --weights long.json --out long-schema.json");
    let long = apply.replace("schema.json", "long-schema.json").replace("model.json", "long.json");
    refused(&long, "rows.bin: it was made for another schema");
    let rows = at.join("long");
    fs::create_dir(&rows).unwrap();
    Case::new(100, 2, 4).write_rows(&rows);
    let encrypt = ENCRYPT.replace("schema.json", "long-schema.json").replace("rows.csv", "long/rows.csv");
    succeed(at, &format!("{} --secret-key keys/secret.key", encrypt.replace("rows.bin", "long.bin")));
    refused(&long.replace("rows.bin", "long.bin"), "evaluation.keys: it was made for another model than long.json");
    succeed(at, APPLY);
    let decrypt = DECRYPT.replace("keys/secret", "stranger/secret");
    refused(&decrypt, "scores.bin: it belongs to another key pair");
    refused(&DECRYPT.replace("scores.bin", "rows.csv"), "not a Windlass file");
    refused(
        &DECRYPT.replace("scores.bin", "rows.bin"),
        "expected encrypted scores of a model, but found encrypted rows",
    );
    refused(&format!("{DECRYPT} --out rows.csv"), "already exists");
    refused(&format!("{ENCRYPT} --secret-key keys/secret.key"), "already exists");
}

/// What numbers mean stands in the schema: with that of another model, or one that was changed,
/// right scores would be read as wrong ones.
#[test]
fn rows_and_scores_are_for_one_schema() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let case = Case::new(3, 2, 4);
    let model = json!({
        "weights": case.weights, "bias": case.biases, "features": ["c0", "c1", "c2"], "classes": ["a", "b"],
        "means": vec![0.5; 3],
    });
    prepare(at, &case, &model);
    let own: Value = serde_json::from_slice(&fs::read(at.join("schema.json")).unwrap()).unwrap();
    let refused = |line: &str, wanted: &str| {
        let before = snapshot(at);
        let message = fail(at, line);
        assert!(message.contains(wanted), "windlass {line}\nsays: {message}wanted: {wanted}");
        assert!(snapshot(at) == before, "windlass {line} made or changed a file");
    };
    let encrypt = format!("{ENCRYPT} --secret-key keys/secret.key");
    succeed(at, &encrypt);
    succeed(at, APPLY);
    let changes = [
        ("unit", json!(own["unit"].as_f64().unwrap() * 2.0)),
        ("columns", json!(["c1", "c0", "c2"])),
        ("classes", json!(["b", "a"])),
        ("means", json!(vec![0.25; 3])),
        ("bound", json!(8.0)),
    ];
    for (field, value) in changes {
        let mut other = own.clone();
        other[field] = value;
        write(at, "other.json", &other);
        let (scores, rows) = (format!("{field}.scores"), format!("{field}.rows"));
        let with_other = |line: &str| line.replace("schema.json", "other.json");
        // The scores of the server's schema, read with the other one.
        refused(&with_other(DECRYPT), "scores.bin: it was made for another schema");
        // Rows that were made with the other one.
        succeed(at, &with_other(&encrypt).replace("rows.bin", &rows));
        let apply = APPLY.replace("rows.bin", &rows).replace("scores.bin", &scores);
        refused(&apply, &format!("{rows}: it was made for another schema"));
        // A server whose model the other one is not for, but for its unit.
        match field {
            "unit" => drop(succeed(at, &with_other(&apply))),
            _ => refused(&with_other(&apply), "other.json: it was made for another model than model.json"),
        }
    }
    // Spaces between the fields are no other schema.
    fs::write(at.join("dense.json"), own.to_string()).unwrap();
    close(&succeed(at, &DECRYPT.replace("schema.json", "dense.json"))["scores"], &case.scores(0.5, 1.0));
}

/// Weights of sizes that no one unit suits: the client hears that its scores say nothing, and of how
/// many rows.
#[test]
fn scores_that_are_known_to_less_than_they_decide_by_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let told = |weights: Value, close: u64| {
        let case = Case { weights: vec![vec![0.0; 3]; 3], biases: vec![0.0; 3], rows: vec![vec![0.5, 1.0, -1.0]; 2] };
        let at = at.join(format!("{close}"));
        fs::create_dir(&at).unwrap();
        prepare(&at, &case, &json!({ "weights": weights }));
        succeed(&at, &format!("{ENCRYPT} --secret-key keys/secret.key"));
        succeed(&at, APPLY);
        let report = succeed(&at, DECRYPT);
        assert_eq!(report["close_decisions"], close, "{report}");
        let flags = report["close"].as_array().unwrap();
        assert_eq!(flags.iter().filter(|flag| **flag == json!(true)).count() as u64, close, "{report}");
        let shown = String::from_utf8(windlass(&at, DECRYPT.split_whitespace()).stdout).unwrap();
        assert_eq!(shown.contains("rows are closer than these errors"), close > 0, "{shown}");
        assert!(shown.contains("each score is correct up to"), "{shown}");
    };
    told(json!([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 0);
    told(json!([[1e10, -5e9, 0.0], [1e-5, 1e-6, 0.0], [0.0, 0.0, 1e-4]]), 2);
}

#[test]
fn crafted_schemas_are_refused_before_any_key() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let case = Case::new(30, 2, 4);
    prepare(at, &case, &json!({ "weights": case.weights, "bias": case.biases, "means": vec![1.0; 30] }));
    let own: Value = serde_json::from_slice(&fs::read(at.join("schema.json")).unwrap()).unwrap();
    let refused = |changes: &[(&str, Value)], more: &str, wanted: &str| {
        let mut schema = own.clone();
        for (field, value) in changes {
            schema[*field] = value.clone();
        }
        write(at, "crafted.json", &schema);
        let before = snapshot(at);
        let message = fail(at, &format!("score keygen --schema crafted.json --out new {more}"));
        assert!(message.contains(wanted) && !message.contains('\u{1b}'), "{changes:?}: {message}");
        assert!(snapshot(at) == before);
    };
    let plain = json!(null);
    for features in [json!(u64::MAX), json!(1u64 << 40), json!((1u64 << 24) + 1)] {
        refused(&[("features", features.clone())], "", "the number of features");
        refused(&[("features", features), ("means", plain.clone())], "", "the number of features");
    }
    refused(&[("features", json!(31))], "", "means");
    refused(&[("features", json!(0)), ("means", plain.clone())], "", "the number of features");
    for scores in [json!(0), json!(u64::MAX), json!(4097)] {
        refused(&[("scores", scores)], "", "the number of classes");
    }
    for unit in [json!(0), json!(3), json!(-1), json!(1e308)] {
        refused(&[("unit", unit)], "", "the unit of the scores");
    }
    refused(&[("bound", json!(1e9))], "", "the bound on features");
    refused(&[("classes", json!(["a", "a"]))], "", "same name");
    refused(&[("columns", json!(["a"]))], "", "names 1 features");
    refused(&[("version", json!(2))], "", "version 2");
    refused(&[("\u{1b}[31m", json!(1))], "", "unknown field");
    let changed = |field: &str, value: Value| {
        let mut parameters = own["parameters"].clone();
        parameters[field] = value;
        vec![("parameters", parameters)]
    };
    refused(&changed("n", json!(1u64 << 60)), "", "the ring dimension");
    refused(&changed("n", json!(4096)), "", "bits");
    refused(&changed("depth", json!(u64::MAX)), "", "");
    refused(&changed("base_prime_bits", json!(vec![50; 3000])), "", "");
    // A set that does not call itself secure needs consent, and then has to carry the circuit.
    let mut weak = own["parameters"].clone();
    weak["n"] = json!(256);
    weak["assurance"] = json!("insecure");
    weak["name"] = json!("insecure_toy");
    refused(&[("parameters", weak.clone())], "", "accept them with --insecure");
    weak["depth"] = json!(1);
    weak["digits"] = json!(1);
    weak["special_prime_bits"] = json!([50, 50]);
    refused(&[("parameters", weak)], "--insecure", "the number of rescalings");
}

/// The commands of the page on scoring, as a reader would paste them.
#[cfg(unix)]
#[test]
fn the_page_on_scoring_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/scoring.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.collect();
    assert!(script.matches("windlass score").count() >= 6);
    let dir = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_windlass")).parent().unwrap().to_path_buf();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&others))).unwrap();
    let run =
        Command::new("sh").current_dir(dir.path()).env("PATH", path).args(["-e", "-c", &script]).output().unwrap();
    let shown = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let scores = fs::read_to_string(dir.path().join("scores.csv")).unwrap();
    let classes: Vec<&str> = scores.lines().skip(1).map(|line| line.rsplit(',').nth(1).unwrap()).collect();
    assert_eq!(classes, ["setosa", "versicolor", "virginica"], "{scores}");
    assert!(shown.contains(&scores) && shown.contains("3 rows, 0 decisions differ"), "{shown}");
}
