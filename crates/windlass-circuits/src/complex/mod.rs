//! Circuits on complex slots: polynomials, polynomial approximations of functions, sums of slots.

mod functions;
mod matrix_product;
mod sums;

pub use functions::{Extremum, Function, FunctionError, FunctionPlan, FunctionSchedule, Row, Softmax, Sorting};
pub use matrix_product::{MatrixProduct, PreparedProduct};
pub use sums::{SlotSums, TotalSums};
pub use windlass_schemes::schemes::ckks::{Polynomial, PowerBasis};
