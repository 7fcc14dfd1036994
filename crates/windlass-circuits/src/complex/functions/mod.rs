//! Functions of real numbers with a contract: interval, degrees, depth and error.
//!
//! A [`FunctionPlan`] is a list of polynomials, products and sums. It is made for an interval and a
//! precision, says what it costs and how exact it is, and runs on ciphertexts. The result states the
//! distance from the function itself.

mod approximate;
mod catalogue;
mod erf;
mod error;
mod explain;
mod extremum;
mod inverse;
mod plan;
mod remez;
mod route;
mod row;
mod run;
mod schedule;
mod sign;
mod signals;
mod softmax;
mod sort;
mod taylor;

pub use catalogue::Function;
pub use error::FunctionError;
pub use explain::FunctionSchedule;
pub use extremum::Extremum;
pub use plan::FunctionPlan;
pub use row::Row;
pub use softmax::Softmax;
pub use sort::Sorting;
