//! What circuits that follow one another take of the depth of parameters.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass::circuits::{Polynomial, PolynomialPlan};

use crate::circuit::PyCircuit;
use crate::error::{plain, raise};
use crate::matrix::PyLinear;
use crate::natural::Natural;
use crate::numbers::{Slice, numpy, values};
use crate::setting::Setting;

/// A polynomial in NumPy's classes, as contexts take it.
pub struct NumpyPolynomial<'py> {
    /// Lowest first.
    pub coefficients: Bound<'py, PyAny>,
    /// That of Chebyshev polynomials; none for powers.
    pub interval: Option<(f64, f64)>,
}

impl<'py> NumpyPolynomial<'py> {
    /// Of an object of `numpy.polynomial`; those in other bases than powers become Chebyshev
    /// polynomials on their domain.
    pub fn of(given: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let py = given.py();
        if !["coef", "domain", "window", "convert"].iter().all(|name| given.hasattr(*name).unwrap_or(false)) {
            return Ok(None);
        }
        let family = numpy(py)?.getattr("polynomial")?;
        if given.is_instance(&family.getattr("Polynomial")?)? {
            let coefficients = given.call_method0("convert")?.getattr("coef")?;
            return Ok(Some(Self { coefficients, interval: None }));
        }
        let how = PyDict::new(py);
        how.set_item("domain", given.getattr("domain")?)?;
        how.set_item("window", (-1, 1))?;
        how.set_item("kind", family.getattr("Chebyshev")?)?;
        let own = given.call_method("convert", (), Some(&how))?;
        let (low, high): (f64, f64) = own.getattr("domain")?.call_method0("tolist")?.extract::<[f64; 2]>()?.into();
        Ok(Some(Self { coefficients: own.getattr("coef")?, interval: Some((low, high)) }))
    }
}

/// Depth of parameters: products of ciphertexts (for CKKS rescalings), and products with matrices,
/// which exact schemes count by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needed {
    pub depth: u64,
    pub linear_maps: u64,
}

impl Needed {
    /// Of circuits, matrices, polynomials and numbers of products, one after the other.
    pub fn by(circuits: &Bound<'_, PyAny>, exact: bool) -> PyResult<Self> {
        let mut needed = Self::default();
        // Whether anything may stand beside the entries.
        let mut littered = false;
        for item in circuits.try_iter()? {
            littered = needed.add(&item?, exact, littered)?;
        }
        Ok(needed)
    }

    /// Adds one; tells what it leaves beside the entries.
    fn add(&mut self, item: &Bound<'_, PyAny>, exact: bool, littered: bool) -> PyResult<bool> {
        let py = item.py();
        if let Ok(layer) = item.cast::<PyLinear>() {
            let inner = &layer.get().inner;
            check_scheme(py, &inner.setting, exact)?;
            self.matrix(exact);
            return Ok(inner.is_folded());
        }
        if let Ok(circuit) = item.cast::<PyCircuit>() {
            let circuit = circuit.get();
            check_scheme(py, &circuit.setting, exact)?;
            self.depth += circuit.depth_after(littered) as u64;
            return Ok(circuit.is_sum());
        }
        if let Ok(products) = item.extract::<Natural>() {
            self.depth += products.0;
            return Ok(littered);
        }
        if let Some(polynomial) = NumpyPolynomial::of(item)? {
            self.depth += polynomial.depth(py, exact, littered)?;
            return Ok(false);
        }
        match values(item, exact).map(|array| array.shape().len()) {
            Ok(2) => {
                self.matrix(exact);
                // Matrices with few rows are folded.
                Ok(true)
            }
            _ => Err(plain(
                py,
                "ParameterError",
                "for_ takes a list of what is computed, one after the other: matrices (arrays of two dimensions), polynomials of numpy.polynomial, numbers of products, circuits and layers of another context of the same kind",
            )),
        }
    }

    fn matrix(&mut self, exact: bool) {
        self.linear_maps += 1;
        self.depth += u64::from(!exact);
    }
}

impl NumpyPolynomial<'_> {
    fn depth(&self, py: Python<'_>, exact: bool, littered: bool) -> PyResult<u64> {
        let given = values(&self.coefficients, false)?;
        let Slice::Real(list) = given.slice()? else {
            return Err(plain(py, "DTypeError", "polynomials have real coefficients"));
        };
        if exact {
            let integers: Vec<i64> = list.iter().map(|&c| c as i64).collect();
            return Ok(PolynomialPlan::new(&integers).depth() as u64);
        }
        let polynomial = match self.interval {
            None => Polynomial::monomial(list),
            Some((low, high)) => Polynomial::chebyshev(list, low, high),
        };
        let polynomial = polynomial.map_err(|error| raise(py, error))?;
        Ok(polynomial.depth() as u64 + u64::from(littered && !polynomial.masks_in_passing()))
    }
}

fn check_scheme(py: Python<'_>, setting: &Setting, exact: bool) -> PyResult<()> {
    if setting.is_exact() == exact {
        return Ok(());
    }
    let message = if exact {
        "for_: a circuit of a CKKS context says nothing of integers: Context.approximate(for_=...)"
    } else {
        "for_: a circuit of a context of integers says nothing of CKKS: Context.plan(for_=...)"
    };
    Err(plain(py, "OtherContext", message))
}

/// What was asked for: a depth by number, by circuits, or neither.
pub fn asked(
    py: Python<'_>,
    given: &[(&str, bool)],
    circuits: Option<&Bound<'_, PyAny>>,
    exact: bool,
) -> PyResult<Option<Needed>> {
    let Some(circuits) = circuits else { return Ok(None) };
    if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) {
        let message = format!("{name} and for_ say the same: give {name}=..., or for_=[...] with a number of products");
        return Err(plain(py, "ParameterError", message));
    }
    Needed::by(circuits, exact).map(Some)
}
