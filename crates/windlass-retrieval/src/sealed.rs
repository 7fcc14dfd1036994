//! Sealed rows: the content of a table with hidden keys.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce, Tag};
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use windlass::wire::hex;
use windlass_rlwe::Limits;
use zeroize::Zeroizing;

use crate::error::{Error, Result, printable};
use crate::keywords::{Keywords, LONG_TAG};
use crate::oprf::{OUTPUT_BYTES, OprfKey};
use crate::requirements::RowStatistics;

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

    /// What rows are like when they are sealed.
    pub(crate) fn sealed_rows(&self, rows: RowStatistics) -> RowStatistics {
        let longest = self.sealed_bytes();
        let total = (rows.count as u64).saturating_mul(longest as u64);
        RowStatistics { longest, fixed: longest > 0, total, ..rows }
    }

    /// Checks data from an untrusted party.
    pub(crate) fn check(&self, keywords: Option<&Keywords>) -> Result<()> {
        let bad = |reason: &str| Err(Error::BadSchema { reason: reason.to_owned() });
        let Some(keywords) = keywords else { return bad("hidden keys in a table of rows by number") };
        if self.suite != SUITE {
            return bad("this build does not know the function that hides its keys");
        }
        if self.public.len() != 64 || !self.public.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return bad("the public key of its OPRF is not 64 hexadecimal digits");
        }
        Limits::at_most(1 << 30).check("the bytes of a row", self.row_bytes)?;
        let one = keywords.fragments == 1 && keywords.fragment_bytes == self.sealed_bytes().max(1);
        if !one || keywords.tag_bytes != LONG_TAG {
            return bad("its entries do not have the size of sealed rows");
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
}

/// How the rows of one table are sealed.
///
/// With h the hash of the table's schema, F the function's output for the key of a row, and plain the
/// row's length, the row and zeros up to the longest row:
///
/// ```text
/// key    = HMAC-SHA-256(F, "windlass row key 2\n" ‖ h)
/// nonce  = HMAC-SHA-256(F, "windlass row nonce 2\n" ‖ h ‖ plain), its first 12 bytes
/// sealed = nonce ‖ ChaCha20-Poly1305(key, nonce, associated data h, plain)
/// ```
///
/// Two tables have different h, also if one key hides the keys of both: a row that is in both is
/// sealed to bytes that have nothing in common.
#[derive(Debug, Clone)]
pub(crate) struct Sealing<'s> {
    oprf: &'s Oprf,
    /// h.
    table: [u8; 32],
}

impl<'s> Sealing<'s> {
    /// That of a table, whose schema has this hash.
    pub fn new(oprf: &'s Oprf, table: [u8; 32]) -> Self {
        Self { oprf, table }
    }

    /// A row that only F(key) opens. The nonce is a code of the row, so that another row of the same
    /// key has another one, and a table that is made again is made alike.
    pub fn seal(&self, output: &[u8; OUTPUT_BYTES], key: &[u8], row: &[u8]) -> Result<Vec<u8>> {
        let (most, whole) = (self.oprf.row_bytes, self.oprf.sealed_bytes());
        if row.len() > most {
            return Err(Error::EntryTooLong { key: printable(key), bytes: row.len(), most });
        }
        if most == 0 {
            return Ok(Vec::new());
        }
        let mut sealed = Vec::with_capacity(whole);
        sealed.resize(NONCE, 0);
        sealed.extend((row.len() as u32).to_le_bytes());
        sealed.extend_from_slice(row);
        sealed.resize(whole - SEAL, 0);
        let (nonce, plain) = sealed.split_at_mut(NONCE);
        nonce.copy_from_slice(&self.derived(output, b"windlass row nonce 2\n", plain)[..NONCE]);
        let nonce = Nonce::try_from(&*nonce).expect("twelve bytes");
        let tag = self.cipher(output).encrypt_inout_detached(&nonce, &self.table, plain.into());
        sealed.extend_from_slice(&tag.expect("a row is not too long for a cipher"));
        Ok(sealed)
    }

    /// The row in what [`Self::seal`] made; none for anything else.
    pub fn open(&self, output: &[u8; OUTPUT_BYTES], sealed: &[u8]) -> Option<Vec<u8>> {
        if sealed.len() != self.oprf.sealed_bytes() {
            return None;
        }
        if sealed.is_empty() {
            return Some(Vec::new());
        }
        let (nonce, rest) = sealed.split_at(NONCE);
        let (body, tag) = rest.split_at(rest.len() - SEAL);
        let mut plain = Zeroizing::new(body.to_vec());
        let (nonce, tag) = (Nonce::try_from(nonce).ok()?, Tag::try_from(tag).ok()?);
        self.cipher(output).decrypt_inout_detached(&nonce, &self.table, (&mut plain[..]).into(), &tag).ok()?;
        let (length, row) = plain.split_first_chunk::<LENGTH>()?;
        row.get(..u32::from_le_bytes(*length) as usize).map(<[u8]>::to_vec)
    }

    fn derived(&self, output: &[u8; OUTPUT_BYTES], purpose: &[u8], more: &[u8]) -> Zeroizing<[u8; 32]> {
        let mut code = Hmac::<Sha256>::new_from_slice(output).expect("HMAC takes keys of any length");
        for part in [purpose, &self.table, more] {
            code.update(part);
        }
        Zeroizing::new(code.finalize().into_bytes().into())
    }

    fn cipher(&self, output: &[u8; OUTPUT_BYTES]) -> ChaCha20Poly1305 {
        ChaCha20Poly1305::new((&*self.derived(output, b"windlass row key 2\n", b"")).into())
    }
}
