//! The public shape of a table of vectors, in the file of a schema.
//!
//! Commands refuse a query that was made under the schema of another table. The server refuses a table of
//! vectors that the schema was not made for.

use std::path::Path;

use windlass::wire::{Access, write_new};
use windlass_retrieval::Error;
use windlass_retrieval::vectors::{QuantisedTable, SearchSchema, SearchShape, SearchSpec};

use super::args::{HowArgs, TableArgs};
use super::vector_file::VectorFile;
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::{Report, rounded_down};
use crate::security::tell_security;
use crate::table::{read_text, without_mark};

const WHAT: &str = "a search schema";

/// A schema, as commands need it.
pub struct Opened {
    pub schema: SearchSchema,
}

impl Opened {
    /// Everything about a shape checked.
    pub fn new(shape: SearchShape) -> windlass_retrieval::Result<Self> {
        Ok(Self { schema: SearchSchema::new(shape)? })
    }

    /// Reads a schema file.
    pub fn read(path: &Path) -> Result<Self> {
        let refuse = |error: Error| {
            let reason = match error {
                Error::BadSchema { reason } => reason,
                other => other.to_string(),
            };
            CliError::NotOfFormat { path: path.into(), what: WHAT, reason }
        };
        let schema = SearchSchema::from_json(without_mark(&read_text(path)?)).map_err(refuse)?;
        Ok(Self { schema })
    }

    /// Writes the schema to a new file and gives its size.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let text = self.schema.to_json();
        write_new(path, &text, Access::Public).map_err(CliError::at(path))?;
        Ok(text.len() as u64)
    }

    /// Refuses another table than the one that a schema was made of; `path` is that of the schema.
    pub fn check_table(&self, path: &Path, file: &VectorFile, table: &QuantisedTable) -> Result<()> {
        let names = |names: &[String]| self.schema.shape().names.as_ref().is_none_or(|own| own == names);
        if self.schema.shape().is_of(table) && file.columns().is_none_or(names) {
            return Ok(());
        }
        Err(CliError::OtherVectors { path: path.into(), table: file.path().into() })
    }

    /// λ in bits, rounded down to a tenth.
    pub fn security_bits(&self) -> f64 {
        rounded_down(self.schema.security_bits())
    }

    /// Tells a client what it gets, before it makes keys or encrypts.
    pub fn tell(&self, quiet: bool) {
        tell_security(format_args!("parameters 'n = {}':", windlass_retrieval::N), self.security_bits(), "", quiet);
    }

    /// Says what both sides agree on.
    pub fn describe(&self, report: &mut Report) {
        let bits = self.security_bits();
        report.line(format!("n = {}, {bits:.1} bits of security", windlass_retrieval::N));
        self.schema.shape().to_string().lines().for_each(|line| report.line(line));
        let sizes = self.schema.shape().sizes(self.schema.files().setting());
        report.field("security_bits", bits);
        report.field("vectors", self.schema.shape().vectors);
        report.field("dimension", self.schema.shape().dimension);
        report.field("metric", self.schema.shape().metric.name());
        report.field("message_bits", self.schema.shape().message_bits);
        report.field("key_switches", self.schema.shape().key_switches());
        report.field("planned_bytes", serde_json::json!(sizes));
        report.field("planned_seconds", self.schema.shape().seconds(&Default::default()));
    }
}

/// A table as integers, and the plan for it. Columns of `elsewhere` may be named without being there.
pub fn open_table(
    args: &TableArgs,
    how: &HowArgs,
    elsewhere: &[String],
    stages: &mut Stages,
) -> Result<(VectorFile, QuantisedTable, Opened)> {
    let file = stages.run("table", "reading the table", || VectorFile::read(&args.table, &args.columns, elsewhere))?;
    let table = stages.run("quantise", "quantising the table", || {
        QuantisedTable::new(&file.vectors()?, how.metric, how.bits).map_err(|source| file.refused(source))
    })?;
    let spec = SearchSpec { bandwidth: how.bandwidth * 1e6 };
    let mut shape = SearchShape::plan(&table, &spec)?;
    shape.names = file.columns().map(<[String]>::to_vec);
    let opened = Opened::new(shape)?;
    Ok((file, table, opened))
}
