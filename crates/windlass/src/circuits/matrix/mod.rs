//! Products of matrices with encrypted vectors, by the cheapest of two ways.
//!
//! An R × C matrix has R + C − 1 diagonals, however few rows it has. Folded, it has w ≥ R: entries
//! are laid one under the other in blocks of w slots, and the blocks are added by rotations
//! afterwards ([`Folding`]). [`MatrixPlan`] prices both.

mod build;
mod fold;
mod places;
mod plan;
mod search;

pub use plan::{Folding, MatrixPlan, MatrixSpec};
