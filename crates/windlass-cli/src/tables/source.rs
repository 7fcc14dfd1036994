//! Rows of CSV files as records of bytes, however many they are.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use windlass::lookup::encode_record;
use windlass::wire::WireError;
use windlass_retrieval::{Error, RowStatistics};

use crate::error::{CliError, Result};
use crate::table::ends_in_quotes;

/// The rows of a table, encoded: all fields of a row, its key field included.
#[derive(Debug)]
pub struct Source {
    /// Names of the columns.
    pub fields: Vec<String>,
    /// The key column.
    pub key: Option<String>,
    /// Keys (empty without a key column) and rows.
    pub rows: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Source {
    /// Reads a CSV file.
    pub fn read(path: &Path, key: Option<&str>) -> Result<Self> {
        let text = std::fs::read(path).map_err(|error| CliError::at(path)(WireError::from(error)))?;
        if ends_in_quotes(&text) {
            let reason = "a cell that begins with a quotation mark never ends".to_owned();
            return Err(CliError::NotATable { path: path.into(), reason });
        }
        let refuse = |error: csv::Error| CliError::NotATable { path: path.into(), reason: error.to_string() };
        let mut reader = csv::Reader::from_reader(&text[..]);
        let fields: Vec<String> = reader.headers().map_err(refuse)?.iter().map(str::to_owned).collect();
        let mut seen = HashSet::with_capacity(fields.len());
        if let Some(column) = fields.iter().find(|column| !seen.insert(*column)) {
            return Err(CliError::DuplicateColumn { path: path.into(), column: column.clone() });
        }
        let position = match key {
            None => None,
            Some(key) => Some(position_of(path, &fields, key)?),
        };
        let (mut rows, mut record) = (Vec::new(), csv::StringRecord::new());
        while reader.read_record(&mut record).map_err(refuse)? {
            let cells: Vec<&str> = record.iter().collect();
            let key = position.map_or(Vec::new(), |index| cells[index].as_bytes().to_vec());
            rows.push((key, encode_record(&cells)));
        }
        if rows.is_empty() {
            return Err(CliError::EmptyTable { path: path.into() });
        }
        let source = Self { fields, key: key.map(str::to_owned), rows };
        source.refuse_duplicates(path)?;
        Ok(source)
    }

    fn refuse_duplicates(&self, path: &Path) -> Result<()> {
        let Some(column) = &self.key else { return Ok(()) };
        let mut seen = HashMap::with_capacity(self.rows.len());
        for (number, (key, _)) in self.rows.iter().enumerate() {
            if let Some(first) = seen.insert(key.as_slice(), number) {
                return Err(CliError::DuplicateKey {
                    path: path.into(),
                    column: column.clone(),
                    value: String::from_utf8_lossy(key).into_owned(),
                    first: first + 1,
                    second: number + 1,
                });
            }
        }
        Ok(())
    }

    /// What its rows are like.
    pub fn statistics(&self) -> std::result::Result<RowStatistics, Error> {
        let rows: Vec<&[u8]> = self.rows.iter().map(|(_, row)| row.as_slice()).collect();
        RowStatistics::of(&rows)
    }

    /// The rows alone.
    pub fn values(&self) -> Vec<&[u8]> {
        self.rows.iter().map(|(_, row)| row.as_slice()).collect()
    }
}

fn position_of(path: &Path, fields: &[String], key: &str) -> Result<usize> {
    fields.iter().position(|field| field == key).ok_or_else(|| CliError::UnknownColumn {
        path: path.into(),
        column: key.to_owned(),
        columns: fields.to_vec(),
    })
}
