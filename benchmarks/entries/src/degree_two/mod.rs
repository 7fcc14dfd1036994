//! BGV without evaluation keys: ciphertexts that are multiplied once.
//!
//! n = 4096, two ciphertext primes q and d, uniform ternary secrets. The client encrypts under its
//! secret key, with a seed instead of the uniform half, and decrypts products of degree two, which
//! come back modulo q alone. What the server does in between is up to an application, which says
//! how large the phase of its result gets ([`Bounds`]).

pub mod bound;
mod division;
pub mod format;
mod key;
pub mod packing;
mod parameters;

pub use bound::Bounds;
pub use division::Division;
pub use key::SecretKey;
pub use parameters::{DROPPED, KEPT, PRIMES, Parameters, SLOTS, Spec};
