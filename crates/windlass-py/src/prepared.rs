//! Converted constants of matrices, to be moved between processes.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use windlass::ring::kernels::Mapping;

use crate::matrix::{LinearInner, PyLinear};
use crate::pickle::Bytes;
use crate::runtime::long;
use crate::server::PyServer;

/// A planned matrix with its converted constants. The conversion takes most of the time of a first
/// product.
///
/// Made by :meth:`LinearPlan.prepared`. Its pickle holds the constants as they are in memory. With
/// protocol 5 they are out of band, and a read-only buffer is used in place.
#[pyclass(frozen, weakref, name = "PreparedPlan", module = "windlass")]
pub struct PyPrepared {
    pub inner: Arc<LinearInner>,
    pub bytes: Arc<Mapping>,
}

#[pymethods]
impl PyPrepared {
    /// The planned matrix.
    #[getter]
    fn plan(&self) -> PyLinear {
        PyLinear { inner: Arc::clone(&self.inner) }
    }

    /// Bytes of the constants.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.bytes().len()
    }

    /// Gives the constants to a server, which uses them in its next products with this matrix.
    ///
    /// Parameters
    /// ----------
    /// server : Server
    ///     Of the same context.
    ///
    /// Returns
    /// -------
    /// LinearPlan
    ///     The planned matrix of these constants.
    ///
    /// Raises
    /// ------
    /// FileError, OtherContext
    ///     If the constants are not whole, or belong to another context or matrix.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> layer = context.linear([[1, 2], [3, 4]])
    /// >>> client, server = context.generate_keys(layer)
    /// >>> plan = layer.prepared(server).install(server)
    /// >>> client.decrypt(plan @ server.receive(client.encrypt([1, 1])))
    /// array([3, 7])
    fn install(&self, py: Python<'_>, server: &PyServer) -> PyResult<PyLinear> {
        let (inner, bytes, kind) = (Arc::clone(&self.inner), Arc::clone(&self.bytes), server.handle.open(py)?);
        long(py, None, "constants", move |_| inner.share_prepared(&kind, bytes))?;
        Ok(self.plan())
    }

    fn __repr__(&self) -> String {
        format!("<windlass.PreparedPlan, {} bytes of constants>", self.nbytes())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        PyModule::import(slf.py(), "windlass._html")?.call_method1("lines", (slf.repr()?,))?.extract()
    }

    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = crate::pickle::buffer(py, self.bytes.bytes().to_vec(), protocol)?;
        let plan = Py::new(py, self.plan())?;
        crate::pickle::reduce(py, "restore_prepared", (plan, bytes))
    }
}

/// The constants of a pickle; they are checked when a server gets them.
#[pyfunction]
pub fn restore_prepared(plan: &PyLinear, constants: &Bound<'_, PyAny>) -> PyResult<PyPrepared> {
    Ok(PyPrepared { inner: Arc::clone(&plan.inner), bytes: Arc::new(memory(constants)?) })
}

/// The memory of an object with a buffer: in place if the buffer is read-only, otherwise a copy.
pub fn memory(given: &Bound<'_, PyAny>) -> PyResult<Mapping> {
    let bytes = Bytes::of(given)?;
    let array: Bound<'_, PyArray1<u8>> = bytes.array();
    Ok(match crate::shared::SharedBytes::of(&array) {
        Some(shared) => Mapping::of_memory(shared),
        None => Mapping::of_memory(bytes.slice()?.to_vec()),
    })
}
