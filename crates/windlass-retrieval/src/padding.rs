//! The padding entries that fill the bins of a table with hidden keys.
//!
//! A bin must not reveal how many of its entries are rows. All entries have one length. Without the
//! key of the function, sealed rows and padding both look like random bytes. Every bin holds as
//! many entries as fit. Only the tag remains: a public function of it gives the bins in which its
//! entry may be ([`Keywords::bins`]). So padding needs tags that are allowed in its bin, with the
//! distribution that tags of rows have there.
//!
//! *One choice.* The tag of a row is uniform, hence uniform among the tags of its bin. So is a padding
//! tag.
//!
//! *Two choices, B bins.* A row lies in the emptier of its two bins. The rule treats both alike if ties
//! are broken by a coin that has nothing to do with the tag, so a row of bin b is there
//!
//! ```text
//! by choice i = 0 or 1, with probability 1/2 each; then its tag is uniform among those whose choice i is b
//! ```
//!
//! in the average over tables, and so is a padding tag. The coin is one bit of an HMAC-SHA-256 of the
//! tag, under a key that only the server has ([`Padding::turn`]). A public rule for ties would let one
//! choice prevail among rows.
//!
//! **Warning.** One leak remains, to an observer who has all bins. For each bin b it can count the
//! entries of other bins whose second choice is b. Padding is put into its bins independently of
//! how full they are. A row is put into the emptier bin, so many rows are elsewhere if b was full
//! early. The count therefore varies more from bin to bin the more entries are rows. The observer can
//! estimate from this variance how many rows the whole table has. The schema states the number
//! anyway.

use hmac::{Hmac, Mac};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::keywords::{Entry, Keywords, tag_in};
use crate::oprf::OprfKey;
use crate::sealed::Oprf;
use crate::shape::Shape;

/// Entries that fill bins up. Only the server tells them from rows: they follow from its key, the
/// table and the number of the bin.
#[derive(Clone)]
pub(crate) struct Padding {
    /// What entries follow from.
    seed: Zeroizing<[u8; 32]>,
    /// What coins follow from.
    coins: Zeroizing<[u8; 32]>,
    /// Bytes of the value of every entry.
    value: usize,
}

impl std::fmt::Debug for Padding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Padding").finish_non_exhaustive()
    }
}

/// HMAC-SHA-256.
fn code(key: &[u8; 32], of: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut code = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    code.update(of);
    Zeroizing::new(code.finalize().into_bytes().into())
}

impl Padding {
    /// That of the table whose schema has this hash. Two tables have nothing in common, also if one key
    /// hides the keys of both.
    pub fn of(oprf: &Oprf, key: &OprfKey, table: &[u8; 32]) -> Self {
        let derive = |purpose: &[u8]| key.derive(&[purpose, table].concat());
        Self {
            seed: derive(b"windlass padding of bins 2\n"),
            coins: derive(b"windlass coins of rows 1\n"),
            value: oprf.sealed_bytes(),
        }
    }

    /// A random number that follows from a tag. Without the key it does not follow from any tag.
    pub fn turn(&self, tag: u128) -> u64 {
        let code = code(&self.coins, &tag.to_le_bytes());
        u64::from_le_bytes(code[..8].try_into().expect("eight bytes"))
    }

    /// Whether an entry of this tag looks at its bins in the other order: of two that are equally full
    /// it is put into the later one.
    pub fn is_turned(&self, tag: u128) -> bool {
        self.turn(tag) & 1 == 1
    }

    /// The entries that may fill a bin up.
    fn entries(&self, keywords: &Keywords, shape: &Shape, bin: usize, count: usize) -> Vec<Entry> {
        let mut rng = ChaCha20Rng::from_seed(*code(&self.seed, &(bin as u64).to_le_bytes()));
        let entry = |_| {
            let mut random = || u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
            let [high, choice, which] = [random(), random() % keywords.choices as u128, random()];
            let low = tag_in(bin, shape.polynomials(), choice as usize, which);
            let mut value = vec![0; self.value];
            rng.fill_bytes(&mut value);
            Entry { tag: high << 64 | u128::from(low), more: false, value }
        };
        (0..count).map(entry).collect()
    }

    /// Entries that a bin holds.
    fn slots(&self, keywords: &Keywords, shape: &Shape) -> usize {
        keywords.slots(shape.message_bits, self.value)
    }

    /// Fills a bin up, in the order of tags.
    pub fn fill(&self, keywords: &Keywords, shape: &Shape, bin: usize, entries: &mut Vec<Entry>) {
        let free = self.slots(keywords, shape).saturating_sub(entries.len());
        entries.extend(self.entries(keywords, shape, bin, free));
        entries.sort_unstable_by_key(|entry| entry.tag);
    }

    /// Takes away what fills a bin up.
    pub fn take_off(&self, keywords: &Keywords, shape: &Shape, bin: usize, entries: &mut Vec<Entry>) {
        let ours = self.entries(keywords, shape, bin, self.slots(keywords, shape));
        entries.retain(|entry| ours.iter().all(|other| other.tag != entry.tag));
    }
}
