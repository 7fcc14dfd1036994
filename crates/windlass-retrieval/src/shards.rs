//! Splits one table over several machines. Each holds a block of columns, and any party can combine
//! their results into the answer.
//!
//! A shard holds 2^k consecutive columns (the last shard may have fewer). It chooses among them by
//! the lowest k bits of the column number, and returns one ciphertext for each selection, at the
//! full modulus. Its work, and what it sees, are the same whether or not the row is in its block.
//! The combiner chooses among the parts of all shards by the other bits. The answer has the same
//! bits as that of one machine.

use std::ops::Range;

use sha2::{Digest, Sha256};
use windlass_rlwe::{KeyId, check_same_keys};

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::evaluate::{self, KeyedQuery, Residues};
use crate::query::Query;
use crate::schema::Schema;
use crate::setting::Setting;
use crate::shape::{Shape, index_bits};
use crate::table::{Table, check_queries};
use crate::tiles::Segment;
use crate::u32_ciphertext::U32Ciphertext;

/// A block of a table's columns: which, and of how many blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// k: the block has 2^k columns, the last one may have fewer.
    pub(crate) bits: u32,
    pub(crate) index: usize,
    /// Columns of the whole table.
    columns: usize,
}

impl Shard {
    /// All blocks of 2^bits columns. None for a size that cuts a pair of columns, which lie
    /// together in memory, or is larger than need be.
    pub(crate) fn blocks(shape: &Shape, bits: u32) -> Option<impl ExactSizeIterator<Item = Self> + use<>> {
        let (columns, most) = (shape.columns, index_bits(shape.columns));
        let count = (most.min(1)..=most).contains(&bits).then(|| columns.div_ceil(1 << bits))?;
        Some((0..count).map(move |index| Self { bits, index, columns }))
    }

    /// The blocks of a table that is cut into `count` of them.
    ///
    /// # Errors
    /// [`Error::NoShards`] where blocks of one power of two do not come to that number; it names
    /// the numbers that they come to.
    pub fn plan(shape: &Shape, count: usize) -> Result<Vec<Self>> {
        let cuts = (0..=index_bits(shape.columns)).rev().filter_map(|bits| Self::blocks(shape, bits));
        let mut possible = Vec::new();
        for blocks in cuts {
            if blocks.len() == count {
                return Ok(blocks.collect());
            }
            possible.push(blocks.len());
        }
        Err(Error::NoShards { columns: shape.columns, asked: count, possible })
    }

    /// Its number, from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.columns.div_ceil(1 << self.bits)
    }

    /// Its columns.
    pub fn columns(self) -> Range<usize> {
        let first = self.index << self.bits;
        first..self.columns.min(first + (1 << self.bits))
    }
}

/// What one shard adds to the answer to a query: for each selection the ciphertext of the column
/// that its lowest bits choose there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialAnswer {
    pub(crate) key: KeyId,
    /// The hash of the table's schema.
    pub(crate) table: [u8; 32],
    /// The version of the table, see [`Table::fingerprint`]; zeros in memory.
    pub(crate) version: [u8; 32],
    /// A hash of the query.
    pub(crate) query: [u8; 32],
    pub(crate) shard: Shard,
    pub(crate) chosen: Vec<Residues>,
}

impl PartialAnswer {
    /// The key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// Whose part it is.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// The version of the table that it was made from: parts of two versions are not combined.
    pub fn version(&self) -> &[u8; 32] {
        &self.version
    }
}

impl Table {
    /// The blocks of a table that is cut into `count` of them.
    ///
    /// # Errors
    /// As [`Shard::plan`].
    pub fn shards(&self, count: usize) -> Result<Vec<Shard>> {
        Shard::plan(&self.schema.shape, count)
    }

    /// The part of one shard of the answers to some queries, in one pass through its block for
    /// every sixteen rows that are asked for. Of a table in a directory only the pages of the block
    /// are touched.
    ///
    /// Cost: as [`Table::answer_all`], with the columns of the block for those of the table.
    ///
    /// # Errors
    /// As [`Table::answer_all`]; [`Error::OtherTable`] for the shard of another table.
    pub fn answer_part(&self, shard: Shard, queries: &[KeyedQuery<'_>]) -> Result<Vec<PartialAnswer>> {
        let (setting, shape, table) = (&self.setting, &self.schema.shape, self.schema.hash());
        let mut own = Shard::blocks(shape, shard.bits).into_iter().flatten();
        if !own.any(|own| own == shard) {
            return Err(Error::OtherTable { what: "the shard" });
        }
        check_queries(setting, table, queries)?;
        let segments: Vec<&Segment> = self.segments.iter().collect();
        let chosen = evaluate::chosen_in(setting, shape, &segments, (shard.columns(), shard.bits), queries)?;
        let part = |((_, query), chosen): (&KeyedQuery<'_>, Vec<U32Ciphertext>)| PartialAnswer {
            key: query.key,
            table,
            version: self.version,
            query: hash_of(setting, query),
            shard,
            chosen: chosen.iter().map(|chosen| chosen.words().to_vec()).collect(),
        };
        Ok(queries.iter().zip(chosen).map(part).collect())
    }
}

/// The answers to some queries, each with the keys of its client, out of the parts of all shards in
/// any order.
///
/// Cost for one selection: at most depth + 1 key switches for each bit that is left (of the number
/// of the block and of that of the record), one external product for each block but the first, and
/// one for each bit of the record's number.
///
/// # Errors
/// [`Error::NoParts`], [`Error::MissingPart`], [`Error::DoubledPart`]; [`Error::ForeignPart`] for a
/// part of another query, of another version of the table or of another number of shards,
/// [`Error::OtherKeyPair`] of another client, [`Error::OtherTable`] of another table; for keys and
/// queries as [`Table::answer_all`].
pub fn combine(
    setting: &Setting,
    schema: &Schema,
    parts_of: &[(KeyedQuery<'_>, &[PartialAnswer])],
) -> Result<Vec<Answer>> {
    let (shape, hash) = (&schema.shape, schema.hash());
    let queries: Vec<KeyedQuery<'_>> = parts_of.iter().map(|(query, _)| *query).collect();
    check_queries(setting, hash, &queries)?;
    let mut answers = Vec::with_capacity(parts_of.len());
    for ((keys, query), parts) in parts_of {
        let (bits, chosen) = in_order(setting, hash, query, parts)?;
        answers.push(evaluate::combine(setting, shape, bits, (keys, query), &chosen)?);
    }
    Ok(answers)
}

/// k, and the ciphertexts of all shards in order, after every check.
fn in_order<'p>(
    setting: &Setting,
    table: [u8; 32],
    query: &Query,
    parts: &'p [PartialAnswer],
) -> Result<(u32, Vec<&'p [Residues]>)> {
    let first = parts.first().ok_or(Error::NoParts)?;
    let (bits, count, query_hash) = (first.shard.bits, first.shard.count(), hash_of(setting, query));
    let mut chosen: Vec<Option<&[Residues]>> = vec![None; count];
    for part in parts {
        let index = part.shard.index;
        if part.table != table {
            return Err(Error::OtherTable { what: "the part of a shard" });
        }
        check_same_keys("combine parts of an answer", query.key, part.key)?;
        let differs = [
            (part.query != query_hash || part.chosen.len() != query.count, "query"),
            (part.shard.bits != bits, "number of shards"),
            (part.version != first.version, "version of the table"),
        ];
        if let Some((_, what)) = differs.into_iter().find(|(differs, _)| *differs) {
            return Err(Error::ForeignPart { index, what });
        }
        if chosen[index].replace(&part.chosen).is_some() {
            return Err(Error::DoubledPart { index, count });
        }
    }
    let present = |(index, chosen): (usize, Option<&'p [Residues]>)| chosen.ok_or(Error::MissingPart { index, count });
    Ok((bits, chosen.into_iter().enumerate().map(present).collect::<Result<_>>()?))
}

/// A hash of everything in a query.
fn hash_of(setting: &Setting, query: &Query) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"windlass query 1\n");
    hash.update(query.key.0);
    hash.update(query.name.0);
    hash.update(query.table);
    hash.update((query.count as u64).to_le_bytes());
    for seeded in &query.ciphertexts {
        hash.update(seeded.seed);
        for index in 0..setting.basis().len() {
            seeded.first.row(index).iter().for_each(|residue| hash.update(residue.to_le_bytes()));
        }
    }
    hash.finalize().into()
}
