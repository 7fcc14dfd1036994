//! Circuits over [`windlass_schemes::Evaluator`]. Each is written once, and runs on the exact mock
//! and on every scheme.
#![forbid(unsafe_code)]

mod comparison;
pub mod complex;
pub mod digits;
mod inner_product;
mod interpolation;
pub mod linear;
pub mod lookup;
pub mod matrix;
pub mod polynomial;
pub mod slot_function;
mod table;
pub mod trace;

pub use comparison::{Comparison, Membership};
pub use complex::{
    Extremum, Function, FunctionError, FunctionPlan, FunctionSchedule, MatrixProduct, Polynomial, PowerBasis,
    PreparedProduct, Row, SlotSums, Softmax, Sorting, TotalSums,
};
pub use digits::{
    ChainValue, ChenHan, DIGIT_METHODS, DigitChain, DigitMethod, DigitPolynomial, DigitRemoval, DigitRetention,
    DigitRoute, DigitSpec, DigitStep, FixedPointProduct, HaleviShoup, HalvingChain, LastStep, LeastDegree, LocalNull,
    Method, RootProducts, Searched, Stride,
};
pub use inner_product::{InnerProduct, PublicInnerProduct};
pub use linear::{
    ComplexMap, ComplexSlots, ConstantForm, CostModel, EncryptedMatrix, HoistMode, LinearGrid, LinearMap, LinearPlan,
    MapStrategy, Plan, PlanSpec, PreparedPlan, Strategy,
};
pub use lookup::{IndexBits, Lookup};
pub use matrix::{Folding, MatrixPlan, MatrixSpec};
pub use polynomial::{PolynomialPlan, product_of_many, sum_of_many};
pub use slot_function::{Power, SlotFunction};
pub use table::SlotTable;
pub use trace::{TraceChain, TracePlan, TraceSpec};
