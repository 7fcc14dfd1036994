//! Bootstrapping: new capacity for spent ciphertexts, BGV and BFV alike.
//!
//! A [`BootstrapPlan`] lists the stages with their levels, capacity and keys before anything runs; [`BootstrapKeys`] are the public keys it needs
//! beside Galois and relinearisation keys; a [`Bootstrapper`] runs it. Thin: slots to coefficients, front end, coefficients to slots, trace, digit
//! removal (Chen–Han 2018; Halevi–Shoup 2018, §8). Packed: front end, coefficients to slots, unpacking to d ciphertexts, digit removal of each, repacking,
//! slots to coefficients (Halevi–Shoup 2015). The derivations are in `docs/math/bootstrapping.md`.

mod encapsulation;
mod ephemeral;
mod error;
mod estimate;
mod forecast;
mod front_end;
mod keys;
pub mod maps;
mod mock;
mod packed;
mod partition;
mod plan;
mod presets;
mod run;
mod search;
mod spec;
mod splitting;
mod times;

pub use crate::schemes::Refresh;
pub use error::BootstrapError;
pub use estimate::KeyBytes;
pub use keys::BootstrapKeys;
pub use mock::ClearBootstrapper;
pub use plan::{BootstrapPlan, Stage};
pub use presets::{BootstrapPreset, bootstrap_preset_names};
pub use run::{Bootstrapper, Progress};
pub use search::{Candidate, CandidateDimension, SearchSpec, search};
pub use spec::{BootstrapSpec, FrontEnd, Mode, Numbers, Partition, Transform, Unpacking};
pub use times::{StageTime, stage_times};
