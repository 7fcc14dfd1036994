//! Servers: evaluation keys, and the circuits that run with them.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::bootstrap::approximate::{RefreshKeys, RefreshPlan};
use windlass::bootstrap::{BootstrapKeys, BootstrapPlan};
use windlass::ring::kernels::Mapping;
use windlass::rlwe::EvaluationKeys;
use windlass::wire::{self, BootstrapContext, ReadyKeys, RefreshContext, WireError};

use crate::array::PyCiphertext;
use crate::bootstrapping::{PyBootstrapping, Way};
use crate::either::on_kind;
use crate::error::{of_file, plain};
use crate::handle::{Handle, ServerKind};
use crate::runtime::{long, quick};
use crate::setting::{Kind, PyContext, Setting};

/// Where keys ready for use lie.
pub enum Keys {
    File(PathBuf),
    Memory(Mapping),
}

/// The plan of a refresh with the file of its keys.
type WithFile = Option<(Way, PathBuf)>;

/// They are given together, and for this context.
fn together(
    py: Python<'_>,
    setting: &Setting,
    bootstrapping: Option<&PyBootstrapping>,
    bootstrap_keys: Option<PathBuf>,
) -> PyResult<WithFile> {
    match (bootstrapping, bootstrap_keys) {
        (None, None) => Ok(None),
        (Some(own), Some(_)) if own.setting.is_exact() != setting.is_exact() => {
            let (theirs, ours) = (own.setting.in_words(), setting.in_words());
            let message = format!("the bootstrapping was made for another context ({theirs}, not {ours})");
            Err(plain(py, "OtherContext", message))
        }
        (Some(own), Some(path)) => Ok(Some((own.plan.clone(), path))),
        _ => {
            let message = "bootstrapping and bootstrap_keys must be given together: the plan of the refresh and the file of its keys";
            Err(plain(py, "ParameterError", message))
        }
    }
}

/// A server with evaluation keys, and with the keys of a refresh in a file.
fn assembled(setting: &Setting, keys: Arc<EvaluationKeys>, refresh: WithFile) -> windlass::Result<ServerKind> {
    Ok(match &setting.kind {
        Kind::Exact(context) => {
            let mut list: Vec<(Arc<BootstrapPlan>, BootstrapKeys)> = Vec::new();
            if let Some((Way::Exact(plan), path)) = &refresh {
                let own = wire::load(path, &RefreshContext::new(plan.ckks()))?.0;
                return Ok(ServerKind::Exact(context.refreshing_server_from_keys(keys, own)?));
            }
            if let Some((Way::Bootstrap(plan), path)) = refresh {
                let files = BootstrapContext::new(&plan, context.rlwe(), context.scheme());
                list.push((plan, wire::load(&path, &files)?.0));
            }
            ServerKind::Exact(context.server_from_keys(keys, list)?)
        }
        Kind::Approximate(context) => {
            let mut list: Vec<(Arc<RefreshPlan>, RefreshKeys)> = Vec::new();
            let plan = refresh.and_then(|(way, path)| Some((way.pass()?, path)));
            if let Some((plan, path)) = plan {
                let keys = wire::load(&path, &RefreshContext::new(&plan))?.0;
                list.push((plan, keys));
            }
            ServerKind::Approximate(context.server_from_keys(keys, list)?)
        }
    })
}

/// The side that computes: it holds evaluation keys, and nothing secret.
///
/// Made by :meth:`Context.generate_keys` or :meth:`Context.load_server`. As a context manager it
/// frees the memory of its keys at the end.
///
/// Examples
/// --------
/// >>> import windlass as wl
/// >>> context = wl.Context.preset("insecure_toy_256")
/// >>> client, server = context.generate_keys(context.products())
/// >>> with server:
/// ...     x = server.receive(client.encrypt([3, 4]))
/// ...     client.decrypt(x * x + 1)
/// array([10, 17])
#[pyclass(frozen, weakref, name = "Server", module = "windlass")]
pub struct PyServer {
    pub handle: Arc<Handle>,
}

impl PyServer {
    pub fn new(setting: &Arc<Setting>, kind: ServerKind) -> Self {
        let bootstrappings = match &kind {
            ServerKind::Exact(server) => {
                let through_ckks = server.exact_refresh().map(|(plan, _)| Way::Exact(Arc::clone(plan)));
                let own = server.bootstrappings().map(|(plan, _)| Way::Bootstrap(Arc::clone(plan)));
                own.chain(through_ckks).collect()
            }
            ServerKind::Approximate(server) => {
                let precise = server.context().precise_refresh().ok();
                let way = |plan: &Arc<RefreshPlan>| match &precise {
                    Some(passes) => Way::Precise(Arc::clone(passes)),
                    None => Way::Refresh(Arc::clone(plan)),
                };
                server.refreshes().map(|(plan, _)| way(plan)).collect::<Vec<_>>()
            }
        };
        let bootstrappings = bootstrappings.into_iter().map(|plan| PyBootstrapping::of_plan(setting, plan)).collect();
        let kind = RwLock::new(Some(Arc::new(kind)));
        Self { handle: Arc::new(Handle { setting: Arc::clone(setting), kind, bootstrappings }) }
    }

    /// The server with keys in memory that processes share.
    pub fn share(
        py: Python<'_>,
        setting: &Arc<Setting>,
        keys: Keys,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<Self> {
        let refresh = together(py, setting, bootstrapping, bootstrap_keys)?;
        let own = Arc::clone(setting);
        let path = match &keys {
            Keys::File(path) => Some(path.clone()),
            Keys::Memory(_) => None,
        };
        let kind = long(py, None, "reading keys", move |_| {
            let memory = Arc::new(match keys {
                Keys::File(path) => Mapping::of(File::open(path).map_err(WireError::from)?).map_err(WireError::from)?,
                Keys::Memory(memory) => memory,
            });
            let keys = on_kind!(&own.kind, context => ReadyKeys::open(memory, context.files())?);
            assembled(&own, keys.0, refresh)
        })
        .map_err(|error| path.map_or_else(|| error.clone_ref(py), |path| of_file(py, error.clone_ref(py), &path)))?;
        Ok(Self::new(setting, kind))
    }

    pub fn load(
        py: Python<'_>,
        setting: &Arc<Setting>,
        path: PathBuf,
        bootstrapping: Option<&PyBootstrapping>,
        bootstrap_keys: Option<PathBuf>,
    ) -> PyResult<Self> {
        let refresh = together(py, setting, bootstrapping, bootstrap_keys)?;
        let own = Arc::clone(setting);
        let named = path.clone();
        let kind = long(py, None, "reading keys", move |_| {
            let keys: EvaluationKeys = on_kind!(&own.kind, context => context.load(&path)?);
            assembled(&own, Arc::new(keys), refresh)
        })
        .map_err(|error| of_file(py, error, &named))?;
        Ok(Self::new(setting, kind))
    }
}

#[pymethods]
impl PyServer {
    /// Binds a ciphertext to this server, so that operators work on it.
    ///
    /// Parameters
    /// ----------
    /// ciphertext : Ciphertext
    ///
    /// Returns
    /// -------
    /// Ciphertext
    ///
    /// Raises
    /// ------
    /// OtherContext
    ///     If the ciphertext belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys()
    /// >>> client.decrypt(server.receive(client.encrypt([1, 2])) + 1)
    /// array([2, 3])
    fn receive(&self, py: Python<'_>, ciphertext: &PyCiphertext) -> PyResult<PyCiphertext> {
        ciphertext.check_context(py, &self.handle.setting, "receive")?;
        self.handle.open(py)?;
        Ok(ciphertext.bound_to(&self.handle))
    }

    /// Writes the evaluation keys to a new file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// ready : bool
    ///     If true, writes the keys as they are in memory. The file is three times as large.
    ///     :meth:`Context.map_server` opens it at once, and any number of processes share one copy
    ///     of it.
    ///
    /// Returns
    /// -------
    /// int
    ///     Bytes written.
    ///
    /// Raises
    /// ------
    /// FileExists
    ///     If the file exists; it is not changed.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> import pathlib, tempfile
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "evaluation.keys"
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> _ = server.save(path)
    /// >>> x = context.load_server(path).receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    #[pyo3(signature = (path, *, ready=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, ready: bool) -> PyResult<u64> {
        let (kind, setting) = (self.handle.open(py)?, Arc::clone(&self.handle.setting));
        let named = path.clone();
        let written = long(py, None, "writing keys", move |_| match ready {
            true => on_kind!(&*kind, server => server.save_ready_keys(&path)),
            false => on_kind!(&setting.kind, context => context.save(&path, &**kind.keys())),
        });
        written.map_err(|error| of_file(py, error, &named))
    }

    /// Returns the bytes of the file that ``save(path, ready=True)`` writes, for object stores.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray, uint8
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> client, server = context.generate_keys(context.products())
    /// >>> other = context.server_from_ready(server.ready_bytes())
    /// >>> x = other.receive(client.encrypt([3, 4]))
    /// >>> client.decrypt(x * x)
    /// array([ 9, 16])
    fn ready_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let kind = self.handle.open(py)?;
        let bytes = long(py, None, "keys", move |_| on_kind!(&*kind, server => server.ready_keys_to_bytes()))?;
        Ok(numpy::PyArray1::from_vec(py, bytes).into_any())
    }

    /// Writes the keys of the bootstrapping to a new file and returns the number of bytes.
    ///
    /// Raises
    /// ------
    /// MissingBootstrappingKeys
    ///     If the server has no bootstrapping keys.
    fn save_bootstrap_keys(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        let kind = self.handle.open(py)?;
        quick(py, || {
            let missing = windlass::Error::MissingBootstrappingKeys;
            Ok(match &*kind {
                ServerKind::Exact(server) => {
                    if let Some((plan, keys)) = server.exact_refresh() {
                        return Ok(wire::save(&path, &RefreshContext::new(plan.ckks()), keys)?);
                    }
                    let (plan, keys) = server.bootstrappings().next().ok_or(missing)?;
                    let files = BootstrapContext::new(plan, server.context().rlwe(), server.context().scheme());
                    wire::save(&path, &files, keys)?
                }
                ServerKind::Approximate(server) => {
                    let (plan, keys) = server.refreshes().next().ok_or(missing)?;
                    wire::save(&path, &RefreshContext::new(plan), keys)?
                }
            })
        })
        .map_err(|error| of_file(py, error, &path))
    }

    /// The automorphisms whose Galois keys the server has, in increasing order.
    #[getter]
    fn galois_elements(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(self.handle.open(py)?.keys().galois_elements().collect())
    }

    /// Whether the server has the relinearisation key.
    #[getter]
    fn relinearisation(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.handle.open(py)?.keys().relinearisation().is_some())
    }

    /// Bytes of all keys in memory.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        let kind = self.handle.open(py)?;
        let bootstrap = match &*kind {
            ServerKind::Exact(server) => {
                let through_ckks = server.exact_refresh().map_or(0, |(_, keys)| keys.bytes());
                server.bootstrappings().map(|(_, keys)| keys.bytes()).sum::<usize>() + through_ckks
            }
            ServerKind::Approximate(server) => server.refreshes().map(|(_, keys)| keys.bytes()).sum(),
        };
        Ok(kind.keys().bytes() + bootstrap)
    }

    /// Frees the memory of converted constants. They are converted again when they are next used.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        on_kind!(&*self.handle.open(py)?, server => server.forget());
        Ok(())
    }

    /// Frees the memory of the keys. The server can no longer be used.
    fn close(&self, py: Python<'_>) {
        let kind = self.handle.kind.write().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(kind));
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) {
        self.close(_error.py());
    }

    /// The bootstrapping plans whose keys the server has.
    #[getter]
    fn bootstrappings(&self) -> Vec<PyBootstrapping> {
        self.handle.bootstrappings.clone()
    }

    /// The context of the server.
    #[getter]
    fn context(&self) -> PyContext {
        PyContext { setting: Arc::clone(&self.handle.setting) }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let Ok(kind) = self.handle.open(py) else { return "<windlass.Server, closed>".into() };
        let keys = kind.keys();
        let relinearisation = if keys.relinearisation().is_some() { ", relinearisation" } else { "" };
        let refreshes = if self.handle.bootstrappings.is_empty() { "" } else { ", refreshes" };
        format!(
            "<windlass.Server, {}, {} Galois keys{relinearisation}{refreshes}, {} bytes>",
            self.handle.setting.in_words(),
            keys.galois_elements().count(),
            keys.bytes()
        )
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let kind = self.handle.open(py)?;
        let (evaluation, own) = quick(py, || {
            if kind.keys().key_id().is_none() {
                return Ok((Vec::new(), Vec::new()));
            }
            on_kind!(&*kind, server => server.to_bytes())
        })?;
        let evaluation = crate::pickle::buffer(py, evaluation, protocol)?;
        let own =
            own.into_iter().map(|bytes| crate::pickle::buffer(py, bytes, protocol)).collect::<PyResult<Vec<_>>>()?;
        let ways = self.handle.bootstrappings.clone();
        crate::pickle::reduce(py, "restore_server", (self.handle.setting.state.clone(), evaluation, own, ways))
    }
}
