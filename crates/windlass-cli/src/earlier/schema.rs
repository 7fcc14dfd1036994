//! The public shape of a table, as earlier versions wrote it.
//!
//! It holds the values of the key column in the order of the rows, because a client had to know the
//! number of the row it wanted; it holds no other cell.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass::wire::{from_json, sha256};
use windlass::{Params, Scheme};
use windlass_retrieval::encode_record;

use crate::error::{CliError, Result};
use crate::nearest::nearest;
use crate::table::without_mark;

const FORMAT: &str = "windlass-lookup-schema";

/// The version of a schema that names its parameters, and of one that writes them out.
const NAMED: u32 = 1;
const WRITTEN_OUT: u32 = 2;

/// Largest schema file that is read.
const MAX_BYTES: u64 = 1 << 28;

/// The parameters of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Parameters {
    /// The name of a preset.
    Preset(String),
    /// A custom set, as a parameter file holds it. The author of the schema chose it.
    Own(serde_json::Value),
}

impl Parameters {
    /// The set itself, every promise of it checked.
    pub fn load(&self) -> windlass::Result<Params> {
        Ok(match self {
            Self::Preset(name) => Params::preset(name, Scheme::Bgv)?,
            Self::Own(set) => Params::from_json(&set.to_string())?.with_scheme(Scheme::Bgv),
        })
    }

    /// What to call it in a message.
    pub fn name(&self) -> String {
        match self {
            Self::Preset(name) => name.clone(),
            Self::Own(set) => set["name"].as_str().unwrap_or("other parameters").to_owned(),
        }
    }

    fn version(&self) -> u32 {
        match self {
            Self::Preset(_) => NAMED,
            Self::Own(_) => WRITTEN_OUT,
        }
    }
}

/// The public shape of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    format: String,
    version: u32,
    /// The parameter set.
    pub parameters: Parameters,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Name of the key column.
    pub key: String,
    /// Bytes of the longest encoded row.
    pub record_bytes: usize,
    /// Values of the key column, by row.
    pub keys: Vec<String>,
}

impl Schema {
    /// Reads a schema file.
    pub fn read(path: &Path) -> Result<Self> {
        let not_a_schema =
            |reason: String| CliError::NotOfFormat { path: path.into(), what: "a lookup schema", reason };
        let file = std::fs::File::open(path).map_err(|error| CliError::at(path)(error.into()))?;
        let mut text = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(|error| CliError::at(path)(error.into()))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(not_a_schema(format!("more than {MAX_BYTES} bytes")));
        }
        let schema: Self = from_json(without_mark(&text)).map_err(not_a_schema)?;
        if schema.format != FORMAT || schema.version != schema.parameters.version() {
            return Err(not_a_schema(format!("format '{}' version {}", schema.format, schema.version)));
        }
        schema.check().map_err(|reason| not_a_schema(reason.to_owned()))?;
        Ok(schema)
    }

    /// The conditions for every schema of a table. A schema comes from another party and may
    /// contain anything.
    fn check(&self) -> std::result::Result<(), &'static str> {
        let distinct = |names: &[String]| names.iter().collect::<HashSet<_>>().len() == names.len();
        if self.keys.is_empty() || !self.columns.contains(&self.key) {
            return Err("it has no rows, or its key is not one of its columns");
        }
        if !distinct(&self.columns) || !distinct(&self.keys) {
            return Err("two of its columns or two of its rows have the same name");
        }
        // The row of the longest key, with its other cells empty.
        let longest = self.keys.iter().max_by_key(|key| key.len()).map_or("", String::as_str);
        let mut least = vec![""; self.columns.len()];
        least[0] = longest;
        if self.record_bytes < encode_record(&least).len() {
            return Err("its longest row is shorter than one of its keys");
        }
        Ok(())
    }

    /// SHA-256 of the file's bytes: names the table that queries and answers belong to.
    pub fn hash(&self) -> [u8; 32] {
        sha256(&self.to_bytes())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("strings and integers always serialise");
        text.push(b'\n');
        text
    }

    /// Refuses a key that no row has.
    pub fn check_key(&self, value: &str) -> Result<()> {
        if self.keys.iter().any(|key| key == value) {
            return Ok(());
        }
        let nearest = nearest(value, self.keys.iter().map(String::as_str)).map(str::to_owned);
        Err(CliError::UnknownKey { column: self.key.clone(), value: value.to_owned(), nearest })
    }

    /// Position of the key column.
    pub fn key_index(&self) -> usize {
        self.columns.iter().position(|column| *column == self.key).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(version: u32) -> String {
        let path = format!("{}/tests/golden/lookup-schema-v{version}.json", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    }

    fn read(text: &str) -> Result<Schema> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Schema::read(file.path())
    }

    #[test]
    fn golden_schemas_of_both_versions_stay_readable() {
        for (version, parameters) in [(1, "insecure_toy_2048"), (2, "planned_m8192_p257_r1_2x30_d2")] {
            let schema = read(&golden(version)).unwrap();
            assert_eq!((schema.version, schema.parameters.name().as_str()), (version, parameters));
            assert_eq!(schema.parameters.load().unwrap().name(), parameters);
            assert_eq!(
                (&schema.columns[..], schema.key.as_str()),
                (&["zone", "country"].map(String::from)[..], "zone")
            );
            assert_eq!((schema.record_bytes, schema.keys[1].as_str()), (17, "Asia/Tokyo"));
            assert!(schema.to_bytes() == golden(version).as_bytes(), "the hash of version {version} is another");
        }
    }

    #[test]
    fn other_files_are_no_schemas() {
        for text in ["", "{}", "zone,country", &golden(1).replace(": 1,", ": 2,"), &golden(2).replace(": 2,", ": 1,")] {
            assert!(matches!(read(text), Err(CliError::NotOfFormat { .. })), "{text}");
        }
    }

    #[test]
    fn schemas_that_contradict_themselves_are_refused() {
        let refused = |from: &str, to: &str| {
            let text = golden(1);
            assert!(text.contains(from), "{from}");
            read(&text.replace(from, to)).expect_err("refused").to_string()
        };
        assert!(refused(": 17", ": 2").contains("its longest row is shorter than one of its keys"));
        assert!(refused("Asia/Tokyo", "Europe/Lisbon").contains("have the same name"));
        assert!(refused("\"country\"", "\"zone\"").contains("have the same name"));
        assert!(refused("\"key\": \"zone\"", "\"key\": \"none\"").contains("its key is not one of its columns"));
    }

    #[test]
    fn unknown_keys_get_a_suggestion() {
        let schema = read(&golden(1)).unwrap();
        assert!(schema.check_key("Asia/Tokyo").is_ok());
        let told = schema.check_key("europe/lisbonne").unwrap_err().to_string();
        assert!(told.contains("did you mean 'Europe/Lisbon'?"), "{told}");
    }
}
