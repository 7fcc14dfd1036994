//! Number-theoretic transforms of Z_q\[X\]/Φ_m, one axis per prime power of m.

mod automorphism;
mod axis;
mod odd;
mod plan;
mod pow2;
mod shape;
mod tensor;
mod tensor_pow2;
mod u32_rows;

#[cfg(test)]
mod tests;

pub use automorphism::Automorphism;
pub use axis::Axis;
pub use plan::{NttPlan, scratch_is_wiped, wipe_scratch};
pub use shape::Shape;
pub use u32_rows::U32Plan;
