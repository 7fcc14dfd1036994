//! The Python class of bootstrapping plans.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::NeedsKeys;
use windlass::bootstrap::approximate::RefreshPlan;
use windlass::bootstrap::approximate::precise::PreciseRefreshPlan;
use windlass::bootstrap::exact_through_ckks::ExactRefreshPlan;
use windlass::bootstrap::{BootstrapError, BootstrapPlan, Mode, Stage};
use windlass::needs::KeyRequest;
use windlass::rlwe::FailureProbability;

use crate::error::{plain, raise};
use crate::runtime::{long, quick};
use crate::setting::{Kind, Names, PyContext, Setting};

/// A plan of a bootstrapping, or of a refresh of CKKS or through CKKS: stages, keys, prices.
///
/// Made by :meth:`Context.bootstrapping`. If it is named in :meth:`Context.generate_keys`, the
/// server refreshes a ciphertext automatically before a step after which it could no longer be
/// refreshed.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.Context.preset("insecure_boot_256_p257")
/// >>> client, server = context.generate_keys(context.bootstrapping())
/// >>> x = server.receive(client.encrypt([2, 3]))
/// >>> for _ in range(16):
/// ...     x = x * x
/// >>> client.decrypt(x)
/// array([1, 1])
#[pyclass(frozen, name = "Bootstrapping", module = "windlass", from_py_object)]
#[derive(Clone)]
pub struct PyBootstrapping {
    pub setting: Arc<Setting>,
    pub plan: Way,
    packed: bool,
    names: Names,
}

/// A plan of any kind.
#[derive(Clone)]
pub enum Way {
    /// Integers, by bootstrapping.
    Bootstrap(Arc<BootstrapPlan>),
    /// Integers, through CKKS.
    Exact(Arc<ExactRefreshPlan>),
    /// Real and complex numbers, in one pass.
    Refresh(Arc<RefreshPlan>),
    /// Real and complex numbers, in several passes.
    Precise(Arc<PreciseRefreshPlan>),
}

/// Evaluates one expression for a plan of any kind.
macro_rules! on_way {
    ($value:expr, $plan:ident => $body:expr) => {
        match $value {
            Way::Bootstrap($plan) => $body,
            Way::Exact($plan) => $body,
            Way::Refresh($plan) => $body,
            Way::Precise($plan) => $body,
        }
    };
}

impl Way {
    /// The CKKS refresh in it, if there is one, and how often it runs.
    fn ckks(&self) -> Option<(&Arc<RefreshPlan>, usize)> {
        match self {
            Self::Bootstrap(_) => None,
            Self::Exact(plan) => Some((plan.ckks(), plan.spec().passes)),
            Self::Refresh(plan) => Some((plan, 1)),
            Self::Precise(plan) => Some((plan.pass(), plan.spec().passes)),
        }
    }

    /// The CKKS refresh whose keys a server of real and complex numbers has.
    pub fn pass(self) -> Option<Arc<RefreshPlan>> {
        match self {
            Self::Refresh(plan) => Some(plan),
            Self::Precise(plan) => Some(Arc::clone(plan.pass())),
            Self::Bootstrap(_) | Self::Exact(_) => None,
        }
    }

    fn stages(&self) -> Vec<Stage> {
        match (self, self.ckks()) {
            (Self::Bootstrap(plan), _) => plan.stages().to_vec(),
            (_, Some((plan, passes))) => {
                let often = |stage: Stage| Stage { times: stage.times * passes, ..stage };
                plan.stages().into_iter().map(often).collect()
            }
            (_, None) => Vec::new(),
        }
    }

    fn required_keys(&self) -> Vec<u64> {
        match (self, self.ckks()) {
            (Self::Bootstrap(plan), _) => plan.required_keys().into_iter().collect(),
            (_, Some((plan, _))) => plan.galois_levels().keys().copied().collect(),
            (_, None) => Vec::new(),
        }
    }

    fn explain(&self) -> String {
        on_way!(self, plan => plan.explain())
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bootstrap(a), Self::Bootstrap(b)) => a.spec() == b.spec(),
            (Self::Exact(a), Self::Exact(b)) => a.spec() == b.spec(),
            (Self::Refresh(a), Self::Refresh(b)) => a.spec() == b.spec(),
            (Self::Precise(a), Self::Precise(b)) => a.spec() == b.spec(),
            _ => false,
        }
    }
}

impl PyBootstrapping {
    pub fn make(py: Python<'_>, setting: &Arc<Setting>, packed: bool, names: Names) -> PyResult<Self> {
        let has_passes = match &setting.kind {
            Kind::Exact(context) => context.exact_refresh().is_ok(),
            Kind::Approximate(context) => context.precise_refresh().is_ok(),
        };
        if has_passes && (packed || names.iter().any(Option::is_some)) {
            let message = "a refresh in several passes takes no options: leave them out";
            return Err(plain(py, "ParameterError", message));
        }
        if !setting.is_exact() && (packed || names[..6].iter().any(Option::is_some)) {
            let message = "a refresh of CKKS takes max_keys only: leave the other options out";
            return Err(plain(py, "ParameterError", message));
        }
        let (own, how) = (Arc::clone(setting), names.clone());
        let plan = long(py, None, "planning", move |_| match &own.kind {
            Kind::Exact(context) => {
                if let Ok(plan) = context.exact_refresh() {
                    return Ok(Way::Exact(plan));
                }
                let spec = own.bootstrap_spec(packed, &how)?;
                let plan = context.bootstrapping_with(spec).map_err(|error| match error {
                    windlass::Error::OtherSlotOrder { .. } => {
                        let what = "these parameters do not bootstrap: use a preset whose name begins with boot, or Context.plan(unlimited=True)";
                        BootstrapError::Unsupported { what: what.into() }.into()
                    }
                    other => other,
                });
                Ok(Way::Bootstrap(plan?))
            }
            Kind::Approximate(context) => {
                if let Ok(plan) = context.precise_refresh() {
                    return Ok(Way::Precise(plan));
                }
                let Ok(plan) = context.refresh() else {
                    let what =
                        "these parameters do not refresh: use a preset whose name begins with refresh or precise";
                    return Err(BootstrapError::Unsupported { what: what.into() }.into());
                };
                let spec = own.refresh_spec(&how)?;
                let is_own = spec == *plan.spec();
                Ok(Way::Refresh(if is_own { plan } else { Arc::new(RefreshPlan::new(&spec)?) }))
            }
        })?;
        Ok(Self { setting: Arc::clone(setting), plan, packed, names })
    }

    /// That of keys which the library made.
    pub fn of_plan(setting: &Arc<Setting>, plan: Way) -> Self {
        let mut names = Names::default();
        let packed = match &plan {
            Way::Bootstrap(plan) => plan.spec().mode == Mode::Packed,
            Way::Refresh(plan) => {
                names[6] = plan.spec().max_keys.map(|most| most.to_string());
                false
            }
            Way::Exact(_) | Way::Precise(_) => false,
        };
        Self { setting: Arc::clone(setting), plan, packed, names }
    }

    pub fn key_request(&self) -> KeyRequest {
        on_way!(&self.plan, plan => plan.key_request())
    }

    fn is_same(&self, other: &Self) -> bool {
        self.plan.is_same(&other.plan) && self.setting.same(&other.setting)
    }

    /// Whether another process can make the plan from its names.
    fn is_made_from_names(&self) -> windlass::Result<bool> {
        Ok(match &self.plan {
            Way::Bootstrap(plan) => self.setting.bootstrap_spec(self.packed, &self.names)? == *plan.spec(),
            Way::Refresh(plan) => self.setting.refresh_spec(&self.names)? == *plan.spec(),
            // Those of the context.
            Way::Exact(_) | Way::Precise(_) => true,
        })
    }
}

#[pymethods]
impl PyBootstrapping {
    /// Describes the plan: stages, levels, capacity, keys, time.
    fn explain(&self) -> String {
        self.plan.explain()
    }

    /// The automorphisms that need Galois keys, in increasing order.
    #[getter]
    fn required_keys(&self) -> Vec<u64> {
        self.plan.required_keys()
    }

    /// CKKS only: the levels that a ciphertext must have left to be refreshed; 0 for integers. Between two
    /// refreshes there is room for ``context.depth - input_levels`` levels.
    #[getter]
    fn input_levels(&self) -> usize {
        match &self.plan {
            Way::Refresh(plan) => plan.spec().input_levels(),
            _ => 0,
        }
    }

    /// The minimum capacity in bits of a ciphertext that is refreshed. 0 in CKKS, which has
    /// :attr:`input_levels`.
    #[getter]
    fn least_input_bits(&self) -> f64 {
        match &self.plan {
            Way::Bootstrap(plan) => plan.least_input_bits(),
            Way::Exact(plan) => plan.least_input_bits(),
            Way::Refresh(_) | Way::Precise(_) => 0.0,
        }
    }

    /// The minimum capacity in bits of a refreshed ciphertext. Of these, ``least_input_bits`` are
    /// kept for the next refresh. In CKKS the bits of the modulus that its products may drop.
    #[getter]
    fn output_bits(&self) -> f64 {
        on_way!(&self.plan, plan => plan.output_bits())
    }

    /// A refresh is wrong with probability at most ``2**-failure_bits``, over all of its random
    /// events. A wrong refresh raises no error. In CKKS it is that of an error above the bound that
    /// decryption relies on, in one slot.
    #[getter]
    fn failure_bits(&self) -> f64 {
        match &self.plan {
            Way::Bootstrap(plan) => plan.failure_bits(),
            Way::Exact(plan) => plan.failure_bits(),
            Way::Refresh(_) | Way::Precise(_) => FailureProbability::default().bits(),
        }
    }

    /// CKKS only: -log2 of the error that a refresh adds to a number of absolute value 1, an estimate
    /// from above; None for integers.
    #[getter]
    fn precision_bits(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        match &self.plan {
            Way::Bootstrap(_) | Way::Exact(_) => Ok(None),
            Way::Refresh(plan) => quick(py, || {
                let error = plan.error()?;
                Ok(Some(-(error.deviation() + error.systematic).log2()))
            }),
            Way::Precise(plan) => Ok(Some(plan.precision_bits())),
        }
    }

    /// Lists the stages in order. For a refresh in several passes, those of a pass.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     With ``name``, ``level``, ``before`` and ``after`` (bits of capacity), ``work``, ``keys``
    ///     and ``times``: how often the stage runs.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> way = wl.Context.preset("insecure_boot_256_p257").bootstrapping()
    /// >>> way.stages()[-1]["name"]
    /// 'digit removal'
    fn stages<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |stage: &Stage| {
            let dict = PyDict::new(py);
            dict.set_item("name", stage.name.to_string())?;
            dict.set_item("level", stage.level)?;
            dict.set_item("before", stage.capacity.0)?;
            dict.set_item("after", stage.capacity.1)?;
            dict.set_item("work", &stage.work)?;
            dict.set_item("keys", stage.keys.iter().copied().collect::<Vec<u64>>())?;
            dict.set_item("times", stage.times)?;
            Ok(dict)
        };
        self.plan.stages().iter().map(one).collect()
    }

    /// Estimates the seconds of a refresh on one thread of this machine.
    fn estimated_seconds(&self, py: Python<'_>) -> PyResult<f64> {
        let way = self.plan.clone();
        long(py, None, "pricing", move |_| match way {
            Way::Bootstrap(plan) => plan.estimated_seconds(),
            Way::Exact(plan) => Ok(plan.estimated_seconds()),
            Way::Refresh(plan) => Ok(plan.estimated_seconds()),
            Way::Precise(plan) => Ok(plan.estimated_seconds()),
        })
    }

    /// The context of the plan.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    /// Plots the capacity along the stages; needs matplotlib.
    ///
    /// Returns
    /// -------
    /// matplotlib.figure.Figure
    fn plot<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        PyModule::import(slf.py(), "windlass.plots")?.call_method1("bootstrapping", (slf,))
    }

    /// Whether a refresh keeps any elements of slots, not only integers. False for CKKS.
    #[getter]
    fn packed(&self) -> bool {
        self.packed
    }

    fn __repr__(&self) -> String {
        let mode = match (&self.plan, self.packed) {
            (Way::Refresh(plan), _) => format!("{} slots", plan.spec().slots),
            (Way::Exact(plan), _) => format!("{} passes", plan.spec().passes),
            (Way::Precise(plan), _) => format!("{} passes", plan.spec().passes),
            (Way::Bootstrap(_), true) => "packed".to_owned(),
            (Way::Bootstrap(_), false) => "thin".to_owned(),
        };
        format!(
            "<windlass.Bootstrapping, {}, {mode}, {} stages, {} keys>",
            self.setting.in_words(),
            self.plan.stages().len(),
            self.plan.required_keys().len()
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.get().explain(),))?.extract()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.is_same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.packed)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if !self.is_made_from_names().map_err(|error| raise(py, error))? {
            return Err(plain(
                py,
                "WindlassError",
                "this bootstrapping cannot be pickled, since it was not made from names; make it again with context.bootstrapping()",
            ));
        }
        crate::pickle::reduce(
            py,
            "restore_bootstrapping",
            (self.setting.state.clone(), self.packed, self.names.to_vec()),
        )
    }
}
