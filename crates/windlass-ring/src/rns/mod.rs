//! Residue number systems: changing the basis of a polynomial, dividing by part of the basis, integers in and out.

mod convert;
mod integer;
mod rescale;

pub use convert::BaseConverter;
pub use integer::IntegerLift;
