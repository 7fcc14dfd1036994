//! Rows by key: cuckoo hashing into bins that are whole polynomials.
//!
//! An entry is a tag of 64 bits, a length and bytes. The tag is a hash of the key under the table's
//! seed and says in which bins the entry may lie: one of two, or the only one where entries are so
//! small that bins fill evenly by themselves. A client asks for all of them, so that the server
//! learns nothing, and looks for its tag. Long rows are cut into fragments, each an entry of its
//! own; every lookup asks for as many fragments as the longest row has.
//!
//! A key that is not there has no tag in its bins, which only the client sees; another key's tag is
//! taken for it with probability entries/2^64.

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

/// Bytes of an entry beside its value: tag and length.
pub(crate) const ENTRY: usize = 8 + 2;

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
    pub tag: u64,
    pub more: bool,
    pub value: Vec<u8>,
}

impl Entry {
    pub fn bytes(&self) -> usize {
        ENTRY + self.value.len()
    }
}

impl Keywords {
    /// What does not change when rows do.
    pub(crate) fn layout(&self) -> Vec<u8> {
        let numbers = [2, self.choices as u64, self.fragments as u64, self.fragment_bytes as u64];
        numbers.iter().flat_map(|number| number.to_le_bytes()).chain(self.seed.bytes()).collect()
    }

    /// Checks what somebody else may have written.
    pub(crate) fn check(&self, shape: &Shape) -> Result<()> {
        Limits::between(1, 2).check("the bins of a key", self.choices)?;
        Limits::between(1, crate::query::MOST_ROWS).check("the fragments of a row", self.fragments)?;
        let room = bin_bytes(shape.message_bits).saturating_sub(BIN + ENTRY).min(usize::from(MORE) - 1);
        Limits::between(1, room).check("the bytes of a fragment", self.fragment_bytes)?;
        Limits::between(1, 256).check("the length of the seed", self.seed.len())?;
        let whole = shape.records == 1 && shape.record_coefficients == N;
        if !whole {
            let limits = Limits::only("1, since bins are whole polynomials");
            return Err(limits.refuse("the records of a polynomial", shape.records).into());
        }
        Ok(())
    }

    /// The tag of a fragment of the row with this key.
    pub(crate) fn tag(&self, key: &[u8], fragment: usize) -> u64 {
        let mut hash = Sha256::new();
        hash.update(b"windlass table key 1\n");
        hash.update((self.seed.len() as u64).to_le_bytes());
        hash.update(self.seed.as_bytes());
        hash.update((fragment as u64).to_le_bytes());
        hash.update(key);
        let digest: [u8; 32] = hash.finalize().into();
        u64::from_le_bytes(digest[..8].try_into().expect("eight bytes"))
    }

    /// The bins that an entry of this tag may lie in.
    pub(crate) fn bins(&self, shape: &Shape, tag: u64) -> Vec<usize> {
        // Two multipliers without a pattern in their bits.
        const MIX: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];
        let bins = shape.polynomials() as u64;
        MIX[..self.choices].iter().map(|mix| spread(tag, *mix, bins)).collect()
    }

    /// The selections that ask for a key: all bins of all fragments.
    pub(crate) fn selections(&self, shape: &Shape, key: &[u8]) -> Vec<Selection> {
        let bins = |fragment| self.bins(shape, self.tag(key, fragment));
        (0..self.fragments).flat_map(bins).map(|polynomial| Selection { polynomial, record: 0 }).collect()
    }

    /// The row of a key in its decrypted bins; none when it is not there.
    ///
    /// # Errors
    /// [`Error::BadRow`] when a bin is none, or a fragment is missing.
    pub(crate) fn row(&self, shape: &Shape, key: &[u8], bins: &[&[i64]]) -> Result<Option<Vec<u8>>> {
        let mut row = Vec::new();
        for (fragment, bins) in bins.chunks(self.choices).enumerate() {
            let tag = self.tag(key, fragment);
            let mut found = None;
            for bin in bins {
                let entries = read_bin(bin, shape.message_bits).ok_or(Error::BadRow)?;
                found = found.or(entries.into_iter().find(|entry| entry.tag == tag));
            }
            match found {
                None if fragment == 0 => return Ok(None),
                None => return Err(Error::BadRow),
                Some(entry) => {
                    row.extend_from_slice(&entry.value);
                    if !entry.more {
                        return Ok(Some(row));
                    }
                }
            }
        }
        Err(Error::BadRow)
    }

    /// The entries of a row.
    ///
    /// # Errors
    /// [`Error::EntryTooLong`] when it needs more fragments than lookups ask for.
    pub(crate) fn entries(&self, key: &[u8], row: &[u8]) -> Result<Vec<Entry>> {
        let most = self.fragments * self.fragment_bytes;
        if row.len() > most {
            return Err(Error::EntryTooLong { key: printable(key), bytes: row.len(), most });
        }
        let pieces: Vec<&[u8]> = if row.is_empty() { vec![row] } else { row.chunks(self.fragment_bytes).collect() };
        let last = pieces.len() - 1;
        let entry = |(fragment, piece): (usize, &&[u8])| Entry {
            tag: self.tag(key, fragment),
            more: fragment != last,
            value: piece.to_vec(),
        };
        Ok(pieces.iter().enumerate().map(entry).collect())
    }
}

/// A number below `bins` that follows from the tag.
fn spread(tag: u64, mix: u64, bins: u64) -> usize {
    let mut x = tag.wrapping_mul(mix);
    x = (x ^ (x >> 32)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    ((u128::from(x) * u128::from(bins)) >> 64) as usize
}

/// The entries in a bin; none when the coefficients are no bin.
pub(crate) fn read_bin(coefficients: &[i64], message_bits: u32) -> Option<Vec<Entry>> {
    let bytes = unpack(coefficients, message_bits, bin_bytes(message_bits))?;
    let mut rest = &bytes[..];
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at_checked(count)?;
        rest = after;
        Some(taken)
    };
    let count = u16::from_le_bytes(take(BIN)?.try_into().ok()?);
    let mut entries = Vec::with_capacity(usize::from(count).min(bytes.len() / ENTRY));
    for _ in 0..count {
        let tag = u64::from_le_bytes(take(8)?.try_into().ok()?);
        let length = u16::from_le_bytes(take(2)?.try_into().ok()?);
        let value = take(usize::from(length & !MORE))?.to_vec();
        entries.push(Entry { tag, more: length & MORE != 0, value });
    }
    rest.iter().all(|&byte| byte == 0).then_some(entries)
}

/// Writes entries into a bin; they fit.
pub(crate) fn write_bin<'a>(entries: impl ExactSizeIterator<Item = &'a Entry>, message_bits: u32, out: &mut [i64]) {
    let mut bytes = Vec::with_capacity(bin_bytes(message_bits));
    bytes.extend_from_slice(&(entries.len() as u16).to_le_bytes());
    for entry in entries {
        bytes.extend_from_slice(&entry.tag.to_le_bytes());
        let more = if entry.more { MORE } else { 0 };
        bytes.extend_from_slice(&(entry.value.len() as u16 | more).to_le_bytes());
        bytes.extend_from_slice(&entry.value);
    }
    pack(&bytes, message_bits, out);
}

/// Bins while they are filled: which entries lie in each.
#[derive(Debug)]
pub(crate) struct Bins {
    /// Numbers of entries.
    pub entries: Vec<Vec<u32>>,
    free: Vec<usize>,
}

/// Moves after which a place is taken not to exist.
const MOST_MOVES: usize = 1000;

impl Bins {
    /// Empty bins of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(count: usize, bytes: usize) -> Result<Self> {
        let (mut entries, mut free) = (Vec::new(), Vec::new());
        let refused = |_| Error::OutOfMemory { what: "the list of bins", bytes: 32 * count as u64 };
        entries.try_reserve_exact(count).map_err(refused)?;
        free.try_reserve_exact(count).map_err(refused)?;
        entries.resize(count, Vec::new());
        free.resize(count, bytes.saturating_sub(BIN));
        Ok(Self { entries, free })
    }

    /// Puts an entry into one of its bins, moving others where both are full. `places(entry)` gives
    /// its bins and bytes.
    ///
    /// The emptier of two bins keeps all of them about equally full; where neither has room,
    /// entries move on to their other bins, as cuckoos do.
    pub fn insert(&mut self, entry: u32, places: &impl Fn(u32) -> (Vec<usize>, usize)) -> bool {
        let mut homeless = vec![entry];
        let mut turn = entry as usize;
        for _ in 0..MOST_MOVES {
            let Some(entry) = homeless.pop() else { return true };
            let (bins, bytes) = places(entry);
            let emptiest = bins.iter().copied().max_by_key(|&bin| self.free[bin]).expect("an entry has a bin");
            if self.free[emptiest] >= bytes {
                self.free[emptiest] -= bytes;
                self.entries[emptiest].push(entry);
                continue;
            }
            if bins.len() == 1 {
                return false;
            }
            // Out go entries of one of the bins until this one has room.
            turn = turn.wrapping_mul(0x9e37_79b9).wrapping_add(1);
            let bin = bins[(turn >> 7) % bins.len()];
            while self.free[bin] < bytes {
                if self.entries[bin].is_empty() {
                    return false;
                }
                turn = turn.wrapping_mul(0x9e37_79b9).wrapping_add(1);
                let index = (turn >> 7) % self.entries[bin].len();
                let moved = self.entries[bin].swap_remove(index);
                self.free[bin] += places(moved).1;
                homeless.push(moved);
            }
            self.free[bin] -= bytes;
            self.entries[bin].push(entry);
        }
        homeless.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keywords() -> Keywords {
        Keywords { count: 1, choices: 2, fragments: 3, fragment_bytes: 5, seed: "00".into() }
    }

    #[test]
    fn bins_come_back_and_other_coefficients_are_none() {
        let entries = keywords().entries(b"key", b"twelve bytes").unwrap();
        assert_eq!(entries.iter().map(|entry| entry.more).collect::<Vec<_>>(), [true, true, false]);
        let mut coefficients = vec![0; N];
        write_bin(entries.iter(), 13, &mut coefficients);
        assert_eq!(read_bin(&coefficients, 13), Some(entries));
        coefficients[N - 1] = 1;
        assert_eq!(read_bin(&coefficients, 13), None);
        assert_eq!(read_bin(&[-1; N], 13), None);
        assert!(matches!(keywords().entries(b"key", &[0; 16]), Err(Error::EntryTooLong { most: 15, .. })));
        assert_eq!(keywords().entries(b"key", b"").unwrap().len(), 1, "an empty row is a row");
    }

    #[test]
    fn two_choices_fill_bins_of_few_entries() {
        // Nine entries a bin, filled to 92 in a hundred.
        let (bins, size) = (2000, 9);
        let mut filled = Bins::new(bins, BIN + size).unwrap();
        let mut tag = 1u64;
        let tags: Vec<u64> = (0..bins * size * 92 / 100)
            .map(|_| {
                tag = tag.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                tag ^ (tag >> 31)
            })
            .collect();
        let place = |entry: u32| {
            let tag = tags[entry as usize];
            (vec![spread(tag, 0x9e37_79b9_7f4a_7c15, bins as u64), spread(tag, 0xd1b5_4a32_d192_ed03, bins as u64)], 1)
        };
        assert!((0..tags.len() as u32).all(|entry| filled.insert(entry, &place)));
        for (bin, entries) in filled.entries.iter().enumerate() {
            assert!(entries.len() <= size && entries.iter().all(|&entry| place(entry).0.contains(&bin)));
        }
        assert_eq!(filled.entries.iter().map(Vec::len).sum::<usize>(), tags.len());
    }
}
