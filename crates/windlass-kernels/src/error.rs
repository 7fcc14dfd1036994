//! The error type of this crate.

/// What a caller of the kernels can get wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// The modulus is not an odd prime in the supported range.
    #[error("{value} is not an odd prime below 2^{max_bits}", max_bits = crate::arith::MAX_MODULUS_BITS)]
    NotAPrime {
        /// The offending value.
        value: u64,
    },
    /// The cyclotomic index is outside what the transforms support.
    #[error("cyclotomic index {m} is not supported: {reason}")]
    UnsupportedIndex {
        /// The cyclotomic index m.
        m: u64,
        /// Why it was refused.
        reason: &'static str,
    },
    /// The prime does not split the cyclotomic polynomial, or lacks a helper root of unity.
    #[error("prime {value} is not 1 modulo {order}, but the transforms of this ring need such a prime")]
    NoRootOfUnity {
        /// The prime.
        value: u64,
        /// The order that must divide `value - 1`.
        order: u64,
    },
    /// There are not enough primes of the wanted size.
    #[error("only {found} of {wanted} primes of {bits} bits are 1 modulo {step}; ask for more bits (at most 50)")]
    NotEnoughPrimes {
        /// How many were wanted.
        wanted: usize,
        /// How many exist.
        found: usize,
        /// Size of the primes in bits.
        bits: u32,
        /// The required congruence.
        step: u64,
    },
}
