//! The client's side of a search: encrypts query vectors and finds the nearest vectors in an
//! answer.

use std::sync::Arc;

use rand_core::RngCore;
use rayon::prelude::*;
use windlass_rlwe::check_same_keys;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::keys::SecretKey;
use zeroize::Zeroizing;

use super::quantised_query::QuantisedQuery;
use super::server::{SearchAnswer, SearchQuery};
use super::shape::SearchShape;
use crate::answer::Part;
use crate::error::{Error, Result};
use crate::query::Seeded;
use crate::query_name::Namer;
use crate::setting::{PRIMES, Setting};

/// A vector of the table, and how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its number.
    pub index: usize,
    /// The score of the integers, exact: X·Q, or ‖X‖² − 2·X·Q.
    pub integer: i64,
    /// What it stands for: x·q, the cosine, or ‖x − q‖².
    pub score: f64,
}

/// A client: a secret key for tables of one shape.
#[derive(Debug)]
pub struct SearchClient {
    shape: SearchShape,
    hash: [u8; 32],
    setting: Arc<Setting>,
    secret: SecretKey,
    namer: Namer,
}

impl SearchClient {
    /// A client with a new secret key.
    ///
    /// # Errors
    /// As [`SearchShape::check`].
    pub fn generate(shape: &SearchShape, rng: &mut impl RngCore) -> Result<Self> {
        let setting = shape.setting()?;
        let secret = SecretKey::generate(setting.context(), rng);
        Ok(Self::with_secret(shape, &setting, secret))
    }

    /// A client with a key that was read in a setting.
    pub fn with_secret(shape: &SearchShape, setting: &Arc<Setting>, secret: SecretKey) -> Self {
        let namer = Namer::of(&secret);
        Self { hash: shape.hash(), shape: shape.clone(), setting: Arc::clone(setting), secret, namer }
    }

    /// The public shape.
    pub fn shape(&self) -> &SearchShape {
        &self.shape
    }

    /// The setting.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// The secret key.
    pub fn secret_key(&self) -> &SecretKey {
        &self.secret
    }

    /// The keys that a server needs: one for each step of the expansion.
    ///
    /// # Errors
    /// Those of the RLWE layer.
    pub fn evaluation_keys(&self, rng: &mut impl RngCore) -> Result<EvaluationKeys> {
        let mut keys = EvaluationKeys::of(&self.secret);
        for element in self.shape.elements() {
            keys.add_galois(&self.secret, element, PRIMES, rng)?;
        }
        Ok(keys)
    }

    /// Encrypts vectors.
    ///
    /// # Errors
    /// [`Error::WrongDimension`] for vectors that were quantised for another table.
    pub fn query(&self, queries: &QuantisedQuery, rng: &mut impl RngCore) -> Result<SearchQuery> {
        let layout = self.shape.layout;
        let mut vectors = Vec::with_capacity(queries.count());
        for number in 0..queries.count() {
            let vector = queries.sent(number);
            if vector.len() != self.shape.dimension {
                return Err(Error::WrongDimension { got: vector.len(), expected: self.shape.dimension });
            }
            let bits = (self.shape.message_bits, layout.depth());
            let encrypt = |index| {
                let values = Zeroizing::new(layout.query(vector, index));
                Seeded::of_values(&self.setting, bits, &self.secret, &values, rng)
            };
            vectors.push((0..layout.ciphertexts).map(encrypt).collect());
        }
        let name = self.namer.name(&self.hash, queries, rng);
        Ok(SearchQuery { key: self.secret.key_id(), shape: self.hash, name, vectors })
    }

    /// The scores of all vectors of the table, as integers, for each vector that was asked for:
    /// which those were is for the caller to know ([`Self::nearest`] checks it).
    ///
    /// # Errors
    /// [`Error::OtherTable`]; [`Error::OtherKeyPair`]; [`Error::Mismatch`];
    /// [`Error::NotDecryptable`].
    pub fn scores(&self, answer: &SearchAnswer) -> Result<Vec<Vec<i64>>> {
        if answer.shape != self.hash {
            return Err(Error::OtherTable { what: "the answer" });
        }
        check_same_keys("decrypt an answer", self.secret.key_id(), answer.key)?;
        let each = answer.parts.iter().enumerate();
        each.map(|(number, parts)| self.scores_of(parts).map_err(|error| error.at(number))).collect()
    }

    fn scores_of(&self, parts: &[Part]) -> Result<Vec<i64>> {
        let expected = self.shape.columns();
        if parts.len() != expected {
            return Err(Error::Mismatch { what: "the answer", got: parts.len(), expected });
        }
        let layout = self.shape.layout;
        let decrypt = |(column, part): (usize, &Part)| {
            let places = (0..self.shape.vectors_in(column)).map(|j| layout.output(j));
            part.decrypt_at(&self.setting, self.shape.message_bits, places, &self.secret)
        };
        let columns = parts.par_iter().enumerate().map(decrypt).collect::<Result<Vec<_>>>()?;
        Ok(columns.iter().flat_map(|scores| scores.iter().copied()).collect())
    }

    /// The k nearest vectors, nearest first, for each that was asked for; those of one score by
    /// their number.
    ///
    /// # Errors
    /// As [`Self::scores`]; [`Error::OtherQuery`] for an answer to other vectors, whose scores
    /// would be read in other units.
    pub fn nearest(&self, answer: &SearchAnswer, queries: &QuantisedQuery, k: usize) -> Result<Vec<Vec<Neighbour>>> {
        let scores = self.scores(answer)?;
        self.namer.check(&self.hash, queries, &answer.name)?;
        if scores.len() != queries.count() {
            return Err(Error::Mismatch { what: "the answer", got: scores.len(), expected: queries.count() });
        }
        Ok(scores.iter().enumerate().map(|(number, scores)| nearest(&self.shape, queries, number, scores, k)).collect())
    }
}

/// The k best of some scores for query `number`, best first; of equal ones the first.
pub fn nearest(
    shape: &SearchShape,
    queries: &QuantisedQuery,
    number: usize,
    scores: &[i64],
    k: usize,
) -> Vec<Neighbour> {
    let sign = if shape.metric.largest_first() { -1 } else { 1 };
    let key = |&index: &usize| (sign * scores[index], index);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let k = k.min(order.len());
    if 0 < k && k < order.len() {
        order.select_nth_unstable_by_key(k - 1, key);
    }
    order.truncate(k);
    order.sort_unstable_by_key(key);
    let neighbour = |index: usize| {
        let integer = scores[index];
        Neighbour { index, integer, score: queries.score(shape, number, integer) }
    };
    order.into_iter().map(neighbour).collect()
}
