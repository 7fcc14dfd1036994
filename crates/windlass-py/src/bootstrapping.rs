//! The Python class of bootstrapping plans.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::NeedsKeys;
use windlass::bootstrap::approximate::RefreshPlan;
use windlass::bootstrap::{BootstrapError, BootstrapPlan, Mode, Stage};
use windlass::needs::KeyRequest;
use windlass::rlwe::FailureProbability;

use crate::either::{Either, on_kind};
use crate::error::{plain, raise};
use crate::runtime::{long, quick};
use crate::setting::{Kind, Names, PyContext, Setting};

/// A plan of a bootstrapping, or of a refresh of CKKS: stages, keys, prices.
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

/// A plan of either kind.
pub type Way = Either<Arc<BootstrapPlan>, Arc<RefreshPlan>>;

impl Way {
    fn stages(&self) -> Vec<Stage> {
        match self {
            Self::Exact(plan) => plan.stages().to_vec(),
            Self::Approximate(plan) => plan.stages(),
        }
    }

    fn required_keys(&self) -> Vec<u64> {
        match self {
            Self::Exact(plan) => plan.required_keys().into_iter().collect(),
            Self::Approximate(plan) => plan.galois_levels().keys().copied().collect(),
        }
    }

    fn explain(&self) -> String {
        on_kind!(self, plan => plan.explain())
    }
}

impl PyBootstrapping {
    pub fn make(py: Python<'_>, setting: &Arc<Setting>, packed: bool, names: Names) -> PyResult<Self> {
        if !setting.is_exact() && (packed || names[..6].iter().any(Option::is_some)) {
            let message = "a refresh of CKKS takes max_keys only: leave the other options out";
            return Err(plain(py, "ParameterError", message));
        }
        let (own, how) = (Arc::clone(setting), names.clone());
        let plan = long(py, None, "planning", move |_| match &own.kind {
            Kind::Exact(context) => {
                let spec = own.bootstrap_spec(packed, &how)?;
                let plan = context.bootstrapping_with(spec).map_err(|error| match error {
                    windlass::Error::OtherSlotOrder { .. } => {
                        let what = "these parameters do not bootstrap: use a preset whose name begins with boot, or Context.plan(unlimited=True)";
                        BootstrapError::Unsupported { what: what.into() }.into()
                    }
                    other => other,
                });
                Ok(Way::Exact(plan?))
            }
            Kind::Approximate(context) => {
                let Ok(plan) = context.refresh() else {
                    let what = "these parameters do not refresh: use a preset whose name begins with refresh";
                    return Err(BootstrapError::Unsupported { what: what.into() }.into());
                };
                let spec = own.refresh_spec(&how)?;
                let is_own = spec == *plan.spec();
                Ok(Way::Approximate(if is_own { plan } else { Arc::new(RefreshPlan::new(&spec)?) }))
            }
        })?;
        Ok(Self { setting: Arc::clone(setting), plan, packed, names })
    }

    /// That of keys which the library made.
    pub fn of_plan(setting: &Arc<Setting>, plan: Way) -> Self {
        let mut names = Names::default();
        let packed = match &plan {
            Way::Exact(plan) => plan.spec().mode == Mode::Packed,
            Way::Approximate(plan) => {
                names[6] = plan.spec().max_keys.map(|most| most.to_string());
                false
            }
        };
        Self { setting: Arc::clone(setting), plan, packed, names }
    }

    pub fn key_request(&self) -> KeyRequest {
        on_kind!(&self.plan, plan => plan.key_request())
    }

    fn is_same(&self, other: &Self) -> bool {
        let same = on_kind!((&self.plan, &other.plan), (a, b) => a.spec() == b.spec(), else false);
        same && self.setting.same(&other.setting)
    }

    /// Whether another process can make the plan from its names.
    fn is_made_from_names(&self) -> windlass::Result<bool> {
        Ok(match &self.plan {
            Way::Exact(plan) => self.setting.bootstrap_spec(self.packed, &self.names)? == *plan.spec(),
            Way::Approximate(plan) => self.setting.refresh_spec(&self.names)? == *plan.spec(),
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
            Way::Exact(_) => 0,
            Way::Approximate(plan) => plan.spec().input_levels(),
        }
    }

    /// The minimum capacity in bits of a ciphertext that is refreshed. 0 in CKKS, which has
    /// :attr:`input_levels`.
    #[getter]
    fn least_input_bits(&self) -> f64 {
        match &self.plan {
            Way::Exact(plan) => plan.least_input_bits(),
            Way::Approximate(_) => 0.0,
        }
    }

    /// The minimum capacity in bits of a refreshed ciphertext. Of these, ``least_input_bits`` are
    /// kept for the next refresh. In CKKS the bits of the modulus that its products may drop.
    #[getter]
    fn output_bits(&self) -> f64 {
        on_kind!(&self.plan, plan => plan.output_bits())
    }

    /// A refresh is wrong with probability at most ``2**-failure_bits``, over all of its random
    /// events. A wrong refresh raises no error. In CKKS it is that of an error above the bound that
    /// decryption relies on, in one slot.
    #[getter]
    fn failure_bits(&self) -> f64 {
        match &self.plan {
            Way::Exact(plan) => plan.failure_bits(),
            Way::Approximate(_) => FailureProbability::default().bits(),
        }
    }

    /// CKKS only: -log2 of the error that a refresh adds to a number of absolute value 1, an estimate
    /// from above; None for integers.
    #[getter]
    fn precision_bits(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        match &self.plan {
            Way::Exact(_) => Ok(None),
            Way::Approximate(plan) => quick(py, || {
                let error = plan.error()?;
                Ok(Some(-(error.deviation() + error.systematic).log2()))
            }),
        }
    }

    /// Lists the stages in order.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     With ``name``, ``level``, ``before`` and ``after`` (bits of capacity), ``work``, ``keys``
    ///     and ``times``.
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
        match &self.plan {
            Way::Exact(plan) => {
                let plan = Arc::clone(plan);
                long(py, None, "pricing", move |_| plan.estimated_seconds())
            }
            Way::Approximate(plan) => {
                let plan = Arc::clone(plan);
                long(py, None, "pricing", move |_| Ok(plan.estimated_seconds()))
            }
        }
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
            (Way::Approximate(plan), _) => format!("{} slots", plan.spec().slots),
            (Way::Exact(_), true) => "packed".to_owned(),
            (Way::Exact(_), false) => "thin".to_owned(),
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
