//! Plans at work: constants are prepared once, then any number of ciphertexts goes through.

mod apply;
mod encrypted;
mod measure;
mod narrow;
mod prepare;
mod prepares;
mod several;
mod wide;
mod work;

pub use encrypted::EncryptedMatrix;
pub use prepare::PreparedPlan;
pub use prepares::{Folded, MapNorms, Prepares};
