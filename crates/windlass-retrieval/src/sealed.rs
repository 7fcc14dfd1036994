//! What is in a table whose keys are hidden: sealed rows, and what fills bins up.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
use hmac::{Hmac, Mac};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use windlass::wire::hex;
use windlass_rlwe::Limits;
use zeroize::Zeroizing;

use crate::error::{Error, Result, printable};
use crate::keywords::{Entry, Keywords, LONG_TAG};
use crate::oprf::{OUTPUT, OprfKey};

const SUITE: &str = "ristretto255-SHA512";
/// Bytes of a row's length, of the nonce before a sealed row and of the tag behind it.
const LENGTH: usize = 4;
const NONCE: usize = 12;
const SEAL: usize = 16;

/// How the keys of a table are hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oprf {
    /// The function: RFC 9497 over this group and hash.
    pub suite: String,
    /// k·G of the server's key k, in hexadecimal.
    pub public: String,
    /// Bytes of the longest row, to which all are padded.
    pub row_bytes: usize,
}

impl Oprf {
    pub(crate) fn new(public: &[u8; 32], row_bytes: usize) -> Self {
        Self { suite: SUITE.to_owned(), public: hex(public), row_bytes }
    }

    /// Bytes of a sealed row. A table of keys without rows holds none.
    pub fn sealed_bytes(&self) -> usize {
        Self::sealed_length(self.row_bytes)
    }

    /// Bytes of a sealed row where the longest has so many.
    pub(crate) fn sealed_length(row_bytes: usize) -> usize {
        if row_bytes == 0 { 0 } else { NONCE + LENGTH + SEAL + row_bytes }
    }

    /// Checks what somebody else may have written.
    pub(crate) fn check(&self, keywords: Option<&Keywords>) -> Result<()> {
        let bad = |reason: &str| Err(Error::BadSchema { reason: reason.to_owned() });
        let Some(keywords) = keywords else { return bad("hidden keys in a table of rows by number") };
        if self.suite != SUITE {
            return bad("its keys are hidden by a function that this build does not know");
        }
        if self.public.len() != 64 || !self.public.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return bad("the public key of its OPRF is not 64 hexadecimal digits");
        }
        Limits::at_most(1 << 30).check("the bytes of a row", self.row_bytes)?;
        let one = keywords.fragments == 1 && keywords.fragment_bytes == self.sealed_bytes().max(1);
        if !one || keywords.tag_bytes != LONG_TAG {
            return bad("its entries are not those of sealed rows");
        }
        Ok(())
    }

    /// What does not change when rows do.
    pub(crate) fn layout(&self) -> Vec<u8> {
        let mut layout = b"oprf".to_vec();
        for text in [&self.suite, &self.public] {
            layout.extend((text.len() as u64).to_le_bytes());
            layout.extend(text.as_bytes());
        }
        layout.extend((self.row_bytes as u64).to_le_bytes());
        layout
    }

    /// Refuses another key than the one that the table was made with.
    pub(crate) fn check_key(&self, key: &OprfKey) -> Result<()> {
        if hex(&key.public()) == self.public { Ok(()) } else { Err(Error::OtherOprfKey) }
    }

    /// A row that only F(key) opens. The nonce is a code of the row, so that another row of the same
    /// key has another one, and a table that is made again is made alike.
    pub(crate) fn seal(&self, output: &[u8; OUTPUT], key: &[u8], row: &[u8]) -> Result<Vec<u8>> {
        if row.len() > self.row_bytes {
            let key = printable(key);
            return Err(Error::EntryTooLong { key, bytes: row.len(), most: self.row_bytes });
        }
        if self.row_bytes == 0 {
            return Ok(Vec::new());
        }
        let mut sealed = Vec::with_capacity(self.sealed_bytes());
        sealed.resize(NONCE, 0);
        sealed.extend((row.len() as u32).to_le_bytes());
        sealed.extend_from_slice(row);
        sealed.resize(NONCE + LENGTH + self.row_bytes, 0);
        let (nonce, plain) = sealed.split_at_mut(NONCE);
        nonce.copy_from_slice(&derived(output, b"windlass row nonce 1\n", plain)[..NONCE]);
        let cipher = cipher(output);
        let nonce = Nonce::try_from(&*nonce).expect("twelve bytes");
        let tag = cipher.encrypt_inout_detached(&nonce, b"", plain.into()).expect("a row is not too long for a cipher");
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    /// The row in what [`Self::seal`] made; none for anything else.
    pub(crate) fn open(&self, output: &[u8; OUTPUT], sealed: &[u8]) -> Option<Vec<u8>> {
        if sealed.len() != self.sealed_bytes() {
            return None;
        }
        if sealed.is_empty() {
            return Some(Vec::new());
        }
        let (nonce, rest) = sealed.split_at(NONCE);
        let (body, tag) = rest.split_at(rest.len() - SEAL);
        let mut plain = Zeroizing::new(body.to_vec());
        let (nonce, tag) = (Nonce::try_from(nonce).ok()?, Tag::try_from(tag).ok()?);
        cipher(output).decrypt_inout_detached(&nonce, b"", (&mut plain[..]).into(), &tag).ok()?;
        let (length, row) = plain.split_first_chunk::<LENGTH>()?;
        row.get(..u32::from_le_bytes(*length) as usize).map(<[u8]>::to_vec)
    }
}

fn derived(output: &[u8; OUTPUT], purpose: &[u8], more: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut code = Hmac::<Sha256>::new_from_slice(output).expect("HMAC takes keys of any length");
    code.update(purpose);
    code.update(more);
    Zeroizing::new(code.finalize().into_bytes().into())
}

fn cipher(output: &[u8; OUTPUT]) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new((&*derived(output, b"windlass row key 1\n", b"")).into())
}

/// Entries that fill bins up. Only the server tells them from rows: they follow from its key.
#[derive(Clone)]
pub(crate) struct Padding {
    seed: Zeroizing<[u8; 32]>,
    /// Bytes of the value of every entry.
    value: usize,
}

impl std::fmt::Debug for Padding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Padding").finish_non_exhaustive()
    }
}

impl Padding {
    pub fn of(oprf: &Oprf, key: &OprfKey) -> Self {
        Self { seed: key.derive(b"windlass padding of bins 1\n"), value: oprf.sealed_bytes() }
    }

    /// The entries that may fill a bin up.
    fn entries(&self, bin: usize, count: usize) -> Vec<Entry> {
        let mut code = Hmac::<Sha256>::new_from_slice(&*self.seed).expect("HMAC takes keys of any length");
        code.update(&(bin as u64).to_le_bytes());
        let mut rng = ChaCha20Rng::from_seed(code.finalize().into_bytes().into());
        let entry = |_| {
            let (mut tag, mut value) = ([0; LONG_TAG], vec![0; self.value]);
            rng.fill_bytes(&mut tag);
            rng.fill_bytes(&mut value);
            Entry { tag: u128::from_le_bytes(tag), more: false, value }
        };
        (0..count).map(entry).collect()
    }

    /// Fills a bin up, in the order of tags.
    pub fn fill(&self, keywords: &Keywords, message_bits: u32, bin: usize, entries: &mut Vec<Entry>) {
        let slots = keywords.slots(message_bits, self.value);
        entries.extend(self.entries(bin, slots.saturating_sub(entries.len())));
        entries.sort_unstable_by_key(|entry| entry.tag);
    }

    /// Takes away what fills a bin up.
    pub fn take_off(&self, keywords: &Keywords, message_bits: u32, bin: usize, entries: &mut Vec<Entry>) {
        let ours = self.entries(bin, keywords.slots(message_bits, self.value));
        entries.retain(|entry| ours.iter().all(|other| other.tag != entry.tag));
    }
}
