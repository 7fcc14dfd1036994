//! An oblivious pseudorandom function: RFC 9497, OPRF(ristretto255, SHA-512), mode 0x00.
//!
//! A client hides its input x from the server, and the server hides its key k from the client:
//!
//! ```text
//! client   T = HashToGroup(x),  blind r random,  sends  B = r·T
//! server   E = k·B
//! client   N = r^{−1}·E = k·T,  F(x) = SHA-512(len(x) ‖ x ‖ len(N) ‖ N ‖ "Finalize")
//! ```
//!
//! B is a uniform point for every x. Without k, a party can compute F(x) only with the server's
//! help, one x for each point that the server evaluates. The curve arithmetic is that of
//! curve25519-dalek. This module is tested with the vectors of the RFC.

use std::path::Path;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use hmac::{Hmac, Mac};
use rand_core::RngCore;
use sha2::{Digest, Sha256, Sha512};
use windlass::wire::{Access, WireError, hex, write_new};
use windlass_rlwe::context::os_rng;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::error::{Error, Result};

/// Bytes of a point.
pub const POINT_BYTES: usize = 32;
/// Bytes of what the function gives.
pub const OUTPUT_BYTES: usize = 64;

const CONTEXT: &[u8] = b"OPRFV1-\x00-ristretto255-SHA512";
/// Bytes of a block of SHA-512.
const BLOCK: usize = 128;

/// The first line of a file with a key, before its 64 hexadecimal digits.
const FORMAT: &str = "windlass-oprf-key-1 ";
/// Bytes of a file of a key: the first line, the digits and the end of the line.
const FILE_BYTES: usize = FORMAT.len() + 2 * POINT_BYTES + 1;

/// The 64 bytes that `expand_message_xmd` (RFC 9380, §5.3.1) makes of a message: one block.
fn expand(message: &[u8]) -> Zeroizing<[u8; 64]> {
    let tag = [b"HashToGroup-", CONTEXT].concat();
    let tag = [&tag[..], &[tag.len() as u8]].concat();
    let first =
        Sha512::new().chain_update([0; BLOCK]).chain_update(message).chain_update([0, 64, 0]).chain_update(&tag);
    let second = Sha512::new().chain_update(first.finalize()).chain_update([1]).chain_update(&tag);
    Zeroizing::new(second.finalize().into())
}

fn to_group(input: &[u8]) -> Result<RistrettoPoint> {
    if input.len() > usize::from(u16::MAX) {
        return Err(Error::LongKey { bytes: input.len() });
    }
    Ok(RistrettoPoint::from_uniform_bytes(&expand(input)))
}

/// F(x), from x and k·HashToGroup(x).
fn finalise(input: &[u8], point: &RistrettoPoint) -> [u8; OUTPUT_BYTES] {
    let point = point.compress();
    let length = |bytes: &[u8]| (bytes.len() as u16).to_be_bytes();
    let hash = Sha512::new().chain_update(length(input)).chain_update(input);
    let hash = hash.chain_update(length(point.as_bytes())).chain_update(point.as_bytes());
    hash.chain_update(b"Finalize").finalize().into()
}

/// A random scalar that is not zero.
fn random(rng: &mut impl RngCore) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    loop {
        rng.fill_bytes(&mut *wide);
        let scalar = Scalar::from_bytes_mod_order_wide(&wide);
        if scalar != Scalar::ZERO {
            return scalar;
        }
    }
}

/// Points one after another; none of them is the identity.
fn points(bytes: &[u8], what: &'static str) -> Result<Vec<RistrettoPoint>> {
    let refuse = |reason| Err(Error::BadPoints { what, reason });
    if bytes.is_empty() || !bytes.len().is_multiple_of(POINT_BYTES) {
        return refuse("the length is not a multiple of 32 bytes, the length of a point");
    }
    let mut points = Vec::with_capacity(bytes.len() / POINT_BYTES);
    for bytes in bytes.chunks_exact(POINT_BYTES) {
        let point = CompressedRistretto::from_slice(bytes).ok().and_then(|point| point.decompress());
        match point {
            None => return refuse("32 bytes that are not a point of ristretto255"),
            Some(point) if point.is_identity() => return refuse("the identity, which hides nothing"),
            Some(point) => points.push(point),
        }
    }
    Ok(points)
}

/// The key of a server. With it, the function can be computed for any input.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct OprfKey(Scalar);

impl std::fmt::Debug for OprfKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OprfKey").finish_non_exhaustive()
    }
}

impl OprfKey {
    /// A fresh key.
    ///
    /// # Errors
    /// [`Error::Rlwe`] without randomness from the operating system.
    pub fn generate() -> Result<Self> {
        Ok(Self(random(&mut os_rng()?)))
    }

    /// The key in 32 bytes, little-endian; `None` for zero and for bytes that are not canonical.
    pub fn from_bytes(mut bytes: [u8; 32]) -> Option<Self> {
        let scalar = Option::<Scalar>::from(Scalar::from_canonical_bytes(bytes)).map(Zeroizing::new);
        bytes.zeroize();
        scalar.filter(|scalar| **scalar != Scalar::ZERO).map(|scalar| Self(*scalar))
    }

    /// The key in a file that [`Self::save`] wrote. A key has one such file: 64 lowercase digits, and
    /// an end of line behind them.
    ///
    /// # Errors
    /// [`Error::BadFile`].
    pub fn load(path: &Path) -> Result<Self> {
        let refuse = |reason: String| Error::BadFile { path: path.to_owned(), reason };
        let system = |error: std::io::Error| refuse(WireError::from(error).to_string());
        // A byte more than there should be shows a longer file.
        let (mut text, mut length) = (Zeroizing::new([0; FILE_BYTES + 1]), 0);
        let mut file = std::fs::File::open(path).map_err(system)?;
        while length < text.len() {
            match std::io::Read::read(&mut file, &mut text[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(system(error)),
            }
        }
        Self::parse(&text[..length]).ok_or_else(|| {
            refuse("it is not an OPRF key: give the OPRF key file with which the table was made".to_owned())
        })
    }

    /// The key in the text of a file.
    fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(FORMAT.as_bytes())?.strip_suffix(b"\n")?;
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        };
        let mut bytes = Zeroizing::new([0; 32]);
        if digits.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Self::from_bytes(*bytes)
    }

    /// Writes the key to a new file that only its owner may read.
    ///
    /// # Errors
    /// [`Error::Wire`] if the file exists already or cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = Zeroizing::new(format!("{FORMAT}{}\n", *Zeroizing::new(hex(self.0.as_bytes()))));
        Ok(write_new(path, text.as_bytes(), Access::Owner)?)
    }

    /// k·G: tells the key from others and says nothing of it.
    pub fn public(&self) -> [u8; POINT_BYTES] {
        (RISTRETTO_BASEPOINT_POINT * self.0).compress().to_bytes()
    }

    /// F(x), as the server computes it for its own keys.
    ///
    /// # Errors
    /// [`Error::LongKey`].
    pub fn evaluate(&self, input: &[u8]) -> Result<[u8; OUTPUT_BYTES]> {
        Ok(finalise(input, &(to_group(input)? * self.0)))
    }

    /// The points of a client times k. Cost: one multiplication of a point by a scalar for each.
    ///
    /// # Errors
    /// [`Error::BadPoints`].
    pub fn blind_evaluate(&self, blinded: &[u8]) -> Result<Vec<u8>> {
        let points = points(blinded, "the hidden keys")?;
        Ok(points.iter().flat_map(|point| (point * self.0).compress().to_bytes()).collect())
    }

    /// 32 bytes for another purpose, pseudorandom without the key.
    pub(crate) fn derive(&self, purpose: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut code = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("HMAC takes keys of any length");
        code.update(purpose);
        Zeroizing::new(code.finalize().into_bytes().into())
    }
}

/// Keys that a client hides from a server, until its points are back.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Blinding {
    inputs: Vec<Vec<u8>>,
    blinds: Vec<Scalar>,
    points: Vec<u8>,
}

impl std::fmt::Debug for Blinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blinding").field("keys", &self.inputs.len()).finish_non_exhaustive()
    }
}

impl Blinding {
    /// Hides keys.
    ///
    /// # Errors
    /// [`Error::LongKey`]; [`Error::Rlwe`] without randomness from the operating system.
    pub fn new<K: AsRef<[u8]>>(keys: &[K]) -> Result<Self> {
        let mut rng = os_rng()?;
        let blinds = keys.iter().map(|_| random(&mut rng)).collect();
        Self::with(keys.iter().map(|key| key.as_ref().to_vec()).collect(), blinds)
    }

    /// Hides keys under blinds that follow from secret bytes of their numbers: 64 pseudorandom bytes,
    /// as an integer modulo the order of the group.
    ///
    /// # Errors
    /// [`Error::LongKey`].
    pub(crate) fn derived(keys: &[Vec<u8>], bytes: impl Fn(usize) -> Zeroizing<[u8; 64]>) -> Result<Self> {
        let blinds = (0..keys.len()).map(|number| Scalar::from_bytes_mod_order_wide(&bytes(number))).collect();
        Self::with(keys.to_vec(), blinds)
    }

    fn with(inputs: Vec<Vec<u8>>, blinds: Vec<Scalar>) -> Result<Self> {
        // Made first, so that keys and blinds are overwritten also where a key is refused.
        let points = Vec::with_capacity(POINT_BYTES * inputs.len());
        let mut blinding = Self { inputs, blinds, points };
        for (input, blind) in blinding.inputs.iter().zip(&blinding.blinds) {
            blinding.points.extend((to_group(input)? * blind).compress().to_bytes());
        }
        Ok(blinding)
    }

    /// What is sent to the server: 32 bytes for each key.
    pub fn points(&self) -> &[u8] {
        &self.points
    }

    /// F of every key, from what the server sent back.
    ///
    /// # Errors
    /// [`Error::BadPoints`].
    pub fn finish(&self, evaluated: &[u8]) -> Result<Vec<[u8; OUTPUT_BYTES]>> {
        const WHAT: &str = "the answer to the hidden keys";
        let points = points(evaluated, WHAT)?;
        if points.len() != self.inputs.len() {
            return Err(Error::BadPoints { what: WHAT, reason: "the number of points is not that of the request" });
        }
        let output = |((input, blind), point): ((&Vec<u8>, &Scalar), RistrettoPoint)| {
            finalise(input, &(point * *Zeroizing::new(blind.invert())))
        };
        Ok(self.inputs.iter().zip(&self.blinds).zip(points).map(output).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(digits: &str) -> Vec<u8> {
        (0..digits.len() / 2).map(|k| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).unwrap()).collect()
    }

    fn key() -> OprfKey {
        let digits = "5ebcea5ee37023ccb9fc2d2019f9d7737be85591ae8652ffa9ef0f4d37063b0e";
        OprfKey::from_bytes(bytes(digits).try_into().unwrap()).unwrap()
    }

    /// RFC 9497, appendix A.1.1.
    #[test]
    fn the_vectors_of_the_rfc_come_out() {
        let blind = bytes("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706");
        let blind = Scalar::from_canonical_bytes(blind.try_into().unwrap()).unwrap();
        for [input, blinded, evaluated, output] in [
            [
                "00",
                "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c",
                "7ec6578ae5120958eb2db1745758ff379e77cb64fe77b0b2d8cc917ea0869c7e",
                "527759c3d9366f277d8c6020418d96bb393ba2afb20ff90df23fb7708264e2f3\
                 ab9135e3bd69955851de4b1f9fe8a0973396719b7912ba9ee8aa7d0b5e24bcf6",
            ],
            [
                "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
                "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418",
                "b4cbf5a4f1eeda5a63ce7b77c7d23f461db3fcab0dd28e4e17cecb5c90d02c25",
                "f4a74c9c592497375e796aa837e907b1a045d34306a749db9f34221f7e750cb4\
                 f2a6413a6bf6fa5e19ba6348eb673934a722a7ede2e7621306d18951e7cf2c73",
            ],
        ] {
            let blinding = Blinding::with(vec![bytes(input)], vec![blind]).unwrap();
            assert_eq!(blinding.points(), bytes(blinded));
            let found = key().blind_evaluate(blinding.points()).unwrap();
            assert_eq!(found, bytes(evaluated));
            assert_eq!(blinding.finish(&found).unwrap()[0].to_vec(), bytes(output));
            assert_eq!(key().evaluate(&bytes(input)).unwrap().to_vec(), bytes(output));
        }
    }

    #[test]
    fn points_tell_nothing_and_come_back_to_the_same_output() {
        let [one, other] = [0, 1].map(|_| Blinding::new(&["ada", "alan"]).unwrap());
        assert_ne!(one.points(), other.points(), "blinds are fresh");
        let outputs = [&one, &other].map(|blinding| blinding.finish(&key().blind_evaluate(blinding.points()).unwrap()));
        assert_eq!(outputs[0], outputs[1]);
        assert_eq!(outputs[0].as_ref().unwrap()[1], key().evaluate(b"alan").unwrap());
        let second = OprfKey::generate().unwrap();
        assert_ne!(second.evaluate(b"ada").unwrap(), key().evaluate(b"ada").unwrap());
        assert_ne!(second.public(), key().public());
    }

    #[test]
    fn what_is_no_point_is_refused() {
        let good = Blinding::new(&["ada"]).unwrap();
        let identity = [0; POINT_BYTES];
        for bad in
            [&[][..], &good.points()[..31], &identity, &[0xff; POINT_BYTES], &[good.points(), &identity].concat()]
        {
            assert!(matches!(key().blind_evaluate(bad), Err(Error::BadPoints { .. })), "{bad:?}");
            assert!(matches!(good.finish(bad), Err(Error::BadPoints { .. })), "{bad:?}");
        }
        let two = [good.points(), good.points()].concat();
        assert!(matches!(good.finish(&two), Err(Error::BadPoints { .. })), "another number of them");
        assert!(Blinding::new(&[vec![0; 65_535]]).is_ok());
        assert_eq!(Blinding::new(&[vec![0; 65_536]]).unwrap_err(), Error::LongKey { bytes: 65_536 });
    }

    #[test]
    fn keys_are_kept_in_files_of_their_owner() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("oprf.key");
        key().save(&file).unwrap();
        assert_eq!(OprfKey::load(&file).unwrap().public(), key().public());
        assert!(key().save(&file).is_err(), "no file is replaced");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
        }
        let whole = std::fs::read_to_string(&file).unwrap();
        let zero = format!("{FORMAT}{}", "0".repeat(64));
        let large = format!("{FORMAT}{}", "f".repeat(64));
        let (zero, large) = (zero + "\n", large + "\n");
        // One encoding alone: signs, capitals, and other ends of the line are read by some parsers.
        let start = FORMAT.len();
        let signed = format!("{}+{}", &whole[..start], &whole[start + 1..]);
        let replaced = [('b', "B"), ('5', "g"), ('\n', ""), ('\n', "\n\n"), ('\n', "\r\n"), ('\n', " \n")]
            .map(|(from, to)| whole.replace(from, to));
        let others = ["", &whole[1..], &whole[..whole.len() - 2], &zero, &large, &signed, "\u{e9}"];
        for bad in replaced.iter().map(String::as_str).chain(others) {
            assert_ne!(bad, whole);
            std::fs::write(&file, bad).unwrap();
            assert!(matches!(OprfKey::load(&file), Err(Error::BadFile { .. })), "{bad:?}");
        }
        assert!(!format!("{:?} {:?}", key(), Blinding::new(&["ada"]).unwrap()).contains("ada"));
    }
}
