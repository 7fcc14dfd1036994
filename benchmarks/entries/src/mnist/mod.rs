//! Handwritten digits (MNIST): which of ten digits an encrypted picture shows.
//!
//! The model ([`Model`]) is a product, a square and another product, all in integers, with weights
//! of four bits. One picture travels in one ciphertext ([`single`]), thousands in one ciphertext
//! for each pixel ([`batch`]).

pub mod batch;
mod model;
mod pictures;
pub mod single;
mod stages;
mod weights;

pub use model::{CLASSES, HIDDEN, INPUTS, Model};
pub use pictures::{SIDE, read as read_pictures};
pub use stages::{STAGES, run};
