//! Splits rows by key into entries, and computes how many bins they need.

use crate::keywords::{BIN, Keywords, bin_bytes};
use crate::requirements::RowStatistics;

/// How keys become tags.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hashing<'s> {
    /// What they are hashed with.
    pub seed: &'s str,
    /// Bytes of a tag.
    pub tag_bytes: usize,
    /// How rows become entries.
    pub cut: Cut,
}

/// How rows become entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Long rows are cut into fragments.
    Fragments,
    /// Rows are whole, and all have one length: sealed rows.
    Whole,
}

/// Bytes of a fragment of a long row: four of them fill a bin of so many bytes.
fn quarter(bin: usize, overhead: usize) -> usize {
    ((bin - BIN) / 4).saturating_sub(overhead).max(1)
}

/// The mean number of entries of a bin with room for `most`, if each entry may lie in only one bin:
/// the fullest of Poisson bins is six standard deviations above the mean.
fn mean_of_fullest(most: f64) -> Option<f64> {
    let mean = most + 18.0 - (36.0 * most + 324.0).sqrt();
    (mean >= 1.0).then_some(mean)
}

/// The part of all places that entries of one length may take where each may lie in two bins of so many
/// places: below the thresholds of cuckoo hashing (0.5, 0.897, 0.959, 0.980 for 1 to 4 places), as far
/// as 1000 moves for an entry reach.
fn load(places: usize) -> f64 {
    match places {
        1 => 0.33,
        2 => 0.80,
        3 => 0.90,
        _ => 0.94,
    }
}

impl Keywords {
    /// What keys are like in bins of polynomials of these bits.
    pub(crate) fn of(rows: RowStatistics, bits: u32, choices: usize, hashing: Hashing<'_>) -> Option<Self> {
        let Hashing { seed, tag_bytes, cut } = hashing;
        let start =
            Self { count: rows.count, choices, fragments: 1, fragment_bytes: 1, seed: seed.to_owned(), tag_bytes };
        let overhead = start.overhead();
        let room = bin_bytes(bits).checked_sub(BIN + overhead)?;
        let fragment_bytes = match rows.longest {
            short if short <= room / 4 => short,
            whole if cut == Cut::Whole && whole <= room => whole,
            _ if cut == Cut::Whole => return None,
            _ => quarter(bin_bytes(bits), overhead),
        };
        let fragment_bytes = fragment_bytes.max(1);
        let fragments = rows.longest.div_ceil(fragment_bytes).max(1);
        (fragments <= crate::query::MOST_ROWS).then_some(Self { fragments, fragment_bytes, ..start })
    }

    /// Bins that should do for rows `grown` times as many.
    pub(crate) fn bins_for(&self, rows: RowStatistics, bits: u32, grown: f64, cut: Cut) -> Option<usize> {
        let bins = if cut == Cut::Whole {
            self.bins_of_places(rows.count as f64 * grown, self.slots(bits, rows.longest))
        } else {
            self.bins_of_bytes(rows, bits, grown)
        };
        bins.map(|bins| bins.ceil() as usize)
    }

    /// Bins of entries that all have one length.
    fn bins_of_places(&self, entries: f64, places: usize) -> Option<f64> {
        match (self.choices, places) {
            (_, 0) => None,
            (1, _) => mean_of_fullest(places as f64).map(|mean| entries / mean),
            _ => Some(entries / (places as f64 * load(places))),
        }
    }

    /// Bins of entries whose lengths differ.
    fn bins_of_bytes(&self, rows: RowStatistics, bits: u32, grown: f64) -> Option<f64> {
        let room = bin_bytes(bits).checked_sub(BIN)? as f64;
        let entries = rows.count as f64
            * grown
            * (rows.total as f64 / rows.count as f64 / self.fragment_bytes as f64).ceil().max(1.0);
        let total = rows.total as f64 * grown + entries * self.overhead() as f64;
        let entry = (total / entries).max((self.overhead() + self.fragment_bytes.min(rows.longest)) as f64 / 2.0);
        if self.choices == 1 {
            return mean_of_fullest(room / entry).map(|mean| entries / mean);
        }
        // Beside what moves cannot fill, half an entry is left over in each bin.
        let usable = 0.94 * (room - entry / 2.0);
        (usable > entry).then(|| total / usable)
    }
}
