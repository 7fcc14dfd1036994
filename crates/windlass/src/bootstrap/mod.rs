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
mod spec;
mod splitting;
mod times;

pub use error::BootstrapError;
pub use estimate::KeyBytes;
pub use keys::BootstrapKeys;
pub use mock::ClearBootstrapper;
pub use plan::{BootstrapPlan, Stage};
pub use presets::{BootstrapPreset, bootstrap_preset_names};
pub use run::{Bootstrapper, Progress};
pub use spec::{BootstrapSpec, FrontEnd, Mode, Numbers, Partition, Transform, Unpacking};
pub use times::{StageTime, stage_times};

use crate::error::Result;

/// Something that gives a ciphertext new capacity: circuits that run out of it can refresh by themselves.
pub trait Refresh<C> {
    /// The same message with more capacity.
    fn refresh(&self, ciphertext: &C) -> Result<C>;

    /// Bits of capacity that may be spent on it before it can no longer be refreshed; without limit where there is no noise.
    fn spare_bits(&self, ciphertext: &C) -> f64;

    /// The ciphertext as it is when `bits` may be spent on it, else refreshed: a circuit that says so before each step never runs out.
    ///
    /// # Errors
    /// Those of [`Refresh::refresh`].
    fn with_spare_bits(&self, ciphertext: C, bits: f64) -> Result<C> {
        if self.spare_bits(&ciphertext) < bits { self.refresh(&ciphertext) } else { Ok(ciphertext) }
    }
}
