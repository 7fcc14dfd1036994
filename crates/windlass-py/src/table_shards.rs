//! One machine's block of a table's columns.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass::wire::hex;
use windlass_retrieval::{PartialAnswer, Shard};

use crate::table_version::{Asked, Version, all_asked, asked};

/// A block of columns of a table, with which one of several machines computes its part of an
/// answer.
///
/// Made by :meth:`Table.shard`. It keeps the version of the table that it was made from. For a
/// table in a directory, only the pages of the block are read.
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
    /// The number of the shard, counted from 0.
    #[getter]
    fn index(&self) -> usize {
        self.shard.index()
    }

    /// The number of shards.
    #[getter]
    fn of(&self) -> usize {
        self.shard.count()
    }

    /// The range of columns of the shard.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = self.shard.columns();
        py.get_type::<pyo3::types::PyRange>().call1((columns.start, columns.end))
    }

    /// The name of the version of the table, in hexadecimal; zeros for a table in memory.
    #[getter]
    fn version(&self) -> String {
        hex(self.version.table.version())
    }

    /// Computes the part of this shard in the answer to a query.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    /// query : bytes
    ///
    /// Returns
    /// -------
    /// bytes
    ///     For :meth:`Table.combine`. The shard does the same work for every row and does not learn
    ///     whether the row is in its block.
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

    /// Computes the parts of the answers to queries of any number of clients, which share passes
    /// through the block.
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
    ///     As :meth:`answer`. No part of any answer is then returned.
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
