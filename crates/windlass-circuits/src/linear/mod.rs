//! Linear maps on encrypted slots.
//!
//! A [`LinearMap`] is a sparse sum `Σ_t κ_t·θ_t` of automorphisms with constants: matrices on a
//! hypercube dimension, block and full matrices, rotations, masks and traces all have this one
//! form. A [`LinearPlan`] is a factoring of its support into inputs and outputs; the algorithms of
//! Halevi–Shoup 2018 are different factorings, chosen by name ([`Strategy`]) or by price
//! ([`CostModel`]).
//!
//! The rooms, each of which knows only those before it:
//!
//! - [`map`][]: maps, for any form of their constants, and grids of maps;
//! - `build`: maps from matrices, blocks, permutations, kernels, and inverses;
//! - [`plan`][]: ways to evaluate a map, as data that is priced, explained and asked for its keys;
//! - `run`: plans at work on an evaluator.

mod build;
pub mod map;
pub mod plan;
mod run;

pub use map::{ComplexMap, ComplexSlots, InSlots, LinearGrid, LinearMap, Plannable, Representation};
pub use plan::{
    ConstantForm, CostModel, HoistMode, LinearPlan, MapStrategy, OperationCount, Plan, PlanSpec, Planned, Strategy,
};
pub use run::{EncryptedMatrix, Folded, MapNorms, PreparedPlan, Prepares};

pub(crate) use build::{check_rectangular, dense_entries};
pub(crate) use plan::impl_plan;
