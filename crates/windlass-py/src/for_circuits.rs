//! The depth that a sequence of circuits takes (`for_=`).

use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass::circuits::{Polynomial, PolynomialPlan};
use windlass::{Approximate, Depth, Exact, MatrixShape, Step};

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

/// What circuits, matrices, polynomials and numbers of products take, one after the other.
fn depth_of(circuits: &Bound<'_, PyAny>, exact: bool) -> PyResult<Depth> {
    let mut depth = Depth::default();
    for item in circuits.try_iter()? {
        add(&mut depth, &item?, exact)?;
    }
    Ok(depth)
}

/// Adds one.
fn add(depth: &mut Depth, item: &Bound<'_, PyAny>, exact: bool) -> PyResult<()> {
    let py = item.py();
    if let Ok(layer) = item.cast::<PyLinear>() {
        let inner = &layer.get().inner;
        check_scheme(py, &inner.setting, exact)?;
        inner.add_to(depth);
    } else if let Ok(circuit) = item.cast::<PyCircuit>() {
        check_scheme(py, &circuit.get().setting, exact)?;
        circuit.get().add_to(depth);
    } else if let Ok(products) = item.extract::<Natural>() {
        let products = usize::try_from(products.0).unwrap_or(usize::MAX);
        Step::<Exact>::add_to(&products, depth);
    } else if let Some(polynomial) = NumpyPolynomial::of(item)? {
        polynomial.add_to(py, depth, exact)?;
    } else if let Some(shape) = shape_of(item, exact) {
        match exact {
            true => Step::<Exact>::add_to(&shape, depth),
            false => Step::<Approximate>::add_to(&shape, depth),
        }
    } else {
        return Err(plain(
            py,
            "ParameterError",
            "for_ takes a list of the steps of a computation in order: matrices (arrays of two dimensions), polynomials of numpy.polynomial, numbers of products, and circuits and layers of another context of the same kind",
        ));
    }
    Ok(())
}

/// The shape of an array of two dimensions.
fn shape_of(item: &Bound<'_, PyAny>, exact: bool) -> Option<MatrixShape> {
    match values(item, exact).ok()?.shape() {
        &[rows, columns] => Some(MatrixShape { rows, columns }),
        _ => None,
    }
}

impl NumpyPolynomial<'_> {
    fn add_to(&self, py: Python<'_>, depth: &mut Depth, exact: bool) -> PyResult<()> {
        let given = values(&self.coefficients, false)?;
        let Slice::Real(list) = given.slice()? else {
            return Err(plain(py, "DTypeError", "polynomials have real coefficients"));
        };
        if exact {
            let integers: Vec<i64> = list.iter().map(|&c| c as i64).collect();
            PolynomialPlan::new(&integers).add_to(depth);
            return Ok(());
        }
        let polynomial = match self.interval {
            None => Polynomial::monomial(list),
            Some((low, high)) => Polynomial::chebyshev(list, low, high),
        };
        polynomial.map_err(|error| raise(py, error))?.add_to(depth);
        Ok(())
    }
}

fn check_scheme(py: Python<'_>, setting: &Setting, exact: bool) -> PyResult<()> {
    if setting.is_exact() == exact {
        return Ok(());
    }
    let message = if exact {
        "for_: a circuit of a CKKS context cannot be planned for integers: use Context.approximate(for_=...)"
    } else {
        "for_: a circuit of a context of integers cannot be planned for CKKS: use Context.plan(for_=...)"
    };
    Err(plain(py, "OtherContext", message))
}

/// What was asked for: a depth by number, by circuits, or neither.
pub fn asked(
    py: Python<'_>,
    given: &[(&str, bool)],
    circuits: Option<&Bound<'_, PyAny>>,
    exact: bool,
) -> PyResult<Option<Depth>> {
    let Some(circuits) = circuits else { return Ok(None) };
    if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) {
        let message = format!(
            "{name} and for_ both state the depth: give either {name}=..., or for_=[...] with a number of products"
        );
        return Err(plain(py, "ParameterError", message));
    }
    depth_of(circuits, exact).map(Some)
}
