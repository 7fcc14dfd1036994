//! The error type of this crate.

use windlass_kernels::KernelError;

/// What a caller of the ring layer can get wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// A kernel refused its arguments.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// θ_t was asked for with t not invertible modulo m.
    #[error("{element} is not invertible modulo m = {m}: it defines no automorphism")]
    NotAnAutomorphism {
        /// The element t.
        element: u64,
        /// The cyclotomic index.
        m: u64,
    },
}
