//! Tables: any CSV file with a header line.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{CliError, Remedy, Result};

/// Largest table that is read: more than the cells of any parameter set, so that a wrong file does
/// not fill the memory.
const MAX_BYTES: u64 = 1 << 28;

/// A CSV file with a header line.
#[derive(Debug)]
pub struct Cells {
    path: PathBuf,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Cells {
    /// Reads a CSV file.
    ///
    /// Errors when it cannot be read, has no rows, rows of different lengths, or two columns of one
    /// name.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path)?;
        let (columns, mut reader) = begin(path, &text)?;
        let rows = reader
            .records()
            .map(|record| Ok(record.map_err(not_a_table(path))?.iter().map(str::to_owned).collect()))
            .collect::<Result<Vec<Vec<String>>>>()?;
        if rows.is_empty() {
            return Err(CliError::EmptyTable { path: path.into() });
        }
        Ok(Self { path: path.into(), columns, rows })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows, one string for each column.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The number of a column.
    ///
    /// Errors if no column has that name.
    pub fn column(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|column| column == name).ok_or_else(|| CliError::UnknownColumn {
            path: self.path.clone(),
            column: name.to_owned(),
            columns: self.columns.clone(),
        })
    }

    /// Refuses a table whose first line is one of its rows: it has no name for any of these
    /// columns, which hold numbers. Empty cells and cells without a finite number are not numbers
    /// either.
    pub fn check_names(&self, columns: &[usize]) -> Result<()> {
        let names = || columns.iter().map(|&column| self.columns[column].trim());
        let is_value = |name: &str| name.is_empty() || name.parse::<f64>().is_ok();
        if !names().all(is_value) || !names().any(|name| finite(name).is_some()) {
            return Ok(());
        }
        let names = columns.iter().map(|&column| self.columns[column].clone()).collect();
        Err(CliError::NoNames { path: self.path.clone(), names })
    }

    /// The finite number in a cell of a column that is asked for by name.
    ///
    /// Errors when there is another text.
    pub fn number(&self, row: usize, column: usize) -> Result<f64> {
        let text = &self.rows[row][column];
        finite(text).ok_or_else(|| self.not_a_number((row, column), Remedy::None))
    }

    /// The finite number in a cell of a column that `--skip` would leave out.
    ///
    /// Errors when there is another text.
    pub fn number_unless_skipped(&self, row: usize, column: usize) -> Result<f64> {
        let text = &self.rows[row][column];
        finite(text).ok_or_else(|| {
            let numbers = self.rows.iter().any(|row| finite(&row[column]).is_some());
            self.not_a_number((row, column), if numbers { Remedy::Skip } else { Remedy::SkipText })
        })
    }

    fn not_a_number(&self, (row, column): (usize, usize), remedy: Remedy) -> CliError {
        CliError::NotANumber {
            path: self.path.clone(),
            row: row + 1,
            column: self.columns[column].clone(),
            value: self.rows[row][column].clone(),
            remedy,
        }
    }
}

/// The finite number that a text is.
fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|x| x.is_finite())
}

/// The names of the columns of a CSV file, and a reader of its rows.
///
/// Errors for an empty file, a cell that never ends, and two columns of one name.
pub fn begin<'t>(path: &Path, text: &'t [u8]) -> Result<(Vec<String>, csv::Reader<&'t [u8]>)> {
    let refuse = |reason: &str| Err(CliError::NotATable { path: path.into(), reason: reason.to_owned() });
    if text.iter().all(u8::is_ascii_whitespace) {
        return refuse("the file is empty; begin it with a line of column names");
    }
    if let Some(line) = open_quotes(text) {
        let reason =
            "begins with a quotation mark and does not end; close it, or put the whole cell in quotation marks";
        return refuse(&format!("a cell on line {line} {reason}"));
    }
    let mut reader = csv::Reader::from_reader(text);
    let columns: Vec<String> = reader.headers().map_err(not_a_table(path))?.iter().map(str::to_owned).collect();
    let mut seen = HashSet::with_capacity(columns.len());
    if let Some(column) = columns.iter().find(|column| !seen.insert(*column)) {
        return Err(CliError::DuplicateColumn { path: path.into(), column: column.clone() });
    }
    Ok((columns, reader))
}

/// What the reader of a CSV file says about it.
pub fn not_a_table(path: &Path) -> impl Fn(csv::Error) -> CliError {
    move |error| CliError::NotATable { path: path.into(), reason: error.to_string() }
}

/// The bytes of a file of at most [`MAX_BYTES`].
pub fn read_text(path: &Path) -> Result<Vec<u8>> {
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
    Ok(text)
}

/// JSON without the byte order mark that some editors put before it.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// A table with a key column that names each row once.
#[derive(Debug)]
pub struct Table {
    cells: Cells,
    key: usize,
}

impl Table {
    /// A table of cells that were read.
    ///
    /// Errors when there is no column `key` or a key value twice.
    pub fn of(cells: Cells, key: &str) -> Result<Self> {
        let key = cells.column(key)?;
        let table = Self { cells, key };
        table.check_keys()?;
        Ok(table)
    }

    fn check_keys(&self) -> Result<()> {
        let mut seen = HashMap::with_capacity(self.rows().len());
        for (index, key) in self.keys().enumerate() {
            if let Some(first) = seen.insert(key, index) {
                return Err(CliError::DuplicateKey {
                    path: self.cells.path.clone(),
                    column: self.key_column().to_owned(),
                    value: key.to_owned(),
                    first: first + 1,
                    second: index + 1,
                });
            }
        }
        Ok(())
    }

    /// Everything in it.
    pub fn into_cells(self) -> Cells {
        self.cells
    }

    /// Name of the key column.
    pub fn key_column(&self) -> &str {
        &self.cells.columns[self.key]
    }

    /// The rows, one string for each column.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.cells.rows
    }

    /// The values of the key column, by row.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.cells.rows.iter().map(|row| row[self.key].as_str())
    }
}

/// The line, from 1, on which a quoted cell begins that the text ends within. A quotation mark
/// begins one at the start of a cell only; two of them stand for one inside.
fn open_quotes(text: &[u8]) -> Option<usize> {
    enum State {
        Start,
        Plain,
        Quoted,
        /// After a quotation mark in a quoted cell.
        Ended,
    }
    let text = without_mark(text);
    let (mut state, mut line, mut begun) = (State::Start, 1, 1);
    for &byte in text {
        state = match (state, byte) {
            (State::Quoted, b'"') => State::Ended,
            (State::Start, b'"') => {
                begun = line;
                State::Quoted
            }
            (State::Quoted, _) | (State::Ended, b'"') => State::Quoted,
            (_, b',' | b'\n' | b'\r') => State::Start,
            _ => State::Plain,
        };
        line += usize::from(byte == b'\n');
    }
    matches!(state, State::Quoted).then_some(begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, key: &str) -> Result<Table> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Table::of(Cells::read(file.path())?, key)
    }

    #[test]
    fn quoted_fields_and_line_breaks_are_read() {
        let table = read("id,text\n1,\"a, \"\"b\"\"\nc\"\n2,\n", "id").unwrap();
        assert_eq!(table.rows(), [["1", "a, \"b\"\nc"], ["2", ""]]);
        assert_eq!(table.keys().collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn bad_tables_are_refused() {
        let message = |text: &str, key: &str| read(text, key).expect_err("refused").to_string();
        assert!(message("id,text\n", "id").contains("no rows"));
        for empty in ["", "\n", " \r\n\n"] {
            assert!(message(empty, "id").contains("the file is empty"));
        }
        assert!(message("id,text\n1,a\n", "name").contains("its columns are id, text"));
        assert!(message("id,id\n1,a\n", "id").contains("two columns"));
        assert!(message("id,text\n1,a\n2,b\n1,c\n", "id").contains("rows 1 and 3"));
        assert!(message("id,text\n1\n", "id").contains("not a table"));
        for open in ["1,\"a\n2,b\n", "\"1,a\n", "1,\"a\"\"\n", "1,\""] {
            let told = message(&format!("id,text\n0,\"a\nb\"\n{open}"), "id");
            assert!(told.contains("a cell on line 4 begins with a quotation mark and does not end"), "{open}: {told}");
        }
    }

    /// A line in which some cells are numbers and others are not holds names.
    #[test]
    fn a_first_line_of_numbers_is_no_line_of_names() {
        let refused = |text: &str, columns: &[usize]| {
            let cells = read(text, text.split([',', '\n']).next().unwrap()).unwrap().into_cells();
            cells.check_names(columns).err().map(|error| error.to_string())
        };
        for text in ["0.5, -1e3 \n1,2\n", "1,2\n3,4\n", "1,inf\n3,4\n", "nan,1\n3,4\n", ",1\n3,4\n"] {
            assert!(
                refused(text, &[0, 1]).unwrap().contains("a table must begin with a line of column names"),
                "{text}"
            );
        }
        assert!(refused("id,2,3\na,4,5\n", &[1, 2]).unwrap().contains("'2, 3'"));
        for text in ["x,2\n3,4\n", "nan,inf\n3,4\n", "2,1a\n3,4\n"] {
            assert_eq!(refused(text, &[0, 1]), None, "{text}");
        }
        assert_eq!(refused("1,2\n3,4\n", &[]), None);
    }

    #[test]
    fn quotation_marks_inside_a_cell_are_text() {
        let table = read("id,text\n1,a\"b\n2,5\" wide\n3,\"a\"\"\"\n4,\"a\"b\n", "id").unwrap();
        let cells: Vec<&str> = table.rows().iter().map(|row| row[1].as_str()).collect();
        assert_eq!(cells, ["a\"b", "5\" wide", "a\"", "ab"]);
    }

    /// 300,000 columns: looking through all columns before each took a minute.
    #[test]
    fn many_columns_are_read_at_once() {
        let names: Vec<String> = (0..300_000).map(|k| format!("c{k}")).collect();
        let header = names.join(",");
        let text = format!("{header}\n{}\n", vec!["1"; names.len()].join(","));
        let start = std::time::Instant::now();
        assert_eq!(read(&text, "c299999").unwrap().into_cells().columns().len(), 300_000);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
        let twice = format!("{header},c7\n");
        assert!(read(&twice, "c0").unwrap_err().to_string().contains("two columns are named 'c7'"));
    }
}
