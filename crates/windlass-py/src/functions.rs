//! Functions of real numbers with a stated error.

use std::cell::RefCell;

use pyo3::prelude::*;
use windlass::Result;
use windlass::circuits::{Extremum, Function, FunctionPlan, MatrixProduct, PlanSpec, PowerBasis, Row};

use crate::array::{Parts, PyCiphertext};
use crate::circuit::{Body, Recipe};
use crate::error::{plain, raise};
use crate::layout::Layout;
use crate::runtime::quick;
use crate::setting::{Kind, Setting, malformed};

/// A function of the library by its name, for an interval and a precision.
#[derive(Clone, PartialEq)]
pub struct Named {
    pub name: String,
    pub interval: (f64, f64),
    pub bits: f64,
    /// Of a sign or a step.
    pub gap: Option<f64>,
}

/// How the parts of a function by name begin.
const NAMED: &str = "function ";

/// Names beside those of [`Function`].
const OTHERS: [&str; 5] = ["sign", "step", "abs", "maximum", "minimum"];

impl Named {
    pub fn parts(&self) -> (String, Vec<i64>, Vec<f64>) {
        let own = [self.interval.0, self.interval.1, self.bits].into_iter().chain(self.gap);
        (format!("{NAMED}{}", self.name), Vec::new(), own.collect())
    }

    pub fn from_parts(name: &str, integers: &[i64], reals: &[f64]) -> Option<Self> {
        let name = name.strip_prefix(NAMED)?.to_owned();
        match (integers, reals) {
            ([], &[low, high, bits]) => Some(Self { name, interval: (low, high), bits, gap: None }),
            ([], &[low, high, bits, gap]) => Some(Self { name, interval: (low, high), bits, gap: Some(gap) }),
            _ => None,
        }
    }

    /// Signs and absolute values are planned for an interval around 0.
    pub fn plan(&self) -> Result<Body> {
        let Self { interval, bits, .. } = *self;
        let bound = interval.0.abs().max(interval.1.abs());
        let gap = self.gap.unwrap_or(bound / 1024.0);
        Ok(match self.name.as_str() {
            "sign" => Body::Real(FunctionPlan::sign(bound, gap, bits)?),
            "step" => Body::Real(FunctionPlan::step(bound, gap, bits)?),
            "abs" => Body::Real(FunctionPlan::absolute(bound, bits)?),
            "maximum" => Body::Extremum(Extremum::largest(interval, bits)?),
            "minimum" => Body::Extremum(Extremum::smallest(interval, bits)?),
            name => Body::Real(FunctionPlan::named(Function::named(name)?, interval, bits)?),
        })
    }
}

/// A function of all entries of a row.
#[derive(Clone, PartialEq)]
pub struct OfRows {
    pub length: usize,
    /// How many of the largest entries in descending order; `None` for a softmax.
    pub largest: Option<usize>,
    pub interval: (f64, f64),
    pub bits: f64,
}

impl OfRows {
    pub fn parts(&self) -> (String, Vec<i64>, Vec<f64>) {
        let name = if self.largest.is_some() { "largest" } else { "softmax" };
        let integers = [Some(self.length), self.largest].into_iter().flatten().map(|x| x as i64).collect();
        (name.to_owned(), integers, vec![self.interval.0, self.interval.1, self.bits])
    }

    pub fn from_parts(name: &str, integers: &[i64], reals: &[f64]) -> Option<Self> {
        let (&[low, high, bits], Ok(first)) = (reals, usize::try_from(*integers.first()?)) else { return None };
        let largest = match (name, integers) {
            ("softmax", [_]) => None,
            ("largest", [_, most]) => Some(usize::try_from(*most).ok()?),
            _ => return None,
        };
        Some(Self { length: first, largest, interval: (low, high), bits })
    }

    pub fn plan(&self, setting: &Setting) -> Result<Body> {
        let Kind::Approximate(context) = &setting.kind else { return Err(malformed()) };
        let Self { length, largest, interval, bits } = *self;
        let functions = context.functions();
        // Arrays lie in ciphertexts with all slots.
        let row = Row { entries: length, slots: setting.slots() };
        Ok(match largest {
            None => Body::Softmax(Box::new(functions.softmax(row, interval, bits)?)),
            Some(largest) => Body::Sorting(Box::new(functions.largest(largest, row, interval, bits)?)),
        })
    }
}

/// The product of matrices of a size, each in one row of an array.
pub fn matrix_product(setting: &Setting, size: usize) -> Result<Body> {
    let Kind::Approximate(context) = &setting.kind else { return Err(malformed()) };
    let plan = MatrixProduct::with_spec(context.ckks(), (size, setting.slots()), &PlanSpec::default())?;
    Ok(Body::MatrixProduct(Box::new(plan)))
}

/// The layout of the result of a function of one array.
pub fn result_layout(py: Python<'_>, body: &Body, layout: &Layout) -> PyResult<Layout> {
    let (count, results) = match body {
        Body::Softmax(own) => (own.row().entries, own.row().entries),
        Body::Sorting(own) => (own.row().entries, own.results()),
        Body::MatrixProduct(own) => (own.size() * own.size(), own.size() * own.size()),
        _ => return Ok(layout.clone()),
    };
    if layout.length == count && layout.is_packed() {
        return Ok(layout.with_length(results));
    }
    let message = format!(
        "this function takes rows of {count} entries, but the array has the shape {}; plan it for the last dimension",
        layout.in_words()
    );
    Err(plain(py, "ShapeError", message))
}

/// The recipe of a function by name, or of a function of Python's.
pub fn recipe(
    py: Python<'_>,
    f: &Bound<'_, PyAny>,
    interval: (f64, f64),
    bits: f64,
    gap: Option<f64>,
) -> PyResult<Recipe> {
    if let Ok(name) = f.extract::<String>() {
        let has_gap = ["sign", "step"].contains(&name.as_str());
        if gap.is_some() && !has_gap {
            return Err(plain(py, "ParameterError", format!("{name} has no gap: leave gap= out")));
        }
        if !has_gap && !OTHERS.contains(&name.as_str()) {
            quick(py, || Function::named(&name)).map_err(|error| with_names(py, &name, error))?;
        }
        return Ok(Recipe::Named(Named { name, interval, bits, gap }));
    }
    if !f.is_callable() {
        let message = "a function is a name, such as \"sigmoid\", or a callable that takes and returns a float";
        return Err(plain(py, "DTypeError", message));
    }
    if gap.is_some() {
        return Err(plain(py, "ParameterError", "only sign and step have a gap: leave gap= out"));
    }
    approximation(py, f, interval, bits)
}

/// The names of all functions.
fn with_names(py: Python<'_>, given: &str, error: PyErr) -> PyErr {
    let known: Vec<String> =
        Function::ALL.map(|own| own.name().to_owned()).into_iter().chain(OTHERS.map(str::to_owned)).collect();
    match error.get_type(py).name().is_ok_and(|name| name == "UnknownName") {
        true => raise(py, windlass::Error::UnknownName { what: "function", given: given.to_owned(), known }),
        false => error,
    }
}

/// Asks a function of Python's for its values.
fn approximation(py: Python<'_>, f: &Bound<'_, PyAny>, interval: (f64, f64), bits: f64) -> PyResult<Recipe> {
    let name = f.getattr("__name__").and_then(|name| name.extract::<String>()).unwrap_or_else(|_| "a function".into());
    let failure: RefCell<Option<PyErr>> = RefCell::new(None);
    let value = |x: f64| {
        if failure.borrow().is_some() {
            return f64::NAN;
        }
        f.call1((x,)).and_then(|value| value.extract::<f64>()).unwrap_or_else(|error| {
            *failure.borrow_mut() = Some(error);
            f64::NAN
        })
    };
    let planned = FunctionPlan::of(&name, &value, interval, bits);
    if let Some(error) = failure.into_inner() {
        return Err(error);
    }
    let plan = planned.map_err(|error| raise(py, error))?;
    let polynomial = plan.as_polynomial().expect("an approximation is one polynomial");
    let PowerBasis::Chebyshev { low, high } = polynomial.basis() else {
        unreachable!("approximations are in the Chebyshev basis")
    };
    let coefficients = polynomial.coefficients().to_vec();
    Ok(Recipe::Approximation { name, coefficients, interval: (low, high), distance: plan.approximation_error() })
}

pub fn interval(body: &Body) -> Option<(f64, f64)> {
    match body {
        Body::Real(own) => Some(own.interval()),
        Body::Extremum(own) => Some(own.interval()),
        Body::Softmax(own) => Some(own.interval()),
        Body::Sorting(own) => Some(own.interval()),
        _ => None,
    }
}

/// The function of one number in it.
fn plan_of(body: &Body) -> Option<&FunctionPlan> {
    match body {
        Body::Real(own) => Some(own),
        Body::Extremum(own) => Some(own.of_difference()),
        _ => None,
    }
}

pub fn degrees(body: &Body) -> Vec<usize> {
    match body {
        Body::Softmax(own) => own.degrees(),
        Body::Sorting(own) => own.degrees(),
        _ => plan_of(body).map(FunctionPlan::degrees).unwrap_or_default(),
    }
}

pub fn approximation_error(body: &Body) -> Option<f64> {
    match body {
        Body::Softmax(own) => Some(own.approximation_error()),
        Body::Sorting(own) => Some(own.approximation_error()),
        _ => plan_of(body).map(FunctionPlan::approximation_error),
    }
}

pub fn explain(body: &Body, name: &str) -> String {
    match body {
        Body::Real(own) => own.explain(),
        Body::Extremum(own) => own.explain(),
        Body::Softmax(own) => own.explain(),
        Body::Sorting(own) => own.explain(),
        Body::MatrixProduct(own) => own.explain(),
        _ => name.to_owned(),
    }
}

pub fn error(py: Python<'_>, body: &Body, x: &PyCiphertext) -> PyResult<f64> {
    let (Body::Real(plan), Parts::Approximate(list)) = (body, &*x.parts) else {
        let message = "only functions of one real number state an error before they run; others state it in the result";
        return Err(plain(py, "ParameterError", message));
    };
    quick(py, || list.iter().try_fold(0.0, |most: f64, ct| Ok(most.max(plan.error(ct)?.total()))))
}
