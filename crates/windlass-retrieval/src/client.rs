//! What a client does: keys, queries, rows out of answers.

use std::sync::Arc;

use windlass_rlwe::check_same_keys;
use windlass_rlwe::context::os_rng;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::keys::SecretKey;

use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::query::{Query, Selection, evaluation_keys};
use crate::schema::{Contents, Schema};
use crate::setting::Setting;

/// A client of one table: its schema and a secret key. Every query draws its randomness from the
/// operating system, so that copies of a process never share any.
///
/// A secret key serves every table with the same moduli.
#[derive(Debug)]
pub struct Client {
    schema: Schema,
    setting: Arc<Setting>,
    secret: SecretKey,
}

impl Client {
    /// A client with a fresh secret key.
    ///
    /// # Errors
    /// [`Error::Rlwe`] without randomness.
    pub fn new(schema: Schema, setting: &Arc<Setting>) -> Result<Self> {
        let mut rng = os_rng()?;
        let secret = SecretKey::generate(setting.context(), &mut rng);
        Ok(Self { schema, setting: Arc::clone(setting), secret })
    }

    /// A client with a secret key that was made before.
    ///
    /// # Errors
    /// [`Error::OtherTable`] for a key of other moduli.
    pub fn with_secret(schema: Schema, setting: &Arc<Setting>, secret: SecretKey) -> Result<Self> {
        if !Arc::ptr_eq(secret.context(), setting.context()) {
            return Err(Error::OtherTable { what: "the secret key" });
        }
        Ok(Self { schema, setting: Arc::clone(setting), secret })
    }

    /// The table's schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The ring and the moduli.
    pub fn setting(&self) -> &Arc<Setting> {
        &self.setting
    }

    /// The secret key.
    pub fn secret(&self) -> &SecretKey {
        &self.secret
    }

    /// The keys that the server needs: sent once, for any number of queries.
    ///
    /// # Errors
    /// Those of the RLWE layer.
    pub fn evaluation_keys(&self) -> Result<EvaluationKeys> {
        evaluation_keys(&self.setting, &self.schema.shape, &self.secret, &mut os_rng()?)
    }

    /// The query for some rows by number.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a row that the table does not have; [`Error::WrongQuestion`] for a
    /// table of keywords.
    pub fn query_rows(&self, rows: &[usize]) -> Result<Query> {
        self.schema.check_count(rows.len())?;
        let Contents::Rows(layout) = &self.schema.contents else { return Err(Error::WrongQuestion { by: "key" }) };
        let selections: Vec<Vec<Selection>> =
            rows.iter().map(|&row| layout.selections(&self.schema.shape, row)).collect::<Result<_>>()?;
        self.query(&selections.concat())
    }

    /// The rows of a query by number, out of its answer.
    ///
    /// # Errors
    /// [`Error::NotDecryptable`], [`Error::BadRow`]; [`Error::Mismatch`] for an answer to another
    /// number of rows; [`Error::OtherKeyPair`].
    pub fn rows(&self, answer: &Answer, rows: usize) -> Result<Vec<Vec<u8>>> {
        let Contents::Rows(layout) = &self.schema.contents else { return Err(Error::WrongQuestion { by: "key" }) };
        let messages = self.decrypt(answer, rows)?;
        let messages: Vec<&[i64]> = messages.iter().map(|messages| messages.as_slice()).collect();
        messages.chunks(layout.pieces).map(|pieces| layout.row(&self.schema.shape, pieces)).collect()
    }

    /// The query for the rows of some keys.
    ///
    /// # Errors
    /// [`Error::WrongQuestion`] for a table of rows by number; [`Error::OutOfRange`] for too many.
    pub fn query_keys<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Query> {
        self.schema.check_count(keys.len())?;
        let Contents::Keywords(layout) = &self.schema.contents else {
            return Err(Error::WrongQuestion { by: "number" });
        };
        let selections: Vec<Vec<Selection>> =
            keys.iter().map(|key| layout.selections(&self.schema.shape, key.as_ref())).collect();
        self.query(&selections.concat())
    }

    /// The rows of some keys, out of the answer to the query for them; none for a key that is not
    /// there.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub fn rows_of_keys<K: AsRef<[u8]>>(&self, answer: &Answer, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>> {
        let Contents::Keywords(layout) = &self.schema.contents else {
            return Err(Error::WrongQuestion { by: "number" });
        };
        let messages = self.decrypt(answer, keys.len())?;
        let messages: Vec<&[i64]> = messages.iter().map(|messages| messages.as_slice()).collect();
        let bins = messages.chunks(self.schema.selections());
        keys.iter().zip(bins).map(|(key, bins)| layout.row(&self.schema.shape, key.as_ref(), bins)).collect()
    }

    fn query(&self, selections: &[Selection]) -> Result<Query> {
        let query = Query::new(&self.setting, &self.schema.shape, &self.secret, selections, &mut os_rng()?)?;
        Ok(Query { table: self.schema.hash(), ..query })
    }

    fn decrypt(&self, answer: &Answer, rows: usize) -> Result<Vec<zeroize::Zeroizing<Vec<i64>>>> {
        check_same_keys("decrypt an answer", self.secret.key_id(), answer.key)?;
        if answer.table != self.schema.hash() {
            return Err(Error::OtherTable { what: "the answer" });
        }
        let (expected, got) = (rows * self.schema.selections(), answer.parts.len());
        if got != expected {
            return Err(Error::Mismatch { what: "the answer's number of selections", got, expected });
        }
        let bits = self.schema.shape.message_bits;
        answer.parts.iter().map(|part| part.decrypt(&self.setting, bits, &self.secret)).collect()
    }
}
