//! Changes of a table in its directory.

use pyo3::prelude::*;
use windlass_retrieval as retrieval;
use windlass_retrieval::{KeyChange, RowChange};

use super::PyTable;
use crate::natural::Natural;
use crate::runtime::long;
use crate::table_errors::raise_table;
use crate::table_oprf::PyOprfKey;
use crate::table_rows::{key_bytes, keys_of, numbers_of, pairs_of, row_bytes};
use crate::table_version::Version;

#[pymethods]
impl PyTable {
    /// Adds and replaces rows of a table in a directory. Either all rows are changed or none.
    ///
    /// A process that has the table open sees the version before or the version after, never a
    /// mixture.
    ///
    /// Parameters
    /// ----------
    /// rows : mapping, or iterable of pairs
    ///     Keys and their new rows. For rows by number the keys are numbers, and the number after
    ///     the last adds a row.
    /// progress : bool or callable, optional
    /// oprf_key : OprfKey, optional
    ///     The OPRF key of the table, if its keys are hidden.
    ///
    /// Raises
    /// ------
    /// HiddenKeysError
    ///     If that key is missing or another one.
    /// TableFull
    ///     If the table has no room left.
    /// ParameterError
    ///     If a row is longer than the longest row of the table was (or, if all rows had one
    ///     length, has another length), a number is beyond the table, or the table is in memory.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile, windlass as wl
    /// >>> table = wl.Table.from_rows([b"zero", b"?"], directory=tempfile.mkdtemp() + "/t", room=9)
    /// >>> table.set({1: b"one", 2: b"two"})
    /// >>> client = wl.TableClient(table.schema)
    /// >>> client.rows(table.answer(client.keys(), client.query([1, 2])), [1, 2])
    /// [b'one', b'two']
    #[pyo3(signature = (rows, *, progress=None, oprf_key=None))]
    fn set(
        &self,
        py: Python<'_>,
        rows: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
        oprf_key: Option<&Bound<'_, PyOprfKey>>,
    ) -> PyResult<()> {
        self.place(py)?;
        let pairs = pairs_of(rows, "rows to set must be a mapping, or pairs of a key and a row")?;
        if self.is_keyed() {
            let change = |(key, row): &(Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                Ok(KeyChange::Set(key_bytes(key)?, row_bytes(row, "a row")?))
            };
            return self.change_keys(py, pairs.iter().map(change).collect::<PyResult<_>>()?, progress, oprf_key);
        }
        self.refuse_oprf_key(py, oprf_key)?;
        let change = |(number, row): &(Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(RowChange::Set(number.extract::<Natural>()?.0 as usize, row_bytes(row, "a row")?))
        };
        let changes = pairs.iter().map(change).collect::<PyResult<Vec<_>>>()?;
        self.change(py, progress, move |place, observer| retrieval::Table::change_rows(place, &changes, observer))
    }

    /// Removes rows from a table in a directory. Rows by number become empty.
    ///
    /// Parameters
    /// ----------
    /// keys : iterable, or one key
    ///     The keys or numbers of the rows. A key that the table does not have is ignored.
    /// progress : bool or callable, optional
    /// oprf_key : OprfKey, optional
    ///     As for :meth:`set`.
    ///
    /// Raises
    /// ------
    /// HiddenKeysError
    ///     As :meth:`set`.
    /// ParameterError
    ///     If a number is beyond the table, or the table is in memory.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile, windlass as wl
    /// >>> table = wl.Table.from_items({"a": b"1", "b": b"2"}, directory=tempfile.mkdtemp() + "/t")
    /// >>> table.remove(["a"])
    /// >>> len(table)
    /// 1
    #[pyo3(signature = (keys, *, progress=None, oprf_key=None))]
    fn remove(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        progress: Option<&Bound<'_, PyAny>>,
        oprf_key: Option<&Bound<'_, PyOprfKey>>,
    ) -> PyResult<()> {
        self.place(py)?;
        if self.is_keyed() {
            let changes = keys_of(keys)?.into_iter().map(KeyChange::Remove).collect();
            return self.change_keys(py, changes, progress, oprf_key);
        }
        self.refuse_oprf_key(py, oprf_key)?;
        let changes: Vec<RowChange> = numbers_of(keys)?.into_iter().map(RowChange::Clear).collect();
        self.change(py, progress, move |place, observer| retrieval::Table::change_rows(place, &changes, observer))
    }

    /// Switches to the version that is in the directory now. Returns whether it is another one.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If it cannot be opened. The present version then stays.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        let Some(place) = self.directory.clone() else { return Ok(false) };
        let known = *self.current().table.version();
        let found = long(py, None, "table", move |_| {
            let same = retrieval::Table::fingerprint(&place).map(|found| found == known);
            Ok(same.and_then(|same| if same { Ok(None) } else { Version::open(&place, false).map(Some) }))
        })?;
        let found = found.map_err(|error| raise_table(py, error))?;
        Ok(found.map(|version| self.replace(version)).is_some())
    }
}
