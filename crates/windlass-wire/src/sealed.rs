//! Secret keys, and states of parties, that are encrypted on disk under a passphrase.
//!
//! A sealed file is a container of a separate kind ([`Kind::SealedSecretKey`]) around the whole
//! file of a secret key or of the state of a party. Its header names the parameters and the key pair of what is inside. Its
//! payload says how a key is derived from the passphrase:
//!
//! | Offset | Bytes | Field |
//! |---|---|---|
//! | 0 | 2 | form of the payload: 1 |
//! | 2 | 4 | memory of Argon2id in KiB |
//! | 6 | 4 | passes over it |
//! | 10 | 4 | lanes |
//! | 14 | 16 | salt |
//! | 30 | 12 | nonce |
//! | 42 | L | the file of the secret, encrypted |
//! | 42 + L | 16 | tag |
//!
//! Integers are little-endian. The key is Argon2id (RFC 9106, version 0x13) of the passphrase and
//! the salt, 32 bytes, without a secret and without associated data; it encrypts once, with
//! ChaCha20-Poly1305 (RFC 8439), and its associated data are all bytes of the container before the
//! ciphertext, the header included. Salt and nonce come from the operating system.
//!
//! The checksum of the container detects accidental damage before a passphrase is tried. After that
//! only the tag can fail. It cannot distinguish a wrong passphrase from a file that was changed on
//! purpose.

use std::fmt;
use std::path::Path;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
use rand_core::{OsRng, TryRngCore};
use windlass_rlwe::RlweError;
use windlass_rlwe::keys::SecretKey;
use windlass_schemes::error::Result;
use zeroize::Zeroizing;

use super::container::{
    ContextHash, Expected, HEADER_BYTES, Label, begin, finish, kind_of, open, open_any, set_length,
};
use super::file::{LONGEST_SECRET, LONGEST_STATE, access_of, read_secret, write_new};
use super::values::{FileContext, from_bytes, to_bytes};
use super::{FieldReader, Kind, WireError};

/// Whether this build is for browsers.
const IN_BROWSER: bool = cfg!(all(target_arch = "wasm32", target_os = "unknown"));
/// The form of payload that this build writes and reads.
const FORM: u16 = 1;
/// Bytes of the salt.
const SALT: usize = 16;
/// Bytes of the nonce.
const NONCE: usize = 12;
/// Bytes of the tag.
const TAG: usize = 16;
/// Bytes of the payload before the ciphertext.
const FIELDS: usize = 2 + 3 * 4 + SALT + NONCE;

/// A passphrase. It is wiped when it goes, and nothing shows it.
///
/// Its bytes are taken as they are: the same letters typed on another system may be other bytes,
/// where they are beyond ASCII.
#[derive(Clone, PartialEq, Eq)]
pub struct Passphrase(Zeroizing<Vec<u8>>);

impl Passphrase {
    /// A passphrase of these bytes, which are copied.
    ///
    /// # Errors
    /// [`WireError::EmptyPassphrase`].
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, WireError> {
        match bytes.as_ref() {
            [] => Err(WireError::EmptyPassphrase),
            bytes => Ok(Self(Zeroizing::new(bytes.to_vec()))),
        }
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

/// The cost of trying a passphrase, for its owner and for an attacker who guesses: the parameters
/// of Argon2id.
///
/// The default is the second recommended option of RFC 9106 (section 4): 64 MiB, three passes, four
/// lanes, a fifth of a second. A file states its own; one that asks for more than
/// [`Self::MOST_MEMORY_KIB`] or [`Self::MOST_WORK_KIB`] is refused before anything is taken. In a
/// browser the limits are a quarter, as its memory never shrinks and its one thread is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassphraseCost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl Default for PassphraseCost {
    fn default() -> Self {
        Self { memory_kib: 1 << 16, passes: 3, lanes: 4 }
    }
}

impl PassphraseCost {
    /// Most memory, in KiB: 1 GiB, and 256 MiB in a browser.
    pub const MOST_MEMORY_KIB: u32 = if IN_BROWSER { 1 << 18 } else { 1 << 20 };
    /// Most memory times passes, in KiB: some seconds of work, and a quarter of it in a browser.
    pub const MOST_WORK_KIB: u64 = if IN_BROWSER { 1 << 20 } else { 1 << 22 };
    /// Most lanes.
    pub const MOST_LANES: u32 = 16;

    /// Memory in KiB, passes over it, and lanes.
    ///
    /// # Errors
    /// [`WireError::PassphraseCost`] beyond the limits, for no pass or lane, and for less than 8
    /// KiB a lane.
    pub fn new(memory_kib: u32, passes: u32, lanes: u32) -> Result<Self, WireError> {
        let memory = (8 * u64::from(lanes)..=Self::MOST_MEMORY_KIB.into()).contains(&memory_kib.into());
        let work = (1..=Self::MOST_WORK_KIB).contains(&(u64::from(memory_kib) * u64::from(passes)));
        if memory && work && (1..=Self::MOST_LANES).contains(&lanes) {
            Ok(Self { memory_kib, passes, lanes })
        } else {
            Err(WireError::PassphraseCost { memory_kib, passes, lanes })
        }
    }

    /// The key that a passphrase stands for; the memory for it is wiped.
    fn stretch(self, passphrase: &Passphrase, salt: &[u8; SALT]) -> Result<Zeroizing<[u8; 32]>, WireError> {
        let refused =
            || WireError::PassphraseCost { memory_kib: self.memory_kib, passes: self.passes, lanes: self.lanes };
        let mut key = Zeroizing::new([0; 32]);
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(key.len())).map_err(|_| refused())?;
        let mut blocks = Zeroizing::new(Vec::new());
        let count = params.block_count();
        let reserved = blocks.try_reserve_exact(count);
        reserved.map_err(|_| WireError::Io {
            kind: std::io::ErrorKind::OutOfMemory,
            message: format!(
                "its passphrase needs {} MiB of memory, but the system does not provide them; close other programs, or raise the limit (ulimit -v)",
                self.memory_kib.div_ceil(1024)
            ),
        })?;
        blocks.resize(count, Block::default());
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let derived = argon2.hash_password_into_with_memory(&passphrase.0, salt, &mut *key, &mut blocks[..]);
        derived.map_err(|_| refused())?;
        Ok(key)
    }
}

/// Whether these are the bytes, or the first bytes, of the file of an encrypted secret key.
pub fn is_sealed(bytes: &[u8]) -> bool {
    kind_of(bytes) == Some(Kind::SealedSecretKey)
}

/// What is in the file of a secret that can be encrypted: a secret key, or the state of a party.
fn secret_label(file: &[u8]) -> Result<Label, WireError> {
    let (label, _) = match kind_of(file) {
        Some(Kind::PartyState) => open_any(file, Kind::PartyState, LONGEST_STATE)?,
        _ => open_any(file, Kind::SecretKey, LONGEST_SECRET)?,
    };
    Ok(label)
}

/// The bytes of the file of a secret key or of the state of a party, encrypted with a passphrase.
///
/// Cost: that of the passphrase.
///
/// # Errors
/// Every [`WireError`] for bytes that are no such file, [`WireError::Sealed`] for one
/// that is encrypted already; [`windlass_schemes::Error::Rlwe`] without entropy.
pub fn seal_secret(file: &[u8], passphrase: &Passphrase, cost: PassphraseCost) -> Result<Vec<u8>> {
    let inner = secret_label(file)?;
    let mut random = [0; SALT + NONCE];
    OsRng.try_fill_bytes(&mut random).map_err(|_| RlweError::NoEntropy)?;
    Ok(seal_with(file, &inner, (passphrase, cost), &random)?)
}

/// A container around `file`, whose header says the context and the key pair of `inner`.
fn seal_with(
    file: &[u8],
    inner: &Label,
    (passphrase, cost): (&Passphrase, PassphraseCost),
    random: &[u8; SALT + NONCE],
) -> Result<Vec<u8>, WireError> {
    let (salt, nonce) = random.split_at(SALT);
    let key = cost.stretch(passphrase, &salt.try_into().expect("a salt has its length"))?;

    // The header and the fields first: with the length of the payload they are what the tag is
    // over, beside the ciphertext.
    let payload = FIELDS + file.len() + TAG;
    let mut out = begin(&Label { kind: Kind::SealedSecretKey, ..*inner }, payload);
    out.u16(FORM);
    [cost.memory_kib, cost.passes, cost.lanes].into_iter().for_each(|field| out.u32(field));
    out.bytes(random);
    let mut before = out.finish();
    set_length(&mut before, payload as u64);

    let mut encrypted = Zeroizing::new(file.to_vec());
    let cipher = ChaCha20Poly1305::new((&*key).into());
    let nonce = Nonce::try_from(nonce).expect("a nonce has its length");
    let tag = cipher.encrypt_inout_detached(&nonce, &before, (&mut encrypted[..]).into());
    let tag = tag.map_err(|_| WireError::TooLarge { length: file.len() as u64, limit: LONGEST_STATE })?;
    before.extend_from_slice(&encrypted);
    before.extend_from_slice(&tag);
    Ok(finish(before.into()))
}

/// The bytes of the file of the secret in a sealed one; they are wiped when they go.
///
/// Cost: that of the passphrase, which the file states.
///
/// # Errors
/// [`WireError::WrongPassphrase`], also for a file that was changed and given a matching
/// checksum; [`WireError::NotSealed`] for a key that is not encrypted; any other [`WireError`] for
/// bytes that are not such a file.
pub fn open_secret(sealed: &[u8], passphrase: &Passphrase) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let Sealed { outer, cost, salt, nonce, encrypted, tag } = Sealed::read(sealed, None)?;
    let cipher = ChaCha20Poly1305::new((&*cost.stretch(passphrase, &salt)?).into());
    let mut file = Zeroizing::new(encrypted.to_vec());
    let before = &sealed[..HEADER_BYTES + FIELDS];
    let opened = cipher.decrypt_inout_detached(&nonce, before, (&mut file[..]).into(), &tag);
    opened.map_err(|_| WireError::WrongPassphrase)?;
    // Who knows the passphrase could still have put another key inside.
    let inner = secret_label(&file)?;
    if inner != (Label { kind: inner.kind, ..outer }) {
        return Err(WireError::Malformed { what: "header of an encrypted secret key" });
    }
    Ok(file)
}

/// Everything about the file of an encrypted secret key that shows without its passphrase: to be
/// asked before the passphrase is, which costs its owner a word and the machine a hash. `context`
/// is the hash of the parameters that the key must be of; none takes any.
///
/// # Errors
/// As [`open_secret`], except [`WireError::WrongPassphrase`]; [`WireError::OtherContext`].
pub fn check_sealed(sealed: &[u8], context: Option<&ContextHash>) -> Result<(), WireError> {
    Sealed::read(sealed, context).map(drop)
}

/// The secret key in a sealed file, of parameters that are known: a file of others is refused
/// before the passphrase is tried.
///
/// Cost: that of the passphrase, which the file states.
///
/// # Errors
/// As [`check_sealed`], [`open_secret`] and [`from_bytes`].
pub fn from_sealed_bytes<C: FileContext>(context: &C, sealed: &[u8], passphrase: &Passphrase) -> Result<SecretKey> {
    check_sealed(sealed, Some(context.hash()))?;
    from_bytes(context, &open_secret(sealed, passphrase)?)
}

/// The parts of a sealed file.
struct Sealed<'a> {
    outer: Label,
    cost: PassphraseCost,
    salt: [u8; SALT],
    nonce: Nonce,
    encrypted: &'a [u8],
    tag: Tag,
}

impl<'a> Sealed<'a> {
    /// Of parameters with this hash, or of any.
    fn read(sealed: &'a [u8], context: Option<&ContextHash>) -> Result<Self, WireError> {
        if matches!(kind_of(sealed), Some(Kind::SecretKey | Kind::PartyState)) {
            return Err(WireError::NotSealed);
        }
        let longest = LONGEST_STATE + (FIELDS + TAG) as u64;
        let kind = Kind::SealedSecretKey;
        let (outer, payload) = match context {
            None => open_any(sealed, kind, longest)?,
            Some(&context) => {
                let (key, payload) = open(sealed, &Expected { kind, context, key: None, limit: longest })?;
                (Label { kind, context, key }, payload)
            }
        };
        let what = "encrypted secret key";
        let mut fields = FieldReader::new(payload);
        if fields.u16(what)? != FORM {
            let what = "form of an encrypted secret key, which a newer Windlass may read";
            return Err(WireError::Malformed { what });
        }
        let cost = PassphraseCost::new(fields.u32(what)?, fields.u32(what)?, fields.u32(what)?)?;
        let (salt, nonce): ([u8; SALT], [u8; NONCE]) = (fields.array(what)?, fields.array(what)?);
        let (encrypted, tag) = fields.rest().split_last_chunk().ok_or(WireError::Malformed { what })?;
        Ok(Self { outer, cost, salt, nonce: nonce.into(), encrypted, tag: Tag::from(*tag) })
    }
}

/// Writes a secret key to a new file that only its owner may read, encrypted with a passphrase, and
/// gives the file's size in bytes.
///
/// # Errors
/// [`WireError::Io`] if the file exists already or cannot be written; then nothing is left
/// behind. [`windlass_schemes::Error::Rlwe`] without entropy.
pub fn save_sealed<C: FileContext>(
    path: &Path,
    context: &C,
    secret: &SecretKey,
    passphrase: &Passphrase,
) -> Result<u64> {
    let bytes = seal_secret(&to_bytes(context, secret)?, passphrase, PassphraseCost::default())?;
    write_new(path, &bytes, access_of(Kind::SealedSecretKey))?;
    Ok(bytes.len() as u64)
}

/// Reads a secret key from a file that is encrypted with a passphrase.
///
/// # Errors
/// As [`from_sealed_bytes`], and [`WireError::Io`].
pub fn load_sealed<C: FileContext>(path: &Path, context: &C, passphrase: &Passphrase) -> Result<SecretKey> {
    from_sealed_bytes(context, &read_secret(path)?, passphrase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyId, container};

    const CHEAP: PassphraseCost = PassphraseCost { memory_kib: 64, passes: 2, lanes: 2 };
    const PLAIN: &[u8] = include_bytes!("../../windlass/tests/golden/secret-key-v2.bin");

    fn passphrase() -> Passphrase {
        Passphrase::new("correct horse battery staple").unwrap()
    }

    fn golden_label() -> Label {
        open_any(PLAIN, Kind::SecretKey, LONGEST_SECRET).unwrap().0
    }

    #[test]
    fn the_bytes_of_form_1_stay_as_they_are() {
        let random = std::array::from_fn(|i| i as u8);
        let sealed = seal_with(PLAIN, &golden_label(), (&passphrase(), CHEAP), &random).unwrap();
        assert_eq!(sealed, include_bytes!("../../windlass/tests/golden/sealed-secret-key-v2.bin"));
    }

    /// A party with the passphrase may put any key inside; the header is checked first.
    #[test]
    fn a_header_that_names_another_key_is_refused() {
        let label = golden_label();
        let others = [Label { context: [1; 32], ..label }, Label { key: KeyId([1; 16]), ..label }];
        for other in others {
            let sealed = seal_with(PLAIN, &other, (&passphrase(), CHEAP), &[7; SALT + NONCE]).unwrap();
            let refused = open_secret(&sealed, &passphrase()).unwrap_err();
            assert_eq!(refused, WireError::Malformed { what: "header of an encrypted secret key" });
        }
        let query = container::seal(&Label { kind: Kind::Query, ..label }, b"no secret");
        let sealed = seal_with(&query, &label, (&passphrase(), CHEAP), &[7; SALT + NONCE]).unwrap();
        assert!(matches!(open_secret(&sealed, &passphrase()), Err(WireError::WrongKind { .. })));
    }

    #[test]
    fn the_state_of_a_party_is_encrypted_as_a_key_is() {
        let label = Label { kind: Kind::PartyState, ..golden_label() };
        let state = container::seal(&label, &[5; 1000]);
        let sealed = seal_secret(&state, &passphrase(), CHEAP).unwrap();
        assert!(is_sealed(&sealed) && check_sealed(&sealed, Some(&label.context)).is_ok());
        assert_eq!(*open_secret(&sealed, &passphrase()).unwrap(), state);
        assert!(matches!(check_sealed(&state, None), Err(WireError::NotSealed)));
        let expected = Expected { kind: Kind::PartyState, context: label.context, key: None, limit: 1 << 20 };
        assert!(matches!(open(&sealed, &expected), Err(WireError::Sealed)));
        let message = container::seal(&Label { kind: Kind::PartyMessage, ..label }, b"no secret");
        assert!(seal_secret(&message, &passphrase(), CHEAP).is_err());
    }

    #[test]
    fn costs_are_bounded() {
        let PassphraseCost { memory_kib, passes, lanes } = PassphraseCost::default();
        assert_eq!((memory_kib, passes, lanes), (64 << 10, 3, 4), "the second option of RFC 9106");
        assert_eq!(PassphraseCost::new(memory_kib, passes, lanes), Ok(PassphraseCost::default()));
        let most = PassphraseCost::MOST_MEMORY_KIB;
        for (memory_kib, passes, lanes) in [(8, 1, 1), (128, 1, 16), (most, 4, 4), (1 << 12, 1 << 10, 1)] {
            assert!(PassphraseCost::new(memory_kib, passes, lanes).is_ok());
        }
        let dear = [(most + 1, 1, 1), (u32::MAX, 1, 1), (most, 5, 4), (8, 1 << 30, 1), (1 << 20, u32::MAX, 1)];
        let none = [(0, 1, 1), (64, 0, 1), (64, 1, 0), (7, 1, 1), (127, 1, 16), (1 << 12, 1, 17), (64, 1, u32::MAX)];
        for (memory_kib, passes, lanes) in dear.into_iter().chain(none) {
            let refused = PassphraseCost::new(memory_kib, passes, lanes);
            assert_eq!(refused, Err(WireError::PassphraseCost { memory_kib, passes, lanes }));
        }
    }
}
