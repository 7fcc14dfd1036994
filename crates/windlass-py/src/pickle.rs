//! Pickles of Python objects. A pickle holds the bytes of the object's file format; with protocol 5
//! they are outside the stream (out of band), without a copy.
//!
//! `__reduce__` returns a function of `restore` and its arguments: text, numbers and bytes. Unpickling
//! calls the function, which reads the bytes with the same checks as a file.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::BoundObject;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::plain;
use crate::numbers::numpy;
/// What `__reduce__` gives: a function of this module with its arguments.
pub fn reduce<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    let function = PyModule::import(py, "windlass._windlass")?.getattr(function)?;
    let arguments = arguments.into_pyobject(py).map_err(Into::into)?.into_any().unbind();
    PyTuple::new(py, [function, arguments.into_bound(py)])
}

/// Bytes as protocol 5 takes them out of band, without a copy; older protocols copy.
pub fn buffer(py: Python<'_>, bytes: Vec<u8>, protocol: u32) -> PyResult<Py<PyAny>> {
    if protocol < 5 {
        return Ok(PyBytes::new(py, &bytes).into_any().unbind());
    }
    let array = PyArray1::from_vec(py, bytes);
    Ok(PyModule::import(py, "pickle")?.getattr("PickleBuffer")?.call1((array,))?.unbind())
}

/// The bytes of anything that has a buffer, without a copy.
pub struct Bytes<'py>(PyReadonlyArray1<'py, u8>);

impl<'py> Bytes<'py> {
    pub fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let refused = || plain(py, "FileError", "bytes are expected here");
        let array = numpy(py)?.getattr("frombuffer")?.call1((given, "uint8"));
        // An empty buffer has no array.
        let array = match array {
            Ok(array) => array,
            Err(_) if given.len().is_ok_and(|length| length == 0) => PyArray1::<u8>::zeros(py, [0], false).into_any(),
            Err(_) => return Err(refused()),
        };
        Ok(Self(array.extract().map_err(|_| refused())?))
    }

    /// The array itself.
    pub fn array(&self) -> Bound<'py, PyArray1<u8>> {
        (*self.0).clone()
    }

    pub fn slice(&self) -> PyResult<&[u8]> {
        Ok(self.0.as_slice()?)
    }
}
