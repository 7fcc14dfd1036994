//! What the parties agree on before any of them has a secret.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::error::RlweError;
use crate::key_id::KeyId;
use crate::limits::Limits;

/// The parameters, the seed of all uniform polynomials, and the name of the key pair that follows from them.
///
/// **Warning.** A seed serves one making of keys. Two keys of the same seed from different errors would reveal the
/// secrets of the parties.
#[derive(Debug, Clone)]
pub struct Common {
    context: Arc<Context>,
    seed: [u8; 32],
}

/// A key that the parties make together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyName {
    /// The public key.
    Public,
    /// The relinearisation key, usable up to a level.
    Relinearisation {
        /// The level.
        level: usize,
    },
    /// The Galois key of θ_t, usable up to a level.
    Galois {
        /// t, a unit modulo m other than 1.
        element: u64,
        /// The level.
        level: usize,
    },
}

impl KeyName {
    /// The words that seeds and errors are derived from: what it is, its element and its level.
    pub(crate) fn words(self) -> [u64; 3] {
        match self {
            Self::Public => [0, 0, 0],
            Self::Relinearisation { level } => [1, 0, level as u64],
            Self::Galois { element, level } => [2, element, level as u64],
        }
    }

    /// Its level; that of public keys is the top.
    pub fn level(self, context: &Context) -> usize {
        match self {
            Self::Public => context.top_level(),
            Self::Relinearisation { level } | Self::Galois { level, .. } => level,
        }
    }
}

/// SHA-256 of a purpose and of parts, each with its length.
pub(super) fn hash(purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [purpose.as_bytes()].iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl Common {
    /// The reference of a making of keys, from a seed that all parties took part in choosing or that a public source
    /// gave.
    ///
    /// # Errors
    /// [`RlweError::OutOfRange`] for parameters of a key of one party.
    pub fn new(context: &Arc<Context>, seed: [u8; 32]) -> Result<Self, RlweError> {
        let limits = Limits::at_least(2).with("so make the context with a number of parties");
        limits.check("the number of parties of the parameters", context.params().secret().parties())?;
        Ok(Self { context: Arc::clone(context), seed })
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The number of parties.
    pub fn parties(&self) -> u32 {
        self.context.params().secret().parties()
    }

    /// The name of the key pair: the same for all parties of one seed.
    pub fn key_id(&self) -> KeyId {
        let digest = hash("windlass key of several parties 1", &[&self.seed, &self.context.params().id().0]);
        let mut id = [0; KeyId::BYTES];
        id.copy_from_slice(&digest[..KeyId::BYTES]);
        KeyId(id)
    }

    /// The seed of the uniform half of a key. Relinearisation has two: of round 1, and of the finished key.
    pub(super) fn seed_of(&self, name: KeyName, round: u8) -> [u8; 32] {
        let words = name.words().map(u64::to_le_bytes).concat();
        hash("windlass seed of several parties 1", &[&self.seed, &self.context.params().id().0, &words, &[round]])
    }

    /// A seed for another purpose, of the layers above.
    #[doc(hidden)]
    pub fn derived(&self, purpose: &str, input: &[u8]) -> [u8; 32] {
        hash(purpose, &[&self.seed, &self.context.params().id().0, input])
    }

    /// # Errors
    /// [`RlweError::OutOfRange`] for a level outside the chain, and for no automorphism.
    pub(super) fn check(&self, name: KeyName) -> Result<(), RlweError> {
        Limits::between(1, self.context.top_level()).check("the level of a key", name.level(&self.context))?;
        if let KeyName::Galois { element, .. } = name {
            let m = self.context.params().m();
            let limits = Limits::between(2, m - 1).with("a unit modulo m");
            limits.check("the element of a Galois key", element)?;
            // No table of the automorphism: a text of a stranger may list many.
            if windlass_ring::kernels::arith::inv_mod(element, m).is_none() {
                return Err(limits.refuse("the element of a Galois key", element).into());
            }
        }
        Ok(())
    }
}
