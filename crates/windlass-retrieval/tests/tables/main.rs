//! Tables against maps: everything in them is found, by number and by key, in memory and in
//! directories, before and after changes.

mod directories;

use std::ops::ControlFlow;

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
    Plan::rows(RowStatistics::of(rows).unwrap(), &TableRequirements::default()).unwrap()
}

fn keyed(rows: &[Vec<u8>]) -> Vec<(Vec<u8>, Vec<u8>)> {
    rows.iter().enumerate().map(|(i, row)| (format!("key {i}").into_bytes(), row.clone())).collect()
}

fn plan_of_keys(rows: &[(Vec<u8>, Vec<u8>)], room: usize) -> Plan {
    let values: Vec<&Vec<u8>> = rows.iter().map(|(_, row)| row).collect();
    let requirements = TableRequirements { room: Some(room), ..TableRequirements::default() };
    Plan::keywords(RowStatistics::of(&values).unwrap(), "00ff", 1.1, &requirements).unwrap()
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
    let refused = asker.client.query_rows(&[2]).unwrap_err();
    assert!(matches!(refused, Error::OutOfRange(_)));
    let told = "row is 2, but must be at most 1, or fetch schema.json again, since the table may have grown";
    assert_eq!(refused.to_string(), told);
    assert!(matches!(asker.client.query_rows(&[]), Err(Error::OutOfRange(_))));
    assert!(matches!(asker.client.query_keys(&[b"key"]), Err(Error::WrongQuery { .. })));
    assert!(matches!(RowStatistics::of::<Vec<u8>>(&[]), Err(Error::Empty)));
    let twice = [(b"a", b"1"), (b"b", b"2"), (b"a", b"3")];
    let values: Vec<Vec<u8>> = twice.iter().map(|(_, row)| row.to_vec()).collect();
    let plan = Plan::keywords(RowStatistics::of(&values).unwrap(), "00", 1.0, &TableRequirements::default()).unwrap();
    assert!(matches!(Table::of_keywords(&plan, &twice, &unobserved), Err(Error::DuplicateKey { key }) if key == "a"));
    let stopped = Table::of_rows(&plan_of(&some), &some, &|_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(Error::Cancelled)));
    // Another client's keys, and the query of another table.
    let (query, other) = (asker.client.query_rows(&[0]).unwrap(), Asker::of(&table));
    assert!(matches!(table.answer(&other.keys, &query), Err(Error::OtherKeyPair(_))));
    let answer = table.answer(&asker.keys, &query).unwrap();
    assert!(matches!(other.client.rows(&answer, &[0]), Err(Error::OtherKeyPair(_))));
    for wrong in [&[1][..], &[0, 0], &[0, 1]] {
        assert!(matches!(asker.client.rows(&answer, wrong), Err(Error::OtherQuery)));
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
        ("\"version\": 4", "\"version\": 2"),
        ("\"version\": 4", "\"version\": 1"),
        ("windlass-table-schema", "windlass"),
    ] {
        let other = schema.replacen(from, to, 1);
        assert_ne!(other, schema, "{from} is in it");
        assert!(Schema::from_json(other.as_bytes()).is_err(), "{to}");
    }
}

/// A table in several pieces, quick to make: few rows of polynomials, many columns.
/// Short rows are there after one small query; long ones after a few, each twice as long.
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
        // A short row alone takes one turn, and the answer is one to its own query only.
        let short = match &wanted {
            Wanted::Keys(keys) => Wanted::Keys(vec![keys[0].clone()]),
            Wanted::Rows(_) => Wanted::Rows(vec![0]),
        };
        let mut gathering = asker.client.in_portions(short.clone());
        let query = gathering.query().unwrap().unwrap();
        assert_eq!(query.count(), each);
        let answer = asker.exchange(table, &query);
        assert_eq!(asker.client.read(&answer, &short), Err(Error::OtherQuery));
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
    assert!(matches!(asker.client.in_portions(Wanted::Rows(vec![1])).query(), Err(Error::WrongQuery { by: "key" })));
}

/// Clients ask a table that is made again under a schema that they know as before.
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
    assert!(refused(table.schema(), &rows(&[31])).contains("the layout allows 30"));
    let fixed = Table::of_rows(&plan_of(&rows(&[8, 8, 8])), &rows(&[8, 8, 8]), &unobserved).unwrap();
    assert!(refused(fixed.schema(), &rows(&[8, 7])).contains("different lengths"));
    assert!(refused(fixed.schema(), &rows(&[9])).contains("the layout allows 8"));
    assert!(refused(fixed.schema(), &vec![vec![1; 8]; 1 << 20]).contains("has room for"));
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
fn plans_of_tables_that_cannot_be_are_refused() {
    let statistics = |count, longest| RowStatistics { count, longest, fixed: true, total: 1 << 40 };
    for (count, longest) in [(usize::MAX, 1), (10_usize.pow(15), 8), (3, usize::MAX / 4), (1, 1 << 40)] {
        let rows = statistics(count, longest);
        assert!(
            matches!(Plan::rows(rows, &TableRequirements::default()), Err(Error::NoPlan { .. })),
            "{count} x {longest}"
        );
        assert!(matches!(Plan::keywords(rows, "0", 1.0, &TableRequirements::default()), Err(Error::NoPlan { .. })));
    }
    let requirements = TableRequirements { room: Some(usize::MAX), ..TableRequirements::default() };
    assert!(matches!(Plan::keywords(statistics(5, 5), "0", 1.0, &requirements), Err(Error::NoPlan { .. })));
}
