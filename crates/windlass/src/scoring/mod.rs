//! Private scoring: a server applies its linear model to encrypted rows and learns neither the rows
//! nor the scores.
//!
//! Rows of f features, standardised and clipped by public constants, lie side by side in the slots
//! of CKKS ciphertexts, each in a field of f rounded up to a power of two. A score is one product
//! with the weights and one trace-type sum over the field.

mod model;
mod scorer;

pub use model::{LogisticModel, Standardisation, TrainSpec};
pub use scorer::{RowLayout, Scorer, scoring_spec};
