//! Retrieves rows in portions, for tables in which a few rows are much longer than the others.
//!
//! A long row is stored as several *portions* (a schema calls them fragments in tables by key, pieces in
//! tables by number). A query for whole rows asks for as many portions as the longest row has, so that it
//! does not reveal the length of the row. One row of a megabyte therefore makes every query of the table
//! megabytes long. A client that may reveal the approximate length of its rows asks in turns instead:
//!
//! ```text
//! turn 0: portion 0 of every wanted row
//! turn k: portions 2^{k−1} .. 2^k − 1 of those wanted rows that are longer
//! ```
//!
//! **Warning.** The server sees how many rows each turn asks for. So it learns the lengths of the wanted
//! rows, in portions rounded up to a power of two. It does not see which rows of the table they are.

use std::ops::{Deref, Range};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::portions::{Portion, Portions};
use crate::query::Query;
use crate::query_name::Wanted;

/// Rows that are asked for in turns: [`Client::in_portions`]. `C` is how the client is held, `&Client`
/// or `Arc<Client>`.
#[derive(Debug, Clone)]
pub struct Gathering<C> {
    client: C,
    wanted: Wanted,
    rows: Vec<Portion>,
    /// Numbers of the rows that are not whole.
    open: Vec<usize>,
    next: Range<usize>,
}

impl Client {
    /// Asks for rows in portions: short rows cost little beside long ones of the same table, and the
    /// server learns for each row the number of its portions, rounded up to a power of two. A query
    /// for whole rows ([`Self::query`]) reveals nothing about their lengths.
    ///
    /// # Errors
    /// Those of [`Self::query`] come with the first [`Gathering::query`].
    pub fn in_portions(&self, wanted: Wanted) -> Gathering<&Self> {
        Gathering::new(self, wanted)
    }
}

impl<C: Deref<Target = Client>> Gathering<C> {
    /// As [`Client::in_portions`], with a client that it keeps.
    pub fn new(client: C, wanted: Wanted) -> Self {
        let rows = vec![Portion::default(); wanted.count()];
        let open = (0..rows.len()).collect();
        Self { client, wanted, rows, open, next: 0..1 }
    }

    /// The rows that are not whole.
    fn open(&self) -> Wanted {
        match &self.wanted {
            Wanted::Keys(keys) => Wanted::Keys(self.open.iter().map(|&row| keys[row].clone()).collect()),
            Wanted::Rows(rows) => Wanted::Rows(self.open.iter().map(|&row| rows[row]).collect()),
        }
    }

    /// How many rows are asked for in the next turn; 0 when all are there.
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// The query of the next turn; none when all rows are there.
    ///
    /// # Errors
    /// As [`Client::query`].
    pub fn query(&self) -> Result<Option<Query>> {
        // The first one is made even of no rows: it says what is wrong with that.
        if self.open.is_empty() && self.next.start > 0 {
            return Ok(None);
        }
        self.client.query_portions(&Portions::some(&self.open(), &self.next)).map(Some)
    }

    /// Takes up the answer to the query of this turn.
    ///
    /// # Errors
    /// As [`Client::read`].
    pub fn read(&mut self, answer: &Answer) -> Result<()> {
        let wanted = self.open();
        let mut found: Vec<Portion> = self.open.iter().map(|&row| self.rows[row].clone()).collect();
        self.client.append(answer, &Portions::some(&wanted, &self.next), &mut found)?;
        for (&row, portion) in self.open.iter().zip(found) {
            self.rows[row] = portion;
        }
        self.open.retain(|&row| self.rows[row].more == Some(true));
        let (end, most) = (self.next.end, self.client.schema().portions());
        if end >= most && !self.open.is_empty() {
            return Err(Error::BadRow);
        }
        self.next = end..(2 * end).min(most);
        Ok(())
    }

    /// The rows, when all are there; none for a key that is not.
    ///
    /// # Errors
    /// [`Error::BadRow`] while some are not whole.
    pub fn rows(self) -> Result<Vec<Option<Vec<u8>>>> {
        // A row that was not asked for yet is not one that is not there.
        if !self.open.is_empty() {
            return Err(Error::BadRow);
        }
        let contents = &self.client.schema().contents;
        self.rows.into_iter().map(|row| row.finish(contents)).collect()
    }
}
