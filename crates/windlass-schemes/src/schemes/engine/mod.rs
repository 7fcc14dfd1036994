//! The engine of BGV and BFV: levels, multiplication and key switching, once for both.
//!
//! A scheme supplies one scalar: `Engine::multiplier`, the t by which a BGV phase is a multiple of
//! a BFV one. Rounded division of a phase then becomes `multiplier·round(x/multiplier/D)`, exact
//! for the plaintext.

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
