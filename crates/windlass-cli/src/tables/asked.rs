//! The rows that a query asks for, by number, by key or by hidden key.

use std::path::Path;

use windlass_retrieval::{BlindReply, Client, Error, HiddenKeys, TableContext, Wanted};

use super::args::WantedArgs;
use crate::error::{CliError, Result};
use crate::values::read_for;

/// The refusal of a file by the retrieval.
pub fn of_file(path: &Path) -> impl FnOnce(Error) -> CliError {
    |source| CliError::Table { path: path.into(), source }
}

/// What is asked for: keys and numbers as they are, or hidden keys.
pub struct Asked<'c> {
    /// What the query is for.
    pub wanted: Wanted,
    /// What opens sealed rows.
    hidden: Option<HiddenKeys<'c>>,
}

impl<'c> Asked<'c> {
    /// The rows that are wanted; where keys are hidden, with the reply to the request for them.
    /// `secret` is the file of the client's key, for messages.
    pub fn of(client: &'c Client, wanted: &WantedArgs, reply: Option<&Path>, secret: &Path) -> Result<Self> {
        match (reply, &client.schema().oprf) {
            (None, None) => Ok(Self { wanted: wanted.wanted(), hidden: None }),
            (None, Some(_)) => Err(Error::HiddenKeys.into()),
            (Some(path), None) => Err(of_file(path)(Error::PlainKeys)),
            (Some(path), Some(_)) => {
                let context = TableContext::new(client.setting(), client.schema());
                let reply: BlindReply = read_for(path, &context, (client.secret().key_id(), secret))?;
                let hidden = client.unblind(&reply, &wanted.keys).map_err(of_file(path))?;
                Ok(Self { wanted: hidden.wanted(), hidden: Some(hidden) })
            }
        }
    }

    /// The rows, out of those that an answer holds.
    pub fn open(&self, rows: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        match &self.hidden {
            None => Ok(rows),
            Some(hidden) => Ok(hidden.open(rows)?),
        }
    }
}
