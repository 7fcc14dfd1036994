//! Nearest neighbours, as separate processes.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{fail, snapshot, succeed, windlass};

/// An array of NumPy.
fn npy(path: &Path, kind: &str, shape: &str, data: &[u8]) {
    npy_in_order(path, kind, "False", shape, data);
}

/// An array of NumPy in Fortran's order, or not.
fn npy_in_order(path: &Path, kind: &str, fortran: &str, shape: &str, data: &[u8]) {
    let header = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    fs::write(path, bytes).unwrap();
}

/// A table with names: points on a circle, half a radian apart, and two queries.
fn circle(dir: &Path) {
    let point = |k: usize| {
        let angle = k as f64 / 2.0;
        format!("point {k},{},{},{}\n", angle.cos(), angle.sin(), "x")
    };
    let rows: String = (0..12).map(point).collect();
    fs::write(dir.join("table.csv"), format!("name,x,y,kind\n{rows}")).unwrap();
    // At 1.52 and 2.68.
    fs::write(dir.join("query.csv"), "x,y\n0.0508,0.9987\n-1,0.5\n").unwrap();
}

/// The columns of that table that are no numbers.
const COLUMNS: &str = "--key name --skip kind";

fn indices(report: &Value, number: usize) -> Vec<u64> {
    report["nearest"][number].as_array().unwrap().iter().map(|one| one["index"].as_u64().unwrap()).collect()
}

/// Numbers of very different sizes have one scale: scores say how far they may be off, with the
/// process as a whole and in steps.
#[test]
fn scores_say_how_far_they_may_be_off() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("t.csv"), "id,age,income\na,25,50000\nb,60,50100\nc,40,90000\nd,62,20000\n").unwrap();
    fs::write(at.join("q.csv"), "age,income\n60,50000\n").unwrap();
    let whole = succeed(at, "search --table t.csv --query q.csv --metric euclidean --k 4");
    succeed(at, "search schema --table t.csv --metric euclidean --out s.json");
    succeed(at, "search keygen --schema s.json --out k");
    succeed(at, "search query --schema s.json --secret-key k/secret.key --query q.csv --out q");
    succeed(at, "search answer --table t.csv --schema s.json --evaluation-keys k/evaluation.keys --in q --out a");
    let line = "search decrypt --schema s.json --secret-key k/secret.key --query q.csv --in a --k 4";
    let steps = succeed(at, line);
    let truth = [1225.0, 10_000.0, 400.0 + 1.6e9, 4.0 + 9e8];
    for report in [&whole, &steps] {
        for one in report["nearest"][0].as_array().unwrap() {
            let [score, error] = ["score", "error_bound"].map(|name| one[name].as_f64().unwrap());
            let wanted = truth[one["index"].as_u64().unwrap() as usize];
            assert!(error > 0.0 && (score - wanted).abs() <= error, "{one}: {wanted}");
        }
    }
    let text = String::from_utf8(windlass(at, line.split_whitespace()).stdout).unwrap();
    assert!(text.contains(" ± ") && text.contains("1 of them are as near as the next one"), "{text}");
    // The one that is not shown counts as well.
    let nearest = line.replace("--k 4", "--k 1");
    let text = String::from_utf8(windlass(at, nearest.split_whitespace()).stdout).unwrap();
    assert!(text.contains("1 of them are as near as the next one"), "{text}");
    assert_eq!(succeed(at, &nearest)["nearest"][0].as_array().unwrap().len(), 1);
}

#[test]
fn the_nearest_vectors_of_a_table_are_found() {
    let dir = tempfile::tempdir().unwrap();
    circle(dir.path());
    let line = format!("search --table table.csv --query query.csv {COLUMNS} --k 3");
    let report = succeed(dir.path(), &line);
    assert_eq!((&report["verified"], &report["recall"]), (&json!(true), &json!(1.0)));
    assert_eq!((indices(&report, 0), indices(&report, 1)), (vec![3, 4, 2], vec![5, 6, 4]));
    assert_eq!(report["nearest"][0][0]["name"], "point 3");
    assert!((report["nearest"][0][0]["score"].as_f64().unwrap() - 1.0).abs() < 0.02);
    assert!(report["security_bits"].as_f64().unwrap() >= 128.0);
    let text = windlass(dir.path(), line.split_whitespace()).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("point 6") && text.contains("all scores are those"), "{text}");
    let plan = succeed(dir.path(), &format!("search --table table.csv {COLUMNS} --plan"));
    assert_eq!(plan["planned_bytes"], report["planned_bytes"]);
    assert!(plan["planned_bytes"]["query"].as_u64().unwrap() > 30_000 && plan.get("nearest").is_none());
}

#[test]
fn integers_of_numpy_are_searched_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<u8> = (0..600u32).map(|k| (k * k % 251) as u8).collect();
    let query: Vec<u8> = vec![3, 253, 128];
    npy(&dir.path().join("table.npy"), "|i1", "(200, 3)", &rows);
    npy(&dir.path().join("query.npy"), "|i1", "(3,)", &query);
    let integer = |x: &u8| i64::from(*x as i8);
    for metric in ["inner-product", "euclidean"] {
        let line = format!("search --table table.npy --query query.npy --metric {metric} --k 200");
        let report = succeed(dir.path(), &line);
        let score = |row: &[u8]| {
            let pairs = || row.iter().map(integer).zip(query.iter().map(integer));
            match metric {
                "euclidean" => pairs().map(|(x, q)| (x - q).pow(2)).sum::<i64>(),
                _ => -pairs().map(|(x, q)| x * q).sum::<i64>(),
            }
        };
        let mut wanted: Vec<(i64, u64)> = rows.chunks(3).map(score).zip(0..).collect();
        wanted.sort();
        assert_eq!(indices(&report, 0), wanted.iter().map(|(_, index)| *index).collect::<Vec<_>>(), "{metric}");
        let best = report["nearest"][0][0]["score"].as_f64().unwrap();
        assert_eq!(best.abs(), wanted[0].0.abs() as f64, "{metric}");
        assert_eq!(report["recall"], 1.0);
    }
}

/// The same vectors, however NumPy wrote them, give the same schema, and with it the same table.
#[test]
fn arrays_of_any_order_are_the_same_table() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let rows = [[0.5f32, -1.0, 2.0], [1.0, -0.25, 0.75]];
    let by_rows: Vec<f32> = rows.iter().flatten().copied().collect();
    let by_columns: Vec<f32> = (0..3).flat_map(|column| rows.iter().map(move |row| row[column])).collect();
    let little = |list: &[f32]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let big = |list: &[f32]| list.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let doubles: Vec<u8> = by_rows.iter().flat_map(|&x| f64::from(x).to_be_bytes()).collect();
    npy_in_order(&at.join("0.npy"), "<f4", "False", "(2, 3)", &little(&by_rows));
    npy_in_order(&at.join("1.npy"), "<f4", "True", "(2, 3)", &little(&by_columns));
    npy_in_order(&at.join("2.npy"), ">f4", "False", "(2, 3)", &big(&by_rows));
    npy_in_order(&at.join("3.npy"), ">f4", "True", "(2, 3)", &big(&by_columns));
    npy_in_order(&at.join("4.npy"), ">f8", "False", "(2, 3)", &doubles);
    let schema = |name: &str| {
        succeed(at, &format!("search schema --table {name}.npy --out {name}.json"));
        fs::read(at.join(format!("{name}.json"))).unwrap()
    };
    let first = schema("0");
    for name in ["1", "2", "3", "4"] {
        assert!(schema(name) == first, "{name}");
    }
}

/// Pixels and counts: integers as long as int8 has them, quantised beyond.
#[test]
fn bytes_without_a_sign_are_searched() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    for most in [127u32, 255] {
        let rows: Vec<u8> = (0..300u32).map(|k| (k * k * 7 % (most + 1)) as u8).chain([most as u8; 3]).collect();
        let query: Vec<u8> = vec![3, 100, most as u8];
        npy(&at.join("table.npy"), "|u1", "(101, 3)", &rows);
        npy(&at.join("query.npy"), "|u1", "(3,)", &query);
        let line = "search --table table.npy --query query.npy --metric euclidean --k 5";
        let report = succeed(at, line);
        let distance = |row: &[u8]| {
            row.iter().zip(&query).map(|(&x, &q)| (i64::from(x) - i64::from(q)).pow(2) as f64).sum::<f64>()
        };
        let exact = most == 127;
        for one in report["nearest"][0].as_array().unwrap() {
            let index = one["index"].as_u64().unwrap() as usize;
            let [score, error] = ["score", "error_bound"].map(|name| one[name].as_f64().unwrap_or(0.0));
            let wanted = distance(&rows[3 * index..3 * index + 3]);
            assert!((score - wanted).abs() <= error && (error == 0.0) == exact, "{one}: {wanted}");
        }
        let nearest = (0..101).map(|row| distance(&rows[3 * row..3 * row + 3])).fold(f64::INFINITY, f64::min);
        let first = indices(&report, 0)[0] as usize;
        assert!(!exact || distance(&rows[3 * first..3 * first + 3]) == nearest);
    }
}

/// A column that is no number may be in one of the two files, whichever.
#[test]
fn columns_of_one_file_are_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    fs::write(at.join("t.csv"), "id,x,y,kind\na,1,0,u\nb,0,1,v\nc,-1,0,u\n").unwrap();
    fs::write(at.join("q.csv"), "name,x,y\nsomebody,0.1,0.9\n").unwrap();
    let line = "search --table t.csv --query q.csv --k 1";
    assert!(fail(at, &format!("{line} --skip kind")).contains("--skip name"));
    let found = succeed(at, &format!("{line} --skip kind --skip name"));
    assert_eq!(indices(&found, 0), [1]);
    for line in [&format!("{line} --skip name")[..], "search --table t.csv --plan"] {
        let message = fail(at, &format!("{line} --skip kind --skip nowhere"));
        assert!(message.contains("no column 'nowhere' in t.csv"), "{message}");
    }
}

/// Makes schema, keys, query and answer.
fn all_steps(at: &Path, name: &str) -> String {
    succeed(at, &format!("search schema --table table.csv {COLUMNS} --metric euclidean --out {name}.json"));
    succeed(at, &format!("search keygen --schema {name}.json --out {name}"));
    let asked = format!("--schema {name}.json --secret-key {name}/secret.key --query query.csv");
    succeed(at, &format!("search query {asked} --out {name}.query"));
    let given = format!("--schema {name}.json --evaluation-keys {name}/evaluation.keys");
    succeed(at, &format!("search answer --table table.csv {COLUMNS} {given} --in {name}.query --out {name}.answer"));
    asked
}

#[test]
fn the_steps_are_those_of_a_server_and_a_client() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    circle(at);
    let whole = succeed(at, &format!("search --table table.csv --query query.csv {COLUMNS} --metric euclidean --k 4"));
    let asked = all_steps(at, "one");
    let found = succeed(at, &format!("search decrypt {asked} --in one.answer --k 4"));
    for number in 0..2 {
        assert_eq!(indices(&found, number), indices(&whole, number));
        for place in 0..4 {
            assert_eq!(found["nearest"][number][place]["score"], whole["nearest"][number][place]["score"]);
        }
    }
    // Another client's answer and keys, a bent answer, another table, a file that is there.
    let other = all_steps(at, "two");
    assert!(fail(at, &format!("search decrypt {asked} --in two.answer")).contains("another key pair"));
    let given = "--schema one.json --evaluation-keys two/evaluation.keys --in one.query --out none.answer";
    let message = fail(at, &format!("search answer --table table.csv {COLUMNS} {given}"));
    assert!(message.contains("another key pair"), "{message}");
    let mut bent = fs::read(at.join("one.answer")).unwrap();
    bent[5000] ^= 1;
    fs::write(at.join("bent.answer"), &bent).unwrap();
    fs::write(at.join("short.answer"), &bent[..5000]).unwrap();
    for file in ["bent.answer", "short.answer", "one.query"] {
        fail(at, &format!("search decrypt {asked} --in {file}"));
    }
    // Other vectors than those that were asked for: the scores would be of these, and in units of
    // others.
    let query = fs::read_to_string(at.join("query.csv")).unwrap();
    let mut lines: Vec<&str> = query.lines().collect();
    lines[1..].reverse();
    let fewer = lines[..2].join("\n");
    for (name, text) in
        [("swapped.csv", lines.join("\n")), ("fewer.csv", fewer), ("moved.csv", query.replace("0.", "1."))]
    {
        fs::write(at.join(name), format!("{text}\n")).unwrap();
        let message = fail(at, &format!("search decrypt {} --in one.answer", asked.replace("query.csv", name)));
        assert!(message.contains("one.answer: the answer belongs to another query"), "{name}: {message}");
    }
    let table = fs::read_to_string(at.join("table.csv")).unwrap();
    fs::write(at.join("longer.csv"), format!("{table}point 12,0.5,0.5,x\n")).unwrap();
    let given = "--schema one.json --evaluation-keys one/evaluation.keys --in one.query --out none.answer";
    let message = fail(at, &format!("search answer --table longer.csv {COLUMNS} {given}"));
    assert!(message.contains("one.json: it was made for another table than longer.csv"), "{message}");
    let before = snapshot(at);
    assert!(fail(at, &format!("search query {other} --out two.query")).contains("exists"));
    fail(at, "search keygen --schema one.json --out one");
    assert_eq!(snapshot(at), before);
}

/// Tables of one shape: vectors or columns that change places are scores that change places.
#[test]
fn steps_take_the_table_of_their_schema_alone() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let line = "search --table table.csv --query query.csv --k 1 --metric inner-product";
    fs::write(at.join("table.csv"), "sea,land\n3,4\n4,3\n1,1\n").unwrap();
    fs::write(at.join("query.csv"), "sea,land\n0,1\n").unwrap();
    assert_eq!(indices(&succeed(at, line), 0), [0]);
    fs::write(at.join("rows.csv"), "sea,land\n4,3\n3,4\n1,1\n").unwrap();
    fs::write(at.join("columns.csv"), "land,sea\n4,3\n3,4\n1,1\n").unwrap();
    fs::write(at.join("names.csv"), "land,sea\n3,4\n4,3\n1,1\n").unwrap();
    let tables = ["rows.csv", "columns.csv", "names.csv"];
    for table in ["table.csv"].iter().chain(&tables) {
        succeed(at, &format!("search schema --table {table} --metric inner-product --out {table}.json"));
    }
    succeed(at, "search keygen --schema table.csv.json --out keys");
    let asked = "--secret-key keys/secret.key --query query.csv";
    succeed(at, &format!("search query --schema table.csv.json {asked} --out one.query"));
    let answer = |table: &str, schema: &str| {
        let given = "--evaluation-keys keys/evaluation.keys --in one.query --out one.answer";
        format!("search answer --table {table} --schema {schema}.json {given}")
    };
    for table in tables {
        let message = fail(at, &answer(table, "table.csv"));
        assert!(message.contains(&format!("table.csv.json: it was made for another table than {table}")), "{message}");
        // Under the schema of that table the query is another one's.
        let message = fail(at, &answer(table, table));
        assert!(message.contains(&format!("one.query: it was made for another schema than {table}.json")), "{message}");
    }
    succeed(at, &answer("table.csv", "table.csv"));
    let found = succeed(at, &format!("search decrypt --schema table.csv.json {asked} --in one.answer --k 1"));
    assert_eq!(indices(&found, 0), [0]);
    let other = format!("search decrypt --schema rows.csv.json {asked} --in one.answer");
    assert!(fail(at, &other).contains("one.answer: it was made for another schema than rows.csv.json"));
    // Queries whose columns are called otherwise, in every step that reads any.
    for names in ["land,sea", "x,y"] {
        fs::write(at.join("query.csv"), format!("{names}\n0,1\n")).unwrap();
        for line in [format!("query {asked} --out two.query"), format!("decrypt {asked} --in one.answer")] {
            let message = fail(at, &format!("search {line} --schema table.csv.json"));
            assert!(
                message.contains(&format!("its columns are {names}, but those of table.csv.json are sea,land")),
                "{message}"
            );
        }
    }
}

/// A schema of version 1 says neither which table it is of nor what its columns are called.
#[test]
fn schemas_of_version_1_are_used_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    circle(at);
    succeed(at, &format!("search schema --table table.csv {COLUMNS} --out now.json"));
    let mut schema: Value = serde_json::from_slice(&fs::read(at.join("now.json")).unwrap()).unwrap();
    let shape = schema["shape"].as_object_mut().unwrap();
    assert_eq!(shape.remove("table").unwrap().as_str().unwrap().len(), 64);
    assert_eq!(shape.remove("names").unwrap(), json!(["x", "y"]));
    schema["version"] = json!(1);
    fs::write(at.join("one.json"), schema.to_string()).unwrap();
    succeed(at, "search keygen --schema one.json --out keys");
    let asked = "--schema one.json --secret-key keys/secret.key --query query.csv";
    succeed(at, &format!("search query {asked} --out one.query"));
    let given = "--evaluation-keys keys/evaluation.keys --in one.query --out one.answer";
    succeed(at, &format!("search answer --table table.csv {COLUMNS} --schema one.json {given}"));
    let found = succeed(at, &format!("search decrypt {asked} --in one.answer --k 3"));
    assert_eq!((indices(&found, 0), indices(&found, 1)), (vec![3, 4, 2], vec![5, 6, 4]));
}

#[test]
fn schemas_that_promise_too_much_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    circle(at);
    succeed(at, &format!("search schema --table table.csv {COLUMNS} --out schema.json"));
    let text = fs::read_to_string(at.join("schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let wrong: [(&str, Value); 9] = [
        ("message_bits", json!(40)),
        ("message_bits", json!(0)),
        ("dimension", json!(3000)),
        ("vectors", json!(0)),
        ("vectors", json!(1u64 << 60)),
        ("scale", json!(-1.0)),
        ("bits", json!(9)),
        ("row_sum", json!(-5)),
        ("metric", json!("hamming")),
    ];
    for (field, value) in wrong {
        let mut bad = schema.clone();
        bad["shape"][field] = value.clone();
        fs::write(at.join("bad.json"), bad.to_string()).unwrap();
        let message = fail(at, "search keygen --schema bad.json --out keys");
        assert!(message.contains("not a search schema"), "{field} {value}: {message}");
    }
    for (field, value) in [("group", 3), ("group", 8192), ("rows", 0), ("rows", 5000), ("ciphertexts", 7)] {
        let mut bad = schema.clone();
        bad["shape"]["layout"][field] = json!(value);
        fs::write(at.join("bad.json"), bad.to_string()).unwrap();
        let message = fail(at, "search keygen --schema bad.json --out keys");
        assert!(message.contains("not a search schema"), "{field} {value}: {message}");
    }
    assert!(!at.join("keys").exists());
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    circle(at);
    let table = |text: &str| fs::write(at.join("t.csv"), text).unwrap();
    let query = |text: &str| fs::write(at.join("q.csv"), text).unwrap();
    let refused = |more: &str, wanted: &str| {
        let message = fail(at, &format!("search --table t.csv --query q.csv {more}"));
        assert!(message.contains(wanted), "{message}");
    };
    query("x,y\n1,2\n");
    table("x,y\n1,2\n0,0\n");
    refused("", "vector 1 is the zero vector");
    refused("--metric inner-product --bits 9", "the bits of a number is 9");
    refused("--metric hamming", "'hamming' is not a metric");
    refused("--metric inner-product --bandwidth 0", "bandwidth");
    table("x,y\n1,nan\n");
    refused("", "not a finite number");
    table("x,y\n1,2\n3,n/a\n");
    refused(
        "",
        "row 2 has 'n/a' in column 'y', which is not a finite number; correct it, or leave the column out with --skip y",
    );
    table("x,y,kind of sea\n1,2,a\n3,4,b\n");
    refused("", "the column holds no numbers: leave it out with --skip 'kind of sea', or name it with --key");
    table("x,y\n");
    refused("", "no rows");
    table("id\n1\n");
    refused("", "no rows");
    // Without names of columns the first vector would be taken for them.
    table("1,2\n3,4\n");
    refused(
        "",
        "t.csv: a table must begin with a line of column names, but its first line holds only numbers ('1, 2')",
    );
    refused("--plan", "a table must begin with a line of column names");
    table("x,y\n1,2\n3,4\n");
    query("1,2\n3,4\n");
    refused(
        "",
        "q.csv: a table must begin with a line of column names, but its first line holds only numbers ('1, 2')",
    );
    query("x\n1\n");
    refused("", "1 dimensions");
    query("x,y\n0,0\n");
    refused("", "query 0 is the zero vector");
    query("x,y\n0,90\n");
    refused("--metric euclidean", "query 0 has a number of absolute value 90");
    npy(&at.join("t.npy"), "<f4", "(1, 2)", &[0, 0, 128, 127, 0, 0, 0, 0]);
    assert!(fail(at, "search --table t.npy --query q.csv").contains("not finite"));
    npy(&at.join("t.npy"), "<i4", "(1, 2)", &[0; 8]);
    assert!(fail(at, "search --table t.npy --query q.csv").contains("'<i4'"));
    assert!(fail(at, "search --table t.csv").contains("--query"));
    assert!(fail(at, "search --query q.csv").contains("--table"));
}

/// The commands of the page on searches, as a reader would paste them.
#[cfg(unix)]
#[test]
fn the_page_on_searches_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/search.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.collect();
    assert!(script.matches("windlass search").count() >= 8);
    let dir = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_windlass")).parent().unwrap().to_path_buf();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&others))).unwrap();
    let run =
        Command::new("sh").current_dir(dir.path()).env("PATH", path).args(["-e", "-c", &script]).output().unwrap();
    let shown = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(shown.contains("shark") && shown.contains("eagle"), "{shown}");
    assert!(shown.contains("recall@2 against double precision in the clear: 1.0000"), "{shown}");
}

#[test]
fn dimensions_in_another_order_and_numbers_beyond_squares_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    std::fs::write(at.join("t.csv"), "id,sea,land\na,1,0\nb,0,1\n").unwrap();
    std::fs::write(at.join("q.csv"), "land,sea\n1,0\n").unwrap();
    assert!(fail(at, "search --table t.csv --query q.csv --k 1").contains("land,sea"));
    std::fs::write(at.join("large.csv"), "sea,land\n1e308,1e308\n").unwrap();
    assert!(fail(at, "search --table t.csv --query large.csv --k 1 --metric inner-product").contains("1e140"));
}
