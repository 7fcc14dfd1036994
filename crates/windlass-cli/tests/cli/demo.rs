//! The main job, end to end, as separate processes that share nothing but files.

use std::fs;
use std::path::Path;

use crate::common::{succeed, windlass, zones};

/// A small table: 11 rows with quoted fields, empty cells and letters of two and three bytes.
const RIVERS: &str = "name,km,mouth,note\nNile,6650,Mediterranean,\nAmazon,6400,Atlantic,\"so \"\"wide\"\"\"\nYangtze,6300,East \
                      China Sea,長江\nMississippi,6275,Gulf of Mexico,\nYenisei,5539,Kara Sea,Енисей\nYellow,5464,Bohai \
                      Sea,黄河\nOb,5410,Gulf of Ob,\nParaná,4880,Río de la Plata,\nCongo,4700,Atlantic,\"a, b\"\nAmur,4480,\
                      Sea of Okhotsk,\nLena,4472,Laptev Sea,\n";

#[test]
fn the_demo_finds_its_row() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(zones(), dir.path().join("zones.csv")).unwrap();
    let report = succeed(dir.path(), "lookup --table zones.csv --key zone --query Europe/Lisbon --out out");
    assert_eq!(report["verified"], true);
    assert_eq!(report["row"]["zone"], "Europe/Lisbon");
    assert_eq!(report["row"]["country"], "PT");
    assert_eq!(report["row"]["coordinates"], "+3843-00908");
    assert_eq!(report["row"]["comments"], "Portugal (mainland)");
    assert!(report["security_bits"].as_f64().unwrap() >= 128.0);
    assert!(report["plan"].as_str().unwrap().contains("418 keys in bins"));
    for stage in ["table", "plan", "prepare", "keygen", "query", "answer_load", "answer", "decrypt"] {
        assert!(report["seconds"][stage].as_f64().is_some(), "{stage}");
    }
    for file in ["secret.key", "evaluation.keys", "query.bin", "answer.bin", "schema.json"] {
        let place = if file == "schema.json" { "out/table" } else { "out" };
        let bytes = fs::metadata(dir.path().join(place).join(file)).unwrap().len();
        assert_eq!(report["bytes"][file].as_u64(), Some(bytes), "{file}");
    }
    // The client of the lookup has what the steps take.
    let with = "--schema out/table/schema.json --secret-key out/secret.key --query Europe/Lisbon";
    let told = succeed(dir.path(), &format!("table decrypt {with} --in out/answer.bin"));
    assert_eq!((&told["rows"], &told["rows"][0]), (&report["rows"], &report["row"]));
}

#[test]
fn text_output_shows_sizes_times_and_plan() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("rivers.csv"), RIVERS).unwrap();
    let output = windlass(dir.path(), "lookup --table rivers.csv --key name --query Lena".split(' '));
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    // Stages that took more than a second have said what they do.
    assert!(errors.lines().all(|line| line.starts_with("windlass: ") && line.ends_with(" ...")), "{errors}");
    for wanted in [
        "private lookup by name in 11 rows of at most 35 bytes",
        "bits of security; wrong with probability at most",
        "evaluation.keys",
        "keygen",
        "equal to the row of the table",
        "Laptev Sea",
        "windlass table plan --rows 1000000 --bytes 100 --key id",
    ] {
        assert!(text.contains(wanted), "no '{wanted}' in\n{text}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "without --out nothing stays behind");
}

/// Copies the named files to another party's directory.
fn send(from: &Path, to: &Path, names: &[&str]) {
    names.iter().for_each(|name| {
        fs::copy(from.join(name), to.join(name)).unwrap();
    });
}

#[test]
fn two_sides_share_only_what_they_send() {
    let (client, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(server.path().join("rivers.csv"), RIVERS).unwrap();
    succeed(server.path(), "table build --table rivers.csv --key name --out served");
    send(&server.path().join("served"), client.path(), &["schema.json"]);
    succeed(client.path(), "table keygen --schema schema.json --out .");
    send(client.path(), server.path(), &["evaluation.keys"]);
    let with = "--schema schema.json --secret-key secret.key";
    for (line, row) in RIVERS.lines().skip(1).enumerate().filter(|(line, _)| line % 4 == 2) {
        let key = row.split(',').next().unwrap();
        let [query, answer] = ["query", "answer"].map(|name| format!("{name}{line}"));
        succeed(client.path(), &format!("table query {with} --query {key} --out {query}"));
        send(client.path(), server.path(), &[&query]);
        let inputs = format!("--evaluation-keys evaluation.keys --in {query}");
        succeed(server.path(), &format!("table answer --dir served {inputs} --out {answer}"));
        send(server.path(), client.path(), &[&answer]);
        let found = succeed(client.path(), &format!("table decrypt {with} --in {answer} --query {key}"));
        assert_eq!(found["rows"][0]["name"], key);
        assert!(row.contains(found["rows"][0]["km"].as_str().unwrap()), "{row}");
    }
    assert!(!server.path().join("secret.key").exists());
}

#[test]
fn queries_for_different_rows_look_alike() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("rivers.csv"), RIVERS).unwrap();
    succeed(dir.path(), "table build --table rivers.csv --key name --out served");
    succeed(dir.path(), "table keygen --schema served/schema.json --out .");
    let query = |name: &str, file: &str| {
        let with = "--schema served/schema.json --secret-key secret.key";
        succeed(dir.path(), &format!("table query {with} --query {name} --out {file}"));
        fs::read(dir.path().join(file)).unwrap()
    };
    let (nile, lena, again) = (query("Nile", "a"), query("Lena", "b"), query("Nile", "c"));
    assert_eq!(nile.len(), lena.len());
    // The header with the key pair is public.
    assert_eq!(nile[..68], lena[..68]);
    let same = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(x, y)| x == y).count() * 100 / a.len();
    assert!(same(&nile[68..], &again[68..]) < 2, "two encryptions of one query share their bytes");
}

/// `make nightly` sets `WINDLASS_NIGHTLY`: a table of many thousand rows.
#[test]
fn large_tables() {
    let rows = if std::env::var_os("WINDLASS_NIGHTLY").is_some() { 200_000 } else { 2_000 };
    let dir = tempfile::tempdir().unwrap();
    let cell = "a cell of some length; the same in every row but for its number: ";
    let table: String = (0..rows).map(|row| format!("{row},{cell}{row}\n")).collect();
    fs::write(dir.path().join("table.csv"), format!("id,text\n{table}")).unwrap();
    let query = rows - 7;
    let report = succeed(dir.path(), &format!("lookup --table table.csv --key id --query {query}"));
    assert_eq!(report["row"]["text"], format!("{cell}{query}"));
    assert!(report["security_bits"].as_f64().unwrap() >= 128.0);
}
