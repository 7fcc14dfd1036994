//! Public keys, which encrypt for their client.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::Result;
use windlass::rlwe::PublicKey;
use windlass::schemes::{Encryptor, ckks};

use super::encrypting::encrypt;
use crate::array::PyCiphertext;
use crate::either::{Either, map_kind, on_kind};
use crate::error::{of_file, raise};
use crate::runtime::quick;
use crate::setting::{Kind, PyContext, Setting};

/// A public-key encryptor of the library.
type EncryptorKind = Either<Encryptor, ckks::Encryptor>;

/// A public key, which encrypts for its client and decrypts nothing.
#[pyclass(frozen, weakref, name = "Encryptor", module = "windlass")]
pub struct PyEncryptor {
    setting: Arc<Setting>,
    kind: EncryptorKind,
    /// The key in the bytes of its file.
    bytes: Vec<u8>,
}

impl PyEncryptor {
    pub fn of_key(py: Python<'_>, setting: &Arc<Setting>, key: PublicKey) -> PyResult<Self> {
        let made = || {
            let bytes = on_kind!(&setting.kind, context => context.to_bytes(&key)?);
            Ok((bytes, encryptor(setting, key)?))
        };
        let (bytes, kind) = made().map_err(|error| raise(py, error))?;
        Ok(Self { setting: Arc::clone(setting), kind, bytes })
    }

    /// The public key in the bytes of its file.
    pub fn key_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn from_bytes(py: Python<'_>, setting: &Arc<Setting>, bytes: &[u8]) -> PyResult<Self> {
        let key = quick(py, || on_kind!(&setting.kind, context => context.from_bytes(bytes)))?;
        Self::of_key(py, setting, key)
    }
}

#[pymethods]
impl PyEncryptor {
    /// Encrypts an array with the public key. Parameters, result and errors are those of
    /// :meth:`Client.encrypt`.
    #[pyo3(signature = (values, *, bound=1.0, elements=false))]
    fn encrypt(&self, py: Python<'_>, values: &Bound<'_, PyAny>, bound: f64, elements: bool) -> PyResult<PyCiphertext> {
        encrypt(py, map_kind!(&self.kind, own => own), &self.setting, values, bound, elements)
    }

    /// Writes the public key to a new file and returns the number of bytes. Raises
    /// :class:`FileExists` if the file exists.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        windlass::wire::write_new(&path, &self.bytes, windlass::wire::Access::Public)
            .map_err(|error| of_file(py, raise(py, error.into()), &path))?;
        Ok(self.bytes.len() as u64)
    }

    /// The context of the key.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    /// Bytes of the file of the public key.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Encryptor, {}>", self.setting.in_words())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = crate::pickle::buffer(py, self.bytes.clone(), protocol)?;
        crate::pickle::reduce(py, "restore_encryptor", (self.setting.state.clone(), bytes))
    }
}

/// The encryptor over a public key.
fn encryptor(setting: &Setting, key: PublicKey) -> Result<EncryptorKind> {
    let key = Arc::new(key);
    Ok(match &setting.kind {
        Kind::Exact(context) => {
            let encryptor = windlass::schemes::Encryptor::new(context.scheme(), key);
            EncryptorKind::Exact(encryptor.at_level(context.params().top_level())?)
        }
        Kind::Approximate(context) => {
            EncryptorKind::Approximate(windlass::schemes::ckks::Encryptor::new(context.ckks(), key)?)
        }
    })
}
