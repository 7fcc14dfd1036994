//! Reads vectors from CSV files and from arrays of NumPy (`.npy`).

use std::path::{Path, PathBuf};

use windlass_retrieval::vectors::{Values, Vectors};

use super::args::ColumnArgs;
use super::npy::{self, Numbers};
use crate::error::{CliError, Result};
use crate::memory;
use crate::report::{printable, shortened};
use crate::table::Cells;

/// The column of a CSV file that names vectors unless another is asked for.
const KEY: &str = "id";

/// The vectors of a file, and their names where it has any.
#[derive(Debug)]
pub struct VectorFile {
    path: PathBuf,
    numbers: Numbers,
    dimension: usize,
    names: Option<Vec<String>>,
    /// What the dimensions are called, in a file that says so.
    columns: Option<Vec<String>>,
    /// The names of all columns of a CSV file, also of those that are no numbers.
    all: Vec<String>,
}

/// Whether a file is an array of NumPy by its name.
fn is_array(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

impl VectorFile {
    /// Reads a table: an array of NumPy where its name ends in `.npy`, else CSV. The columns to leave
    /// out are there, or in `elsewhere`.
    pub fn read(path: &Path, columns: &ColumnArgs, elsewhere: &[String]) -> Result<Self> {
        let there = |name: &String| columns.key.as_ref() == Some(name) || !elsewhere.contains(name);
        if is_array(path) { Self::read_array(path) } else { Self::read_csv(path, columns, &there) }
    }

    /// Refuses options for columns of a CSV file where all files are arrays.
    pub fn refuse_options(paths: &[&Path], columns: &ColumnArgs) -> Result<()> {
        let option = match columns {
            ColumnArgs { key: Some(key), .. } => format!("--key {key}"),
            ColumnArgs { skip, .. } if !skip.is_empty() => format!("--skip {}", skip[0]),
            _ => return Ok(()),
        };
        if paths.iter().any(|path| !is_array(path)) {
            return Ok(());
        }
        let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        Err(CliError::Usage(format!("{names}: an array has no column names, so leave out {}", printable(&option))))
    }

    /// As [`Self::read`], of vectors that are looked for beside a table: the columns that are no
    /// numbers may be missing.
    pub fn read_queries(path: &Path, columns: &ColumnArgs) -> Result<Self> {
        if is_array(path) { Self::read_array(path) } else { Self::read_csv(path, columns, &|_| false) }
    }

    fn read_array(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| CliError::at(path)(error.into());
        // The file, and the numbers in it.
        memory::check("the vectors", 2 * std::fs::metadata(path).map_err(failed)?.len())?;
        let parsed = npy::parse(&std::fs::read(path).map_err(failed)?);
        let (numbers, dimension) =
            parsed.map_err(|reason| CliError::NotOfFormat { path: path.into(), what: "a list of vectors", reason })?;
        Ok(Self { path: path.into(), numbers, dimension, names: None, columns: None, all: Vec::new() })
    }

    fn read_csv(path: &Path, args: &ColumnArgs, needed: &dyn Fn(&String) -> bool) -> Result<Self> {
        let cells = Cells::read(path)?;
        let position = |name: &str| cells.columns().iter().position(|column| column == name);
        let asked = |name: &String| match position(name) {
            None if !needed(name) => Ok(None),
            _ => cells.column(name).map(Some),
        };
        let key = args.key.as_ref().map_or_else(|| Ok(position(KEY)), asked)?;
        let mut others: Vec<usize> = key.into_iter().collect();
        for name in &args.skip {
            others.extend(asked(name)?);
        }
        let columns: Vec<usize> = (0..cells.columns().len()).filter(|column| !others.contains(column)).collect();
        cells.check_names(&columns)?;
        let mut numbers = Vec::with_capacity(cells.rows().len() * columns.len());
        for row in 0..cells.rows().len() {
            for &column in &columns {
                numbers.push(cells.number_unless_skipped(row, column)?);
            }
        }
        let names = key.map(|key| cells.rows().iter().map(|row| row[key].clone()).collect());
        let (numbers, dimension) = (Numbers::F64(numbers), columns.len());
        let columns = columns.into_iter().map(|column| cells.columns()[column].clone()).collect();
        let all = cells.columns().to_vec();
        Ok(Self { path: path.into(), numbers, dimension, names, columns: Some(columns), all })
    }

    /// Where it was read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the dimensions are called, in a file that says so.
    pub fn columns(&self) -> Option<&[String]> {
        self.columns.as_deref()
    }

    /// The names of all columns of a CSV file; none of an array.
    pub fn all_columns(&self) -> &[String] {
        &self.all
    }

    /// Refuses queries whose dimensions are called otherwise than those of a table, or stand in
    /// another order; `path` says what they are called there. Another number of them is refused
    /// where they are quantised.
    pub fn check_columns(&self, path: &Path, wanted: Option<&[String]>) -> Result<()> {
        let (Some(own), Some(wanted)) = (self.columns(), wanted) else { return Ok(()) };
        if own.len() != wanted.len() || own == wanted {
            return Ok(());
        }
        let [own, wanted] = [own, wanted].map(|names| shortened(&names.join(",")));
        let (file, other) = (self.path.display(), path.display());
        Err(CliError::Usage(format!(
            "{file}: its columns are {own}, but those of {other} are {wanted}; use the same names in the same order"
        )))
    }

    /// The vectors.
    pub fn vectors(&self) -> Result<Vectors<'_>> {
        let values = match &self.numbers {
            Numbers::F32(numbers) => Values::F32(numbers),
            Numbers::F64(numbers) => Values::F64(numbers),
            Numbers::I8(numbers) => Values::I8(numbers),
        };
        Vectors::new(values, self.dimension).map_err(|source| self.refused(source))
    }

    /// What a vector is called: its name, or its number from 0.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.names.as_ref()?.get(index).map(String::as_str)
    }

    /// A refusal of what is in the file.
    pub fn refused(&self, source: windlass_retrieval::Error) -> CliError {
        CliError::Table { path: self.path.clone(), source }
    }
}
