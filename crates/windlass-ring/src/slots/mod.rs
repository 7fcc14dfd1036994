//! Slots: the decomposition of R/(p^r) into ℓ copies of a Galois ring, and the hypercube that
//! indexes them.

mod convolution;
mod division;
mod factor;
mod galois;
mod hypercube;
mod negacyclic;
mod normal;
mod prime_power;
mod quotient;
mod radix2;
mod repeated;
mod slot_ring;
#[cfg(test)]
mod tests;
mod tree;

pub use galois::GaloisRing;
pub use hypercube::{Dimension, Hypercube};
pub use prime_power::PrimePower;
pub use quotient::QuotientRing;
pub use slot_ring::SlotRing;
