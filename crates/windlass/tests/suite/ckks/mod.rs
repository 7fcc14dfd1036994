//! CKKS against plain complex arithmetic.

mod arithmetic;
pub mod common;
mod estimates;
mod linear;
mod polynomial;
mod refusals;
