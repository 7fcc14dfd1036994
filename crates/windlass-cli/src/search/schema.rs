//! The public shape of a table of vectors in a file.
//!
//! Version 2 identifies the table by the hash of its integers, and by the names of its columns if it
//! has any. Commands refuse a query that was made under the schema of another table. The server refuses
//! a table of vectors that the schema was not made for.
//!
//! **Warning.** Version 1 has neither hash nor names. It is accepted for every table of its shape. The
//! scores are then those of the table that the server was given, and no error is returned.

use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass::wire::{Access, from_json, write_new};
use windlass_retrieval::KeyContext;
use windlass_retrieval::vectors::{QuantisedTable, SearchFiles, SearchShape, SearchSpec};

use super::args::{HowArgs, TableArgs};
use super::vector_file::VectorFile;
use crate::error::{CliError, Result};
use crate::progress::Stages;
use crate::report::{Report, rounded_down};
use crate::security::tell_security;
use crate::table::{read_text, without_mark};

const FORMAT: &str = "windlass-search-schema";

/// The version of a schema that does not say which table it is, and of one that does.
const UNTOLD: u32 = 1;
const OF_A_TABLE: u32 = 2;

const WHAT: &str = "a search schema";

/// What the server publishes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Schema {
    format: String,
    version: u32,
    shape: SearchShape,
}

/// The version that a shape is written in.
fn version(shape: &SearchShape) -> u32 {
    if shape.table.is_some() { OF_A_TABLE } else { UNTOLD }
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
        let schema: Schema = from_json(without_mark(&read_text(path)?)).map_err(refuse)?;
        if schema.format != FORMAT || schema.version != version(&schema.shape) {
            return Err(refuse(format!("format '{}' version {}", schema.format, schema.version)));
        }
        if schema.version == UNTOLD && schema.shape.names.is_some() {
            return Err(refuse("version 1 has no names of columns".to_owned()));
        }
        Self::new(schema.shape).map_err(|error| refuse(error.to_string()))
    }

    /// Writes the schema to a new file and gives its size.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let schema = Schema { format: FORMAT.into(), version: version(&self.shape), shape: self.shape.clone() };
        let mut text = serde_json::to_vec_pretty(&schema).expect("strings and finite numbers always serialise");
        text.push(b'\n');
        write_new(path, &text, Access::Public).map_err(CliError::at(path))?;
        Ok(text.len() as u64)
    }

    /// Refuses another table than the one that a schema was made of; `path` is that of the schema.
    pub fn check_table(&self, path: &Path, file: &VectorFile, table: &QuantisedTable) -> Result<()> {
        let names = |names: &[String]| self.shape.names.as_ref().is_none_or(|own| own == names);
        if self.shape.is_of(table) && file.columns().is_none_or(names) {
            return Ok(());
        }
        Err(CliError::OtherVectors { path: path.into(), table: file.path().into() })
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use windlass_retrieval::vectors::{Metric, Values, Vectors};

    use super::*;

    fn golden(version: u32) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/search-schema-v{version}.json"))
    }

    #[test]
    fn golden_schemas_of_both_versions_stay_readable() {
        let dir = tempfile::tempdir().unwrap();
        for version in [UNTOLD, OF_A_TABLE] {
            let path = golden(version);
            let opened = Opened::read(&path).unwrap();
            let shape = &opened.shape;
            assert_eq!((shape.vectors, shape.dimension, shape.metric), (3, 2, Metric::InnerProduct));
            let names = (version == OF_A_TABLE).then(|| vec!["sea".to_owned(), "land".to_owned()]);
            assert_eq!(shape.names, names);
            let again = dir.path().join(format!("schema-{version}.json"));
            opened.write(&again).unwrap();
            let alike = std::fs::read(again).unwrap() == std::fs::read(path).unwrap();
            assert!(alike, "version {version} is written in other bytes");
        }
    }

    /// The table that the golden schema of version 2 was made of has the hash that it says.
    #[test]
    fn golden_schemas_are_of_the_table_that_they_were_made_of() {
        let numbers = [0.5, -1.0, 2.0, 1.0, -0.25, 0.75];
        let vectors = Vectors::new(Values::F64(&numbers), 2).unwrap();
        let table = QuantisedTable::new(&vectors, Metric::InnerProduct, 8).unwrap();
        let opened = Opened::read(&golden(OF_A_TABLE)).unwrap();
        assert!(opened.shape.is_of(&table), "{}", windlass::wire::hex(table.digest()));
    }

    /// A file of one version that claims another is refused.
    #[test]
    fn versions_hold_what_they_are_to_hold() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schema.json");
        for version in [UNTOLD, OF_A_TABLE] {
            let mut schema: serde_json::Value =
                serde_json::from_slice(&std::fs::read(golden(version)).unwrap()).unwrap();
            for other in [0, UNTOLD + OF_A_TABLE - version, 3] {
                schema["version"] = other.into();
                std::fs::write(&path, schema.to_string()).unwrap();
                let told = Opened::read(&path).err().expect("refused").to_string();
                assert!(told.contains(&format!("version {other}")), "{told}");
            }
        }
    }
}
