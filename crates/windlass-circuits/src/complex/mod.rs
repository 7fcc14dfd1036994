//! Circuits on complex slots: polynomials, functions by polynomials near them, sums of slots.

mod sums;

pub use sums::{SlotSums, TotalSums};
pub use windlass_schemes::schemes::ckks::{Polynomial, PowerBasis};
