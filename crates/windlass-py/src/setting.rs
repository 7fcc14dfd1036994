//! What all Python objects of one context share.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use pyo3::prelude::*;
use windlass::bootstrap::approximate::RefreshSpec;
use windlass::bootstrap::approximate::precise::PreciseRefreshPlan;
use windlass::bootstrap::{BootstrapSpec, Mode};
use windlass::circuits::{TraceChain, TracePlan, TraceSpec};
use windlass::rlwe::{KeySizes, KeyStrategy, RlweParams};
use windlass::{Approximate, Error, Result, Scheme};

use crate::either::{Either, on_kind};

/// A context of the library.
pub type Kind = Either<windlass::Context, windlass::Context<Approximate>>;

/// What all Python objects of one context share.
pub struct Setting {
    pub kind: Kind,
    /// By what another process makes the same one.
    pub state: String,
    sums: Mutex<HashMap<usize, Arc<TracePlan>>>,
    /// Shifts that were planned, by length and shift.
    shifts: Mutex<HashMap<(usize, usize), Arc<dyn Any + Send + Sync>>>,
}

/// Contexts in use by their state: transforms and slots are made once.
static CONTEXTS: LazyLock<Mutex<HashMap<String, Weak<Setting>>>> = LazyLock::new(Mutex::default);

impl Setting {
    fn new(kind: Kind, state: String) -> Arc<Self> {
        let setting = Arc::new(Self { kind, state: state.clone(), sums: Mutex::default(), shifts: Mutex::default() });
        let mut known = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, setting| setting.strong_count() > 0);
        known.insert(state, Arc::downgrade(&setting));
        setting
    }

    pub fn of_params(context: windlass::Context) -> Arc<Self> {
        let state = state(&[("parameters", context.to_json())]);
        Self::new(Kind::Exact(context), state)
    }

    /// A context that exists.
    pub fn of_kind(kind: Kind) -> Arc<Self> {
        let state = match &kind {
            Kind::Exact(context) => state(&[("parameters", context.to_json())]),
            Kind::Approximate(context) => state(&[("ckks", context.to_json())]),
        };
        Self::new(kind, state)
    }

    /// The same primes for a key that so many parties hold together.
    pub fn among(&self, parties: u32) -> Result<Arc<Self>> {
        let state = match &self.kind {
            Kind::Exact(context) => state(&[("parameters", context.params().clone().with_parties(parties)?.to_json())]),
            Kind::Approximate(context) => {
                let json = match (context.refresh(), context.precise_refresh()) {
                    (Ok(plan), _) => plan.spec().clone().with_parties(parties)?.to_json(),
                    (_, Ok(plan)) => {
                        let spec = plan.spec().with_parties(parties)?;
                        PreciseRefreshPlan::of_shape(&spec)?.spec().to_json()
                    }
                    _ => context.ckks().spec().clone().with_parties(parties).to_json(),
                };
                state(&[("ckks", json)])
            }
        };
        Self::from_state(&state)
    }

    /// The context of this state, which another process may have written: everything is checked
    /// again.
    pub fn from_state(text: &str) -> Result<Arc<Self>> {
        let known = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner).get(text).and_then(Weak::upgrade);
        if let Some(setting) = known {
            return Ok(setting);
        }
        let fields: serde_json::Value = serde_json::from_str(text).map_err(|_| malformed())?;
        let field = |name: &str| fields.get(name).and_then(serde_json::Value::as_str);
        let kind = match (field("preset"), field("parameters"), field("ckks")) {
            (Some(preset), None, None) => {
                let scheme = field("scheme").and_then(scheme_named).ok_or_else(malformed)?;
                Kind::Exact(windlass::Context::preset(preset)?.with_scheme(scheme)?)
            }
            (None, Some(json), None) => Kind::Exact(windlass::Context::from_json(json)?),
            (None, None, Some(json)) => Kind::Approximate(windlass::Context::approximate_from_json(json)?),
            _ => return Err(malformed()),
        };
        Ok(Self::new(kind, text.to_owned()))
    }

    /// The plaintext modulus of exact contexts.
    pub fn modulus(&self) -> Option<u64> {
        match &self.kind {
            Kind::Exact(context) => Some(context.modulus()),
            Kind::Approximate(_) => None,
        }
    }

    /// Whether it computes with integers.
    pub fn is_exact(&self) -> bool {
        matches!(self.kind, Kind::Exact(_))
    }

    /// The degree of a slot.
    pub fn degree(&self) -> usize {
        match &self.kind {
            Kind::Exact(context) => context.slot_ring().degree(),
            Kind::Approximate(_) => 1,
        }
    }

    /// The slots of every ciphertext: for parameters of a refresh, those that it takes.
    pub fn slots(&self) -> usize {
        match &self.kind {
            Kind::Exact(context) => context.slots(),
            Kind::Approximate(context) => context.refresh().map_or(context.slots(), |plan| plan.spec().slots),
        }
    }

    /// The RLWE parameters.
    pub fn rlwe(&self) -> &RlweParams {
        match &self.kind {
            Kind::Exact(context) => context.params().rlwe(),
            Kind::Approximate(context) => context.ckks().rlwe().params(),
        }
    }

    pub fn sizes(&self) -> KeySizes {
        match &self.kind {
            Kind::Exact(context) => context.params().key_sizes(),
            Kind::Approximate(context) => context.ckks().spec().key_sizes(self.rlwe()),
        }
    }

    /// What names the context in messages.
    pub fn in_words(&self) -> String {
        match &self.kind {
            Kind::Exact(context) => format!("{} {}", context.scheme(), context.params().name()),
            Kind::Approximate(context) => format!("CKKS n = {}", context.ckks().spec().n),
        }
    }

    /// Whether files of the one are files of the other.
    pub fn same(&self, other: &Self) -> bool {
        use windlass::wire::FileContext;
        match (&self.kind, &other.kind) {
            (Kind::Exact(a), Kind::Exact(b)) => a.files().hash() == b.files().hash(),
            // Ciphertexts are filled as far as a refresh takes them.
            (Kind::Approximate(a), Kind::Approximate(b)) => {
                a.files().hash() == b.files().hash() && self.slots() == other.slots()
            }
            _ => false,
        }
    }

    /// The plan that adds the slots of a ciphertext with vectors of this length.
    pub fn sum(&self, length: usize) -> Result<Arc<TracePlan>> {
        // Exact plans add all slots, approximate ones as many as the vector may fill.
        let packed = if self.is_exact() { self.slots() } else { length.max(1).next_power_of_two().min(self.slots()) };
        if let Some(plan) = self.sums.lock().unwrap_or_else(PoisonError::into_inner).get(&packed) {
            return Ok(Arc::clone(plan));
        }
        let chain = match &self.kind {
            Kind::Exact(context) => TraceChain::total(context.slot_ring())?,
            Kind::Approximate(context) => TraceChain::window(2 * context.ckks().spec().n as u64, 1, packed as u64)?,
        };
        let plan = Arc::new(TracePlan::new(&chain, &TraceSpec::default())?);
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).insert(packed, Arc::clone(&plan));
        Ok(plan)
    }

    /// What is made once for each cyclic shift by `shift` of vectors of a length.
    pub fn shift<T: Send + Sync + 'static>(
        &self,
        place: (usize, usize),
        make: impl FnOnce() -> Result<Arc<T>>,
    ) -> Result<Arc<T>> {
        let known = self.shifts.lock().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        if let Some(Ok(own)) = known.map(Arc::downcast) {
            return Ok(own);
        }
        let own = make()?;
        let kept = Arc::clone(&own) as Arc<dyn Any + Send + Sync>;
        self.shifts.lock().unwrap_or_else(PoisonError::into_inner).insert(place, kept);
        Ok(own)
    }
}

pub fn malformed() -> Error {
    windlass::wire::WireError::Malformed { what: "context" }.into()
}

pub fn state(fields: &[(&str, String)]) -> String {
    let object: serde_json::Map<String, serde_json::Value> =
        fields.iter().map(|(name, text)| ((*name).to_owned(), text.clone().into())).collect();
    serde_json::Value::from(object).to_string()
}

pub fn scheme_named(name: &str) -> Option<Scheme> {
    match name {
        "BGV" => Some(Scheme::Bgv),
        "BFV" => Some(Scheme::Bfv),
        _ => None,
    }
}

/// Names of ways to bootstrap: digits, unpacking, transform, partition, front end, keys, and the most
/// keys as a number.
pub type Names = [Option<String>; 7];

/// The most keys.
fn most_keys(names: &Names) -> Result<Option<usize>> {
    names[6].as_ref().map(|most| most.parse().map_err(|_| malformed())).transpose()
}

impl Setting {
    /// What operations cost on this machine.
    pub fn prices(&self) -> windlass::circuits::CostModel {
        on_kind!(&self.kind, context => context.prices())
    }

    /// How to refresh real and complex numbers, with a maximum number of keys for each map.
    pub fn refresh_spec(&self, names: &Names) -> Result<RefreshSpec> {
        let Kind::Approximate(context) = &self.kind else { return Err(malformed()) };
        let own = context.refresh()?.spec().clone();
        let max_keys = most_keys(names)?.or(own.max_keys);
        Ok(RefreshSpec { max_keys, ..own })
    }

    /// How to bootstrap, by names.
    pub fn bootstrap_spec(&self, packed: bool, names: &Names) -> Result<BootstrapSpec> {
        let Kind::Exact(context) = &self.kind else { return Err(malformed()) };
        let own = context.bootstrapping_spec();
        let [digits, unpacking, transform, partition, front_end, keys, _] = names;
        let rule = |name: &String| {
            let known = || KeyStrategy::ALL.map(|one| one.to_string()).to_vec();
            let unknown = || Error::UnknownName { what: "rule of keys", given: name.clone(), known: known() };
            KeyStrategy::named(name).ok_or_else(unknown)
        };
        Ok(BootstrapSpec {
            mode: if packed { Mode::Packed } else { Mode::Thin },
            digits: digits.as_ref().map_or(Ok(own.digits), |name| name.parse())?,
            unpacking: unpacking.as_ref().map_or(Ok(own.unpacking), |name| name.parse())?,
            transform: transform.as_ref().map_or(Ok(own.transform), |name| name.parse())?,
            partition: partition.as_ref().map_or(Ok(own.partition), |name| name.parse())?,
            front_end: front_end.as_ref().map_or(Ok(own.front_end), |name| name.parse())?,
            keys: keys.as_ref().map(rule).transpose()?.or(own.keys),
            max_keys: most_keys(names)?.or(own.max_keys),
            ..own
        })
    }
}

/// What client and server agree on: scheme, parameters, slots.
///
/// Made by :meth:`plan`, :meth:`preset`, :meth:`approximate` or :meth:`from_file`; cheap to copy and
/// to pickle. ``print(context)`` says the security with its source, the slots, the capacity and the
/// size of every key before any is made.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.Context.plan(modulus=65537, depth=1)
/// >>> context.security >= 128
/// True
#[pyclass(frozen, weakref, name = "Context", module = "windlass")]
pub struct PyContext {
    pub setting: Arc<Setting>,
}
