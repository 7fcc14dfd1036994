//! Rows of CSV files as records of bytes, however many they are.

use std::collections::HashMap;
use std::path::Path;

use windlass::wire::WireError;
use windlass_retrieval::{Error, RowStatistics, encode_record};

use crate::error::{CliError, Result};
use crate::table::{begin, not_a_table};

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
        let (fields, mut reader) = begin(path, &text)?;
        let position = match key {
            None => None,
            Some(key) => Some(position_of(path, &fields, key)?),
        };
        let (mut rows, mut record) = (Vec::new(), csv::StringRecord::new());
        while reader.read_record(&mut record).map_err(not_a_table(path))? {
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

    /// Only the rows.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_table_is_refused_as_for_every_command() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            Source::read(file.path(), Some("id")).expect_err("refused").to_string()
        };
        for empty in ["", "\r\n", "  \n\n"] {
            assert!(refused(empty).contains("the file is empty"), "{empty:?}");
        }
        assert!(refused("id,v\n1,\"a\n").contains("does not end"));
        assert!(refused("id,id\n1,2\n").contains("two columns are named 'id'"));
        assert!(refused("id,v\n1\n").contains("not a table"));
    }
}
