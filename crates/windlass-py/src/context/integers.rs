//! Functions of integers: tables, powers, comparisons.

use pyo3::prelude::*;

use crate::circuit::{PyCircuit, Recipe};
use crate::error::plain;
use crate::natural::{Natural, Whole};
use crate::numbers::integers;
use crate::setting::{Kind, PyContext};

impl PyContext {
    /// Refuses a context of CKKS.
    fn check_integers(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        match &self.setting.kind {
            Kind::Exact(_) => Ok(()),
            Kind::Approximate(_) => Err(plain(
                py,
                "ParameterError",
                format!("{what} needs a context of integers (BGV or BFV), but this one is CKKS"),
            )),
        }
    }
}

#[pymethods]
impl PyContext {
    /// Plans any function of the integers in slots, as a polynomial. The modulus must be a prime.
    ///
    /// **Warning.** If the table does not cover all residues, an argument outside it gives an
    /// unspecified value. No error is raised.
    ///
    /// Parameters
    /// ----------
    /// table : sequence of int
    ///     The values at ``start``, ``start + 1``, ....
    /// start : int
    ///     The first argument.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> absolute = context.table([abs(x) for x in range(-5, 6)], start=-5)
    /// >>> client, server = context.generate_keys(absolute)
    /// >>> client.decrypt(absolute(server.receive(client.encrypt([-3, 0, 4]))))
    /// array([3, 0, 4])
    #[pyo3(signature = (table, *, start=Whole(0)), text_signature = "($self, table, *, start=0)")]
    fn table(&self, py: Python<'_>, table: &Bound<'_, PyAny>, start: Whole) -> PyResult<PyCircuit> {
        self.check_integers(py, "a table")?;
        let values = integers(table, "table")?;
        PyCircuit::make(py, &self.setting, Recipe::Table { values, start: start.0 })
    }

    /// Plans the power ``x**exponent`` in every slot.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> cube = context.power(3)
    /// >>> client, server = context.generate_keys(cube)
    /// >>> client.decrypt(cube(server.receive(client.encrypt([2, -3]))))
    /// array([  8, -27])
    fn power(&self, py: Python<'_>, exponent: Natural) -> PyResult<PyCircuit> {
        PyCircuit::make(py, &self.setting, Recipe::Power(exponent.0))
    }

    /// Plans a test for equality of two encrypted vectors: 1 in the slots where they are equal, 0
    /// in the others. The modulus must be a prime.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     It takes two encrypted arrays.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> equal = context.equal()
    /// >>> client, server = context.generate_keys(equal)
    /// >>> a, b = (server.receive(client.encrypt(v)) for v in ([1, 2, 3], [1, 0, 3]))
    /// >>> client.decrypt(equal(a, b))
    /// array([1, 0, 1])
    fn equal(&self, py: Python<'_>) -> PyResult<PyCircuit> {
        self.check_integers(py, "a comparison")?;
        PyCircuit::make(py, &self.setting, Recipe::Equal)
    }

    /// Plans the comparison a < b of two encrypted vectors: 1 in the slots where it holds, 0 in the
    /// others.
    ///
    /// **Warning.** If ``abs(a - b)`` is not below ``bound`` in a slot, the slot gets an
    /// unspecified value. No error is raised.
    ///
    /// Parameters
    /// ----------
    /// bound : int
    ///     An integer of at least 1 that is above every ``abs(a - b)``. A smaller bound is faster.
    ///
    /// Returns
    /// -------
    /// Circuit
    ///     It takes two encrypted arrays.
    ///
    /// Raises
    /// ------
    /// ParameterError
    ///     If the bound is 0.
    ///
    /// Examples
    /// --------
    /// >>> import windlass as wl
    /// >>> context = wl.Context.preset("insecure_toy_256")
    /// >>> less = context.less(10)
    /// >>> client, server = context.generate_keys(less)
    /// >>> a, b = (server.receive(client.encrypt(v)) for v in ([1, 5, 3], [2, 2, 3]))
    /// >>> client.decrypt(less(a, b))
    /// array([1, 0, 0])
    fn less(&self, py: Python<'_>, bound: Natural) -> PyResult<PyCircuit> {
        self.check_integers(py, "a comparison")?;
        if bound.0 == 0 {
            let message = "less(0): abs(a - b) lies below the bound, which is at least 1";
            return Err(plain(py, "ParameterError", message));
        }
        PyCircuit::make(py, &self.setting, Recipe::Less { bound: bound.0 })
    }
}
