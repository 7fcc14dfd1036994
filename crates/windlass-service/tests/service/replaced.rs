//! Tables that change while they are served.

use windlass_retrieval::{KeyChange, Table, unobserved};
use windlass_service::client::{AskError, Asker, Wanted};

use crate::common::{Running, entries, eventually, keyed_table, refusal};

#[test]
fn changed_rows_are_served_and_old_clients_go_on() {
    let service = Running::small("");
    let mut asker = service.asker();
    let mut ask = |key: &str| asker.ask(&Wanted::Keys(vec![key.into()])).unwrap().remove(0);
    assert_eq!((ask("key 5"), ask("new")), (Some(b"row 5".to_vec()), None));
    let set = |key: &str, row: &str| KeyChange::Set(key.into(), row.into());
    let changes = [set("key 5", "other"), set("new", "here"), KeyChange::Remove("key 6".into())];
    Table::change_keys(&service.table(), &changes, &unobserved).unwrap();
    eventually("the change is seen", || {
        let row = ask("key 5").unwrap();
        assert!(row == b"row 5" || row == b"other", "one version or the other");
        row == b"other"
    });
    assert_eq!((ask("new"), ask("key 6"), ask("key 7")), (Some(b"here".to_vec()), None, Some(b"row 7".to_vec())));
    assert_eq!(service.stats()["table"]["revision"], 1);
}

#[test]
fn a_table_in_its_place_is_served_and_clients_of_another_schema_are_told() {
    let service = Running::small("");
    let mut old = service.asker();
    let wanted = Wanted::Keys(vec![b"key 5".to_vec()]);
    assert_eq!(old.ask(&wanted).unwrap(), [Some(b"row 5".to_vec())]);
    // Nothing that can be opened: the old one is served on.
    std::fs::rename(service.table(), service.dir.path().join("away")).unwrap();
    eventually("it is noticed", || service.log().contains("the version before it is served"));
    assert_eq!(old.ask(&wanted).unwrap(), [Some(b"row 5".to_vec())]);
    // The same schema with other rows, and the same revision as before.
    let other = service.dir.path().join("other");
    let schema = &Asker::schema(&service.remote()).unwrap().0;
    Table::create_keywords(&other, schema, &entries(40, "raw"), &unobserved).unwrap();
    std::fs::rename(&other, service.table()).unwrap();
    eventually("it is seen", || old.ask(&wanted).unwrap() == [Some(b"raw 5".to_vec())]);
    // A backup that was changed otherwise: the same revision, layout and names of pieces.
    let backup = service.dir.path().join("backup");
    std::fs::create_dir(&backup).unwrap();
    for entry in std::fs::read_dir(service.table()).unwrap().map(|entry| entry.unwrap()) {
        std::fs::copy(entry.path(), backup.join(entry.file_name())).unwrap();
    }
    let set = |row: &str| [KeyChange::Set(b"key 5".to_vec(), row.into())];
    Table::change_keys(&service.table(), &set("one"), &unobserved).unwrap();
    Table::change_keys(&backup, &set("two"), &unobserved).unwrap();
    eventually("the change is seen", || old.ask(&wanted).unwrap() == [Some(b"one".to_vec())]);
    std::fs::rename(service.table(), service.dir.path().join("changed")).unwrap();
    std::fs::rename(&backup, service.table()).unwrap();
    eventually("the backup is seen", || old.ask(&wanted).unwrap() == [Some(b"two".to_vec())]);
    // Longer rows: another schema.
    let next = service.dir.path().join("next");
    keyed_table(&next, &entries(40, "a much longer row"));
    std::fs::rename(service.table(), service.dir.path().join("gone")).unwrap();
    std::fs::rename(&next, service.table()).unwrap();
    let told = |error: &AskError| refusal(error) == (409, "other-table");
    eventually("it is told", || match old.ask(&wanted) {
        Ok(rows) => rows == [Some(b"never".to_vec())],
        Err(error) => told(&error) || panic!("{error}"),
    });
    assert_eq!(service.asker().ask(&wanted).unwrap(), [Some(b"a much longer row 5".to_vec())]);
}
