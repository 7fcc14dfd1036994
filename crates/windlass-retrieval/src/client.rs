//! The client: keys, queries, and rows from answers.

use std::sync::Arc;

use windlass_rlwe::check_same_keys;
use windlass_rlwe::context::os_rng;
use windlass_rlwe::evaluation::EvaluationKeys;
use windlass_rlwe::keys::SecretKey;
use zeroize::Zeroizing;

use crate::answer::{Answer, Part};
use crate::error::{Error, Result};
use crate::mask::Mask;
use crate::portions::{Portion, Portions};
use crate::query::{Query, Selection, evaluation_keys};
use crate::query_name::{Namer, Wanted};
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
    namer: Namer,
    mask: Mask,
}

impl Client {
    /// A client with a fresh secret key.
    ///
    /// # Errors
    /// [`Error::Rlwe`] without randomness.
    pub fn new(schema: Schema, setting: &Arc<Setting>) -> Result<Self> {
        let mut rng = os_rng()?;
        let secret = SecretKey::generate(setting.context(), &mut rng);
        Self::with_secret(schema, setting, secret)
    }

    /// A client with a secret key that was made before.
    ///
    /// # Errors
    /// [`Error::OtherTable`] for a key of other moduli.
    pub fn with_secret(schema: Schema, setting: &Arc<Setting>, secret: SecretKey) -> Result<Self> {
        if !Arc::ptr_eq(secret.context(), setting.context()) {
            return Err(Error::OtherTable { what: "the secret key" });
        }
        let (namer, mask) = (Namer::of(&secret), Mask::of(&schema));
        Ok(Self { schema, setting: Arc::clone(setting), secret, namer, mask })
    }

    /// What names the queries of this client.
    pub(crate) fn namer(&self) -> &Namer {
        &self.namer
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

    /// The query for some rows.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a row that the table does not have, or too many rows;
    /// [`Error::WrongQuery`] for keys where the table has rows by number, or the reverse.
    pub fn query(&self, wanted: &Wanted) -> Result<Query> {
        self.query_portions(&Portions::whole(wanted, &self.schema))
    }

    /// The rows of a query, from its answer; `None` for a missing key.
    ///
    /// # Errors
    /// [`Error::OtherQuery`] for an answer to a query for anything else;
    /// [`Error::NotDecryptable`], [`Error::BadRow`]; [`Error::OtherKeyPair`],
    /// [`Error::OtherTable`].
    pub fn read(&self, answer: &Answer, wanted: &Wanted) -> Result<Vec<Option<Vec<u8>>>> {
        let mut rows = vec![Portion::default(); wanted.count()];
        self.append(answer, &Portions::whole(wanted, &self.schema), &mut rows)?;
        rows.into_iter().map(|row| row.finish(&self.schema.contents)).collect()
    }

    /// The query for portions of some rows: fragments by key, pieces by number.
    pub(crate) fn query_portions(&self, portions: &Portions<'_>) -> Result<Query> {
        let (table, mut rng) = (self.schema.hash(), os_rng()?);
        let selections = self.selections(portions)?;
        let query = Query::new(&self.setting, &self.schema.shape, &self.secret, &selections, &mut rng)?;
        Ok(Query { table, name: self.namer.name(&table, portions, &mut rng), ..query })
    }

    /// Appends the portions in an answer to what is known of the rows.
    pub(crate) fn append(&self, answer: &Answer, portions: &Portions<'_>, rows: &mut [Portion]) -> Result<()> {
        let records = self.decrypt(answer, portions)?;
        let records: Vec<&[i64]> = records.iter().map(|record| record.as_slice()).collect();
        let (shape, first) = (&self.schema.shape, portions.range.start);
        let each = self.selections_of(portions);
        for (number, (records, row)) in records.chunks(each).zip(rows).enumerate() {
            row.more = match (&self.schema.contents, portions.wanted) {
                (Contents::Rows(layout), _) => Some(layout.append(shape, records, &mut row.bytes)?),
                (Contents::Keywords(layout), Wanted::Keys(keys)) => {
                    layout.append(shape, (&keys[number], first), records, &mut row.bytes)?
                }
                (Contents::Keywords(_), Wanted::Rows(_)) => return Err(Error::WrongQuery { by: "key" }),
            };
        }
        Ok(())
    }

    /// The query for some rows by number.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn query_rows(&self, rows: &[usize]) -> Result<Query> {
        self.query(&Wanted::Rows(rows.to_vec()))
    }

    /// The rows of a query by number, out of its answer.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn rows(&self, answer: &Answer, rows: &[usize]) -> Result<Vec<Vec<u8>>> {
        Ok(self.read(answer, &Wanted::Rows(rows.to_vec()))?.into_iter().flatten().collect())
    }

    /// The query for the rows of some keys.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn query_keys<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Query> {
        self.query(&wanted_keys(keys))
    }

    /// The rows of some keys, from the answer to the query for them; `None` for a missing key.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn rows_of_keys<K: AsRef<[u8]>>(&self, answer: &Answer, keys: &[K]) -> Result<Vec<Option<Vec<u8>>>> {
        self.read(answer, &wanted_keys(keys))
    }

    /// Selections that ask for these portions of one row.
    fn selections_of(&self, portions: &Portions<'_>) -> usize {
        self.schema.selections() / self.schema.portions() * portions.range.len()
    }

    /// What is looked at for some rows, in their order.
    fn selections(&self, Portions { wanted, range, .. }: &Portions<'_>) -> Result<Vec<Selection>> {
        self.schema.check_count(wanted.count())?;
        let shape = &self.schema.shape;
        let each: Result<Vec<Vec<Selection>>> = match (&self.schema.contents, wanted) {
            (Contents::Rows(layout), Wanted::Rows(rows)) => {
                rows.iter().map(|&row| layout.selections(shape, row, range.clone())).collect()
            }
            (Contents::Keywords(layout), Wanted::Keys(keys)) => {
                Ok(keys.iter().map(|key| layout.selections(shape, key, range.clone())).collect())
            }
            (Contents::Rows(_), Wanted::Keys(_)) => Err(Error::WrongQuery { by: "number" }),
            (Contents::Keywords(_), Wanted::Rows(_)) => Err(Error::WrongQuery { by: "key" }),
        };
        Ok(each?.concat())
    }

    /// The records that an answer holds, without the table's mask.
    pub(crate) fn decrypt(&self, answer: &Answer, portions: &Portions<'_>) -> Result<Vec<Zeroizing<Vec<i64>>>> {
        check_same_keys("decrypt an answer", self.secret.key_id(), answer.key)?;
        let table = self.schema.hash();
        if answer.table != table {
            return Err(Error::OtherTable { what: "the answer" });
        }
        let selections = self.selections(portions)?;
        self.namer.check(&table, portions, &answer.name)?;
        let (expected, got) = (selections.len(), answer.parts.len());
        if got != expected {
            return Err(Error::Mismatch { what: "the list of selections of the answer", got, expected });
        }
        let (shape, each) = (&self.schema.shape, self.selections_of(portions));
        let record = |(number, (part, &selection)): (usize, (&Part, &Selection))| {
            let record = part.decrypt(&self.setting, shape.message_bits, &self.secret);
            let mut record = record.map_err(|error| error.at(number / each))?;
            record.truncate(shape.record_coefficients);
            self.mask.take_off_record(selection, &mut record);
            Ok(record)
        };
        answer.parts.iter().zip(&selections).enumerate().map(record).collect()
    }
}

fn wanted_keys<K: AsRef<[u8]>>(keys: &[K]) -> Wanted {
    Wanted::Keys(keys.iter().map(|key| key.as_ref().to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, RowStatistics, Table, TableRequirements, unobserved};

    #[test]
    fn the_row_that_does_not_decrypt_is_named() {
        let rows = [b"zero", b"one ", b"two "];
        let plan = Plan::rows(RowStatistics::of(&rows).unwrap(), &TableRequirements::default()).unwrap();
        let table = Table::of_rows(&plan, &rows, &unobserved).unwrap();
        let client = Client::new(plan.schema.clone(), table.setting()).unwrap();
        let query = client.query_rows(&[2, 0, 1]).unwrap();
        let mut answer = table.answer(&client.evaluation_keys().unwrap(), &query).unwrap();
        assert!(client.rows(&answer, &[2, 0, 1]).is_ok());
        // Half of the distance of two messages, times the secret.
        let bits = plan.schema.shape.message_bits;
        let half = 1 << (crate::bounds::answer_bits(bits) - bits - 1);
        answer.parts[1].second[0] ^= half;
        let refused = client.rows(&answer, &[2, 0, 1]).unwrap_err();
        assert_eq!(refused, Error::NotDecryptable { number: Some(1) });
        assert!(refused.to_string().contains("first at number 1 (counted from 0)"), "{refused}");
    }
}
