//! RLWE keys, ciphertexts, key switching, noise bounds and validated parameters.
#![forbid(unsafe_code)]

pub mod error;
pub mod security;

pub use error::RlweError;
pub use security::{SecretDistribution, SecurityEstimate};
