//! Tables from rows, from keys with rows, from Arrow, and out of a directory.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use pyo3::prelude::*;
use pyo3::types::PyType;

use super::PyTable;
use crate::error::{of_file, plain};
use crate::natural::Natural;
use crate::runtime::long;
use crate::table_errors::raise_table;
use crate::table_oprf::{PyOprfKey, oprf_key_of};
use crate::table_plan::{refuse_tag_bits, requirements};
use crate::table_rows::{Source, items_of, rows_of, with_columns};
use crate::table_version::Version;

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
        let requirements = requirements([most_keys, most_query, most_answer], room, None);
        Self::make(class.py(), source, requirements, (like, None), directory, progress)
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
    ///     **Warning.** With 64 bits, anyone who may add rows can find two keys with the same tag in
    ///     about 2^32 hashes. The later row then replaces the earlier. No error is returned.
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
        let requirements = requirements([most_keys, most_query, most_answer], room, tag_bits);
        Self::make(class.py(), source, requirements, (like, oprf_key_of(oprf_key)), directory, progress)
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
        let requirements = requirements([most_keys, most_query, most_answer], room, tag_bits);
        Self::make(py, source, requirements, (like, oprf_key_of(oprf_key)), directory, progress)
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
    pub(super) fn open(class: &Bound<'_, PyType>, directory: PathBuf, verify: bool) -> PyResult<Self> {
        let py = class.py();
        if !directory.exists() {
            return Err(of_file(py, plain(py, "MissingFile", "there is no such directory"), &directory));
        }
        let place = directory.clone();
        let version = long(py, None, "table", move |_| Ok(Version::open(&place, verify)))?;
        let version = version.map_err(|error| raise_table(py, error))?;
        Ok(Self { current: RwLock::new(Arc::new(version)), directory: Some(directory) })
    }
}
