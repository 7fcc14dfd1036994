//! CKKS against plain complex arithmetic.

mod arithmetic;
mod common;
mod polynomial;
mod refusals;
