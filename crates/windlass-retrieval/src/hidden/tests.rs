//! What lies in the bins of tables whose keys are hidden, read by a party that has the schema and
//! every answer.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use super::*;
use crate::bounds::Errors;
use crate::client::Client;
use crate::keywords::{Entry, Keywords, read_bin};
use crate::mask::Mask;
use crate::oprf::Blinding;
use crate::portions::Portions;
use crate::requirements::{RowStatistics, TableRequirements};
use crate::schema::Contents;
use crate::setting::{N, Setting};
use crate::table::{pairs_of_segment, unobserved};

fn key() -> OprfKey {
    OprfKey::from_bytes([7; 32]).unwrap()
}

fn rows(count: usize) -> Vec<(String, String)> {
    (0..count).map(|k| (format!("key {k}"), format!("row {k}{}", "x".repeat(k % 20)))).collect()
}

/// A schema for so many rows of at most 30 bytes, in so many bins.
fn schema(count: usize, choices: usize, bins: usize) -> Schema {
    let statistics = RowStatistics { count, longest: 30, fixed: false, total: 30 * count as u64 };
    let mut schema =
        Plan::hidden(statistics, &key().public(), "5eed", 1.0, &TableRequirements::default()).unwrap().schema;
    let setting = Setting::new(schema.shape.moduli).unwrap();
    let shape = &mut schema.shape;
    (shape.rows, shape.columns, shape.selections, shape.gadget.digits) = (1, bins, choices, 2);
    (shape.message_bits, shape.gadget) =
        Errors::of(&setting).message_bits(&shape.expansion(), shape.selectors(), shape.gadget.digits).unwrap();
    keywords_mut(&mut schema).choices = choices;
    // What padding follows from; so a run is like the last one.
    schema.id = "00112233445566778899aabbccddeeff".into();
    Schema::from_json(&schema.to_json()).unwrap().0
}

fn keywords_mut(schema: &mut Schema) -> &mut Keywords {
    match &mut schema.contents {
        Contents::Keywords(keywords) => keywords,
        Contents::Rows(_) => panic!("a table by key"),
    }
}

fn keywords(schema: &Schema) -> Keywords {
    keywords_mut(&mut schema.clone()).clone()
}

fn table(schema: &Schema, rows: &[(String, String)]) -> Table {
    let (schema, setting) = Schema::from_json(&schema.to_json()).unwrap();
    let key = key();
    let hidden = Hidden::new(&schema, rows, &key).unwrap();
    Table::fill(&schema, &setting, &*hidden.filler(&schema).unwrap(), &unobserved).unwrap()
}

/// The bins of a table: its polynomials without the mask, which anyone can remove.
fn bins_of(table: &Table) -> Vec<Vec<Entry>> {
    let (schema, shape) = (&table.schema, &table.schema.shape);
    assert!(shape.columns <= 2 * pairs_of_segment(shape), "one piece");
    let read = |number| {
        let mut coefficients = table.segments[0].get(&table.setting, number % shape.rows, number / shape.rows);
        Mask::of(schema).take_off(number, &mut coefficients);
        read_bin(&coefficients, shape.message_bits, keywords(schema).tag_bytes).unwrap()
    };
    (0..shape.polynomials()).map(read).collect()
}

/// Number, length, order and place of entries are the same for any contents of a table.
#[test]
fn nothing_in_a_bin_tells_rows_from_what_fills_it_up() {
    let all = rows(120);
    for (choices, count) in [(1, 2), (1, 120), (2, 2), (2, 120)] {
        let schema = schema(count, choices, 16);
        let table = table(&schema, &all[..count]);
        let (shape, keywords) = (&schema.shape, keywords(&schema));
        let sealed = schema.oprf.as_ref().unwrap().sealed_bytes();
        let slots = keywords.slots(shape.message_bits, sealed);
        assert!(16 * slots > 2 * count, "most entries are padding");
        for (bin, entries) in bins_of(&table).into_iter().enumerate() {
            assert_eq!(entries.len(), slots);
            assert!(entries.iter().all(|entry| entry.value.len() == sealed && !entry.more));
            assert!(entries.is_sorted_by_key(|entry| entry.tag));
            for entry in entries {
                let places = keywords.bins(shape, entry.tag);
                assert!(places.contains(&bin), "{choices}: an entry of bin {bin} belongs to {places:?}");
            }
        }
    }
}

/// What a client sees of the bins that it asked for, out of an answer.
#[test]
fn an_answer_holds_full_bins_whether_the_key_is_there_or_not() {
    let (all, schema) = (rows(40), schema(40, 2, 16));
    let table = table(&schema, &all);
    let client = Client::new(schema.clone(), &table.setting).unwrap();
    let blinding = Blinding::new(&["key 7", "nobody"]).unwrap();
    let outputs = blinding.finish(&key().blind_evaluate(blinding.points()).unwrap()).unwrap();
    let hidden = HiddenKeys::new(&schema, outputs).unwrap();
    let wanted = hidden.wanted();
    let answer = table.answer(&client.evaluation_keys().unwrap(), &client.query(&wanted).unwrap()).unwrap();
    let found = hidden.open(client.read(&answer, &wanted).unwrap()).unwrap();
    assert_eq!(found, [Some(all[7].1.clone().into_bytes()), None]);
    let records = client.decrypt(&answer, &Portions::whole(&wanted, &schema)).unwrap();
    let (bins, keywords) = (bins_of(&table), keywords(&schema));
    let Wanted::Keys(asked) = &wanted else { panic!("keys") };
    let places = asked.iter().flat_map(|key| keywords.bins(&schema.shape, keywords.tag(key, 0)));
    let mut looked_at = 0;
    for (record, place) in records.iter().zip(places) {
        assert_eq!(record.len(), N);
        let entries = read_bin(record, schema.shape.message_bits, keywords.tag_bytes).unwrap();
        assert_eq!(entries, bins[place]);
        looked_at += 1;
    }
    assert_eq!(looked_at, 4);
}

/// Entries as they are put into bins, without the function: outputs are random bytes here.
fn fake_bins(schema: &Schema, count: usize) -> (BTreeSet<u128>, Vec<Vec<Entry>>) {
    let mut rng = ChaCha20Rng::from_seed([11; 32]);
    let oprf = schema.oprf.as_ref().unwrap();
    let mut random = |length: usize| {
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        bytes
    };
    let rows: Vec<(Vec<u8>, Vec<u8>)> =
        (0..count).map(|_| (random(OUTPUT_BYTES), random(oprf.sealed_bytes()))).collect();
    let keywords = keywords(schema);
    let tags = rows.iter().map(|(output, _)| keywords.tag(output, 0)).collect();
    let padding = Padding::of(oprf, &key(), &schema.hash());
    let fill = fill_bins(rows, &|number| number.to_string(), Some(padding), schema).unwrap();
    let read = |number| {
        let mut coefficients = vec![0; N];
        fill(number, &mut coefficients).unwrap();
        read_bin(&coefficients, schema.shape.message_bits, keywords.tag_bytes).unwrap()
    };
    (tags, (0..schema.shape.polynomials()).map(read).collect())
}

/// Of two choices rows take the first as often as padding does, and the other bin may be any one. With
/// a public rule for bins that are equally full, two thirds of the rows of a sparse table and more lie in
/// their second bin.
#[test]
fn rows_and_padding_lie_in_either_of_their_bins_as_often() {
    const BINS: usize = 256;
    for count in [200, 2000, 6000] {
        let schema = schema(count, 2, BINS);
        let (tags, bins) = fake_bins(&schema, count);
        // For padding and rows: entries, those that lie in their first bin, and where the others point.
        let mut seen = [(0u32, 0u32, [0u32; 16]); 2];
        for (bin, entries) in bins.iter().enumerate() {
            for entry in entries {
                let (all, first, others) = &mut seen[usize::from(tags.contains(&entry.tag))];
                let places = keywords(&schema).bins(&schema.shape, entry.tag);
                if places[0] == places[1] {
                    continue;
                }
                *all += 1;
                *first += u32::from(places[0] == bin);
                others[if places[0] == bin { places[1] } else { places[0] } * 16 / BINS] += 1;
            }
        }
        assert!(seen[1].0 + BINS as u32 / 8 > count as u32, "all rows are there");
        for (all, first, others) in seen {
            let all = f64::from(all);
            assert!(all > 150.0, "{count}");
            let deviation = (f64::from(first) - all / 2.0) / (all / 4.0).sqrt();
            assert!(deviation.abs() < 4.0, "{count} rows: {first} of {all} lie in their first bin");
            let expected = all / 16.0;
            let chi: f64 = others.iter().map(|&seen| (f64::from(seen) - expected).powi(2) / expected).sum();
            assert!(chi < 50.0, "{count} rows: χ² of 15 degrees is {chi}");
        }
    }
}

/// Entries and values of all bins.
fn parts(bins: &[Vec<Entry>]) -> BTreeSet<Vec<u8>> {
    let parts = |entry: &Entry| [entry.tag.to_le_bytes().to_vec(), entry.value.clone()];
    bins.iter().flatten().flat_map(parts).collect()
}

/// One key may hide the keys of two tables: nothing links a row, or what fills up, across them. Under
/// one schema they are versions of one table, made alike.
#[test]
fn tables_of_one_key_have_nothing_in_common() {
    let (all, known) = (rows(60), schema(60, 2, 16));
    let (mut renamed, mut reseeded) = (known.clone(), known.clone());
    renamed.id = "0123456789abcdef0123456789abcdef".into();
    keywords_mut(&mut reseeded).seed = "other".into();
    let [first, again, renamed, reseeded] =
        [&known, &known, &renamed, &reseeded].map(|schema| parts(&bins_of(&table(schema, &all))));
    assert!(first == again);
    // A name alone leaves the tags of rows as they are: no plan gives two tables one seed.
    let tags: BTreeSet<Vec<u8>> = tags_of(&known, &all);
    let common: BTreeSet<_> = first.intersection(&renamed).cloned().collect();
    assert!(common == tags, "{} parts in common, {} tags", common.len(), tags.len());
    assert_eq!(first.intersection(&reseeded).count(), 0);
    let output = [5; OUTPUT_BYTES];
    let [ours, theirs] = [[1; 32], [2; 32]].map(|table| Sealing::new(known.oprf.as_ref().unwrap(), table));
    let sealed = ours.seal(&output, b"key", b"row").unwrap();
    assert_eq!(ours.open(&output, &sealed), Some(b"row".to_vec()));
    assert_eq!(theirs.open(&output, &sealed), None);
}

fn tags_of(schema: &Schema, rows: &[(String, String)]) -> BTreeSet<Vec<u8>> {
    let tag = |(name, _): &(String, String)| keywords(schema).tag(&key().evaluate(name.as_bytes()).unwrap(), 0);
    rows.iter().map(|row| tag(row).to_le_bytes().to_vec()).collect()
}

/// What fills up is stable under changes: if it were not, what stays would be rows.
#[test]
fn a_change_touches_the_entries_of_its_rows_alone() {
    let (all, schema) = (rows(60), schema(60, 2, 16));
    let dir = tempfile::tempdir().unwrap();
    let bins = |table: &Table| -> BTreeMap<u128, Vec<u8>> {
        bins_of(table).into_iter().flatten().map(|entry| (entry.tag, entry.value)).collect()
    };
    let before = bins(&Table::create_hidden(dir.path(), &schema, &all, &key(), &unobserved).unwrap());
    let change = |change: KeyChange| bins(&Table::change_hidden(dir.path(), &[change], &key(), &unobserved).unwrap());
    let set = change(KeyChange::Set(b"key 3".to_vec(), b"other".to_vec()));
    let changed = before.iter().filter(|(tag, value)| set.get(tag) != Some(value)).count();
    // The row itself, and what fills up the bin that it may have moved to.
    assert!(matches!(changed, 1 | 2) && set.len() == before.len(), "{changed} entries changed");
    let removed = change(KeyChange::Remove(b"key 3".to_vec()));
    let gone = set.keys().filter(|tag| !removed.contains_key(tag)).count();
    let kept = set.iter().filter(|(tag, value)| removed.get(tag) == Some(value)).count();
    assert_eq!((gone, kept, removed.len()), (1, before.len() - 1, before.len()));
    let back = change(KeyChange::Set(b"key 3".to_vec(), all[3].1.clone().into_bytes()));
    assert!(back.len() == before.len() && back.keys().filter(|tag| !before.contains_key(tag)).count() <= 1);
}

#[test]
fn another_number_of_rows_than_of_keys_is_refused() {
    let schema = schema(10, 1, 2);
    let hidden = HiddenKeys::new(&schema, vec![[1; OUTPUT_BYTES]; 2]).unwrap();
    for got in [0, 1, 3] {
        let told = hidden.open(vec![None; got]).unwrap_err();
        assert_eq!(told, Error::Mismatch { what: "the list of sealed rows", got, expected: 2 });
    }
    assert_eq!(hidden.open(vec![None; 2]).unwrap(), [None, None]);
    assert_eq!(hidden.open(vec![None, Some(vec![1; 62])]).unwrap_err(), Error::BadRow);
}

/// F of a key is secret, and not a name that others know.
#[test]
fn errors_name_keys_as_they_were_given() {
    let mut all = rows(300);
    let small = schema(300, 2, 2);
    let told = Hidden::new(&small, &all, &key()).unwrap().filler(&small).err().unwrap();
    assert!(matches!(&told, Error::Full { key } if key.starts_with("key ")), "{told}");
    all.truncate(20);
    all[11].0 = "key 4".into();
    let twice = schema(20, 2, 4);
    let told = Hidden::new(&twice, &all, &key()).unwrap().filler(&twice).err().unwrap();
    assert_eq!(told, Error::DuplicateKey { key: "key 4".into() });
    let dir = tempfile::tempdir().unwrap();
    let schema = schema(20, 2, 2);
    all[11].0 = "key 11".into();
    Table::create_hidden(dir.path(), &schema, &all, &key(), &unobserved).unwrap();
    let more: Vec<KeyChange> = (0..400).map(|k| KeyChange::Set(format!("new {k}").into(), Vec::new())).collect();
    let told = Table::change_hidden(dir.path(), &more, &key(), &unobserved).unwrap_err();
    assert!(matches!(&told, Error::Full { key } if key.starts_with("new ")), "{told}");
}
