//! Pages: tables in Markdown, and the place in a page where they go.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;

use crate::record::named;

const BEGIN: &str = "<!-- begin tables -->";
const END: &str = "<!-- end tables -->";

/// A table: a heading, and rows of as many cells or fewer.
pub struct Table {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(heading: impl IntoIterator<Item = S>) -> Self {
        Self { heading: heading.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// One row more.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, &self.heading, self.heading.len())?;
        writeln!(f, "|{}", "---|".repeat(self.heading.len()))?;
        self.rows.iter().try_for_each(|row| line(f, row, self.heading.len()))
    }
}

/// One line of a table, with empty cells at its end if there are too few.
fn line(f: &mut fmt::Formatter<'_>, cells: &[String], count: usize) -> fmt::Result {
    let empty = String::new();
    f.write_str("|")?;
    for cell in cells.iter().chain(std::iter::repeat(&empty)).take(count.max(cells.len())) {
        if cell.is_empty() { f.write_str(" |")? } else { write!(f, " {cell} |")? }
    }
    writeln!(f)
}

/// Seconds with three figures or so.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{s:.0}"),
        s if s >= 10.0 => format!("{s:.1}"),
        s if s >= 0.1 => format!("{s:.2}"),
        s => format!("{s:.3}"),
    }
}

/// A number, or a dash if it is missing.
pub fn or_dash(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "–".into(), |x| format!("{x:.decimals$}"))
}

/// The distinct values, ascending.
pub fn distinct<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().collect::<std::collections::BTreeSet<T>>().into_iter().collect()
}

/// The distinct values in order of appearance.
pub fn first_seen<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().fold(Vec::new(), |mut seen, value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
        seen
    })
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    std::fs::write(path, text).map_err(|error| named(path, &error))
}

/// Replaces what stands between the marks of a page.
pub fn write_between_marks(path: &Path, tables: &str) -> io::Result<()> {
    let text = std::fs::read_to_string(path).map_err(|error| named(path, &error))?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| {
        let text = format!("{}: no marks {BEGIN}, {END}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    })?;
    write(path, &format!("{before}{BEGIN}\n{tables}{END}{after}"))
}
