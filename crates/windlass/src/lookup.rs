//! The old place of [`crate::circuits::lookup`].

pub use windlass_circuits::lookup::*;
