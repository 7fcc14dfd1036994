//! Residue number systems: changing the basis of a polynomial, dividing by part of the basis,
//! integers in and out.

mod convert;
mod divide;
mod integer;

pub use convert::BaseConverter;
pub(crate) use convert::PrimeRow;
pub use divide::Epilogue;
pub(crate) use divide::{Division, Rows};
pub use integer::{IntegerLift, centred_floats, centred_words};
