//! Keys that bring arrays to another key pair.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass::rlwe::{Context as RlweContext, ReceivingKey, ReencryptionKey};
use windlass::wire::{Access, write_new};

use crate::array::PyCiphertext;
use crate::client::PyClient;
use crate::either::{map_kind, on_kind};
use crate::error::{of_file, plain, raise};
use crate::runtime::quick;
use crate::setting::{PyContext, Setting};

/// What others need to delegate encrypted arrays to a client. Public.
///
/// Made by :meth:`Client.receiving_key`.
#[pyclass(frozen, weakref, name = "ReceivingKey", module = "windlass")]
pub struct PyReceivingKey {
    setting: Arc<Setting>,
    key: ReceivingKey,
}

/// A key that brings encrypted arrays from one key pair to another (:meth:`Ciphertext.reencrypt`).
///
/// Made by :meth:`Client.reencryption_key` and :meth:`Client.delegation_key`.
///
/// **Warning.** The holder of the key pair that it leads to can read *all* arrays of the other key pair with it. Give it
/// to the server only.
#[pyclass(frozen, weakref, name = "ReencryptionKey", module = "windlass")]
pub struct PyReencryptionKey {
    setting: Arc<Setting>,
    key: ReencryptionKey,
}

fn other_context(py: Python<'_>) -> PyErr {
    plain(py, "OtherContext", "the two key pairs have different contexts; make both with one context")
}

fn check_context(py: Python<'_>, left: &Arc<RlweContext>, right: &Arc<RlweContext>) -> PyResult<()> {
    if Arc::ptr_eq(left, right) { Ok(()) } else { Err(other_context(py)) }
}

/// The methods that both kinds of keys have.
macro_rules! key_files {
    ($class:ident, $key:ty) => {
        #[pymethods]
        impl $class {
            /// The key of these bytes, for a context.
            ///
            /// Parameters
            /// ----------
            /// context : Context
            /// data : bytes
            ///
            /// Raises
            /// ------
            /// FileError
            ///     If the bytes are no such key, or one of other parameters.
            #[staticmethod]
            fn from_bytes(py: Python<'_>, context: &PyContext, data: &[u8]) -> PyResult<Self> {
                let setting = Arc::clone(&context.setting);
                let key: $key = quick(py, || on_kind!(&setting.kind, context => context.from_bytes(data)))?;
                Ok(Self { setting, key })
            }

            /// The key in the bytes of its file.
            fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                Ok(PyBytes::new(py, &self.bytes(py)?))
            }

            /// Writes the key to a new file and returns the number of bytes. Raises :class:`FileExists` if the file
            /// exists.
            fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
                let bytes = self.bytes(py)?;
                write_new(&path, &bytes, Access::Public).map_err(|error| of_file(py, raise(py, error.into()), &path))?;
                Ok(bytes.len() as u64)
            }

            /// The context of the key.
            #[getter]
            fn context(&self) -> PyContext {
                PyContext { setting: Arc::clone(&self.setting) }
            }
        }

        impl $class {
            fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
                quick(py, || on_kind!(&self.setting.kind, context => context.to_bytes(&self.key)))
            }
        }
    };
}

key_files!(PyReceivingKey, ReceivingKey);
key_files!(PyReencryptionKey, ReencryptionKey);

#[pymethods]
impl PyReceivingKey {
    fn __repr__(&self) -> String {
        format!("<windlass.ReceivingKey, {}>", self.setting.in_words())
    }
}

#[pymethods]
impl PyReencryptionKey {
    fn __repr__(&self) -> String {
        format!("<windlass.ReencryptionKey, {}>", self.setting.in_words())
    }
}

#[pymethods]
impl PyClient {
    /// What others need to delegate encrypted arrays to this client.
    ///
    /// Returns
    /// -------
    /// ReceivingKey
    fn receiving_key(&self, py: Python<'_>) -> PyResult<PyReceivingKey> {
        let key = quick(py, || on_kind!(&*self.kind, client => client.receiving_key()))?;
        Ok(PyReceivingKey { setting: Arc::clone(&self.setting), key })
    }

    /// Makes a key that brings arrays of this client to another client of the same owner, without decrypting them: for
    /// a server that stores them, when a key pair is changed.
    ///
    /// Parameters
    /// ----------
    /// to : Client
    ///     A client of the same context.
    ///
    /// Returns
    /// -------
    /// ReencryptionKey
    ///
    /// Raises
    /// ------
    /// OtherContext
    ///     If the other client has other parameters.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> old, _ = context.generate_keys()
    /// >>> new, _ = context.generate_keys()
    /// >>> key = old.reencryption_key(new)
    /// >>> new.decrypt(old.encrypt([1, 2]).reencrypt(key))
    /// array([1, 2])
    fn reencryption_key(&self, py: Python<'_>, to: &Self) -> PyResult<PyReencryptionKey> {
        let key = on_kind!((&*self.kind, &*to.kind), (from, to) => {
            check_context(py, from.secret_key().context(), to.secret_key().context())?;
            quick(py, || from.reencryption_key(to))?
        }, else return Err(other_context(py)));
        Ok(PyReencryptionKey { setting: Arc::clone(&self.setting), key })
    }

    /// Makes a key that brings arrays of this client to a recipient, who then reads them.
    ///
    /// **Warning.** The recipient, together with a server that has the key, can read *all* arrays of this client, also
    /// those that are not given on. The recipient alone reads the errors of what is given on, which depend on the secret:
    /// who knows how it was encrypted learns the secret from enough of it. Make a client for what will be given on alone.
    ///
    /// Parameters
    /// ----------
    /// to : ReceivingKey
    ///     Of the recipient (:meth:`receiving_key`).
    ///
    /// Returns
    /// -------
    /// ReencryptionKey
    ///
    /// Raises
    /// ------
    /// OtherContext
    ///     If the recipient has other parameters.
    fn delegation_key(&self, py: Python<'_>, to: &PyReceivingKey) -> PyResult<PyReencryptionKey> {
        on_kind!(&*self.kind, client => check_context(py, client.secret_key().context(), to.key.context())?);
        let key = quick(py, || on_kind!(&*self.kind, client => client.delegation_key(&to.key)))?;
        Ok(PyReencryptionKey { setting: Arc::clone(&self.setting), key })
    }
}

#[pymethods]
impl PyCiphertext {
    /// The same array under the key pair that a key leads to. It is bound to no server.
    ///
    /// Parameters
    /// ----------
    /// key : ReencryptionKey
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///
    /// Raises
    /// ------
    /// OtherContext
    ///     If the key is one of other parameters.
    /// OtherKeyPair
    ///     If the key is for another key pair than that of the array.
    /// CapacityExhausted
    ///     If the array has no room for the noise of the step.
    fn reencrypt(&self, py: Python<'_>, key: &PyReencryptionKey) -> PyResult<Self> {
        let parts = quick(py, || {
            Ok(map_kind!(&*self.parts, list => {
                list.iter().map(|ct| ct.reencrypted(&key.key)).collect::<windlass::Result<Vec<_>>>()?
            }))
        })?;
        let result = self.result(parts, self.layout.clone(), self.numbers, self.clean);
        Ok(Self { server: None, spread: self.spread, ..result })
    }
}
