//! One party.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use windlass::wire::{self, PassphraseCost, WireError, read_secret, seal_secret};
use windlass::{Approximate, Exact};
use windlass_parties::{PartiesError, Party, Step, lock_state};

use super::agreement::{AgreementKind, PyAgreement};
use super::calls::{in_words, refuse, together};
use super::identity::{PyIdentity, opened};
use crate::array::{Parts, PyCiphertext};
use crate::either::{Either, map_kind, on_kind};
use crate::error::{of_file, plain};
use crate::passphrase::passphrase_of;
use crate::runtime::quick;

/// A party of either kind.
pub(super) type PartyKind = Either<Party<Exact>, Party<Approximate>>;

/// One party of an agreement: its secret, its messages, and its part in decryptions. Messages are bytes, and may pass
/// through anyone's hands.
///
/// ``Party(agreement, identity)`` takes part with a fresh secret. A party cannot be pickled; :meth:`save` writes its
/// state to a file.
///
/// **Warning.** Keep one state, and the newest: a party that goes back to an old state forgets how many decryptions it
/// has taken part in. A party reveals what the others ask it to decrypt, so it must know what the ciphertext is.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.Context.preset("insecure_toy_256", parties=2)
/// >>> own = {name: wl.parties.Identity() for name in ["Ada", "Ben"]}
/// >>> public = {name: identity.public for name, identity in own.items()}
/// >>> agreement = wl.parties.Agreement(context, public)
/// >>> parties = [wl.parties.Party(agreement, identity) for identity in own.values()]
/// >>> assembly = wl.parties.Assembly(agreement)
/// >>> for party in parties:
/// ...     for message in party.opening():
/// ...         _ = assembly.receive(message)
/// >>> total = assembly.server().receive(assembly.encryptor().encrypt([3, 4])) + 1
/// >>> reading = wl.parties.Reading(agreement, total)
/// >>> for party in parties:
/// ...     for share in party.decrypt(total):
/// ...         _ = reading.receive(share)
/// >>> reading.values()
/// array([4, 5])
#[pyclass(frozen, name = "Party", module = "windlass.parties")]
pub struct PyParty {
    pub(super) agreement: Py<PyAgreement>,
    kind: Mutex<PartyKind>,
}

impl PyParty {
    pub(super) fn lock(&self) -> MutexGuard<'_, PartyKind> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Messages as bytes of Python.
pub(super) fn as_bytes<'py>(py: Python<'py>, messages: &[Vec<u8>]) -> Vec<Bound<'py, PyBytes>> {
    messages.iter().map(|message| PyBytes::new(py, message)).collect()
}

impl PyParty {
    /// Refuses an array of more ciphertexts than decryptions are left, before any of them is decrypted.
    pub(super) fn check_room(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        let (most, used) =
            on_kind!(&*self.lock(), party => (party.agreement().publication().decryptions, party.decryptions()));
        let fits = count as u64 + u64::from(used) <= u64::from(most);
        if fits { Ok(()) } else { Err(refuse(py, PartiesError::Spent { most })) }
    }
}

#[pymethods]
impl PyParty {
    #[new]
    fn new(py: Python<'_>, agreement: Py<PyAgreement>, identity: &PyIdentity) -> PyResult<Self> {
        let kind = {
            let own = agreement.get();
            together(py, || Ok(map_kind!(&own.kind, own => Party::join(own, &identity.inner)?)))?
        };
        Ok(Self { agreement, kind: Mutex::new(kind) })
    }

    /// What this party sends first: for everyone, and for single members where not all are needed to decrypt.
    ///
    /// Returns
    /// -------
    /// list of bytes
    fn opening<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let messages = together(py, || on_kind!(&*self.lock(), party => party.opening()))?;
        Ok(as_bytes(py, &messages))
    }

    /// Takes a message of another member, in any order.
    ///
    /// Returns
    /// -------
    /// str
    ///     ``"new"``, ``"again"`` if it was taken before, or ``"not needed"``.
    ///
    /// Raises
    /// ------
    /// MessageRefused
    ///     If it belongs to another agreement, is not signed by who it says it is from, or is another one than that
    ///     member sent before. ``sender`` names the member.
    /// FileError
    ///     If it is damaged.
    fn receive(&self, py: Python<'_>, message: &[u8]) -> PyResult<&'static str> {
        let receipt = together(py, || on_kind!(&mut *self.lock(), party => party.receive(message)))?;
        Ok(in_words(receipt))
    }

    /// What this party sends when nothing is missing: for the assembler, if the agreement has products.
    ///
    /// Returns
    /// -------
    /// list of bytes
    ///
    /// Raises
    /// ------
    /// MissingMessages
    ///     ``members`` has the names of those whose messages are missing.
    fn closing<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let messages = together(py, || on_kind!(&*self.lock(), party => party.closing()))?;
        Ok(as_bytes(py, &messages))
    }

    /// The members whose messages are missing, by what is missing.
    ///
    /// Returns
    /// -------
    /// dict of str to list of str
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = quick(py, || {
            Ok([Step::First, Step::Dealt].map(|step| (step, on_kind!(&*self.lock(), party => party.missing(step)))))
        })?;
        let dict = PyDict::new(py);
        for (step, members) in all.into_iter().filter(|(_, members)| !members.is_empty()) {
            dict.set_item(step.to_string(), members)?;
        }
        Ok(dict)
    }

    /// This party's shares of the decryption of an array: one for each of its ciphertexts, and each counts as a
    /// decryption. Save the state before the shares leave (:meth:`save`).
    ///
    /// Parameters
    /// ----------
    /// ciphertext : Ciphertext
    /// by : sequence of str or int, optional
    ///     The members that decrypt, by name or number: exactly as many as are needed, the same for all of them.
    ///     By default all, if all are needed.
    /// reader : str or int, optional
    ///     The member who alone may read; by default everyone with all shares.
    ///
    /// Returns
    /// -------
    /// list of bytes
    ///
    /// Raises
    /// ------
    /// DecryptionsSpent
    ///     If the agreed number of decryptions is used up.
    /// CapacityExhausted
    ///     If the noise of the shares does not fit.
    /// OtherKeyPair
    ///     If the ciphertext is of another key pair.
    #[pyo3(signature = (ciphertext, *, by=None, reader=None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        by: Option<&Bound<'py, PyAny>>,
        reader: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let agreement = self.agreement.get();
        let members = agreement.numbers_of(py, by)?;
        let reader = reader.map(|reader| agreement.number_of(reader)).transpose()?;
        let parts = agreement.parts(py, ciphertext)?;
        self.check_room(py, parts.len())?;
        let shares = together(py, || match (&mut *self.lock(), &parts) {
            (PartyKind::Exact(party), Parts::Exact(list)) => {
                list.iter().map(|ct| party.decrypt(ct, &members, reader)).collect::<windlass_parties::Result<Vec<_>>>()
            }
            (PartyKind::Approximate(party), Parts::Approximate(list)) => {
                list.iter().map(|ct| party.decrypt(ct, &members, reader)).collect()
            }
            _ => unreachable!("contexts are the same"),
        })?;
        Ok(as_bytes(py, &shares))
    }

    /// How many decryptions this party has taken part in.
    #[getter]
    fn decryptions(&self) -> u32 {
        on_kind!(&*self.lock(), party => party.decryptions())
    }

    /// The name of this party.
    #[getter]
    fn name(&self) -> String {
        let number = on_kind!(&*self.lock(), party => party.number());
        on_kind!(&self.agreement.get().kind, own => own.members()[number as usize - 1].name.clone())
    }

    /// The agreement.
    #[getter]
    fn agreement(&self, py: Python<'_>) -> Py<PyAgreement> {
        self.agreement.clone_ref(py)
    }

    /// Writes the state to a file that only its owner may read (mode 0600), and replaces an older state there in one
    /// step. The identity is refused apart from it.
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
    ///     If the file is there and is no state of a party, or a state that must be kept: of another party, with more
    ///     decryptions, or with messages that this party has not taken. It is not changed.
    #[pyo3(signature = (path, *, passphrase=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let passphrase = passphrase_of(passphrase)?;
        let mut refused = None;
        let written = quick(py, || {
            // Both are held until the file is replaced: what is compared is what is written.
            let file_lock = if path.exists() { Some(lock_state(&path).map_err(WireError::from)?) } else { None };
            let own = self.lock();
            if file_lock.is_some() {
                // A state that is encrypted stays encrypted.
                let there = opened(read_secret(&path)?, passphrase.as_ref())?;
                refused = on_kind!(&*own, party => party.check_over(&there)).err();
                if refused.is_some() {
                    return Ok(0);
                }
            }
            let bytes = match on_kind!(&*own, party => party.to_bytes()) {
                Ok(bytes) => bytes,
                Err(error) => {
                    refused = Some(error);
                    return Ok(0);
                }
            };
            let sealed;
            let file = match &passphrase {
                None => &*bytes,
                Some(passphrase) => {
                    sealed = seal_secret(&bytes, passphrase, PassphraseCost::default())?;
                    &sealed
                }
            };
            wire::write_over_state(&path, file)?;
            Ok(file.len() as u64)
        });
        let written = written.map_err(|error| of_file(py, error, &path))?;
        match refused {
            None => Ok(written),
            Some(error) => Err(of_file(py, refuse(py, error), &path)),
        }
    }

    /// Reads the party of a state that :meth:`save` or ``windlass party`` wrote.
    ///
    /// Parameters
    /// ----------
    /// agreement : Agreement
    /// identity : Identity
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If the file is no state.
    /// MessageRefused
    ///     If it is of another agreement or another identity.
    #[staticmethod]
    #[pyo3(signature = (agreement, identity, path, *, passphrase=None))]
    fn load(
        py: Python<'_>,
        agreement: Py<PyAgreement>,
        identity: &PyIdentity,
        path: PathBuf,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let passphrase = passphrase_of(passphrase)?;
        let bytes = quick(py, || Ok(opened(read_secret(&path)?, passphrase.as_ref())?));
        let bytes = bytes.map_err(|error| of_file(py, error, &path))?;
        let kind = {
            let own = agreement.get();
            together(py, || {
                Ok(match &own.kind {
                    AgreementKind::Exact(own) => PartyKind::Exact(Party::from_bytes(own, &identity.inner, &bytes)?),
                    AgreementKind::Approximate(own) => {
                        PartyKind::Approximate(Party::from_bytes(own, &identity.inner, &bytes)?)
                    }
                })
            })
        };
        let kind = kind.map_err(|error| of_file(py, error, &path))?;
        Ok(Self { agreement, kind: Mutex::new(kind) })
    }

    fn __repr__(&self) -> String {
        format!("<windlass.parties.Party {:?}, {} decryptions>", self.name(), self.decryptions())
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<()> {
        let message = "a party holds a secret, so it cannot be pickled: save it with party.save(path), and load it with Party.load(agreement, identity, path)";
        Err(plain(py, "SecretNotPickled", message))
    }
}
