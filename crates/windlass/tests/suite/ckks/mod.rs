//! CKKS against plain complex arithmetic.

mod arithmetic;
mod chosen;
pub mod common;
mod estimates;
mod large;
mod linear;
mod polynomial;
mod refusals;
