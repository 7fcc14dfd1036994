//! Clients, servers and ciphertexts out of files and bytes.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::array::PyCiphertext;
use crate::bootstrapping::PyBootstrapping;
use crate::client::{PyClient, PyEncryptor};
use crate::either::{map_kind, on_kind};
use crate::error::of_file;
use crate::handle::ServerKind;
use crate::passphrase::passphrase_of;
use crate::runtime::quick;
use crate::server::{Keys, PyServer};
use crate::setting::PyContext;

#[pymethods]
impl PyContext {
    /// Loads a client from the file of a secret key that :meth:`Client.save_secret` or the command
    /// line wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     The passphrase of an encrypted file.
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file belongs to another context; if a passphrase is given and the file is not encrypted.
    /// PassphraseNeeded, WrongPassphrase
    ///     For an encrypted file.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "secret.key"
    /// >>> client, server = context.generate_keys()
    /// >>> _ = client.save_secret(path)
    /// >>> context.load_client(path).decrypt(client.encrypt([1, 2]))
    /// array([1, 2])
    #[pyo3(signature = (path, *, passphrase=None))]
    fn load_client(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<PyClient> {
        let passphrase = passphrase_of(passphrase)?;
        let client = quick(py, || {
            Ok(map_kind!(&self.setting.kind, context => match &passphrase {
                None => context.load_client(&path)?,
                Some(passphrase) => context.load_sealed_client(&path, passphrase)?,
            }))
        })
        .map_err(|error| of_file(py, error, &path))?;
        Ok(PyClient::new(&self.setting, client))
    }

    /// Loads an encryptor from the file of a public key. Raises :class:`FileError` if the file is
    /// not a public key, and :class:`OtherContext` if it belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "public.key"
    /// >>> client, server = context.generate_keys()
    /// >>> _ = client.encryptor().save(path)
    /// >>> client.decrypt(context.load_encryptor(path).encrypt([1, 2]))
    /// array([1, 2])
    fn load_encryptor(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyEncryptor> {
        let key = quick(py, || on_kind!(&self.setting.kind, context => context.load(&path)))
            .map_err(|error| of_file(py, error, &path))?;
        PyEncryptor::of_key(py, &self.setting, key)
    }

    /// Loads a server from a file of evaluation keys. Raises :class:`FileError` if the file does
    /// not hold any, and :class:`OtherContext` if it belongs to another context.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     A file that :meth:`Server.save` or the command line wrote.
    /// bootstrapping : Bootstrapping, optional
    ///     The plan of the bootstrapping whose keys ``bootstrap_keys`` holds.
    /// bootstrap_keys : str or os.PathLike, optional
    ///     The file of the bootstrapping keys.
    ///
    /// Returns
    /// -------
    /// Server
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "evaluation.keys"
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> _ = server.save(path)
    /// >>> x = context.load_server(path).receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (path, *, bootstrapping=None, bootstrap_keys=None))]
    fn load_server(
        &self,
        py: Python<'_>,
        path: PathBuf,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<PyServer> {
        PyServer::load(py, &self.setting, path, bootstrapping, bootstrap_keys)
    }

    /// Makes a server that maps the keys of a file which ``server.save(path, ready=True)`` wrote.
    /// Processes that map one file share one copy of it in memory.
    ///
    /// The file is checked once, in this call. It may be removed afterwards.
    ///
    /// **Warning.** If someone writes to the file afterwards, results are wrong without an error.
    /// If someone truncates it, the process ends.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// bootstrapping, bootstrap_keys
    ///     As of :meth:`load_server`.
    ///
    /// Returns
    /// -------
    /// Server
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file is not whole, or belongs to another context. Nothing of it is used.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "evaluation.keys"
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> _ = server.save(path, ready=True)
    /// >>> x = context.map_server(path).receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (path, *, bootstrapping=None, bootstrap_keys=None))]
    fn map_server(
        &self,
        py: Python<'_>,
        path: PathBuf,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<PyServer> {
        PyServer::share(py, &self.setting, Keys::File(path), bootstrapping, bootstrap_keys)
    }

    /// Makes a server from the keys in a buffer that :meth:`Server.ready_bytes` returned. The keys
    /// are used in place if the buffer is read-only and aligned to 64 bytes (as in Ray's object
    /// store). Otherwise they are copied. Raises :class:`FileError` or :class:`OtherContext` for a
    /// buffer with other contents.
    ///
    /// Parameters
    /// ----------
    /// buffer : bytes-like
    /// bootstrapping, bootstrap_keys
    ///     As of :meth:`load_server`.
    ///
    /// Returns
    /// -------
    /// Server
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> other = context.server_from_ready(server.ready_bytes())
    /// >>> x = other.receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (buffer, *, bootstrapping=None, bootstrap_keys=None))]
    fn server_from_ready(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<PyServer> {
        let keys = Keys::Memory(crate::prepared::memory(buffer)?);
        PyServer::share(py, &self.setting, keys, bootstrapping, bootstrap_keys)
    }

    /// Makes a server without keys. It can add, and multiply by public numbers.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, _ = context.generate_keys()
    /// >>> client.decrypt(3 * context.server_without_keys().receive(client.encrypt([1, 2])))
    /// array([3, 6])
    fn server_without_keys(&self, py: Python<'_>) -> PyResult<PyServer> {
        let server = quick(py, || ServerKind::without_keys(&self.setting))?;
        Ok(PyServer::new(&self.setting, server))
    }

    /// Loads the encrypted array from a file that :meth:`Ciphertext.save` or the command line
    /// wrote.
    ///
    /// **Warning.** A file states rows and columns only. An array with one row loads with one
    /// dimension, even if it had two when it was saved. ``client.decrypt(x).reshape(shape)``
    /// restores the shape. Pickles keep it.
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the file belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.bin"
    /// >>> client, server = context.generate_keys()
    /// >>> _ = client.encrypt([[1, 2], [3, 4]]).save(path)
    /// >>> client.decrypt(context.load_ciphertext(path))
    /// array([[1, 2],
    ///        [3, 4]])
    fn load_ciphertext(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyCiphertext> {
        PyCiphertext::load(py, &self.setting, path)
    }
}
