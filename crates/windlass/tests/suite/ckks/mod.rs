//! CKKS against plain complex arithmetic.

mod arithmetic;
mod common;
mod linear;
mod polynomial;
mod refusals;
