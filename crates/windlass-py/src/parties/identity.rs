//! Identities of parties.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass::wire::{
    self, Access, KeyId, PassphraseCost, WireError, is_sealed, open_secret, read_secret, seal_secret, text_from_file,
    text_to_file,
};
use windlass_parties::Identity;
use zeroize::Zeroizing;

use super::calls::together;
use crate::error::{of_file, plain};
use crate::passphrase::passphrase_of;
use crate::runtime::quick;

/// What files of identities are.
const PURPOSE: &str = "identity of a party";

/// The secret half of who a party is to the others: it signs its messages, and reads those that are for it alone.
///
/// ``Identity()`` makes a fresh one. It serves any number of agreements. An identity cannot be pickled;
/// :meth:`save` writes it to a file.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> len(wl.parties.Identity().public)
/// 64
#[pyclass(frozen, name = "Identity", module = "windlass.parties")]
pub struct PyIdentity {
    pub inner: Identity,
}

#[pymethods]
impl PyIdentity {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Self { inner: together(py, Identity::generate)? })
    }

    /// What the others know of the identity: 64 bytes. Give them over a channel that no one else can change.
    #[getter]
    fn public<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.public())
    }

    /// Writes the identity to a new file that only its owner may read (mode 0600). ``windlass party`` reads it too.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     Encrypts the file.
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
    #[pyo3(signature = (path, *, passphrase=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let passphrase = passphrase_of(passphrase)?;
        let written = quick(py, || {
            let mut id = [0; KeyId::BYTES];
            id.copy_from_slice(&wire::sha256(&self.inner.public())[..KeyId::BYTES]);
            let mut file = text_to_file(PURPOSE, KeyId(id), &self.inner.to_text());
            if let Some(passphrase) = &passphrase {
                file = seal_secret(&file, passphrase, PassphraseCost::default())?.into();
            }
            wire::write_new(&path, &file, Access::Owner)?;
            Ok(file.len() as u64)
        });
        written.map_err(|error| of_file(py, error, &path))
    }

    /// Reads an identity from a file that :meth:`save` or ``windlass party identity`` wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If the file is no identity.
    /// PassphraseNeeded, WrongPassphrase
    ///     If it is encrypted.
    #[staticmethod]
    #[pyo3(signature = (path, *, passphrase=None))]
    fn load(py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let passphrase = passphrase_of(passphrase)?;
        let read = quick(py, || {
            let bytes = opened(read_secret(&path)?, passphrase.as_ref())?;
            Ok(text_from_file(PURPOSE, &bytes)?)
        });
        let text = read.map_err(|error| of_file(py, error, &path))?;
        let inner = together(py, || Identity::from_text(&text)).map_err(|error| of_file(py, error, &path))?;
        Ok(Self { inner })
    }

    fn __repr__(&self) -> String {
        format!("<windlass.parties.Identity {}...>", wire::hex(&self.inner.public()[..6]))
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let message = "an identity is secret, so it cannot be pickled: save it with identity.save(path), and load it with Identity.load(path)";
        Err(plain(py, "SecretNotPickled", message))
    }
}

/// The bytes of a secret file, decrypted if it is encrypted.
pub fn opened(
    bytes: Zeroizing<Vec<u8>>,
    passphrase: Option<&wire::Passphrase>,
) -> Result<Zeroizing<Vec<u8>>, WireError> {
    match passphrase {
        Some(passphrase) => open_secret(&bytes, passphrase),
        None if is_sealed(&bytes) => Err(WireError::Sealed),
        None => Ok(bytes),
    }
}
