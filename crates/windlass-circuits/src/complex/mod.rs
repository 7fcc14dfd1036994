//! Circuits on complex slots: polynomials, polynomial approximations of functions, sums of slots.

mod sums;

pub use sums::{SlotSums, TotalSums};
pub use windlass_schemes::schemes::ckks::{Polynomial, PowerBasis};
