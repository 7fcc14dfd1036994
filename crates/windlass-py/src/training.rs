//! Logistic regression on encrypted rows, as a class of the Python package.

use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::NeedsKeys;
use windlass::bootstrap::training::{Training, TrainingSpec};
use windlass::needs::KeyRequest;
use windlass::schemes::ckks;

use crate::array_layout::in_words;
use crate::client::PyClient;
use crate::error::plain;
use crate::handle::{Handle, ServerKind};
use crate::natural::Natural;
use crate::needs::PyKeys;
use crate::numbers::numpy;
use crate::runtime::{by_parts, long, quick};
use crate::server::PyServer;
use crate::setting::{Kind, PyContext, Setting};

/// A planned training of a logistic regression on encrypted rows.
///
/// Made by :meth:`Context.training`. Name it in :meth:`Context.generate_keys`: its keys are those of the
/// steps and those of the refresh.
///
/// **Warning.** The server cannot see scores and weights. If a score ``x @ w + b`` exceeds
/// ``score_bound`` during the training, or a weight ``weight_bound``, the weights are useless. No error
/// is raised unless a weight exceeds its bound when it is decrypted.
///
/// Examples
/// --------
/// >>> import numpy as np, windlass as wl
/// >>> context = wl.Context.preset("insecure_toy_refresh_1024_slots16")
/// >>> X = np.array([[1.0, 0.5], [0.8, -1.0], [-1.2, 0.3], [-0.6, 0.2]])  # standardised
/// >>> training = context.training(rows=4, features=2, steps=4)
/// >>> client, server = context.generate_keys(training)
/// >>> rows = training.encrypt(client, X, [1, 1, 0, 0])
/// >>> trained = training.run(server, rows)
/// >>> weights, bias = training.decrypt(client, trained)
/// >>> (X @ weights + bias > 0).tolist()
/// [True, True, False, False]
#[pyclass(frozen, name = "Training", module = "windlass")]
pub struct PyTraining {
    pub setting: Arc<Setting>,
    pub plan: Arc<Training>,
}

/// Encrypted rows, or encrypted weights, of a training.
///
/// Made by :meth:`Training.encrypt` and :meth:`Training.run`.
#[pyclass(frozen, name = "TrainingData", module = "windlass")]
pub struct PyTrainingData {
    setting: Arc<Setting>,
    list: Arc<Vec<ckks::Ciphertext>>,
}

#[pymethods]
impl PyTrainingData {
    /// Bytes of the ciphertexts in memory.
    #[getter]
    fn nbytes(&self) -> usize {
        self.list.iter().map(ckks::Ciphertext::bytes).sum()
    }

    /// The estimated bits of precision: those of the least exact number.
    #[getter]
    fn precision_bits(&self) -> f64 {
        self.list.iter().map(ckks::Ciphertext::precision_bits).fold(f64::INFINITY, f64::min)
    }

    fn __repr__(&self) -> String {
        format!("<windlass.TrainingData, {}, {} ciphertexts>", self.setting.in_words(), self.list.len())
    }
}

impl PyTraining {
    pub fn make(py: Python<'_>, setting: &Arc<Setting>, spec: TrainingSpec) -> PyResult<Self> {
        let Kind::Approximate(context) = &setting.kind else {
            let message = "training computes with real numbers (CKKS): use wl.Context.preset with a preset whose name begins with refresh";
            return Err(plain(py, "ParameterError", message));
        };
        let plan = quick(py, || context.training(&spec))?;
        Ok(Self { setting: Arc::clone(setting), plan: Arc::new(plan) })
    }

    fn check(&self, py: Python<'_>, other: &Setting) -> PyResult<()> {
        if self.setting.same(other) {
            return Ok(());
        }
        let (ours, theirs) = (self.setting.in_words(), other.in_words());
        let message = format!("the training was planned for another context ({ours}, not {theirs}); use one context");
        Err(plain(py, "OtherContext", message))
    }

    fn data(&self, list: Vec<ckks::Ciphertext>) -> PyTrainingData {
        PyTrainingData { setting: Arc::clone(&self.setting), list: Arc::new(list) }
    }
}

/// The rows of a matrix, and the labels beside them.
type Table = (Vec<Vec<f64>>, Vec<f64>);

fn floats<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    numpy(given.py())?.getattr("ascontiguousarray")?.call1((given, "float64"))
}

/// Numbers as float64.
fn table(features: &Bound<'_, PyAny>, labels: &Bound<'_, PyAny>) -> PyResult<Table> {
    let py = features.py();
    let (features, labels) = (floats(features)?, floats(labels)?);
    let shape_of = |array: &Bound<'_, PyAny>| array.getattr("shape").and_then(|shape| shape.extract::<Vec<usize>>());
    let refused = |what: &str, array: &Bound<'_, PyAny>| -> PyResult<PyErr> {
        let message = format!("{what} expected, not an array of shape {}", in_words(&shape_of(array)?));
        Ok(plain(py, "ShapeError", message))
    };
    let Ok(matrix) = features.extract::<PyReadonlyArray2<'_, f64>>() else {
        return Err(refused("features: a matrix is", &features)?);
    };
    let Ok(vector) = labels.extract::<PyReadonlyArray1<'_, f64>>() else {
        return Err(refused("labels: a vector is", &labels)?);
    };
    let rows = matrix.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
    Ok((rows, vector.as_array().to_vec()))
}

#[pymethods]
impl PyTraining {
    /// Encrypts standardised rows with their labels.
    ///
    /// Parameters
    /// ----------
    /// client : Client
    /// X : array_like of shape (rows, features)
    ///     Standardised features, clipped at ``feature_bound``.
    /// y : array_like of shape (rows,)
    ///     Labels, 0 or 1.
    ///
    /// Returns
    /// -------
    /// TrainingData
    ///
    /// Raises
    /// ------
    /// ShapeError
    ///     For other numbers of rows or features.
    /// ValueRangeError
    ///     For features that are not finite or above the bound.
    /// ParameterError
    ///     For labels other than 0 and 1.
    #[pyo3(signature = (client, X, y))]
    #[allow(non_snake_case)]
    fn encrypt(
        &self,
        py: Python<'_>,
        client: &PyClient,
        X: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
    ) -> PyResult<PyTrainingData> {
        self.check(py, client.setting())?;
        let (rows, labels) = table(X, y)?;
        let client = client.approximate().expect("the context is one of CKKS");
        let list = by_parts(py, self.plan.ciphertexts(), |ticker| {
            ticker.check("encrypt")?;
            client.encrypt_training(&self.plan, &rows, &labels)
        })?;
        Ok(self.data(list))
    }

    /// Trains on encrypted rows. The weights stay encrypted.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    /// rows : TrainingData
    ///     Made by :meth:`encrypt`.
    /// progress : bool or callable, optional
    ///     A bar, or a function of (steps done, steps).
    ///
    /// Returns
    /// -------
    /// TrainingData
    ///     The encrypted weights, for :meth:`decrypt`.
    #[pyo3(signature = (server, rows, *, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        server: &PyServer,
        rows: &PyTrainingData,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTrainingData> {
        let handle: &Handle = &server.handle;
        self.check(py, &handle.setting)?;
        self.check(py, &rows.setting)?;
        let (server, plan, list) = (handle.open(py)?, Arc::clone(&self.plan), Arc::clone(&rows.list));
        let trained = long(py, progress, "training", move |ticker| {
            let ServerKind::Approximate(server) = &*server else { unreachable!("contexts are the same") };
            server.train(&plan, &list, |report| ticker.tell(report.step, report.steps))
        })?;
        Ok(self.data(vec![trained]))
    }

    /// Decrypts trained weights.
    ///
    /// Parameters
    /// ----------
    /// client : Client
    /// trained : TrainingData
    ///     Made by :meth:`run`.
    ///
    /// Returns
    /// -------
    /// (numpy.ndarray, float)
    ///     The weights of standardised features, and the bias.
    ///
    ///     **Warning.** Their errors depend on the secret key. Round them before you publish them.
    ///
    /// Raises
    /// ------
    /// NotDecryptable
    ///     If a weight exceeds the bound of the plan.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        client: &PyClient,
        trained: &PyTrainingData,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
        self.check(py, client.setting())?;
        self.check(py, &trained.setting)?;
        let client = client.approximate().expect("the context is one of CKKS");
        let own = quick(py, || client.decrypt_training(&self.plan, &trained.list[0]))?;
        Ok((PyArray1::from_vec(py, own.weights), own.bias))
    }

    /// The same training in the clear: the same steps with the same polynomial, in double precision.
    ///
    /// Parameters
    /// ----------
    /// X : array_like of shape (rows, features)
    /// y : array_like of shape (rows,)
    ///
    /// Returns
    /// -------
    /// (numpy.ndarray, float)
    ///     The weights and the bias.
    #[pyo3(signature = (X, y))]
    #[allow(non_snake_case)]
    fn in_the_clear<'py>(
        &self,
        py: Python<'py>,
        X: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
        let (rows, labels) = table(X, y)?;
        let own = quick(py, || self.plan.in_the_clear(&rows, &labels))?;
        Ok((PyArray1::from_vec(py, own.weights), own.bias))
    }

    /// The number of steps.
    #[getter]
    fn steps(&self) -> usize {
        self.plan.spec().steps
    }

    /// The number of refreshes.
    #[getter]
    fn refreshes(&self) -> usize {
        self.plan.refreshes()
    }

    /// The levels that a step takes.
    #[getter]
    fn levels_per_step(&self) -> usize {
        self.plan.levels_per_step()
    }

    /// The largest score ``x @ w + b`` for which the training is right.
    #[getter]
    fn score_bound(&self) -> f64 {
        self.plan.spec().score_bound
    }

    /// The largest distance of the polynomial from the sigmoid, for scores up to ``score_bound``.
    #[getter]
    fn sigmoid_error(&self) -> f64 {
        self.plan.sigmoid_error()
    }

    /// The automorphisms that need Galois keys, in increasing order, without those of the refresh.
    #[getter]
    fn required_keys(&self) -> Vec<u64> {
        self.plan.required_keys().into_iter().collect()
    }

    /// The estimated standard deviation of the error that encryption leaves in a weight.
    #[getter]
    fn error(&self) -> f64 {
        self.plan.deviation()
    }

    /// The keys of the steps and those of the refresh, apart: memory is counted so.
    fn __windlass_needs__(&self) -> PyKeys {
        let name = format!("a training of {} steps", self.plan.spec().steps);
        let steps = KeyRequest::none(name).with_galois(self.plan.required_keys());
        PyKeys::new(&self.setting, vec![steps, self.plan.refresh().key_request()])
    }

    /// The context of the plan.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.setting) }
    }

    /// Describes the plan: data, bounds, levels, refreshes, keys, error, time.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        quick(py, || Ok(self.plan.explain_at(&self.setting.prices())))
    }

    fn __repr__(&self) -> String {
        let spec = self.plan.spec();
        format!(
            "<windlass.Training, {}, {} rows of {} features, {} steps, {} refreshes>",
            self.setting.in_words(),
            spec.rows,
            spec.features,
            spec.steps,
            self.plan.refreshes()
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let text = slf.get().explain(slf.py())?;
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (text,))?.extract()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.plan.spec() == other.plan.spec() && self.setting.same(&other.setting)
        })
    }

    fn __hash__(&self) -> usize {
        self.plan.spec().rows
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let spec = self.plan.spec();
        let integers = (spec.rows, spec.features, spec.steps, spec.degree);
        let reals = (spec.rate, spec.feature_bound, spec.score_bound, spec.weight_bound);
        crate::pickle::reduce(py, "restore_training", (self.setting.state.clone(), integers, reals))
    }
}

/// Numbers of a plan in a pickle: rows, features, steps, degree.
type Integers = (usize, usize, usize, usize);

/// The rate, and the bounds on features, scores and weights.
type Reals = (Option<f64>, f64, f64, f64);

/// The training of a pickle, planned again.
#[pyfunction]
pub fn restore_training(py: Python<'_>, state: &str, integers: Integers, reals: Reals) -> PyResult<PyTraining> {
    let ((rows, features, steps, degree), (rate, feature_bound, score_bound, weight_bound)) = (integers, reals);
    let spec = TrainingSpec { rows, features, steps, rate, feature_bound, score_bound, degree, weight_bound };
    PyTraining::make(py, &quick(py, || Setting::from_state(state))?, spec)
}

#[pymethods]
impl PyContext {
    /// Plans a logistic regression that a server trains on encrypted rows, by Nesterov's accelerated
    /// gradient, with refreshes in between. The context is one whose preset begins with ``refresh``.
    ///
    /// Parameters
    /// ----------
    /// rows, features : int
    ///     The shape of the data.
    /// steps : int
    ///     The number of steps.
    /// rate : float, optional
    ///     The learning rate; by default ``4 / (features + 1)``, with which the loss of standardised
    ///     features does not diverge.
    /// degree : int
    ///     The degree of the polynomial near the sigmoid, odd. It takes ``ceil(log2(degree + 1))`` levels.
    /// feature_bound, score_bound, weight_bound : float
    ///     The largest absolute values of a feature, of a score ``x @ w + b`` and of a weight.
    ///
    ///     **Warning.** A score or a weight that is larger makes the weights useless. No error is raised
    ///     unless a weight exceeds its bound when it is decrypted.
    ///
    /// Returns
    /// -------
    /// Training
    ///
    /// Raises
    /// ------
    /// BootstrapError
    ///     If the context has no levels for a refresh.
    /// CapacityExhausted
    ///     If a refreshed ciphertext has too few levels for a step.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_refresh_1024_slots16")
    /// >>> training = context.training(rows=60, features=3, steps=9)
    /// >>> training.levels_per_step, training.refreshes
    /// (7, 4)
    #[pyo3(signature = (*, rows, features, steps=Natural(30), rate=None, degree=Natural(15), feature_bound=4.0, score_bound=32.0, weight_bound=8.0), text_signature = "($self, *, rows, features, steps=30, rate=None, degree=15, feature_bound=4.0, score_bound=32.0, weight_bound=8.0)")]
    #[expect(clippy::too_many_arguments)]
    fn training(
        &self,
        py: Python<'_>,
        rows: Natural,
        features: Natural,
        steps: Natural,
        rate: Option<f64>,
        degree: Natural,
        feature_bound: f64,
        score_bound: f64,
        weight_bound: f64,
    ) -> PyResult<PyTraining> {
        let [rows, features, steps, degree] =
            [rows, features, steps, degree].map(|given| usize::try_from(given.0).unwrap_or(usize::MAX));
        let spec = TrainingSpec { rows, features, steps, rate, feature_bound, score_bound, degree, weight_bound };
        PyTraining::make(py, &self.setting, spec)
    }
}
