//! Lookups in tables of any size: what a server makes and serves.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};
use windlass::wire::hex;
use windlass_retrieval as retrieval;
use windlass_retrieval::{Answer, Contents, KeyChange, OprfKey, Plan, RowChange, Wish};

use crate::error::{of_file, plain};
use crate::natural::Natural;
use crate::runtime::{long, quick};
use crate::table_errors::raise_table;
use crate::table_keys::Given;
use crate::table_oprf::{PyOprfKey, oprf_key_of};
use crate::table_plan::{refuse_tag_bits, wish};
use crate::table_rows::{Source, items_of, key_bytes, keys_of, numbers_of, pairs_of, row_bytes, rows_of, with_columns};
use crate::table_shards::PyTableShard;
use crate::table_version::{Asked, Version, all_asked, asked, check, combine};

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
        wish: Wish,
        (like, oprf): (Option<Vec<u8>>, Option<OprfKey>),
        directory: Option<PathBuf>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let place = directory.clone();
        if like.is_some() && wish != Wish::default() {
            let given = [
                ("room", wish.room.is_some()),
                ("most_keys", wish.keys.is_some()),
                ("most_query", wish.query.is_some()),
                ("most_answer", wish.answer.is_some()),
                ("tag_bits", wish.tag_bits.is_some()),
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
            Ok(Version::prepare(&source, &wish, (like.as_ref(), oprf.as_ref()), place.as_deref(), &observer))
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
    /// Prepares a table whose rows have numbers, counted from 0.
    ///
    /// Parameters
    /// ----------
    /// rows : iterable of bytes
    ///     At least one row, of any lengths.
    /// directory : str or os.PathLike, optional
    ///     Where the prepared table is written; by default in memory. A preparation with the same
    ///     rows that was stopped continues.
    /// room : int, optional
    ///     The number of rows that the table must have room for.
    /// most_keys, most_query, most_answer : int, optional
    ///     The maximum bytes of the keys of a client, of the query for one row, and of its answer.
    /// like : bytes, optional
    ///     The schema of a table that clients know. The new table keeps it, so clients continue
    ///     without a change. Without it the table has a new schema, which every client must accept.
    ///     It has its own room and sizes, so give no limits beside it.
    /// progress : bool or callable, optional
    ///     False shows no progress bar; a callable is called with (done, count).
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If there are no rows.
    /// NoParameters
    ///     If no layout is within all limits, or rows do not fit the schema of `like`.
    /// FileError
    ///     If the directory cannot be written, or holds another table.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_rows([b"zero", b"one", b"two"])
    /// >>> client = wl.TableClient(table.schema)
    /// >>> client.rows(table.answer(client.keys(), client.query([2])), [2])
    /// [b'two']
    #[classmethod]
    #[pyo3(signature = (rows, *, directory=None, room=None, most_keys=None, most_query=None, most_answer=None,
        like=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn from_rows(
        class: &Bound<'_, PyType>,
        rows: &Bound<'_, PyAny>,
        directory: Option<PathBuf>,
        room: Option<Natural>,
        most_keys: Option<Natural>,
        most_query: Option<Natural>,
        most_answer: Option<Natural>,
        like: Option<Vec<u8>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let source = Source { keys: None, rows: rows_of(rows)?, fields: Vec::new(), key: None };
        let wish = wish([most_keys, most_query, most_answer], room, None);
        Self::make(class.py(), source, wish, (like, None), directory, progress)
    }

    /// Prepares a table whose rows have keys. The keys are not published.
    ///
    /// Parameters
    /// ----------
    /// items : mapping, or iterable of pairs
    ///     Keys are bytes, text (encoded as UTF-8) or integers (as their digits), each different
    ///     from the others. Rows are bytes.
    /// directory, room, most_keys, most_query, most_answer, like, progress
    ///     As for :meth:`from_rows`.
    /// oprf_key : OprfKey, optional
    ///     Hides the keys. Clients learn only the rows that the owner of this key helps them to ask
    ///     for (:class:`OprfKey`). Rows are padded to the longest and have at most about 9 KB (the
    ///     error states the limit).
    /// tag_bits : int, optional
    ///     The bits of the tag of each key, 128 (the default) or 64. With 64, each row takes 8 bytes
    ///     less on the server. Hidden keys have 128, and a table that is made `like` another keeps
    ///     its tags.
    ///
    ///     **Warning.** With 64 bits, whoever may add rows can find two keys with one tag by 2^32
    ///     hashes. The later row then replaces the earlier. No error is returned.
    ///
    /// Raises
    /// ------
    /// DuplicateKey
    ///     If a key occurs twice.
    /// HiddenKeysError
    ///     If `like` hides keys and `oprf_key` is missing or another key, or the reverse.
    /// ParameterError, NoParameters, FileError
    ///     As :meth:`from_rows`.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_items([("ada", b"1815"), (b"\x00\xff", b"bytes"), (7, b"seven")])
    /// >>> client = wl.TableClient(table.schema)
    /// >>> client.rows(table.answer(client.keys(), client.query([7, "8"])), [7, "8"])
    /// [b'seven', None]
    #[classmethod]
    #[pyo3(signature = (items, *, directory=None, room=None, most_keys=None, most_query=None, most_answer=None,
        like=None, progress=None, oprf_key=None, tag_bits=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn from_items(
        class: &Bound<'_, PyType>,
        items: &Bound<'_, PyAny>,
        directory: Option<PathBuf>,
        room: Option<Natural>,
        most_keys: Option<Natural>,
        most_query: Option<Natural>,
        most_answer: Option<Natural>,
        like: Option<Vec<u8>>,
        progress: Option<&Bound<'_, PyAny>>,
        oprf_key: Option<&Bound<'_, PyOprfKey>>,
        tag_bits: Option<Natural>,
    ) -> PyResult<Self> {
        let (keys, rows) = items_of(items)?;
        let source = Source { keys: Some(keys), rows, fields: Vec::new(), key: None };
        let wish = wish([most_keys, most_query, most_answer], room, tag_bits);
        Self::make(class.py(), source, wish, (like, oprf_key_of(oprf_key)), directory, progress)
    }

    /// Prepares a table from any source that pyarrow reads.
    ///
    /// All columns of a row are encoded as the command line encodes a line of CSV, and binary
    /// columns byte for byte. :meth:`TableClient.records` restores dictionaries with integers,
    /// floating-point numbers (as float), decimals, booleans, text, binary, dates, timestamps (to
    /// microseconds, those with a zone in UTC) and nulls. Other types are refused.
    ///
    /// Parameters
    /// ----------
    /// source : pyarrow.Table, pyarrow.RecordBatchReader, pandas.DataFrame, str or os.PathLike
    ///     ``pyarrow.dataset`` reads a path: a Parquet, Feather or CSV file (by its ending), or a
    ///     directory of Parquet files. A frame of pandas gives its columns, and its index if that
    ///     has a name. Any other object with ``__arrow_c_stream__`` is accepted.
    /// key : str, optional
    ///     The column with a different value in each row, the key of the row. Without it, clients
    ///     ask for rows by number.
    /// directory, room, most_keys, most_query, most_answer, like, progress
    ///     As for :meth:`from_rows`.
    /// oprf_key : OprfKey, optional
    ///     Hides the keys, as for :meth:`from_items`.
    /// tag_bits : int, optional
    ///     As for :meth:`from_items`.
    ///
    /// Raises
    /// ------
    /// MissingPackage
    ///     If pyarrow is not installed: ``pip install windlass[arrow]``.
    /// DTypeError
    ///     If a column has another type.
    /// ValueRangeError
    ///     If a date or timestamp is outside the years 1 to 9999.
    /// UnknownName, DuplicateKey, ParameterError
    ///     If the key column does not exist, has equal values or has nulls.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> pa = __import__("pytest").importorskip("pyarrow")
    /// >>> people = pa.table({"name": ["ada", "alan"], "born": [1815, 1912]})
    /// >>> table = wl.Table.from_arrow(people, key="name")
    /// >>> client = wl.TableClient(table.schema)
    /// >>> client.records(table.answer(client.keys(), client.query("alan")), "alan")
    /// [{'name': 'alan', 'born': 1912}]
    #[classmethod]
    #[pyo3(signature = (source, *, key=None, directory=None, room=None, most_keys=None, most_query=None,
        most_answer=None, like=None, progress=None, oprf_key=None, tag_bits=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn from_arrow(
        class: &Bound<'_, PyType>,
        source: &Bound<'_, PyAny>,
        key: Option<&str>,
        directory: Option<PathBuf>,
        room: Option<Natural>,
        most_keys: Option<Natural>,
        most_query: Option<Natural>,
        most_answer: Option<Natural>,
        like: Option<Vec<u8>>,
        progress: Option<&Bound<'_, PyAny>>,
        oprf_key: Option<&Bound<'_, PyOprfKey>>,
        tag_bits: Option<Natural>,
    ) -> PyResult<Self> {
        let py = class.py();
        if oprf_key.is_some() && key.is_none() {
            let message = "an OPRF key hides the keys of rows: name the column of keys (key=...)";
            return Err(plain(py, "ParameterError", message));
        }
        refuse_tag_bits(py, key.is_some(), tag_bits)?;
        let cells = PyModule::import(py, "windlass._arrow")?.getattr("cells")?.call1((source, key))?;
        let source = with_columns(&cells, key)?;
        let wish = wish([most_keys, most_query, most_answer], room, tag_bits);
        Self::make(py, source, wish, (like, oprf_key_of(oprf_key)), directory, progress)
    }

    /// Opens a table in a directory that this package or the command line made.
    ///
    /// Parameters
    /// ----------
    /// directory : str or os.PathLike
    /// verify : bool
    ///     Whether to verify the checksums of all pieces, which reads each piece once.
    ///
    ///     **Warning.** Without the check, a damaged piece gives wrong rows without an error.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If something is missing or damaged; the message names the file.
    ///
    /// Examples
    /// --------
    /// >>> import pathlib, tempfile, windlass as wl
    /// >>> place = pathlib.Path(tempfile.mkdtemp()) / "served"
    /// >>> _ = wl.Table.from_items({"ada": b"1815"}, directory=place)
    /// >>> table = wl.Table.open(place)
    /// >>> table.set({"alan": b"1912"})
    /// >>> len(table)
    /// 2
    #[classmethod]
    #[pyo3(signature = (directory, *, verify=true))]
    fn open(class: &Bound<'_, PyType>, directory: PathBuf, verify: bool) -> PyResult<Self> {
        let py = class.py();
        if !directory.exists() {
            return Err(of_file(py, plain(py, "MissingFile", "there is no such directory"), &directory));
        }
        let place = directory.clone();
        let version = long(py, None, "table", move |_| Ok(Version::open(&place, verify)))?;
        let version = version.map_err(|error| raise_table(py, error))?;
        Ok(Self { current: RwLock::new(Arc::new(version)), directory: Some(directory) })
    }

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

    /// Computes the answer to a query, in one pass through the whole table.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    ///     The evaluation keys of the client. Bytes are parsed in each call.
    /// query : bytes
    ///
    /// Returns
    /// -------
    /// bytes
    ///     The answer, which only the client can decrypt. The server does the same work for every
    ///     row, also for one that the table does not have.
    ///
    /// Raises
    /// ------
    /// OtherContext
    ///     If the query is for another table.
    /// OtherKeyPair
    ///     If keys and query belong to two clients.
    /// MissingKeys, FileError
    ///     If the keys do not suffice, or the bytes are not keys or not a query.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        query: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(self.answers(py, vec![asked(keys, query)?])?.remove(0))
    }

    /// Computes the answers to queries of any number of clients, which share passes through the
    /// table.
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
    ///     As :meth:`answer`. No answer is then returned.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_rows([b"zero", b"one"])
    /// >>> clients = [wl.TableClient(table.schema) for _ in range(2)]
    /// >>> queries = [(wl.TableKeys(c.keys()), c.query(n)) for n, c in enumerate(clients)]
    /// >>> answers = table.answer_all(queries)
    /// >>> [c.rows(a, n) for n, (c, a) in enumerate(zip(clients, answers))]
    /// [[b'zero'], [b'one']]
    fn answer_all<'py>(&self, py: Python<'py>, queries: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        self.answers(py, all_asked(queries)?)
    }

    /// Checks whether a query can be answered with these keys, without computing the answer.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    /// query : bytes, optional
    ///     Without it only the keys are checked.
    ///
    /// Returns
    /// -------
    /// int
    ///     The number of selections of the query: :attr:`selections` for each row.
    ///
    /// Raises
    /// ------
    /// WindlassError
    ///     As :meth:`answer`.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_rows([b"zero", b"one"])
    /// >>> client = wl.TableClient(table.schema)
    /// >>> table.check(client.keys(), client.query([0, 1, 1])) == 3 * table.selections
    /// True
    #[pyo3(signature = (keys, query=None))]
    fn check(&self, py: Python<'_>, keys: &Bound<'_, PyAny>, query: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
        let (keys, version) = (Given::of(keys)?, self.current());
        let query = query.map(|query| row_bytes(query, "a query")).transpose()?;
        let checked = quick(py, || Ok(check(&version, &keys, query.as_deref())))?;
        checked.map_err(|error| raise_table(py, error))
    }

    /// Takes one of the blocks of columns of the table, for machines that hold one block each.
    ///
    /// Parameters
    /// ----------
    /// index : int
    ///     The number of the block, counted from 0.
    /// of : int
    ///     The number of blocks.
    ///
    /// Raises
    /// ------
    /// NoShards
    ///     If the columns cannot be cut into that number of blocks; the attribute ``possible``
    ///     lists the numbers that are possible.
    /// ParameterError
    ///     If the index is too large.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> table = wl.Table.from_rows([b"%099d" % n for n in range(9000)])
    /// >>> client = wl.TableClient(table.schema)
    /// >>> keys, query = client.keys(), client.query(8765)
    /// >>> parts = [table.shard(i, 2).answer(keys, query) for i in range(2)]   # on two machines
    /// >>> answer = table.combine(keys, query, parts)                          # on any
    /// >>> client.rows(answer, 8765)[0][-6:]
    /// b'008765'
    fn shard(&self, py: Python<'_>, index: Natural, of: Natural) -> PyResult<PyTableShard> {
        let version = self.current();
        let shards = version.table.shards(of.0 as usize).map_err(|error| raise_table(py, error))?;
        let beyond = || {
            plain(
                py,
                "ParameterError",
                format!("the number of a shard of {} must be below that, not {}", of.0, index.0),
            )
        };
        let shard = *shards.get(index.0 as usize).ok_or_else(beyond)?;
        Ok(PyTableShard::new(version, shard))
    }

    /// Combines the parts of all shards, in any order, to the answer to a query.
    ///
    /// Parameters
    /// ----------
    /// keys : TableKeys or bytes
    /// query : bytes
    /// parts : iterable of bytes
    ///     The result of :meth:`TableShard.answer` of each shard, once.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     The same bits as :meth:`answer`. No row of the table is read.
    ///
    /// Raises
    /// ------
    /// PartError
    ///     If a part is missing, occurs twice, or belongs to another query, version of the table or
    ///     number of shards.
    /// WindlassError
    ///     As :meth:`answer`.
    fn combine<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        query: &Bound<'py, PyAny>,
        parts: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (version, given) = (self.current(), asked(keys, query)?);
        let parts: Vec<Vec<u8>> =
            parts.try_iter()?.map(|part| row_bytes(&part?, "the part of a shard")).collect::<PyResult<_>>()?;
        let quiet = pyo3::types::PyBool::new(py, false).to_owned().into_any();
        let answer = long(py, Some(&quiet), "combine", move |_| Ok(combine(&version, &given, &parts)))?;
        Ok(PyBytes::new(py, &answer.map_err(|error| raise_table(py, error))?))
    }

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

    fn __len__(&self) -> usize {
        match &self.current().table.schema().contents {
            Contents::Rows(rows) => rows.count,
            Contents::Keywords(keywords) => keywords.count,
        }
    }

    fn __str__(&self) -> String {
        let by = if self.is_keyed() { "key" } else { "number" };
        let place = self.directory.as_ref().map_or("in memory".to_owned(), |place| format!("in {}", place.display()));
        let (rows, bytes) = (self.__len__(), retrieval::size(self.nbytes()));
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
