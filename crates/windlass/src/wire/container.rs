//! The frame around every payload.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 8 | magic `WINDLASS` |
//! | 8 | 2 | format version, little-endian |
//! | 10 | 2 | [`Kind`], little-endian |
//! | 12 | 32 | hash of the parameters |
//! | 44 | 8 | payload length L, little-endian |
//! | 52 | L | payload |
//! | 52 + L | 32 | SHA-256 of everything before |

use std::fmt;

use sha2::{Digest, Sha256};

use super::WireError;

/// The hash that names a parameter set.
pub type ContextHash = [u8; 32];

/// The format version that this build writes.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 8] = *b"WINDLASS";
const HEADER: usize = 52;
const TRAILER: usize = 32;

/// Bytes that a container adds to its payload.
pub const OVERHEAD: usize = HEADER + TRAILER;

/// What a file holds. Codes are append-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A secret key.
    SecretKey,
    /// A public encryption key.
    PublicKey,
    /// Relinearisation and Galois keys.
    EvaluationKeys,
    /// One ciphertext.
    Ciphertext,
    /// The encrypted question of a lookup.
    Query,
    /// The encrypted answer of a lookup.
    Answer,
}

impl Kind {
    const ALL: [(Self, u16, &'static str); 6] = [
        (Self::SecretKey, 1, "a secret key"),
        (Self::PublicKey, 2, "a public key"),
        (Self::EvaluationKeys, 3, "evaluation keys"),
        (Self::Ciphertext, 4, "a ciphertext"),
        (Self::Query, 5, "a query"),
        (Self::Answer, 6, "an answer"),
    ];

    fn code(self) -> u16 {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or(0, |(_, code, _)| *code)
    }

    fn from_code(code: u16) -> Option<Self> {
        Self::ALL.iter().find(|(_, c, _)| *c == code).map(|(kind, ..)| *kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(kind, ..)| kind == self).map_or("", |(.., name)| name))
    }
}

/// Frames a payload.
pub fn seal(kind: Kind, context: &ContextHash, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + OVERHEAD);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&kind.code().to_le_bytes());
    out.extend_from_slice(context);
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    out.extend_from_slice(payload);
    let checksum = Sha256::digest(&out);
    out.extend_from_slice(&checksum);
    out
}

/// The payload of a container, if it is whole, of this kind and context, and at most `limit` bytes long.
///
/// # Errors
/// Every variant of [`WireError`] but `Malformed` and `Io`.
pub fn open<'a>(bytes: &'a [u8], kind: Kind, context: &ContextHash, limit: u64) -> Result<&'a [u8], WireError> {
    let header = bytes.first_chunk::<HEADER>();
    let Some(header) = header else {
        let starts_well = bytes.iter().zip(&MAGIC).all(|(a, b)| a == b);
        let truncated = WireError::Truncated { expected: OVERHEAD as u64, got: bytes.len() as u64 };
        return Err(if starts_well { truncated } else { WireError::NotWindlass });
    };
    let total = check_header(header, kind, context, limit)?;
    check_length(total, bytes.len() as u64)?;
    let (body, checksum) = bytes.split_at(bytes.len() - TRAILER);
    if Sha256::digest(body).as_slice() != checksum {
        return Err(WireError::Corrupt);
    }
    Ok(&body[HEADER..])
}

/// The first bytes of a container: enough for [`check_header`].
pub(super) const HEADER_BYTES: usize = HEADER;

/// Checks a header and gives the length that the whole container must have.
pub(super) fn check_header(
    header: &[u8; HEADER],
    kind: Kind,
    context: &ContextHash,
    limit: u64,
) -> Result<u64, WireError> {
    let (magic, rest) = header.split_at(8);
    if magic != MAGIC {
        return Err(WireError::NotWindlass);
    }
    let (version, rest) = rest.split_at(2);
    let found = u16::from_le_bytes([version[0], version[1]]);
    if found != VERSION {
        return Err(WireError::UnsupportedVersion { found, supported: VERSION });
    }
    let (code, rest) = rest.split_at(2);
    let code = u16::from_le_bytes([code[0], code[1]]);
    let found = Kind::from_code(code);
    if found != Some(kind) {
        return Err(WireError::WrongKind { expected: kind, found, code });
    }
    let (found, length) = rest.split_at(32);
    if found != context {
        return Err(WireError::OtherContext { found: hex(&found[..6]), expected: hex(&context[..6]) });
    }
    let length = length.iter().rev().fold(0u64, |length, &byte| length << 8 | u64::from(byte));
    if length > limit {
        return Err(WireError::TooLarge { length, limit });
    }
    Ok(length.saturating_add(OVERHEAD as u64))
}

/// Refuses a container of `got` bytes that should have `expected`.
pub(super) fn check_length(expected: u64, got: u64) -> Result<(), WireError> {
    match got {
        _ if got < expected => Err(WireError::Truncated { expected, got }),
        _ if got > expected => Err(WireError::TrailingBytes { extra: got - expected }),
        _ => Ok(()),
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: ContextHash = [7; 32];

    fn sample() -> Vec<u8> {
        seal(Kind::Ciphertext, &CONTEXT, b"twelve bytes")
    }

    #[test]
    fn a_sealed_payload_opens() {
        assert_eq!(open(&sample(), Kind::Ciphertext, &CONTEXT, 12), Ok(&b"twelve bytes"[..]));
        assert_eq!(open(&seal(Kind::Query, &CONTEXT, b""), Kind::Query, &CONTEXT, 0), Ok(&b""[..]));
    }

    #[test]
    fn the_bytes_of_version_1_stay_as_they_are() {
        let golden = include_bytes!("../../tests/golden/container-v1.bin");
        assert_eq!(sample(), golden);
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = sample();
        for end in 0..bytes.len() {
            let got = open(&bytes[..end], Kind::Ciphertext, &CONTEXT, 12);
            assert!(matches!(got, Err(WireError::Truncated { .. })), "{end}: {got:?}");
        }
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let bytes = sample();
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&bytes, Kind::Ciphertext, &CONTEXT, 12).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn refusals_name_their_reason() {
        let bytes = sample();
        let error = |bytes: &[u8], kind, context, limit| open(bytes, kind, context, limit).expect_err("refused");
        assert_eq!(
            error(&bytes, Kind::Query, &CONTEXT, 12),
            WireError::WrongKind { expected: Kind::Query, found: Some(Kind::Ciphertext), code: 4 }
        );
        assert!(matches!(error(&bytes, Kind::Ciphertext, &[8; 32], 12), WireError::OtherContext { .. }));
        let too_large = WireError::TooLarge { length: 12, limit: 11 };
        assert_eq!(error(&bytes, Kind::Ciphertext, &CONTEXT, 11), too_large);
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(error(&longer, Kind::Ciphertext, &CONTEXT, 12), WireError::TrailingBytes { extra: 1 });
        assert_eq!(error(b"zone,country\n", Kind::Query, &CONTEXT, 12), WireError::NotWindlass);
        let mut newer = bytes.clone();
        newer[8] = 2;
        assert_eq!(
            error(&newer, Kind::Ciphertext, &CONTEXT, 12),
            WireError::UnsupportedVersion { found: 2, supported: 1 }
        );
        let mut unknown = bytes.clone();
        unknown[10] = 99;
        let unknown = error(&unknown, Kind::Ciphertext, &CONTEXT, 12);
        assert_eq!(unknown.to_string(), "expected a ciphertext, found unknown kind 99");
        let mut body = bytes;
        body[60] ^= 1;
        assert_eq!(error(&body, Kind::Ciphertext, &CONTEXT, 12), WireError::Corrupt);
    }

    #[test]
    fn kinds_keep_their_codes() {
        for (kind, code, _) in Kind::ALL {
            assert_eq!((kind.code(), Kind::from_code(code)), (code, Some(kind)));
        }
        assert_eq!(Kind::from_code(0), None);
    }
}
