//! The features in the rows of a table.

use std::path::{Path, PathBuf};

use windlass::Error;
use windlass_scoring::Standardisation;

use super::args::ColumnArgs;
use crate::error::{CliError, Result};
use crate::table::{Cells, Table};

/// The column that names rows unless another is asked for.
const KEY: &str = "id";

/// The features in the rows of a table.
pub struct Features {
    path: PathBuf,
    cells: Cells,
    columns: Vec<usize>,
    /// The rows.
    pub rows: Vec<Vec<f64>>,
}

impl Features {
    /// Reads a table: the columns of these names, or all that the arguments leave.
    pub fn read(path: &Path, args: &ColumnArgs, names: Option<&[String]>) -> Result<Self> {
        let cells = Cells::read(path)?;
        let key = match &args.key {
            Some(key) => Some(cells.column(key)?),
            None => cells.columns().iter().position(|column| column == KEY),
        };
        let mut others: Vec<usize> = key.into_iter().collect();
        for name in args.label.iter().chain(&args.skip) {
            others.push(cells.column(name)?);
        }
        let columns = match names {
            Some(names) => names.iter().map(|name| cells.column(name)).collect::<Result<Vec<_>>>()?,
            None => {
                let left = (0..cells.columns().len()).filter(|column| !others.contains(column)).collect::<Vec<_>>();
                // Features that a model names are there under these names, whatever they are.
                cells.check_names(&left)?;
                if left.is_empty() {
                    return Err(CliError::NoFeatures { path: path.into(), columns: cells.columns().to_vec() });
                }
                left
            }
        };
        let cells = match &args.key {
            Some(key) => Table::of(cells, key)?.into_cells(),
            None => cells,
        };
        let one = |row: usize, column: usize| match names {
            Some(_) => cells.number(row, column),
            None => cells.number_unless_skipped(row, column),
        };
        let number = |row: usize| columns.iter().map(|&column| one(row, column)).collect::<Result<Vec<_>>>();
        let rows = (0..cells.rows().len()).map(number).collect::<Result<Vec<_>>>()?;
        Ok(Self { path: path.into(), cells, columns, rows })
    }

    /// The table.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the features.
    pub fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|&column| self.cells.columns()[column].as_str()).collect()
    }

    /// The values of a column.
    pub fn column(&self, name: &str) -> Result<Vec<&str>> {
        let column = self.cells.column(name)?;
        Ok(self.cells.rows().iter().map(|row| row[column].as_str()).collect())
    }

    /// Refuses rows that a model is not for.
    pub fn check(&self, standardisation: &Standardisation) -> Result<()> {
        let (found, wanted) = (self.columns.len(), standardisation.features());
        if found != wanted {
            return Err(CliError::OtherFeatures { path: self.path.clone(), found, wanted });
        }
        for (number, row) in self.rows.iter().enumerate() {
            standardisation.apply(row).map_err(|error| match error {
                Error::ValueTooLarge { index, .. } => CliError::LargeFeature {
                    path: self.path.clone(),
                    row: number + 1,
                    column: self.cells.columns()[self.columns[index]].clone(),
                    value: self.cells.rows()[number][self.columns[index]].clone(),
                    bound: standardisation.bound(),
                },
                other => other.into(),
            })?;
        }
        Ok(())
    }
}
