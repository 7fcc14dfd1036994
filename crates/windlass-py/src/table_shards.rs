//! One machine's block of a table's columns.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass::wire::hex;
use windlass_retrieval::{PartialAnswer, Shard};

use crate::table_version::{Asked, Version, all_asked, asked};

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
        Ok(self.parts(py, vec![asked(keys, query)?])?.remove(0))
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
        self.parts(py, all_asked(queries)?)
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
    fn parts<'py>(&self, py: Python<'py>, given: Vec<Asked>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let shard = self.shard;
        self.version.answers::<PartialAnswer>(py, given, move |table, queries| table.answer_part(shard, queries))
    }
}
