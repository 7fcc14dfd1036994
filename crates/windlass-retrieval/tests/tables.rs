//! Tables against maps: whatever is in them is found, by number and by key, in memory and in
//! directories, before and after changes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use windlass::wire::{from_bytes, to_bytes};
use windlass_retrieval::*;
use windlass_rlwe::evaluation::EvaluationKeys;

/// Asks a table as a client elsewhere does: everything passes as bytes.
struct Asker {
    client: Client,
    keys: EvaluationKeys,
}

impl Asker {
    fn of(table: &Table) -> Self {
        let (schema, setting) = Schema::from_json(&table.schema().to_json()).unwrap();
        let client = Client::new(schema, &setting).unwrap();
        let context = KeyContext::new(&setting);
        let bytes = to_bytes(&context, &client.evaluation_keys().unwrap()).unwrap();
        assert!(bytes.len() as u64 <= client.schema().shape.sizes(&setting).keys + 1000);
        Self { keys: from_bytes(&context, &bytes).unwrap(), client }
    }

    fn exchange(&self, table: &Table, query: &Query) -> Answer {
        let context = TableContext::new(table.setting(), table.schema());
        let query: Query = from_bytes(&context, &to_bytes(&context, query).unwrap()).unwrap();
        let answer = table.answer(&self.keys, &query).unwrap();
        from_bytes(&context, &to_bytes(&context, &answer).unwrap()).unwrap()
    }

    fn rows(&self, table: &Table, rows: &[usize]) -> Vec<Vec<u8>> {
        let query = self.client.query_rows(rows).unwrap();
        self.client.rows(&self.exchange(table, &query), rows).unwrap()
    }

    fn keys(&self, table: &Table, keys: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let query = self.client.query_keys(keys).unwrap();
        self.client.rows_of_keys(&self.exchange(table, &query), keys).unwrap()
    }
}

/// Rows that differ in length, with empty ones and long ones among them.
fn rows(lengths: &[usize]) -> Vec<Vec<u8>> {
    lengths.iter().enumerate().map(|(i, &length)| (0..length).map(|j| (i * 31 + j * 7) as u8).collect()).collect()
}

fn plan_of(rows: &[Vec<u8>]) -> Plan {
    Plan::rows(RowStatistics::of(rows).unwrap(), &Wish::default()).unwrap()
}

fn keyed(rows: &[Vec<u8>]) -> Vec<(Vec<u8>, Vec<u8>)> {
    rows.iter().enumerate().map(|(i, row)| (format!("key {i}").into_bytes(), row.clone())).collect()
}

fn plan_of_keys(rows: &[(Vec<u8>, Vec<u8>)], room: usize) -> Plan {
    let values: Vec<&Vec<u8>> = rows.iter().map(|(_, row)| row).collect();
    let wish = Wish { room: Some(room), ..Wish::default() };
    Plan::keywords(RowStatistics::of(&values).unwrap(), "00ff", 1.1, &wish).unwrap()
}

#[test]
fn rows_of_every_length_are_found_by_number() {
    for lengths in [&[0, 0][..], &[1], &[5, 0, 300, 17, 1], &[64; 200], &[20_000, 3, 0]] {
        let rows = rows(lengths);
        let table = Table::of_rows(&plan_of(&rows), &rows, &unobserved).unwrap();
        let wanted: Vec<usize> = (0..rows.len()).step_by(rows.len().div_ceil(4)).chain([rows.len() - 1]).collect();
        let found = Asker::of(&table).rows(&table, &wanted);
        for (row, found) in wanted.iter().zip(found) {
            assert_eq!(found, rows[*row], "row {row} of {lengths:?}");
        }
    }
}

#[test]
fn rows_are_found_by_key_and_absence_is_told_apart_from_empty_rows() {
    for lengths in [&[0, 9][..], &[2; 3000], &[1000; 60], &[9000, 30_000, 5, 0, 700]] {
        let rows = keyed(&rows(lengths));
        let table = Table::of_keywords(&plan_of_keys(&rows, 0), &rows, &unobserved).unwrap();
        let asker = Asker::of(&table);
        let last = rows.len() - 1;
        let wanted = [&rows[0].0[..], b"nobody", &rows[last].0, b"", &rows[last / 2].0];
        let found = asker.keys(&table, &wanted);
        assert_eq!(
            found,
            [Some(rows[0].1.clone()), None, Some(rows[last].1.clone()), None, Some(rows[last / 2].1.clone())]
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let some = rows(&[5, 6]);
    let table = Table::of_rows(&plan_of(&some), &some, &unobserved).unwrap();
    let asker = Asker::of(&table);
    assert!(matches!(asker.client.query_rows(&[2]), Err(Error::OutOfRange(_))));
    assert!(matches!(asker.client.query_rows(&[]), Err(Error::OutOfRange(_))));
    assert!(matches!(asker.client.query_keys(&[b"key"]), Err(Error::WrongQuestion { .. })));
    assert!(matches!(RowStatistics::of::<Vec<u8>>(&[]), Err(Error::Empty)));
    let twice = [(b"a", b"1"), (b"b", b"2"), (b"a", b"3")];
    let values: Vec<Vec<u8>> = twice.iter().map(|(_, row)| row.to_vec()).collect();
    let plan = Plan::keywords(RowStatistics::of(&values).unwrap(), "00", 1.0, &Wish::default()).unwrap();
    assert!(matches!(Table::of_keywords(&plan, &twice, &unobserved), Err(Error::DuplicateKey { key }) if key == "a"));
    let stopped = Table::of_rows(&plan_of(&some), &some, &|_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Cancelled)));
    // Another client's keys, and the query of another table.
    let (query, other) = (asker.client.query_rows(&[0]).unwrap(), Asker::of(&table));
    assert!(matches!(table.answer(&other.keys, &query), Err(Error::OtherKeyPair(_))));
    let answer = table.answer(&asker.keys, &query).unwrap();
    assert!(matches!(other.client.rows(&answer, &[0]), Err(Error::OtherKeyPair(_))));
    for wrong in [&[1][..], &[0, 0], &[0, 1]] {
        assert!(matches!(asker.client.rows(&answer, wrong), Err(Error::OtherQuestion)));
    }
    assert_eq!(asker.client.rows(&answer, &[0]).unwrap(), [&some[0][..]]);
    let longer = rows(&[5, 7]);
    let elsewhere = Table::of_rows(&plan_of(&longer), &longer, &unobserved).unwrap();
    let bytes = to_bytes(&TableContext::new(table.setting(), table.schema()), &query).unwrap();
    assert!(from_bytes::<_, Query>(&TableContext::new(elsewhere.setting(), elsewhere.schema()), &bytes).is_err());
    for end in [0, 50, 99, bytes.len() - 1] {
        assert!(from_bytes::<_, Query>(&TableContext::new(table.setting(), table.schema()), &bytes[..end]).is_err());
    }
}

#[test]
fn schemas_that_nobody_makes_are_refused() {
    let some = keyed(&rows(&[5, 6]));
    let schema = String::from_utf8(plan_of_keys(&some, 0).schema.to_json()).unwrap();
    assert!(Schema::from_json(schema.as_bytes()).is_ok());
    for (from, to) in [
        ("\"rows\": 2", "\"rows\": 0"),
        ("\"rows\": 2", "\"rows\": 5000"),
        ("\"rows\": 2", "\"rows\": 99999999999999999999"),
        ("\"columns\": 1", "\"columns\": 18446744073709551615"),
        ("\"message_bits\": 17", "\"message_bits\": 24"),
        ("\"message_bits\": 17", "\"message_bits\": 0"),
        ("\"record_coefficients\": 4096", "\"record_coefficients\": 0"),
        ("\"fragments\": 1", "\"fragments\": 0"),
        ("\"count\": 2", "\"count\": 18446744073709551615"),
        ("\"fragment_bytes\": 6", "\"fragment_bytes\": 60000"),
        ("\"digits\": 2", "\"digits\": 0"),
        ("\"base_bits\": 1", "\"base_bits\": 64"),
        ("\"digits\": 2,\n      \"base_bits\": 1", "\"digits\": 8,\n      \"base_bits\": 24"),
        ("\"selections\": 1", "\"selections\": 0"),
        ("\"version\": 1", "\"version\": 2"),
        ("windlass-table-schema", "windlass"),
    ] {
        let other = schema.replacen(from, to, 1);
        assert_ne!(other, schema, "{from} is in it");
        assert!(Schema::from_json(other.as_bytes()).is_err(), "{to}");
    }
}

/// A table in several pieces, quick to make: few rows of polynomials, many columns.
/// Short rows are there after one small question; long ones after a few, each twice as long.
#[test]
fn long_rows_are_asked_for_in_portions() {
    let lengths = [5, 0, 40_000, 100, 9_000, 23];
    let rows = rows(&lengths);
    let entries = keyed(&rows);
    let by_key = Table::of_keywords(&plan_of_keys(&entries, 0), &entries, &unobserved).unwrap();
    let by_number = Table::of_rows(&plan_of(&rows), &rows, &unobserved).unwrap();
    for (table, wanted) in [
        (&by_key, Wanted::Keys((0..7).map(|k| format!("key {k}").into_bytes()).collect())),
        (&by_number, Wanted::Rows((0..6).collect())),
    ] {
        let asker = Asker::of(table);
        let portions = table.schema().portions();
        assert!(portions > 2, "{portions}");
        let each = table.schema().selections() / portions;
        let mut expected: Vec<Option<Vec<u8>>> = rows.iter().cloned().map(Some).collect();
        expected.resize(wanted.count(), None);
        let mut gathering = asker.client.in_portions(wanted.clone());
        let (mut asked, mut turns) = (0, 0);
        while let Some(query) = gathering.query().unwrap() {
            let (from, to) = if turns == 0 { (0, 1) } else { (1 << (turns - 1), (1 << turns).min(portions)) };
            assert_eq!(query.count(), gathering.count() * each * (to - from), "turn {turns}");
            asked += query.count();
            gathering.read(&asker.exchange(table, &query)).unwrap();
            turns += 1;
        }
        assert_eq!(gathering.rows().unwrap(), expected);
        assert!(asked < wanted.count() * table.schema().selections() / 2, "{asked} selections");
        // A short row alone takes one turn, and the answer is one to its own question only.
        let short = match &wanted {
            Wanted::Keys(keys) => Wanted::Keys(vec![keys[0].clone()]),
            Wanted::Rows(_) => Wanted::Rows(vec![0]),
        };
        let mut gathering = asker.client.in_portions(short.clone());
        let query = gathering.query().unwrap().unwrap();
        assert_eq!(query.count(), each);
        let answer = asker.exchange(table, &query);
        assert_eq!(asker.client.read(&answer, &short), Err(Error::OtherQuestion));
        gathering.read(&answer).unwrap();
        assert!(gathering.query().unwrap().is_none());
        assert_eq!(gathering.rows().unwrap(), [Some(rows[0].clone())]);
        // Half a row is no row.
        let long = match &wanted {
            Wanted::Keys(keys) => Wanted::Keys(vec![keys[2].clone()]),
            Wanted::Rows(_) => Wanted::Rows(vec![2]),
        };
        let mut gathering = asker.client.in_portions(long);
        let query = gathering.query().unwrap().unwrap();
        gathering.read(&asker.exchange(table, &query)).unwrap();
        assert_eq!(gathering.rows(), Err(Error::BadRow));
    }
    let asker = Asker::of(&by_key);
    assert!(asker.client.in_portions(Wanted::Keys(Vec::new())).query().is_err());
    assert!(matches!(asker.client.in_portions(Wanted::Rows(vec![1])).query(), Err(Error::WrongQuestion { by: "key" })));
}

/// A table that is made anew under a schema that clients know is asked by them as before.
#[test]
fn clients_of_a_schema_go_on_with_other_rows_under_it() {
    let first = keyed(&rows(&[5, 17, 9, 30]));
    let table = Table::of_keywords(&plan_of_keys(&first, 20), &first, &unobserved).unwrap();
    let asker = Asker::of(&table);
    let others: Vec<(Vec<u8>, Vec<u8>)> = (0..12).map(|k| (format!("new {k}").into_bytes(), vec![k; 12])).collect();
    let values: Vec<&Vec<u8>> = others.iter().map(|(_, row)| row).collect();
    let plan = Plan::like(table.schema(), RowStatistics::of(&values).unwrap()).unwrap();
    assert_eq!(plan.schema.hash(), table.schema().hash());
    let dir = tempfile::tempdir().unwrap();
    let next = Table::create_keywords(dir.path(), &plan.schema, &others, &unobserved).unwrap();
    assert_eq!(asker.keys(&next, &[b"new 7", b"key 1"]), [Some(vec![7; 12]), None]);
    let refused = |schema: &Schema, rows: &[Vec<u8>]| {
        let error = Plan::like(schema, RowStatistics::of(rows).unwrap()).unwrap_err();
        assert!(matches!(error, Error::OtherLayout { .. }), "{error}");
        error.to_string()
    };
    assert!(refused(table.schema(), &rows(&[31])).contains("takes rows of 30"));
    let fixed = Table::of_rows(&plan_of(&rows(&[8, 8, 8])), &rows(&[8, 8, 8]), &unobserved).unwrap();
    assert!(refused(fixed.schema(), &rows(&[8, 7])).contains("differ in length"));
    assert!(refused(fixed.schema(), &rows(&[9])).contains("takes rows of 8"));
    assert!(refused(fixed.schema(), &vec![vec![1; 8]; 1 << 20]).contains("has room for"));
}

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
    let wish = Wish { room: Some(8), ..Wish::default() };
    let plan = Plan::rows(RowStatistics::of(&some).unwrap(), &wish).unwrap();
    let before = Table::create_rows(dir.path(), &plan.schema, &some, &unobserved).unwrap();
    let asker = Asker::of(&before);
    let changes = [RowChange::Append(b"new".to_vec()), RowChange::Set(0, b"other".to_vec()), RowChange::Clear(2)];
    let after = Table::change_rows(dir.path(), &changes, &unobserved).unwrap();
    assert_eq!(asker.rows(&before, &[0, 2]), [some[0].clone(), some[2].clone()]);
    // Old clients may ask for old rows; the new one is for who reads the new schema.
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
    let plan = |slack| Plan::keywords(RowStatistics::of(&values).unwrap(), "ab", slack, &Wish::default()).unwrap();
    let create = |slack| Table::create_keywords(dir.path(), &plan(slack).schema, &rows, &unobserved);
    assert!(matches!(create(0.5), Err(Error::Full { .. })));
    let table = create(1.2).unwrap();
    assert_eq!(Asker::of(&table).keys(&table, &[b"key 7"]), [Some(rows[7].1.clone())]);
}

#[test]
fn queries_and_answers_of_other_tables_are_refused_in_memory() {
    let (some, more) = (rows(&[9; 600]), rows(&[8; 600]));
    let [a, b] = [&some, &more].map(|rows| Table::of_rows(&plan_of(rows), rows, &unobserved).unwrap());
    let asker = Asker::of(&a);
    let query = asker.client.query_rows(&[3]).unwrap();
    assert!(matches!(b.answer(&asker.keys, &query), Err(Error::OtherTable { .. })));
    let answer = a.answer(&asker.keys, &query).unwrap();
    let elsewhere = Client::with_secret(b.schema().clone(), b.setting(), copy_of(&asker)).unwrap();
    assert!(matches!(elsewhere.rows(&answer, &[3]), Err(Error::OtherTable { .. })));
}

/// The secret key of a client, once more.
fn copy_of(asker: &Asker) -> windlass_rlwe::keys::SecretKey {
    let context = KeyContext::new(asker.client.setting());
    from_bytes(&context, &to_bytes(&context, asker.client.secret()).unwrap()).unwrap()
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

#[test]
fn plans_of_tables_that_cannot_be_are_refused() {
    let statistics = |count, longest| RowStatistics { count, longest, fixed: true, total: 1 << 40 };
    for (count, longest) in [(usize::MAX, 1), (10_usize.pow(15), 8), (3, usize::MAX / 4), (1, 1 << 40)] {
        let rows = statistics(count, longest);
        assert!(matches!(Plan::rows(rows, &Wish::default()), Err(Error::NoPlan { .. })), "{count} x {longest}");
        assert!(matches!(Plan::keywords(rows, "0", 1.0, &Wish::default()), Err(Error::NoPlan { .. })));
    }
    let wish = Wish { room: Some(usize::MAX), ..Wish::default() };
    assert!(matches!(Plan::keywords(statistics(5, 5), "0", 1.0, &wish), Err(Error::NoPlan { .. })));
}
