//! Memory of residue rows: each row begins at a multiple of 64 bytes.

use std::fmt;

use memmap2::MmapMut;
use zeroize::Zeroize;

/// Words in a cache line, and in a vector of the kernels.
const LINE: usize = 8;

/// Rows that lie this many words apart share their cache sets: a page of 4 KiB.
const ALIAS: usize = 512;

/// Added to such a distance: nine lines, so that the rows of a sum fall into different sets.
const SKEW: usize = 9 * LINE;

/// From this many words on, memory is asked for in huge pages of 2 MiB: a key switch goes through thousands of pages of 4 KiB, more than
/// the translation cache holds.
const HUGE: usize = 1 << 18;

/// Where the words are.
enum Memory {
    /// Aligned to 16 bytes only.
    Heap(Vec<u64>),
    /// Pages of its own.
    Pages(MmapMut),
}

impl Memory {
    /// Zeros.
    fn new(words: usize) -> Self {
        let pages = if words >= HUGE { MmapMut::map_anon(words * size_of::<u64>()).ok() } else { None };
        let Some(pages) = pages else { return Self::Heap(vec![0; words]) };
        // Huge pages are a wish: without them it is slower, nothing else.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Self::Pages(pages)
    }

    fn words(&self) -> &[u64] {
        match self {
            Self::Heap(words) => words,
            Self::Pages(pages) => bytemuck::cast_slice(pages),
        }
    }

    fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Heap(words) => words,
            Self::Pages(pages) => bytemuck::cast_slice_mut(pages),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

/// `rows` rows of `n` words.
///
/// A vector of eight words that is not aligned straddles two cache lines, and `Vec` aligns to 16 bytes only: so more is allocated and the rows
/// begin at an offset. What lies between rows is never read.
#[derive(Default)]
pub(crate) struct RowBuffer {
    memory: Memory,
    /// Words before the first row.
    offset: usize,
    stride: usize,
    n: usize,
    rows: usize,
}

impl fmt::Debug for RowBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowBuffer").field("rows", &self.rows).field("n", &self.n).finish_non_exhaustive()
    }
}

impl RowBuffer {
    /// Distance of rows of n words.
    fn stride(n: usize) -> usize {
        let stride = n.next_multiple_of(LINE);
        if stride % ALIAS == 0 { stride + SKEW } else { stride }
    }

    /// Words to allocate.
    fn words(rows: usize, n: usize) -> usize {
        rows * Self::stride(n) + LINE
    }

    /// Rows of zeros.
    pub fn new(rows: usize, n: usize) -> Self {
        let memory = Memory::new(Self::words(rows, n));
        // There is room for a shift by up to a line.
        let offset = memory.words().as_ptr().align_offset(LINE * size_of::<u64>()).min(LINE);
        Self { memory, offset, stride: Self::stride(n), n, rows }
    }

    /// Rows of unspecified contents in the memory of `self`, if they fit in without wasting more than half of it.
    pub fn reshape(&mut self, rows: usize, n: usize) -> bool {
        let needed = Self::words(rows, n);
        let fits = needed <= self.capacity() && self.capacity() <= 2 * needed;
        if fits {
            (self.stride, self.n, self.rows) = (Self::stride(n), n, rows);
        }
        fits
    }

    /// Words held, used or not.
    pub fn capacity(&self) -> usize {
        self.memory.words().len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[u64] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let start = self.offset + row * self.stride;
        &self.memory.words()[start..start + self.n]
    }

    /// One row.
    pub fn row_mut(&mut self, row: usize) -> &mut [u64] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let start = self.offset + row * self.stride;
        &mut self.memory.words_mut()[start..start + self.n]
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// All rows at once, in order.
    pub fn split_mut(&mut self) -> Vec<&mut [u64]> {
        let (start, end) = (self.offset, self.offset + self.rows * self.stride);
        let chunks = self.memory.words_mut()[start..end].chunks_exact_mut(self.stride);
        chunks.map(|chunk| &mut chunk[..self.n]).collect()
    }
}

impl Zeroize for RowBuffer {
    fn zeroize(&mut self) {
        self.memory.words_mut().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned_and_apart() {
        for (rows, n) in [(1, 6), (3, 8), (5, 12), (2, 512), (4, 1024), (7, 15708), (9, 32768)] {
            let mut buffer = RowBuffer::new(rows, n);
            for row in 0..rows {
                assert_eq!(buffer.row(row).as_ptr() as usize % 64, 0, "row {row} of n = {n}");
                assert_eq!(buffer.row(row).len(), n);
                buffer.row_mut(row).fill(row as u64 + 1);
            }
            let split: Vec<u64> = buffer.split_mut().iter().map(|row| row.iter().sum()).collect();
            assert_eq!(split, (1..=rows as u64).map(|x| x * n as u64).collect::<Vec<_>>());
            assert!((0..rows).all(|row| buffer.row(row).iter().all(|&x| x == row as u64 + 1)));
            assert_eq!(buffer.iter().len(), rows);
        }
    }

    #[test]
    fn memory_is_reused_where_it_fits() {
        let mut buffer = RowBuffer::new(4, 100);
        assert!(buffer.reshape(3, 100) && buffer.rows() == 3);
        assert!(!buffer.reshape(5, 100) && !buffer.reshape(1, 100));
        assert_eq!((buffer.rows(), buffer.row(2).len()), (3, 100));
    }
}
