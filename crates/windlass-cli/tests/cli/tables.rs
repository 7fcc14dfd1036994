//! Lookups in tables of any size, step by step and at once.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{fail, snapshot, succeed, windlass};

/// A table of `count` rows with a key column, rows of different lengths.
fn write_table(at: &Path, name: &str, count: usize) {
    let row = |i: usize| format!("key-{i},city {},{}\n", i * 7, "x".repeat(i % 40));
    let text: String = std::iter::once("id,city,note\n".to_owned()).chain((0..count).map(row)).collect();
    std::fs::write(at.join(name), text).unwrap();
}

#[test]
fn a_table_is_prepared_asked_and_changed() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 3000);
    let plan = succeed(at, "table plan --table t.csv --key id");
    let built = succeed(at, "table build --table t.csv --key id --out served --room 3100");
    assert_eq!(built["rows"], 3000);
    // A second run finds the table finished.
    succeed(at, "table build --table t.csv --key id --out served --room 3100");
    std::fs::create_dir(at.join("client")).unwrap();
    std::fs::copy(at.join("served/schema.json"), at.join("client/schema.json")).unwrap();
    let text = std::fs::read_to_string(at.join("client/schema.json")).unwrap();
    assert!(!text.contains("key-17"), "no key is published");
    let made = succeed(at, "table keygen --schema client/schema.json --out keys");
    assert!(made["security_bits"].as_f64().unwrap() >= 128.0);
    assert!(made["bytes"]["evaluation.keys"].as_u64().unwrap() <= plan["key_bytes"].as_u64().unwrap() + 2000);
    let ask = |file: &str, keys: &str| {
        let files = "--schema client/schema.json --secret-key keys/secret.key";
        succeed(at, &format!("table query {files} {keys} --out {file}.q"));
        succeed(
            at,
            &format!("table answer --dir served --evaluation-keys keys/evaluation.keys --in {file}.q --out {file}.a"),
        );
        succeed(at, &format!("table decrypt {files} {keys} --in {file}.a"))["rows"].clone()
    };
    let rows = ask("one", "--query key-17 --query key-2999 --query nobody");
    assert_eq!((&rows[0]["city"], &rows[1]["city"]), (&"city 119".into(), &"city 20993".into()));
    assert!(rows[2].is_null());
    std::fs::write(at.join("more.csv"), "id,city,note\nkey-17,elsewhere,\nnobody,now here,yes\n").unwrap();
    assert_eq!(succeed(at, "table set --dir served --table more.csv")["rows"], 3001);
    assert_eq!(succeed(at, "table remove --dir served --query key-2999")["rows"], 3000);
    // Nothing is removed where one of the keys is unknown.
    let before = snapshot(&at.join("served"));
    for keys in ["--query key-2999", "--query key-18 --query never"] {
        let message = fail(at, &format!("table remove --dir served {keys}"));
        let unknown = keys.rsplit(' ').next().unwrap();
        assert!(
            message.contains(&format!("served: no row has the key '{unknown}', so nothing was removed")),
            "{message}"
        );
        assert!(snapshot(&at.join("served")) == before);
    }
    assert!(fail(at, "table remove --dir served --row 7").contains("by key"));
    let rows = ask("two", "--query key-17 --query key-2999 --query nobody --query key-18");
    assert_eq!((&rows[0]["city"], &rows[2]["city"]), (&"elsewhere".into(), &"now here".into()));
    assert!(rows[1].is_null() && rows[3]["city"] == "city 126");
    // What does not fit is refused, and says why.
    std::fs::write(at.join("long.csv"), format!("id,city,note\nkey-17,{},\n", "x".repeat(100_000))).unwrap();
    let message = fail(at, "table set --dir served --table long.csv");
    assert!(message.contains("long.csv: the row of key 'key-17' has") && message.contains("shorten it"), "{message}");
    std::fs::write(at.join("other.csv"), "id,town\nkey-17,x\n").unwrap();
    assert!(fail(at, "table set --dir served --table other.csv").contains("id,city,note"));
    assert!(
        fail(at, "table query --schema client/schema.json --secret-key keys/secret.key --row 3 --out q")
            .contains("by key")
    );
    assert!(
        fail(at, "table decrypt --schema client/schema.json --secret-key keys/secret.key --query a --in one.q")
            .contains("expected")
    );
    write_table(at, "u.csv", 20);
    assert!(fail(at, "table build --table u.csv --key id --out served").contains("another table"));
}

#[test]
fn rows_without_keys_are_asked_for_by_number() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 50);
    succeed(at, "table build --table t.csv --out served --room 60");
    succeed(at, "table keygen --schema served/schema.json --out keys");
    std::fs::write(at.join("more.csv"), "id,city,note\nlast,l,\n").unwrap();
    succeed(at, "table set --dir served --table more.csv");
    succeed(at, "table remove --dir served --row 7");
    let files = "--schema served/schema.json --secret-key keys/secret.key --row 49 --row 50 --row 7";
    succeed(at, &format!("table query {files} --out q"));
    succeed(at, "table answer --dir served --evaluation-keys keys/evaluation.keys --in q --out a");
    let rows = succeed(at, &format!("table decrypt {files} --in a"))["rows"].clone();
    assert_eq!((&rows[0]["id"], &rows[1]["id"]), (&"key-49".into(), &"last".into()));
    assert!(rows[2].is_null());
    assert!(
        fail(at, "table query --schema served/schema.json --secret-key keys/secret.key --row 51 --out r")
            .contains("51")
    );
}

/// With an OPRF key, only clients that the service helps learn anything about the table.
#[test]
fn keys_are_hidden_changed_and_removed_with_their_key() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 300);
    let built = succeed(at, "table build --table t.csv --key id --out served --oprf-key oprf.key --room 400");
    assert_eq!(built["rows"], 300);
    let text = std::fs::read_to_string(at.join("served/schema.json")).unwrap();
    assert!(text.contains("ristretto255-SHA512") && text.contains("\"version\": 3"), "{text}");
    // The same command finds it finished, with the key that is there now.
    let again = succeed(at, "table build --table t.csv --key id --out served --oprf-key oprf.key --room 400");
    assert_eq!(again["schema"], built["schema"]);
    std::fs::write(at.join("more.csv"), "id,city,note\nkey-17,elsewhere,\nnobody,now here,yes\n").unwrap();
    assert_eq!(succeed(at, "table set --dir served --table more.csv --oprf-key oprf.key")["rows"], 301);
    assert_eq!(succeed(at, "table remove --dir served --query nobody --oprf-key oprf.key")["rows"], 300);
    let told = fail(at, "table remove --dir served --query nobody --oprf-key oprf.key");
    assert!(told.contains("no row has the key 'nobody'"), "{told}");
    for line in ["set --dir served --table more.csv", "remove --dir served --query key-17"] {
        assert!(fail(at, &format!("table {line}")).contains("--oprf-key FILE"), "{line}");
        let told = fail(at, &format!("table {line} --oprf-key t.csv"));
        assert!(told.contains("t.csv: it is not an OPRF key"), "{told}");
    }
    // The next table under the same schema takes the same key.
    let next = succeed(at, "table build --table t.csv --key id --out next --like served --oprf-key oprf.key");
    assert_eq!(next["schema"], built["schema"]);
    assert!(fail(at, "table build --table t.csv --out no --oprf-key oprf.key").contains("--key"));
    // What it would take is told without a key.
    let told = succeed(at, "table plan --table t.csv --key id --hidden --room 400")["plan"].to_string();
    assert!(told.contains("hidden keys") && told.contains("padded to"), "{told}");
    let told = fail(at, "table plan --rows 1 --bytes 100000 --key id --hidden");
    assert!(told.contains("seals each row as a whole") && told.contains("at most 9676 bytes"), "{told}");
    assert!(fail(at, "table plan --table t.csv --hidden").contains("--key"));
}

/// A client and a server that only exchange files: a blind request and its reply, then a query.
#[test]
fn hidden_keys_are_asked_for_through_files() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 300);
    succeed(at, "table build --table t.csv --key id --out served --oprf-key oprf.key");
    succeed(at, "table build --table t.csv --key id --out other --oprf-key other.key");
    succeed(at, "table build --table t.csv --key id --out plain");
    succeed(at, "table keygen --schema served/schema.json --out keys");
    succeed(at, "table keygen --schema served/schema.json --out theirs");
    let client = "--schema served/schema.json --secret-key keys/secret.key";
    let rows = "--query key-17 --query nobody";
    let helped = "--dir served --oprf-key oprf.key";
    // Without the exchange both sides say what comes first.
    for line in [&format!("query {client} {rows} --out no"), &format!("decrypt {client} {rows} --in t.csv")] {
        let told = fail(at, &format!("table {line}"));
        assert!(told.contains("table blind") && told.contains("--blind-reply FILE"), "{told}");
    }
    let made = succeed(at, &format!("table blind {client} {rows} --out request"));
    assert!(made["keys"] == 2 && made["security_bits"].as_f64().unwrap() >= 128.0, "{made}");
    let made = succeed(at, &format!("table blind-evaluate {helped} --in request --out reply"));
    assert!(made["keys"] == 2 && made["bytes"]["blind_reply"] == 200, "{made}");
    let ask = |rows: &str, reply: &str, name: &str| {
        succeed(at, &format!("table query {client} {rows} --blind-reply {reply} --out {name}.q"));
        let answer = "table answer --dir served --evaluation-keys keys/evaluation.keys";
        succeed(at, &format!("{answer} --in {name}.q --out {name}.a"));
        succeed(at, &format!("table decrypt {client} {rows} --blind-reply {reply} --in {name}.a"))["rows"].clone()
    };
    // One reply, any number of queries.
    for name in ["one", "two"] {
        let found = ask(rows, "reply", name);
        assert!(found[0]["city"] == "city 119" && found[1].is_null(), "{found}");
    }
    // Each file that is missing, or not the one that belongs there, is named.
    let (evaluate, query) = ("table blind-evaluate --out no --in", format!("table query {client} --out no"));
    succeed(at, &format!("table blind --schema other/schema.json --secret-key keys/secret.key {rows} --out foreign"));
    let cases = [
        (format!("{evaluate} none {helped}"), "none: "),
        (format!("{evaluate} reply {helped}"), "reply: expected a blind request to a table, but found a blind reply"),
        (format!("{evaluate} foreign {helped}"), "foreign: "),
        (format!("{evaluate} request --dir served --oprf-key none"), "none: "),
        (format!("{evaluate} request --dir served --oprf-key t.csv"), "t.csv: it is not an OPRF key"),
        (format!("{evaluate} request --dir served --oprf-key other.key"), "other.key: another OPRF key hides the keys"),
        (format!("{evaluate} request --dir plain --oprf-key oprf.key"), "plain: the keys of this table are not hidden"),
        (format!("{query} {rows} --blind-reply none"), "none: "),
        (format!("{query} {rows} --blind-reply request"), "request: expected a blind reply of a table"),
        (format!("{query} {rows} --blind-reply t.csv"), "t.csv: "),
        (format!("{query} --query nobody --query key-17 --blind-reply reply"), "reply: the blind reply belongs to"),
        (
            format!("{query} --query key-17 --blind-reply reply"),
            "reply: the blind reply belongs to a request for other",
        ),
        (format!("{query} --row 3 --blind-reply reply"), "--blind-reply"),
        (
            format!(
                "table query --schema served/schema.json --secret-key theirs/secret.key {rows} --blind-reply reply --out no"
            ),
            "reply: it belongs to another key pair than theirs/secret.key",
        ),
        (
            format!(
                "table query --schema plain/schema.json --secret-key keys/secret.key {rows} --blind-reply reply --out no"
            ),
            "reply: the keys of this table are not hidden",
        ),
        (
            format!("table blind --schema plain/schema.json --secret-key keys/secret.key {rows} --out no"),
            "plain/schema.json: the keys of this table are not hidden",
        ),
        (format!("table blind {client} --out no"), "--query"),
        (format!("table blind {client} {rows} --out request"), "request: "),
    ];
    for (line, part) in cases {
        let told = fail(at, &line);
        assert!(told.contains(part) && !at.join("no").exists(), "windlass {line}: {told}");
    }
}

/// Tags have 128 bits unless a table is planned with 64; `--like` keeps those of the known schema.
#[test]
fn tags_of_64_bits_are_an_option() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 60);
    let text = |dir: &str| std::fs::read_to_string(at.join(dir).join("schema.json")).unwrap();
    succeed(at, "table build --table t.csv --key id --out long");
    assert!(text("long").contains("\"version\": 4") && text("long").contains("\"tag_bytes\": 16"));
    let told = succeed(at, "table build --table t.csv --key id --out short --tag-bits 64")["plan"].to_string();
    assert!(told.contains("tags of 64 bits") && text("short").contains("\"version\": 1"), "{told}");
    succeed(at, "table build --table t.csv --key id --out next --like short");
    assert_eq!(text("next"), text("short"));
    succeed(at, "table keygen --schema short/schema.json --out keys");
    for dir in ["short", "next", "long"] {
        let files = format!("--schema {dir}/schema.json --secret-key keys/secret.key --query key-17");
        succeed(at, &format!("table query {files} --out {dir}.q"));
        let keys = "--evaluation-keys keys/evaluation.keys";
        succeed(at, &format!("table answer --dir {dir} {keys} --in {dir}.q --out {dir}.a"));
        assert_eq!(succeed(at, &format!("table decrypt {files} --in {dir}.a"))["rows"][0]["city"], "city 119");
    }
    for (line, part) in [
        ("plan --table t.csv --key id --tag-bits 96", "64, 128"),
        ("plan --table t.csv --tag-bits 64", "--key"),
        ("build --table t.csv --key id --out no --like short --tag-bits 64", "--like"),
        ("build --table t.csv --key id --out no --oprf-key new.key --tag-bits 64", "keys are hidden"),
    ] {
        let told = fail(at, &format!("table {line}"));
        assert!(told.contains(part) && !at.join("no").exists() && !at.join("new.key").exists(), "{line}: {told}");
    }
}

/// A fresh key hides the keys of a fresh table alone, and is there when that can be made.
#[test]
fn a_key_is_made_for_a_table_that_can_be_made() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 30);
    succeed(at, "table build --table t.csv --key id --out served --oprf-key oprf.key");
    // A new key could only be refused here.
    for line in ["--out no --like served", "--out no --like served/schema.json", "--out served"] {
        let told = fail(at, &format!("table build --table t.csv --key id {line} --oprf-key new.key"));
        assert!(told.contains("new.key: there is no such file: give the key that hides the keys of served"), "{told}");
        assert!(!at.join("new.key").exists() && !at.join("no").exists(), "{line}");
    }
    std::fs::write(at.join("long.csv"), format!("id,note\na,{}\n", "x".repeat(20_000))).unwrap();
    let told = fail(at, "table build --table long.csv --key id --out no --oprf-key new.key");
    assert!(told.contains("seals each row as a whole") && !at.join("new.key").exists(), "{told}");
    let text = std::fs::read_to_string(at.join("oprf.key")).unwrap();
    let (head, digits) = text.trim_end().split_at(text.len() - 2);
    let other = if digits == "0" { "1" } else { "0" };
    std::fs::write(at.join("other.key"), format!("{head}{other}\n")).unwrap();
    let told = fail(at, "table build --table t.csv --key id --out no --like served --oprf-key other.key");
    assert!(told.contains("another OPRF key hides the keys"), "{told}");
}

/// A table that is made again stops every client, unless it keeps the schema that they know.
#[test]
fn clients_go_on_with_a_table_that_is_made_anew_like_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 60);
    write_table(at, "u.csv", 50);
    let first = succeed(at, "table build --table t.csv --key id --out first");
    succeed(at, "table keygen --schema first/schema.json --out keys");
    let files = "--schema first/schema.json --secret-key keys/secret.key";
    succeed(at, &format!("table query {files} --query key-49 --out q"));
    let answer = |table: &str| format!("table answer --dir {table} --evaluation-keys keys/evaluation.keys --in q");
    let other = succeed(at, "table build --table u.csv --key id --out other");
    assert_ne!(other["schema"], first["schema"]);
    let refused = fail(at, &(answer("other") + " --out no"));
    assert!(refused.contains("other"), "{refused}");
    for (known, out) in [("first", "second"), ("first/schema.json", "third")] {
        let next = succeed(at, &format!("table build --table u.csv --key id --out {out} --like {known}"));
        assert_eq!((&next["schema"], &next["rows"]), (&first["schema"], &50.into()));
        succeed(at, &format!("{} --out {out}.a", answer(out)));
        let rows = succeed(at, &format!("table decrypt {files} --query key-49 --in {out}.a"))["rows"].clone();
        assert_eq!(rows[0]["city"], "city 343");
    }
    // What does not fit says why, and makes nothing.
    std::fs::write(at.join("long.csv"), format!("id,city,note\na,b,{}\n", "x".repeat(500))).unwrap();
    std::fs::write(at.join("columns.csv"), "id,town\na,b\n").unwrap();
    for (line, part) in [
        ("--table long.csv --key id", "the longest row has"),
        ("--table columns.csv --key id", "the columns and the key differ from those of the table: id,city,note, by id"),
        ("--table u.csv", "the columns and the key differ"),
    ] {
        let told = fail(at, &format!("table build {line} --out no --like first"));
        assert!(told.contains(part) && told.contains("every client must accept") && !at.join("no").exists(), "{told}");
    }
    assert!(fail(at, "table build --table u.csv --key id --out no --like keys").contains("keys"));
    assert!(fail(at, "table build --table u.csv --key id --out no --like first --room 9").contains("--room"));
}

/// What a build says about its schema is found by comparing schemas, and a schema to keep is kept
/// or the build is refused.
#[test]
fn a_build_tells_known_schemas_from_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 60);
    let told = |rest: &str| {
        let line = format!("table build --table t.csv --key id {rest}");
        String::from_utf8(windlass(at, line.split_whitespace()).stdout).unwrap()
    };
    let name = |dir: &str| {
        let line = format!("table build --table t.csv --key id --out {dir}");
        succeed(at, &line)["schema"].as_str().unwrap()[..16].to_owned()
    };
    assert!(told("--out old").contains("..., a new one, which clients must accept"));
    // The same rows under a schema of their own, finished and begun.
    let (old, other) = (name("old"), name("other"));
    assert_ne!(old, other);
    for moved in [false, true] {
        if moved {
            std::fs::rename(at.join("other/table.json"), at.join("other/building.json")).unwrap();
        }
        let before = snapshot(&at.join("other"));
        let refused = fail(at, "table build --table t.csv --key id --out other --like old");
        for wanted in [&format!("schema {other}..."), &format!("old/schema.json has the schema {old}..."), "--out"] {
            assert!(refused.contains(wanted), "{wanted}: {refused}");
        }
        assert!(snapshot(&at.join("other")) == before);
    }
    assert!(
        told("--out next --like old").contains(&format!("schema {old}..., the one of old, which its clients know"))
    );
    // It has the known schema with and without the option.
    for line in ["--out next", "--out old"] {
        let text = told(line);
        assert!(text.contains(&format!("schema {old}..., the one that")) && text.contains("had before"), "{text}");
    }
    assert!(told("--out next --like old").contains("which its clients know"));
}

/// The layout of a table stays as it was begun: room that it does not have is refused.
#[test]
fn room_is_not_added_to_a_table_that_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 60);
    for (key, out) in [("--key id", "keyed"), ("", "numbered")] {
        let build = format!("table build --table t.csv {key} --out {out}");
        succeed(at, &build);
        let before = snapshot(&at.join(out));
        let refused = || {
            let message = fail(at, &format!("{build} --room 1000000"));
            for wanted in [
                &format!("{out}: the directory holds a table with room for fewer than 1000000 rows")[..],
                "another directory",
            ] {
                assert!(message.contains(wanted), "{message}");
            }
        };
        refused();
        assert!(snapshot(&at.join(out)) == before);
        succeed(at, &format!("{build} --room 60"));
        // One that was begun, too.
        std::fs::rename(at.join(out).join("table.json"), at.join(out).join("building.json")).unwrap();
        refused();
        succeed(at, &build);
    }
}

/// What was asked for is had, or refused: the layout of a table stays as it was begun.
#[test]
fn limits_are_not_ignored_where_a_table_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 1000);
    let build = "table build --table t.csv --key id --out served";
    succeed(at, build);
    let before = snapshot(&at.join("served"));
    for (limit, wanted) in [
        ("--tag-bits 64", "tags of keys, in bits: 128, not 64"),
        ("--most-keys 1000", "evaluation keys, in bytes: "),
        ("--most-query 1000", "query for one row, in bytes: "),
        ("--most-answer 1000", "answer for one row, in bytes: "),
    ] {
        let message = fail(at, &format!("{build} {limit}"));
        assert!(message.contains("served: the directory holds a table") && message.contains(wanted), "{message}");
        assert!(snapshot(&at.join("served")) == before);
    }
    succeed(at, &format!("{build} --tag-bits 128 --most-keys 1000000000"));
}

/// Where all rows have one length, a row that was removed is as many zeros: no row of empty cells.
#[test]
fn removed_rows_of_one_length_are_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    std::fs::write(at.join("t.csv"), "k,v\na,1\nb,2\nc,3\n").unwrap();
    succeed(at, "table build --table t.csv --out served");
    succeed(at, "table keygen --schema served/schema.json --out keys");
    succeed(at, "table remove --dir served --row 1");
    let files = "--schema served/schema.json --secret-key keys/secret.key --row 1 --row 2";
    succeed(at, &format!("table query {files} --out q"));
    succeed(at, "table answer --dir served --evaluation-keys keys/evaluation.keys --in q --out a");
    let rows = succeed(at, &format!("table decrypt {files} --in a"))["rows"].clone();
    assert_eq!((&rows[0].is_null(), &rows[1]["k"]), (&true, &"c".into()));
}

#[test]
fn a_lookup_in_a_table_beyond_one_ciphertext_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 40_000);
    let report = succeed(at, "lookup --table t.csv --key id --query key-31234 --out out");
    assert_eq!((&report["verified"], &report["rows"][0]["city"]), (&true.into(), &"city 218638".into()));
    assert!(at.join("out/table/schema.json").exists());
    assert!(fail(at, "lookup --table t.csv --key id --query nobody").contains("no row"));
}

/// What is damaged or gone is named, with the reason and what to do about it.
#[test]
fn a_damaged_directory_says_what_is_wrong_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 30);
    let build = "table build --table t.csv --key id --out served";
    succeed(at, build);
    let served = at.join("served");
    let manifest = std::fs::read(served.join("table.json")).unwrap();
    let other = ["table set --dir served --table t.csv", "table remove --dir served --query key-1"];
    let answer = "table answer --dir served --evaluation-keys none --in none --out none";
    let refused = |line: &str, wanted: [&str; 2]| {
        let message = fail(at, line);
        let ours = message.starts_with("windlass: served/") && message.lines().count() == 1;
        assert!(ours && !message.contains("os error"), "windlass {line}: {message}");
        assert!(wanted.iter().all(|words| message.contains(words)), "windlass {line}: {message}");
    };
    let fields = String::from_utf8(manifest.clone()).unwrap().replace("\"revision\"", "\"revised\"");
    for text in [&manifest[..manifest.len() / 2], b"", b"\xff\0", fields.as_bytes()] {
        std::fs::write(served.join("table.json"), text).unwrap();
        for line in other.into_iter().chain([answer, build]) {
            refused(
                line,
                ["table.json: the file is damaged, so the table cannot be read (", "restore this file from a copy"],
            );
        }
    }
    std::fs::rename(served.join("table.json"), served.join("building.json")).unwrap();
    refused(build, ["building.json: the file is damaged", "remove this file and prepare the table again"]);
    std::fs::remove_file(served.join("building.json")).unwrap();
    refused(answer, ["table.json: there is no such table: ", "windlass table build"]);
    // A piece that is gone is made again.
    std::fs::write(served.join("table.json"), &manifest).unwrap();
    let mut files = std::fs::read_dir(&served).unwrap().map(|entry| entry.unwrap().path());
    let piece = files.find(|path| path.extension().is_some_and(|end| end == "segment")).unwrap();
    std::fs::remove_file(&piece).unwrap();
    for line in other.into_iter().chain([answer]) {
        refused(line, [".segment: a piece of the table is missing", "windlass table build"]);
    }
    succeed(at, build);
    assert!(piece.exists());
    succeed(at, other[1]);
}

/// A build that is killed leaves pieces that the next one keeps, and a table is whole or does not
/// exist.
#[test]
fn a_killed_build_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write_table(at, "t.csv", 200_000);
    let line = "table build --table t.csv --key id --out served --threads 1";
    let mut child = Command::new(env!("CARGO_BIN_EXE_windlass"))
        .current_dir(at)
        .args(line.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pieces = || {
        let Ok(entries) = std::fs::read_dir(at.join("served")) else { return 0 };
        entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "segment")).count()
    };
    while pieces() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "a piece is there before the end");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!at.join("served/table.json").exists());
    let refused = windlass(at, "table answer --dir served --evaluation-keys k --in q --out a".split_whitespace());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not finished"));
    succeed(at, line);
    assert!(
        std::fs::read_dir(at.join("served"))
            .unwrap()
            .flatten()
            .all(|entry| { !entry.file_name().to_string_lossy().ends_with("windlass-part") })
    );
}

/// With the rows a plan finds their places, as a build does; without them it says what is not counted.
#[test]
fn a_plan_states_what_a_build_makes() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let row = |i: usize| format!("key-{i},{}\n", "x".repeat(i * 7919 % 1009 * 20));
    let text: String = std::iter::once("id,note\n".to_owned()).chain((0..40).map(row)).collect();
    std::fs::write(at.join("t.csv"), text).unwrap();
    let plan = succeed(at, "table plan --table t.csv --key id");
    let built = succeed(at, "table build --table t.csv --key id --out served");
    for field in ["prepared_bytes", "query_bytes", "answer_bytes"] {
        assert_eq!(plan[field], built[field], "{field}");
    }
    assert_eq!(plan["places_found"], true);
    let told = |line: &str| {
        let output = windlass(at, line.split(' '));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let alike = told("table plan --rows 40 --bytes 20000 --key id");
    assert!(alike.contains("it was not checked whether every row fits"), "{alike}");
    assert!(alike.contains("at most 3.45 times as many"), "{alike}");
    for line in ["table plan --rows 40 --bytes 20000", "table plan --table t.csv --key id"] {
        assert!(!told(line).contains("it was not checked"), "{line}");
    }
    // A row that no layout takes is refused before layouts are tried.
    let message = fail(at, "table plan --rows 3 --bytes 99999999 --key id");
    assert!(message.contains("a row by key has at most 2339840 bytes"), "{message}");
    let message = fail(at, "table plan --rows 3 --bytes 99999999 --key id --tag-bits 64");
    assert!(message.contains("a row by key has at most 2348032 bytes"), "{message}");
}
