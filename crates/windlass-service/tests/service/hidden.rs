//! Tables whose keys are hidden: the service helps with each key, and counts it.

use std::path::Path;
use std::process::Command;

use windlass_retrieval::{KeyChange, OprfKey, Plan, RowStatistics, Table, TableRequirements, Wanted, unobserved};

use crate::common::{Running, entries, eventually, refusal, text};

fn hidden_table(dir: &Path, rows: &[(String, String)]) {
    let key = OprfKey::generate().unwrap();
    key.save(&dir.join("oprf.key")).unwrap();
    let values: Vec<&String> = rows.iter().map(|(_, row)| row).collect();
    let requirements = TableRequirements { room: Some(2 * rows.len()), ..TableRequirements::default() };
    let plan = Plan::hidden(RowStatistics::of(&values).unwrap(), &key.public(), "5eed", 1.2, &requirements).unwrap();
    Table::create_hidden(&dir.join("table"), &plan.schema, rows, &key, &unobserved).unwrap();
}

fn serving(arguments: &str) -> Running {
    let dir = tempfile::tempdir().unwrap();
    hidden_table(dir.path(), &entries(40, "row"));
    Running::at(dir, &format!("--oprf-key oprf.key {arguments}"))
}

fn wanted(keys: &[&str]) -> Wanted {
    Wanted::Keys(keys.iter().map(|key| key.as_bytes().to_vec()).collect())
}

#[test]
fn hidden_rows_are_found_by_those_whom_the_service_helps() {
    let service = serving("");
    let found = service.ask(&["--key", "key 7", "--key", "nobody", "--key", "key 39"]);
    assert_eq!(text(&found.stdout), "key 7: row 7\nnobody: not there\nkey 39: row 39\n", "{}", text(&found.stderr));
    assert_eq!(found.status.code(), Some(3));
    let mut asker = service.asker();
    asker.introduce().unwrap();
    assert_eq!(asker.ask(&wanted(&["key 5", "key 6"])).unwrap(), [b"row 5", b"row 6"].map(|row| Some(row.to_vec())));
    // Who asks for the name as it is finds nothing: the help is needed.
    let query = asker.query(&wanted(&["key 5"])).unwrap();
    let answer = asker.send(&wanted(&["key 5"]), &query).unwrap();
    assert_eq!(asker.rows(&wanted(&["key 5"]), &answer).unwrap(), [None]);
    let key = OprfKey::load(&service.dir.path().join("oprf.key")).unwrap();
    let changes = [KeyChange::Set("key 5".into(), "other".into()), KeyChange::Remove("key 6".into())];
    Table::change_hidden(&service.table(), &changes, &key, &unobserved).unwrap();
    eventually("the change is seen", || {
        asker.ask(&wanted(&["key 5", "key 6"])).unwrap() == [Some(b"other".to_vec()), None]
    });
}

#[test]
fn every_guess_is_counted() {
    let service = serving("--quota 10");
    let mut asker = service.asker();
    asker.introduce().unwrap();
    assert_eq!(refusal(&asker.ask(&wanted(&["a"; 11])).unwrap_err()), (413, "above-quota"));
    // Six keys and six rows are more than ten.
    let keys = ["key 1"; 6];
    let blinding = windlass_retrieval::Blinding::new(&keys).unwrap();
    let remote = service.remote();
    assert_eq!(remote.blind(blinding.points()).unwrap().status, 200);
    let refused = remote.blind(blinding.points()).unwrap();
    assert_eq!((refused.status, refused.problem().as_deref()), (429, Some("quota")));
    assert!(refused.retry_after.unwrap() > 1);
}

#[test]
fn points_that_are_none_and_tables_that_hide_nothing_are_refused() {
    let service = serving("");
    let remote = service.remote();
    for bad in [&[0; 32][..], &[7; 31], &[255; 32], &[]] {
        let refused = remote.blind(bad).unwrap();
        assert_eq!((refused.status, refused.problem().as_deref()), (400, Some("unreadable")), "{bad:?}");
    }
    let long = vec![1; 32 * 33];
    assert_eq!(remote.blind(&long).unwrap().problem().as_deref(), Some("too-large"));
    let plain = Running::small("");
    let refused = plain.remote().blind(&[1; 32]).unwrap();
    assert_eq!((refused.status, refused.problem().as_deref()), (404, Some("not-hidden")));
}

/// Moves the table that is served away, and another one into its place.
fn replace(service: &Running, next: &Path, away: &str) {
    std::fs::rename(service.table(), service.dir.path().join(away)).unwrap();
    std::fs::rename(next, service.table()).unwrap();
}

/// A table that is hidden by another key, or not at all, does not replace the first one: the
/// service continues with the version before it.
#[test]
fn a_table_that_does_not_fit_the_key_of_the_service_is_not_served() {
    let service = serving("");
    let mut asker = service.asker();
    asker.introduce().unwrap();
    let mut found = || asker.ask(&wanted(&["key 7"])).unwrap().remove(0).unwrap();
    assert_eq!(found(), b"row 7");
    let schema = service.remote().get("/schema").unwrap();
    // Hidden by another key.
    let next = tempfile::tempdir_in(service.dir.path()).unwrap();
    hidden_table(next.path(), &entries(40, "raw"));
    replace(&service, &next.path().join("table"), "first");
    eventually("it is told", || service.log().contains("another OPRF key hides the keys"));
    assert_eq!(found(), b"row 7");
    // Not hidden at all: there is no table for a while, as with `mv` and `cp`.
    let plain = service.dir.path().join("plain");
    crate::common::keyed_table(&plain, &entries(40, "raw"));
    std::fs::rename(service.table(), service.dir.path().join("second")).unwrap();
    eventually("it is missed", || service.log().contains("cannot be reopened"));
    std::fs::rename(&plain, service.table()).unwrap();
    eventually("it is told", || service.log().contains("the keys of this table are not hidden"));
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let told = service.log().matches("the keys of this table are not hidden").count();
    assert_eq!(told, 1, "once: {}", service.log());
    assert!(!service.log().contains("the table was replaced"), "{}", service.log());
    assert_eq!(service.remote().get("/schema").unwrap().body, schema.body);
    assert_eq!(found(), b"row 7");
    // The next version of the first table is served as ever.
    replace(&service, &service.dir.path().join("first"), "third");
    let key = OprfKey::load(&service.dir.path().join("oprf.key")).unwrap();
    let changes = [KeyChange::Set("key 7".into(), "other".into())];
    Table::change_hidden(&service.table(), &changes, &key, &unobserved).unwrap();
    eventually("the change is seen", || found() == b"other");
}

#[test]
fn a_hidden_table_is_not_served_without_its_key() {
    let service = Running::small("");
    let mut asker = service.asker();
    asker.introduce().unwrap();
    let next = tempfile::tempdir_in(service.dir.path()).unwrap();
    hidden_table(next.path(), &entries(40, "raw"));
    replace(&service, &next.path().join("table"), "first");
    eventually("it is told", || service.log().contains("--oprf-key FILE"));
    assert_eq!(asker.ask(&wanted(&["key 7"])).unwrap(), [Some(b"row 7".to_vec())]);
    assert_eq!(text(&service.ask(&["--key", "key 8"]).stdout), "key 8: row 8\n");
    assert!(!service.log().contains("the table was replaced"), "{}", service.log());
}

#[test]
fn a_service_without_the_right_key_does_not_start() {
    let dir = tempfile::tempdir().unwrap();
    hidden_table(dir.path(), &entries(4, "row"));
    OprfKey::generate().unwrap().save(&dir.path().join("other.key")).unwrap();
    crate::common::keyed_table(&dir.path().join("plain"), &entries(4, "row"));
    for (line, part) in [
        ("--table table", "--oprf-key FILE"),
        ("--table table --oprf-key other.key", "another OPRF key hides the keys"),
        ("--table table --oprf-key table/schema.json", "not an OPRF key"),
        ("--table plain --oprf-key oprf.key", "are not hidden"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-serve"));
        let ended = command.args(line.split_whitespace()).current_dir(dir.path()).output().unwrap();
        let told = text(&ended.stderr);
        assert!(ended.status.code() == Some(2) && told.contains(part), "{line}: {told}");
    }
}
