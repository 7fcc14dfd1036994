//! The errors of this crate.

use windlass::schemes::Publication;
use windlass::wire::WireError;
use windlass_rlwe::{OtherKeyPair, OutOfRange, RlweError};

use crate::step::Step;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, PartiesError>;

/// Why something was refused. No variant holds a secret.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PartiesError {
    /// A number that is not allowed.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// The library refused.
    #[error(transparent)]
    Windlass(windlass::Error),
    /// A file is not what it should be.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A text is no agreement or no identity.
    #[error("the {what} cannot be read: {reason}")]
    Text {
        /// What it should be.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A message or a state of another agreement.
    #[error("the {what} belongs to another agreement: use the agreement that it was made with")]
    OtherAgreement {
        /// What was read.
        what: &'static str,
    },
    /// Two members have one identity or one name.
    #[error("{name:?} is in the list of members twice (by name or by identity): give each member its own")]
    MemberTwice {
        /// The name.
        name: String,
    },
    /// A name that a list cannot hold, or that does not show what it is.
    #[error("{name:?} cannot be the name of a member: {reason}; use letters that are seen, without a comma")]
    Name {
        /// The name, with ? for characters that are not seen.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The parameters have no room for the noise of a decryption.
    #[error(
        "{threshold} of {parties} members could never decrypt {what}: the noise for {} bits of security and {} decryptions of each member needs {missing_bits} bits more than the parameters have; plan them for {parties} parties (for CKKS with a larger scale), or agree on fewer decryptions",
        publication.security_bits, publication.decryptions
    )]
    NoRoom {
        /// What could not be decrypted.
        what: String,
        /// How many members decrypt together.
        threshold: u32,
        /// How many members there are.
        parties: u32,
        /// The security and the number of decryptions that were asked for.
        publication: Publication,
        /// Bits that are missing.
        missing_bits: f64,
    },
    /// An identity is not among the members.
    #[error("this identity is not a member of the agreement: use the identity that was given for it")]
    NoMember,
    /// A state of another member.
    #[error("this state is that of {name}, but the identity is that of another member: use the identity of {name}")]
    OtherMember {
        /// The name of the member whose state it is.
        name: String,
    },
    /// A state would replace one that must be kept.
    #[error(
        "the state that is there is not replaced: {reason}; load it and go on from there, or save another party under another name"
    )]
    StateKept {
        /// Why it must be kept.
        reason: String,
    },
    /// A signature does not belong to the message.
    #[error("the message says that it is from {from}, but its signature is not: ask {from} to send it again")]
    Forged {
        /// The name of the member that it says it is from.
        from: String,
    },
    /// A message for someone else.
    #[error("the message is for {to}, not for this party")]
    NotForYou {
        /// Whom it is for.
        to: String,
    },
    /// A message that was encrypted for this party cannot be decrypted.
    #[error(
        "the message from {from} was encrypted for another identity, or changed on its way: ask {from} to send it again"
    )]
    Unreadable {
        /// The name of the member that it is from.
        from: String,
    },
    /// One member sent two different messages for one step.
    #[error(
        "{from} sent two different messages for {step}, or messages of two beginnings: {from} has begun twice, so begin again with a new agreement"
    )]
    Conflict {
        /// The name of the member.
        from: String,
        /// The step.
        step: Step,
    },
    /// Two members made their second shares from different first shares.
    #[error(
        "{from} and {before} made their second shares of the relinearisation key from different first shares, so that a member may have begun twice: begin again with a new agreement"
    )]
    Disagreement {
        /// The name of a member.
        from: String,
        /// The name of a member whose share came before.
        before: String,
    },
    /// One member sent two shares of one decryption or hand-over.
    #[error(
        "a share of {from} is there already: use that one, or begin the decryption or hand-over again (each share has noise of its own)"
    )]
    AnotherShare {
        /// The name of the member.
        from: String,
    },
    /// Messages are missing.
    #[error("{step} is missing from {}", from.join(", "))]
    Missing {
        /// The step.
        step: Step,
        /// The names of the members.
        from: Vec<String>,
    },
    /// The agreed number of decryptions is used up.
    #[error(
        "this party has taken part in all {most} decryptions that were agreed on; more would need a new key pair with more noise in each"
    )]
    Spent {
        /// The number that was agreed on.
        most: u32,
    },
    /// The agreement takes keys that several parties cannot make.
    #[error(
        "{what}: several parties can make keys of the context's own refresh, and of bootstrappings whose choices have names; use Context::bootstrapping, Context::bootstrapping_with or Context::refresh, or plan circuits that need no refresh"
    )]
    Unsupported {
        /// What needs them.
        what: String,
    },
    /// A share of a decryption or hand-over of another ciphertext, with other members, or to another public key.
    #[error(
        "the share of {from} is for another ciphertext, other members or another public key: all have to make shares for the same ciphertext, with the same list of members and the same recipient"
    )]
    OtherReading {
        /// The name of the member.
        from: String,
    },
}

impl From<windlass::Error> for PartiesError {
    fn from(error: windlass::Error) -> Self {
        match error {
            windlass::Error::Wire(error) => Self::Wire(error),
            windlass::Error::OutOfRange(error) | windlass::Error::Rlwe(RlweError::OutOfRange(error)) => {
                Self::OutOfRange(error)
            }
            other => Self::Windlass(other),
        }
    }
}

impl From<RlweError> for PartiesError {
    fn from(error: RlweError) -> Self {
        match error {
            RlweError::OutOfRange(error) => Self::OutOfRange(error),
            other => windlass::Error::from(other).into(),
        }
    }
}

impl From<OtherKeyPair> for PartiesError {
    fn from(error: OtherKeyPair) -> Self {
        Self::Windlass(error.into())
    }
}
