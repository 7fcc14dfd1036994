//! The maps between slots and coefficients, as products of sparse stages.
//!
//! *Thin*: integers a_i in the ℓ slots go to `Σ a_i·b_i`, ℓ elements b_i of the powerful basis, and
//! from any element `Σ_j a_j·b_j` the ℓ coefficients of those b_i come back to the slots. With
//! `V_{ij} = b_j(ζ^{u_i})` the first map is V, E-linear on thin plaintexts; with the dual basis
//! `K_{ji} = b_j^*(ζ^{u_i})` the second is `Tr_E ∘ K` (Halevi–Shoup 2018, §8). Both split into
//! one-dimensional stages.

mod bruun;
mod catalogue;
mod check;
mod factor_order;
mod factors;
mod merge;
mod monomials;
mod packing;
mod radix2;
mod rings;
mod slot_map;
mod tensor;
mod trace;
mod transform;
mod whole;

pub use catalogue::Transform;
pub(crate) use check::{check_packed, check_thin};
pub use factor_order::FactorOrder;
pub(crate) use merge::Runs;
pub(crate) use monomials::{Split, splits, together_supports, together_to_coefficients, together_to_slots};
pub use packing::Packing;
#[cfg(test)]
pub(crate) use rings::evaluation_ring;
pub use rings::{evaluation_hypercube, ordered_hypercube};
pub(crate) use rings::{factor_orders, ordered_ring};
pub(crate) use slot_map::Fixed;
pub use slot_map::SlotMap;
pub(crate) use trace::{trace_in_groups, trace_stages};
pub use transform::{SlotTransform, StageSupports, Stages, Supports};
pub(crate) use whole::{
    fixed, packed_to_coefficients, packed_to_slots, thin_supports, thin_to_coefficients, thin_to_slots,
};

#[cfg(test)]
mod counts;
#[cfg(test)]
mod tests;
