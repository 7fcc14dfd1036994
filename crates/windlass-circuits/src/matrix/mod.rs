//! Products of matrices with encrypted vectors, by the cheapest of three ways.
//!
//! An R × C matrix has R + C − 1 diagonals, however few rows or columns it has. Folded by rows, it
//! has w ≥ R: entries are laid one under the other in blocks of w slots, and the blocks are added by
//! rotations afterwards. Folded by columns, it has w ≥ C: copies of the vector are made by rotations
//! first ([`Folding`]). [`MatrixPlan`] prices all of them.

mod build;
mod fold;
mod places;
mod plan;
mod search;

pub use plan::{Folding, MatrixPlan, MatrixSpec};
