//! The server's side of a search: computes encrypted scores from encrypted queries.

use rayon::prelude::*;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::{KeyId, check_same_keys};

use super::shape::SearchShape;
use super::table::VectorTable;
use crate::answer::Part;
use crate::error::{Error, Result};
use crate::evaluate::SELECTIONS_PER_PASS;
use crate::expand::expand;
use crate::query::Seeded;
use crate::query_name::QueryName;
use crate::setting::{N, PRIMES};
use crate::switch::U32Keys;
use crate::tiles::{Tile, scan_all};
use crate::u32_ciphertext::U32Ciphertext;

/// Some encrypted vectors of one client.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    pub(super) key: KeyId,
    /// The hash of the shape that they were made for.
    pub(super) shape: [u8; 32],
    /// What an answer carries back.
    pub(super) name: QueryName,
    /// The ciphertexts of each vector.
    pub(super) vectors: Vec<Vec<Seeded>>,
}

impl SearchQuery {
    /// The key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// How many vectors.
    pub fn count(&self) -> usize {
        self.vectors.len()
    }
}

/// The encrypted scores of all vectors of a table, for each vector of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchAnswer {
    pub(super) key: KeyId,
    pub(super) shape: [u8; 32],
    /// That of the query.
    pub(super) name: QueryName,
    /// One part for each column, of each query.
    pub(super) parts: Vec<Vec<Part>>,
}

impl SearchAnswer {
    /// The key pair.
    pub fn key_id(&self) -> KeyId {
        self.key
    }

    /// How many queries it answers.
    pub fn count(&self) -> usize {
        self.parts.len()
    }
}

/// A table that answers.
#[derive(Debug)]
pub struct SearchServer {
    table: VectorTable,
    hash: [u8; 32],
}

/// Bytes of scanned ciphertexts that are held at once.
const HELD: usize = 1 << 29;

impl SearchServer {
    /// Of a prepared table.
    pub fn new(table: VectorTable) -> Self {
        Self { hash: table.shape().hash(), table }
    }

    /// The public shape.
    pub fn shape(&self) -> &SearchShape {
        self.table.shape()
    }

    /// The prepared table.
    pub fn table(&self) -> &VectorTable {
        &self.table
    }

    /// The answer to one client's query.
    ///
    /// # Errors
    /// As [`Self::answer_all`].
    pub fn answer(&self, keys: &EvaluationKeys, query: &SearchQuery) -> Result<SearchAnswer> {
        Ok(self.answer_all(&[(keys, query)])?.remove(0))
    }

    /// The answers to several clients' queries: one pass through the table for every 16 vectors
    /// together, fewer where their scores would fill half a gigabyte.
    ///
    /// Cost: [`SearchShape::seconds`] for each vector, of which those of the products are shared in
    /// part.
    ///
    /// # Errors
    /// [`Error::OtherTable`]; [`Error::OtherKeyPair`]; [`Error::MissingKey`]; [`Error::Mismatch`];
    /// [`Error::OutOfMemory`].
    pub fn answer_all(&self, queries: &[(&EvaluationKeys, &SearchQuery)]) -> Result<Vec<SearchAnswer>> {
        let mut answers = Vec::with_capacity(queries.len());
        for (keys, query) in queries {
            self.check(keys, query)?;
            let parts = Vec::with_capacity(query.vectors.len());
            answers.push(SearchAnswer { key: query.key, shape: self.hash, name: query.name, parts });
        }
        let all: Vec<(usize, &Vec<Seeded>)> = queries
            .iter()
            .enumerate()
            .flat_map(|(number, (_, query))| query.vectors.iter().map(move |vector| (number, vector)))
            .collect();
        let each = self.shape().columns() * 2 * PRIMES * N * size_of::<u64>();
        for group in all.chunks((HELD / each).clamp(1, SELECTIONS_PER_PASS)) {
            let tile = |(number, vector): &(usize, &Vec<Seeded>)| self.tile(queries[*number].0, vector);
            let tiles = group.iter().map(tile).collect::<Result<Vec<Tile>>>()?;
            for ((number, _), scores) in group.iter().zip(self.scan(&tiles)?) {
                answers[*number].parts.push(scores);
            }
        }
        Ok(answers)
    }

    fn check(&self, keys: &EvaluationKeys, query: &SearchQuery) -> Result<()> {
        if query.shape != self.hash {
            return Err(Error::OtherTable { what: "the query" });
        }
        let id = keys.key_id().ok_or(Error::MissingKey { what: "every key" })?;
        check_same_keys("answer a query", id, query.key)?;
        let expected = self.shape().layout.ciphertexts;
        match query.vectors.iter().find(|vector| vector.len() != expected) {
            Some(vector) => Err(Error::Mismatch { what: "the query", got: vector.len(), expected }),
            None => Ok(()),
        }
    }

    /// The rows that the table meets, out of the ciphertexts of one vector.
    fn tile(&self, keys: &EvaluationKeys, ciphertexts: &[Seeded]) -> Result<Tile> {
        let (setting, layout) = (self.table.setting(), self.shape().layout);
        let keys = U32Keys::new(setting, keys, layout.depth())?;
        let all = vec![true; layout.rows];
        let expanded = |seeded: &Seeded| expand(setting, &keys, seeded.expand(setting), &all);
        let rows = ciphertexts.par_iter().map(expanded).collect::<Result<Vec<Vec<U32Ciphertext>>>>()?;
        Tile::new(setting, &rows.into_iter().flatten().collect::<Vec<U32Ciphertext>>())
    }

    /// The scores of every column for some queries.
    fn scan(&self, tiles: &[Tile]) -> Result<Vec<Vec<Part>>> {
        let (setting, shape) = (self.table.setting(), self.shape());
        let scanned = scan_all(setting, &self.table.segments(), 0..shape.columns(), tiles)?;
        let part = |(column, scores): (usize, U32Ciphertext)| {
            Part::with_addends(setting, shape.message_bits, self.table.places(column), scores)
        };
        Ok(scanned.map(|columns| columns.into_par_iter().enumerate().map(part).collect()).collect())
    }
}
