//! Cyclotomic rings R = Z\[X\]/Φ_m in residue number systems, for any m with φ(m) ≤ 2^17.
//!
//! Coefficients are held in the powerful basis, values in the order of [`windlass_kernels::Shape`].
//! A [`Poly`] knows in its type whether it holds coefficients ([`Coeff`]) or values ([`Eval`]).
#![forbid(unsafe_code)]

mod basis;
mod batch;
mod buffer;
mod buffer_pool;
pub mod error;
mod fourier;
pub mod gadget;
mod lines;
pub mod norm;
mod periodic_values;
mod periods;
pub mod poly;
mod products;
pub mod ring;
pub mod rns;
pub mod sample;
mod signed;
pub mod slots;
mod stored;
pub mod subring;

pub use basis::Basis;
pub use error::RingError;
pub use periodic_values::{PeriodicValues, Values};
pub use poly::{Coeff, Eval, Poly, Representation};
pub use ring::Ring;
pub use stored::{Stored, StoredRows};
pub use windlass_kernels as kernels;
