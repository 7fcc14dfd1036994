//! Sparse-secret encapsulation (Bossuat–Troncoso-Pastoriza–Hubaux, eprint 2022/024): a sparse
//! ephemeral key that is used only at the lowest modulus.
//!
//! `input_modulus` finds that modulus from the noise that the switch and the rounding before it add
//! to a coefficient. `keys` makes the switching key, either with special primes or in `digits`, and
//! the encryption of the ephemeral secret under the main one.

mod digits;
mod input_modulus;
mod keys;

pub(crate) use input_modulus::InputModulus;
pub(super) use keys::{EncapsulationKey, EncryptedSecret, SeededPair};
