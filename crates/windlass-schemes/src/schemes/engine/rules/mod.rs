//! What an operation does to the level, the plaintext factor and the noise bound of ciphertexts.
//!
//! The engine asks these rules how an operation is to be done (at which level, with which weights)
//! and what its result states, then works on polynomials. A forecast asks the same rules and has no
//! polynomials. So levels are chosen, and bounds computed, in one place.

mod basics;
mod products;
mod sums;

pub use basics::{Metadata, NoiseRules, centred};
pub use products::{FactorSum, ProductPlan, best_level};
pub use sums::{Alignment, GatheredSum, GatheredTerm, RaisedSum, WeightedSum};
