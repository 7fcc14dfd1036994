//! CKKS against plain complex arithmetic.

mod arithmetic;
mod chosen;
pub mod common;
mod entries;
mod estimates;
mod factors;
mod functions;
mod large;
mod linear;
mod norms;
mod polynomial;
mod refresh;
mod refusals;
