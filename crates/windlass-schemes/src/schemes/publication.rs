//! What is promised to those whose keys decrypted values could betray.

use windlass_rlwe::Limits;

use crate::error::Result;

/// Bits of the modulus that no decryption fills. A phase that does not belong to the ciphertext is uniform: each of its
/// n coefficients looks right with a probability of 2^−4, so that a wrong share is seen.
pub(crate) const SEEN_BITS: f64 = 4.0;

/// How a decryption may be published, or made by several parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Publication {
    /// Statistical security κ in bits of the error against all published decryptions together.
    pub security_bits: u32,
    /// How many decryptions under this key will be published at most.
    pub decryptions: u32,
}

impl Default for Publication {
    /// 40 bits for 1024 decryptions.
    fn default() -> Self {
        Self { security_bits: 40, decryptions: 1 << 10 }
    }
}

impl Publication {
    /// Bits of capacity that a ciphertext needs to be decrypted by any number of so many parties: for noise of
    /// 2·decryptions·n·2^κ times the error in each share, and [`SEEN_BITS`]. Where t of k decrypt
    /// there are t shares, and k − t + 1 times the decryptions of one party are planned for: at most (k + 1)²/4 together.
    pub(crate) fn capacity(self, n: usize, parties: u32) -> f64 {
        let noise = f64::from(self.security_bits) + f64::from(self.decryptions).log2() + 1.0;
        noise + (n as f64 * (f64::from(parties) + 1.0).powi(2) / 4.0).log2() + SEEN_BITS + 0.1
    }

    /// # Errors
    /// [`crate::Error::OutOfRange`] for κ outside 1..=128 or no decryptions.
    pub(crate) fn check(self) -> Result<()> {
        Limits::between(1, 128).check("security in bits", self.security_bits)?;
        Ok(Limits::between(1, u32::MAX).check("the number of decryptions", self.decryptions)?)
    }
}
