//! The table that is served: opened, and opened again when someone replaces it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use windlass::wire::hex;
use windlass_retrieval::{Error, KeyContext, Query, Result, Setting, Table, TableContext};

/// One version of the table, with what its messages are checked against.
#[derive(Debug)]
pub struct Version {
    /// The rows, prepared.
    pub table: Table,
    /// The public description, as text.
    pub schema: Vec<u8>,
    /// Its hash: what queries must be made for.
    pub hash: [u8; 32],
    /// What evaluation keys are checked against.
    pub key_files: KeyContext,
    /// What queries and answers are checked against.
    pub table_files: TableContext,
}

impl Version {
    fn open(dir: &Path, verify: bool) -> Result<Self> {
        let table = Table::open(dir, verify)?;
        let (setting, schema) = (table.setting(), table.schema());
        let (key_files, table_files) = (KeyContext::new(setting), TableContext::new(setting, schema));
        let (schema, hash) = (schema.to_json(), schema.hash());
        Ok(Self { schema, hash, key_files, table_files, table })
    }

    /// Counts versions of one directory.
    pub fn revision(&self) -> u64 {
        self.table.revision()
    }

    /// The ring and the moduli.
    pub fn setting(&self) -> &Arc<Setting> {
        self.table.setting()
    }

    /// Portions of rows that a query asks for: what quotas count. A portion is what the smallest
    /// query asks for: one fragment of a row by key in all bins that it may lie in, or one piece of
    /// a row by number. A row is asked for by as many portions as the longest one of the table has,
    /// unless its client asks in turns (`Client::in_portions`).
    pub fn portions(&self, query: &Query) -> usize {
        let schema = self.table.schema();
        query.count().div_ceil(schema.selections() / schema.portions())
    }

    /// The hash of the schema, in hexadecimal.
    pub fn name(&self) -> String {
        hex(&self.hash)
    }
}

/// Why the directory's version is not served.
#[derive(Debug, thiserror::Error)]
pub enum NotServed {
    /// It cannot be opened.
    #[error("the table cannot be reopened: {0}")]
    Closed(#[from] Error),
    /// It can be opened, but the service must not serve it.
    #[error("the table that replaced the first one is refused: {0}")]
    Refused(String),
}

/// A directory with a table, and the version of it that is served.
#[derive(Debug)]
pub struct Published {
    dir: PathBuf,
    verify: bool,
    current: RwLock<Arc<Version>>,
    /// The version that was refused last, and why.
    refused: Mutex<Option<([u8; 32], String)>>,
}

impl Published {
    /// Opens the table in a directory; its checksums are computed if `verify`, now and for every
    /// later version.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn open(dir: &Path, verify: bool) -> Result<Self> {
        let first = Version::open(dir, verify)?;
        Ok(Self { dir: dir.to_owned(), verify, current: RwLock::new(Arc::new(first)), refused: Mutex::default() })
    }

    /// The version that is served.
    pub fn current(&self) -> Arc<Version> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the directory's version if it is another than the one that is served and if `check` takes
    /// it; from now on it is served. Those who hold the old one keep it. A version that was refused is
    /// not opened again until the directory has another one.
    ///
    /// # Errors
    /// [`NotServed`]; then the old version stays.
    pub fn refresh(
        &self,
        check: impl FnOnce(&Version) -> std::result::Result<(), String>,
    ) -> std::result::Result<Option<Arc<Version>>, NotServed> {
        let found = Table::fingerprint(&self.dir)?;
        if found == *self.current().table.version() {
            return Ok(None);
        }
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, reason)) = &*refused
            && *version == found
        {
            return Err(NotServed::Refused(reason.clone()));
        }
        let next = Arc::new(Version::open(&self.dir, self.verify)?);
        if let Err(reason) = check(&next) {
            *refused = Some((*next.table.version(), reason.clone()));
            return Err(NotServed::Refused(reason));
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&next);
        Ok(Some(next))
    }
}
