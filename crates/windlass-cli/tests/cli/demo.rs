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
    assert!(report["plan"].as_str().unwrap().contains("baby-giant"));
    for stage in ["keygen", "query", "answer_product", "decrypt"] {
        assert!(report["seconds"][stage].as_f64().is_some(), "{stage}");
    }
    for file in ["secret.key", "public.key", "evaluation.keys", "query.bin", "answer.bin", "schema.json"] {
        let bytes = fs::metadata(dir.path().join("out").join(file)).unwrap().len();
        assert_eq!(report["bytes"][file].as_u64(), Some(bytes), "{file}");
    }
}

#[test]
fn text_output_shows_sizes_times_plan_and_capacity() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("rivers.csv"), RIVERS).unwrap();
    let output = windlass(dir.path(), "lookup --table rivers.csv --key name --query Lena".split(' '));
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    // Stages that took more than a second have said what they do.
    assert!(errors.lines().all(|line| line.starts_with("windlass: ") && line.ends_with(" ...")), "{errors}");
    for wanted in [
        "private lookup by name in 11 rows",
        "security",
        "evaluation.keys",
        "keygen",
        "giant steps",
        "before the product",
        "Laptev Sea",
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
fn four_processes_share_only_what_they_send() {
    let (client, server) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(server.path().join("rivers.csv"), RIVERS).unwrap();
    succeed(server.path(), "schema --table rivers.csv --key name --out schema.json");
    send(server.path(), client.path(), &["schema.json"]);
    succeed(client.path(), "keygen --schema schema.json --out .");
    send(client.path(), server.path(), &["public.key", "evaluation.keys"]);
    for (line, row) in RIVERS.lines().skip(1).enumerate().filter(|(line, _)| line % 4 == 2) {
        let key = row.split(',').next().unwrap();
        let side = if line == 2 { "--public-key public.key" } else { "--secret-key secret.key" };
        let out = |name: &str| format!("{name}{line}");
        succeed(client.path(), &format!("query --schema schema.json {side} --query {key} --out {}", out("query")));
        send(client.path(), server.path(), &[&out("query")]);
        let inputs = format!("--evaluation-keys evaluation.keys --in {}", out("query"));
        let answer = format!("answer --table rivers.csv --key name {inputs} --out {}", out("answer"));
        let report = succeed(server.path(), &answer);
        assert!(report["capacity_bits"][1].as_f64().unwrap() > 0.0);
        send(server.path(), client.path(), &[&out("answer")]);
        let inputs = format!("--secret-key secret.key --in {} --query {key}", out("answer"));
        let report = succeed(client.path(), &format!("decrypt --schema schema.json {inputs}"));
        assert_eq!((report["row"]["name"].as_str(), report["verified"].as_bool()), (Some(key), Some(true)));
        assert!(row.contains(report["row"]["km"].as_str().unwrap()), "{row}");
    }
    assert!(!server.path().join("secret.key").exists());
}

#[test]
fn queries_for_different_rows_look_alike() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("rivers.csv"), RIVERS).unwrap();
    succeed(dir.path(), "schema --table rivers.csv --key name --out schema.json");
    succeed(dir.path(), "keygen --schema schema.json --out .");
    let query = |name: &str, file: &str| {
        succeed(dir.path(), &format!("query --schema schema.json --secret-key secret.key --query {name} --out {file}"));
        fs::read(dir.path().join(file)).unwrap()
    };
    let (nile, lena, again) = (query("Nile", "a"), query("Lena", "b"), query("Nile", "c"));
    assert_eq!(nile.len(), lena.len());
    // Everything before the residues is public: container header with the key pair, schema hash,
    // level, factor, noise bound.
    assert_eq!(nile[..124], lena[..124]);
    let same = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(x, y)| x == y).count() * 100 / a.len();
    assert!(same(&nile[124..], &again[124..]) < 2, "two encryptions of one row share their residues");
}

#[test]
fn lookups_work_over_other_rings() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("codes.csv"), "code,name\n1,one\n2,two\n3,three\n").unwrap();
    for name in ["insecure_toy_2048", "insecure_toy_256", "insecure_toy_4369"] {
        let report = succeed(dir.path(), &format!("lookup --table codes.csv --key code --query 3 --params {name}"));
        assert_eq!(report["row"]["name"], "three", "{name}");
        assert!(report["security_bits"].as_f64().unwrap() < 128.0);
    }
}

/// `make nightly` sets `WINDLASS_NIGHTLY`: a larger ring, and a table of many thousand rows.
#[test]
fn large_tables() {
    let (rows, params) = match std::env::var_os("WINDLASS_NIGHTLY") {
        Some(_) => (20_000, "bgv_n32768"),
        None => (2_000, "demo"),
    };
    let dir = tempfile::tempdir().unwrap();
    let cell = "a cell of some length; the same in every row but for its number: ";
    let table: String = (0..rows).map(|row| format!("{row},{cell}{row}\n")).collect();
    fs::write(dir.path().join("table.csv"), format!("id,text\n{table}")).unwrap();
    let query = rows - 7;
    let line = format!("lookup --table table.csv --key id --query {query} --params {params}");
    let report = succeed(dir.path(), &line);
    assert_eq!(report["row"]["text"], format!("{cell}{query}"));
    assert!(report["security_bits"].as_f64().unwrap() >= 128.0);
}
