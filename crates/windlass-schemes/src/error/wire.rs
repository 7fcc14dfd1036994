//! Errors of bytes that should be a Windlass file.

use std::io;

use windlass_rlwe::KeyId;

use super::kind::Kind;
use crate::hex::prefixes;

/// The most memory for a passphrase (`PassphraseCost` of windlass-wire).
const MOST_MEMORY: &str = if cfg!(all(target_arch = "wasm32", target_os = "unknown")) {
    "256 MiB of memory, 1 GiB over all passes in a browser"
} else {
    "1 GiB of memory, 4 GiB over all passes"
};

/// Why bytes or a file were refused. Nothing of a refused file is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The magic number is missing.
    #[error("this is not a Windlass file; give a file that Windlass wrote")]
    NotWindlass,
    /// A format version that this build does not read.
    #[error(
        "format version {found} is not supported (this build reads {} {supported}); {}",
        if found < supported { "only version" } else { "versions up to" },
        if found < supported { "make the file again" } else { "use a newer Windlass" }
    )]
    UnsupportedVersion {
        /// The version in the header.
        found: u16,
        /// The version that this build reads.
        supported: u16,
    },
    /// A file of another kind, or of a kind that does not exist.
    #[error("expected {expected}, but found {}", found.map_or_else(|| format!("unknown kind {code}"), |kind| kind.to_string()))]
    WrongKind {
        /// The requested kind.
        expected: Kind,
        /// The kind in the header; `None` if its code is unknown.
        found: Option<Kind>,
        /// The code in the header.
        code: u16,
    },
    /// The file was made under other parameters.
    #[error(
        "it belongs to another context, or is damaged: its parameters are {found}..., not {expected}...; make keys, query and answer with the same parameters, or copy it again"
    )]
    OtherContext {
        /// First bytes of the hash in the file, in hexadecimal, as many as it takes to tell it from the other.
        found: String,
        /// First bytes of the hash of the parameters in use, in hexadecimal.
        expected: String,
    },
    /// The file belongs to another key pair than the keys or ciphertexts that it is used with.
    #[error(
        "it belongs to another key pair, or is damaged: {}; use files of one key generation, or copy it again",
        key_pairs(found, expected)
    )]
    OtherKeyPair {
        /// The key pair of the file.
        found: KeyId,
        /// The key pair of the other files.
        expected: KeyId,
    },
    /// Constants that were prepared for another linear plan, or for another factoring of the same
    /// map.
    #[error(
        "it holds the constants of another plan: {found}..., not {expected}...; make the plan from the same map and the same specification as the plan that was saved"
    )]
    OtherPlan {
        /// First bytes of the fingerprint in the file, in hexadecimal.
        found: String,
        /// First bytes of the fingerprint of the plan in use, in hexadecimal.
        expected: String,
    },
    /// The secret key is encrypted, but no passphrase was given or none was expected.
    #[error("this secret key is encrypted: give its passphrase, or remove the encryption first")]
    Sealed,
    /// A passphrase was given for a secret key that is not encrypted.
    #[error("this secret key is not encrypted: read it without a passphrase")]
    NotSealed,
    /// The passphrase does not open the file. Accidental damage is reported as [`Self::Corrupt`]
    /// first.
    #[error("the passphrase is wrong, or someone changed the file: decryption cannot distinguish the two")]
    WrongPassphrase,
    /// The passphrase is empty.
    #[error("the passphrase is empty and would protect nothing: choose a longer one")]
    EmptyPassphrase,
    /// Argon2id parameters that are invalid, or above the limits for untrusted files.
    #[error(
        "the passphrase would cost {memory_kib} KiB of memory, {passes} passes and {lanes} lanes: choose at most {MOST_MEMORY} and 16 lanes, and at least one pass, one lane and 8 KiB a lane"
    )]
    PassphraseCost {
        /// Memory in KiB.
        memory_kib: u32,
        /// Passes over it.
        passes: u32,
        /// Lanes.
        lanes: u32,
    },
    /// A set without keys belongs to no key pair, so no file can name one.
    #[error("the set holds no keys to save: add a key first, since its first key says which key pair it belongs to")]
    NoKeyPair,
    /// The bytes end too early.
    #[error("the file is truncated: it has {got} of {expected} bytes; copy it again")]
    Truncated {
        /// The number of bytes that the header promises, or the minimum length of a file.
        expected: u64,
        /// How many there are.
        got: u64,
    },
    /// Bytes follow the end.
    #[error("{extra} bytes follow the end of the file's contents; copy it again")]
    TrailingBytes {
        /// How many.
        extra: u64,
    },
    /// The payload is longer than the parameters allow. It is refused before memory is allocated.
    #[error(
        "the payload has {length} bytes, but the parameters allow at most {limit}; give a file of these parameters"
    )]
    TooLarge {
        /// The length in the header.
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// The checksum does not fit the contents.
    #[error("the file is corrupt: the checksum does not match the contents; copy it again")]
    Corrupt,
    /// A field of the payload is impossible under the parameters.
    #[error("malformed {what}")]
    Malformed {
        /// Which field.
        what: &'static str,
    },
    /// A text file, which users may write by hand, is malformed.
    #[error("malformed {what}: {reason}")]
    Text {
        /// Which kind of file.
        what: &'static str,
        /// What is wrong, with the line where one is known.
        reason: String,
    },
    /// The operating system refused.
    #[error("{message}")]
    Io {
        /// The kind of refusal.
        kind: io::ErrorKind,
        /// The system's words.
        message: String,
    },
}

impl WireError {
    /// [`Self::Text`] with a reason that is truncated if it repeats much of the file.
    #[doc(hidden)]
    pub fn text(what: &'static str, reason: impl ToString) -> Self {
        const MOST: usize = 300;
        let mut reason = reason.to_string();
        if let Some((end, _)) = reason.char_indices().nth(MOST) {
            reason.truncate(end);
            reason.push_str("...");
        }
        Self::Text { what, reason }
    }
}

/// The first bytes of the names of two key pairs.
fn key_pairs(found: &KeyId, expected: &KeyId) -> String {
    let [found, expected] = prefixes(&found.0, &expected.0, 6);
    format!("{found}..., not {expected}...")
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        let message = match error.kind() {
            // A new directory gets its name when it is full: who was slower finds one in its place.
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => {
                "already exists; remove it or choose another name".to_owned()
            }
            io::ErrorKind::NotFound => "no such file or directory".to_owned(),
            io::ErrorKind::WouldBlock => "another process is writing it; try again later".to_owned(),
            io::ErrorKind::StorageFull => "the disk is full; free some space, or choose another directory".to_owned(),
            io::ErrorKind::QuotaExceeded => {
                "your disk quota is used up; free some space, or choose another directory".to_owned()
            }
            io::ErrorKind::FileTooLarge => {
                "the file would be longer than the limit; raise the limit (ulimit -f), or choose another directory"
                    .to_owned()
            }
            io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another directory".to_owned(),
            io::ErrorKind::PermissionDenied => "permission denied; choose another path, or ask its owner".to_owned(),
            io::ErrorKind::OutOfMemory => {
                "the system does not provide the memory for it; close other programs".to_owned()
            }
            io::ErrorKind::IsADirectory => "it is a directory, not a file; name a file in it".to_owned(),
            io::ErrorKind::NotADirectory => {
                "a part of this path is a file, not a directory; choose another path".to_owned()
            }
            io::ErrorKind::InvalidFilename => {
                "the name is too long, or not valid on this system; choose another".to_owned()
            }
            _ => error.to_string(),
        };
        Self::Io { kind: error.kind(), message }
    }
}

#[cfg(test)]
mod tests {
    use io::ErrorKind;

    use super::*;

    #[test]
    fn refusals_of_the_system_say_what_to_do() {
        for (kind, words) in [
            (ErrorKind::AlreadyExists, "choose another name"),
            (ErrorKind::DirectoryNotEmpty, "choose another name"),
            (ErrorKind::NotFound, "no such file"),
            (ErrorKind::WouldBlock, "try again"),
            (ErrorKind::StorageFull, "free some space"),
            (ErrorKind::QuotaExceeded, "free some space"),
            (ErrorKind::FileTooLarge, "ulimit -f"),
            (ErrorKind::ReadOnlyFilesystem, "choose another directory"),
            (ErrorKind::PermissionDenied, "ask its owner"),
            (ErrorKind::OutOfMemory, "close other programs"),
            (ErrorKind::IsADirectory, "name a file in it"),
            (ErrorKind::NotADirectory, "choose another"),
            (ErrorKind::InvalidFilename, "choose another"),
        ] {
            let WireError::Io { kind: kept, message } = io::Error::from(kind).into() else { panic!("{kind}") };
            assert_eq!(kept, kind);
            assert!(message.contains(words), "{kind}: {message}");
        }
        let other = WireError::from(io::Error::other("words of its own"));
        assert_eq!(other.to_string(), "words of its own");
    }
}
