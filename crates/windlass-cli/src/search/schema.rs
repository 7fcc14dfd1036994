//! The public shape of a table of vectors in a file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass::wire::{Access, write_new};
use windlass_retrieval::KeyContext;
use windlass_retrieval::vectors::{QuantisedTable, SearchFiles, SearchShape, SearchSpec};

use super::args::{HowArgs, TableArgs};
use super::vector_file::VectorFile;
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::{Report, rounded_down};
use crate::session::tell_security;
use crate::table::{read_text, without_mark};

const FORMAT: &str = "windlass-search-schema";
const VERSION: u32 = 1;
const WHAT: &str = "a search schema";

/// What the server publishes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Schema {
    format: String,
    version: u32,
    shape: SearchShape,
}

/// A shape with what files of it are checked against.
pub struct Opened {
    pub shape: SearchShape,
    /// Of queries and answers.
    pub files: SearchFiles,
    /// Of keys.
    pub keys: KeyContext,
}

impl Opened {
    /// Everything about a shape checked.
    pub fn new(shape: SearchShape) -> windlass_retrieval::Result<Self> {
        let files = SearchFiles::new(&shape)?;
        Ok(Self { shape, keys: KeyContext::new(files.setting()), files })
    }

    /// Reads a schema file.
    pub fn read(path: &Path) -> Result<Self> {
        let refuse = |reason: String| CliError::NotOfFormat { path: path.into(), what: WHAT, reason };
        let schema: Schema =
            serde_json::from_slice(without_mark(&read_text(path)?)).map_err(|error| refuse(error.to_string()))?;
        if schema.format != FORMAT || schema.version != VERSION {
            return Err(refuse(format!("format '{}' version {}", schema.format, schema.version)));
        }
        Self::new(schema.shape).map_err(|error| refuse(error.to_string()))
    }

    /// Writes the schema to a new file and gives its size.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let schema = Schema { format: FORMAT.into(), version: VERSION, shape: self.shape.clone() };
        let mut text = serde_json::to_vec_pretty(&schema).expect("strings and finite numbers always serialise");
        text.push(b'\n');
        write_new(path, &text, Access::Public).map_err(CliError::at(path))?;
        Ok(text.len() as u64)
    }

    /// λ in bits, rounded down to a tenth.
    pub fn security_bits(&self) -> f64 {
        rounded_down(self.files.setting().context().params().security().bits)
    }

    /// Tells a client what it gets, before it makes keys or encrypts.
    pub fn tell(&self, quiet: bool) {
        tell_security(format_args!("parameters 'n = {}':", windlass_retrieval::N), self.security_bits(), "", quiet);
    }

    /// Says what both sides agree on.
    pub fn describe(&self, report: &mut Report) {
        let bits = self.security_bits();
        report.line(format!("n = {}, {bits:.1} bits of security", windlass_retrieval::N));
        self.shape.to_string().lines().for_each(|line| report.line(line));
        let sizes = self.shape.sizes(self.files.setting());
        report.field("security_bits", bits);
        report.field("vectors", self.shape.vectors);
        report.field("dimension", self.shape.dimension);
        report.field("metric", self.shape.metric.name());
        report.field("message_bits", self.shape.message_bits);
        report.field("key_switches", self.shape.key_switches());
        report.field("planned_bytes", serde_json::json!(sizes));
        report.field("planned_seconds", self.shape.seconds(&Default::default()));
    }
}

/// A table as integers, and the plan for it.
pub fn open_table(
    args: &TableArgs,
    how: &HowArgs,
    stages: &mut Stages,
) -> Result<(VectorFile, QuantisedTable, Opened)> {
    let file = stages.run("table", "reading the table", || VectorFile::read(&args.table, &args.columns))?;
    let table = stages.run("quantise", "quantising the table", || {
        QuantisedTable::new(&file.vectors()?, how.metric, how.bits).map_err(|source| file.refused(source))
    })?;
    let spec = SearchSpec { bandwidth: how.bandwidth * 1e6 };
    let opened = SearchShape::plan(&table, &spec).and_then(Opened::new)?;
    Ok((file, table, opened))
}

#[cfg(test)]
mod tests {
    use windlass_retrieval::vectors::Metric;

    use super::*;

    #[test]
    fn golden_schemas_of_version_1_stay_readable() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/search-schema-v1.json");
        let opened = Opened::read(&path).unwrap();
        let shape = &opened.shape;
        assert_eq!((shape.vectors, shape.dimension, shape.metric), (3, 2, Metric::InnerProduct));
        let dir = tempfile::tempdir().unwrap();
        let again = dir.path().join("schema.json");
        opened.write(&again).unwrap();
        assert!(std::fs::read(again).unwrap() == std::fs::read(path).unwrap(), "it is written in other bytes");
    }
}
