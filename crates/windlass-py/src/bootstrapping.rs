//! Ways to refresh.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::NeedsKeys;
use windlass::bootstrap::{BootstrapError, BootstrapPlan, Mode};
use windlass::needs::KeyRequest;

use crate::error::{plain, raise};
use crate::runtime::long;
use crate::setting::{Kind, Names, PyContext, Setting};

/// A plan of a bootstrapping: stages, keys, prices.
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
    pub plan: Arc<BootstrapPlan>,
    packed: bool,
    names: Names,
}

impl PyBootstrapping {
    pub fn make(py: Python<'_>, setting: &Arc<Setting>, packed: bool, names: Names) -> PyResult<Self> {
        let (own, how) = (Arc::clone(setting), names.clone());
        let plan = long(py, None, "planning", move |_| {
            let spec = own.bootstrap_spec(packed, &how)?;
            match &own.kind {
                Kind::Exact(context) => context.bootstrapping_with(spec).map_err(|error| match error {
                    windlass::Error::OtherSlotOrder { .. } => {
                        let what = "these parameters do not bootstrap: use a preset whose name begins with boot, or Context.plan(unlimited=True)";
                        BootstrapError::Unsupported { what: what.into() }.into()
                    }
                    other => other,
                }),
                Kind::Approximate(_) => Err(windlass::Error::MissingBootstrappingKeys),
            }
        })?;
        Ok(Self { setting: Arc::clone(setting), plan, packed, names })
    }

    /// That of keys which the library made.
    pub fn of_plan(setting: &Arc<Setting>, plan: &Arc<BootstrapPlan>) -> Self {
        let spec = plan.spec();
        let packed = spec.mode == Mode::Packed;
        Self { setting: Arc::clone(setting), plan: Arc::clone(plan), packed, names: Default::default() }
    }

    pub fn key_request(&self) -> KeyRequest {
        self.plan.key_request()
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
        self.plan.required_keys().into_iter().collect()
    }

    /// The minimum capacity in bits of a ciphertext that is refreshed.
    #[getter]
    fn least_input_bits(&self) -> f64 {
        self.plan.least_input_bits()
    }

    /// The minimum capacity in bits of a refreshed ciphertext. Of these, ``least_input_bits`` are
    /// kept for the next refresh.
    #[getter]
    fn output_bits(&self) -> f64 {
        self.plan.output_bits()
    }

    /// A refresh is wrong with probability at most ``2**-failure_bits``, over all of its random
    /// events. A wrong refresh raises no error.
    #[getter]
    fn failure_bits(&self) -> f64 {
        self.plan.failure_bits()
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
        let one = |stage: &windlass::bootstrap::Stage| {
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
        let plan = Arc::clone(&self.plan);
        long(py, None, "pricing", move |_| plan.estimated_seconds())
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

    /// Whether a refresh keeps any elements of slots, not only integers.
    #[getter]
    fn packed(&self) -> bool {
        self.packed
    }

    fn __repr__(&self) -> String {
        let mode = if self.packed { "packed" } else { "thin" };
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
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.setting.same(&other.setting) && self.plan.spec() == other.plan.spec()
        })
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.packed)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        if self.spec_of_names().map_err(|error| raise(py, error))? != *self.plan.spec() {
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

impl PyBootstrapping {
    fn spec_of_names(&self) -> windlass::Result<windlass::bootstrap::BootstrapSpec> {
        self.setting.bootstrap_spec(self.packed, &self.names)
    }
}
