//! The sizes of keys and ciphertexts, before any is made.

use serde::Serialize;
use windlass_ring::kernels::Modulus;

/// Predicted sizes in bytes. In memory a residue takes eight bytes; on disk exactly the bits of its
/// prime, and uniform halves of keys are replaced by a 32-byte seed. Headers of files (some hundred
/// bytes) are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KeySizes {
    /// A fresh ciphertext in memory: two polynomials modulo Q.
    pub ciphertext_memory: u64,
    /// A ciphertext on disk with both polynomials: one that was computed, or encrypted under a public
    /// key.
    pub ciphertext_disk: u64,
    /// A ciphertext fresh from the secret key on disk, its uniform half as a seed.
    pub fresh_ciphertext_disk: u64,
    /// The public encryption key in memory.
    pub public_key_memory: u64,
    /// The public encryption key on disk, its uniform half as a seed.
    pub public_key_disk: u64,
    /// One key-switching key (relinearisation or one automorphism) in memory: both halves of each
    /// digit modulo QP.
    pub switching_key_memory: u64,
    /// One key-switching key on disk with both halves written out.
    pub switching_key_disk_unseeded: u64,
    /// One key-switching key on disk with its uniform half as a seed.
    pub switching_key_disk: u64,
}

/// Bytes of one polynomial modulo `primes`, residues packed without gaps row by row.
pub fn packed_bytes<'a>(n: usize, primes: impl IntoIterator<Item = &'a Modulus>) -> u64 {
    primes.into_iter().map(|q| (n as u64 * q.bits() as u64).div_ceil(8)).sum()
}

impl KeySizes {
    /// Sizes for these primes of Q and of P and this number of digits.
    pub(super) fn new(n: usize, q_primes: &[Modulus], special_primes: &[Modulus], digits: usize) -> Self {
        const SEED: u64 = 32;
        let (q, qp) = (q_primes.len() as u64, (q_primes.len() + special_primes.len()) as u64);
        let (row, digits) = (8 * n as u64, digits as u64);
        let packed_q = packed_bytes(n, q_primes);
        let packed_qp = packed_q + packed_bytes(n, special_primes);
        Self {
            ciphertext_memory: 2 * q * row,
            ciphertext_disk: 2 * packed_q,
            fresh_ciphertext_disk: packed_q + SEED,
            public_key_memory: 2 * q * row,
            public_key_disk: packed_q + SEED,
            switching_key_memory: digits * 2 * qp * row,
            switching_key_disk_unseeded: digits * 2 * packed_qp,
            switching_key_disk: digits * packed_qp + SEED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_prime_sizes() {
        let prime = |bits| windlass_ring::kernels::modulus::find_primes(16384, bits, 1, &[]).unwrap()[0];
        let (q, special) = ([prime(48), prime(32)], [prime(50)]);
        let sizes = KeySizes::new(8192, &q, &special, 2);
        assert_eq!(sizes.ciphertext_memory, 2 * 2 * 8192 * 8);
        assert_eq!(sizes.ciphertext_disk, 2 * 8192 * 80 / 8);
        assert_eq!(sizes.fresh_ciphertext_disk, 8192 * 80 / 8 + 32);
        assert_eq!(sizes.switching_key_memory, 2 * 2 * 3 * 8192 * 8);
        assert_eq!(sizes.switching_key_disk_unseeded, 2 * 2 * 8192 * 130 / 8);
        assert_eq!(sizes.switching_key_disk, 2 * 8192 * 130 / 8 + 32);
        assert_eq!(2 * packed_bytes(8192, &q[..1]), 2 * 8192 * 6);
    }
}
