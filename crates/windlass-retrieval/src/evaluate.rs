//! The server's work for a query: expand, scan, choose a column, and send the result.
//!
//! A column is chosen by the bits of its number, lowest first. The lowest k bits choose within each
//! block of 2^k columns, so a machine with one block returns one ciphertext. The other bits choose
//! among the results of all blocks. [`answer`] does both. [`chosen_in`] and [`combine`] each do one
//! of the two with the same functions, so the resulting bits are the same.

use std::ops::Range;

use rayon::prelude::*;
use windlass_rlwe::check_same_keys;
use windlass_rlwe::evaluation::EvaluationKeys;

use crate::answer::{Answer, Part};
use crate::error::{Error, Result};
use crate::expand::expand;
use crate::query::Query;
use crate::selector::{Selector, move_down, select};
use crate::setting::Setting;
use crate::shape::{Shape, index_bits};
use crate::switch::U32Keys;
use crate::tiles::{Segment, Tile, scan_all};
use crate::u32_ciphertext::U32Ciphertext;

/// Selections that are scanned for together: their tiles stay in the second-level cache while a
/// piece of the table is in the first.
pub const SELECTIONS_PER_PASS: usize = 16;

/// A query with the keys of its client.
pub type KeyedQuery<'a> = (&'a EvaluationKeys, &'a Query);

/// The residues of a ciphertext: [`U32Ciphertext::words`].
pub type Residues = Vec<u32>;

/// What of each selection is expanded.
#[derive(Debug, Clone)]
struct ToExpand {
    /// The rows, for a scan.
    rows: bool,
    /// The selectors, by number: those of the column, then those of the record.
    selectors: Range<usize>,
}

/// Some selections, ready for what follows.
struct Ready {
    /// For each the number of its query, and its own in that query.
    places: Vec<(usize, usize)>,
    /// For each its rows, if they are needed.
    tiles: Vec<Tile>,
    /// For each its selectors, as far as they are needed.
    selectors: Vec<Vec<Selector>>,
}

/// The answers to some queries, each with the keys of its client, in one pass through the table for
/// every [`SELECTIONS_PER_PASS`] selections.
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
    queries: &[KeyedQuery<'_>],
) -> Result<Vec<Answer>> {
    let columns = index_bits(shape.columns) as usize;
    let to_expand = ToExpand { rows: true, selectors: 0..shape.selectors() as usize };
    let parts = groups(setting, shape, queries, &to_expand, |Ready { tiles, selectors, .. }| {
        let scanned = scan_all(setting, segments, 0..shape.columns, &tiles)?;
        drop(tiles);
        let finished = |(scanned, selectors): (Vec<U32Ciphertext>, Vec<Selector>)| {
            let chosen = select(setting, &selectors[..columns], scanned);
            finish(setting, shape, &selectors[columns..], chosen)
        };
        Ok(scanned.zip(selectors).map(finished).collect())
    })?;
    Ok(queries.iter().zip(parts).map(|((_, query), parts)| Answer::to(query, parts)).collect())
}

/// For each selection of some queries the ciphertext that the lowest bits choose within a block of
/// columns; the block has an even first number, and less than 2^bits columns only at the end.
///
/// Cost for one selection: at most R + 2ℓ·bits − 1 key switches and those of the paths to them, the
/// scan of the block, one external product for each column but the first.
///
/// # Errors
/// As [`answer`].
pub fn chosen_in(
    setting: &Setting,
    shape: &Shape,
    segments: &[&Segment],
    (block, bits): (Range<usize>, u32),
    queries: &[KeyedQuery<'_>],
) -> Result<Vec<Vec<U32Ciphertext>>> {
    let to_expand = ToExpand { rows: true, selectors: 0..bits as usize };
    groups(setting, shape, queries, &to_expand, |Ready { tiles, selectors, .. }| {
        let scanned = scan_all(setting, segments, block.clone(), &tiles)?;
        drop(tiles);
        Ok(scanned.zip(selectors).map(|(scanned, selectors)| select(setting, &selectors, scanned)).collect())
    })
}

/// The answer to a query out of what [`chosen_in`] gave for all blocks of 2^bits columns, each of
/// which has a ciphertext for each selection.
///
/// Cost for one selection: at most depth + 1 key switches for each of the selectors that are left,
/// one external product for each block but the first, and one for each bit of the record's number.
///
/// # Errors
/// As [`answer`].
pub fn combine(
    setting: &Setting,
    shape: &Shape,
    bits: u32,
    query: KeyedQuery<'_>,
    chosen: &[&[Residues]],
) -> Result<Answer> {
    let to_expand = ToExpand { rows: false, selectors: bits as usize..shape.selectors() as usize };
    let blocks = (index_bits(shape.columns) - bits) as usize;
    let mut parts = groups(setting, shape, &[query], &to_expand, |Ready { places, selectors, .. }| {
        let finished = |((_, selection), selectors): ((usize, usize), Vec<Selector>)| {
            let of_blocks = chosen.iter().map(|block| U32Ciphertext::of_words(setting, &block[selection])).collect();
            let chosen = select(setting, &selectors[..blocks], of_blocks);
            finish(setting, shape, &selectors[blocks..], chosen)
        };
        Ok(places.into_iter().zip(selectors).map(finished).collect())
    })?;
    Ok(Answer::to(query.1, parts.remove(0)))
}

/// What is sent of a column: the record moved to its front, rounded.
fn finish(setting: &Setting, shape: &Shape, records: &[Selector], chosen: U32Ciphertext) -> Part {
    let moved = move_down(setting, records, shape.record_coefficients, chosen);
    Part::new(setting, shape.message_bits, shape.sent_coefficients(), moved)
}

/// Expands what is needed of all queries, and gives it in groups of [`SELECTIONS_PER_PASS`] selections to
/// `work`; what that makes of each selection is given back by query.
fn groups<T>(
    setting: &Setting,
    shape: &Shape,
    queries: &[KeyedQuery<'_>],
    to_expand: &ToExpand,
    work: impl Fn(Ready) -> Result<Vec<T>>,
) -> Result<Vec<Vec<T>>> {
    for (keys, query) in queries {
        let id = keys.key_id().ok_or(Error::MissingKey { what: "every key" })?;
        check_same_keys("answer a query", id, query.key)?;
        let (got, expected) = (query.ciphertexts.len(), query.count.div_ceil(shape.selections));
        if got != expected {
            return Err(Error::Mismatch { what: "the list of ciphertexts of the query", got, expected });
        }
    }
    // Every ciphertext with the numbers of its query and of its first selection.
    let ciphertexts = queries.iter().enumerate().flat_map(|(number, (keys, query))| {
        let place = move |index: usize| (number, index * shape.selections);
        query.ciphertexts.iter().enumerate().map(move |(index, seeded)| (place(index), *keys, query.count, seeded))
    });
    let ciphertexts: Vec<_> = ciphertexts.collect();
    let mut made: Vec<Vec<T>> = queries.iter().map(|(_, query)| Vec::with_capacity(query.count)).collect();
    for group in ciphertexts.chunks(SELECTIONS_PER_PASS / shape.selections) {
        let mut ready = Ready { places: Vec::new(), tiles: Vec::new(), selectors: Vec::new() };
        let mut prepared: Option<(&EvaluationKeys, U32Keys<'_>)> = None;
        for ((number, first), keys, count, seeded) in group {
            let (_, keys) = match &mut prepared {
                // Queries of one client follow each other.
                Some(last) if std::ptr::eq(last.0, *keys) => last,
                last => last.insert((keys, U32Keys::new(setting, keys, shape.depth())?)),
            };
            let wanted = (count - first).min(shape.selections);
            prepare(setting, shape, (keys, seeded.expand(setting)), wanted, to_expand, &mut ready)?;
            ready.places.extend((0..wanted).map(|selection| (*number, first + selection)));
        }
        let numbers: Vec<usize> = ready.places.iter().map(|(number, _)| *number).collect();
        for (number, value) in numbers.into_iter().zip(work(ready)?) {
            made[number].push(value);
        }
    }
    Ok(made)
}

/// Adds what is needed of the selections in one ciphertext.
fn prepare(
    setting: &Setting,
    shape: &Shape,
    (keys, ciphertext): (&U32Keys<'_>, U32Ciphertext),
    wanted: usize,
    to_expand: &ToExpand,
    ready: &mut Ready,
) -> Result<()> {
    // A selection is its rows, then the digits of each of its selectors.
    let digits = shape.gadget.digits as usize;
    let one = |coefficient: usize| match coefficient.checked_sub(shape.rows) {
        None => to_expand.rows,
        Some(beyond) => to_expand.selectors.contains(&(beyond / digits)),
    };
    let each: Vec<bool> = (0..shape.selection_coefficients()).map(one).collect();
    let mut expanded = expand(setting, keys, ciphertext, &each.repeat(wanted))?.into_iter();
    for _ in 0..wanted {
        if to_expand.rows {
            let rows: Vec<U32Ciphertext> = expanded.by_ref().take(shape.rows).collect();
            ready.tiles.push(Tile::new(setting, &rows)?);
        }
        let encrypted = to_expand.selectors.clone().map(|_| expanded.by_ref().take(digits).collect());
        let encrypted: Vec<Vec<U32Ciphertext>> = encrypted.collect();
        let selector = |rows: Vec<U32Ciphertext>| Selector::new(setting, keys, shape.gadget, rows);
        ready.selectors.push(encrypted.into_par_iter().map(selector).collect::<Result<_>>()?);
    }
    Ok(())
}
