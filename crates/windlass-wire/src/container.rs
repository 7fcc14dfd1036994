//! The frame around every payload.
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 8 | magic `WINDLASS` |
//! | 8 | 2 | format version, little-endian |
//! | 10 | 2 | [`Kind`], little-endian |
//! | 12 | 32 | hash of the parameters |
//! | 44 | 16 | [`KeyId`]: the key pair that the contents belong to |
//! | 60 | 8 | payload length L, little-endian |
//! | 68 | L | payload |
//! | 68 + L | 32 | checksum of everything before |
//!
//! The checksum is SHA-256; of files that are mapped ([`Kind::is_mapped`]) it is SHA-256 of the
//! SHA-256 of each MiB, which all threads compute together.

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use windlass_schemes::file_sizes::OVERHEAD;
use windlass_schemes::hex::prefixes;

use super::{FieldWriter, KeyId, Kind, WireError};

/// The hash that names a parameter set.
pub type ContextHash = [u8; 32];

/// The format version that this build writes and reads. Version 1 had no key pair in its header and
/// was never released.
pub const VERSION: u16 = 2;

pub(super) const MAGIC: [u8; 8] = *b"WINDLASS";
const HEADER: usize = OVERHEAD - TRAILER;
const TRAILER: usize = 32;
/// Bytes that a file which is mapped is summed up by.
pub(super) const CHUNK: usize = 1 << 20;
/// Where the hash of the parameters stands.
const CONTEXT: std::ops::Range<usize> = 12..44;
/// Where the payload length stands.
const LENGTH: std::ops::Range<usize> = 60..68;
/// Where the kind stands.
const KIND: std::ops::Range<usize> = 10..12;

/// The description of a payload in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// What the payload is.
    pub kind: Kind,
    /// The hash of its parameters.
    pub context: ContextHash,
    /// The key pair that it belongs to.
    pub key: KeyId,
}

/// What a container has to be to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// What the payload has to be.
    pub kind: Kind,
    /// The hash of its parameters.
    pub context: ContextHash,
    /// The key pair that it has to belong to; `None` takes any.
    pub key: Option<KeyId>,
    /// The longest payload.
    pub limit: u64,
}

/// Frames a payload.
pub fn seal(label: &Label, payload: &[u8]) -> Vec<u8> {
    let mut out = begin(label, payload.len());
    out.bytes(payload);
    finish(out)
}

/// A header, after which a payload of about `capacity` bytes is written; [`finish`] completes it.
pub(super) fn begin(label: &Label, capacity: usize) -> FieldWriter {
    let mut out = FieldWriter::with_capacity(capacity + OVERHEAD);
    out.bytes(&MAGIC);
    out.u16(VERSION);
    out.u16(label.kind.code());
    out.bytes(&label.context);
    out.bytes(&label.key.0);
    out.u64(0);
    out
}

/// Sets the length and appends the checksum.
pub(super) fn finish(out: FieldWriter) -> Vec<u8> {
    let mut bytes = out.finish();
    let length = (bytes.len() - HEADER) as u64;
    set_length(&mut bytes, length);
    let trailer = checksum(&bytes);
    bytes.extend_from_slice(&trailer);
    bytes
}

/// Writes the length of the payload into a header.
pub(super) fn set_length(header: &mut [u8], length: u64) {
    header[LENGTH].copy_from_slice(&length.to_le_bytes());
}

/// The checksum of a header and its payload.
fn checksum(bytes: &[u8]) -> [u8; TRAILER] {
    if !said_kind(bytes).is_some_and(Kind::is_mapped) {
        return Sha256::digest(bytes).into();
    }
    let digests: Vec<[u8; 32]> = bytes.par_chunks(CHUNK).map(|chunk| Sha256::digest(chunk).into()).collect();
    Sha256::digest(digests.as_flattened()).into()
}

/// What the header says that the payload is, if it is a known kind.
fn said_kind(bytes: &[u8]) -> Option<Kind> {
    let code = bytes.get(KIND)?.try_into().ok()?;
    Kind::from_code(u16::from_le_bytes(code))
}

/// The kind that the first bytes of a container say, if they are those of one.
pub fn kind_of(bytes: &[u8]) -> Option<Kind> {
    said_kind(bytes).filter(|_| bytes.starts_with(&MAGIC))
}

/// The description of a payload in a complete container, and the payload. It must be of this kind;
/// any context and key pair are accepted.
pub(super) fn open_any(bytes: &[u8], kind: Kind, limit: u64) -> Result<(Label, &[u8]), WireError> {
    // What is too short for a context is refused for that.
    let context = bytes.get(CONTEXT).and_then(|hash| hash.try_into().ok()).unwrap_or_default();
    let (key, payload) = open(bytes, &Expected { kind, context, key: None, limit })?;
    Ok((Label { kind, context, key }, payload))
}

/// The payload of a container and its key pair, if it is whole and what was expected.
///
/// # Errors
/// Every variant of [`WireError`] but `Malformed` and `Io`.
pub fn open<'a>(bytes: &'a [u8], expected: &Expected) -> Result<(KeyId, &'a [u8]), WireError> {
    let header = bytes.first_chunk::<HEADER>();
    let Some(header) = header else {
        let starts_well = bytes.iter().zip(&MAGIC).all(|(a, b)| a == b);
        let truncated = WireError::Truncated { expected: OVERHEAD as u64, got: bytes.len() as u64 };
        return Err(if starts_well { truncated } else { WireError::NotWindlass });
    };
    let (key, total) = check_header(header, expected)?;
    check_length(total, bytes.len() as u64)?;
    let (body, trailer) = bytes.split_at(bytes.len() - TRAILER);
    if checksum(body) != trailer {
        return Err(WireError::Corrupt);
    }
    Ok((key, &body[HEADER..]))
}

/// The first bytes of a container: enough for [`check_header`].
pub(super) const HEADER_BYTES: usize = HEADER;

/// The last bytes of a container.
pub(super) const TRAILER_BYTES: usize = TRAILER;

/// Checks a header; gives the key pair, and the length that the whole container must have.
pub(super) fn check_header(header: &[u8; HEADER], expected: &Expected) -> Result<(KeyId, u64), WireError> {
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
    let may_be_sealed = matches!(expected.kind, Kind::SecretKey | Kind::PartyState);
    let is_sealed = may_be_sealed && found == Some(Kind::SealedSecretKey);
    if found != Some(expected.kind) && !is_sealed {
        return Err(WireError::WrongKind { expected: expected.kind, found, code });
    }
    let (found, rest) = rest.split_at(32);
    if found != expected.context {
        let [found, expected] = prefixes(found, &expected.context, 6);
        return Err(WireError::OtherContext { found, expected });
    }
    // A caller is told that a passphrase is needed where it would be of use.
    if is_sealed {
        return Err(WireError::Sealed);
    }
    let (found, length) = rest.split_at(KeyId::BYTES);
    let mut key = KeyId([0; KeyId::BYTES]);
    key.0.copy_from_slice(found);
    if let Some(expected) = expected.key.filter(|expected| *expected != key) {
        return Err(WireError::OtherKeyPair { found: key, expected });
    }
    let length = length.iter().rev().fold(0u64, |length, &byte| length << 8 | u64::from(byte));
    if length > expected.limit {
        return Err(WireError::TooLarge { length, limit: expected.limit });
    }
    Ok((key, length.saturating_add(OVERHEAD as u64)))
}

/// Refuses a container of `got` bytes that should have `expected`.
pub(super) fn check_length(expected: u64, got: u64) -> Result<(), WireError> {
    match got {
        _ if got < expected => Err(WireError::Truncated { expected, got }),
        _ if got > expected => Err(WireError::TrailingBytes { extra: got - expected }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: ContextHash = [7; 32];
    const KEY: KeyId = KeyId([3; 16]);

    fn sample() -> Vec<u8> {
        seal(&Label { kind: Kind::Ciphertext, context: CONTEXT, key: KEY }, b"twelve bytes")
    }

    fn expected() -> Expected {
        Expected { kind: Kind::Ciphertext, context: CONTEXT, key: Some(KEY), limit: 12 }
    }

    #[test]
    fn a_sealed_payload_opens() {
        assert_eq!(open(&sample(), &expected()), Ok((KEY, &b"twelve bytes"[..])));
        assert_eq!(open(&sample(), &Expected { key: None, ..expected() }), Ok((KEY, &b"twelve bytes"[..])));
        let empty = seal(&Label { kind: Kind::Query, context: CONTEXT, key: KEY }, b"");
        assert_eq!(open(&empty, &Expected { kind: Kind::Query, limit: 0, ..expected() }), Ok((KEY, &b""[..])));
    }

    #[test]
    fn the_bytes_of_version_2_stay_as_they_are() {
        let golden = include_bytes!("../../windlass/tests/golden/container-v2.bin");
        assert_eq!(sample(), golden);
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = sample();
        for end in 0..bytes.len() {
            let got = open(&bytes[..end], &expected());
            // What has no header is told the least that a container has.
            let whole = if end < HEADER { OVERHEAD } else { bytes.len() } as u64;
            assert_eq!(got, Err(WireError::Truncated { expected: whole, got: end as u64 }));
        }
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let bytes = sample();
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&bytes, &Expected { key: None, ..expected() }).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn refusals_name_their_reason() {
        let bytes = sample();
        let error = |bytes: &[u8], expected: &Expected| open(bytes, expected).expect_err("refused");
        assert_eq!(
            error(&bytes, &Expected { kind: Kind::Query, ..expected() }),
            WireError::WrongKind { expected: Kind::Query, found: Some(Kind::Ciphertext), code: 4 }
        );
        let other = Expected { context: [8; 32], ..expected() };
        assert!(matches!(error(&bytes, &other), WireError::OtherContext { .. }));
        // A flipped bit may be the only difference.
        for place in [12, 20, 43] {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let WireError::OtherContext { found, expected: own } = error(&damaged, &expected()) else {
                panic!("{place}")
            };
            assert_ne!(found, own);
            let told = error(&damaged, &expected()).to_string();
            assert!(told.contains("damaged") && told.contains(&found) && told.contains(&own), "{told}");
        }
        let mut damaged = bytes.clone();
        damaged[44 + 15] ^= 1;
        let told = error(&damaged, &expected()).to_string();
        assert!(told.contains("damaged") && told.contains("0302...") && told.contains("0303..."), "{told}");
        let other = Expected { key: Some(KeyId([4; 16])), ..expected() };
        assert_eq!(error(&bytes, &other), WireError::OtherKeyPair { found: KEY, expected: KeyId([4; 16]) });
        let too_large = WireError::TooLarge { length: 12, limit: 11 };
        assert_eq!(error(&bytes, &Expected { limit: 11, ..expected() }), too_large);
        let mut longer = bytes.clone();
        longer.extend([0; 5]);
        assert_eq!(error(&longer, &expected()), WireError::TrailingBytes { extra: 5 });
        let mut foreign = bytes.clone();
        foreign[7] ^= 1;
        assert_eq!(error(&foreign, &expected()), WireError::NotWindlass);
        assert_eq!(error(b"zone,country\n", &expected()), WireError::NotWindlass);
        for (found, wanted) in [(1, "make the file again"), (3, "use a newer Windlass")] {
            let mut other = bytes.clone();
            other[8] = found;
            let error = error(&other, &expected());
            assert_eq!(error, WireError::UnsupportedVersion { found: found.into(), supported: 2 });
            assert!(error.to_string().contains(wanted), "{error}");
        }
        let mut unknown = bytes.clone();
        unknown[10] = 99;
        let unknown = error(&unknown, &expected());
        assert_eq!(unknown.to_string(), "expected a ciphertext, but found unknown kind 99");
        let mut body = bytes;
        body[70] ^= 1;
        assert_eq!(error(&body, &expected()), WireError::Corrupt);
    }

    #[test]
    fn kinds_keep_their_codes() {
        for (kind, code, _) in Kind::ALL {
            assert_eq!((kind.code(), Kind::from_code(code)), (code, Some(kind)));
        }
        assert_eq!(Kind::from_code(0), None);
    }
}
