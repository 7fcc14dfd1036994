//! Prepared tables: made from rows, in memory or in a directory, and used by queries.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use windlass_rlwe::check_same_keys;
use windlass_rlwe::evaluation::EvaluationKeys;

use crate::answer::Answer;
use crate::error::{Error, Result, printable};
use crate::evaluate::answer;
use crate::keywords::{Entry, write_bin};
use crate::mask::Mask;
use crate::padding::Padding;
use crate::placement::{bins_of, entries_of, refuse_duplicates};
use crate::plan::Plan;
use crate::query::Query;
use crate::schema::{Contents, Schema};
use crate::setting::{N, Setting};
use crate::shape::{Shape, setting_of};
use crate::tiles::Segment;

/// Told how many of how many pieces are done; breaking stops the work.
pub type Observer<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + Sync + 'a;

/// An observer that does nothing.
pub fn unobserved(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Where the polynomials of a table come from.
pub(crate) trait Source {
    /// What fills them, under a schema.
    fn filler<'s>(&'s self, schema: &'s Schema) -> Result<Box<Fill<'s>>>;
}

/// Rows by number.
pub(crate) struct ByNumber<'a, R>(pub &'a [R]);

/// Rows by key.
pub(crate) struct ByKey<'a, K, R>(pub &'a [(K, R)]);

/// Writes the coefficients of the polynomial of that number.
pub(crate) type Fill<'a> = dyn Fn(usize, &mut [i64]) -> Result<()> + Sync + 'a;

/// Bytes of a piece of a prepared table, about: what is prepared at once, and again after a change.
const SEGMENT_BYTES: u64 = 64 << 20;

/// Pairs of columns in a piece.
pub(crate) fn pairs_of_segment(shape: &Shape) -> usize {
    (SEGMENT_BYTES / Segment::bytes_of(shape.rows, 1)).clamp(1, 1 << 16) as usize
}

/// The pairs of columns of each piece.
pub(crate) fn segments_of(shape: &Shape) -> Vec<usize> {
    let (pairs, most) = (shape.columns.div_ceil(2), pairs_of_segment(shape));
    (0..pairs).step_by(most).map(|from| most.min(pairs - from)).collect()
}

/// A prepared table.
#[derive(Debug)]
pub struct Table {
    pub(crate) schema: Schema,
    pub(crate) setting: Arc<Setting>,
    pub(crate) segments: Vec<Segment>,
    /// Counts the versions of a directory.
    pub(crate) revision: u64,
    /// Names the version among all that a directory ever held; zeros for a table in memory.
    pub(crate) version: [u8; 32],
}

impl Table {
    /// Prepares rows by number in memory.
    ///
    /// # Errors
    /// [`Error::RowTooLong`], [`Error::OutOfMemory`]; [`Error::Cancelled`] if the observer
    /// breaks.
    pub fn of_rows<R: AsRef<[u8]> + Sync>(plan: &Plan, rows: &[R], observer: &Observer<'_>) -> Result<Self> {
        let setting = setting_of(&plan.schema.shape)?;
        Self::fill(&plan.schema, &setting, &*ByNumber(rows).filler(&plan.schema)?, observer)
    }

    /// Prepares rows by key in memory.
    ///
    /// # Errors
    /// As [`Self::of_rows`]; [`Error::DuplicateKey`]; [`Error::Full`] if the bins do not take all
    /// entries: plan with more slack, or another seed.
    pub fn of_keywords<K, R>(plan: &Plan, rows: &[(K, R)], observer: &Observer<'_>) -> Result<Self>
    where
        K: AsRef<[u8]> + Sync,
        R: AsRef<[u8]> + Sync,
    {
        let setting = setting_of(&plan.schema.shape)?;
        Self::fill(&plan.schema, &setting, &*ByKey(rows).filler(&plan.schema)?, observer)
    }

    pub(crate) fn fill(
        schema: &Schema,
        setting: &Arc<Setting>,
        fill: &Fill<'_>,
        observer: &Observer<'_>,
    ) -> Result<Self> {
        let sizes = segments_of(&schema.shape);
        let done = AtomicUsize::new(0);
        let make = |index: usize| {
            let segment = make_segment(setting, schema, index, fill)?;
            report(&done, sizes.len(), observer)?;
            Ok(segment)
        };
        let segments = (0..sizes.len()).into_par_iter().map(make).collect::<Result<_>>()?;
        Ok(Self { schema: schema.clone(), setting: Arc::clone(setting), segments, revision: 0, version: [0; 32] })
    }

    /// The public description.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The ring and the moduli.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// The number of its version in the directory: it grows with every change. 0 in memory.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Names the version among all that a directory ever held, as [`Self::fingerprint`]; zeros for
    /// a table in memory.
    pub fn version(&self) -> &[u8; 32] {
        &self.version
    }

    /// The sum of all words of the prepared table: reads it once, as every scan must.
    pub fn read_all(&self) -> u64 {
        let sum = |segment: &Segment| {
            let words: &[u64] = bytemuck::cast_slice(segment.bytes());
            words.iter().fold(0, |sum: u64, &word| sum.wrapping_add(word))
        };
        self.segments.iter().map(sum).fold(0, u64::wrapping_add)
    }

    /// Looks whether a query can be answered with these keys, before anything is computed.
    ///
    /// # Errors
    /// [`Error::OtherTable`], [`Error::MissingKey`], [`Error::OtherKeyPair`].
    pub fn check(&self, keys: &EvaluationKeys, query: &Query) -> Result<()> {
        check_queries(&self.setting, self.schema.hash(), &[(keys, query)])?;
        let shape = &self.schema.shape;
        if shape.elements().into_iter().any(|element| keys.galois(element).is_none()) {
            return Err(Error::MissingKey { what: "an automorphism of the expansion" });
        }
        if shape.selectors() > 0 && keys.relinearisation().is_none() {
            return Err(Error::MissingKey { what: "the relinearisation key" });
        }
        let id = keys.key_id().ok_or(Error::MissingKey { what: "every key" })?;
        Ok(check_same_keys("answer a query", id, query.key)?)
    }

    /// The answer to a query, with the keys of its client.
    ///
    /// # Errors
    /// As [`Self::answer_all`].
    pub fn answer(&self, keys: &EvaluationKeys, query: &Query) -> Result<Answer> {
        Ok(self.answer_all(&[(keys, query)])?.remove(0))
    }

    /// The answers to queries of any number of clients, in one pass through the table for every
    /// sixteen rows that are asked for.
    ///
    /// # Errors
    /// [`Error::MissingKey`], [`Error::OtherKeyPair`]; [`Error::OtherTable`] for a query or keys of
    /// other moduli; [`Error::OutOfMemory`] for what grows with the table or with what is asked.
    /// (Where there is no memory for a single ciphertext, the process ends.)
    pub fn answer_all(&self, queries: &[(&EvaluationKeys, &Query)]) -> Result<Vec<Answer>> {
        check_queries(&self.setting, self.schema.hash(), queries)?;
        let segments: Vec<&Segment> = self.segments.iter().collect();
        answer(&self.setting, &self.schema.shape, &segments, queries)
    }
}

/// Refuses keys of other moduli and queries for another table than the one of this hash.
pub(crate) fn check_queries(setting: &Setting, hash: [u8; 32], queries: &[(&EvaluationKeys, &Query)]) -> Result<()> {
    let context = setting.context();
    for (keys, query) in queries {
        if !Arc::ptr_eq(keys.context(), context) {
            return Err(Error::OtherTable { what: "the set of evaluation keys" });
        }
        let foreign = |part: &crate::query::Seeded| !Arc::ptr_eq(part.first.ring(), context.ring());
        if query.table != hash || query.ciphertexts.iter().any(foreign) {
            return Err(Error::OtherTable { what: "the query" });
        }
    }
    Ok(())
}

/// Counts a piece as done; an error when the observer breaks.
pub(crate) fn report(done: &AtomicUsize, total: usize, observer: &Observer<'_>) -> Result<()> {
    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
    if observer(done, total).is_break() { Err(Error::Cancelled) } else { Ok(()) }
}

/// Piece `index` of a table.
pub(crate) fn make_segment(setting: &Setting, schema: &Schema, index: usize, fill: &Fill<'_>) -> Result<Segment> {
    let (shape, mask) = (&schema.shape, Mask::of(schema));
    let first = index * pairs_of_segment(shape) * 2;
    let pairs = segments_of(shape)[index];
    let mut segment = Segment::zeros(shape.rows, pairs)?;
    let (mut coefficients, mut scratch) = (vec![0; N], vec![0; N]);
    for column in 0..(2 * pairs).min(shape.columns - first) {
        for row in 0..shape.rows {
            let polynomial = (first + column) * shape.rows + row;
            fill(polynomial, &mut coefficients)?;
            mask.put_on(polynomial, &mut coefficients);
            segment.put(setting, row, column, &coefficients, &mut scratch);
        }
    }
    Ok(segment)
}

impl<R: AsRef<[u8]> + Sync> Source for ByNumber<'_, R> {
    fn filler<'s>(&'s self, schema: &'s Schema) -> Result<Box<Fill<'s>>> {
        let rows = self.0;
        let Contents::Rows(layout) = &schema.contents else { return Err(Error::WrongQuery { by: "key" }) };
        if rows.len() != layout.count {
            return Err(Error::Mismatch { what: "the table", got: rows.len(), expected: layout.count });
        }
        Ok(Box::new(move |polynomial, out| layout.fill(&schema.shape, rows, polynomial, out)))
    }
}

impl<K: AsRef<[u8]> + Sync, R: AsRef<[u8]> + Sync> Source for ByKey<'_, K, R> {
    fn filler<'s>(&'s self, schema: &'s Schema) -> Result<Box<Fill<'s>>> {
        fill_bins(self.0, &|row| printable(self.0[row].0.as_ref()), None, schema)
    }
}

/// Puts rows by key into bins, which padding fills up in tables whose keys are hidden. `name` is what
/// errors call the key of a row.
pub(crate) fn fill_bins<'s, K, R>(
    rows: impl AsRef<[(K, R)]> + Sync + 's,
    name: &dyn Fn(usize) -> String,
    padding: Option<Padding>,
    schema: &'s Schema,
) -> Result<Box<Fill<'s>>>
where
    K: AsRef<[u8]> + Sync + 's,
    R: AsRef<[u8]> + Sync + 's,
{
    schema.check_padding(padding.is_some())?;
    let Contents::Keywords(layout) = &schema.contents else { return Err(Error::WrongQuery { by: "number" }) };
    let got = rows.as_ref().len();
    if got != layout.count {
        return Err(Error::Mismatch { what: "the table", got, expected: layout.count });
    }
    let (shape, entries) = (&schema.shape, entries_of(layout, rows.as_ref())?);
    refuse_duplicates(&entries, name)?;
    let bins = bins_of(layout, shape, rows.as_ref(), &entries, padding.as_ref(), name)?.entries;
    // Values are cut out when a bin is written.
    Ok(Box::new(move |polynomial, out| {
        let entry = |&number: &u32| {
            let (tag, row, fragment) = entries[number as usize];
            let (value, more) = layout.fragment(rows.as_ref()[row as usize].1.as_ref(), fragment as usize);
            Entry { tag, more, value: value.to_vec() }
        };
        let mut entries: Vec<Entry> = bins[polynomial].iter().map(entry).collect();
        if let Some(padding) = &padding {
            padding.fill(layout, shape, polynomial, &mut entries);
        }
        write_bin(entries.iter(), shape.message_bits, layout.tag_bytes, out);
        Ok(())
    }))
}
