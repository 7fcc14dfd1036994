//! One machine's block of a table's columns.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass::wire::hex;
use windlass_retrieval::{PartialAnswer, Shard};

use crate::runtime::long;
use crate::table_errors::raise_table;
use crate::table_keys::Given;
use crate::table_rows::{pairs_of, row_bytes};
use crate::table_version::Version;

/// A block of the columns of a table: what one of several machines answers with.
///
/// Made by :meth:`Table.shard`. It stays with the version of the table that it was made from. Of a
/// table in a directory only the pages of the block are read.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> table = wl.Table.from_rows([b"%099d" % n for n in range(9000)])
/// >>> shard = table.shard(1, 2)
/// >>> shard.index, shard.of, shard.columns.start == table.shard(0, 2).columns.stop
/// (1, 2, True)
#[pyclass(frozen, weakref, name = "TableShard", module = "windlass")]
pub struct PyTableShard {
    version: Arc<Version>,
    shard: Shard,
}

impl PyTableShard {
    /// A block of a version.
    pub fn new(version: Arc<Version>, shard: Shard) -> Self {
        Self { version, shard }
    }
}

#[pymethods]
impl PyTableShard {
    /// Its number, from 0.
    #[getter]
    fn index(&self) -> usize {
        self.shard.index()
    }

    /// How many there are.
    #[getter]
    fn of(&self) -> usize {
        self.shard.count()
    }

    /// Its columns.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = self.shard.columns();
        py.get_type::<pyo3::types::PyRange>().call1((columns.start, columns.end))
    }

    /// What names the version of the table, in hexadecimal; zeros for a table in memory.
    #[getter]
    fn version(&self) -> String {
        hex(self.version.table.version())
    }

    /// The part of the answer to a query.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    /// query : bytes
    ///
    /// Returns
    /// -------
    /// bytes
    ///     For :meth:`Table.combine`; the shard did the same work whether the row is in its block or
    ///     not, and does not know.
    ///
    /// Raises
    /// ------
    /// WindlassError
    ///     As :meth:`Table.answer`.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        query: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let parts = self.parts(py, vec![(Given::of(keys)?, row_bytes(query, "a query")?)])?;
        Ok(PyBytes::new(py, &parts[0]))
    }

    /// The parts of the answers to queries of any number of clients, which share passes through the
    /// block.
    ///
    /// Parameters
    /// ----------
    /// queries : iterable of (TableKeys or bytes, bytes)
    ///
    /// Returns
    /// -------
    /// list of bytes
    ///
    /// Raises
    /// ------
    /// WindlassError
    ///     As :meth:`answer`; then there is no part of any of them.
    fn answer_all<'py>(&self, py: Python<'py>, queries: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let queries = pairs_of(queries, "queries are pairs of keys and bytes")?;
        let given = queries.iter().map(|(keys, query)| Ok((Given::of(keys)?, row_bytes(query, "a query")?)));
        let parts = self.parts(py, given.collect::<PyResult<_>>()?)?;
        Ok(parts.iter().map(|part| PyBytes::new(py, part)).collect())
    }

    fn __repr__(&self) -> String {
        let columns = self.shard.columns();
        let (index, count) = (self.shard.index(), self.shard.count());
        format!("<windlass.TableShard {index} of {count}: columns {} to {}>", columns.start, columns.end)
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }
}

impl PyTableShard {
    fn parts(&self, py: Python<'_>, given: Vec<(Given, Vec<u8>)>) -> PyResult<Vec<Vec<u8>>> {
        if given.is_empty() {
            return Ok(Vec::new());
        }
        let (version, shard) = (Arc::clone(&self.version), self.shard);
        let quiet = pyo3::types::PyBool::new(py, false).to_owned().into_any();
        let work = move || version.each::<PartialAnswer>(&given, |table, queries| table.answer_part(shard, queries));
        let parts = long(py, Some(&quiet), "answer", move |_| Ok(work()))?;
        parts.map_err(|error| raise_table(py, error))
    }
}
