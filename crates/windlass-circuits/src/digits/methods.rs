//! Published methods: for comparison, and for selection by name.

use std::str::FromStr;

use windlass_schemes::error::{Error, Result};
use windlass_schemes::names::named;

use super::chain::{DigitChain, chain_of_bits};
use super::halving::HalvingChain;
use super::halvings::to_bit;
use super::method::{DigitMethod, DigitPolynomial, DigitRoute, DigitSpec, DigitStep, LastStep, Method, Stride};
use super::root_products::RootProducts;

/// Those that [`Method::Automatic`] compares.
pub const DIGIT_METHODS: [&dyn DigitMethod; 6] =
    [&HaleviShoup, &ChenHan, &LeastDegree, &LocalNull, &RootProducts, &Searched];

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = [Method::Automatic].into_iter().chain(DIGIT_METHODS.map(Method::Of));
        let named_methods = all.map(|method| (method.name(), method));
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

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        vec![DigitRoute { stride: Stride::One, last: LastStep::AsTheOthers }]
    }
}

/// Lifting for the digits that lower rows need, the final precision in one step from the row's
/// argument by G_e. Lifting goes as far as they need (§3.2), or to precision ℓ, the largest with
/// p^ℓ < (p−1)(e−1)+1, and they take the final value beyond it (§3.3, Algorithm 1): fewer products,
/// sometimes of more depth. The planner compares the two.
#[derive(Debug, Clone, Copy)]
pub struct ChenHan;

impl DigitMethod for ChenHan {
    fn name(&self) -> &'static str {
        "chen-han"
    }

    fn citation(&self) -> &'static str {
        "Chen–Han 2018, §3.2 and Algorithm 1"
    }

    fn routes(&self, spec: &DigitSpec) -> Vec<DigitRoute> {
        let degree = u128::from(spec.prime - 1) * u128::from(spec.exponent - 1) + 1;
        let cap = (0..).take_while(|&l| u128::from(spec.prime).checked_pow(l).is_some_and(|power| power < degree));
        let cap = cap.last().unwrap_or(0).max(1);
        [LastStep::Direct, LastStep::DirectBeyond(cap)].map(|last| DigitRoute { stride: Stride::One, last }).into()
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

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        DigitRoute::all()
    }
}

/// As [`LeastDegree`], but right only for digits that occur: local null polynomials. The cost of
/// the last digit does not depend on p; those before it may be any.
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
            _ if spec.prime == 2 => Some("it needs an odd p, since for p = 2 both digits occur"),
            None => Some("it needs a bound on the part that is removed"),
            Some(_) => None,
        }
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        DigitRoute::all()
    }

    fn polynomial(&self, step: &DigitStep) -> Result<DigitPolynomial> {
        step.least_degree(&step.occurring)
    }
}

/// Chains of products found by search, for p = 2: one for each digit ([`DigitChain`]), or for all
/// together where one bit is left ([`HalvingChain`]).
#[derive(Debug, Clone, Copy)]
pub struct Searched;

impl DigitMethod for Searched {
    fn name(&self) -> &'static str {
        "searched"
    }

    fn citation(&self) -> &'static str {
        "found by this library's search; the idea of Fheanor, eprint 2025/864, whose circuits a SAT solver found"
    }

    fn refusal(&self, spec: &DigitSpec) -> Option<&'static str> {
        (spec.prime != 2).then_some("chains are known for p = 2 only")
    }

    fn routes(&self, _: &DigitSpec) -> Vec<DigitRoute> {
        Vec::new()
    }

    fn chain(&self, _: &DigitSpec) -> Option<DigitChain> {
        Some(chain_of_bits())
    }

    fn halving(&self, spec: &DigitSpec) -> Option<HalvingChain> {
        (spec.exponent == spec.removed + 1).then(|| to_bit(spec.removed)).flatten()
    }
}
