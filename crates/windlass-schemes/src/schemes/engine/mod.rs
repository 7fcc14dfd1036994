//! The engine of BGV and BFV: levels, multiplication and key switching, once for both.
//!
//! A scheme supplies one scalar, `Engine::multiplier`: t for BGV and 1 for BFV. A BGV phase is t times
//! a BFV phase. Division of a phase x by D with rounding is `multiplier·round(x/multiplier/D)` for both,
//! which leaves the plaintext exact.

mod arithmetic;
mod automorphism;
mod base;
mod ciphertext;
mod decryption;
mod divided_product;
mod evaluator;
mod gathered;
mod levels;
mod raised;
mod refreshing;
#[doc(hidden)]
pub mod rules;
mod weighted;

pub use automorphism::{Extended, Hoisted};
#[doc(hidden)]
pub use base::MARGIN_BITS;
pub use base::{Constant, Engine};
pub use ciphertext::Ciphertext;
#[doc(hidden)]
pub use ciphertext::Statement;
#[doc(hidden)]
pub use rules::centred;
