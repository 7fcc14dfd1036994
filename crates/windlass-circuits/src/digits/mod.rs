//! Removing the low base-p digits of encrypted integers: the non-linear part of bootstrapping.
//!
//! For x modulo p^e with digits z_0, z_1, .. (balanced for odd p, 0 or 1 for p = 2) a
//! [`DigitRemoval`] computes `(x − Σ_{i<v} z_i·p^i)/p^v` modulo p^{e−v}. The methods of the papers
//! ([`DigitMethod`]) differ only in the polynomials that raise the precision to which a digit is
//! known; they share one circuit. The derivations are in `docs/math/bootstrapping.md`.

mod apply;
mod chain;
mod fixed_point;
mod halving;
mod halvings;
mod method;
mod methods;
mod polynomials;
pub(crate) mod quotients;
mod removal;
mod root_products;
mod row;

pub use apply::DigitRetention;
pub use chain::{ChainValue, DigitChain};
pub use fixed_point::FixedPointProduct;
pub use halving::HalvingChain;
pub use method::{DigitMethod, DigitPolynomial, DigitRoute, DigitSpec, DigitStep, LastStep, Method, Stride};
pub use methods::{ChenHan, DIGIT_METHODS, HaleviShoup, LeastDegree, LocalNull, Searched};
pub use removal::DigitRemoval;
pub use root_products::RootProducts;
