//! Lookups in tables of any size: what a server makes and serves.

mod answer;
mod change;
mod prepare;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use windlass::wire::hex;
use windlass_retrieval as retrieval;
use windlass_retrieval::{Answer, Contents, KeyChange, OprfKey, Plan, TableRequirements};

use crate::error::plain;
use crate::natural::Natural;
use crate::runtime::long;
use crate::table_errors::raise_table;
use crate::table_oprf::{PyOprfKey, oprf_key_of};
use crate::table_rows::Source;
use crate::table_version::{Asked, Version};

/// A prepared table. Clients ask for rows, and the table does not learn which.
///
/// Made by :meth:`from_rows`, :meth:`from_items` or :meth:`from_arrow`, in memory or in a
/// directory. A table in a directory is mapped, so any number of processes share one copy. It can
/// be changed while clients ask.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> table = wl.Table.from_items({"ada": b"1815", "alan": b"1912"})       # server
/// >>> client = wl.TableClient(table.schema)                                # client
/// >>> keys, query = client.keys(), client.query(["alan", "grace"])
/// >>> answer = table.answer(keys, query)                                   # server
/// >>> client.rows(answer, ["alan", "grace"])                              # client
/// [b'1912', None]
#[pyclass(frozen, weakref, name = "Table", module = "windlass")]
pub struct PyTable {
    current: RwLock<Arc<Version>>,
    directory: Option<PathBuf>,
}

impl PyTable {
    fn current(&self) -> Arc<Version> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn replace(&self, version: Version) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(version);
    }

    /// Prepares a table.
    fn make(
        py: Python<'_>,
        source: Source,
        requirements: TableRequirements,
        (like, oprf): (Option<Vec<u8>>, Option<OprfKey>),
        directory: Option<PathBuf>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let place = directory.clone();
        if like.is_some() && requirements != TableRequirements::default() {
            let given = [
                ("room", requirements.room.is_some()),
                ("most_keys", requirements.keys.is_some()),
                ("most_query", requirements.query.is_some()),
                ("most_answer", requirements.answer.is_some()),
                ("tag_bits", requirements.tag_bits.is_some()),
            ];
            let names: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
            let message =
                format!("a table keeps the layout of the schema that it is made like: leave out {}", names.join(", "));
            return Err(plain(py, "ParameterError", message));
        }
        let like = like.map(|text| retrieval::Schema::from_json(&text)).transpose();
        let like = like.map_err(|error| raise_table(py, error))?.map(|(schema, _)| schema);
        let made = long(py, progress, "table", move |ticker| {
            let observer = |done, count| ticker.tell(done, count);
            Ok(Version::prepare(&source, &requirements, (like.as_ref(), oprf.as_ref()), place.as_deref(), &observer))
        })?;
        let version = made.map_err(|error| raise_table(py, error))?;
        Ok(Self { current: RwLock::new(Arc::new(version)), directory })
    }

    fn place(&self, py: Python<'_>) -> PyResult<&Path> {
        let message = "a table in memory cannot be changed: make the table in a directory (directory=...)";
        self.directory.as_deref().ok_or_else(|| plain(py, "ParameterError", message))
    }

    /// Changes the table in its directory.
    fn change(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        change: impl FnOnce(&Path, &retrieval::Observer<'_>) -> retrieval::Result<retrieval::Table> + Send + 'static,
    ) -> PyResult<()> {
        let place = self.place(py)?.to_owned();
        let changed =
            long(py, progress, "table", move |ticker| Ok(change(&place, &|done, count| ticker.tell(done, count))))?;
        self.replace(Version::new(changed.map_err(|error| raise_table(py, error))?));
        Ok(())
    }

    /// Changes rows by key, which the given key hides where the table hides them.
    fn change_keys(
        &self,
        py: Python<'_>,
        changes: Vec<KeyChange>,
        progress: Option<&Bound<'_, PyAny>>,
        oprf_key: Option<&Bound<'_, PyOprfKey>>,
    ) -> PyResult<()> {
        let oprf = oprf_key_of(oprf_key);
        self.change(py, progress, move |place, observer| match &oprf {
            None => retrieval::Table::change_keys(place, &changes, observer),
            Some(key) => retrieval::Table::change_hidden(place, &changes, key, observer),
        })
    }

    /// Refuses a key that hides keys for rows by number.
    fn refuse_oprf_key(&self, py: Python<'_>, oprf_key: Option<&Bound<'_, PyOprfKey>>) -> PyResult<()> {
        if oprf_key.is_some() { Err(raise_table(py, retrieval::Error::PlainKeys)) } else { Ok(()) }
    }

    fn is_keyed(&self) -> bool {
        matches!(self.current().table.schema().contents, Contents::Keywords(_))
    }
}

#[pymethods]
impl PyTable {
    /// The schema to publish: the layout and the names of columns, without rows and keys.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.current().table.schema().to_json())
    }

    /// The layout, security, sizes and seconds, as text.
    #[getter]
    fn plan(&self) -> String {
        let version = self.current();
        Plan::of(version.table.setting(), version.table.schema().clone(), 0).explain()
    }

    /// The hash of the schema in hexadecimal, which queries and answers state.
    #[getter]
    fn schema_hash(&self) -> String {
        hex(&self.current().table.schema().hash())
    }

    /// The number of selections of a query for one row.
    #[getter]
    fn selections(&self) -> usize {
        self.current().table.schema().selections()
    }

    /// The number of portions of the longest row. A query for a whole row asks for all of them.
    #[getter]
    fn portions(&self) -> usize {
        self.current().table.schema().portions()
    }

    /// The maximum bytes of the evaluation keys that a client sends.
    #[getter]
    fn longest_keys(&self) -> usize {
        retrieval::longest_keys(self.current().table.setting())
    }

    /// The maximum bytes of a query of so many selections.
    fn longest_query(&self, selections: Natural) -> usize {
        let version = self.current();
        retrieval::longest_query(version.table.setting(), version.table.schema(), selections.0 as usize)
    }

    /// Whether keys are hidden (:class:`OprfKey`).
    #[getter]
    fn hides_keys(&self) -> bool {
        self.current().table.schema().oprf.is_some()
    }

    /// Checks that this OPRF key hides the keys of the table.
    ///
    /// Parameters
    /// ----------
    /// oprf_key : OprfKey
    ///
    /// Raises
    /// ------
    /// HiddenKeysError
    ///     If it is another key, or the keys of the table are not hidden.
    fn check_oprf_key(&self, py: Python<'_>, oprf_key: &PyOprfKey) -> PyResult<()> {
        self.current().table.check_oprf_key(&oprf_key.key).map_err(|error| raise_table(py, error))
    }

    /// The directory of the table; None if it is in memory.
    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        self.directory.clone()
    }

    /// Bytes of the prepared table.
    #[getter]
    fn nbytes(&self) -> u64 {
        let version = self.current();
        version.table.schema().shape.sizes(version.table.setting()).prepared
    }

    fn __len__(&self) -> usize {
        match &self.current().table.schema().contents {
            Contents::Rows(rows) => rows.count,
            Contents::Keywords(keywords) => keywords.count,
        }
    }

    fn __str__(&self) -> String {
        let by = if self.is_keyed() { "key" } else { "number" };
        let place = self.directory.as_ref().map_or("in memory".to_owned(), |place| format!("in {}", place.display()));
        let (rows, bytes) = (self.__len__(), retrieval::format_bytes(self.nbytes()));
        format!("table of {rows} rows by {by}, {bytes} prepared, {place}")
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Table: {}>", self.__str__())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let message = "a table in memory cannot be pickled: make the table in a directory, which other processes map";
        let place = self.directory.as_ref().ok_or_else(|| plain(py, "ParameterError", message))?;
        crate::pickle::reduce(py, "restore_table", (place.as_os_str(),))
    }
}

/// The table of a pickle: that in the directory, in the version that is there now.
#[pyfunction]
pub fn restore_table(py: Python<'_>, directory: PathBuf) -> PyResult<PyTable> {
    PyTable::open(&py.get_type::<PyTable>(), directory, false)
}

impl PyTable {
    fn answers<'py>(&self, py: Python<'py>, given: Vec<Asked>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        self.current().answers::<Answer>(py, given, |table, queries| table.answer_all(queries))
    }
}
