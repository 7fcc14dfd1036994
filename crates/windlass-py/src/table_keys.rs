//! The evaluation keys of a client of a table, parsed once for any number of answers.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::rlwe::EvaluationKeys;
use windlass::wire::{WireError, from_bytes, to_bytes};
use windlass_retrieval::{Error, KeyContext, Moduli, Result, Setting};

use crate::runtime::quick;
use crate::table_errors::raise_table;
use crate::table_rows::row_bytes;

/// What keys agree with, for each choice of moduli.
fn contexts() -> Result<&'static [KeyContext]> {
    static CONTEXTS: OnceLock<Vec<KeyContext>> = OnceLock::new();
    if let Some(known) = CONTEXTS.get() {
        return Ok(known);
    }
    let of = |moduli| Setting::new(moduli).map(|setting| KeyContext::new(&setting));
    let made = Moduli::ALL.into_iter().map(of).collect::<Result<Vec<_>>>()?;
    Ok(CONTEXTS.get_or_init(|| made))
}

/// Keys in bytes, with what they agree with: of whichever moduli they are.
fn read(bytes: &[u8]) -> Result<(EvaluationKeys, &'static KeyContext)> {
    let contexts = contexts()?;
    for context in contexts {
        match from_bytes::<_, EvaluationKeys>(context, bytes) {
            Err(windlass::Error::Wire(WireError::OtherContext { .. })) => {}
            Err(error) => return Err(error.into()),
            Ok(keys) => return checked(keys).map(|keys| (keys, context)),
        }
    }
    Err(Error::OtherTable { what: "the file of evaluation keys" })
}

/// Refuses keys for a smaller modulus than that of queries.
fn checked(keys: EvaluationKeys) -> Result<EvaluationKeys> {
    let top = keys.context().top_level();
    let galois = keys.galois_elements().filter_map(|element| keys.galois(element));
    if keys.relinearisation().into_iter().chain(galois).any(|key| key.level() != top) {
        return Err(Error::MissingKey { what: "keys for the modulus of the table; some are for a smaller modulus" });
    }
    Ok(keys)
}

/// Evaluation keys of a client of tables, parsed once for any number of answers.
///
/// Parameters
/// ----------
/// data : bytes
///     The result of :meth:`TableClient.keys`, or the file ``evaluation.keys`` of the command line.
///
/// Raises
/// ------
/// FileError
///     If the bytes are not evaluation keys, or not whole.
/// OtherContext
///     If the evaluation keys are not those of a table.
/// MissingKeys
///     If the modulus of the keys is smaller than that of tables.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> table = wl.Table.from_rows([b"zero", b"one"])
/// >>> client = wl.TableClient(table.schema)
/// >>> keys = wl.TableKeys(client.keys())
/// >>> [client.rows(table.answer(keys, client.query(n)), n) for n in (0, 1)]
/// [[b'zero'], [b'one']]
#[pyclass(frozen, weakref, name = "TableKeys", module = "windlass")]
pub struct PyTableKeys {
    keys: Arc<EvaluationKeys>,
    context: &'static KeyContext,
}

#[pymethods]
impl PyTableKeys {
    #[new]
    fn new(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = row_bytes(data, "the file of evaluation keys")?;
        let (keys, context) = quick(py, || Ok(read(&bytes)))?.map_err(|error| raise_table(py, error))?;
        Ok(Self { keys: Arc::new(keys), context })
    }

    /// Bytes of the keys in memory.
    #[getter]
    fn nbytes(&self) -> u64 {
        let count = self.keys.galois_elements().count() + usize::from(self.keys.relinearisation().is_some());
        count as u64 * self.keys.context().params().key_sizes().switching_key_memory
    }

    fn __repr__(&self) -> String {
        let count = self.keys.galois_elements().count() + usize::from(self.keys.relinearisation().is_some());
        format!("<windlass.TableKeys, {count} keys, {}>", windlass_retrieval::format_bytes(self.nbytes()))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = quick(py, || Ok(to_bytes(self.context, &*self.keys)?.to_vec()))?;
        crate::pickle::reduce(py, "TableKeys", (crate::pickle::buffer(py, bytes, protocol)?,))
    }
}

/// Evaluation keys as they are given: read, or still to be.
pub enum Given {
    /// Read.
    Parsed(Arc<EvaluationKeys>),
    /// In the bytes of their file.
    Bytes(Vec<u8>),
}

impl Given {
    /// Those of an argument.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(match given.cast::<PyTableKeys>() {
            Ok(keys) => Self::Parsed(Arc::clone(&keys.get().keys)),
            Err(_) => Self::Bytes(row_bytes(given, "the keys, where they are no TableKeys,")?),
        })
    }

    /// The keys.
    pub fn read(&self) -> Result<Arc<EvaluationKeys>> {
        match self {
            Self::Parsed(keys) => Ok(Arc::clone(keys)),
            Self::Bytes(bytes) => Ok(Arc::new(read(bytes)?.0)),
        }
    }
}
