//! Sparse-secret encapsulation (Bossuat–Troncoso-Pastoriza–Hubaux, eprint 2022/024): a sparse
//! ephemeral key for the lowest modulus alone.
//!
//! `input_modulus` finds that modulus, by what the switch to the key and the rounding before it add
//! to a coefficient. `keys` makes the switching key, by special primes or in `digits`, and the
//! encryption of the ephemeral secret under the main one.

mod digits;
mod input_modulus;
mod keys;

pub(crate) use input_modulus::InputModulus;
pub(super) use keys::{EncapsulationKey, EncryptedSecret, SeededPair};
