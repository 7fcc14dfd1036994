//! Files of version 2 that were written once: every later build reads them, and writes the same.

use std::path::{Path, PathBuf};

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use windlass::wire::{from_bytes, hex, sha256, to_bytes};
use windlass_retrieval::*;
use windlass_rlwe::keys::SecretKey;

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The bytes of a golden file; with WINDLASS_WRITE_GOLDEN set, a missing one is written first.
fn golden(name: &str, made: &[u8]) -> Vec<u8> {
    let path = place(name);
    if !path.exists() && std::env::var_os("WINDLASS_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

const ROW: &[u8] = b"the row of 'golden'";

/// A manifest of version 1, which had no checksums.
#[test]
fn manifests_of_version_1_are_read() {
    let text = std::fs::read(place("table.json")).unwrap();
    let said: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(said.get("checksums"), None);
    let (schema, _) = Schema::from_json(said["schema"].to_string().as_bytes()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let rows = [("other", "another"), ("golden", "the row")];
    Table::create_keywords(dir.path(), &schema, &rows, &unobserved).unwrap();
    let manifest = dir.path().join("table.json");
    let now = std::fs::read_to_string(&manifest).unwrap();
    let piece = std::fs::read(dir.path().join("00000-000000.segment")).unwrap();
    std::fs::write(&manifest, &text).unwrap();
    let table = Table::open(dir.path(), true).unwrap();
    assert_eq!((table.version(), table.revision(), table.schema()), (&sha256(&text), 0, &schema));
    let change = [KeyChange::Set(b"golden".to_vec(), b"a new row".to_vec())];
    let changed = Table::change_keys(dir.path(), &change, &unobserved).unwrap();
    assert_eq!(changed.revision(), 1);
    // The later one differs from it by the checksums alone.
    let mut later: serde_json::Value = serde_json::from_str(&now).unwrap();
    let checksums = later.as_object_mut().unwrap().remove("checksums").unwrap();
    assert_eq!(checksums, serde_json::json!([hex(&piece[piece.len() - 32..])]));
    later["source"] = said["source"].clone();
    assert_eq!(later, said);
}

#[test]
fn queries_and_answers_of_version_2_are_read_and_written_alike() {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    let rows: Vec<(&[u8], &[u8])> = vec![(b"other", b"another row"), (b"golden", ROW)];
    let values: Vec<&[u8]> = rows.iter().map(|(_, row)| *row).collect();
    // The layout is written out, so that a planner that learns changes nothing.
    let text = golden("schema.json", &{
        let statistics = RowStatistics::of(&values).unwrap();
        Plan::keywords(statistics, "601d", 1.0, &TableRequirements::default()).unwrap().schema.to_json()
    });
    let (schema, setting) = Schema::from_json(&text).unwrap();
    assert_eq!(schema.to_json(), text);
    let dir = tempfile::tempdir().unwrap();
    let table = Table::create_keywords(dir.path(), &schema, &rows, &unobserved).unwrap();
    let manifest = std::fs::read(dir.path().join("table.json")).unwrap();
    assert!(golden("table-v2.json", &manifest) == manifest, "a manifest is written in other bytes than version 2");
    let secret = SecretKey::generate(setting.context(), &mut rng);
    let keys = evaluation_keys(&setting, &schema.shape, &secret, &mut rng).unwrap();
    let context = TableContext::new(&setting, &schema);
    let Contents::Keywords(_) = &schema.contents else { panic!("a table of keywords") };
    let selections: Vec<Selection> =
        (0..schema.selections()).map(|k| Selection { polynomial: k % schema.shape.polynomials(), record: 0 }).collect();
    let query = Query::new(&setting, &schema.shape, &secret, &selections, &mut rng).unwrap();
    let stored = golden("query.bin", &to_bytes(&context, &query).unwrap());
    let query: Query = from_bytes(&context, &stored).unwrap();
    assert_eq!(*to_bytes(&context, &query).unwrap(), stored);
    let answer = table.answer(&keys, &query).unwrap();
    let stored = golden("answer.bin", &to_bytes(&context, &answer).unwrap());
    assert_eq!(from_bytes::<_, Answer>(&context, &stored).unwrap(), answer, "the arithmetic is the same everywhere");
    let part = table.answer_part(table.shards(1).unwrap()[0], &[(&keys, &query)]).unwrap().remove(0);
    let stored = golden("part.bin", &to_bytes(&context, &part).unwrap());
    let part: PartialAnswer = from_bytes(&context, &stored).unwrap();
    assert_eq!(*to_bytes(&context, &part).unwrap(), stored);
    assert_eq!(combine(&setting, &schema, &[((&keys, &query), &[part])]).unwrap(), [answer]);
    let segment = std::fs::read(dir.path().join("00000-000000.segment")).unwrap();
    assert_eq!(
        hex(&sha256(&segment)),
        String::from_utf8(golden("segment.sha256", hex(&sha256(&segment)).as_bytes())).unwrap()
    );
}

/// A table whose keys are hidden: its schema, the key of its server, and what is made of both.
#[test]
fn hidden_tables_are_read_and_made_alike() {
    let dir = tempfile::tempdir().unwrap();
    let (place, written) = (dir.path().join("oprf.key"), dir.path().join("again.key"));
    let stored = golden("oprf.key", &{
        OprfKey::from_bytes([7; 32]).unwrap().save(&place).unwrap();
        std::fs::read(&place).unwrap()
    });
    std::fs::write(&place, &stored).unwrap();
    let key = OprfKey::load(&place).unwrap();
    key.save(&written).unwrap();
    assert_eq!(std::fs::read(&written).unwrap(), stored);
    let rows: Vec<(&[u8], &[u8])> = vec![(b"other", b"another row"), (b"golden", ROW)];
    let values: Vec<&[u8]> = rows.iter().map(|(_, row)| *row).collect();
    let text = golden("schema-hidden-v3.json", &{
        let statistics = RowStatistics::of(&values).unwrap();
        Plan::hidden(statistics, &key.public(), "601d", 1.0, &TableRequirements::default()).unwrap().schema.to_json()
    });
    let (schema, setting) = Schema::from_json(&text).unwrap();
    assert_eq!(schema.to_json(), text);
    let table = Table::create_hidden(&dir.path().join("table"), &schema, &rows, &key, &unobserved).unwrap();
    let segment = std::fs::read(dir.path().join("table/00000-000000.segment")).unwrap();
    let stored = golden("segment-hidden-v3.sha256", hex(&sha256(&segment)).as_bytes());
    assert_eq!(hex(&sha256(&segment)).as_bytes(), stored, "other entries than those of version 3");
    let client = Client::new(schema, &setting).unwrap();
    let blinding = Blinding::new(&["golden", "nobody"]).unwrap();
    let outputs = blinding.finish(&key.blind_evaluate(blinding.points()).unwrap()).unwrap();
    let hidden = HiddenKeys::new(client.schema(), outputs).unwrap();
    let answer = table.answer(&client.evaluation_keys().unwrap(), &client.query(&hidden.wanted()).unwrap()).unwrap();
    let found = hidden.open(client.read(&answer, &hidden.wanted()).unwrap()).unwrap();
    assert_eq!(found, [Some(ROW.to_vec()), None]);
}

/// What a client sends before it asks for hidden keys, and the reply, which follows from it.
#[test]
fn blind_messages_of_version_2_are_read_and_written_alike() {
    let mut rng = ChaCha20Rng::from_seed([6; 32]);
    let (schema, setting) = Schema::from_json(&std::fs::read(place("schema-hidden-v3.json")).unwrap()).unwrap();
    let key = OprfKey::load(&place("oprf.key")).unwrap();
    let rows: [(&[u8], &[u8]); 2] = [(b"other", b"another row"), (b"golden", ROW)];
    let table = Table::of_hidden(&Plan::of(&setting, schema.clone(), 64), &rows, &key, &unobserved).unwrap();
    let context = TableContext::new(&setting, &schema);
    let secret = SecretKey::generate(setting.context(), &mut rng);
    let client = Client::with_secret(schema, &setting, secret).unwrap();
    let names = ["golden", "nobody"];
    let stored = golden("blind-request.bin", &to_bytes(&context, &client.blind(&names).unwrap()).unwrap());
    let request: BlindRequest = from_bytes(&context, &stored).unwrap();
    assert_eq!(*to_bytes(&context, &request).unwrap(), stored);
    let reply = table.blind_evaluate(&key, &request).unwrap();
    let stored = golden("blind-reply.bin", &to_bytes(&context, &reply).unwrap());
    assert_eq!(*to_bytes(&context, &reply).unwrap(), stored, "points times the key are the same everywhere");
    let reply: BlindReply = from_bytes(&context, &stored).unwrap();
    // Only the secret key is kept between the two, so the blinds must follow from it for ever.
    let outputs = names.map(|name| key.evaluate(name.as_bytes()).unwrap().to_vec());
    assert_eq!(client.unblind(&reply, &names).unwrap().wanted(), Wanted::Keys(outputs.to_vec()));
}

/// A table of plain keys under tags of 128 bits, as they are planned since version 4.
#[test]
fn tables_of_long_tags_are_read_and_made_alike() {
    let rows: Vec<(&[u8], &[u8])> = vec![(b"other", b"another row"), (b"golden", ROW)];
    let values: Vec<&[u8]> = rows.iter().map(|(_, row)| *row).collect();
    let statistics = RowStatistics::of(&values).unwrap();
    let plan = |tag_bits| {
        Plan::keywords(statistics, "601d", 1.0, &TableRequirements { tag_bits, ..TableRequirements::default() })
            .unwrap()
    };
    let text = golden("schema-v4.json", &plan(None).schema.to_json());
    let (schema, setting) = Schema::from_json(&text).unwrap();
    assert_eq!(schema.to_json(), text);
    let dir = tempfile::tempdir().unwrap();
    let table = Table::create_keywords(dir.path(), &schema, &rows, &unobserved).unwrap();
    let segment = std::fs::read(dir.path().join("00000-000000.segment")).unwrap();
    let stored = golden("segment-v4.sha256", hex(&sha256(&segment)).as_bytes());
    assert_eq!(hex(&sha256(&segment)).as_bytes(), stored, "other entries than those of version 4");
    let client = Client::new(schema, &setting).unwrap();
    let query = client.query_keys(&["golden", "nobody"]).unwrap();
    let answer = table.answer(&client.evaluation_keys().unwrap(), &query).unwrap();
    assert_eq!(client.rows_of_keys(&answer, &["golden", "nobody"]).unwrap(), [Some(ROW.to_vec()), None]);
    // Each layout has one version that states it.
    let versions = [(Some(64), 1), (Some(128), 4), (None, 4)];
    for (bits, version) in versions {
        let mut json: serde_json::Value = serde_json::from_slice(&plan(bits).schema.to_json()).unwrap();
        assert_eq!(json["version"], version, "{bits:?}");
        json["version"] = (5 - version).into();
        let told = Schema::from_json(json.to_string().as_bytes()).unwrap_err();
        assert!(matches!(&told, Error::BadSchema { .. }), "{told}");
    }
}

/// Version 2 hid keys by entries that two tables could share: it is named, and refused.
#[test]
fn schemas_of_the_first_hidden_tables_are_refused_with_what_to_do() {
    let text = std::fs::read(place("schema-hidden.json")).unwrap();
    let Err(Error::BadSchema { reason }) = Schema::from_json(&text) else { panic!("refused") };
    assert!(reason.contains("version 2") && reason.contains("make a new table"), "{reason}");
    let dir = tempfile::tempdir().unwrap();
    let manifest = serde_json::json!({
        "revision": 0,
        "schema": serde_json::from_slice::<serde_json::Value>(&text).unwrap(),
        "source": "00",
        "segments": ["00000-000000.segment"],
    });
    std::fs::write(dir.path().join("table.json"), manifest.to_string()).unwrap();
    let told = Table::open(dir.path(), true).unwrap_err();
    assert!(matches!(&told, Error::BadFile { reason, .. } if reason.contains("make a new table")), "{told}");
}

#[test]
fn searches_of_version_2_are_read_and_written_alike() {
    use windlass_retrieval::vectors::*;
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let numbers: Vec<i8> = (0..12).map(|k| 7 * k - 40).collect();
    let vectors = Vectors::new(Values::I8(&numbers), 4).unwrap();
    let table = QuantisedTable::new(&vectors, Metric::InnerProduct, 8).unwrap();
    // The layout is written out, as that of a table.
    let text = golden("search-shape.json", &{
        serde_json::to_vec_pretty(&SearchShape::plan(&table, &SearchSpec::default()).unwrap()).unwrap()
    });
    let shape: SearchShape = serde_json::from_slice(&text).unwrap();
    assert_eq!(serde_json::to_vec_pretty(&shape).unwrap(), text);
    let client = SearchClient::generate(&shape, &mut rng).unwrap();
    let keys = client.evaluation_keys(&mut rng).unwrap();
    let files = SearchFiles::new(&shape).unwrap();
    let asked = shape.quantise(&Vectors::new(Values::I8(&[1, -2, 3, -4]), 4).unwrap()).unwrap();
    let made = client.query(&asked, &mut rng).unwrap();
    let stored = golden("search-query-named.bin", &to_bytes(&files, &made).unwrap());
    let query: SearchQuery = from_bytes(&files, &stored).unwrap();
    assert_eq!(*to_bytes(&files, &query).unwrap(), stored);
    let go_on = |_: usize, _: usize| std::ops::ControlFlow::Continue(());
    let server = SearchServer::new(VectorTable::prepare(&table, &shape, &go_on).unwrap());
    let answer = server.answer(&keys, &query).unwrap();
    let stored = golden("search-answer-named.bin", &to_bytes(&files, &answer).unwrap());
    assert_eq!(*to_bytes(&files, &answer).unwrap(), stored, "the arithmetic is the same everywhere");
    let answer: SearchAnswer = from_bytes(&files, &stored).unwrap();
    assert_eq!(*to_bytes(&files, &answer).unwrap(), stored);
    assert_eq!(client.scores(&answer).unwrap(), [table.scores(&asked, 0)]);
    assert_eq!(
        client.nearest(&answer, &asked, 1).unwrap()[0][0].integer,
        table.scores(&asked, 0).into_iter().max().unwrap()
    );
}
