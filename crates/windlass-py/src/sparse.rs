//! Sparse matrices of SciPy as arrays.

use pyo3::prelude::*;

use crate::memory::check_memory;

/// The same object, or the array of a sparse matrix of SciPy, of which NumPy itself would make an
/// array of one object.
pub fn dense<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let home = given.get_type().module();
    if !home.is_ok_and(|home| home.to_string_lossy().starts_with("scipy.sparse")) {
        return Ok(given.clone());
    }
    let Ok(convert) = given.getattr("toarray") else { return Ok(given.clone()) };
    if let Ok(shape) = given.getattr("shape").and_then(|shape| shape.extract::<Vec<u64>>()) {
        let count = shape.iter().fold(1u64, |product, &dim| product.saturating_mul(dim));
        check_memory(given.py(), "the numbers of the sparse matrix", count.saturating_mul(16))?;
    }
    convert.call0()
}
