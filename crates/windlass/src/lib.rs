//! Computing on encrypted vectors: BGV and BFV with packed slots, and fast linear maps on them.
#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod circuits;
pub mod error;
pub mod evaluator;
mod file_sizes;
pub mod front;
mod hex;
mod integer;
pub mod lookup;
mod names;
pub mod params;
pub mod plaintext;
pub mod schemes;
pub mod scoring;
pub mod switching;
pub mod wire;

pub use circuits::LinearMap;
pub use error::{Error, Result};
pub use evaluator::Evaluator;
pub use front::{Approximate, Circuit, Client, Context, Exact, Mock, NeedsKeys, Server, needs};
pub use integer::Integer;
pub use params::{ParamSpec, Params};
pub use plaintext::{Content, Plaintext};
pub use schemes::Scheme;
pub use switching::Switching;
pub use windlass_ring as ring;
pub use windlass_rlwe as rlwe;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeExample;
