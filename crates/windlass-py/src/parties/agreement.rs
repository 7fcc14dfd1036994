//! What parties agree on.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::schemes::Publication;
use windlass::wire::hex;
use windlass::{Approximate, Exact, NeedsKeys};
use windlass_parties::{Agreement, Member, is_approximate};

use super::calls::together;
use crate::array::{Parts, PyCiphertext};
use crate::either::{Either, map_kind, on_kind};
use crate::error::plain;
use crate::natural::Natural;
use crate::needs::{check_keys, requests};
use crate::runtime::quick;
use crate::setting::{Kind, PyContext, Setting};

/// An agreement of either kind.
pub type AgreementKind = Either<Agreement<Exact>, Agreement<Approximate>>;

/// What several parties agree on: parameters, members, how many of them decrypt, keys, decryptions. Public.
///
/// **Warning.** An agreement serves one making of keys. The public halves must be those of the members: who gives
/// another one for a member becomes that member. All members compare :attr:`digest` before they take part.
///
/// Parameters
/// ----------
/// context : Context
///     Made for as many parties (``parties=`` or :meth:`Context.with_parties`).
/// members : dict of str to bytes
///     Names, and the public halves of their identities, in order.
/// *circuits : LinearPlan, Circuit or Keys
///     Everything that a server will run, with context.bootstrapping() for refreshes.
/// threshold : int, optional
///     How many members decrypt together; all by default.
/// decryptions : int
///     The number of ciphertexts that each party helps to decrypt, at most.
/// security : int
///     Statistical security of all decryptions together in bits, from 1 to 128.
///
/// Raises
/// ------
/// ParameterError
///     If the context is for another number of parties, a number is out of range, or a name has a comma or characters
///     that are not seen.
/// NoParameters
///     If a circuit needs a refresh that a text cannot name, such as one of CKKS with other keys than the context's own, or if
///     the parameters have no room to decrypt even a fresh array.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.Context.preset("insecure_toy_256", parties=3)
/// >>> own = {name: wl.parties.Identity() for name in ["Ada", "Ben", "Cleo"]}
/// >>> public = {name: identity.public for name, identity in own.items()}
/// >>> agreement = wl.parties.Agreement(context, public, context.products(), threshold=2)
/// >>> agreement.members, agreement.threshold
/// (['Ada', 'Ben', 'Cleo'], 2)
#[pyclass(frozen, name = "Agreement", module = "windlass.parties")]
pub struct PyAgreement {
    pub setting: Arc<Setting>,
    pub kind: AgreementKind,
}

/// The public halves in a dictionary.
fn members_of(py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<Vec<Member>> {
    let one = |(name, public): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let identity = public.extract::<&[u8]>().ok().and_then(|bytes| bytes.try_into().ok());
        let identity = identity.ok_or_else(|| {
            let message = format!("members: {name:?} needs the 64 bytes of identity.public");
            plain(py, "DTypeError", message)
        })?;
        Ok(Member { name, identity })
    };
    given.iter().map(one).collect()
}

#[pymethods]
impl PyAgreement {
    #[new]
    #[pyo3(signature = (context, members, *circuits, threshold=None, decryptions=Natural(1024), security=Natural(40)), text_signature = "(context, members, *circuits, threshold=None, decryptions=1024, security=40)")]
    fn new(
        py: Python<'_>,
        context: &PyContext,
        members: &Bound<'_, PyDict>,
        circuits: &Bound<'_, PyTuple>,
        threshold: Option<Natural>,
        decryptions: Natural,
        security: Natural,
    ) -> PyResult<Self> {
        let setting = Arc::clone(&context.setting);
        let (members, requests) = (members_of(py, members)?, requests(py, &setting, circuits)?);
        check_keys(py, &setting, &requests)?;
        let threshold = threshold.unwrap_or(Natural(members.len() as u64)).small(py, "threshold")?;
        let (security_bits, decryptions) = (security.small(py, "security")?, decryptions.small(py, "decryptions")?);
        let publication = Publication { security_bits, decryptions };
        let needs: Vec<_> = requests.iter().map(|request| request as &(dyn NeedsKeys + Sync)).collect();
        let kind = together(py, || {
            let needs: Vec<&dyn NeedsKeys> = needs.iter().map(|request| *request as &dyn NeedsKeys).collect();
            Ok(map_kind!(&setting.kind, context => {
                Agreement::for_publication(context, members, threshold, &needs, publication)?
            }))
        })?;
        Ok(Self { setting, kind })
    }

    /// The agreement of a text that :meth:`to_json` or ``windlass party agree`` wrote. Everything in it is checked.
    ///
    /// Raises
    /// ------
    /// FileError
    ///     If the text is no agreement.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: String) -> PyResult<Self> {
        let kind = together(py, || {
            let text = text.trim();
            Ok(match is_approximate(text) {
                true => AgreementKind::Approximate(Agreement::from_json(text)?),
                false => AgreementKind::Exact(Agreement::from_json(text)?),
            })
        })?;
        let setting = quick(py, || {
            Ok(Setting::of_kind(match &kind {
                AgreementKind::Exact(own) => Kind::Exact(own.context().clone()),
                AgreementKind::Approximate(own) => Kind::Approximate(own.context().clone()),
            }))
        })?;
        Ok(Self { setting, kind })
    }

    /// The agreement as a text, for the other members and for files.
    fn to_json(&self) -> &str {
        on_kind!(&self.kind, own => own.to_json())
    }

    /// SHA-256 of the text in hexadecimal: what the members compare.
    #[getter]
    fn digest(&self) -> String {
        on_kind!(&self.kind, own => hex(own.digest()))
    }

    /// The names of the members, in the order of their numbers.
    #[getter]
    fn members(&self) -> Vec<String> {
        on_kind!(&self.kind, own => own.members().iter().map(|member| member.name.clone()).collect())
    }

    /// How many members decrypt together.
    #[getter]
    pub fn threshold(&self) -> u32 {
        on_kind!(&self.kind, own => own.threshold())
    }

    /// The number of ciphertexts that each party helps to decrypt, at most.
    #[getter]
    fn decryptions(&self) -> u32 {
        on_kind!(&self.kind, own => own.publication().decryptions)
    }

    /// The context.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().digest() == self.digest())
    }

    fn __hash__(&self) -> u64 {
        on_kind!(&self.kind, own => own.digest()).iter().take(8).fold(0, |hash, &byte| hash << 8 | u64::from(byte))
    }

    fn __repr__(&self) -> String {
        let members = self.members();
        format!(
            "<windlass.parties.Agreement {}...: {} of {} ({}), {}>",
            &self.digest()[..12],
            self.threshold(),
            members.len(),
            members.join(", "),
            self.setting.in_words()
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        crate::pickle::reduce(py, "restore_agreement", (self.to_json(),))
    }
}

/// Makes an agreement again, in another process.
#[pyfunction]
pub fn restore_agreement(py: Python<'_>, text: String) -> PyResult<PyAgreement> {
    PyAgreement::from_json(py, text)
}

impl PyAgreement {
    /// The number of a member that is given by name or number.
    pub fn number_of(&self, given: &Bound<'_, PyAny>) -> PyResult<u32> {
        let members = self.members();
        let by_name = given.extract::<String>().ok().and_then(|name| members.iter().position(|own| *own == name));
        let by_number = || given.extract::<usize>().ok().and_then(|number| number.checked_sub(1));
        let index = by_name.or_else(by_number).filter(|index| *index < members.len());
        index.map(|index| index as u32 + 1).ok_or_else(|| {
            let message = format!("{} is no member; the members are {}", given, members.join(", "));
            plain(given.py(), "ParameterError", message)
        })
    }

    /// The numbers of the members that decrypt, ascending.
    pub fn numbers_of(&self, py: Python<'_>, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u32>> {
        let (members, needed) = (self.members(), self.threshold() as usize);
        let wrong = |said: String| Err(plain(py, "ParameterError", said));
        let Some(given) = given else {
            if members.len() == needed {
                return Ok((1..=needed as u32).collect());
            }
            return wrong(format!(
                "{needed} of {} members decrypt: name them, by={:?}",
                members.len(),
                &members[..needed]
            ));
        };
        let mut numbers = given.try_iter()?.map(|one| self.number_of(&one?)).collect::<PyResult<Vec<_>>>()?;
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() != needed || count != needed {
            return wrong(format!(
                "by names {} members, but exactly {needed} of them decrypt; name each once",
                numbers.len()
            ));
        }
        Ok(numbers)
    }

    /// The ciphertexts of an array, as values of the agreement's own context.
    pub fn parts(&self, py: Python<'_>, array: &PyCiphertext) -> PyResult<Parts> {
        array.check_context(py, &self.setting, "decrypt")?;
        if Arc::ptr_eq(&array.setting, &self.setting) {
            return Ok((*array.parts).clone());
        }
        quick(py, || {
            Ok(match (&array.setting.kind, &*array.parts, &self.kind) {
                (Kind::Exact(from), Parts::Exact(list), AgreementKind::Exact(to)) => {
                    let one = |ct| to.context().from_bytes(&from.to_bytes(ct)?);
                    Parts::Exact(list.iter().map(one).collect::<windlass::Result<_>>()?)
                }
                (Kind::Approximate(from), Parts::Approximate(list), AgreementKind::Approximate(to)) => {
                    let one = |ct| to.context().from_bytes(&from.to_bytes(ct)?);
                    Parts::Approximate(list.iter().map(one).collect::<windlass::Result<_>>()?)
                }
                _ => unreachable!("contexts are the same"),
            })
        })
    }
}
