//! Assigns entries to bins by cuckoo hashing: each entry may be in one of two bins.
//!
//! An entry goes to the emptier of its two bins, so that all bins are about equally full. If both
//! are full, entries of one of them move to their other bins (Pagh and Rodler 2004; bins of several
//! entries: Dietzfelbinger and Weidling 2007).

use crate::error::{Error, Result};

/// Bins that entries are put into.
pub(crate) trait Bins {
    /// What lies in them.
    type Entry;

    /// The bins that an entry may lie in, and its bytes.
    fn places(&self, entry: &Self::Entry) -> (Vec<usize>, usize);

    /// Bytes that are free in a bin.
    fn free(&mut self, bin: usize) -> Result<usize>;

    /// Puts an entry into a bin that has room for it.
    fn put(&mut self, bin: usize, entry: Self::Entry) -> Result<()>;

    /// Takes an entry out of a bin, any one that `random` names; none from an empty bin.
    fn take(&mut self, bin: usize, random: usize) -> Result<Option<Self::Entry>>;
}

/// Moves after which a place is taken not to exist.
const MOST_MOVES: usize = 1000;

/// Puts an entry into one of its bins, moving others where they are full. False when no place was
/// found: then some entry is in no bin any more. Moves follow from `seed`.
///
/// # Errors
/// Those of the bins.
pub(crate) fn insert<B: Bins>(bins: &mut B, entry: B::Entry, seed: usize) -> Result<bool> {
    let (mut homeless, mut turn) = (vec![entry], seed);
    let mut random = || {
        turn = turn.wrapping_mul(0x9e37_79b9).wrapping_add(1);
        turn >> 7
    };
    for _ in 0..MOST_MOVES {
        let Some(entry) = homeless.pop() else { return Ok(true) };
        let (places, bytes) = bins.places(&entry);
        let mut emptiest = (places[0], bins.free(places[0])?);
        for &place in &places[1..] {
            let free = bins.free(place)?;
            if free >= emptiest.1 {
                emptiest = (place, free);
            }
        }
        if emptiest.1 >= bytes {
            bins.put(emptiest.0, entry)?;
            continue;
        }
        if places.len() == 1 {
            return Ok(false);
        }
        // Out go entries of one of the bins until this one has room.
        let bin = places[random() % places.len()];
        while bins.free(bin)? < bytes {
            let Some(moved) = bins.take(bin, random())? else { return Ok(false) };
            homeless.push(moved);
        }
        bins.put(bin, entry)?;
    }
    Ok(homeless.is_empty())
}

/// Bins of a table that is made: numbers of entries.
#[derive(Debug)]
pub(crate) struct Filling {
    /// What lies in each.
    pub entries: Vec<Vec<u32>>,
    free: Vec<usize>,
}

/// Bins with the places of their entries.
struct Placed<'a, P> {
    bins: &'a mut Filling,
    places: &'a P,
}

impl Filling {
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
        free.resize(count, bytes);
        Ok(Self { entries, free })
    }

    /// As [`insert`]; `places(entry)` gives the bins of an entry and its bytes.
    pub fn insert(&mut self, entry: u32, places: &impl Fn(u32) -> (Vec<usize>, usize)) -> bool {
        insert(&mut Placed { bins: self, places }, entry, entry as usize).is_ok_and(|found| found)
    }
}

impl<P: Fn(u32) -> (Vec<usize>, usize)> Bins for Placed<'_, P> {
    type Entry = u32;

    fn places(&self, entry: &u32) -> (Vec<usize>, usize) {
        (self.places)(*entry)
    }

    fn free(&mut self, bin: usize) -> Result<usize> {
        Ok(self.bins.free[bin])
    }

    fn put(&mut self, bin: usize, entry: u32) -> Result<()> {
        self.bins.free[bin] -= (self.places)(entry).1;
        self.bins.entries[bin].push(entry);
        Ok(())
    }

    fn take(&mut self, bin: usize, random: usize) -> Result<Option<u32>> {
        let entries = &mut self.bins.entries[bin];
        if entries.is_empty() {
            return Ok(None);
        }
        let entry = entries.swap_remove(random % entries.len());
        self.bins.free[bin] += (self.places)(entry).1;
        Ok(Some(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords::places;

    #[test]
    fn two_choices_fill_bins_of_few_entries() {
        // Nine entries a bin, filled to 92 in a hundred.
        let (bins, size) = (2000, 9);
        let mut filled = Filling::new(bins, size).unwrap();
        let mut tag = 1u64;
        let tags: Vec<u64> = (0..bins * size * 92 / 100)
            .map(|_| {
                tag = tag.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                tag ^ (tag >> 31)
            })
            .collect();
        let place = |entry: u32| (places(tags[entry as usize], 2, bins), 1);
        assert!((0..tags.len() as u32).all(|entry| filled.insert(entry, &place)));
        for (bin, entries) in filled.entries.iter().enumerate() {
            assert!(entries.len() <= size && entries.iter().all(|&entry| place(entry).0.contains(&bin)));
        }
        assert_eq!(filled.entries.iter().map(Vec::len).sum::<usize>(), tags.len());
    }
}
