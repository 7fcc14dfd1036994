//! Whole numbers as arguments.

use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::error::plain;

/// A whole number of either sign, as an argument.
#[derive(Debug, Clone, Copy)]
pub struct Whole(pub i64);

/// A whole number that is not negative, as an argument.
#[derive(Debug, Clone, Copy)]
pub struct Natural(pub u64);

impl Natural {
    /// As a number of 32 bits, or a refusal that names it.
    pub fn small(self, py: Python<'_>, what: &str) -> PyResult<u32> {
        u32::try_from(self.0).map_err(|_| {
            let message = format!("{what} is {}, but must be in [0, 2^32)", self.0);
            plain(py, "ParameterError", message)
        })
    }
}

impl<'py> FromPyObject<'_, 'py> for Natural {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let index = index_of(given)?;
        index.extract().map(Self).map_err(|_| {
            let message = format!("the number is {index}, but must be in [0, 2^64)");
            plain(given.py(), "ParameterError", message)
        })
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let index = index_of(given)?;
        index.extract().map(Self).map_err(|_| {
            let message = format!("the number is {index}, but must be in [-2^63, 2^63)");
            plain(given.py(), "ParameterError", message)
        })
    }
}

/// A whole number of Python. Its class of errors puts the argument's name before the message
/// (`WindlassError.add_note`).
fn index_of<'py>(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    if given.is_instance_of::<PyBool>() {
        return Err(plain(py, "DTypeError", format!("an integer is expected, not {}", given.repr()?)));
    }
    let index = PyModule::import(py, "operator")?.getattr("index")?.call1((given,));
    index.map_err(|_| plain(py, "DTypeError", format!("an integer is expected, not {}", given.get_type())))
}
