//! Slots: the decomposition of R/(p^r) into ℓ copies of a Galois ring, and the hypercube that indexes them.

mod convolution;
mod division;
mod factor;
mod hypercube;
mod prime_power;

pub use hypercube::{Dimension, Hypercube};
pub use prime_power::PrimePower;
