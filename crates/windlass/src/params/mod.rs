//! Parameters as a user meets them: a plaintext ring, a scheme, and an RLWE parameter set that is
//! secure or says that it is not.

mod description;
mod file;
mod planner;
mod presets;
mod set;

#[cfg(test)]
mod tests;

pub use description::ParamsDescription;
pub use planner::ParamSpec;
pub use presets::{ephemeral_weight, preset_names};
pub use set::Params;
