//! Rows that are asked for in portions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use windlass::wire::{from_bytes, to_bytes};
use windlass_retrieval::{Answer, Client, Gathering, Result, TableContext};

use crate::runtime::quick;
use crate::table_errors::raise_table;
use crate::table_oprf::Asking;
use crate::table_rows::{row_bytes, to_records, to_rows};

/// Rows that a client asks for in portions. The longest of them determines the number of queries.
///
/// Made by :meth:`TableClient.in_portions`. The first query asks for the first portion of each
/// row. Each further query asks for twice as many portions as the one before, for the rows that
/// are not complete.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> table = wl.Table.from_items({"short": b"1", "long": bytes(50_000)})
/// >>> client = wl.TableClient(table.schema)
/// >>> keys, gathering = client.keys(), client.in_portions(["short", "long"])
/// >>> while (query := gathering.query()) is not None:
/// ...     gathering.read(table.answer(keys, query))
/// >>> [len(row) for row in gathering.rows()]
/// [1, 50000]
#[pyclass(frozen, weakref, name = "TableGathering", module = "windlass")]
pub struct PyTableGathering {
    client: Arc<Client>,
    files: TableContext,
    asking: Asking,
    gathering: Mutex<Gathering<Arc<Client>>>,
}

impl PyTableGathering {
    /// What a client asks for.
    pub fn new(client: &Arc<Client>, asking: Asking) -> Self {
        let gathering = Mutex::new(Gathering::new(Arc::clone(client), asking.wanted.clone()));
        let files = TableContext::new(client.setting(), client.schema());
        Self { client: Arc::clone(client), files, asking, gathering }
    }

    fn open(&self) -> MutexGuard<'_, Gathering<Arc<Client>>> {
        self.gathering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self, py: Python<'_>) -> PyResult<Vec<Option<Vec<u8>>>> {
        let found = |gathering: Gathering<Arc<Client>>| self.asking.open(self.client.schema(), gathering.rows()?);
        quick(py, || Ok(found(self.open().clone())))?.map_err(|error| raise_table(py, error))
    }
}

#[pymethods]
impl PyTableGathering {
    /// Makes the next query; None when all rows are complete.
    ///
    /// Returns
    /// -------
    /// bytes or None
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     As :meth:`TableClient.query`.
    fn query<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let files = &self.files;
        let made = || -> Result<Option<Vec<u8>>> {
            let query = self.open().query()?;
            Ok(query.map(|query| to_bytes(files, &query)).transpose()?.map(|bytes| bytes.to_vec()))
        };
        let bytes = quick(py, || Ok(made()))?.map_err(|error| raise_table(py, error))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Reads the answer to the last query of :meth:`query`.
    ///
    /// Parameters
    /// ----------
    /// answer : bytes
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext, OtherKeyPair, NotDecryptable
    ///     As :meth:`TableClient.rows`. The query can then be asked again.
    fn read(&self, py: Python<'_>, answer: &Bound<'_, PyAny>) -> PyResult<()> {
        let (bytes, files) = (row_bytes(answer, "an answer")?, &self.files);
        let read = || -> Result<()> {
            let answer: Answer = from_bytes(files, &bytes)?;
            self.open().read(&answer)
        };
        quick(py, || Ok(read()))?.map_err(|error| raise_table(py, error))
    }

    /// How many rows the next query asks for; 0 when all are complete.
    #[getter]
    fn count(&self) -> usize {
        self.open().count()
    }

    /// Returns the rows when all are complete.
    ///
    /// Returns
    /// -------
    /// list of bytes or None
    ///     None for a key that the table does not have.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If a row is not complete.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        Ok(to_rows(py, self.found(py)?))
    }

    /// Returns the rows as dictionaries of their columns when all are complete.
    ///
    /// Returns
    /// -------
    /// list of dict or None
    ///
    /// Raises
    /// ------
    /// ParameterError, FileError
    ///     As :meth:`TableClient.records` and :meth:`rows`.
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_records(py, self.client.schema().fields.clone(), self.rows(py)?)
    }

    fn __repr__(&self) -> String {
        format!("<windlass.TableGathering, {} of {} rows to come>", self.count(), self.asking.wanted.count())
    }
}
