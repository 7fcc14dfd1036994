//! Bootstrapping of BGV and BFV ciphertexts: a refreshed ciphertext has the same message and new
//! capacity.
//!
//! A [`BootstrapPlan`] lists the stages with their levels, capacity and keys before anything runs.
//! [`BootstrapKeys`] are the public keys that it needs in addition to Galois and relinearisation
//! keys. A [`Bootstrapper`] runs it. There are two modes:
//!
//! - Thin, for integers in slots: slots to coefficients, front end, coefficients to slots, trace,
//!   digit removal (Chen–Han 2018; Halevi–Shoup 2018, §8).
//! - Packed, for elements in slots: front end, coefficients to slots, unpacking to d ciphertexts,
//!   digit removal of each, repacking, slots to coefficients (Halevi–Shoup 2015). The last map may
//!   come first instead (Ma et al. 2024).
//!
//! The derivations are in `docs/math/bootstrapping.md`.
#![forbid(unsafe_code)]

pub mod approximate;
mod batch;
mod bootstrap_plan;
mod bootstrapper;
mod candidates;
mod choices;
mod decryption;
mod deprecated;
mod depth;
mod encapsulation;
mod ephemeral;
mod estimate;
pub mod exact_through_ckks;
mod explain;
mod forecast;
mod formula;
mod front_end;
mod interpreter;
mod key_rules;
mod keys;
mod listing;
mod map_choice;
pub mod maps;
mod mock;
mod options;
mod output_level;
mod pack_unpack;
mod partition;
mod pipeline;
mod presets;
mod progress;
mod refreshing;
mod rows;
mod safety;
mod schedule;
mod search;
mod search_progress;
mod shares;
mod spec;
mod stage;
mod steps;
mod table;
mod times;
pub mod training;
mod unfactored;

pub use batch::BatchPlan;
#[doc(hidden)]
pub use batch::in_batches;
pub use bootstrap_plan::BootstrapPlan;
pub use bootstrapper::Bootstrapper;
pub use choices::Choices;
pub use estimate::KeyBytes;
pub use formula::{DecryptionFormula, FormulaSpec, FrontEndRounding};
pub use front_end::{DecryptionMethod, FrontEnd};
pub use keys::BootstrapKeys;
pub use map_choice::MapChoice;
pub use maps::{FactorOrder, SlotTransform, Transform};
pub use mock::ClearBootstrapper;
pub use options::RefreshOptions;
pub use presets::{BootstrapPreset, PLANNED_WEIGHT, bootstrap_preset_names};
pub use progress::Progress;
pub use search::{Candidate, CandidateDimension, SearchSpec, Unsuited, search, search_observed};
pub use search_progress::{SearchProgress, SearchStep};
pub use shares::{BootstrapShare, SharedRefresh};
pub use spec::{BootstrapSpec, ElementaryStages, EvalStage, Mode, Order, Partition, StagePartition, Unpacking};
pub use stage::{Stage, StageName};
pub use table::TableForecast;
pub use times::{StageTime, stage_times};
pub use unfactored::Unfactored;
pub use windlass_schemes::error::BootstrapError;
pub use windlass_schemes::params::{Encapsulation, Ephemeral};
pub use windlass_schemes::schemes::Refresh;
