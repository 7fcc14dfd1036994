//! The public shape of a table: what the server publishes so that clients can ask.
//!
//! It holds the values of the key column in the order of the rows, because a client must know the
//! number of the row it wants; it holds no other cell.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass::lookup::encode_record;
use windlass::wire::{Access, from_json, sha256, write_new};
use windlass::{Params, Scheme};

use crate::error::{CliError, Result};
use crate::table::{Table, without_mark};
use crate::values::refused_parameters;

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
    /// As a command is given them: a name, or a parameter file where the text ends in `.json`.
    pub fn given(text: &str) -> Result<Self> {
        if !Params::is_file_name(text) {
            return Ok(Self::Preset(text.to_owned()));
        }
        let params = Params::named_or_file(text, Scheme::Bgv).map_err(|error| refused_parameters(text, error))?;
        Ok(Self::Own(serde_json::from_str(&params.to_json()).expect("a parameter file is JSON")))
    }

    /// The set itself, every promise of it checked.
    pub fn load(&self) -> Result<Params> {
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
    /// The schema of a table under a parameter set.
    pub fn of(table: &Table, parameters: Parameters) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: parameters.version(),
            parameters,
            columns: table.columns().to_vec(),
            key: table.key_column().to_owned(),
            record_bytes: table.rows().iter().map(|row| encode_record(row).len()).max().unwrap_or(0),
            keys: table.keys().map(str::to_owned).collect(),
        }
    }

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

    /// Writes the schema to a new file and gives its size.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let text = self.to_bytes();
        write_new(path, &text, Access::Public).map_err(CliError::at(path))?;
        Ok(text.len() as u64)
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

    /// The number of the row with this key.
    pub fn row_of(&self, value: &str) -> Result<usize> {
        self.keys.iter().position(|key| key == value).ok_or_else(|| CliError::UnknownKey {
            column: self.key.clone(),
            value: value.to_owned(),
            nearest: self.nearest(value).map(str::to_owned),
        })
    }

    /// The key that differs from `value` in fewest letters, if those are at most a third.
    fn nearest(&self, value: &str) -> Option<&str> {
        let length = value.chars().count();
        let most = length.max(3) / 3;
        // The distance is at least the difference of the lengths: a value of a megabyte is compared
        // with no short key.
        let similar = self.keys.iter().filter(|key| key.chars().count().abs_diff(length) <= most);
        let (distance, key) = similar.map(|key| (edit_distance(key, value), key)).min()?;
        (distance <= most).then_some(key)
    }

    /// Position of the key column.
    pub fn key_index(&self) -> usize {
        self.columns.iter().position(|column| *column == self.key).unwrap_or(0)
    }
}

/// Insertions, deletions and substitutions (Levenshtein), letter case ignored.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "zone,country\nEurope/Lisbon,PT\nAsia/Tokyo,JP\n").unwrap();
        Schema::of(&Table::read(file.path(), "zone").unwrap(), Parameters::given("demo").unwrap())
    }

    #[test]
    fn a_set_of_ones_own_is_written_out() {
        let dir = tempfile::tempdir().unwrap();
        let (file, path) = (dir.path().join("own.json"), dir.path().join("schema.json"));
        let own = Params::preset("bgv_n32768", Scheme::Bgv).unwrap().to_json().replace("bgv_n32768", "own");
        std::fs::write(&file, own).unwrap();
        let schema = Schema { parameters: Parameters::given(file.to_str().unwrap()).unwrap(), ..schema() };
        assert!(schema.write(&path).is_ok() && Schema::read(&path).is_err(), "version 1 has names only");
        std::fs::remove_file(&path).unwrap();
        let schema = Schema { version: WRITTEN_OUT, ..schema };
        schema.write(&path).unwrap();
        let back = Schema::read(&path).unwrap();
        assert_eq!((&back, back.parameters.name().as_str()), (&schema, "own"));
        assert_eq!(back.parameters.load().unwrap().id(), Params::preset("bgv_n32768", Scheme::Bgv).unwrap().id());
    }

    #[test]
    fn golden_schemas_of_both_versions_stay_readable() {
        let golden = |version| format!("{}/tests/golden/lookup-schema-v{version}.json", env!("CARGO_MANIFEST_DIR"));
        for (version, parameters) in [(1, "insecure_toy_2048"), (2, "planned_m8192_p257_r1_2x30_d2")] {
            let path = golden(version);
            let schema = Schema::read(Path::new(&path)).unwrap();
            assert_eq!((schema.version, schema.parameters.name().as_str()), (version, parameters));
            assert_eq!(schema.parameters.load().unwrap().name(), parameters);
            assert_eq!(
                (&schema.columns[..], schema.key.as_str()),
                (&["zone", "country"].map(String::from)[..], "zone")
            );
            assert_eq!((schema.record_bytes, schema.row_of("Asia/Tokyo").unwrap()), (17, 1));
            assert!(schema.to_bytes() == std::fs::read(&path).unwrap(), "version {version} is written in other bytes");
        }
    }

    #[test]
    fn schemas_come_back_from_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schema.json");
        let schema = schema();
        schema.write(&path).unwrap();
        let back = Schema::read(&path).unwrap();
        assert_eq!((back.hash(), back.record_bytes), (schema.hash(), 17));
        assert_eq!(back, schema);
        assert!(schema.write(&path).is_err(), "an existing file stays");
    }

    #[test]
    fn other_files_are_no_schemas() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schema.json");
        for text in ["", "{}", "zone,country", &String::from_utf8(schema().to_bytes()).unwrap().replace(": 1,", ": 2,")]
        {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(Schema::read(&path), Err(CliError::NotOfFormat { .. })), "{text}");
        }
    }

    #[test]
    fn unknown_keys_get_a_suggestion() {
        let schema = schema();
        assert_eq!(schema.row_of("Asia/Tokyo").unwrap(), 1);
        assert!(schema.row_of("europe/lisbonne").unwrap_err().to_string().contains("did you mean 'Europe/Lisbon'?"));
        assert!(!schema.row_of("Mars").unwrap_err().to_string().contains("did you mean"));
    }
}
