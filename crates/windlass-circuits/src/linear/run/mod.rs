//! Plans at work: constants are prepared once, then any number of ciphertexts goes through.

mod apply;
mod base_q;
mod base_qp;
mod batch;
mod encrypted;
mod measure;
mod prepare;
mod prepares;
mod work;

pub use encrypted::EncryptedMatrix;
pub use prepare::PreparedPlan;
pub use prepares::{Folded, MapNorms, Prepares};
