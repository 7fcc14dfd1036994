//! RLWE keys, ciphertexts, key switching, noise bounds and validated parameters.
#![forbid(unsafe_code)]

pub mod context;
pub mod error;
pub mod evaluation;
pub mod keys;
pub mod noise;
pub mod params;
pub mod security;
pub mod switching;

pub use context::Context;
pub use error::{Number, RlweError};
pub use evaluation::{EvaluationKeys, KeyStrategy};
pub use keys::{PublicKey, SecretKey};
pub use noise::{Bound, FailureProbability, NoiseModel};
pub use params::{Assurance, KeySizes, ParamsId, RlweParams, RlweSpec};
pub use security::{SecretDistribution, SecurityEstimate};
