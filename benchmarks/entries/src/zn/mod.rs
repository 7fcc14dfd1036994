//! Products of 64-bit integers, modulo 2^64, by BGV over several plaintext primes.
//!
//! 4096 pairs of integers make a chunk. For each plaintext prime t_i the residues of the left
//! integers stand in the slots of one ciphertext, those of the right ones in another; the server
//! multiplies the two, and the client puts the residues of the products together. Integers are read
//! as signed, so that a product is below 2^126 in absolute value and four primes of 32 bits carry
//! it; what is printed is the product modulo 2^64.
//!
//! No evaluation keys are made: the client decrypts products of degree two. Ciphertexts go up with
//! a seed instead of their uniform half, and answers come down modulo only the first prime.

mod multiplier;
mod numbers;
mod parameters;
mod stages;

pub use multiplier::Multiplier;
pub use parameters::parameters;
pub use stages::{STAGES, run};
