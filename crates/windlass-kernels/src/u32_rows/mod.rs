//! Rows of canonical residues modulo a prime below 2^31, in words of 32 bits: what ciphertexts of
//! retrieval are made of. Transforms of them are [`crate::ntt::U32Plan`].
//!
//! All rows of one call have the same length, a multiple of sixteen. Rows that begin at multiples
//! of 64 bytes are faster.

mod convert;
mod products;
mod rows;

#[cfg(test)]
mod tests;

pub use convert::{Cut, Lowering};
pub use products::{Products, Rest};
pub use rows::{Multipliers, add, mul_scalar_assign, split, sub};
