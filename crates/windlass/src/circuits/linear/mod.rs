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
pub(crate) mod execute;
pub(crate) mod factoring;
mod map;
pub(crate) mod plan;
mod strategy;
mod tree;

pub use cost::{CostModel, OperationCount};
pub use map::LinearMap;
pub use plan::{LinearPlan, PlanSpec, PreparedPlan};
pub use strategy::Strategy;
