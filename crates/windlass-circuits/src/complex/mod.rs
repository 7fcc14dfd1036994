//! Circuits on complex slots: polynomials, polynomial approximations of functions, sums of slots.

mod functions;
mod sums;

pub use functions::{Extremum, Function, FunctionError, FunctionPlan, Softmax, Sorting};
pub use sums::{SlotSums, TotalSums};
pub use windlass_schemes::schemes::ckks::{Polynomial, PowerBasis};
