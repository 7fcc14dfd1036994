//! What is promised to those whose keys decrypted values could betray.

use windlass_rlwe::Limits;

use crate::error::Result;

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
    /// 2·decryptions·n·2^κ times the error in each share, and [`super::collective::SEEN_BITS`]. Where t of k decrypt
    /// there are t shares, and k − t + 1 times the decryptions of one party are planned for: at most (k + 1)²/4 together.
    pub(crate) fn capacity(self, n: usize, parties: u32) -> f64 {
        let noise = f64::from(self.security_bits) + f64::from(self.decryptions).log2() + 1.0;
        noise + (n as f64 * (f64::from(parties) + 1.0).powi(2) / 4.0).log2() + super::collective::SEEN_BITS + 0.1
    }

    /// # Errors
    /// [`crate::Error::OutOfRange`] for κ outside 1..=128 or no decryptions.
    pub(crate) fn check(self) -> Result<()> {
        Limits::between(1, 128).check("security in bits", self.security_bits)?;
        Ok(Limits::between(1, u32::MAX).check("the number of decryptions", self.decryptions)?)
    }
}
