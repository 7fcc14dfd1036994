//! The schemes of Windlass: BGV and BFV on one engine, CKKS, and an exact mock without encryption.
//!
//! [`params`] has parameter sets, [`plaintext`] what is encrypted, [`schemes`] ciphertexts, engines,
//! clients and keys of every scheme. [`switching`] is what circuits may ask of every scheme, and
//! [`evaluator`] what they may ask of exact ones beside that. [`error`] has the errors of the whole
//! library, those of bootstrapping and of files among them, so that one type serves all layers.
//!
//! The crate `windlass` shows all of it under its own name: programs depend on that one.
#![forbid(unsafe_code)]

pub mod error;
pub mod evaluator;
#[doc(hidden)]
pub mod file_sizes;
#[doc(hidden)]
pub mod hex;
mod integer;
mod memory;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod once;
pub mod params;
pub mod plaintext;
pub mod schemes;
pub mod switching;

pub use error::{Beyond, BootstrapError, Error, Result, WireError};
pub use evaluator::{DividedProduct, Evaluator, Subtrahend};
pub use integer::Integer;
pub use memory::{check_memory, has_memory};
pub use params::{ParamSpec, Params};
pub use plaintext::{Content, Plaintext};
pub use schemes::Scheme;
pub use switching::Switching;
