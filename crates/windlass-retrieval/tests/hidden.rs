//! Tables whose keys are hidden: clients that the server helps find rows, and no other party
//! recognises anything in an answer. (What lies in bins is looked at in `src/hidden/tests.rs`.)

use std::path::Path;

use windlass::wire::{FileContext, Label, Wire, from_bytes, seal, to_bytes, to_payload};
use windlass_retrieval::*;
use windlass_rlwe::evaluation::EvaluationKeys;

fn entries(count: usize) -> Vec<(String, String)> {
    (0..count).map(|k| (format!("key {k}"), format!("row {k}{}", "x".repeat(k % 20)))).collect()
}

fn plan_of(rows: &[(String, String)], key: &OprfKey, room: usize) -> Plan {
    let values: Vec<&String> = rows.iter().map(|(_, row)| row).collect();
    let requirements = TableRequirements { room: Some(room), ..TableRequirements::default() };
    Plan::hidden(RowStatistics::of(&values).unwrap(), &key.public(), "5eed", 1.0, &requirements).unwrap()
}

fn created(dir: &Path, rows: &[(String, String)], key: &OprfKey) -> Table {
    Table::create_hidden(dir, &plan_of(rows, key, 2 * rows.len()).schema, rows, key, &unobserved).unwrap()
}

struct Asker {
    client: Client,
    keys: EvaluationKeys,
}

impl Asker {
    fn of(table: &Table) -> Self {
        let (schema, setting) = Schema::from_json(&table.schema().to_json()).unwrap();
        let client = Client::new(schema, &setting).unwrap();
        Self { keys: client.evaluation_keys().unwrap(), client }
    }

    fn ask(&self, table: &Table, key: &OprfKey, names: &[&str]) -> Vec<Option<Vec<u8>>> {
        let blinding = Blinding::new(names).unwrap();
        let outputs = blinding.finish(&key.blind_evaluate(blinding.points()).unwrap()).unwrap();
        let hidden = HiddenKeys::new(self.client.schema(), outputs).unwrap();
        let answer = table.answer(&self.keys, &self.client.query(&hidden.wanted()).unwrap()).unwrap();
        hidden.open(self.client.read(&answer, &hidden.wanted()).unwrap()).unwrap()
    }
}

#[test]
fn rows_are_found_with_the_help_of_the_server() {
    let (rows, key) = (entries(300), OprfKey::generate().unwrap());
    let table = Table::of_hidden(&plan_of(&rows, &key, 300), &rows, &key, &unobserved).unwrap();
    let asker = Asker::of(&table);
    let found = asker.ask(&table, &key, &["key 7", "nobody", "key 299"]);
    assert_eq!(found, [Some(rows[7].1.clone().into_bytes()), None, Some(rows[299].1.clone().into_bytes())]);
    // The name itself is found by nobody, and another server's help is of no use.
    let plain = Wanted::Keys(vec![b"key 7".to_vec()]);
    let answer = table.answer(&asker.keys, &asker.client.query(&plain).unwrap()).unwrap();
    assert_eq!(asker.client.read(&answer, &plain).unwrap(), [None]);
    assert_eq!(asker.ask(&table, &OprfKey::generate().unwrap(), &["key 7"]), [None]);
}

/// What a file holds: written, and read again.
fn sent<T: Wire<TableContext>>(asker: &Asker, value: &T) -> T {
    let context = TableContext::new(asker.client.setting(), asker.client.schema());
    from_bytes(&context, &to_bytes(&context, value).unwrap()).unwrap()
}

/// Through files, days may lie between the steps: nothing but the secret key is kept by the client.
#[test]
fn keys_are_hidden_through_files() {
    let (rows, key) = (entries(60), OprfKey::generate().unwrap());
    let table = Table::of_hidden(&plan_of(&rows, &key, 60), &rows, &key, &unobserved).unwrap();
    let (asker, names) = (Asker::of(&table), ["key 7", "nobody", "key 7"]);
    let [request, again] = [0, 1].map(|_| sent(&asker, &asker.client.blind(&names).unwrap()));
    let points: std::collections::BTreeSet<&[u8]> =
        [&request, &again].into_iter().flat_map(|request| request.points().chunks(POINT_BYTES)).collect();
    assert_eq!(points.len(), 6, "blinds are fresh, for equal keys as well");
    let reply = sent(&asker, &table.blind_evaluate(&key, &request).unwrap());
    let hidden = asker.client.unblind(&reply, &names).unwrap();
    let outputs = names.map(|name| key.evaluate(name.as_bytes()).unwrap().to_vec());
    assert_eq!(hidden.wanted(), Wanted::Keys(outputs.to_vec()), "the function of RFC 9497");
    let answer = table.answer(&asker.keys, &asker.client.query(&hidden.wanted()).unwrap()).unwrap();
    let row = Some(rows[7].1.clone().into_bytes());
    assert_eq!(hidden.open(asker.client.read(&answer, &hidden.wanted()).unwrap()).unwrap(), [row.clone(), None, row]);
    // What does not belong together is refused by name.
    for other in [&["key 7", "nobody"][..], &["nobody", "key 7", "key 7"], &["key 7", "nobody", "key 8"], &[]] {
        assert_eq!(asker.client.unblind(&reply, other).unwrap_err(), Error::OtherBlindKeys, "{other:?}");
    }
    let stranger = Asker::of(&table);
    assert!(matches!(stranger.client.unblind(&reply, &names), Err(Error::OtherKeyPair(_))));
    let second = OprfKey::generate().unwrap();
    assert_eq!(table.blind_evaluate(&second, &request).unwrap_err(), Error::OtherOprfKey);
    let next = Table::of_hidden(&plan_of(&rows, &key, 60), &rows, &key, &unobserved).unwrap();
    assert_eq!(next.blind_evaluate(&key, &request).unwrap_err(), Error::OtherTable { what: "the blind request" });
    for count in [0, MOST_ROWS + 1] {
        assert!(matches!(asker.client.blind(&vec!["a"; count]), Err(Error::OutOfRange(_))), "{count}");
    }
    assert_eq!(asker.client.blind(&[vec![0; 65_536]]).unwrap_err(), Error::LongKey { bytes: 65_536 });
    let context = TableContext::new(asker.client.setting(), asker.client.schema());
    let bytes = to_bytes(&context, &request).unwrap();
    let told = from_bytes::<_, BlindReply>(&context, &bytes).unwrap_err().to_string();
    assert!(told.contains("a blind reply of a table") && told.contains("a blind request to a table"), "{told}");
}

/// Reads a message from damaged bytes, and from payloads that no build writes, under a right checksum.
fn refuses_damage<T: Wire<TableContext> + std::fmt::Debug>(asker: &Asker, message: &T) {
    let context = TableContext::new(asker.client.setting(), asker.client.schema());
    let bytes = to_bytes(&context, message).unwrap();
    for place in 0..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[place] ^= 1 << (place % 8);
        assert!(from_bytes::<_, T>(&context, &damaged).is_err(), "byte {place}");
        assert!(from_bytes::<_, T>(&context, &bytes[..place]).is_err(), "{place} bytes");
    }
    let (payload, key) = (to_payload(&context, message), asker.client.secret().key_id());
    let read = |payload: &[u8]| {
        let label = Label { kind: T::KIND, context: *context.hash(), key };
        from_bytes::<_, T>(&context, &seal(&label, payload))
    };
    assert!(read(&payload).is_ok());
    let counts = [0, 1, 3, MOST_ROWS as u32, MOST_ROWS as u32 + 1, u32::MAX];
    for count in counts {
        let mut other = payload.to_vec();
        other[32..36].copy_from_slice(&count.to_le_bytes());
        let told = read(&other).unwrap_err().to_string();
        assert!(!told.is_empty(), "{count}");
    }
    for end in [0, 31, 32, 36, 67, payload.len() - 1] {
        assert!(read(&payload[..end]).is_err(), "{end} bytes");
    }
    assert!(read(&[&payload[..], &[0; POINT_BYTES]].concat()).is_err());
}

#[test]
fn damaged_blind_messages_are_refused() {
    let (rows, key) = (entries(5), OprfKey::generate().unwrap());
    let table = Table::of_hidden(&plan_of(&rows, &key, 5), &rows, &key, &unobserved).unwrap();
    let asker = Asker::of(&table);
    let request = asker.client.blind(&["key 1", "key 2"]).unwrap();
    refuses_damage(&asker, &request);
    refuses_damage(&asker, &table.blind_evaluate(&key, &request).unwrap());
}

/// A table whose keys are plain has nothing to blind.
#[test]
fn plain_tables_refuse_blind_requests() {
    let (rows, key) = (entries(5), OprfKey::generate().unwrap());
    let values: Vec<&String> = rows.iter().map(|(_, row)| row).collect();
    let plan = Plan::keywords(RowStatistics::of(&values).unwrap(), "5eed", 1.0, &TableRequirements::default()).unwrap();
    let plain = Table::of_keywords(&plan, &rows, &unobserved).unwrap();
    let hiding = Table::of_hidden(&plan_of(&rows, &key, 5), &rows, &key, &unobserved).unwrap();
    let (client, asker) = (Client::new(plan.schema.clone(), plain.setting()).unwrap(), Asker::of(&hiding));
    let request = asker.client.blind(&["a"]).unwrap();
    let reply = hiding.blind_evaluate(&key, &request).unwrap();
    assert_eq!(client.blind(&["a"]).unwrap_err(), Error::PlainKeys);
    assert_eq!(client.unblind(&reply, &["a"]).unwrap_err(), Error::PlainKeys);
    assert_eq!(plain.blind_evaluate(&key, &request).unwrap_err(), Error::PlainKeys);
}

/// Rows of any length up to a bin are single entries, also if a bin has room for one of them alone.
#[test]
fn long_rows_are_sealed_as_a_whole() {
    let key = OprfKey::generate().unwrap();
    for length in [2100, 2600, 3900, 7000] {
        let rows: Vec<(String, String)> =
            (0..12).map(|k| (format!("key {k}"), k.to_string().repeat(length / (1 + k / 10) - k % 10))).collect();
        let made = (0..8).find_map(|attempt| {
            let values: Vec<&String> = rows.iter().map(|(_, row)| row).collect();
            let slack = 1.0 + f64::from(attempt) / 4.0;
            let statistics = RowStatistics::of(&values).unwrap();
            let plan =
                Plan::hidden(statistics, &key.public(), &attempt.to_string(), slack, &TableRequirements::default())
                    .unwrap();
            assert_eq!(plan.schema.portions(), 1);
            Table::of_hidden(&plan, &rows, &key, &unobserved).ok()
        });
        let table = made.unwrap();
        let found = Asker::of(&table).ask(&table, &key, &["key 0", "nobody", "key 11"]);
        let [first, last] = [0, 11].map(|k: usize| Some(rows[k].1.clone().into_bytes()));
        assert!(found == [first, None, last], "{length}");
    }
}

/// A build that continues keeps the schema that it began with, under which its rows are sealed
/// then.
#[test]
fn a_build_that_is_repeated_under_another_plan_gives_the_first_table() {
    let (rows, key) = (entries(50), OprfKey::generate().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let first = created(dir.path(), &rows, &key);
    let piece = dir.path().join("00000-000000.segment");
    let whole = std::fs::read(&piece).unwrap();
    std::fs::remove_file(&piece).unwrap();
    let again = created(dir.path(), &rows, &key);
    assert_eq!((again.version(), again.schema()), (first.version(), first.schema()));
    assert!(std::fs::read(&piece).unwrap() == whole);
    let found = Asker::of(&again).ask(&again, &key, &["key 9"]);
    assert_eq!(found, [Some(rows[9].1.clone().into_bytes())]);
    let mut others = rows.clone();
    others[3].1.push('!');
    let schema = plan_of(&others, &key, 100).schema;
    let told = Table::create_hidden(dir.path(), &schema, &others, &key, &unobserved).unwrap_err();
    assert!(told.to_string().contains("holds another table"), "{told}");
}

#[test]
fn a_set_without_rows_answers_yes_or_no() {
    let rows: Vec<(String, String)> = (0..500).map(|k| (format!("id {k}"), String::new())).collect();
    let key = OprfKey::generate().unwrap();
    let table = Table::of_hidden(&plan_of(&rows, &key, 500), &rows, &key, &unobserved).unwrap();
    let found = Asker::of(&table).ask(&table, &key, &["id 1", "id 500", "id 499"]);
    assert_eq!(found, [Some(Vec::new()), None, Some(Vec::new())]);
}

#[test]
fn hidden_rows_are_set_and_removed_with_the_key_alone() {
    let (rows, key) = (entries(60), OprfKey::generate().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let table = created(dir.path(), &rows, &key);
    let asker = Asker::of(&table);
    let set = |name: &str, row: &str| KeyChange::Set(name.into(), row.into());
    for round in 0..3 {
        let changes = [set("key 5", &format!("other {round}")), set("new", "here"), KeyChange::Remove("key 6".into())];
        let table = Table::change_hidden(dir.path(), &changes, &key, &unobserved).unwrap();
        let found = asker.ask(&table, &key, &["key 5", "new", "key 6", "key 7"]);
        let other = format!("other {round}").into_bytes();
        assert_eq!(found, [Some(other), Some(b"here".to_vec()), None, Some(rows[7].1.clone().into_bytes())]);
        assert!(matches!(&table.schema().contents, Contents::Keywords(keywords) if keywords.count == 60));
        assert!(table.has_hidden_key(b"new", &key).unwrap() && !table.has_hidden_key(b"key 6", &key).unwrap());
    }
    // As many as there is room for: what fills bins up gives way.
    let more: Vec<KeyChange> = (0..60).map(|k| set(&format!("more {k}"), "m")).collect();
    let table = Table::change_hidden(dir.path(), &more, &key, &unobserved).unwrap();
    assert_eq!(asker.ask(&table, &key, &["more 59", "key 59"])[0], Some(b"m".to_vec()));
    let other = OprfKey::generate().unwrap();
    assert_eq!(Table::change_hidden(dir.path(), &more, &other, &unobserved).unwrap_err(), Error::OtherOprfKey);
    assert_eq!(Table::change_keys(dir.path(), &more, &unobserved).unwrap_err(), Error::HiddenKeys);
    let long = [set("key 1", &"x".repeat(1000))];
    assert!(matches!(
        Table::change_hidden(dir.path(), &long, &key, &unobserved),
        Err(Error::EntryTooLong { bytes: 1000, .. })
    ));
    // Made again of the same rows it is the same table, which damaged pieces rest on.
    let again = tempfile::tempdir().unwrap();
    let schema = plan_of(&rows, &key, 120).schema;
    let pieces = [0, 1].map(|k| {
        let dir = again.path().join(k.to_string());
        Table::create_hidden(&dir, &schema, &rows, &key, &unobserved).unwrap();
        std::fs::read(dir.join("00000-000000.segment")).unwrap()
    });
    assert!(pieces[0] == pieces[1]);
}

#[test]
fn schemas_say_how_keys_are_hidden_and_others_stay_what_they_were() {
    let (rows, key) = (entries(20), OprfKey::generate().unwrap());
    let schema = plan_of(&rows, &key, 20).schema;
    let text = schema.to_json();
    assert_eq!(Schema::from_json(&text).unwrap().0, schema);
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!((&json["version"], &json["contents"]["keywords"]["tag_bytes"]), (&3.into(), &16.into()));
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut json = json.clone();
        change(&mut json);
        Schema::from_json(json.to_string().as_bytes()).is_err()
    };
    assert!(refused(&|json| json["version"] = 1.into()));
    assert!(refused(&|json| json["version"] = 2.into()));
    assert!(refused(&|json| json["oprf"] = serde_json::Value::Null));
    assert!(refused(&|json| json["oprf"]["suite"] = "P256-SHA256".into()));
    assert!(refused(&|json| json["oprf"]["public"] = "00".into()));
    assert!(refused(&|json| json["oprf"]["row_bytes"] = 1.into()));
    assert!(refused(&|json| json["contents"]["keywords"]["tag_bytes"] = 8.into()));
    assert!(refused(&|json| json["contents"]["keywords"]["tag_bytes"] = 12.into()));
    let values: Vec<&String> = rows.iter().map(|(_, row)| row).collect();
    let short = TableRequirements { tag_bits: Some(64), ..TableRequirements::default() };
    let plain = Plan::keywords(RowStatistics::of(&values).unwrap(), "5eed", 1.0, &short).unwrap();
    let text = String::from_utf8(plain.schema.to_json()).unwrap();
    assert!(!text.contains("oprf") && !text.contains("tag_bytes") && text.contains("\"version\": 1"), "{text}");
    assert_eq!(Table::of_hidden(&plain, &rows, &key, &unobserved).unwrap_err(), Error::PlainKeys);
    let hidden = plan_of(&rows, &key, 20);
    assert_eq!(Table::of_keywords(&hidden, &rows, &unobserved).unwrap_err(), Error::HiddenKeys);
    assert!(HiddenKeys::new(&plain.schema, Vec::new()).is_err());
    let long = RowStatistics { count: 10, longest: 100_000, fixed: true, total: 1_000_000 };
    let told = Plan::hidden(long, &key.public(), "5eed", 1.0, &TableRequirements::default()).unwrap_err().to_string();
    assert!(told.contains("seals each row as a whole"), "{told}");
}
