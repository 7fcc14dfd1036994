//! Refreshes of CKKS ciphertexts: a refreshed ciphertext has the same message, up to a stated error,
//! and new levels (Cheon–Han–Kim–Kim–Song 2018, with what came after).
//!
//! At the base a ciphertext is a phase `Δ·m + e` modulo Q_B. Read as integers, its polynomials have
//! the phase `Q_B·I + Δ·m + e` under a sparse ephemeral secret, I small (`raise`). The coefficients
//! `t = I + Δ·m/Q_B` are brought into slots (`maps`), a function that is near `t − I` where t is
//! near an integer I is evaluated on every slot (`sine`), and the slots are brought back.
//!
//! ```text
//! raise → coefficients to slots → real and imaginary parts → sine, each → join → slots to coefficients
//! ```
//!
//! or, with the maps back at the beginning ([`MapOrder::BackFirst`]),
//!
//! ```text
//! slots to coefficients → raise → coefficients to slots → real and imaginary parts → sine, each → join
//! ```

mod coefficients;
mod estimate;
mod file;
mod floor;
mod integers;
mod keys;
mod list;
mod listing;
mod maps;
mod pass_chain;
mod pass_error;
mod pass_shape;
mod plan;
mod planner;
pub mod precise;
mod precision;
mod presets;
mod raise;
mod refresher;
mod samples;
mod sine;
mod spec;
mod step;

pub use estimate::RefreshError;
pub(crate) use file::RefreshFile;
pub(crate) use floor::{Floor, PhaseFactor};
pub use keys::RefreshKeys;
pub(crate) use list::Rounds;
pub(crate) use pass_chain::PassChain;
pub(crate) use pass_error::{FAILURE_BITS, PassError, SlotError, TAIL, rounding};
pub(crate) use pass_shape::PassShape;
pub use plan::RefreshPlan;
pub use planner::RefreshRequirements;
pub use presets::refresh_preset_names;
pub use refresher::Refresher;
pub use spec::{MapOrder, RefreshSpec};
pub use step::RefreshStep;

#[cfg(test)]
mod stages;
#[cfg(test)]
mod tests;
