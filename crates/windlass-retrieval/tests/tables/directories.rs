//! Tables in directories: prepared in several runs, damaged, copied, changed while they are read.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use windlass_retrieval::*;

use super::{Asker, keyed, plan_of, plan_of_keys, rows};

fn directory_of(dir: &Path, rows: &[Vec<u8>]) -> Table {
    Table::create_rows(dir, &plan_of(rows).schema, rows, &unobserved).unwrap()
}

#[test]
fn tables_in_directories_resume_and_detect_damage() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("table");
    // 40 megabytes of rows: several pieces.
    let rows = rows(&vec![8000; 5000]);
    let plan = plan_of(&rows);
    let calls = AtomicUsize::new(0);
    let stop = |_: usize, total: usize| {
        assert!(total > 2);
        if calls.fetch_add(1, Ordering::Relaxed) >= 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert!(matches!(Table::create_rows(&place, &plan.schema, &rows, &stop), Err(Error::Cancelled)));
    assert!(matches!(Table::open(&place, true), Err(Error::BadFile { .. })), "not finished");
    let segments = || {
        let names = std::fs::read_dir(&place).unwrap().flatten().map(|entry| entry.path());
        let mut names: Vec<_> = names.filter(|path| path.extension().is_some_and(|end| end == "segment")).collect();
        names.sort();
        names
    };
    let kept: Vec<_> =
        segments().iter().map(|path| (path.clone(), path.metadata().unwrap().modified().unwrap())).collect();
    assert!(!kept.is_empty());
    let other = vec![vec![1; 8000]; 5000];
    assert!(matches!(Table::create_rows(&place, &plan.schema, &other, &unobserved), Err(Error::BadFile { .. })));
    let table = directory_of(&place, &rows);
    assert!(kept.iter().all(|(path, time)| path.metadata().unwrap().modified().unwrap() == *time), "made once");
    assert_eq!(Asker::of(&table).rows(&table, &[4999, 0]), [rows[4999].clone(), rows[0].clone()]);
    drop(table);
    // The same rows again: the table is there.
    directory_of(&place, &rows);
    let victim = &segments()[1];
    let whole = std::fs::read(victim).unwrap();
    let damage = |bytes: &[u8]| {
        std::fs::remove_file(victim).unwrap();
        std::fs::write(victim, bytes).unwrap();
        Table::open(&place, true).map(|_| ())
    };
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for bytes in [&flipped[..], &whole[..whole.len() - 1], &[], &whole[..64], &[&whole[..], b"x"].concat()] {
        assert!(matches!(damage(bytes), Err(Error::BadFile { .. })));
    }
    damage(&whole).unwrap();
    std::fs::write(place.join("table.json"), b"{").unwrap();
    assert!(matches!(Table::open(&place, true), Err(Error::BadFile { .. })));
}

/// A copy of the directory of a table.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn copies_that_changed_apart_are_versions_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["ours", "theirs"].map(|name| dir.path().join(name));
    let some = rows(&[40; 4]);
    let made = Table::create_rows(&ours, &plan_of(&some).schema, &some, &unobserved).unwrap();
    copied(&ours, &theirs);
    assert_eq!(Table::fingerprint(&theirs).unwrap(), *made.version(), "a copy is the same version");
    let set =
        |dir: &Path, byte: u8| Table::change_rows(dir, &[RowChange::Set(2, vec![byte; 40])], &unobserved).unwrap();
    let (one, other) = (set(&ours, 1), set(&theirs, 2));
    assert_eq!((one.revision(), one.schema()), (other.revision(), other.schema()));
    for table in [&one, &other] {
        assert_ne!(table.version(), made.version());
    }
    assert_ne!(one.version(), other.version());
    let asker = Asker::of(&made);
    // The other one comes into the place of the first.
    std::fs::rename(&ours, dir.path().join("away")).unwrap();
    std::fs::rename(&theirs, &ours).unwrap();
    assert_ne!(Table::fingerprint(&ours).unwrap(), *one.version(), "readers see that it was replaced");
    let now = Table::open(&ours, true).unwrap();
    assert_eq!((now.version(), asker.rows(&now, &[2])), (other.version(), vec![vec![2; 40]]));
}

#[test]
fn a_table_that_is_replaced_while_it_is_opened_is_one_or_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let [place, spare, away] = ["place", "spare", "away"].map(|name| dir.path().join(name));
    let some = rows(&[40; 4]);
    Table::create_rows(&place, &plan_of(&some).schema, &some, &unobserved).unwrap();
    copied(&place, &spare);
    let sums: Vec<_> = [(&place, 1), (&spare, 2)]
        .map(|(dir, byte)| Table::change_rows(dir, &[RowChange::Set(2, vec![byte; 40])], &unobserved).unwrap())
        .map(|table| (*table.version(), table.read_all()))
        .to_vec();
    let done = std::sync::atomic::AtomicBool::new(false);
    let opened = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                std::fs::rename(&place, &away).unwrap();
                std::fs::rename(&spare, &place).unwrap();
                std::fs::rename(&away, &spare).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let tables = (0..800).filter_map(|_| Table::open(&place, false).ok());
        let opened: Vec<_> = tables.map(|table| (*table.version(), table.read_all())).collect();
        done.store(true, Ordering::Relaxed);
        opened
    });
    assert!(opened.len() > 50, "{} of 800 were opened", opened.len());
    for one in &opened {
        assert!(sums.contains(one), "the name of one version, the rows of the other");
    }
}

#[test]
fn manifests_with_numbers_that_no_table_has_are_bad_files() {
    let dir = tempfile::tempdir().unwrap();
    let some = rows(&[9; 3]);
    Table::create_rows(dir.path(), &plan_of(&some).schema, &some, &unobserved).unwrap();
    let path = dir.path().join("table.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let number = |name: &str| {
        let (_, rest) = text.split_once(&format!("\"{name}\": ")).unwrap();
        format!("\"{name}\": {}", rest.split([',', '\n']).next().unwrap())
    };
    for (name, wrong) in [("message_bits", 24), ("message_bits", 0), ("rows", 0), ("columns", 0), ("selections", 99)] {
        std::fs::write(&path, text.replace(&number(name), &format!("\"{name}\": {wrong}"))).unwrap();
        let refused = Table::open(dir.path(), false).unwrap_err();
        assert!(matches!(&refused, Error::BadFile { path: named, .. } if *named == path), "{name}: {refused}");
    }
}

/// They once led to a panic, to the removal of files that are no pieces, and to the loss of a piece
/// that the damaged manifest did not name.
#[test]
fn manifests_that_nobody_writes_are_bad_files_and_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let some = keyed(&rows(&[9; 3]));
    let schema = plan_of_keys(&some, 0).schema;
    let create = || Table::create_keywords(dir.path(), &schema, &some, &unobserved).map(drop);
    let change = || {
        let set = KeyChange::Set(b"key 1".to_vec(), b"new".to_vec());
        Table::change_keys(dir.path(), &[set], &unobserved).map(drop)
    };
    create().unwrap();
    let [finished, building, piece, notes] =
        ["table.json", "building.json", "00000-000000.segment", "notes"].map(|name| dir.path().join(name));
    let text = std::fs::read_to_string(&finished).unwrap();
    std::fs::write(&notes, "of somebody else").unwrap();
    let more = "\"00000-000000.segment\",\n    \"00001-000000.segment\"";
    for (from, to) in [
        ("\"00000-000000.segment\"", more),
        ("00000-000000.segment", "notes"),
        ("00000-000000.segment", "00000-000007.segment"),
        ("\"count\": 3", "\"count\": 18446744073709551615"),
        ("\"revision\": 0", "\"revision\": 18446744073709551615"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from} is in it");
        std::fs::write(&finished, &wrong).unwrap();
        for refused in [change().unwrap_err(), create().unwrap_err()] {
            assert!(matches!(refused, Error::BadFile { .. }), "{to}: {refused}");
        }
        assert!(piece.exists() && notes.exists(), "{to}");
    }
    std::fs::remove_file(&finished).unwrap();
    for (from, to) in [("\"00000-000000.segment\"", more), ("00000-000000.segment", "notes")] {
        std::fs::write(&building, text.replacen(from, to, 1)).unwrap();
        assert!(matches!(create(), Err(Error::BadFile { .. })), "{to}");
        assert!(piece.exists() && notes.exists(), "{to}");
    }
    std::fs::remove_file(&building).unwrap();
    create().unwrap();
    change().unwrap();
}

#[test]
fn readers_keep_their_version_while_rows_change() {
    let dir = tempfile::tempdir().unwrap();
    let some = rows(&[10, 0, 40, 40]);
    let requirements = TableRequirements { room: Some(8), ..TableRequirements::default() };
    let plan = Plan::rows(RowStatistics::of(&some).unwrap(), &requirements).unwrap();
    let before = Table::create_rows(dir.path(), &plan.schema, &some, &unobserved).unwrap();
    let asker = Asker::of(&before);
    let changes = [RowChange::Append(b"new".to_vec()), RowChange::Set(0, b"other".to_vec()), RowChange::Clear(2)];
    let after = Table::change_rows(dir.path(), &changes, &unobserved).unwrap();
    assert_eq!(asker.rows(&before, &[0, 2]), [some[0].clone(), some[2].clone()]);
    // Old clients may ask for old rows. Clients that read the new schema may ask for the new one.
    assert_eq!(asker.rows(&after, &[0, 1, 2, 3]), [b"other".to_vec(), vec![], vec![], some[3].clone()]);
    assert_eq!(Asker::of(&after).rows(&after, &[4]), [b"new".to_vec()]);
    assert_eq!((before.revision(), after.revision()), (0, 1));
    for refused in [RowChange::Set(99, vec![]), RowChange::Clear(5), RowChange::Set(0, vec![0; 41])] {
        assert!(Table::change_rows(dir.path(), &[RowChange::Clear(0), refused], &unobserved).is_err());
    }
    let again = Table::open(dir.path(), true).unwrap();
    assert_eq!(asker.rows(&again, &[0]), [b"other".to_vec()], "all of the changes or none");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn keyed_tables_are_maps(
        rows in prop::collection::btree_map(prop::collection::vec(any::<u8>(), 0..12), prop::collection::vec(any::<u8>(), 0..3000), 1..30),
        set in prop::collection::btree_map(prop::collection::vec(any::<u8>(), 0..2), prop::collection::vec(any::<u8>(), 0..500), 0..8),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let list: Vec<(Vec<u8>, Vec<u8>)> = rows.clone().into_iter().collect();
        let plan = plan_of_keys(&list, 60);
        let mut table = Table::create_keywords(dir.path(), &plan.schema, &list, &unobserved).unwrap();
        let asker = Asker::of(&table);
        let mut map: BTreeMap<Vec<u8>, Vec<u8>> = rows;
        let most = list.iter().map(|(_, row)| row.len()).max().unwrap();
        let mut changes = Vec::new();
        for index in removed {
            let key = index.get(&list).0.clone();
            map.remove(&key);
            changes.push(KeyChange::Remove(key));
        }
        for (key, mut row) in set {
            row.truncate(most);
            map.insert(key.clone(), row.clone());
            changes.push(KeyChange::Set(key, row));
        }
        if !changes.is_empty() {
            table = Table::change_keys(dir.path(), &changes, &unobserved).unwrap();
        }
        let asked: Vec<&[u8]> = list.iter().map(|(key, _)| &key[..]).take(6).chain([&b"\x01"[..], b"absent"]).collect();
        for (key, found) in asked.iter().zip(asker.keys(&table, &asked)) {
            prop_assert_eq!(found.as_ref(), map.get(*key));
        }
    }
}

#[test]
fn a_plan_that_proves_too_small_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let rows = keyed(&rows(&[3000; 40]));
    let values: Vec<&Vec<u8>> = rows.iter().map(|(_, row)| row).collect();
    let plan = |slack| {
        Plan::keywords(RowStatistics::of(&values).unwrap(), "ab", slack, &TableRequirements::default()).unwrap()
    };
    let create = |slack| Table::create_keywords(dir.path(), &plan(slack).schema, &rows, &unobserved);
    assert!(matches!(create(0.5), Err(Error::Full { .. })));
    let table = create(1.2).unwrap();
    assert_eq!(Asker::of(&table).keys(&table, &[b"key 7"]), [Some(rows[7].1.clone())]);
}

#[test]
fn damaged_pieces_are_made_again_and_never_copied() {
    let dir = tempfile::tempdir().unwrap();
    let some = keyed(&rows(&[700; 30]));
    let create = || Table::create_keywords(dir.path(), &plan_of_keys(&some, 40).schema, &some, &unobserved);
    create().unwrap();
    let piece = dir.path().join("00000-000000.segment");
    let mut bytes = std::fs::read(&piece).unwrap();
    bytes[5000] ^= 1;
    std::fs::remove_file(&piece).unwrap();
    std::fs::write(&piece, &bytes).unwrap();
    let change = [KeyChange::Set(b"key 3".to_vec(), b"new".to_vec())];
    assert!(matches!(Table::change_keys(dir.path(), &change, &unobserved), Err(Error::BadFile { .. })));
    create().unwrap();
    let table = Table::change_keys(dir.path(), &change, &unobserved).unwrap();
    assert_eq!(Asker::of(&table).keys(&table, &[b"key 3"]), [Some(b"new".to_vec())]);
}
