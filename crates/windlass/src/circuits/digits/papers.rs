//! The methods of the literature.

use std::str::FromStr;

use super::method::{DigitMethod, DigitPolynomial, DigitRoute, DigitSpec, DigitStep, Method, Stride};
use crate::error::{Error, Result};
use crate::names::named;

/// All of them.
pub const DIGIT_METHODS: [&dyn DigitMethod; 4] = [&HaleviShoup, &ChenHan, &LeastDegree, &LocalNull];

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let published = DIGIT_METHODS.map(Method::Of);
        let named_methods = [Method::Automatic].into_iter().chain(published).map(|method| (method.name(), method));
        named(&named_methods.collect::<Vec<_>>(), text, "method of digit removal")
    }
}

/// One step of precision at a time by the lifting polynomial, with §5.3.1 for p = 2.
#[derive(Debug, Clone, Copy)]
pub struct HaleviShoup;

impl DigitMethod for HaleviShoup {
    fn name(&self) -> &'static str {
        "halevi-shoup"
    }

    fn citation(&self) -> &'static str {
        "Halevi–Shoup 2015, Figure 1 and Corollary 5.5"
    }

    fn routes(&self) -> Vec<DigitRoute> {
        vec![DigitRoute { stride: Stride::One, is_direct: false }]
    }
}

/// Lifting for the digits that lower rows need, the final precision in one step from the row's
/// argument by G_e.
#[derive(Debug, Clone, Copy)]
pub struct ChenHan;

impl DigitMethod for ChenHan {
    fn name(&self) -> &'static str {
        "chen-han"
    }

    fn citation(&self) -> &'static str {
        "Chen–Han 2018, Algorithm 1"
    }

    fn routes(&self) -> Vec<DigitRoute> {
        vec![DigitRoute { stride: Stride::One, is_direct: true }]
    }
}

/// Polynomials of least degree between any two precisions, the steps chosen by cost.
#[derive(Debug, Clone, Copy)]
pub struct LeastDegree;

impl DigitMethod for LeastDegree {
    fn name(&self) -> &'static str {
        "least-degree"
    }

    fn citation(&self) -> &'static str {
        "Geelen–Iliashenko–Kang–Vercauteren, eprint 2022/1364"
    }

    fn routes(&self) -> Vec<DigitRoute> {
        DigitRoute::all()
    }
}

/// As [`LeastDegree`], but right only for digits that occur: local null polynomials. The cost does
/// not depend on p.
#[derive(Debug, Clone, Copy)]
pub struct LocalNull;

impl DigitMethod for LocalNull {
    fn name(&self) -> &'static str {
        "local-null"
    }

    fn citation(&self) -> &'static str {
        "Ma–Huang–Wang–Wang, eprint 2024/115"
    }

    fn refusal(&self, spec: &DigitSpec) -> Option<&'static str> {
        match spec.bound {
            _ if spec.prime == 2 => Some("both digits occur for p = 2"),
            None => Some("it needs a bound on the part that is removed"),
            Some(_) => None,
        }
    }

    fn routes(&self) -> Vec<DigitRoute> {
        DigitRoute::all()
    }

    fn polynomial(&self, step: &DigitStep) -> Result<DigitPolynomial> {
        step.least_degree(&step.occurring)
    }
}
