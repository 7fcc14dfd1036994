//! The decryption formula of Halevi–Shoup 2015, and its parameters by the rule of its authors.
//!
//! It switches a ciphertext to a modulus q̃ = p^ẽ + 1 and makes e' digits zero, which are divided out
//! before digits are removed. Windlass switches to p^e instead (Chen–Han 2018), which takes no more
//! digits and no such step.

mod appendix_a;
mod near_prime_power;

pub use appendix_a::{AppendixA, AppendixASpec};
pub use near_prime_power::NearPrimePower;
