//! Functions of real numbers as names and numbers, from which another process makes them again.

use std::cell::RefCell;

use pyo3::prelude::*;
use windlass::Result;
use windlass::circuits::{Extremum, Function, FunctionPlan, MatrixProduct, PlanSpec, Polynomial, PowerBasis, Row};

use crate::error::{plain, raise};
use crate::functions::RealFunction;
use crate::runtime::quick;
use crate::setting::{Kind, Setting, malformed};

/// By what another process makes the same function.
#[derive(Clone)]
pub enum RealRecipe {
    /// One of the library by its name, for an interval and a precision; signs and steps have a gap.
    Named { name: String, interval: (f64, f64), bits: f64, gap: Option<f64> },
    /// The largest entries of a row in descending order, or its softmax without their number.
    OfRows { length: usize, largest: Option<usize>, interval: (f64, f64), bits: f64 },
    /// The product of matrices of a size, each in one row of an array.
    MatrixProduct { size: usize },
    /// A polynomial, and how far it is from the function.
    Approximation { name: String, coefficients: Vec<f64>, interval: (f64, f64), distance: f64 },
}

/// How the parts of a function by name begin, and those of an approximation.
const BEGINNINGS: [&str; 2] = ["function ", "approximation of "];

/// Names beside those of [`Function`].
const OTHERS: [&str; 5] = ["sign", "step", "abs", "maximum", "minimum"];

impl RealRecipe {
    /// A name, integers and reals.
    pub fn parts(&self) -> (String, Vec<i64>, Vec<f64>) {
        let [function, approximation] = BEGINNINGS;
        match self {
            Self::Named { name, interval: (low, high), bits, gap } => {
                let reals = [*low, *high, *bits].into_iter().chain(*gap).collect();
                (format!("{function}{name}"), Vec::new(), reals)
            }
            Self::OfRows { length, largest, interval: (low, high), bits } => {
                let name = if largest.is_some() { "largest" } else { "softmax" };
                let integers = [Some(*length), *largest].into_iter().flatten().map(|x| x as i64).collect();
                (name.to_owned(), integers, vec![*low, *high, *bits])
            }
            Self::MatrixProduct { size } => ("matrix product".to_owned(), vec![*size as i64], Vec::new()),
            Self::Approximation { name, coefficients, interval: (low, high), distance } => {
                let all = [*low, *high, *distance].into_iter().chain(coefficients.iter().copied());
                (format!("{approximation}{name}"), Vec::new(), all.collect())
            }
        }
    }

    /// The recipe of these parts.
    pub fn from_parts(name: &str, integers: &[i64], reals: &[f64]) -> Option<Self> {
        let [function, approximation] = BEGINNINGS.map(|beginning| name.strip_prefix(beginning));
        let count = |x: i64| usize::try_from(x).ok();
        Some(match (name, integers, reals) {
            ("softmax", &[length], &[low, high, bits]) => {
                Self::OfRows { length: count(length)?, largest: None, interval: (low, high), bits }
            }
            ("largest", &[length, most], &[low, high, bits]) => {
                Self::OfRows { length: count(length)?, largest: Some(count(most)?), interval: (low, high), bits }
            }
            ("matrix product", &[size], []) => Self::MatrixProduct { size: count(size)? },
            (_, [], &[low, high, bits, ref gap @ ..]) if function.is_some() && gap.len() <= 1 => {
                let (name, gap) = (function?.to_owned(), gap.first().copied());
                Self::Named { name, interval: (low, high), bits, gap }
            }
            (_, [], [low, high, distance, rest @ ..]) => {
                let (name, coefficients) = (approximation?.to_owned(), rest.to_vec());
                Self::Approximation { name, coefficients, interval: (*low, *high), distance: *distance }
            }
            _ => return None,
        })
    }

    /// Plans it.
    pub fn plan(&self, setting: &Setting) -> Result<RealFunction> {
        let Kind::Approximate(context) = &setting.kind else { return Err(malformed()) };
        Ok(match self {
            Self::Named { name, interval, bits, gap } => named(name, *interval, *bits, *gap)?,
            // Arrays lie in ciphertexts with all slots.
            Self::OfRows { length, largest, interval, bits } => {
                let (functions, row) = (context.functions(), Row { entries: *length, slots: setting.slots() });
                match largest {
                    None => RealFunction::Softmax(Box::new(functions.softmax(row, *interval, *bits)?)),
                    Some(most) => RealFunction::Sorting(Box::new(functions.largest(*most, row, *interval, *bits)?)),
                }
            }
            Self::MatrixProduct { size } => {
                let plan = MatrixProduct::with_spec(context.ckks(), (*size, setting.slots()), &PlanSpec::default())?;
                RealFunction::MatrixProduct(Box::new(plan))
            }
            Self::Approximation { name, coefficients, interval: (low, high), distance } => {
                let polynomial = Polynomial::chebyshev(coefficients, *low, *high)?;
                RealFunction::One(FunctionPlan::with_distance(name, &polynomial, *distance)?)
            }
        })
    }
}

/// Signs and absolute values are planned for an interval around 0.
fn named(name: &str, interval: (f64, f64), bits: f64, gap: Option<f64>) -> Result<RealFunction> {
    let bound = interval.0.abs().max(interval.1.abs());
    let gap = gap.unwrap_or(bound / 1024.0);
    Ok(match name {
        "sign" => RealFunction::One(FunctionPlan::sign(bound, gap, bits)?),
        "step" => RealFunction::One(FunctionPlan::step(bound, gap, bits)?),
        "abs" => RealFunction::One(FunctionPlan::absolute(bound, bits)?),
        "maximum" => RealFunction::Extremum(Extremum::largest(interval, bits)?),
        "minimum" => RealFunction::Extremum(Extremum::smallest(interval, bits)?),
        name => RealFunction::One(FunctionPlan::named(Function::named(name)?, interval, bits)?),
    })
}

/// The recipe of a function by name, or of a function of Python's.
pub fn recipe(
    py: Python<'_>,
    f: &Bound<'_, PyAny>,
    interval: (f64, f64),
    bits: f64,
    gap: Option<f64>,
) -> PyResult<RealRecipe> {
    if let Ok(name) = f.extract::<String>() {
        let has_gap = ["sign", "step"].contains(&name.as_str());
        if gap.is_some() && !has_gap {
            return Err(plain(py, "ParameterError", format!("{name} has no gap: leave gap= out")));
        }
        if !has_gap && !OTHERS.contains(&name.as_str()) {
            quick(py, || Function::named(&name)).map_err(|error| with_names(py, &name, error))?;
        }
        return Ok(RealRecipe::Named { name, interval, bits, gap });
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
fn approximation(py: Python<'_>, f: &Bound<'_, PyAny>, interval: (f64, f64), bits: f64) -> PyResult<RealRecipe> {
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
    Ok(RealRecipe::Approximation { name, coefficients, interval: (low, high), distance: plan.approximation_error() })
}
