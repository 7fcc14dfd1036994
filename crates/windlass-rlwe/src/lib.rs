//! RLWE keys, ciphertexts, key switching, noise bounds and validated parameters.
#![forbid(unsafe_code)]

pub mod collective;
pub mod context;
pub mod error;
pub mod evaluation;
mod given;
pub mod key_id;
pub mod keys;
pub mod levels;
pub mod limits;
pub mod noise;
pub mod params;
mod process;
pub mod reencryption;
pub mod registry;
mod secret_rng;
pub mod security;
mod special;
pub mod switching;

pub use context::Context;
pub use error::RlweError;
pub use evaluation::{EvaluationKeys, KeyStrategy};
pub use given::GivenPrimes;
pub use key_id::{KeyId, OtherKeyPair, check_same_keys};
pub use keys::{PublicKey, SecretKey};
pub use levels::Levels;
pub use limits::{Limits, Number, OutOfRange};
pub use noise::{Bound, EventCounter, FailureProbability, NoiseModel, RandomEvents};
pub use params::{Assurance, KeySizes, ParamsId, RlweParams, RlweSpec};
pub use process::process_id;
pub use reencryption::{ReceivingKey, ReencryptionKey};
pub use registry::Registry;
pub use secret_rng::SecretRng;
pub use security::{SecretDistribution, SecurityEstimate};
