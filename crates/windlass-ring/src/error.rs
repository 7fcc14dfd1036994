//! The error type of this crate.

use windlass_kernels::KernelError;

/// What a caller of the ring layer can get wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// A kernel refused its arguments.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// θ_t was asked for with t not invertible modulo m.
    #[error(
        "{element} is not invertible modulo m = {m}, so it defines no automorphism: choose an element coprime to m"
    )]
    NotAnAutomorphism {
        /// The element t.
        element: u64,
        /// The cyclotomic index.
        m: u64,
    },
    /// p^r is not a supported slot modulus.
    #[error("{prime}^{exponent} is not a supported slot modulus: {reason}")]
    BadPrimePower {
        /// The base.
        prime: u64,
        /// The exponent.
        exponent: u32,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// p divides m: Φ_m does not split into distinct factors modulo p.
    #[error("p = {prime} divides m = {m}: choose m coprime to p")]
    PrimeDividesIndex {
        /// The prime p.
        prime: u64,
        /// The cyclotomic index.
        m: u64,
    },
    /// Maps of slots were asked for in a ring modulo 2^r that has none.
    #[error(
        "the ring of m = {m} modulo a power of two has no slots: its messages are coefficients; choose an odd p for maps of slots"
    )]
    NoSlots {
        /// The cyclotomic index.
        m: u64,
    },
    /// A ring of coefficients modulo a power of two was asked for, but m is no power of two.
    #[error("m = {m} must be a power of two of at least 4 for a plaintext modulus 2^r without slots")]
    NotAPowerOfTwo {
        /// The cyclotomic index.
        m: u64,
    },
    /// The given hypercube generators do not describe the slots.
    #[error("the generators {generators:?} do not describe the slots for m = {m}: {reason}")]
    BadGenerators {
        /// The cyclotomic index.
        m: u64,
        /// The generators given.
        generators: Vec<u64>,
        /// What is wrong with them.
        reason: &'static str,
    },
    /// Input of the wrong length.
    #[error("expected {expected} values, got {found}")]
    WrongLength {
        /// The length needed.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// A value is not a canonical residue modulo p^r.
    #[error("the value {value} at position {position} is not below p^r = {modulus}")]
    NotCanonical {
        /// Where.
        position: usize,
        /// The value.
        value: u64,
        /// p^r.
        modulus: u64,
    },
    /// A slot holds an element outside Z_{p^r}.
    #[error(
        "slot {slot} holds an element of degree {degree} over the integers modulo p^r: decode its coefficients instead"
    )]
    NotAnInteger {
        /// The slot.
        slot: usize,
        /// The highest power of ζ with a nonzero coefficient.
        degree: usize,
    },
    /// An element has no inverse.
    #[error("the element is not invertible")]
    NotInvertible,
}
