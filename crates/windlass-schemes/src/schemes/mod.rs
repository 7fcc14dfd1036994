//! Schemes: BGV and BFV on one engine, CKKS, and the exact mock `clear`.

pub mod ckks;
pub mod clear;
pub mod client;
pub mod collective;
mod depth;
pub mod engine;
pub mod explicit;
pub mod pairs;
mod parts;
mod publication;
mod reencryption;
mod refresh;
mod refreshing;
mod scheme;
mod scheme_metadata;

pub use client::{Decryptor, Encryptor};
#[doc(hidden)]
pub use depth::{best_product, products_left};
pub use engine::{Ciphertext, Constant, Engine};
pub use parts::Seed;
#[doc(hidden)]
pub use parts::{Parts, is_seed_of};
pub use publication::Publication;
pub use refresh::Refresh;
pub use scheme::Scheme;
