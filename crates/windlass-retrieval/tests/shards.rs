//! Tables that are cut into shards: the answer of one machine, bit for bit, and nothing else.

use proptest::prelude::*;
use windlass::wire::{FieldReader, Wire, from_bytes, to_bytes, to_payload};
use windlass_retrieval::bounds::Errors;
use windlass_retrieval::*;
use windlass_rlwe::evaluation::EvaluationKeys;

/// A matrix of polynomials with as many message bits as its bound allows.
fn shape_of(moduli: Moduli, rows: usize, columns: usize, record_coefficients: usize, selections: usize) -> Shape {
    let (gadget, records) = (SelectorGadget { digits: 3, base_bits: 1 }, N / record_coefficients);
    let mut shape = Shape { moduli, message_bits: 1, rows, columns, record_coefficients, records, selections, gadget };
    let errors = Errors::of(&Setting::new(moduli).unwrap());
    (shape.message_bits, shape.gadget) = errors.message_bits(&shape.expansion(), shape.selectors(), 3).unwrap();
    shape
}

/// A plan of this shape, not that of a planner.
fn plan_of(shape: Shape, contents: Contents) -> Plan {
    let mut plan = Plan::rows(RowStatistics::of(&[b"row"]).unwrap(), &TableRequirements::default()).unwrap();
    (plan.schema.shape, plan.schema.contents) = (shape, contents);
    Schema::from_json(&plan.schema.to_json()).unwrap();
    plan
}

/// Rows by number that fill a matrix, each as long as a record allows.
fn table_of(shape: Shape) -> (Table, Vec<Vec<u8>>) {
    let (count, bytes) =
        (shape.polynomials() * shape.records, shape.record_coefficients * shape.message_bits as usize / 8);
    let rows: Vec<Vec<u8>> = (0..count).map(|i| (0..bytes).map(|j| (i * 31 + j * 7) as u8).collect()).collect();
    let contents = Contents::Rows(Rows { count, bytes, fixed: true, pieces: 1 });
    (Table::of_rows(&plan_of(shape, contents), &rows, &unobserved).unwrap(), rows)
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

    fn part(&self, table: &Table, shard: Shard, query: &Query) -> PartialAnswer {
        table.answer_part(shard, &[(&self.keys, query)]).unwrap().remove(0)
    }

    fn parts(&self, table: &Table, count: usize, query: &Query) -> Vec<PartialAnswer> {
        table.shards(count).unwrap().into_iter().map(|shard| self.part(table, shard, query)).collect()
    }

    fn combine(&self, table: &Table, query: &Query, parts: &[PartialAnswer]) -> Result<Answer> {
        let answers = combine(table.setting(), table.schema(), &[((&self.keys, query), parts)]);
        answers.map(|mut answers| answers.remove(0))
    }
}

#[test]
fn shards_have_all_columns_in_blocks_of_one_power_of_two() {
    for (columns, possible) in [
        (1, vec![1]),
        (2, vec![1]),
        (3, vec![1, 2]),
        (8, vec![1, 2, 4]),
        (11, vec![1, 2, 3, 6]),
        (345, vec![1, 2, 3, 6, 11, 22, 44, 87, 173]),
    ] {
        let shape = shape_of(Moduli::Compact, 5, columns, 700, 1);
        for count in 0..=columns + 1 {
            match Shard::plan(&shape, count) {
                Ok(shards) => {
                    assert!(possible.contains(&count) && shards.len() == count, "{columns} in {count}");
                    assert_eq!(
                        shards.iter().flat_map(|shard| shard.columns()).collect::<Vec<_>>(),
                        Vec::from_iter(0..columns)
                    );
                    for (index, shard) in shards.iter().enumerate() {
                        let range = shard.columns();
                        assert_eq!((shard.index(), shard.count()), (index, count));
                        assert!(range.start.is_multiple_of(range.len().next_power_of_two()), "{range:?} is aligned");
                        assert!(range.start.is_multiple_of(2) && !range.is_empty());
                        assert!(range.len() == shards[0].columns().len() || index + 1 == count);
                    }
                }
                Err(error) => {
                    assert!(!possible.contains(&count), "{columns} in {count}");
                    assert_eq!(error, Error::NoShards { columns, asked: count, possible: possible.clone() });
                }
            }
        }
    }
}

#[test]
fn the_parts_of_any_number_of_shards_come_to_the_answer_of_one_machine() {
    for shape in [
        shape_of(Moduli::Compact, 3, 1, N, 1),
        shape_of(Moduli::Compact, 2, 1, 700, 2),
        shape_of(Moduli::Wide, 2, 2, N, 1),
        shape_of(Moduli::Compact, 1, 7, 1000, 2),
        shape_of(Moduli::Wide, 1, 8, 300, 1),
        shape_of(Moduli::Compact, 4, 13, N, 1),
    ] {
        let columns = shape.columns;
        let (table, rows) = table_of(shape);
        let (asker, other) = (Asker::of(&table), Asker::of(&table));
        let wanted: Vec<usize> = (0..19).map(|k| (rows.len() - 1) * k / 18).collect();
        let (query, one) = (asker.client.query_rows(&wanted).unwrap(), other.client.query_rows(&[1]).unwrap());
        let queries = [(&asker.keys, &query), (&other.keys, &one)];
        let whole = table.answer_all(&queries).unwrap();
        assert_eq!(asker.client.rows(&whole[0], &wanted).unwrap()[3], rows[wanted[3]]);
        let context = TableContext::new(table.setting(), table.schema());
        let mut tried = 0;
        for count in 1..=columns {
            let Ok(shards) = table.shards(count) else { continue };
            let mut parts = [Vec::new(), Vec::new()];
            // In another order than that of the shards, and through bytes.
            for shard in shards.into_iter().rev() {
                for (parts, part) in parts.iter_mut().zip(table.answer_part(shard, &queries).unwrap()) {
                    assert_eq!((part.shard(), part.version()), (shard, &[0; 32]));
                    let bytes = to_bytes(&context, &part).unwrap();
                    parts.push(from_bytes::<_, PartialAnswer>(&context, &bytes).unwrap());
                }
            }
            let asked = [(queries[0], &parts[0][..]), (queries[1], &parts[1][..])];
            let combined = combine(table.setting(), table.schema(), &asked).unwrap();
            assert_eq!(combined, whole, "{columns} columns in {count} blocks");
            tried += 1;
        }
        assert_eq!(tried, columns.next_power_of_two().ilog2().max(1), "every number there is");
    }
}

#[test]
fn shards_of_a_directory_read_their_pieces_and_tell_its_version() {
    let dir = tempfile::tempdir().unwrap();
    let (small, rows) = table_of(shape_of(Moduli::Compact, 3, 12, N, 1));
    let create = || Table::create_rows(dir.path(), small.schema(), &rows, &unobserved);
    let table = create().unwrap();
    let asker = Asker::of(&table);
    let query = asker.client.query_rows(&[0, 17, 35]).unwrap();
    let before = asker.parts(&table, 3, &query);
    assert_eq!(before[0].version(), &Table::fingerprint(dir.path()).unwrap());
    assert_eq!(asker.combine(&table, &query, &before), table.answer(&asker.keys, &query));
    // Copies that change apart.
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap()) {
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    let set = |dir: &std::path::Path, byte: u8| {
        Table::change_rows(dir, &[RowChange::Set(17, vec![byte; rows[0].len()])], &unobserved).unwrap()
    };
    let (changed, otherwise) = (set(dir.path(), 9), set(copy.path(), 8));
    let after = asker.parts(&changed, 3, &query);
    assert_eq!(after[0].version(), &Table::fingerprint(dir.path()).unwrap());
    assert_ne!(before[0].version(), after[0].version());
    for others in [&before, &asker.parts(&otherwise, 3, &query)] {
        let mixed = [others[0].clone(), after[1].clone(), others[2].clone()];
        let refused = asker.combine(&table, &query, &mixed);
        assert_eq!(refused, Err(Error::ForeignPart { index: 1, what: "version of the table" }));
    }
    let answer = asker.combine(&table, &query, &after).unwrap();
    assert_eq!(
        asker.client.rows(&answer, &[0, 17, 35]).unwrap(),
        [rows[0].clone(), vec![9; rows[0].len()], rows[35].clone()]
    );
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let (table, _) = table_of(shape_of(Moduli::Compact, 2, 8, N, 1));
    let (asker, other) = (Asker::of(&table), Asker::of(&table));
    let [query, again] = [(); 2].map(|()| asker.client.query_rows(&[3]).unwrap());
    let parts = asker.parts(&table, 4, &query);
    let refused = |parts: &[PartialAnswer]| asker.combine(&table, &query, parts).unwrap_err();
    assert_eq!(refused(&[]), Error::NoParts);
    assert_eq!(refused(&parts[..3]), Error::MissingPart { index: 3, count: 4 });
    let with = |part: PartialAnswer| [&parts[..1], &[part], &parts[2..]].concat();
    assert_eq!(refused(&with(parts[3].clone())), Error::DoubledPart { index: 3, count: 4 });
    assert_eq!(refused(&[&parts[..], &parts[..1]].concat()), Error::DoubledPart { index: 0, count: 4 });
    let shard = table.shards(4).unwrap()[1];
    let foreign = |what| Error::ForeignPart { index: 1, what };
    assert_eq!(refused(&with(asker.part(&table, shard, &again))), foreign("query"));
    let half = table.shards(2).unwrap()[1];
    assert_eq!(refused(&with(asker.part(&table, half, &query))), foreign("number of shards"));
    let stranger = other.part(&table, shard, &other.client.query_rows(&[3]).unwrap());
    assert!(matches!(refused(&with(stranger)), Error::OtherKeyPair(_)));
    let (elsewhere, _) = table_of(shape_of(Moduli::Wide, 2, 8, N, 1));
    let there = Asker::of(&elsewhere);
    let part = there.part(&elsewhere, elsewhere.shards(4).unwrap()[1], &there.client.query_rows(&[3]).unwrap());
    assert_eq!(refused(&with(part)), Error::OtherTable { what: "the part of a shard" });
    // Keys and queries are looked at before anything is computed.
    let keys = combine(table.setting(), table.schema(), &[((&there.keys, &query), &parts)]);
    assert_eq!(keys, Err(Error::OtherTable { what: "the set of evaluation keys" }));
    let keys = combine(table.setting(), table.schema(), &[((&other.keys, &query), &parts)]);
    assert!(matches!(keys, Err(Error::OtherKeyPair(_))));
    let (wider, _) = table_of(shape_of(Moduli::Compact, 2, 12, N, 1));
    let shard = wider.shards(3).unwrap()[2];
    let part = table.answer_part(shard, &[(&asker.keys, &query)]);
    assert_eq!(part.unwrap_err(), Error::OtherTable { what: "the shard" });
}

#[test]
fn damaged_parts_are_refused_or_other_parts() {
    let (table, _) = table_of(shape_of(Moduli::Compact, 2, 5, N, 1));
    let asker = Asker::of(&table);
    let query = asker.client.query_rows(&[2]).unwrap();
    let part = asker.parts(&table, 3, &query).remove(1);
    let context = TableContext::new(table.setting(), table.schema());
    let payload = to_payload(&context, &part);
    let again = |payload: &[u8]| {
        let part = PartialAnswer::decode(&context, part.key_id(), FieldReader::new(payload))?;
        Ok::<_, windlass::Error>(to_payload(&context, &part))
    };
    assert!(payload.len() as u64 <= PartialAnswer::limit(&context));
    assert!(*again(&payload).unwrap() == *payload, "one value has one encoding");
    // As if someone had forged the checksum: every bit of the fields, then some.
    const FIELDS: usize = 76;
    for at in (0..FIELDS).chain((FIELDS..payload.len()).step_by(payload.len() / 300)) {
        assert!(again(&payload[..at]).is_err(), "cut to {at} bytes");
        for bit in 0..8 {
            let mut damaged = payload.to_vec();
            damaged[at] ^= 1 << bit;
            if let Ok(back) = again(&damaged) {
                assert!(*back == *damaged, "byte {at} bit {bit}: two encodings of one value");
            }
        }
    }
    assert!(again(&[&payload[..], &[0]].concat()).is_err());
    // Sizes and numbers of shards that the table does not have; too many selections, or none.
    for (at, bad) in [(64, 0u32), (64, 4), (64, 200), (68, 3), (68, u32::MAX), (72, 0), (72, 2), (72, u32::MAX)] {
        let mut forged = payload.to_vec();
        forged[at..at + 4].copy_from_slice(&bad.to_le_bytes());
        assert!(again(&forged).is_err(), "{bad} at {at}");
    }
    let bytes = to_bytes(&context, &part).unwrap();
    for at in (0..bytes.len()).step_by(997) {
        let mut damaged = bytes.to_vec();
        damaged[at] ^= 16;
        assert!(from_bytes::<_, PartialAnswer>(&context, &damaged).is_err(), "byte {at}");
    }
    assert!(from_bytes::<_, Answer>(&context, &bytes).is_err(), "a part is no answer");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn keyed_tables_in_shards_are_maps(
        rows in prop::collection::btree_map(prop::collection::vec(any::<u8>(), 0..12), prop::collection::vec(any::<u8>(), 900..4000), 40..90),
        pick in any::<prop::sample::Index>(),
        absent in prop::collection::vec(any::<u8>(), 12..14),
    ) {
        let list: Vec<(Vec<u8>, Vec<u8>)> = rows.clone().into_iter().collect();
        let shape = shape_of(Moduli::Wide, 4, 11, N, 1);
        let layout = Keywords { count: list.len(), choices: 2, fragments: 1, fragment_bytes: 4000, seed: "00ff".to_owned(), tag_bytes: 8 };
        let table = Table::of_keywords(&plan_of(shape, Contents::Keywords(layout)), &list, &unobserved).unwrap();
        let asker = Asker::of(&table);
        let key = pick.get(&list).0.clone();
        let wanted = [&key[..], &absent];
        let query = asker.client.query_keys(&wanted).unwrap();
        let answer = asker.combine(&table, &query, &asker.parts(&table, 6, &query)).unwrap();
        let found = asker.client.rows_of_keys(&answer, &wanted).unwrap();
        prop_assert_eq!(&found[0], &rows.get(&key).cloned());
        prop_assert_eq!(&found[1], &rows.get(&absent).cloned());
    }
}
