//! Who a party is to the others: keys for signatures and for messages that only it can read.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use rand_core::RngCore;
use sha2::{Digest, Sha256};
use windlass::wire::hex;
use windlass_rlwe::context::os_rng;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, Zeroizing};

use crate::error::{PartiesError, Result};

/// Bytes of a public half: of Ed25519, then of X25519.
pub(crate) const PUBLIC: usize = 64;
/// Bytes of the secret that both secret halves follow from.
const SECRET: usize = 32;
/// Bytes that encryption adds: a public key and a tag.
pub(crate) const SEALED: usize = 32 + 16;

/// The secret half of an identity: it signs as Ed25519 and decrypts by X25519. It says nothing of any key of
/// homomorphic encryption, and serves any number of agreements.
pub struct Identity {
    seed: Zeroizing<[u8; SECRET]>,
    signing: SigningKey,
    reading: StaticSecret,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("public", &hex(&self.public())).finish_non_exhaustive()
    }
}

/// A member of an agreement: its name, and what is known of its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name, for messages to people.
    pub name: String,
    /// The public half of its [`Identity`].
    pub identity: [u8; PUBLIC],
}

fn derived(seed: &[u8; SECRET], purpose: &str) -> Zeroizing<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(purpose.as_bytes());
    hash.update(seed);
    Zeroizing::new(hash.finalize().into())
}

impl Identity {
    /// A fresh identity from the randomness of the operating system.
    ///
    /// # Errors
    /// [`PartiesError::Windlass`] if there is no randomness.
    pub fn generate() -> Result<Self> {
        let mut seed = Zeroizing::new([0; SECRET]);
        os_rng()?.fill_bytes(seed.as_mut_slice());
        Ok(Self::of(seed))
    }

    fn of(seed: Zeroizing<[u8; SECRET]>) -> Self {
        let signing = SigningKey::from_bytes(&derived(&seed, "windlass identity, signatures 1\n"));
        let reading = StaticSecret::from(*derived(&seed, "windlass identity, reading 1\n"));
        Self { seed, signing, reading }
    }

    /// The identity as text. **Secret**: it lets its holder speak and read as this party.
    pub fn to_text(&self) -> Zeroizing<String> {
        // All room at once: growing would leave copies behind.
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + 2 * SECRET + 1));
        text.push_str(PREFIX);
        let digits = b"0123456789abcdef";
        for byte in self.seed.iter() {
            [byte >> 4, byte & 15].iter().for_each(|&digit| text.push(digits[usize::from(digit)].into()));
        }
        text.push('\n');
        text
    }

    /// The identity of [`Self::to_text`].
    ///
    /// # Errors
    /// [`PartiesError::Text`].
    pub fn from_text(text: &str) -> Result<Self> {
        let wrong = |reason: &str| PartiesError::Text { what: "identity", reason: reason.into() };
        let digits = text.trim_end().strip_prefix(PREFIX);
        let digits = digits.ok_or_else(|| wrong(&format!("it does not begin with {:?}", PREFIX.trim_end())))?;
        let mut bytes = from_hex::<SECRET>(digits).ok_or_else(|| wrong("64 hexadecimal digits have to follow"))?;
        let seed = Zeroizing::new(bytes);
        bytes.zeroize();
        Ok(Self::of(seed))
    }

    /// The same identity.
    pub(crate) fn copy(&self) -> Self {
        Self::of(self.seed.clone())
    }

    /// What the others know of this identity.
    pub fn public(&self) -> [u8; PUBLIC] {
        let mut public = [0; PUBLIC];
        public[..32].copy_from_slice(self.signing.verifying_key().as_bytes());
        public[32..].copy_from_slice(PublicKey::from(&self.reading).as_bytes());
        public
    }

    /// A member of an agreement with this identity.
    pub fn member(&self, name: &str) -> Member {
        Member { name: name.into(), identity: self.public() }
    }

    /// A secret that only this identity and the holder of another one can derive.
    ///
    /// # Errors
    /// [`PartiesError::Text`] for an identity that agrees on no secret.
    pub(crate) fn shared(&self, other: &[u8; PUBLIC]) -> Result<Zeroizing<[u8; 32]>> {
        agreed(&self.reading, other)
    }

    pub(crate) fn sign(&self, digest: &[u8; 32]) -> [u8; 64] {
        self.signing.sign(digest).to_bytes()
    }

    /// Decrypts what [`seal`] made, in place; `None` if it is not for this identity or was changed.
    pub(crate) fn open(&self, sealed: &[u8], about: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (ephemeral, rest) = sealed.split_first_chunk::<32>()?;
        let (body, tag) = rest.split_last_chunk::<16>()?;
        let shared = self.reading.diffie_hellman(&PublicKey::from(*ephemeral));
        let own = PublicKey::from(&self.reading);
        let cipher = cipher(shared.as_bytes(), ephemeral, own.as_bytes());
        let mut plain = Zeroizing::new(body.to_vec());
        let tag = Tag::from(*tag);
        cipher.decrypt_inout_detached(&Nonce::default(), about, plain.as_mut_slice().into(), &tag).ok()?;
        Some(plain)
    }
}

/// What a secret half and the public half of another agree on.
///
/// # Errors
/// [`PartiesError::Text`] for a public half with which everyone agrees on the same: a point of low order.
fn agreed(secret: &StaticSecret, other: &[u8; PUBLIC]) -> Result<Zeroizing<[u8; 32]>> {
    let mut theirs = [0; 32];
    theirs.copy_from_slice(&other[32..]);
    let shared = secret.diffie_hellman(&PublicKey::from(theirs));
    if !shared.was_contributory() {
        return Err(PartiesError::Text { what: "identity", reason: "it agrees on no secret with any other".into() });
    }
    Ok(Zeroizing::new(*shared.as_bytes()))
}

/// What the text of an identity begins with.
const PREFIX: &str = "windlass identity 1 ";

/// The bytes of hexadecimal digits, if there are exactly so many.
pub(crate) fn from_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let digits = digits.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16).map(|x| x as u8);
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

/// The key of one message: each has its own, so that the nonce is constant.
fn cipher(shared: &[u8; 32], ephemeral: &[u8; 32], recipient: &[u8; 32]) -> ChaCha20Poly1305 {
    let mut hash = Sha256::new();
    hash.update(b"windlass message for one party 1\n");
    [shared, ephemeral, recipient].iter().for_each(|part| hash.update(part));
    let key = Zeroizing::new(<[u8; 32]>::from(hash.finalize()));
    ChaCha20Poly1305::new(&(*key).into())
}

/// Encrypts for the holder of an identity: X25519 with a fresh key, then ChaCha20-Poly1305, bound to what the message is
/// about.
pub(crate) fn seal(recipient: &[u8; PUBLIC], plain: &[u8], about: &[u8]) -> Result<Vec<u8>> {
    let mut seed = Zeroizing::new([0; 32]);
    os_rng()?.fill_bytes(seed.as_mut_slice());
    let ephemeral = StaticSecret::from(*seed);
    let public = PublicKey::from(&ephemeral);
    let shared = agreed(&ephemeral, recipient)?;
    let mut theirs = [0; 32];
    theirs.copy_from_slice(&recipient[32..]);
    let cipher = cipher(&shared, public.as_bytes(), &theirs);
    let mut sealed = Vec::with_capacity(plain.len() + SEALED);
    sealed.extend_from_slice(public.as_bytes());
    sealed.extend_from_slice(plain);
    let tag = cipher
        .encrypt_inout_detached(&Nonce::default(), about, (&mut sealed[32..]).into())
        .map_err(|_| PartiesError::Text { what: "message", reason: "it is too long to be encrypted".into() })?;
    sealed.extend_from_slice(&tag);
    Ok(sealed)
}

/// Whether a signature is one of this identity.
pub(crate) fn is_signed(identity: &[u8; PUBLIC], digest: &[u8; 32], signature: &[u8; 64]) -> bool {
    let mut key = [0; 32];
    key.copy_from_slice(&identity[..32]);
    let key = VerifyingKey::from_bytes(&key);
    key.is_ok_and(|key| key.verify_strict(digest, &Signature::from_bytes(signature)).is_ok())
}

/// Whether the public half can be one: its signing key is a point, neither half is of low order, and each is written in the
/// one way that the standards give. So two identities of one key have the same bytes.
pub(crate) fn is_identity(identity: &[u8; PUBLIC]) -> bool {
    let mut key = [0; 32];
    key.copy_from_slice(&identity[..32]);
    let signs = VerifyingKey::from_bytes(&key).is_ok_and(|key| !key.is_weak());
    // The highest bit is a sign in a signing key, and 0 in the other half.
    let is_canonical = is_reduced(&identity[..32]) && is_reduced(&identity[32..]) && identity[PUBLIC - 1] >> 7 == 0;
    // Whether a point is of low order does not depend on the secret that it meets.
    signs && is_canonical && agreed(&StaticSecret::from([1; 32]), identity).is_ok()
}

/// Whether the lower 255 bits are a number below p = 2^255 − 19.
fn is_reduced(half: &[u8]) -> bool {
    let all_ones = half[1..31].iter().all(|&byte| byte == 0xff) && half[31] & 0x7f == 0x7f;
    !all_ones || half[0] < 0xed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_for_one_identity_and_one_purpose() {
        let [own, other] = [(); 2].map(|()| Identity::generate().unwrap());
        let sealed = seal(&own.public(), b"a share", b"from 1 to 2").unwrap();
        assert_eq!(sealed.len(), 7 + SEALED);
        assert_eq!(own.open(&sealed, b"from 1 to 2").unwrap().as_slice(), b"a share");
        assert!(own.open(&sealed, b"from 2 to 1").is_none() && other.open(&sealed, b"from 1 to 2").is_none());
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            // The highest bit of a point is ignored, no other.
            assert!(own.open(&changed, b"from 1 to 2").is_none(), "byte {place}");
            assert!(own.open(&sealed[..place], b"from 1 to 2").is_none());
        }
        assert_ne!(sealed, seal(&own.public(), b"a share", b"from 1 to 2").unwrap());
    }

    #[test]
    fn identities_come_back_from_their_text() {
        let own = Identity::generate().unwrap();
        let text = own.to_text();
        let again = Identity::from_text(&text).unwrap();
        assert_eq!(again.public(), own.public());
        let digest = [9; 32];
        let signature = again.sign(&digest);
        assert!(is_signed(&own.public(), &digest, &signature) && is_identity(&own.public()));
        assert!(!is_signed(&own.public(), &[8; 32], &signature));
        assert!(!is_signed(&Identity::generate().unwrap().public(), &digest, &signature));
        assert!(!is_identity(&[0; PUBLIC]), "a weak key, under which much is signed");
        let mut read_by_all = own.public();
        read_by_all[32..].fill(0);
        assert!(!is_identity(&read_by_all), "a key under which everyone reads");
        assert!(seal(&read_by_all, b"a share", b"").is_err() && own.shared(&read_by_all).is_err());
        // Other encodings of the same keys: X25519 ignores the highest bit, and 9 + p is 9.
        let mut with_bit = own.public();
        with_bit[PUBLIC - 1] |= 0x80;
        assert!(!is_identity(&with_bit));
        let [mut nine, mut larger] = [own.public(); 2];
        nine[32..].copy_from_slice(&[&[9][..], &[0; 31]].concat());
        larger[32..].copy_from_slice(&[&[0xf6][..], &[0xff; 30], &[0x7f]].concat());
        assert_eq!(own.shared(&nine).unwrap(), own.shared(&larger).unwrap());
        assert!(is_identity(&nine) && !is_identity(&larger));
        let other = Identity::generate().unwrap();
        assert_eq!(own.shared(&with_bit).unwrap(), own.shared(&own.public()).unwrap());
        assert_eq!(own.shared(&other.public()).unwrap(), other.shared(&own.public()).unwrap());
        for end in 0..text.len() - 1 {
            assert!(Identity::from_text(&text[..end]).is_err());
        }
        assert!(!format!("{own:?}").contains(&text[PREFIX.len()..PREFIX.len() + 8]));
    }
}
