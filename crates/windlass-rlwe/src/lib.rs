//! RLWE keys, ciphertexts, key switching, noise bounds and validated parameters.
#![forbid(unsafe_code)]

pub mod error;
pub mod noise;
pub mod params;
pub mod security;

pub use error::RlweError;
pub use noise::{Bound, FailureProbability, NoiseModel};
pub use params::{Assurance, KeySizes, ParamsId, RlweParams, RlweSpec};
pub use security::{SecretDistribution, SecurityEstimate};
