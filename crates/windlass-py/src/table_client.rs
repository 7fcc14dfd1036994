//! Lookups in tables of any size: what a client does.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use windlass::rlwe::SecretKey;
use windlass::wire::{from_bytes, load, load_sealed, save, save_sealed, to_bytes};
use windlass_retrieval::{Answer, Client, Contents, KeyContext, Result, Schema, Setting, TableContext, Wanted};

use crate::error::{of_file, plain};
use crate::passphrase::passphrase_of;
use crate::runtime::quick;
use crate::table_errors::raise_table;
use crate::table_gathering::PyTableGathering;
use crate::table_oprf::{Asking, PyHiddenKeys, PyTableBlinding};
use crate::table_rows::{keys_of, numbers_of, row_bytes, to_records, to_rows};

/// A client of a table: makes queries for rows and decrypts answers.
///
/// Parameters
/// ----------
/// schema : bytes
///     The schema that the server publishes: :attr:`Table.schema`, or the file ``schema.json``. All
///     of it is checked. The client makes a fresh secret key; :meth:`load` reads one from a file.
///
/// Raises
/// ------
/// FileError, ParameterError
///     If the bytes are not a schema, or no table can have this schema.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> table = wl.Table.from_items({"ada": b"1815", "alan": b"1912"})
/// >>> client = wl.TableClient(table.schema)
/// >>> client.security_bits >= 128
/// True
/// >>> client.rows(table.answer(client.keys(), client.query("ada")), "ada")
/// [b'1815']
#[pyclass(frozen, weakref, name = "TableClient", module = "windlass")]
pub struct PyTableClient {
    client: Arc<Client>,
    files: TableContext,
    key_files: KeyContext,
}

impl PyTableClient {
    fn of(client: Client) -> Self {
        let files = TableContext::new(client.setting(), client.schema());
        let key_files = KeyContext::new(client.setting());
        Self { client: Arc::new(client), files, key_files }
    }

    /// Work with the client, without the interpreter's lock.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Client) -> Result<T> + Send) -> PyResult<T> {
        let done = quick(py, || Ok(work(&self.client)))?;
        done.map_err(|error| raise_table(py, error))
    }

    fn is_keyed(&self) -> bool {
        matches!(self.client.schema().contents, Contents::Keywords(_))
    }

    fn asking(&self, given: &Bound<'_, PyAny>) -> PyResult<Asking> {
        let schema = self.client.schema();
        let asking = match given.cast::<PyHiddenKeys>() {
            Ok(hidden) => Asking::hidden(schema, hidden.get()),
            Err(_) if self.is_keyed() => Asking::plain(schema, Wanted::Keys(keys_of(given)?)),
            Err(_) => Asking::plain(schema, Wanted::Rows(numbers_of(given)?)),
        };
        asking.map_err(|error| raise_table(given.py(), error))
    }

    fn read(&self, answer: &Bound<'_, PyAny>, wanted: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Vec<u8>>>> {
        let (bytes, asking) = (row_bytes(answer, "an answer")?, self.asking(wanted)?);
        self.with(answer.py(), |client| {
            let answer: Answer = from_bytes(&self.files, &bytes)?;
            asking.open(client.schema(), client.read(&answer, &asking.wanted)?)
        })
    }
}

fn read_schema(py: Python<'_>, schema: &Bound<'_, PyAny>) -> PyResult<(Schema, Arc<Setting>)> {
    let text = row_bytes(schema, "a schema")?;
    quick(py, || Ok(Schema::from_json(&text)))?.map_err(|error| raise_table(py, error))
}

#[pymethods]
impl PyTableClient {
    #[new]
    fn new(py: Python<'_>, schema: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (schema, setting) = read_schema(py, schema)?;
        let client = quick(py, || Ok(Client::new(schema, &setting)))?;
        Ok(Self::of(client.map_err(|error| raise_table(py, error))?))
    }

    /// Loads a client from the file of a secret key that :meth:`save_secret` or the command line
    /// wrote.
    ///
    /// A secret key can be used with every table that has the same moduli.
    ///
    /// Parameters
    /// ----------
    /// schema : bytes
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     The passphrase of an encrypted file.
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file is not a secret key for such a table, or a passphrase is given and the file
    ///     is not encrypted.
    /// PassphraseNeeded, WrongPassphrase
    ///     If the file is encrypted and the passphrase is missing or wrong.
    ///
    /// Examples
    /// --------
    /// >>> import pathlib, tempfile, windlass as wl
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "secret.key"
    /// >>> table = wl.Table.from_rows([b"zero", b"one"])
    /// >>> client = wl.TableClient(table.schema)
    /// >>> _ = client.save_secret(path)
    /// >>> answer = table.answer(client.keys(), client.query(1))
    /// >>> wl.TableClient.load(table.schema, path).rows(answer, 1)
    /// [b'one']
    #[staticmethod]
    #[pyo3(signature = (schema, path, *, passphrase=None))]
    fn load(
        py: Python<'_>,
        schema: &Bound<'_, PyAny>,
        path: PathBuf,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (passphrase, (schema, setting)) = (passphrase_of(passphrase)?, read_schema(py, schema)?);
        let context = KeyContext::new(&setting);
        let secret = quick(py, || match &passphrase {
            None => Ok(load::<_, SecretKey>(&path, &context)?.0),
            Some(passphrase) => load_sealed(&path, &context, passphrase),
        });
        let secret = secret.map_err(|error| of_file(py, error, &path))?;
        let client = quick(py, || Ok(Client::with_secret(schema, &setting, secret)))?;
        Ok(Self::of(client.map_err(|error| raise_table(py, error))?))
    }

    /// Makes a client of another table with the secret key of this client. Tables with the same
    /// moduli also share evaluation keys.
    ///
    /// Parameters
    /// ----------
    /// schema : bytes
    ///
    /// Raises
    /// ------
    /// OtherContext
    ///     If that table has other moduli.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> years = wl.Table.from_rows([b"1815", b"1912"])
    /// >>> names = wl.Table.from_rows([b"ada", b"alan"])
    /// >>> client = wl.TableClient(years.schema)
    /// >>> other = client.with_schema(names.schema)
    /// >>> other.rows(names.answer(client.keys(), other.query(1)), 1)
    /// [b'alan']
    fn with_schema(&self, py: Python<'_>, schema: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (schema, setting) = read_schema(py, schema)?;
        let client = self.with(py, |client| {
            let secret = to_bytes(&self.key_files, client.secret())?;
            let secret: SecretKey = from_bytes(&KeyContext::new(&setting), &secret)?;
            Client::with_secret(schema, &setting, secret)
        })?;
        Ok(Self::of(client))
    }

    /// Returns the evaluation keys that the server needs. The client sends them once, for any
    /// number of queries.
    ///
    /// Returns
    /// -------
    /// bytes
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |client| Ok(to_bytes(&self.key_files, &client.evaluation_keys()?)?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Makes a query for some rows. The query does not reveal which.
    ///
    /// Parameters
    /// ----------
    /// wanted : iterable, or one, or HiddenKeys
    ///     At most 1024 rows: keys (bytes or another buffer of bytes, text, integers) for a table
    ///     by key, numbers for a table by number, and the result of :meth:`blind` if keys are
    ///     hidden.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If the table does not have a number, or no row or too many rows are asked for.
    /// HiddenKeysError
    ///     If the table hides its keys and plain keys are given, or the reverse.
    /// DTypeError
    ///     If a key has another type, such as a number with a fraction.
    fn query<'py>(&self, py: Python<'py>, wanted: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let wanted = self.asking(wanted)?.wanted;
        let bytes = self.with(py, |client| Ok(to_bytes(&self.files, &client.query(&wanted)?)?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Asks for rows in portions. If a table has a few long rows, queries for short rows become
    /// small.
    ///
    /// **Warning.** The server then learns about how long each row is: the number of its portions,
    /// rounded up to a power of two. A query for whole rows (:meth:`query`) reveals nothing.
    ///
    /// Parameters
    /// ----------
    /// wanted
    ///     As for :meth:`query`.
    ///
    /// Returns
    /// -------
    /// TableGathering
    ///
    /// Raises
    /// ------
    /// HiddenKeysError, DTypeError
    ///     As :meth:`query`. Its other errors are raised with the first query.
    fn in_portions(&self, wanted: &Bound<'_, PyAny>) -> PyResult<PyTableGathering> {
        Ok(PyTableGathering::new(&self.client, self.asking(wanted)?))
    }

    /// Blinds keys for a table that hides its keys, so that the server does not learn them.
    ///
    /// Parameters
    /// ----------
    /// keys : iterable, or one
    ///     Keys, as for :meth:`query` of other tables.
    ///
    /// Returns
    /// -------
    /// TableBlinding
    ///     Send its :attr:`points <TableBlinding.points>` to the server, which computes
    ///     :meth:`OprfKey.blind_evaluate`, and give the result to :meth:`TableBlinding.finish`.
    ///     (:meth:`LookupService.ask` does all of this.)
    ///
    /// Raises
    /// ------
    /// HiddenKeysError
    ///     If the keys of the table are not hidden.
    /// ParameterError
    ///     If a key has more than 65535 bytes.
    /// DTypeError
    ///     If a key has another type.
    fn blind(&self, py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<PyTableBlinding> {
        PyTableBlinding::new(py, self.client.schema(), &keys_of(keys)?)
    }

    /// Decrypts the rows in the answer to a query.
    ///
    /// Parameters
    /// ----------
    /// answer : bytes
    /// wanted : iterable, or one
    ///     The rows of the query in the same order, or the same :class:`HiddenKeys`.
    ///
    /// Returns
    /// -------
    /// list of bytes or None
    ///     None for a key that the table does not have.
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext, OtherKeyPair, ShapeError
    ///     If the answer is damaged, or belongs to another table, to the query of another client,
    ///     or to another number of rows.
    /// NotDecryptable
    ///     If someone changed the answer on its way; ``index`` is the first such row.
    fn rows<'py>(
        &self,
        answer: &Bound<'py, PyAny>,
        wanted: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        Ok(to_rows(answer.py(), self.read(answer, wanted)?))
    }

    /// Decrypts the rows in the answer to a query as dictionaries of their columns.
    ///
    /// For tables that :meth:`Table.from_arrow` made, with their original types, and for tables
    /// that the command line made from CSV, whose cells are text.
    ///
    /// Parameters
    /// ----------
    /// answer, wanted
    ///     As for :meth:`rows`.
    ///
    /// Returns
    /// -------
    /// list of dict or None
    ///     None for a key that the table does not have, and for a row that was removed.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If the rows of the table have no columns.
    /// FileError
    ///     If a row does not have the columns of the table; also as :meth:`rows`.
    fn records<'py>(&self, answer: &Bound<'py, PyAny>, wanted: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        to_records(answer.py(), self.fields(), self.rows(answer, wanted)?)
    }

    /// Writes the secret key to a new file that only its owner may read (mode 0600).
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     Encrypts the file (Argon2id and ChaCha20-Poly1305). Without a passphrase, anyone who can
    ///     read the file has the key.
    ///
    /// Returns
    /// -------
    /// int
    ///     Bytes written.
    ///
    /// Raises
    /// ------
    /// FileExists
    ///     If the file exists; it is not changed.
    /// ParameterError
    ///     If the passphrase is empty.
    #[pyo3(signature = (path, *, passphrase=None))]
    fn save_secret(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let passphrase = passphrase_of(passphrase)?;
        let saved = self.with(py, |client| match &passphrase {
            None => Ok(save(&path, &self.key_files, client.secret())?),
            Some(passphrase) => Ok(save_sealed(&path, &self.key_files, client.secret(), passphrase)?),
        });
        saved.map_err(|error| of_file(py, error, &path))
    }

    /// The schema.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.client.schema().to_json())
    }

    /// The security in bits: log2 of the work of the best known attack on what the server sees.
    #[getter]
    fn security_bits(&self) -> f64 {
        self.files.setting().context().params().security().bits
    }

    /// Whether clients ask for rows by key, not by number.
    #[getter]
    fn keyed(&self) -> bool {
        self.is_keyed()
    }

    /// Whether the table hides its keys; then :meth:`query` takes the result of :meth:`blind`.
    #[getter]
    fn hides_keys(&self) -> bool {
        self.client.schema().oprf.is_some()
    }

    /// Portions of the longest row. Every query for a whole row asks for so many.
    #[getter]
    fn portions(&self) -> usize {
        self.client.schema().portions()
    }

    /// The names of the columns; empty if rows have none.
    #[getter]
    fn fields(&self) -> Vec<String> {
        self.client.schema().fields.clone()
    }

    fn __repr__(&self) -> String {
        let by = if self.is_keyed() { "key" } else { "number" };
        format!("<windlass.TableClient, rows by {by}, {:.1} bits of security>", self.security_bits())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let message = "a client of a table holds a secret key, so it cannot be pickled: save it with client.save_secret(path), and load it with TableClient.load(schema, path)";
        Err(plain(py, "SecretNotPickled", message))
    }
}
