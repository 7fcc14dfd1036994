//! Parameter sets: a plaintext ring, a scheme, and RLWE parameters that are either secure or marked
//! as insecure.

mod description;
mod ephemeral;
mod file;
mod least;
mod planner;
mod presets;
mod reach;
mod set;
mod spec;

#[cfg(test)]
mod tests;

pub use description::ParamsDescription;
pub use ephemeral::{Encapsulation, Ephemeral};
#[doc(hidden)]
pub use presets::SMALL_T;
pub use presets::{preset_ephemeral, preset_names};
pub use set::Params;
#[doc(hidden)]
pub use set::check_plaintext_modulus;
pub use spec::ParamSpec;
