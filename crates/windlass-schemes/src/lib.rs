//! The schemes of Windlass: BGV and BFV on one engine, CKKS, and an exact mock without encryption.
//!
//! - [`params`][]: parameter sets.
//! - [`plaintext`][]: plaintexts.
//! - [`schemes`][]: ciphertexts, engines, clients and keys of every scheme.
//! - [`switching`][]: the operations that circuits can use on every scheme.
//! - [`evaluator`][]: the further operations of exact schemes.
//! - [`error`][]: the errors of the whole library, including bootstrapping and files. All layers
//!   share one type.
//!
//! Programs depend on the crate `windlass`, which re-exports all of this under its own name.
#![forbid(unsafe_code)]

pub mod error;
pub mod evaluator;
#[doc(hidden)]
pub mod file_sizes;
#[doc(hidden)]
pub mod hex;
mod integer;
#[doc(hidden)]
pub mod json;
mod memory;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod once;
pub mod params;
pub mod plaintext;
pub mod schemes;
mod secret_words;
pub mod switching;

pub use error::{Beyond, BootstrapError, Error, Result, WireError};
pub use evaluator::{DividedProduct, Evaluator, Subtrahend};
pub use integer::Integer;
pub use memory::{check_memory, has_memory};
pub use params::{ParamSpec, Params};
pub use plaintext::{Content, Plaintext};
pub use schemes::Scheme;
pub use switching::{Arithmetic, Switching};
