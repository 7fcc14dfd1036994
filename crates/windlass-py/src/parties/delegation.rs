//! Re-encryption keys that several parties make.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass::rlwe::ReceivingKey;
use windlass::{Approximate, Exact};
use windlass_parties::Delegation;

use super::agreement::PyAgreement;
use super::calls::{in_words, together};
use super::member::PyParty;
use crate::either::{Either, map_kind, on_kind};
use crate::reencryption::{PyReceivingKey, PyReencryptionKey};
use crate::runtime::quick;

type DelegationKind = Either<Delegation<Exact>, Delegation<Approximate>>;

/// Makes a key that brings arrays of an agreement to a recipient (:meth:`Ciphertext.reencrypt`), without the parties: adds
/// up the shares of :meth:`Party.delegate`. It holds no secret: anyone can run it.
///
/// **Warning.** The recipient, together with the server that has the key, reads *all* arrays of the agreement. To give single
/// arrays to someone outside, use :class:`Handover`.
///
/// Parameters
/// ----------
/// agreement : Agreement
/// to : ReceivingKey
///     Of the recipient (:meth:`Client.receiving_key`), made in the context of the agreement.
/// by : iterable of str or int, optional
///     The members that take part; as of :meth:`Party.decrypt`.
///
/// Raises
/// ------
/// FileError
///     If the receiving key is of other parameters.
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
/// >>> recipient, _ = context.generate_keys()
/// >>> to = recipient.receiving_key()
/// >>> delegation = wl.parties.Delegation(agreement, to)
/// >>> for party in parties:
/// ...     _ = delegation.receive(party.delegate(to))
/// >>> recipient.decrypt(assembly.encryptor().encrypt([3, 4]).reencrypt(delegation.key()))
/// array([3, 4])
#[pyclass(frozen, name = "Delegation", module = "windlass.parties")]
pub struct PyDelegation {
    agreement: Py<PyAgreement>,
    kind: Mutex<DelegationKind>,
}

impl PyDelegation {
    fn lock(&self) -> MutexGuard<'_, DelegationKind> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The receiving key, in the context of the agreement.
fn target(py: Python<'_>, agreement: &PyAgreement, to: &PyReceivingKey) -> PyResult<ReceivingKey> {
    let bytes = to.bytes(py)?;
    quick(py, || on_kind!(&agreement.kind, own => own.context().from_bytes::<ReceivingKey>(&bytes)))
}

#[pymethods]
impl PyDelegation {
    #[new]
    #[pyo3(signature = (agreement, to, *, by=None))]
    fn new(
        py: Python<'_>,
        agreement: Py<PyAgreement>,
        to: &PyReceivingKey,
        by: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let kind = {
            let own = agreement.get();
            let (members, target) = (own.numbers_of(py, by)?, target(py, own, to)?);
            together(py, || Ok(map_kind!(&own.kind, own => Delegation::new(own, &target, &members)?)))?
        };
        Ok(Self { agreement, kind: Mutex::new(kind) })
    }

    /// Takes a share of a member.
    ///
    /// Returns
    /// -------
    /// str
    ///     As :meth:`Party.receive`.
    ///
    /// Raises
    /// ------
    /// MessageRefused
    ///     If it is for other members or another recipient. ``sender`` names the member.
    fn receive(&self, py: Python<'_>, share: &[u8]) -> PyResult<&'static str> {
        Ok(in_words(together(py, || on_kind!(&mut *self.lock(), own => own.receive(share)))?))
    }

    /// The members whose shares are missing.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        quick(py, || Ok(on_kind!(&*self.lock(), own => own.missing())))
    }

    /// The key.
    ///
    /// Returns
    /// -------
    /// ReencryptionKey
    ///
    /// Raises
    /// ------
    /// MissingMessages
    ///     ``members`` has the names of those whose shares are missing.
    fn key(&self, py: Python<'_>) -> PyResult<PyReencryptionKey> {
        let key = together(py, || on_kind!(&*self.lock(), own => own.finish()))?;
        Ok(PyReencryptionKey::of(&self.agreement.get().setting, key))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<windlass.parties.Delegation, missing: {:?}>", self.missing(py)?))
    }
}

#[pymethods]
impl PyParty {
    /// Makes this party's share of a key that brings arrays of the agreement to a recipient (:class:`Delegation`). It does
    /// not count as a decryption.
    ///
    /// **Warning.** It gives away *everything* that is or will be encrypted under the key of the agreement. Whose receiving
    /// key it is must be known from elsewhere.
    ///
    /// Parameters
    /// ----------
    /// to : ReceivingKey
    ///     Of the recipient, made in the context of the agreement.
    /// by : iterable of str or int, optional
    ///     As of :meth:`decrypt`.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// MissingMessages
    ///     If not all shares are dealt.
    /// FileError
    ///     If the receiving key is of other parameters.
    #[pyo3(signature = (to, *, by=None))]
    fn delegate<'py>(
        &self,
        py: Python<'py>,
        to: &PyReceivingKey,
        by: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let agreement = self.agreement.get();
        let (members, target) = (agreement.numbers_of(py, by)?, target(py, agreement, to)?);
        let share = together(py, || on_kind!(&*self.lock(), party => party.delegate(&target, &members)))?;
        Ok(PyBytes::new(py, &share))
    }
}
