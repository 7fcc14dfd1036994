//! Tables whose keys are hidden: the key of the server, and what clients make of keys with its help.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass_retrieval::{Blinding, Error, HiddenKeys, OUTPUT_BYTES, OprfKey, Result, Schema, Wanted};

use crate::error::{of_file, plain};
use crate::runtime::quick;
use crate::table_errors::raise_table;
use crate::table_rows::row_bytes;

/// The secret key of a server that hides the keys of its table with an oblivious pseudorandom
/// function (RFC 9497, OPRF(ristretto255, SHA-512)).
///
/// **Warning.** Anyone who has this key can test guesses of table keys against answers. Keep it on
/// the server. It cannot be pickled.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> key = wl.OprfKey.generate()                                          # server
/// >>> rows = {"ada": b"1815", "alan": b"1912"}
/// >>> table = wl.Table.from_items(rows, oprf_key=key)
/// >>> client = wl.TableClient(table.schema)                                # client
/// >>> blinding = client.blind(["alan", "grace"])
/// >>> helped = key.blind_evaluate(blinding.points)                         # server
/// >>> hidden = blinding.finish(helped)                                     # client
/// >>> answer = table.answer(client.keys(), client.query(hidden))           # server
/// >>> client.rows(answer, hidden)                                          # client
/// [b'1912', None]
#[pyclass(frozen, weakref, name = "OprfKey", module = "windlass")]
pub struct PyOprfKey {
    pub key: OprfKey,
}

#[pymethods]
impl PyOprfKey {
    /// Makes a fresh key.
    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        Ok(Self { key: OprfKey::generate().map_err(|error| raise_table(py, error))? })
    }

    /// Loads the key from a file that :meth:`save` or ``windlass table build --oprf-key`` wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///
    /// Raises
    /// ------
    /// MissingFile, FileError
    ///     If the file does not exist, or is not such a key.
    ///
    /// Examples
    /// --------
    /// >>> import pathlib, tempfile, windlass as wl
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "oprf.key"
    /// >>> key = wl.OprfKey.generate()
    /// >>> key.save(path)
    /// >>> wl.OprfKey.load(path).public == key.public
    /// True
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        if !path.exists() {
            return Err(of_file(py, plain(py, "MissingFile", "there is no such file"), &path));
        }
        Ok(Self { key: OprfKey::load(&path).map_err(|error| raise_table(py, error))? })
    }

    /// Writes the key to a new file that only its owner may read (mode 0600).
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///
    /// Raises
    /// ------
    /// FileExists
    ///     If the file exists; it is not changed.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.key.save(&path).map_err(|error| of_file(py, raise_table(py, error), &path))
    }

    /// Helps a client: multiplies each of its points by the key.
    ///
    /// The server learns nothing about the table keys behind the points.
    ///
    /// **Warning.** With each point, a client can test one guess of a table key. Limit the number
    /// of points of a client if guesses must be few.
    ///
    /// Parameters
    /// ----------
    /// points : bytes
    ///     The attribute :attr:`TableBlinding.points`: 32 bytes for each key.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     As many bytes, for :meth:`TableBlinding.finish`.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If the bytes are not points of the curve.
    fn blind_evaluate<'py>(&self, py: Python<'py>, points: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let points = row_bytes(points, "the points of a client")?;
        let helped = quick(py, || Ok(self.key.blind_evaluate(&points)))?;
        Ok(PyBytes::new(py, &helped.map_err(|error| raise_table(py, error))?))
    }

    /// The public key: 32 bytes that identify this key without revealing it. The schema holds them.
    #[getter]
    fn public<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.key.public())
    }

    fn __repr__(&self) -> String {
        let public: String = self.key.public()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("<windlass.OprfKey {public}...>")
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let message = "an OPRF key is secret, so it cannot be pickled: save it with key.save(path), and load it with OprfKey.load(path)";
        Err(plain(py, "SecretNotPickled", message))
    }
}

/// The key in an argument.
pub fn oprf_key_of(given: Option<&Bound<'_, PyOprfKey>>) -> Option<OprfKey> {
    given.map(|key| key.get().key.clone())
}

/// The public key k·G of the function that hides the keys of a table, in hexadecimal.
fn public_of(schema: &Schema) -> Result<&str> {
    Ok(&schema.oprf.as_ref().ok_or(Error::PlainKeys)?.public)
}

/// Blinded table keys of a client, before the server has helped.
///
/// Made by :meth:`TableClient.blind`. It holds the keys and random numbers that must not be used
/// twice, so it cannot be pickled.
#[pyclass(frozen, weakref, name = "TableBlinding", module = "windlass")]
pub struct PyTableBlinding {
    blinding: Blinding,
    count: usize,
    public: String,
}

impl PyTableBlinding {
    /// Hides keys for a table with this schema.
    pub fn new(py: Python<'_>, schema: &Schema, keys: &[Vec<u8>]) -> PyResult<Self> {
        let made = || -> Result<_> { Ok((public_of(schema)?.to_owned(), Blinding::new(keys)?)) };
        let (public, blinding) = quick(py, || Ok(made()))?.map_err(|error| match error {
            Error::PlainKeys => {
                plain(py, "HiddenKeysError", "the keys of this table are not hidden: ask with client.query(keys)")
            }
            error => raise_table(py, error),
        })?;
        Ok(Self { blinding, count: keys.len(), public })
    }
}

#[pymethods]
impl PyTableBlinding {
    /// The points for the server, 32 bytes for each key. They are uniformly random for any keys.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.blinding.points())
    }

    /// Computes the hidden keys from the result of :meth:`OprfKey.blind_evaluate`.
    ///
    /// Parameters
    /// ----------
    /// helped : bytes
    ///
    /// Returns
    /// -------
    /// HiddenKeys
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If the bytes are not points of the curve, or not as many as were sent.
    fn finish(&self, py: Python<'_>, helped: &Bound<'_, PyAny>) -> PyResult<PyHiddenKeys> {
        let helped = row_bytes(helped, "the answer to the points")?;
        let outputs = quick(py, || Ok(self.blinding.finish(&helped)))?.map_err(|error| raise_table(py, error))?;
        Ok(PyHiddenKeys { outputs, public: self.public.clone() })
    }

    fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self) -> String {
        format!("<windlass.TableBlinding of {} keys>", self.count)
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        Err(plain(py, "SecretNotPickled", "a blinding cannot be pickled: hide the keys again"))
    }
}

/// Hidden keys: table keys of a client after the function of the server.
///
/// Made by :meth:`TableBlinding.finish`. Give them to :meth:`TableClient.query`,
/// :meth:`TableClient.rows` and :meth:`TableClient.records` instead of the keys, in any number of
/// queries. Anyone who has them can ask for those rows and read them.
#[pyclass(frozen, weakref, name = "HiddenKeys", module = "windlass")]
pub struct PyHiddenKeys {
    outputs: Vec<[u8; OUTPUT_BYTES]>,
    public: String,
}

#[pymethods]
impl PyHiddenKeys {
    fn __len__(&self) -> usize {
        self.outputs.len()
    }

    fn __repr__(&self) -> String {
        format!("<windlass.HiddenKeys, {} keys>", self.outputs.len())
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        Err(plain(
            py,
            "SecretNotPickled",
            "hidden keys open rows of their table, so they cannot be pickled: hide the keys again",
        ))
    }
}

/// What is asked for in one query.
pub struct Asking {
    /// What the query is for.
    pub wanted: Wanted,
    /// What opens sealed rows, in a table whose keys are hidden.
    outputs: Option<Vec<[u8; OUTPUT_BYTES]>>,
}

impl Asking {
    /// Keys or numbers as they are.
    ///
    /// # Errors
    /// [`Error::HiddenKeys`].
    pub fn plain(schema: &Schema, wanted: Wanted) -> Result<Self> {
        // A query for nothing is refused as everywhere, when the query is made.
        if schema.oprf.is_some() && wanted.count() > 0 {
            return Err(Error::HiddenKeys);
        }
        Ok(Self { wanted, outputs: None })
    }

    /// Hidden keys, which must be those of this table.
    ///
    /// # Errors
    /// [`Error::PlainKeys`], [`Error::OtherTable`].
    pub fn hidden(schema: &Schema, hidden: &PyHiddenKeys) -> Result<Self> {
        if public_of(schema)? != hidden.public {
            return Err(Error::OtherTable { what: "the set of hidden keys" });
        }
        let outputs = hidden.outputs.clone();
        Ok(Self { wanted: HiddenKeys::new(schema, outputs.clone())?.wanted(), outputs: Some(outputs) })
    }

    /// The rows, out of those that an answer holds.
    ///
    /// # Errors
    /// [`Error::BadRow`] for a sealed one that does not open.
    pub fn open(&self, schema: &Schema, rows: Vec<Option<Vec<u8>>>) -> Result<Vec<Option<Vec<u8>>>> {
        match &self.outputs {
            None => Ok(rows),
            Some(outputs) => HiddenKeys::new(schema, outputs.clone())?.open(rows),
        }
    }
}
