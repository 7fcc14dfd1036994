//! Adding up shares: keys, and values.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass::{Approximate, Exact};
use windlass_parties::{Assembly, CollectiveFamily, CollectiveKeys, PartiesError, Reading, Receipt, Step};

use super::agreement::{AgreementKind, PyAgreement};
use super::calls::{in_words, together};
use super::identity::PyIdentity;
use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::client::PyEncryptor;
use crate::either::{Either, map_kind, on_kind};
use crate::numbers::{Numbers, complex_to_numpy, integers_to_numpy};
use crate::runtime::quick;
use crate::server::PyServer;

type AssemblyKind = Either<Assembly<Exact>, Assembly<Approximate>>;

type KeysKind = Either<CollectiveKeys<Exact>, CollectiveKeys<Approximate>>;

/// Adds up the shares of all parties to keys. It holds no secret: anyone can run it.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.Context.preset("insecure_toy_256", parties=2)
/// >>> public = {name: wl.parties.Identity().public for name in ["Ada", "Ben"]}
/// >>> assembly = wl.parties.Assembly(wl.parties.Agreement(context, public))
/// >>> assembly.missing()
/// {'the shares of keys': ['Ada', 'Ben']}
#[pyclass(frozen, name = "Assembly", module = "windlass.parties")]
pub struct PyAssembly {
    agreement: Py<PyAgreement>,
    kind: Mutex<(AssemblyKind, Option<KeysKind>)>,
}

impl PyAssembly {
    fn lock(&self) -> MutexGuard<'_, (AssemblyKind, Option<KeysKind>)> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keys(&self, py: Python<'_>) -> PyResult<KeysKind> {
        together(py, || {
            let mut own = self.lock();
            if own.1.is_none() {
                own.1 = Some(map_kind!(&own.0, assembly => assembly.finish()?));
            }
            Ok(own.1.clone().expect("it was made"))
        })
    }
}

#[pymethods]
impl PyAssembly {
    #[new]
    fn new(agreement: Py<PyAgreement>) -> Self {
        let kind = map_kind!(&agreement.get().kind, own => Assembly::new(own));
        Self { agreement, kind: Mutex::new((kind, None)) }
    }

    /// Takes a message of a member, in any order. Result and errors are those of :meth:`Party.receive`.
    fn receive(&self, py: Python<'_>, message: &[u8]) -> PyResult<&'static str> {
        let receipt = together(py, || on_kind!(&mut self.lock().0, assembly => assembly.receive(message)))?;
        Ok(in_words(receipt))
    }

    /// The members whose messages are missing, by what is missing.
    fn missing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = quick(py, || {
            Ok([Step::Keys, Step::Second]
                .map(|step| (step, on_kind!(&self.lock().0, assembly => assembly.missing(step)))))
        })?;
        let dict = PyDict::new(py);
        for (step, members) in all.into_iter().filter(|(_, members)| !members.is_empty()) {
            dict.set_item(step.to_string(), members)?;
        }
        Ok(dict)
    }

    /// The public key, with which anyone encrypts.
    ///
    /// Raises
    /// ------
    /// MissingMessages
    ///     ``members`` has the names of those whose messages are missing.
    fn encryptor(&self, py: Python<'_>) -> PyResult<PyEncryptor> {
        let public = on_kind!(self.keys(py)?, keys => keys.public);
        PyEncryptor::of_key(py, &self.agreement.get().setting, (*public).clone())
    }

    /// The evaluation keys, with which anyone computes.
    ///
    /// **Warning.** A share that is no share of a key is not seen here. Decrypt known values once, with all circuits,
    /// before values that matter.
    ///
    /// Raises
    /// ------
    /// MissingMessages
    fn server(&self, py: Python<'_>) -> PyResult<PyServer> {
        let keys = self.keys(py)?;
        let setting = &self.agreement.get().setting;
        let kind = quick(py, || {
            Ok(map_kind!((&setting.kind, keys), (context, keys) => {
                context.server_from_keys(keys.evaluation, keys.bootstrapping)?
            }))
        })?;
        Ok(PyServer::new(setting, kind))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let missing = self.missing(py)?;
        Ok(format!("<windlass.parties.Assembly, missing: {}>", missing.repr()?))
    }
}

type ReadingKind = Either<Vec<Reading<Exact>>, Vec<Reading<Approximate>>>;

/// Adds up the shares of a decryption to the values. Shares come in any order.
///
/// Parameters
/// ----------
/// agreement : Agreement
/// ciphertext : Ciphertext
/// by : sequence of str or int, optional
///     The members that decrypt: as in :meth:`Party.decrypt`.
/// identity : Identity, optional
///     That of the reader, for shares that are encrypted for it.
///
/// Raises
/// ------
/// CapacityExhausted, OtherKeyPair
///     As :meth:`Party.decrypt`.
#[pyclass(frozen, name = "Reading", module = "windlass.parties")]
pub struct PyReading {
    agreement: Py<PyAgreement>,
    kind: Mutex<ReadingKind>,
    layout: ArrayLayout,
    numbers: Numbers,
    elements: bool,
}

impl PyReading {
    fn lock(&self) -> MutexGuard<'_, ReadingKind> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a share to the ciphertext that it is for.
fn give<F: CollectiveFamily>(list: &mut [Reading<F>], share: &[u8]) -> windlass_parties::Result<Receipt> {
    let mut refused = None;
    for reading in list {
        match reading.receive(share) {
            // That of another ciphertext of the array, or a second one of this member for this ciphertext.
            Err(error @ (PartiesError::OtherReading { .. } | PartiesError::AnotherShare { .. })) => {
                refused.get_or_insert(error);
            }
            done => return done,
        }
    }
    refused.map_or(Ok(Receipt::NotNeeded), Err)
}

#[pymethods]
impl PyReading {
    #[new]
    #[pyo3(signature = (agreement, ciphertext, *, by=None, identity=None))]
    fn new(
        py: Python<'_>,
        agreement: Py<PyAgreement>,
        ciphertext: &PyCiphertext,
        by: Option<&Bound<'_, PyAny>>,
        identity: Option<&PyIdentity>,
    ) -> PyResult<Self> {
        let kind = {
            let own = agreement.get();
            let (members, parts) = (own.numbers_of(py, by)?, own.parts(py, ciphertext)?);
            together(py, || {
                Ok(match (&own.kind, &parts) {
                    (AgreementKind::Exact(own), Parts::Exact(list)) => {
                        ReadingKind::Exact(readings(own, list, (&members, identity))?)
                    }
                    (AgreementKind::Approximate(own), Parts::Approximate(list)) => {
                        ReadingKind::Approximate(readings(own, list, (&members, identity))?)
                    }
                    _ => unreachable!("contexts are the same"),
                })
            })?
        };
        let (numbers, elements) = (ciphertext.numbers, ciphertext.elements);
        Ok(Self { agreement, kind: Mutex::new(kind), layout: ciphertext.layout.clone(), numbers, elements })
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
    ///     If it is for another ciphertext, other members or another reader. ``sender`` names the member.
    fn receive(&self, py: Python<'_>, share: &[u8]) -> PyResult<&'static str> {
        Ok(in_words(together(py, || on_kind!(&mut *self.lock(), list => give(list, share)))?))
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

    /// The array that was encrypted.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     As :meth:`Client.decrypt`. Numbers of CKKS have the noise of the shares in them, and are safe to publish.
    ///
    /// Raises
    /// ------
    /// MissingMessages
    ///     ``members`` has the names of those whose shares are missing.
    /// NotDecryptable
    ///     If a share is none. Whose it is cannot be told.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let setting = &self.agreement.get().setting;
        let packed = setting.slots();
        let chunks = self.layout.chunks(packed);
        let mut dims = self.layout.dims.clone();
        let degree = if self.elements { setting.degree() } else { 1 };
        let entries = |part: usize| self.layout.entries(part % chunks, packed).len();
        let opened = together(py, || {
            Ok(match &*self.lock() {
                Either::Exact(list) => {
                    let mut all = Vec::new();
                    for (part, reading) in list.iter().enumerate() {
                        let plaintext = reading.open()?;
                        let mut values = if self.elements { plaintext.to_slots() } else { plaintext.to_integers()? };
                        values.truncate(entries(part) * degree);
                        all.extend(values);
                    }
                    Either::Exact(all)
                }
                Either::Approximate(list) => {
                    let mut all = Vec::new();
                    for (part, reading) in list.iter().enumerate() {
                        let mut values = reading.open()?.values;
                        values.truncate(entries(part));
                        all.extend(values);
                    }
                    Either::Approximate(all)
                }
            })
        })?;
        match opened {
            Either::Exact(residues) => {
                if self.elements {
                    dims.push(degree);
                }
                integers_to_numpy(py, residues, setting.modulus().unwrap_or(2), self.numbers, &dims)
            }
            Either::Approximate(values) => complex_to_numpy(py, values, self.numbers, &dims),
        }
    }

    /// −log2 of the expected largest error of the values, the noise of the shares included. CKKS only; None for
    /// integers, which are exact.
    #[getter]
    fn precision_bits(&self) -> Option<f64> {
        match &*self.lock() {
            Either::Exact(_) => None,
            Either::Approximate(list) => list.iter().map(|own| own.decryption().precision_bits()).reduce(f64::min),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<windlass.parties.Reading, missing: {:?}>", self.missing(py)?))
    }
}

fn readings<F: CollectiveFamily>(
    agreement: &windlass_parties::Agreement<F>,
    list: &[F::Ciphertext],
    (members, identity): (&[u32], Option<&PyIdentity>),
) -> windlass_parties::Result<Vec<Reading<F>>> {
    let one = |ciphertext| {
        let reading = Reading::new(agreement, ciphertext, members)?;
        match identity {
            None => Ok(reading),
            Some(own) => reading.for_reader(&own.inner),
        }
    };
    list.iter().map(one).collect()
}
