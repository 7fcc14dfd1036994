//! Whole numbers as arguments.

use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::error::plain;

/// A whole number that is not negative, as an argument.
#[derive(Debug, Clone, Copy)]
pub struct Natural(pub u64);

impl<'py> FromPyObject<'_, 'py> for Natural {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if given.is_instance_of::<PyBool>() {
            return Err(plain(py, "DTypeError", format!("an integer is expected, not {}", given.repr()?)));
        }
        let index = PyModule::import(py, "operator")?.getattr("index")?.call1((given,));
        let index =
            index.map_err(|_| plain(py, "DTypeError", format!("an integer is expected, not {}", given.get_type())))?;
        index
            .extract()
            .map(Self)
            .map_err(|_| plain(py, "ParameterError", format!("the number is {index}, but must be in [0, 2^64)")))
    }
}
