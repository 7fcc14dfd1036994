//! Tables: any CSV file with a header line.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{CliError, Result};

/// Largest table that is read: more than the cells of any parameter set, so that a wrong file does not fill the memory.
const MAX_BYTES: u64 = 1 << 28;

/// A table with a key column that names each row once.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    columns: Vec<String>,
    key: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads a CSV file.
    ///
    /// Errors when it cannot be read, has no rows, rows of different lengths, two columns of one name, no column `key`, or
    /// a key value twice.
    pub fn read(path: &Path, key: &str) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(|error| CliError::at(path)(error.into()))?;
        let bytes = file.metadata().map_err(|error| CliError::at(path)(error.into()))?.len();
        if bytes > MAX_BYTES {
            return Err(CliError::LargeFile { path: path.into(), bytes, most: MAX_BYTES });
        }
        // Pipes and devices have no length beforehand.
        let mut text = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(|error| CliError::at(path)(error.into()))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(CliError::LargeFile { path: path.into(), bytes: text.len() as u64, most: MAX_BYTES });
        }
        if text.iter().filter(|&&byte| byte == b'"').count() % 2 == 1 {
            let reason = "its quotation marks do not pair up, so a quoted cell never ends".to_owned();
            return Err(CliError::NotATable { path: path.into(), reason });
        }
        let mut reader = csv::Reader::from_reader(&text[..]);
        let not_a_table = |error: csv::Error| CliError::NotATable { path: path.into(), reason: error.to_string() };
        let columns: Vec<String> = reader.headers().map_err(not_a_table)?.iter().map(str::to_owned).collect();
        let key_index = Self::find_key(path, &columns, key)?;
        let rows = reader
            .records()
            .map(|record| Ok(record.map_err(not_a_table)?.iter().map(str::to_owned).collect()))
            .collect::<Result<Vec<Vec<String>>>>()?;
        if rows.is_empty() {
            return Err(CliError::EmptyTable { path: path.into() });
        }
        let table = Self { path: path.into(), columns, key: key_index, rows };
        table.check_keys()?;
        Ok(table)
    }

    fn find_key(path: &Path, columns: &[String], key: &str) -> Result<usize> {
        for (index, column) in columns.iter().enumerate() {
            if columns[..index].contains(column) {
                return Err(CliError::DuplicateColumn { path: path.into(), column: column.clone() });
            }
        }
        columns.iter().position(|column| column == key).ok_or_else(|| CliError::UnknownColumn {
            path: path.into(),
            column: key.to_owned(),
            columns: columns.to_vec(),
        })
    }

    fn check_keys(&self) -> Result<()> {
        let mut seen = HashMap::with_capacity(self.rows.len());
        for (index, key) in self.keys().enumerate() {
            if let Some(first) = seen.insert(key, index) {
                return Err(CliError::DuplicateKey {
                    path: self.path.clone(),
                    column: self.columns[self.key].clone(),
                    value: key.to_owned(),
                    first: first + 1,
                    second: index + 1,
                });
            }
        }
        Ok(())
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Name of the key column.
    pub fn key_column(&self) -> &str {
        &self.columns[self.key]
    }

    /// The rows, one string for each column.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The values of the key column, by row.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row[self.key].as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, key: &str) -> Result<Table> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Table::read(file.path(), key)
    }

    #[test]
    fn quoted_fields_and_line_breaks_are_read() {
        let table = read("id,text\n1,\"a, \"\"b\"\"\nc\"\n2,\n", "id").unwrap();
        assert_eq!(table.rows(), [["1", "a, \"b\"\nc"], ["2", ""]]);
        assert_eq!(table.keys().collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn bad_tables_are_refused() {
        let message = |text, key| read(text, key).expect_err("refused").to_string();
        assert!(message("id,text\n", "id").contains("no rows"));
        assert!(message("", "id").contains("no column 'id'"));
        assert!(message("id,text\n1,a\n", "name").contains("its columns are id, text"));
        assert!(message("id,id\n1,a\n", "id").contains("two columns"));
        assert!(message("id,text\n1,a\n2,b\n1,c\n", "id").contains("rows 1 and 3"));
        assert!(message("id,text\n1\n", "id").contains("not a table"));
        assert!(message("id,text\n1,\"a\n2,b\n", "id").contains("never ends"));
    }
}
