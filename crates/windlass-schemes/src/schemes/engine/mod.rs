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
mod weighted;

pub use automorphism::{Extended, Hoisted};
pub use base::{Constant, Engine};
#[doc(hidden)]
pub use base::{MARGIN_BITS, centred};
pub use ciphertext::Ciphertext;
#[doc(hidden)]
pub use ciphertext::Statement;
#[doc(hidden)]
pub use levels::{Summand, aligned};
#[doc(hidden)]
pub use weighted::{Powered, weights, weights_beside, weights_of_powers};
