//! Rows by key: cuckoo hashing into bins that are whole polynomials.
//!
//! An entry is a tag of 128 bits (64 in tables that were planned so), a length and bytes. The tag is a
//! hash of the key under the table's seed. It determines the bins in which the entry may be: one of
//! two, or a single one if entries are so small that bins fill evenly. A client asks for all of
//! these bins, so that the server learns nothing, and looks for its tag. Long rows are cut into
//! fragments, each a separate entry. Every lookup asks for as many fragments as the longest row
//! has.
//!
//! If a key is missing, its bins do not contain its tag; only the client sees this.
//!
//! **Warning.** With probability entries/2^128 (entries/2^64 if tags are short) the tag of another
//! key matches, and the client gets a wrong row. No error is returned.

use std::ops::Range;

use rand_core::RngCore;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windlass::wire::hex;
use windlass_rlwe::Limits;
use windlass_rlwe::context::os_rng;

use crate::bytes::{pack, unpack};
use crate::error::{Error, Result, printable};
use crate::query::Selection;
use crate::setting::N;
use crate::shape::Shape;

/// Bytes of a tag, where a schema does not say.
pub(crate) const TAG: usize = 8;
/// Bytes of a tag in tables whose keys are hidden, and in others unless they were planned with short tags.
pub(crate) const LONG_TAG: usize = 16;
/// Bytes of the length of an entry.
const LENGTH: usize = 2;

/// Bytes of a bin before its entries: their number.
pub(crate) const BIN: usize = 2;

/// Set in the length of a fragment that another one follows.
const MORE: u16 = 1 << 15;

/// How keys are found in a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keywords {
    /// Keys that are there; there may be room for more.
    pub count: usize,
    /// Bins that an entry may lie in, 1 or 2.
    pub choices: usize,
    /// Fragments that every lookup asks for.
    pub fragments: usize,
    /// Bytes of the longest fragment.
    pub fragment_bytes: usize,
    /// What keys are hashed with, in hexadecimal.
    pub seed: String,
    /// Bytes of a tag, 8 or 16.
    #[serde(default = "short_tag", skip_serializing_if = "is_short")]
    pub tag_bytes: usize,
}

fn short_tag() -> usize {
    TAG
}

fn is_short(bytes: &usize) -> bool {
    *bytes == TAG
}

/// A fresh seed for the keys of a table.
///
/// # Errors
/// [`Error::Rlwe`] without randomness from the operating system.
pub fn fresh_seed() -> Result<String> {
    let mut bytes = [0; 16];
    os_rng()?.fill_bytes(&mut bytes);
    Ok(hex(&bytes))
}

/// Bytes that a bin holds, entries and their number.
pub(crate) fn bin_bytes(message_bits: u32) -> usize {
    N * message_bits as usize / 8
}

/// An entry in a bin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub tag: u128,
    pub more: bool,
    pub value: Vec<u8>,
}

impl Keywords {
    /// What does not change when rows do.
    pub(crate) fn layout(&self) -> Vec<u8> {
        let numbers = [2, self.choices as u64, self.fragments as u64, self.fragment_bytes as u64];
        let mut layout: Vec<u8> =
            numbers.iter().flat_map(|number| number.to_le_bytes()).chain(self.seed.bytes()).collect();
        if self.tag_bytes != TAG {
            layout.push(self.tag_bytes as u8);
        }
        layout
    }

    /// Bytes of an entry beside its value: tag and length.
    pub(crate) fn overhead(&self) -> usize {
        self.tag_bytes + LENGTH
    }

    /// Bytes of an entry.
    pub(crate) fn entry_bytes(&self, entry: &Entry) -> usize {
        self.overhead() + entry.value.len()
    }

    /// Whole entries of this length that a bin holds.
    pub(crate) fn slots(&self, message_bits: u32, value: usize) -> usize {
        bin_bytes(message_bits).saturating_sub(BIN) / (self.overhead() + value)
    }

    /// Checks data from an untrusted party.
    pub(crate) fn check(&self, shape: &Shape) -> Result<()> {
        Limits::between(1, 2).check("the bins of a key", self.choices)?;
        Limits::between(1, crate::query::MOST_ROWS).check("the fragments of a row", self.fragments)?;
        if ![TAG, LONG_TAG].contains(&self.tag_bytes) {
            return Err(Limits::only("8 or 16").refuse("the bytes of a tag", self.tag_bytes).into());
        }
        let room = bin_bytes(shape.message_bits).saturating_sub(BIN + self.overhead()).min(usize::from(MORE) - 1);
        Limits::between(1, room).check("the bytes of a fragment", self.fragment_bytes)?;
        Limits::between(1, 256).check("the length of the seed", self.seed.len())?;
        let most = shape.polynomials().saturating_mul(room / self.overhead() + 1);
        Limits::at_most(most).check("the keys of a table", self.count)?;
        let whole = shape.records == 1 && shape.record_coefficients == N;
        if !whole {
            let limits = Limits::only("1, since bins are whole polynomials");
            return Err(limits.refuse("the records of a polynomial", shape.records).into());
        }
        Ok(())
    }

    /// The tag of a fragment of the row with this key.
    pub(crate) fn tag(&self, key: &[u8], fragment: usize) -> u128 {
        let mut hash = Sha256::new();
        hash.update(b"windlass table key 1\n");
        hash.update((self.seed.len() as u64).to_le_bytes());
        hash.update(self.seed.as_bytes());
        hash.update((fragment as u64).to_le_bytes());
        hash.update(key);
        let digest: [u8; 32] = hash.finalize().into();
        read_tag(&digest[..self.tag_bytes])
    }

    /// The bins that an entry of this tag may lie in.
    pub(crate) fn bins(&self, shape: &Shape, tag: u128) -> Vec<usize> {
        places(tag as u64, self.choices, shape.polynomials())
    }

    /// The selections that ask for some fragments of a key's row: all of their bins.
    pub(crate) fn selections(&self, shape: &Shape, key: &[u8], fragments: Range<usize>) -> Vec<Selection> {
        let bins = |fragment| self.bins(shape, self.tag(key, fragment));
        fragments.flat_map(bins).map(|polynomial| Selection { polynomial, record: 0 }).collect()
    }

    /// Appends the fragments of a key's row, from number `first` on, from their decrypted bins.
    /// Returns whether another fragment follows; `None` if the key is missing.
    ///
    /// # Errors
    /// [`Error::BadRow`] if a bin cannot be read, or a fragment is missing.
    pub(crate) fn append(
        &self,
        shape: &Shape,
        (key, first): (&[u8], usize),
        bins: &[&[i64]],
        row: &mut Vec<u8>,
    ) -> Result<Option<bool>> {
        for (fragment, bins) in (first..).zip(bins.chunks(self.choices)) {
            let tag = self.tag(key, fragment);
            let mut found = None;
            for bin in bins {
                let entries = read_bin(bin, shape.message_bits, self.tag_bytes).ok_or(Error::BadRow)?;
                found = found.or(entries.into_iter().find(|entry| entry.tag == tag));
            }
            match found {
                None if fragment == 0 => return Ok(None),
                None => return Err(Error::BadRow),
                Some(entry) => {
                    row.extend_from_slice(&entry.value);
                    if !entry.more {
                        return Ok(Some(false));
                    }
                }
            }
        }
        Ok(Some(true))
    }

    /// Bytes of the longest row that fits.
    pub fn longest_row(&self) -> usize {
        self.fragments * self.fragment_bytes
    }

    /// How many fragments a row takes; an empty one takes one as well.
    ///
    /// # Errors
    /// [`Error::EntryTooLong`] if they are more than lookups ask for.
    pub(crate) fn fragments_of(&self, key: &[u8], row: &[u8]) -> Result<usize> {
        let most = self.longest_row();
        if row.len() > most {
            return Err(Error::EntryTooLong { key: printable(key), bytes: row.len(), most });
        }
        Ok(row.len().div_ceil(self.fragment_bytes).max(1))
    }

    /// A fragment of a row, and whether another one follows.
    pub(crate) fn fragment<'r>(&self, row: &'r [u8], fragment: usize) -> (&'r [u8], bool) {
        let from = fragment * self.fragment_bytes;
        let end = row.len().min(from + self.fragment_bytes);
        (&row[from..end], end < row.len())
    }

    /// The entries of a row.
    ///
    /// # Errors
    /// As [`Self::fragments_of`].
    pub(crate) fn entries(&self, key: &[u8], row: &[u8]) -> Result<Vec<Entry>> {
        let entry = |fragment| {
            let (value, more) = self.fragment(row, fragment);
            Entry { tag: self.tag(key, fragment), more, value: value.to_vec() }
        };
        Ok((0..self.fragments_of(key, row)?).map(entry).collect())
    }
}

/// Two multipliers without a pattern in their bits, one for each choice, and one for both.
const MIX: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];
const STIR: u64 = 0xff51_afd7_ed55_8ccd;

/// The first `choices` of two bins that follow from the tag.
pub(crate) fn places(tag: u64, choices: usize, bins: usize) -> Vec<usize> {
    MIX[..choices].iter().map(|mix| spread(tag, *mix, bins as u64)).collect()
}

/// A number below `bins` that follows from the tag.
fn spread(tag: u64, mix: u64, bins: u64) -> usize {
    let mut x = tag.wrapping_mul(mix);
    x = (x ^ (x >> 32)).wrapping_mul(STIR);
    x ^= x >> 33;
    ((u128::from(x) * u128::from(bins)) >> 64) as usize
}

/// A tag whose place by this choice is this bin. If `random` is uniform, so is the tag among all such
/// tags, up to 2^−64 in each probability.
///
/// Every step of [`spread`] before the last is a bijection of 64-bit words, and the last one takes the
/// interval of x from ⌈bin·2^64/bins⌉ to ⌈(bin + 1)·2^64/bins⌉ − 1 to `bin`. So x is drawn from the
/// interval, and the bijections are undone: an odd factor by its inverse modulo 2^64, and x ^ (x >> k) by
/// itself if k ≥ 32.
pub(crate) fn tag_in(bin: usize, bins: usize, choice: usize, random: u128) -> u64 {
    let start = |bin: usize| ((bin as u128) << 64).div_ceil(bins as u128);
    let mut x = (start(bin) + random % (start(bin + 1) - start(bin))) as u64;
    x = (x ^ (x >> 33)).wrapping_mul(const { inverse(STIR) });
    (x ^ (x >> 32)).wrapping_mul(const { [inverse(MIX[0]), inverse(MIX[1])] }[choice])
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each round doubles the bits that
/// are right, of which there are three at first.
const fn inverse(odd: u64) -> u64 {
    let (mut found, mut round) = (odd, 0);
    while round < 5 {
        found = found.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(found)));
        round += 1;
    }
    found
}

/// The entries in a bin; none when the coefficients are no bin.
pub(crate) fn read_bin(coefficients: &[i64], message_bits: u32, tag_bytes: usize) -> Option<Vec<Entry>> {
    let bytes = unpack(coefficients, message_bits, bin_bytes(message_bits))?;
    let mut rest = &bytes[..];
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at_checked(count)?;
        rest = after;
        Some(taken)
    };
    let count = u16::from_le_bytes(take(BIN)?.try_into().ok()?);
    let mut entries = Vec::with_capacity(usize::from(count).min(bytes.len() / (tag_bytes + LENGTH)));
    for _ in 0..count {
        let tag = read_tag(take(tag_bytes)?);
        let length = u16::from_le_bytes(take(LENGTH)?.try_into().ok()?);
        let value = take(usize::from(length & !MORE))?.to_vec();
        entries.push(Entry { tag, more: length & MORE != 0, value });
    }
    rest.iter().all(|&byte| byte == 0).then_some(entries)
}

/// A tag of eight or sixteen bytes.
fn read_tag(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |tag, &byte| tag << 8 | u128::from(byte))
}

/// Writes entries into a bin; they fit.
pub(crate) fn write_bin<'a>(
    entries: impl ExactSizeIterator<Item = &'a Entry>,
    message_bits: u32,
    tag_bytes: usize,
    out: &mut [i64],
) {
    let mut bytes = Vec::with_capacity(bin_bytes(message_bits));
    bytes.extend_from_slice(&(entries.len() as u16).to_le_bytes());
    for entry in entries {
        bytes.extend_from_slice(&entry.tag.to_le_bytes()[..tag_bytes]);
        let more = if entry.more { MORE } else { 0 };
        bytes.extend_from_slice(&(entry.value.len() as u16 | more).to_le_bytes());
        bytes.extend_from_slice(&entry.value);
    }
    pack(&bytes, message_bits, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords() -> Keywords {
        Keywords { count: 1, choices: 2, fragments: 3, fragment_bytes: 5, seed: "00".into(), tag_bytes: TAG }
    }

    #[test]
    fn tags_are_made_for_every_bin_and_choice() {
        let ends = [0, 1, u128::MAX, u128::MAX / 3, 1 << 64, u128::from(u64::MAX)];
        for bins in [1usize, 2, 3, 16, 801, 4096 * 4096 + 1] {
            for bin in [0, bins / 3, bins / 2, bins - 1] {
                for (choice, random) in [0, 1].into_iter().flat_map(|choice| ends.map(|end| (choice, end))) {
                    let tag = tag_in(bin, bins, choice, random);
                    assert_eq!(places(tag, 2, bins)[choice], bin, "{bins} bins, choice {choice}, {random}");
                }
            }
        }
        // All tags of a bin are made, and each of them once: here the whole interval of few tags.
        let (bins, bin) = (1usize << 60, 12_345);
        let tags: std::collections::BTreeSet<u64> = (0..16).map(|random| tag_in(bin, bins, 1, random)).collect();
        assert_eq!(tags.len(), 16);
        assert!(tags.iter().all(|&tag| places(tag, 2, bins)[1] == bin));
    }

    #[test]
    fn bins_come_back_and_other_coefficients_are_none() {
        for tag_bytes in [TAG, LONG_TAG] {
            let keywords = Keywords { tag_bytes, ..keywords() };
            let entries = keywords.entries(b"key", b"twelve bytes").unwrap();
            assert_eq!(entries.iter().map(|entry| entry.more).collect::<Vec<_>>(), [true, true, false]);
            assert_eq!(entries.iter().any(|entry| entry.tag > u128::from(u64::MAX)), tag_bytes == LONG_TAG);
            let mut coefficients = vec![0; N];
            write_bin(entries.iter(), 13, tag_bytes, &mut coefficients);
            assert_eq!(read_bin(&coefficients, 13, tag_bytes), Some(entries));
            coefficients[N - 1] = 1;
            assert_eq!(read_bin(&coefficients, 13, tag_bytes), None);
            assert_eq!(read_bin(&[-1; N], 13, tag_bytes), None);
        }
        assert!(matches!(keywords().entries(b"key", &[0; 16]), Err(Error::EntryTooLong { most: 15, .. })));
        assert_eq!(keywords().entries(b"key", b"").unwrap().len(), 1, "an empty row is a row");
    }
}
