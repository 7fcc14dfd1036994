//! The specification of a plan: the rows, and the limits that it must meet.

use windlass_rlwe::Limits;

use crate::error::{Error, Result};
use crate::keywords::{LONG_TAG, TAG};

/// What a plan must keep to; None is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableRequirements {
    /// Most bytes of a client's evaluation keys.
    pub keys: Option<u64>,
    /// Most bytes of the query for one row.
    pub query: Option<u64>,
    /// Most bytes of the answer for one row.
    pub answer: Option<u64>,
    /// The number of rows to reserve room for, if it is larger than the number of rows.
    pub room: Option<usize>,
    /// Bits of the tag of a key, 64 or 128; None is 128. Tables of rows by number have no tags, and
    /// tables with hidden keys have 128 bits.
    ///
    /// **Warning.** With 64 bits, anyone who may add rows can find two keys with the same tag in about 2^32
    /// hashes. The later row then replaces the earlier. No error is returned.
    pub tag_bits: Option<u32>,
}

impl TableRequirements {
    /// Bytes of a tag.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub(crate) fn tag_bytes(&self) -> Result<usize> {
        match self.tag_bits {
            Some(64) => Ok(TAG),
            None | Some(128) => Ok(LONG_TAG),
            Some(bits) => Err(Limits::only("64 or 128").refuse("the bits of a tag", bits as usize).into()),
        }
    }

    /// Refuses short tags where keys are hidden.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub(crate) fn check_hidden(&self) -> Result<()> {
        match self.tag_bytes()? {
            LONG_TAG => Ok(()),
            _ => Err(Limits::only("128, since keys are hidden").refuse("the bits of a tag", 64).into()),
        }
    }
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
