//! Tables whose keys are hidden: a set of which nobody learns more than the keys that it asks for.
//!
//! In a table by key an answer holds whole bins, and whoever can guess keys finds the guesses among
//! the tags. Here keys are replaced by F(key), a pseudorandom function of which the server alone has
//! the key ([`crate::OprfKey`]); clients compute it with the server's help, which does not learn the
//! key. Then
//!
//! - tags are 128 bits that nobody recognises without the server's help for that very key;
//! - a row is padded to the longest and sealed (ChaCha20-Poly1305) under a key from F(key);
//! - bins are filled up with entries of random bytes, and lie in the order of their tags: a bin does not
//!   tell how many of its entries are rows.
//!
//! So whoever asks learns the rows of those keys for which the server evaluated the function, one
//! guess each, and these can be counted. What an answer shows of other rows is that they are there.

use std::path::Path;

use rayon::prelude::*;

use crate::change::KeyChange;
use crate::error::{Error, Result};
use crate::oprf::{OUTPUT, OprfKey};
use crate::plan::Plan;
use crate::question::Wanted;
use crate::schema::Schema;
use crate::sealed::{Oprf, Padding};
use crate::shape::setting_of;
use crate::store::{create, source_of};
use crate::table::{ByKey, Observer, Source, Table};

/// Rows under F(key), sealed, and what fills bins up.
fn hide<K, R>(schema: &Schema, key: &OprfKey, rows: &[(K, R)]) -> Result<(Vec<([u8; OUTPUT], Vec<u8>)>, Padding)>
where
    K: AsRef<[u8]> + Sync,
    R: AsRef<[u8]> + Sync,
{
    let oprf = schema.oprf.as_ref().ok_or(Error::PlainKeys)?;
    oprf.check_key(key)?;
    let hide = |(name, row): &(K, R)| {
        let output = key.evaluate(name.as_ref())?;
        Ok((output, oprf.seal(&output, name.as_ref(), row.as_ref())?))
    };
    Ok((rows.par_iter().map(hide).collect::<Result<_>>()?, Padding::of(oprf, key)))
}

impl Table {
    /// Prepares rows by hidden keys in memory, as [`Self::of_keywords`].
    ///
    /// # Errors
    /// As there; [`Error::PlainKeys`] for a plan without hidden keys, [`Error::OtherOprfKey`] for one
    /// of another key.
    pub fn of_hidden<K, R>(plan: &Plan, rows: &[(K, R)], key: &OprfKey, observer: &Observer<'_>) -> Result<Self>
    where
        K: AsRef<[u8]> + Sync,
        R: AsRef<[u8]> + Sync,
    {
        let (setting, (hidden, padding)) = (setting_of(&plan.schema.shape)?, hide(&plan.schema, key, rows)?);
        let source = ByKey { rows: &hidden, padding: Some(padding) };
        Self::fill(&plan.schema, &setting, &*source.filler(&plan.schema)?, observer)
    }

    /// Prepares rows by hidden keys in a directory, as [`Self::create_keywords`].
    ///
    /// # Errors
    /// As there and as [`Self::of_hidden`].
    pub fn create_hidden<K, R>(
        dir: &Path,
        schema: &Schema,
        rows: &[(K, R)],
        key: &OprfKey,
        observer: &Observer<'_>,
    ) -> Result<Self>
    where
        K: AsRef<[u8]> + Sync,
        R: AsRef<[u8]> + Sync,
    {
        let (hidden, padding) = hide(schema, key, rows)?;
        let source = source_of(schema, hidden.iter().map(|(name, row)| [&name[..], &row[..]]));
        create(dir, schema, source, &ByKey { rows: &hidden, padding: Some(padding) }, observer)
    }

    /// Changes rows by hidden keys, as [`Self::change_keys`].
    ///
    /// # Errors
    /// As there and as [`Self::of_hidden`].
    pub fn change_hidden(dir: &Path, changes: &[KeyChange], key: &OprfKey, observer: &Observer<'_>) -> Result<Self> {
        let schema = Self::open(dir, false)?.schema().clone();
        let oprf = schema.oprf.as_ref().ok_or(Error::PlainKeys)?;
        oprf.check_key(key)?;
        let hide = |change: &KeyChange| match change {
            KeyChange::Set(name, row) => {
                let output = key.evaluate(name)?;
                Ok(KeyChange::Set(output.to_vec(), oprf.seal(&output, name, row)?))
            }
            KeyChange::Remove(name) => Ok(KeyChange::Remove(key.evaluate(name)?.to_vec())),
        };
        let hidden = changes.par_iter().map(hide).collect::<Result<Vec<_>>>()?;
        Self::change_padded(dir, &hidden, Some(&Padding::of(oprf, key)), observer)
    }

    /// Whether there is a row of this key, in a table whose keys are hidden.
    ///
    /// # Errors
    /// As [`Self::has_key`] and [`Self::of_hidden`].
    pub fn has_hidden_key(&self, name: &[u8], key: &OprfKey) -> Result<bool> {
        self.check_oprf_key(key)?;
        self.has_tag(&key.evaluate(name)?)
    }

    /// Refuses another OPRF key than the one that hides the keys of this table.
    ///
    /// # Errors
    /// [`Error::PlainKeys`], [`Error::OtherOprfKey`].
    pub fn check_oprf_key(&self, key: &OprfKey) -> Result<()> {
        self.schema().oprf.as_ref().ok_or(Error::PlainKeys)?.check_key(key)
    }
}

/// Keys of a client as the server's function hides them ([`crate::Blinding::finish`]): what is asked
/// for, and what opens the rows.
pub struct HiddenKeys<'s> {
    oprf: &'s Oprf,
    outputs: Vec<[u8; OUTPUT]>,
}

impl<'s> HiddenKeys<'s> {
    /// The keys of a table with this schema.
    ///
    /// # Errors
    /// [`Error::PlainKeys`] where keys are not hidden.
    pub fn new(schema: &'s Schema, outputs: Vec<[u8; OUTPUT]>) -> Result<Self> {
        Ok(Self { oprf: schema.oprf.as_ref().ok_or(Error::PlainKeys)?, outputs })
    }

    /// What is asked for: [`crate::Client::query`] and [`crate::Client::read`] take it.
    pub fn wanted(&self) -> Wanted {
        Wanted::Keys(self.outputs.iter().map(|output| output.to_vec()).collect())
    }

    /// The rows in sealed ones, as [`crate::Client::read`] gives them.
    ///
    /// # Errors
    /// [`Error::BadRow`] for one that does not open.
    pub fn open(&self, rows: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        let open = |(row, output): (Option<Vec<u8>>, &[u8; OUTPUT])| match row {
            None => Ok(None),
            Some(sealed) => self.oprf.open(output, &sealed).map(Some).ok_or(Error::BadRow),
        };
        rows.into_iter().zip(&self.outputs).map(open).collect()
    }
}

impl std::fmt::Debug for HiddenKeys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HiddenKeys").field("keys", &self.outputs.len()).finish_non_exhaustive()
    }
}
