//! The specification of a plan: the rows, and the limits that it must meet.

use crate::error::{Error, Result};

/// What a plan must keep to; None is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wish {
    /// Most bytes of a client's evaluation keys.
    pub keys: Option<u64>,
    /// Most bytes of the query for one row.
    pub query: Option<u64>,
    /// Most bytes of the answer for one row.
    pub answer: Option<u64>,
    /// The number of rows to reserve room for, if it is larger than the number of rows.
    pub room: Option<usize>,
}

/// What rows are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowStatistics {
    /// How many.
    pub count: usize,
    /// Bytes of the longest.
    pub longest: usize,
    /// Whether all have that length.
    pub fixed: bool,
    /// Bytes of all.
    pub total: u64,
}

impl RowStatistics {
    /// Those of some rows.
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn of<R: AsRef<[u8]>>(rows: &[R]) -> Result<Self> {
        let lengths = || rows.iter().map(|row| row.as_ref().len());
        let longest = lengths().max().ok_or(Error::Empty)?;
        let fixed = longest > 0 && lengths().all(|length| length == longest);
        Ok(Self { count: rows.len(), longest, fixed, total: lengths().map(|length| length as u64).sum() })
    }
}
