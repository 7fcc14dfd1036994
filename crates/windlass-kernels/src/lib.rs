//! Residue-row kernels: arithmetic on rows of canonical residues modulo a prime of at most 50 bits,
//! and the number-theoretic transforms of any cyclotomic ring, vectorised.
//!
//! A *row* is a `[u64]` of canonical residues in `[0, q)`. Every public kernel takes and returns
//! canonical rows, so that all instruction sets give the same bits. `unsafe` occurs in its vector
//! instructions, where the places of a small transform in scratch memory are checked together, and
//! in the one call that maps a file. Outside this crate the libraries have it in three places: where
//! memory of Python objects is shared (`windlass-py`), and where programs that hold secret keys look
//! at standard output before `main` and print a line when they are aborted (`windlass-secrets`).

#[cfg(target_endian = "big")]
compile_error!("Windlass needs a little-endian processor: files hold words as they lie in memory");

pub mod arith;
pub mod barrett;
pub mod error;
pub mod isa;
mod lanes;
pub mod mapping;
pub mod modulus;
pub mod ntt;
pub mod overflow;
pub mod reference;
pub mod rows;
pub mod scan;
pub mod u32_rows;
pub mod work;

pub use error::KernelError;
pub use isa::Isa;
pub use mapping::Mapping;
pub use modulus::Modulus;
pub use ntt::{Automorphism, Axis, NttPlan, Shape, U32Plan};
