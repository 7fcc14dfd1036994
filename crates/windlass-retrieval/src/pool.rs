//! Memory of queries, used again: fresh pages cost more than what is written to them.

use std::sync::Mutex;

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
    /// Zeros.
    pub fn new(what: &'static str, count: usize) -> Result<Self> {
        let bytes = (count as u64).saturating_mul(4);
        let padded = count.checked_add(ALIGNMENT / 4).ok_or(Error::OutOfMemory { what, bytes })?;
        let mut words: Vec<i32> = Vec::new();
        words.try_reserve_exact(padded).map_err(|_| Error::OutOfMemory { what, bytes })?;
        words.resize(padded, 0);
        let start = words.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT / 4);
        Ok(Self { words, start })
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.words.len() - self.start
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

/// Words that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<Words>>);

impl Pool {
    /// Most pieces that are kept: those of the queries of one pass.
    const MOST: usize = 16;

    /// At least `count` words of unspecified contents.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn take(&self, count: usize) -> Result<Words> {
        let mut spare = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A larger piece than twice the need is kept for those who need it.
        let fits = |words: &Words| (count..=2 * count).contains(&words.len());
        let found = spare.iter().position(fits).map(|index| spare.swap_remove(index));
        drop(spare);
        found.map_or_else(|| Words::new("a query", count), Ok)
    }

    /// Keeps words for the next query.
    pub fn give_back(&self, words: Words) {
        let mut spare = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if spare.len() == Self::MOST {
            spare.remove(0);
        }
        spare.push(words);
    }
}
