//! Rows and keys of tables, out of Python's values and into them.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyMemoryView, PyString};
use windlass_retrieval::push_field;

use crate::error::plain;
use crate::natural::Natural;
use crate::numbers::numpy;
use crate::pickle::Bytes;

/// Rows as Python has them.
pub fn to_rows(py: Python<'_>, rows: Vec<Option<Vec<u8>>>) -> Vec<Option<Bound<'_, PyBytes>>> {
    rows.into_iter().map(|row| row.map(|row| PyBytes::new(py, &row))).collect()
}

/// Rows as dictionaries of the columns of their table.
pub fn to_records<'py>(
    py: Python<'py>,
    fields: Vec<String>,
    rows: Vec<Option<Bound<'py, PyBytes>>>,
) -> PyResult<Bound<'py, PyList>> {
    let restore = PyModule::import(py, "windlass._arrow")?.getattr("records")?;
    Ok(restore.call1((fields, rows))?.cast_into()?)
}

/// Strings of bytes, one after another: a million of them are two pieces of memory.
#[derive(Debug, Default)]
pub struct Packed {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Packed {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
    }

    /// Each of them.
    pub fn slices(&self) -> Vec<&[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.bytes[begin..end]).collect()
    }
}

/// What is to become a table.
pub struct Source {
    pub keys: Option<Packed>,
    pub rows: Packed,
    pub fields: Vec<String>,
    pub key: Option<String>,
}

/// Looks at the bytes of anything that has some.
fn look<T>(given: &Bound<'_, PyAny>, what: &str, look: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(look(bytes.as_bytes()));
    }
    let refused = |_| plain(given.py(), "DTypeError", format!("{what} must be bytes, not {}", kind(given)));
    Ok(look(Bytes::of(given).map_err(refused)?.slice()?))
}

fn kind(given: &Bound<'_, PyAny>) -> String {
    given.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string())
}

/// The bytes of a row, a query or an answer.
pub fn row_bytes(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u8>> {
    look(given, what, <[u8]>::to_vec)
}

/// The bytes of a key: bytes as they are, text as UTF-8, whole numbers as their digits.
pub fn key_bytes(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let py = given.py();
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes().to_vec());
    }
    if given.is_instance_of::<PyBool>() {
        return Err(plain(py, "DTypeError", format!("a key must be bytes, text or an integer, not {}", given.repr()?)));
    }
    // Numbers of NumPy have a buffer, too.
    if let Ok(number) = PyModule::import(py, "operator")?.getattr("index")?.call1((given,)) {
        return Ok(number.str()?.to_str()?.as_bytes().to_vec());
    }
    // So have other numbers: their bytes are those of the machine, and no key.
    if !has_bytes(given) {
        let message =
            format!("a key that is neither text nor an integer must be bytes, not {}: {}", kind(given), given.repr()?);
        return Err(plain(py, "DTypeError", message));
    }
    look(given, "a key that is neither text nor an integer", <[u8]>::to_vec)
}

/// Whether it has a buffer whose items are bytes, and is no scalar of NumPy. (Dates of NumPy have
/// one of bytes.)
fn has_bytes(given: &Bound<'_, PyAny>) -> bool {
    if given.is_instance_of::<PyBytes>() {
        return true;
    }
    let scalar = || numpy(given.py())?.getattr("generic").and_then(|generic| given.is_instance(&generic));
    let format = || PyMemoryView::from(given)?.getattr("format")?.extract::<String>();
    !scalar().unwrap_or(false) && format().is_ok_and(|format| ["B", "b", "c"].contains(&format.as_str()))
}

/// The rows of an iterable.
pub fn rows_of(rows: &Bound<'_, PyAny>) -> PyResult<Packed> {
    let py = rows.py();
    if is_one(rows) || rows.hasattr("items")? {
        return Err(plain(py, "DTypeError", format!("rows must be an iterable of bytes, not {}", kind(rows))));
    }
    let mut packed = Packed::default();
    for row in iterate(rows, "rows must be an iterable of bytes")? {
        look(&row?, "a row", |bytes| packed.push(bytes))?;
    }
    Ok(packed)
}

fn iterate<'py>(given: &Bound<'py, PyAny>, wanted: &str) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
    given.try_iter().map_err(|_| plain(given.py(), "DTypeError", format!("{wanted}, not {}", kind(given))))
}

/// The pairs of a mapping, or of an iterable of pairs.
pub fn pairs_of<'py>(given: &Bound<'py, PyAny>, wanted: &str) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let items = if given.hasattr("items")? { given.call_method0("items")? } else { given.clone() };
    let pair = |item: PyResult<Bound<'py, PyAny>>| {
        let item = item?;
        item.extract().map_err(|_| plain(given.py(), "DTypeError", format!("{wanted}, not {}", kind(&item))))
    };
    iterate(&items, wanted)?.map(pair).collect()
}

/// Keys and rows.
pub fn items_of(items: &Bound<'_, PyAny>) -> PyResult<(Packed, Packed)> {
    let (mut keys, mut rows) = (Packed::default(), Packed::default());
    for (key, row) in pairs_of(items, "items must be a mapping, or pairs of a key and a row")? {
        keys.push(&key_bytes(&key)?);
        look(&row, "a row", |bytes| rows.push(bytes))?;
    }
    Ok((keys, rows))
}

/// Whether it is one key, rather than an iterable of keys.
///
/// An object that holds bytes is one key, also a memoryview, whose items are integers. Arrays of
/// NumPy and of the module `array` are lists of numbers.
fn is_one(given: &Bound<'_, PyAny>) -> bool {
    let is_array = || ["dtype", "typecode"].iter().any(|name| given.hasattr(*name).unwrap_or(false));
    let is_plain = given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyString>();
    is_plain || given.try_iter().is_err() || (!is_array() && has_bytes(given))
}

/// One key, or those of an iterable.
pub fn keys_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    if is_one(given) {
        return Ok(vec![key_bytes(given)?]);
    }
    given.try_iter()?.map(|key| key_bytes(&key?)).collect()
}

/// One row number, or those of an iterable.
pub fn numbers_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let number = |given: &Bound<'_, PyAny>| Ok(given.extract::<Natural>()?.0 as usize);
    if is_one(given) {
        return Ok(vec![number(given)?]);
    }
    given.try_iter()?.map(|given| number(&given?)).collect()
}

/// Cells of a column: the ends of all, and their bytes.
type Column<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u8>);

/// The rows of a table of columns: (names, number of the key column, columns).
pub fn with_columns(cells: &Bound<'_, PyAny>, key: Option<&str>) -> PyResult<Source> {
    let (fields, position, columns): (Vec<String>, Option<usize>, Vec<Column<'_>>) = cells.extract()?;
    let columns = columns.iter().map(|(ends, bytes)| Ok((ends.as_slice()?, bytes.as_slice()?)));
    let columns = columns.collect::<PyResult<Vec<(&[i64], &[u8])>>>()?;
    let count = columns.first().map_or(0, |(ends, _)| ends.len().saturating_sub(1));
    let cell = |column: usize, row: usize| {
        let (ends, bytes) = columns[column];
        &bytes[ends[row] as usize..ends[row + 1] as usize]
    };
    let (mut rows, mut keys, mut record) = (Packed::default(), Packed::default(), Vec::new());
    for row in 0..count {
        record.clear();
        for column in 0..columns.len() {
            push_field(&mut record, cell(column, row));
        }
        rows.push(&record);
        if let Some(position) = position {
            keys.push(cell(position, row));
        }
    }
    Ok(Source { keys: position.map(|_| keys), rows, fields, key: key.map(str::to_owned) })
}
