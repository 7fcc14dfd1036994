//! The public description of a table, which a server publishes so that clients can make queries.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass::wire::from_json;
use windlass_rlwe::Limits;

use crate::error::{Error, Result, printable};
use crate::keywords::{Keywords, LONG_TAG, fresh_seed};
use crate::query::MOST_ROWS;
use crate::rows::Rows;
use crate::sealed::Oprf;
use crate::setting::Setting;
use crate::shape::{Shape, setting_of};

const FORMAT: &str = "windlass-table-schema";
const VERSION: u32 = 1;
/// The version of those whose keys are hidden.
const HIDDEN_VERSION: u32 = 3;
/// The version of those whose keys were hidden before sealed rows and padding depended on the table.
const FIRST_HIDDEN_VERSION: u32 = 2;
/// The version of those with plain keys under tags of 128 bits.
const LONG_TAG_VERSION: u32 = 4;

/// What a table holds, and how what is asked for is found in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contents {
    /// Rows by their number.
    Rows(Rows),
    /// Rows by a key.
    Keywords(Keywords),
}

impl Contents {
    /// Checks data from an untrusted party.
    pub(crate) fn check(&self, shape: &Shape) -> Result<()> {
        match self {
            Self::Rows(rows) => rows.check(shape),
            Self::Keywords(keywords) => keywords.check(shape),
        }
    }
}

/// The public description of a table. It holds no row and no key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    format: String,
    version: u32,
    /// A random name, in hexadecimal, which distinguishes tables of one layout.
    pub id: String,
    /// The layout.
    pub shape: Shape,
    /// What is in it.
    pub contents: Contents,
    /// Names of the fields of a row, where rows are encoded fields.
    pub fields: Vec<String>,
    /// The field that names a row, where there is one.
    pub key: Option<String>,
    /// How keys are hidden, where they are; such a schema has version 3. One with plain keys under tags
    /// of 128 bits has version 4, and every other one version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oprf: Option<Oprf>,
}

impl Schema {
    /// The schema of rows of bytes, under a fresh name.
    ///
    /// # Errors
    /// [`Error::Rlwe`] without randomness from the operating system.
    pub fn new(shape: Shape, contents: Contents) -> Result<Self> {
        let (format, id) = (FORMAT.to_owned(), fresh_seed()?);
        let mut schema =
            Self { format, version: VERSION, id, shape, contents, fields: Vec::new(), key: None, oprf: None };
        schema.version = schema.own_version();
        Ok(schema)
    }

    /// The one version that states such a schema.
    fn own_version(&self) -> u32 {
        match &self.contents {
            _ if self.oprf.is_some() => HIDDEN_VERSION,
            Contents::Keywords(keywords) if keywords.tag_bytes == LONG_TAG => LONG_TAG_VERSION,
            _ => VERSION,
        }
    }

    /// The schema says from now on that keys are hidden.
    pub(crate) fn hide(&mut self, oprf: Oprf) {
        self.oprf = Some(oprf);
        self.version = self.own_version();
    }

    /// Refuses to make or change a table whose keys are hidden without the key that hides them, and
    /// the reverse.
    pub(crate) fn check_padding(&self, padded: bool) -> Result<()> {
        match (self.oprf.is_some(), padded) {
            (true, false) => Err(Error::HiddenKeys),
            (false, true) => Err(Error::PlainKeys),
            _ => Ok(()),
        }
    }

    /// Reads a schema and checks all of it, since another party wrote it.
    ///
    /// # Errors
    /// [`Error::BadSchema`], or what is wrong with its numbers.
    pub fn from_json(text: &[u8]) -> Result<(Self, Arc<Setting>)> {
        let schema: Self = from_json(text).map_err(|reason| Error::BadSchema { reason })?;
        if schema.format != FORMAT || schema.version != schema.own_version() {
            let mut reason = format!("format '{}' version {}", schema.format, schema.version);
            if schema.oprf.is_some() && schema.version == FIRST_HIDDEN_VERSION {
                reason += ", and this build no longer reads its hidden keys: make a new table (windlass table build --oprf-key)";
            }
            return Err(Error::BadSchema { reason });
        }
        let setting = setting_of(&schema.shape)?;
        schema.contents.check(&schema.shape)?;
        if let Some(oprf) = &schema.oprf {
            oprf.check(match &schema.contents {
                Contents::Keywords(keywords) => Some(keywords),
                Contents::Rows(_) => None,
            })?;
        }
        let mut seen = HashSet::with_capacity(schema.fields.len());
        if let Some(field) = schema.fields.iter().find(|field| !seen.insert(*field)) {
            return Err(Error::BadSchema {
                reason: format!("two of its fields are named '{}'", printable(field.as_bytes())),
            });
        }
        if let Some(key) = schema.key.as_ref().filter(|key| !schema.fields.contains(key)) {
            return Err(Error::BadSchema {
                reason: format!("its key '{}' is not one of its fields", printable(key.as_bytes())),
            });
        }
        Ok((schema, setting))
    }

    /// The schema as text.
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("strings and integers always serialise");
        text.push(b'\n');
        text
    }

    /// Whether a row of fields was cleared, or never set: it is empty or zeros. As many zeros as
    /// there are fields are a row of empty cells.
    pub fn is_cleared(&self, row: &[u8]) -> bool {
        !self.fields.is_empty() && row.len() != self.fields.len() && row.iter().all(|&byte| byte == 0)
    }

    /// What queries and answers are checked against: it does not change when rows do.
    pub fn hash(&self) -> [u8; 32] {
        let layout = match &self.contents {
            Contents::Rows(rows) => rows.layout(),
            Contents::Keywords(keywords) => keywords.layout(),
        };
        let mut more = layout;
        more.extend((self.id.len() as u64).to_le_bytes());
        more.extend(self.id.as_bytes());
        more.extend((self.fields.len() as u64).to_le_bytes());
        for field in self.fields.iter().chain(&self.key) {
            more.extend((field.len() as u64).to_le_bytes());
            more.extend(field.as_bytes());
        }
        if let Some(oprf) = &self.oprf {
            more.extend(oprf.layout());
        }
        self.shape.hash(&more)
    }

    /// Fragments of the longest row by key, pieces of a row by number: what every query for whole
    /// rows asks for.
    pub fn portions(&self) -> usize {
        match &self.contents {
            Contents::Rows(rows) => rows.pieces,
            Contents::Keywords(keywords) => keywords.fragments,
        }
    }

    /// Selections that ask for one row: every row is asked for by as many.
    pub fn selections(&self) -> usize {
        match &self.contents {
            Contents::Rows(rows) => rows.pieces,
            Contents::Keywords(keywords) => keywords.choices * keywords.fragments,
        }
    }

    /// Refuses more rows in one query than a query may ask for.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub(crate) fn check_count(&self, rows: usize) -> Result<()> {
        Ok(Limits::between(1, MOST_ROWS).check("the number of rows in one query", rows)?)
    }
}
