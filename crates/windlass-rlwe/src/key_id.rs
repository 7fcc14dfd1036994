//! The identifier of a key pair.

use std::fmt;

use rand_core::RngCore;

/// Sixteen random bytes that name a key pair: drawn with the secret key, and carried by every key
/// and ciphertext that belongs to it, in memory and in files.
///
/// Public. Values of one key pair can be told to belong together; nothing else follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub [u8; KeyId::BYTES]);

impl KeyId {
    /// Its length.
    pub const BYTES: usize = 16;

    /// A fresh name.
    pub fn generate(rng: &mut impl RngCore) -> Self {
        let mut bytes = [0; Self::BYTES];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// Two key pairs of one context met in one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{operation}: the values belong to different key pairs ({left} and {right}); use keys and ciphertexts of one key pair"
)]
pub struct OtherKeyPair {
    /// The operation that was asked for.
    pub operation: &'static str,
    /// The key pair of the keys, or of the left operand.
    pub left: KeyId,
    /// The key pair of the right operand.
    pub right: KeyId,
}

/// # Errors
/// [`OtherKeyPair`] unless the names are one.
pub fn check_same_keys(operation: &'static str, left: KeyId, right: KeyId) -> Result<(), OtherKeyPair> {
    if left == right { Ok(()) } else { Err(OtherKeyPair { operation, left, right }) }
}
