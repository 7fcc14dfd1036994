//! Tables with hidden keys. A client learns only the rows whose keys it asks for.
//!
//! In a table by key an answer holds whole bins, and a client that can guess keys finds its guesses
//! among the tags. Here keys are replaced by F(key). F is a pseudorandom function whose key only
//! the server has ([`crate::OprfKey`]). Clients compute it with the server's help, and the server
//! does not learn the key that they ask for. Then
//!
//! - tags are 128 bits, which cannot be recognised without the server's help for that very key;
//! - a row is padded to the longest length and sealed (ChaCha20-Poly1305) under a key from F(key)
//!   and the hash h of the schema;
//! - bins are filled with random entries. Their tags belong to the bin as tags of rows do, and all
//!   entries are in the order of their tags, so a bin does not reveal how many of its entries are
//!   rows.
//!
//! So a client learns the rows of those keys for which the server evaluated the function. Each
//! evaluation is one guess, and the server can count them. Of all other rows an answer shows at most
//! an estimate of their number (`padding.rs`), which the schema states anyway.
//!
//! # Versions of a table
//!
//! Tables under *one* schema share tags, since clients know nothing else of the table. They are the
//! versions of a table that changes, or of one that is built again under a known schema (`--like`).
//!
//! - *Nonces.* The h of a schema does not change when rows change, so all rows that a key ever has
//!   are sealed under one ChaCha20-Poly1305 key. The nonce is 96 bits of HMAC-SHA-256 of the row,
//!   keyed with F(key) (`sealed.rs`). The same row is therefore sealed to the same bytes. Two
//!   different rows of one key have the same nonce with probability 2^−96. Over v different rows of
//!   one key this is at most v²/2^97.
//! - *Padding.* It depends on the schema and the number of the bin only, and stays the same in all
//!   versions. Otherwise, entries that stay would be recognised as rows.
//!
//! **Warning.** An observer who compares two versions sees which entries were added, were removed,
//! have another value or moved to another bin. The last two are rows. An entry that returns to an
//! earlier value is recognised.
//!
//! Two tables that were planned with different seeds ([`crate::fresh_seed`]) have different schemas.
//! Their tags, sealed rows and padding have nothing in common, even if one key hides the keys of both.

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::change::{Edit, KeyChange};
use crate::error::{Error, Result, printable};
use crate::oprf::{OUTPUT_BYTES, OprfKey};
use crate::padding::Padding;
use crate::plan::Plan;
use crate::query_name::Wanted;
use crate::schema::Schema;
use crate::sealed::Sealing;
use crate::shape::setting_of;
use crate::store::{create, source_of};
use crate::table::{Fill, Observer, Source, Table, fill_bins};

/// How rows are sealed and bins filled up under a schema whose keys this key hides.
fn hiding<'s>(schema: &'s Schema, key: &OprfKey) -> Result<(Sealing<'s>, Padding)> {
    let oprf = schema.oprf.as_ref().ok_or(Error::PlainKeys)?;
    oprf.check_key(key)?;
    let table = schema.hash();
    Ok((Sealing::new(oprf, table), Padding::of(oprf, key, &table)))
}

/// F of some keys.
fn outputs_of(key: &OprfKey, names: Vec<&[u8]>) -> Result<Zeroizing<Vec<[u8; OUTPUT_BYTES]>>> {
    let mut outputs = Zeroizing::new(vec![[0; OUTPUT_BYTES]; names.len()]);
    let evaluate = |(output, name): (&mut [u8; OUTPUT_BYTES], &[u8])| -> Result<()> {
        *output = key.evaluate(name)?;
        Ok(())
    };
    outputs.par_iter_mut().zip(names).try_for_each(evaluate)?;
    Ok(outputs)
}

/// Rows whose keys are hidden. They are sealed when the schema is known under which the table is
/// made: a build that is continued keeps the schema that it started with.
struct Hidden<'a, K, R> {
    rows: &'a [(K, R)],
    outputs: Zeroizing<Vec<[u8; OUTPUT_BYTES]>>,
    key: &'a OprfKey,
}

impl<'a, K: AsRef<[u8]> + Sync, R: AsRef<[u8]> + Sync> Hidden<'a, K, R> {
    fn new(schema: &Schema, rows: &'a [(K, R)], key: &'a OprfKey) -> Result<Self> {
        hiding(schema, key)?;
        let outputs = outputs_of(key, rows.iter().map(|(name, _)| name.as_ref()).collect())?;
        Ok(Self { rows, outputs, key })
    }
}

impl<K: AsRef<[u8]> + Sync, R: AsRef<[u8]> + Sync> Source for Hidden<'_, K, R> {
    fn filler<'s>(&'s self, schema: &'s Schema) -> Result<Box<Fill<'s>>> {
        let (sealing, padding) = hiding(schema, self.key)?;
        let seal = |(output, (name, row)): (&'s [u8; OUTPUT_BYTES], &(K, R))| {
            Ok((output, sealing.seal(output, name.as_ref(), row.as_ref())?))
        };
        let sealed: Vec<_> = self.outputs.par_iter().zip(self.rows).map(seal).collect::<Result<_>>()?;
        fill_bins(sealed, &|number| printable(self.rows[number].0.as_ref()), Some(padding), schema)
    }
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
        let (setting, hidden) = (setting_of(&plan.schema.shape)?, Hidden::new(&plan.schema, rows, key)?);
        Self::fill(&plan.schema, &setting, &*hidden.filler(&plan.schema)?, observer)
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
        let hidden = Hidden::new(schema, rows, key)?;
        let parts = hidden.outputs.iter().zip(rows).map(|(output, (_, row))| [&output[..], row.as_ref()]);
        create(dir, schema, source_of(schema, parts), &hidden, observer)
    }

    /// Changes rows by hidden keys, as [`Self::change_keys`].
    ///
    /// # Errors
    /// As there and as [`Self::of_hidden`].
    pub fn change_hidden(dir: &Path, changes: &[KeyChange], key: &OprfKey, observer: &Observer<'_>) -> Result<Self> {
        Self::change_entries(dir, observer, |schema| {
            let (sealing, padding) = hiding(schema, key)?;
            let outputs = outputs_of(key, changes.iter().map(KeyChange::key).collect())?;
            let mut edits = Vec::with_capacity(changes.len());
            for (change, output) in changes.iter().zip(outputs.iter()) {
                let row = match change {
                    KeyChange::Set(name, row) => Some(Cow::Owned(sealing.seal(output, name, row)?)),
                    KeyChange::Remove(_) => None,
                };
                edits.push(Edit { name: change.key(), key: Zeroizing::new(output.to_vec()), row });
            }
            Ok((edits, Some(padding)))
        })
    }

    /// Whether there is a row of this key, in a table whose keys are hidden.
    ///
    /// # Errors
    /// As [`Self::has_key`] and [`Self::of_hidden`].
    pub fn has_hidden_key(&self, name: &[u8], key: &OprfKey) -> Result<bool> {
        self.check_oprf_key(key)?;
        self.has_tag(&*Zeroizing::new(key.evaluate(name)?))
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
/// for, and what opens the rows. Its memory is overwritten when it goes.
pub struct HiddenKeys<'s> {
    sealing: Sealing<'s>,
    outputs: Zeroizing<Vec<[u8; OUTPUT_BYTES]>>,
}

impl<'s> HiddenKeys<'s> {
    /// The keys of a table with this schema.
    ///
    /// # Errors
    /// [`Error::PlainKeys`] where keys are not hidden.
    pub fn new(schema: &'s Schema, outputs: Vec<[u8; OUTPUT_BYTES]>) -> Result<Self> {
        let outputs = Zeroizing::new(outputs);
        let oprf = schema.oprf.as_ref().ok_or(Error::PlainKeys)?;
        Ok(Self { sealing: Sealing::new(oprf, schema.hash()), outputs })
    }

    /// What is asked for: [`crate::Client::query`] and [`crate::Client::read`] take it.
    pub fn wanted(&self) -> Wanted {
        Wanted::Keys(self.outputs.iter().map(|output| output.to_vec()).collect())
    }

    /// The rows in sealed ones, as [`crate::Client::read`] gives them: one for each key, in the same
    /// order.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another number of rows than of keys; [`Error::BadRow`] for one that does
    /// not open.
    pub fn open(&self, rows: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        let (got, expected) = (rows.len(), self.outputs.len());
        if got != expected {
            return Err(Error::Mismatch { what: "the list of sealed rows", got, expected });
        }
        let open = |(row, output): (Option<Vec<u8>>, &[u8; OUTPUT_BYTES])| match row {
            None => Ok(None),
            Some(sealed) => self.sealing.open(output, &sealed).map(Some).ok_or(Error::BadRow),
        };
        rows.into_iter().zip(self.outputs.iter()).map(open).collect()
    }
}

impl std::fmt::Debug for HiddenKeys<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HiddenKeys").field("keys", &self.outputs.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
