//! Linear maps on encrypted slots.
//!
//! A [`LinearMap`] is a sparse sum `Σ_t κ_t·θ_t` of automorphisms with constants: matrices on a hypercube dimension, block
//! and full matrices, rotations, masks and traces all have this one form. A [`LinearPlan`] is a factoring of its support
//! into inputs and outputs; the algorithms of Halevi–Shoup 2018 are different factorings, chosen by name ([`Strategy`]) or
//! by price ([`CostModel`]).

pub(crate) mod axes;
mod block;
mod build;
mod cost;
mod doubling;
mod encrypted;
pub(crate) mod execute;
mod explain;
pub(crate) mod factoring;
mod grid;
mod inverse;
mod map;
mod matrix;
mod narrow;
pub(crate) mod plan;
pub(crate) mod prepare;
mod schedule;
mod slotwise;
mod spec;
mod strategy;
mod tree;
mod wide;

pub use cost::{CostModel, OperationCount};
pub use encrypted::EncryptedMatrix;
pub use grid::LinearGrid;
pub use map::LinearMap;
pub use plan::LinearPlan;
pub use prepare::PreparedPlan;
pub use spec::{ConstantForm, HoistMode, PlanSpec};
pub use strategy::Strategy;
