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

impl Publication {
    /// # Errors
    /// [`crate::Error::OutOfRange`] for κ outside 1..=128 or no decryptions.
    pub(crate) fn check(self) -> Result<()> {
        Limits::between(1, 128).check("security in bits", self.security_bits)?;
        Ok(Limits::between(1, u32::MAX).check("the number of decryptions", self.decryptions)?)
    }
}
