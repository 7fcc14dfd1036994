//! What a server does with queries: expand, scan, choose, send back.

use rayon::prelude::*;
use windlass_rlwe::check_same_keys;
use windlass_rlwe::evaluation::EvaluationKeys;

use crate::answer::{Answer, Part};
use crate::error::{Error, Result};
use crate::expand::expand;
use crate::pair::Pair;
use crate::query::Query;
use crate::selector::{Selector, move_down, select};
use crate::setting::Setting;
use crate::shape::{Shape, index_bits};
use crate::switch::NarrowKeys;
use crate::tiles::{Segment, Tile, scan_all};

/// Selections that are scanned for together: their tiles stay in the second-level cache while a
/// piece of the table is in the first.
pub const TOGETHER: usize = 16;

/// One selection, ready for the scan and for what follows it.
struct Ready {
    tile: Tile,
    columns: Vec<Selector>,
    records: Vec<Selector>,
}

/// The answers to some queries, each with the keys of its client, in one pass through the table for
/// every [`TOGETHER`] selections.
///
/// Cost for one selection: R + ℓ·levels − 1 key switches, one scan, C − 1 external products, and
/// one for each bit of the record's number.
///
/// # Errors
/// [`Error::MissingKey`], [`Error::OtherKeyPair`]; [`Error::OutOfMemory`].
pub fn answer(
    setting: &Setting,
    shape: &Shape,
    segments: &[&Segment],
    queries: &[(&EvaluationKeys, &Query)],
) -> Result<Vec<Answer>> {
    let mut answers = Vec::with_capacity(queries.len());
    for (keys, query) in queries {
        let id = keys.key_id().ok_or(Error::MissingKey { what: "every key" })?;
        check_same_keys("answer a query", id, query.key)?;
        let (got, expected) = (query.ciphertexts.len(), query.count.div_ceil(shape.selections));
        if got != expected {
            return Err(Error::Mismatch { what: "the query's number of ciphertexts", got, expected });
        }
        let parts = Vec::with_capacity(query.count);
        answers.push(Answer { key: query.key, name: query.name, table: query.table, parts });
    }
    // Every ciphertext with the number of its query, and how many of its selections are asked for.
    let ciphertexts = queries.iter().enumerate().flat_map(|(number, (keys, query))| {
        let left = move |place: usize| (query.count - place * shape.selections).min(shape.selections);
        query.ciphertexts.iter().enumerate().map(move |(place, seeded)| (number, *keys, seeded, left(place)))
    });
    let ciphertexts: Vec<_> = ciphertexts.collect();
    for group in ciphertexts.chunks(TOGETHER / shape.selections) {
        let mut ready = Vec::new();
        let mut prepared: Option<(&EvaluationKeys, NarrowKeys<'_>)> = None;
        for (number, keys, seeded, wanted) in group {
            let (_, keys) = match &mut prepared {
                // Queries of one client follow each other.
                Some(last) if std::ptr::eq(last.0, *keys) => last,
                last => last.insert((keys, NarrowKeys::new(setting, keys, shape.depth())?)),
            };
            let selections = prepare(setting, shape, keys, seeded.expand(setting), *wanted)?;
            ready.extend(selections.into_iter().map(|selection| (*number, selection)));
        }
        let (numbers, ready): (Vec<usize>, Vec<Ready>) = ready.into_iter().unzip();
        let (tiles, selectors): (Vec<Tile>, Vec<_>) =
            ready.into_iter().map(|ready| (ready.tile, (ready.columns, ready.records))).unzip();
        let scanned = scan_all(setting, segments, shape.columns, &tiles);
        drop(tiles);
        for ((number, (columns, records)), scanned) in numbers.into_iter().zip(selectors).zip(scanned) {
            let chosen = select(setting, &columns, scanned);
            let moved = move_down(setting, &records, shape.record_coefficients, chosen);
            answers[number].parts.push(Part::new(setting, shape.message_bits, shape.sent_coefficients(), moved));
        }
    }
    Ok(answers)
}

/// The selections in one ciphertext, expanded.
fn prepare(
    setting: &Setting,
    shape: &Shape,
    keys: &NarrowKeys<'_>,
    ciphertext: Pair,
    wanted: usize,
) -> Result<Vec<Ready>> {
    let count = wanted * shape.selection_coefficients();
    let mut expanded = expand(setting, keys, ciphertext, count)?.into_iter();
    let mut ready = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        let rows: Vec<Pair> = expanded.by_ref().take(shape.rows).collect();
        let tile = Tile::new(setting, &rows)?;
        let digits = shape.gadget.digits as usize;
        let encrypted: Vec<Vec<Pair>> = (0..shape.levels()).map(|_| expanded.by_ref().take(digits).collect()).collect();
        let selector = |rows: Vec<Pair>| Selector::new(setting, keys, shape.gadget, rows);
        let mut columns: Vec<Selector> = encrypted.into_par_iter().map(selector).collect::<Result<_>>()?;
        let records = columns.split_off(index_bits(shape.columns) as usize);
        ready.push(Ready { tile, columns, records });
    }
    Ok(ready)
}
