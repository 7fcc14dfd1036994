//! Functions of real numbers with a stated error, as circuits of the Python package.

use pyo3::prelude::*;
use windlass::circuits::{Extremum, FunctionPlan, MatrixProduct, Softmax, Sorting};
use windlass::schemes::ckks::Ciphertext;
use windlass::{Approximate, Depth, NeedsKeys, Result, Server, Step};

use crate::array::{Parts, PyCiphertext};
use crate::array_layout::ArrayLayout;
use crate::error::plain;
use crate::handle::ServerKind;
use crate::runtime::quick;
use crate::setting::{Kind, Setting};

/// A function of real numbers.
pub enum RealFunction {
    One(FunctionPlan),
    Extremum(Extremum),
    Softmax(Box<Softmax>),
    Sorting(Box<Sorting>),
    MatrixProduct(Box<MatrixProduct>),
}

/// The same question to every function.
macro_rules! each {
    ($function:expr, |$own:ident| $body:expr) => {
        match $function {
            RealFunction::One($own) => $body,
            RealFunction::Extremum($own) => $body,
            RealFunction::Softmax($own) => $body,
            RealFunction::Sorting($own) => $body,
            RealFunction::MatrixProduct($own) => $body,
        }
    };
}

impl RealFunction {
    pub fn depth(&self) -> usize {
        each!(self, |own| own.depth())
    }

    pub fn needs(&self) -> &dyn NeedsKeys {
        match self {
            Self::One(own) => own,
            Self::Extremum(own) => own,
            Self::Softmax(own) => &**own,
            Self::Sorting(own) => &**own,
            Self::MatrixProduct(own) => &**own,
        }
    }

    pub fn add_to(&self, depth: &mut Depth) {
        each!(self, |own| own.add_to(depth));
    }

    /// Whether it takes two arrays.
    pub fn takes_two(&self) -> bool {
        matches!(self, Self::Extremum(_) | Self::MatrixProduct(_))
    }

    /// Whether slots beside the entries hold zeros in the result, if they do in the operands.
    pub fn keeps_zero(&self) -> bool {
        match self {
            Self::One(own) => own.keeps_zero(),
            Self::Sorting(own) => own.results() == own.row().entries,
            _ => true,
        }
    }

    /// Whether it does so for any operand.
    pub fn clears(&self) -> bool {
        matches!(self, Self::Softmax(_) | Self::Sorting(_))
    }

    /// The layout of the result for arrays of a layout.
    pub fn layout(&self, py: Python<'_>, layout: &ArrayLayout) -> PyResult<ArrayLayout> {
        let (count, results) = match self {
            Self::Softmax(own) => (own.row().entries, own.row().entries),
            Self::Sorting(own) => (own.row().entries, own.results()),
            Self::MatrixProduct(own) => (own.size() * own.size(), own.size() * own.size()),
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

    pub fn apply_one(&self, server: &Server<Approximate>, x: &Ciphertext) -> Result<Ciphertext> {
        match self {
            Self::One(own) => server.apply(own, x),
            Self::Softmax(own) => server.apply(&**own, x),
            Self::Sorting(own) => server.apply(&**own, x),
            Self::Extremum(_) | Self::MatrixProduct(_) => unreachable!("checked before"),
        }
    }

    pub fn apply_two(&self, server: &Server<Approximate>, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        match self {
            Self::Extremum(own) => server.apply(own, (a, b)),
            Self::MatrixProduct(own) => server.apply(&**own, (a, b)),
            _ => unreachable!("checked before"),
        }
    }

    pub fn interval(&self) -> Option<(f64, f64)> {
        match self {
            Self::One(own) => Some(own.interval()),
            Self::Extremum(own) => Some(own.interval()),
            Self::Softmax(own) => Some(own.interval()),
            Self::Sorting(own) => Some(own.interval()),
            Self::MatrixProduct(_) => None,
        }
    }

    pub fn degrees(&self) -> Vec<usize> {
        match self {
            Self::One(own) => own.degrees(),
            Self::Extremum(own) => own.of_difference().degrees(),
            Self::Softmax(own) => own.degrees(),
            Self::Sorting(own) => own.degrees(),
            Self::MatrixProduct(_) => Vec::new(),
        }
    }

    /// Products of ciphertexts, for a function of one number.
    pub fn products(&self) -> Option<usize> {
        if let Self::One(own) = self { Some(own.products()) } else { None }
    }

    /// What is computed for a number in the clear, for a function of one number.
    pub fn value(&self, x: f64) -> Option<f64> {
        if let Self::One(own) = self { Some(own.value(x)) } else { None }
    }

    pub fn approximation_error(&self) -> Option<f64> {
        match self {
            Self::One(own) => Some(own.approximation_error()),
            Self::Extremum(own) => Some(own.approximation_error()),
            Self::Softmax(own) => Some(own.approximation_error()),
            Self::Sorting(own) => Some(own.approximation_error()),
            Self::MatrixProduct(_) => None,
        }
    }

    pub fn explain(&self, setting: &Setting) -> String {
        let contract = each!(self, |own| own.explain());
        let (Self::One(own), Kind::Approximate(context)) = (self, &setting.kind) else { return contract };
        if context.refresh().is_err() {
            return contract;
        }
        match context.functions().schedule(own) {
            Ok(schedule) => format!("{contract}\n{schedule}"),
            Err(refused) => format!("{contract}\n{refused}"),
        }
    }

    /// The function of each ciphertext of a list, whose slots are real.
    pub fn apply_list(&self, server: &Server<Approximate>, list: &[Ciphertext]) -> Result<Vec<Ciphertext>> {
        match self {
            Self::One(own) => server.apply_each(own, list),
            _ => list.iter().map(|x| self.apply_one(server, x)).collect(),
        }
    }

    /// The stated error for an array, before anything runs; `None` for functions that state it in
    /// the result alone.
    pub fn error(&self, py: Python<'_>, x: &PyCiphertext) -> PyResult<Option<f64>> {
        let (Self::One(plan), Parts::Approximate(list)) = (self, &*x.parts) else { return Ok(None) };
        let server = if x.server.is_some() { Some(x.server(py)?) } else { None };
        let error = |ct: &Ciphertext| match server.as_deref() {
            Some(ServerKind::Approximate(server)) => plan.error_on(server.engine(), ct),
            _ => plan.error(ct),
        };
        quick(py, || list.iter().try_fold(0.0, |most: f64, ct| Ok(most.max(error(ct)?.total())))).map(Some)
    }
}
