//! Circuits on complex slots: polynomials, functions by polynomials near them, sums of slots.

mod approximation;
mod polynomial;
mod sums;

pub use polynomial::{Polynomial, PowerBasis};
