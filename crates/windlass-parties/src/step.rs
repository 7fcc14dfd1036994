//! The steps of the protocols.

use std::fmt;

/// A step of the protocols, in which each member sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Step {
    /// Shares of the public key, of Galois keys and of bootstrapping keys: a message for each key.
    Keys,
    /// The first share of the relinearisation key.
    First,
    /// A dealt share of the member's secret, for one other member.
    Dealt,
    /// The second share of the relinearisation key.
    Second,
    /// A share of a decryption.
    Decryption,
    /// A share of a switch to the key of someone outside.
    Switch,
    /// A masked share of a decryption, which leaves its sender with an additive share of the values.
    Masked,
}

impl Step {
    pub(crate) const ALL: [Self; 7] =
        [Self::Keys, Self::First, Self::Dealt, Self::Second, Self::Decryption, Self::Switch, Self::Masked];

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Keys => 1,
            Self::First => 2,
            Self::Dealt => 3,
            Self::Second => 4,
            Self::Decryption => 5,
            Self::Switch => 6,
            Self::Masked => 7,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keys => "the shares of keys",
            Self::First => "the first share of the relinearisation key",
            Self::Dealt => "the dealt share",
            Self::Second => "the second share of the relinearisation key",
            Self::Decryption => "the share of the decryption",
            Self::Switch => "the share of the switch to another key",
            Self::Masked => "the masked share of the decryption",
        })
    }
}
