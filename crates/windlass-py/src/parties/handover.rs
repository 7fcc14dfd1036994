//! Handing an array over to the key of someone outside.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use windlass::rlwe::PublicKey;
use windlass::{Approximate, Exact};
use windlass_parties::{Handover, PartiesError, Receipt};

use super::agreement::{AgreementKind, PyAgreement};
use super::calls::{in_words, together};
use super::member::{PartyKind, PyParty, as_bytes};
use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::client::PyEncryptor;
use crate::either::{Either, map_kind, on_kind};
use crate::numbers::Numbers;
use crate::runtime::quick;

type HandoverKind = Either<Vec<Handover<Exact>>, Vec<Handover<Approximate>>>;

/// Hands an encrypted array over to the key of someone outside: adds up the shares of :meth:`Party.switch` to an array
/// that only the holder of that key decrypts. It holds no secret: anyone can run it.
///
/// Parameters
/// ----------
/// agreement : Agreement
/// ciphertext : Ciphertext
/// to : Encryptor
///     The public key of the recipient (:meth:`Client.encryptor`), made in the context of the agreement.
/// by : iterable of str or int, optional
///     The members that take part; as of :meth:`Party.switch`.
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
/// >>> x = assembly.encryptor().encrypt([3, 4])
/// >>> recipient, _ = context.generate_keys()
/// >>> to = recipient.encryptor()
/// >>> handover = wl.parties.Handover(agreement, x, to)
/// >>> for party in parties:
/// ...     for share in party.switch(x, to):
/// ...         _ = handover.receive(share)
/// >>> recipient.decrypt(handover.array())
/// array([3, 4])
#[pyclass(frozen, name = "Handover", module = "windlass.parties")]
pub struct PyHandover {
    agreement: Py<PyAgreement>,
    kind: Mutex<HandoverKind>,
    layout: ArrayLayout,
    numbers: Numbers,
    elements: bool,
    clean: bool,
}

impl PyHandover {
    fn lock(&self) -> MutexGuard<'_, HandoverKind> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The public key of an encryptor, in the context of the agreement.
fn target(py: Python<'_>, agreement: &PyAgreement, to: &PyEncryptor) -> PyResult<Arc<PublicKey>> {
    quick(py, || Ok(Arc::new(on_kind!(&agreement.kind, own => own.context().from_bytes::<PublicKey>(to.key_bytes())?))))
}

#[pymethods]
impl PyHandover {
    #[new]
    #[pyo3(signature = (agreement, ciphertext, to, *, by=None))]
    fn new(
        py: Python<'_>,
        agreement: Py<PyAgreement>,
        ciphertext: &PyCiphertext,
        to: &PyEncryptor,
        by: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let kind = {
            let own = agreement.get();
            let (members, parts) = (own.numbers_of(py, by)?, own.parts(py, ciphertext)?);
            let target = target(py, own, to)?;
            together(py, || {
                Ok(match (&own.kind, &parts) {
                    (AgreementKind::Exact(own), Parts::Exact(list)) => {
                        let one = |ct| Handover::new(own, ct, &members, &target);
                        HandoverKind::Exact(list.iter().map(one).collect::<Result<_, _>>()?)
                    }
                    (AgreementKind::Approximate(own), Parts::Approximate(list)) => {
                        let one = |ct| Handover::new(own, ct, &members, &target);
                        HandoverKind::Approximate(list.iter().map(one).collect::<Result<_, _>>()?)
                    }
                    _ => unreachable!("contexts are the same"),
                })
            })?
        };
        let PyCiphertext { layout, numbers, elements, clean, .. } = ciphertext;
        let (layout, kind) = (layout.clone(), Mutex::new(kind));
        Ok(Self { agreement, kind, layout, numbers: *numbers, elements: *elements, clean: *clean })
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
    ///     If it is for another ciphertext, other members or another key. ``sender`` names the member.
    fn receive(&self, py: Python<'_>, share: &[u8]) -> PyResult<&'static str> {
        let give = || {
            on_kind!(&mut *self.lock(), list => {
                let mut refused = None;
                for one in list {
                    match one.receive(share) {
                        Err(error @ (PartiesError::OtherReading { .. } | PartiesError::AnotherShare { .. })) => {
                            refused.get_or_insert(error);
                        }
                        done => return done,
                    }
                }
                refused.map_or(Ok(Receipt::NotNeeded), Err)
            })
        };
        Ok(in_words(together(py, give)?))
    }

    /// The members whose shares are missing.
    fn missing(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut all = quick(py, || {
            Ok(on_kind!(&*self.lock(), list => list.iter().flat_map(|own| own.missing()).collect::<Vec<_>>()))
        })?;
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|name| seen.insert(name.clone()));
        Ok(all)
    }

    /// The array under the key of the recipient.
    ///
    /// Raises
    /// ------
    /// MissingMessages
    ///     ``members`` has the names of those whose shares are missing.
    fn array(&self, py: Python<'_>) -> PyResult<PyCiphertext> {
        let parts = together(py, || {
            Ok(map_kind!(&*self.lock(), list => list.iter().map(|own| own.finish()).collect::<Result<Vec<_>, _>>()?))
        })?;
        let setting = &self.agreement.get().setting;
        Ok(PyCiphertext::fresh(setting, parts, self.layout.clone(), self.numbers, (self.elements, self.clean)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<windlass.parties.Handover, missing: {:?}>", self.missing(py)?))
    }
}

#[pymethods]
impl PyParty {
    /// Makes this party's shares of handing an array over to the key of someone outside (:class:`Handover`). Each
    /// ciphertext of the array counts as a decryption.
    ///
    /// **Warning.** Whose key it is must be known from elsewhere.
    ///
    /// Parameters
    /// ----------
    /// ciphertext : Ciphertext
    /// to : Encryptor
    ///     The public key of the recipient, made in the context of the agreement.
    /// by : iterable of str or int, optional
    ///     As of :meth:`decrypt`.
    ///
    /// Returns
    /// -------
    /// list of bytes
    ///
    /// Raises
    /// ------
    /// DecryptionsSpent, CapacityExhausted, OtherKeyPair
    ///     As of :meth:`decrypt`.
    /// OtherContext
    ///     If the public key is of other parameters.
    #[pyo3(signature = (ciphertext, to, *, by=None))]
    fn switch<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &PyCiphertext,
        to: &PyEncryptor,
        by: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let agreement = self.agreement.get();
        let (members, parts) = (agreement.numbers_of(py, by)?, agreement.parts(py, ciphertext)?);
        let target = target(py, agreement, to)?;
        self.check_room(py, parts.len())?;
        let shares = together(py, || match (&mut *self.lock(), &parts) {
            (PartyKind::Exact(party), Parts::Exact(list)) => {
                list.iter().map(|ct| party.switch(ct, &members, &target)).collect::<windlass_parties::Result<Vec<_>>>()
            }
            (PartyKind::Approximate(party), Parts::Approximate(list)) => {
                list.iter().map(|ct| party.switch(ct, &members, &target)).collect()
            }
            _ => unreachable!("contexts are the same"),
        })?;
        Ok(as_bytes(py, &shares))
    }
}
