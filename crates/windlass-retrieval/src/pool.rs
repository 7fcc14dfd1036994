//! Reuses the memory of queries, since fresh pages are more expensive than the data written to
//! them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_kernels::scan::{Two, WIDTH};

use crate::error::{Error, Result};

/// Bytes that tables and queries are aligned to.
pub(crate) const ALIGNMENT: usize = 64;

/// Words of 32 bits, aligned.
#[derive(Debug, Default)]
pub(crate) struct Words {
    words: Vec<i32>,
    /// Where the first aligned word is.
    start: usize,
}

impl Words {
    /// Zeros; ends the process where there is no memory, as every small allocation does.
    fn small(count: usize) -> Self {
        Self::aligned(vec![0; count + ALIGNMENT / 4])
    }

    fn aligned(words: Vec<i32>) -> Self {
        let start = words.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT / 4);
        Self { words, start }
    }

    /// Zeros.
    pub fn new(what: &'static str, count: usize) -> Result<Self> {
        let bytes = (count as u64).saturating_mul(4);
        let padded = count.checked_add(ALIGNMENT / 4).ok_or(Error::OutOfMemory { what, bytes })?;
        let mut words: Vec<i32> = Vec::new();
        let reserved = windlass::has_memory(bytes) && words.try_reserve_exact(padded).is_ok();
        if !reserved {
            return Err(Error::OutOfMemory { what, bytes });
        }
        words.resize(padded, 0);
        Ok(Self::aligned(words))
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.words.len() - self.start
    }

    /// Words without sign.
    pub fn residues(&self) -> &[u32] {
        bytemuck::cast_slice(&self.words[self.start..])
    }

    /// The same, to be written.
    pub fn residues_mut(&mut self) -> &mut [u32] {
        bytemuck::cast_slice_mut(&mut self.words[self.start..])
    }

    /// Groups of eight, in pairs.
    pub fn twos(&self) -> &[Two] {
        let words = &self.words[self.start..];
        bytemuck::cast_slice(&words[..words.len() / WIDTH / 2 * WIDTH * 2])
    }

    /// The same, to be written.
    pub fn twos_mut(&mut self) -> &mut [Two] {
        let words = &mut self.words[self.start..];
        let whole = words.len() / WIDTH / 2 * WIDTH * 2;
        bytemuck::cast_slice_mut(&mut words[..whole])
    }
}

/// Unused memory.
#[derive(Debug)]
pub(crate) struct Pool {
    spare: Mutex<Vec<Words>>,
    /// Most pieces that are kept.
    most: usize,
}

impl Pool {
    /// Keeps this many pieces.
    pub fn of(most: usize) -> Self {
        Self { spare: Mutex::default(), most }
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Words>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An unused piece, the last one returned: it is the most likely to be in cache.
    fn kept(&self, count: usize) -> Option<Words> {
        let mut spare = self.spare();
        // A larger piece than twice the need is kept for those who need it.
        let fits = |words: &Words| (count..=2 * count).contains(&words.len());
        let found = spare.iter().rposition(fits)?;
        Some(spare.swap_remove(found))
    }

    /// At least `count` words of unspecified contents.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn take(&self, count: usize) -> Result<Words> {
        self.kept(count).map_or_else(|| Words::new("a query", count), Ok)
    }

    /// As [`Self::take`], for little memory.
    pub fn take_or_abort(&self, count: usize) -> Words {
        self.kept(count).unwrap_or_else(|| Words::small(count))
    }

    /// Keeps words for the next query.
    pub fn give_back(&self, words: Words) {
        let mut spare = self.spare();
        if spare.len() == self.most {
            spare.remove(0);
        }
        spare.push(words);
    }
}
