//! CKKS against plain complex arithmetic.

mod arithmetic;
mod chosen;
pub mod common;
mod entries;
mod estimates;
mod factors;
mod function_table;
mod functions;
mod functions_of_rows;
mod functions_refreshed;
mod functions_refreshed_together;
mod large;
mod linear;
mod norms;
mod polynomial;
pub mod precise;
mod refresh;
mod refreshing;
mod refusals;
mod training;
mod weighted_sums;
