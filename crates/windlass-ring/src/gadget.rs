//! The RNS gadget: a value modulo Q is cut into digits, one for each group of primes, each extended
//! to a larger basis.
//!
//! Digit k of x is x mod D_k, D_k the product of the primes of group k that are in the basis of x.
//! With the gadget vector g_k ≡ 1 mod D_k, ≡ 0 mod the other groups, Σ_k digit_k·g_k ≡ x mod Q,
//! whichever primes of Q are still there.

mod decomposition;
mod hoisted;
mod product;

pub use decomposition::{Decomposition, Gadget};
pub use hoisted::{Moved, Weights, dot_moved, sum_moved};
pub use product::Product;
