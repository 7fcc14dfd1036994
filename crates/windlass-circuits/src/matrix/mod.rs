//! Products of matrices with encrypted vectors, by the cheapest of three layouts.
//!
//! - By diagonals: an R × C matrix has R + C − 1 diagonals, even if it has few rows or columns.
//! - Folded by rows: it has w ≥ R diagonals. Entries are stacked in blocks of w slots, and the
//!   blocks are added by rotations afterwards.
//! - Folded by columns: it has w ≥ C diagonals. Rotations first make copies of the vector
//!   ([`Folding`]).
//!
//! [`MatrixPlan`] computes the price of each and takes the cheapest.

mod build;
mod fold;
mod plan;
mod search;
mod slot_geometry;

pub use plan::{Folding, MatrixPlan, MatrixSpec};
