//! The public description of a table of vectors in a file.
//!
//! Version 2 identifies the table by the hash of its integers, and by the names of its columns if it
//! has any.
//!
//! **Warning.** Version 1 has neither hash nor names. It is accepted for every table of its shape. The
//! scores are then those of the table that the server was given, and no error is returned.

use serde::{Deserialize, Serialize};
use windlass::wire::from_json;

use super::shape::SearchShape;
use super::wire::SearchFiles;
use crate::error::{Error, Result};
use crate::wire::KeyContext;

const FORMAT: &str = "windlass-search-schema";

/// The version of a schema that does not say which table it is, and of one that does.
const UNTOLD: u32 = 1;
const OF_A_TABLE: u32 = 2;

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaFile {
    format: String,
    version: u32,
    shape: SearchShape,
}

/// The version that a shape is written in.
fn version(shape: &SearchShape) -> u32 {
    if shape.table.is_some() { OF_A_TABLE } else { UNTOLD }
}

/// What a server of a table of vectors publishes: a checked shape, with what files of it are checked
/// against.
#[derive(Debug, Clone)]
pub struct SearchSchema {
    shape: SearchShape,
    files: SearchFiles,
    key_files: KeyContext,
}

impl SearchSchema {
    /// Of a shape, all of which is checked.
    ///
    /// # Errors
    /// As [`SearchShape::check`].
    pub fn new(shape: SearchShape) -> Result<Self> {
        let files = SearchFiles::new(&shape)?;
        Ok(Self { shape, key_files: KeyContext::new(files.setting()), files })
    }

    /// Reads a schema and checks all of it, since another party wrote it.
    ///
    /// # Errors
    /// [`Error::BadSchema`] for other text; otherwise as [`SearchShape::check`].
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let refuse = |reason: String| Error::BadSchema { reason };
        let file: SchemaFile = from_json(text).map_err(refuse)?;
        if file.format != FORMAT || file.version != version(&file.shape) {
            return Err(refuse(format!("format '{}' version {}", file.format, file.version)));
        }
        if file.version == UNTOLD && file.shape.names.is_some() {
            return Err(refuse("version 1 has no names of columns".to_owned()));
        }
        Self::new(file.shape)
    }

    /// The schema as text.
    pub fn to_json(&self) -> Vec<u8> {
        let file = SchemaFile { format: FORMAT.into(), version: version(&self.shape), shape: self.shape.clone() };
        let mut text = serde_json::to_vec_pretty(&file).expect("strings and finite numbers always serialise");
        text.push(b'\n');
        text
    }

    /// The shape.
    pub fn shape(&self) -> &SearchShape {
        &self.shape
    }

    /// What files of queries and answers are checked against.
    pub fn files(&self) -> &SearchFiles {
        &self.files
    }

    /// What files of keys are checked against.
    pub fn key_files(&self) -> &KeyContext {
        &self.key_files
    }

    /// λ in bits: log2 of the work of the best known attack on what the server sees.
    pub fn security_bits(&self) -> f64 {
        self.files.setting().context().params().security().bits
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Metric, QuantisedTable, Values, Vectors};
    use super::*;

    fn golden(version: u32) -> &'static [u8] {
        match version {
            UNTOLD => include_bytes!("../../tests/golden/search-schema-v1.json"),
            _ => include_bytes!("../../tests/golden/search-schema-v2.json"),
        }
    }

    #[test]
    fn golden_schemas_of_both_versions_stay_readable() {
        for version in [UNTOLD, OF_A_TABLE] {
            let schema = SearchSchema::from_json(golden(version)).unwrap();
            let shape = schema.shape();
            assert_eq!((shape.vectors, shape.dimension, shape.metric), (3, 2, Metric::InnerProduct));
            let names = (version == OF_A_TABLE).then(|| vec!["sea".to_owned(), "land".to_owned()]);
            assert_eq!(shape.names, names);
            assert!(schema.to_json() == golden(version), "version {version} is written in other bytes");
            assert!(schema.security_bits() >= 128.0);
        }
    }

    /// The table that the golden schema of version 2 was made of has the hash that it says.
    #[test]
    fn golden_schemas_are_of_the_table_that_they_were_made_of() {
        let numbers = [0.5, -1.0, 2.0, 1.0, -0.25, 0.75];
        let vectors = Vectors::new(Values::F64(&numbers), 2).unwrap();
        let table = QuantisedTable::new(&vectors, Metric::InnerProduct, 8).unwrap();
        let schema = SearchSchema::from_json(golden(OF_A_TABLE)).unwrap();
        assert!(schema.shape().is_of(&table), "{}", windlass::wire::hex(table.digest()));
    }

    /// A file of one version that claims another is refused.
    #[test]
    fn versions_hold_what_they_are_to_hold() {
        for version in [UNTOLD, OF_A_TABLE] {
            let mut schema: serde_json::Value = serde_json::from_slice(golden(version)).unwrap();
            for other in [0, UNTOLD + OF_A_TABLE - version, 3] {
                schema["version"] = other.into();
                let told = SearchSchema::from_json(schema.to_string().as_bytes()).unwrap_err().to_string();
                assert!(told.contains(&format!("version {other}")), "{told}");
            }
        }
    }

    /// Sizes that no table has are refused before anything is made of them.
    #[test]
    fn absurd_sizes_are_refused() {
        let good: serde_json::Value = serde_json::from_slice(golden(OF_A_TABLE)).unwrap();
        for field in ["vectors", "dimension", "bits", "row_sum", "message_bits"] {
            for value in [serde_json::json!(-1), u64::MAX.into(), 1e300.into(), "9".into(), serde_json::Value::Null] {
                let mut schema = good.clone();
                schema["shape"][field] = value;
                assert!(SearchSchema::from_json(schema.to_string().as_bytes()).is_err(), "{}", schema["shape"]);
            }
        }
        for field in ["group", "rows", "ciphertexts"] {
            for value in [0u64, 1 << 13, 1 << 40, u64::MAX] {
                let mut schema = good.clone();
                schema["shape"]["layout"][field] = value.into();
                assert!(SearchSchema::from_json(schema.to_string().as_bytes()).is_err(), "{}", schema["shape"]);
            }
        }
    }
}
