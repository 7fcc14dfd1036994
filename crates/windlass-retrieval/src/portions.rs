//! Portions of rows: fragments of rows by key, pieces of rows by number.

use std::ops::Range;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::error::{Error, Result};
use crate::query_name::{QueryContent, Wanted};
use crate::schema::{Contents, Schema};

/// Some portions of some rows.
#[derive(Debug)]
pub(crate) struct Portions<'a> {
    pub wanted: &'a Wanted,
    pub range: Range<usize>,
    /// Whether they are asked for as whole rows: the name of such a query does not depend on
    /// portions.
    whole: bool,
}

impl<'a> Portions<'a> {
    /// All portions of some rows.
    pub fn whole(wanted: &'a Wanted, schema: &Schema) -> Self {
        Self { wanted, range: 0..schema.portions(), whole: true }
    }

    /// Some of them.
    pub fn some(wanted: &'a Wanted, range: &Range<usize>) -> Self {
        Self { wanted, range: range.clone(), whole: false }
    }
}

impl QueryContent for Portions<'_> {
    fn write(&self, code: &mut Hmac<Sha256>) {
        self.wanted.write(code);
        if self.whole {
            return;
        }
        code.update(b"p");
        [self.range.start, self.range.end].iter().for_each(|&end| code.update(&(end as u64).to_le_bytes()));
    }
}

/// What is known of a row so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Portion {
    /// The bytes of its first portions.
    pub bytes: Vec<u8>,
    /// Whether more follows; none where there is no such row.
    pub more: Option<bool>,
}

impl Portion {
    /// The row, all of which is there.
    ///
    /// # Errors
    /// [`Error::BadRow`] if it is not.
    pub fn finish(self, contents: &Contents) -> Result<Option<Vec<u8>>> {
        match (self.more, contents) {
            (None, _) => Ok(None),
            (Some(true), _) => Err(Error::BadRow),
            (Some(false), Contents::Rows(layout)) => layout.row(&self.bytes).map(Some),
            (Some(false), Contents::Keywords(_)) => Ok(Some(self.bytes)),
        }
    }
}
