//! Memory of residue rows: each row begins at a multiple of 64 bytes.

use std::fmt;
use std::sync::Arc;

use memmap2::MmapMut;
use windlass_kernels::Mapping;
use zeroize::Zeroize;

/// Words in a cache line, and in a vector of the kernels.
const LINE: usize = 8;

/// Rows that lie this many words apart share their cache sets: a page of 4 KiB.
const ALIAS: usize = 512;

/// Added to such a distance: nine lines, so that the rows of a sum fall into different sets.
const SKEW: usize = 9 * LINE;

/// From this many words on, memory is asked for in huge pages of 2 MiB: a key switch goes through
/// thousands of pages of 4 KiB, more than the translation cache holds.
const HUGE: usize = 1 << 18;

/// Where the words are.
enum Memory {
    /// Aligned to 16 bytes only.
    Heap(Vec<u64>),
    /// Private pages.
    Pages(MmapMut),
    /// A file that other processes may read too: never written, never handed on to the pool.
    Mapped(Arc<Mapping>),
    /// Memory that several buffers read: public constants only, for it cannot be wiped while
    /// another buffer reads it.
    Shared(Arc<Memory>),
}

impl Memory {
    /// Zeros.
    fn new(words: usize) -> Self {
        // Whole huge pages, where that adds little: the system aligns such mappings to them.
        let words = if words >= 8 * HUGE { words.next_multiple_of(HUGE) } else { words };
        let pages = if words >= HUGE { MmapMut::map_anon(words * size_of::<u64>()).ok() } else { None };
        let Some(pages) = pages else { return Self::Heap(vec![0; words]) };
        // Huge pages are optional: without them it is slower, nothing else.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Self::Pages(pages)
    }

    fn words(&self) -> &[u64] {
        match self {
            Self::Heap(words) => words,
            Self::Pages(pages) => bytemuck::cast_slice(pages),
            Self::Mapped(file) => whole_words(file.bytes()),
            Self::Shared(memory) => memory.words(),
        }
    }

    /// Not for memory of others: [`RowBuffer::own`] comes first.
    fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Heap(words) => words,
            Self::Pages(pages) => bytemuck::cast_slice_mut(pages),
            Self::Mapped(_) | Self::Shared(_) => unreachable!("memory of others is not written"),
        }
    }

    /// The words, unless another buffer or process reads them.
    fn unshared_mut(&mut self) -> Option<&mut [u64]> {
        match self {
            Self::Mapped(_) => None,
            Self::Shared(memory) => Arc::get_mut(memory)?.unshared_mut(),
            memory => Some(memory.words_mut()),
        }
    }
}

/// The words of some bytes that begin at a word, without what is left over at the end.
fn whole_words(bytes: &[u8]) -> &[u64] {
    bytemuck::cast_slice(&bytes[..bytes.len() / size_of::<u64>() * size_of::<u64>()])
}

impl Default for Memory {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

/// `rows` rows of `n` words.
///
/// A vector of eight words that is not aligned straddles two cache lines, and `Vec` aligns to 16
/// bytes only: so more is allocated and the rows begin at an offset. What lies between rows is
/// never read.
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

/// How much larger than needed a buffer may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Waste {
    /// As much again: for what is soon returned.
    Double,
    /// An eighth: for what is held for long.
    Eighth,
}

impl Waste {
    /// The most words for what needs so many.
    pub fn most(self, needed: usize) -> usize {
        match self {
            Self::Double => 2 * needed,
            Self::Eighth => needed + needed / 8,
        }
    }
}

impl RowBuffer {
    /// Distance of rows of n words, in memory and in files: part of their format.
    pub fn stride(n: usize) -> usize {
        let stride = n.next_multiple_of(LINE);
        if stride % ALIAS == 0 { stride + SKEW } else { stride }
    }

    /// Words to allocate.
    pub fn words(rows: usize, n: usize) -> usize {
        rows * Self::stride(n) + LINE
    }

    /// Rows of zeros.
    pub fn new(rows: usize, n: usize) -> Self {
        Self::in_memory(Memory::new(Self::words(rows, n)), rows, n)
    }

    fn in_memory(memory: Memory, rows: usize, n: usize) -> Self {
        // There is room for a shift by up to a line.
        let offset = memory.words().as_ptr().align_offset(LINE * size_of::<u64>()).min(LINE);
        Self { memory, offset, stride: Self::stride(n), n, rows }
    }

    /// Memory that may be used for something else: that of the buffer, and if several share it, all
    /// of it once the last of them is given up.
    pub fn given_up(self) -> Option<Self> {
        match self.memory {
            Memory::Mapped(_) => None,
            Memory::Shared(memory) => Self::in_memory(Arc::into_inner(memory)?, 0, self.n).given_up(),
            _ => Some(self),
        }
    }

    /// Rows that lie in a file, the first of them at word `offset`, which is a multiple of a line.
    pub fn mapped(file: &Arc<Mapping>, offset: usize, rows: usize, n: usize) -> Self {
        let memory = Memory::Mapped(Arc::clone(file));
        assert!(
            offset.is_multiple_of(LINE) && offset + rows * Self::stride(n) <= memory.words().len(),
            "rows of the file"
        );
        Self { memory, offset, stride: Self::stride(n), n, rows }
    }

    /// Rows of unspecified contents in the memory of `self`, if they fit in without wasting more of
    /// it.
    pub fn reshape(&mut self, rows: usize, n: usize, waste: Waste) -> bool {
        let needed = Self::words(rows, n);
        let fits = needed <= self.capacity() && self.capacity() <= waste.most(needed);
        if fits {
            (self.stride, self.n, self.rows) = (Self::stride(n), n, rows);
        }
        fits
    }

    /// Deals the rows out to `parts` buffers that share this memory: row r of part k is row
    /// `r·parts + k`.
    ///
    /// A part that is written to gets memory of its own first. Shared rows are for public constants
    /// only: what one part held is wiped no sooner than the last part that is wiped.
    pub fn deal(self, parts: usize) -> Vec<Self> {
        assert!(parts > 0 && self.rows.is_multiple_of(parts), "as many rows for each part");
        let memory = Arc::new(self.memory);
        let part = |k: usize| Self {
            memory: Memory::Shared(Arc::clone(&memory)),
            offset: self.offset + k * self.stride,
            stride: parts * self.stride,
            n: self.n,
            rows: self.rows / parts,
        };
        (0..parts).map(part).collect()
    }

    /// Moves the rows into memory of their own, where others read it.
    fn own(&mut self) {
        if matches!(self.memory, Memory::Mapped(_) | Memory::Shared(_)) {
            let mut copy = Self::new(self.rows, self.n);
            (0..self.rows).for_each(|row| copy.row_mut(row).copy_from_slice(self.row(row)));
            *self = copy;
        }
    }

    /// Words held, used or not; none if others read them.
    pub fn capacity(&self) -> usize {
        match &self.memory {
            Memory::Mapped(_) | Memory::Shared(_) => 0,
            memory => memory.words().len(),
        }
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
        self.own();
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
        self.own();
        let (start, end) = (self.offset, self.offset + self.rows * self.stride);
        let chunks = self.memory.words_mut()[start..end].chunks_exact_mut(self.stride);
        chunks.map(|chunk| &mut chunk[..self.n]).collect()
    }
}

impl Zeroize for RowBuffer {
    /// Rows of zeros; memory that other buffers read is left to them, and wiped with the last of
    /// them.
    fn zeroize(&mut self) {
        match self.memory.unshared_mut() {
            Some(words) => words.zeroize(),
            None => *self = Self::new(self.rows, self.n),
        }
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
    fn dealt_rows_are_shared_until_they_are_written() {
        for n in [6, 1024, 40000] {
            let mut whole = RowBuffer::new(6, n);
            (0..6).for_each(|row| whole.row_mut(row).fill(row as u64));
            let mut parts = whole.deal(3);
            for (k, part) in parts.iter().enumerate() {
                assert_eq!((part.rows(), part.capacity()), (2, 0));
                assert!((0..2).all(|r| part.row(r).iter().all(|&x| x == (3 * r + k) as u64)), "part {k}");
            }
            parts[1].row_mut(0).fill(9);
            assert!(parts[1].capacity() >= 2 * n && parts[1].row(1).iter().all(|&x| x == 4));
            assert!(parts[0].row(0).iter().all(|&x| x == 0) && parts[2].row(0).iter().all(|&x| x == 2));
        }
    }

    #[test]
    fn dealt_rows_are_wiped_with_the_last_part() {
        let mut whole = RowBuffer::new(4, 40);
        (0..4).for_each(|row| whole.row_mut(row).fill(row as u64 + 1));
        let mut parts = whole.deal(2);
        parts[0].zeroize();
        assert!(parts[0].iter().flatten().all(|&x| x == 0) && parts[1].iter().flatten().all(|&x| x != 0));
        // The last part holds the memory alone: no copy is made, and the rows of the other part in
        // it are wiped as well.
        let address = parts[1].row(0).as_ptr();
        parts[1].zeroize();
        assert_eq!(parts[1].row(0).as_ptr(), address);
        assert!(parts[1].memory.words().iter().all(|&x| x == 0) && parts[1].rows() == 2);
    }

    #[test]
    fn shared_memory_is_given_up_with_the_last_part() {
        let whole = RowBuffer::new(6, 40);
        let words = whole.capacity();
        let mut parts = whole.deal(3);
        let last = parts.pop().unwrap();
        assert!(parts.into_iter().all(|part| part.given_up().is_none()));
        let mut again = last.given_up().unwrap();
        assert_eq!((again.rows(), again.capacity()), (0, words));
        assert!(again.reshape(5, 40, Waste::Double));
        again.split_mut().into_iter().for_each(|row| row.fill(7));
        assert_eq!(again.row(4).as_ptr().align_offset(64), 0);
        // A file is nobody's to give away, dealt out or not.
        struct File(Vec<u64>);
        impl AsRef<[u8]> for File {
            fn as_ref(&self) -> &[u8] {
                bytemuck::cast_slice(&self.0)
            }
        }
        let file = Arc::new(Mapping::of_memory(File(vec![0; 512])));
        assert!(RowBuffer::mapped(&file, 0, 2, 40).given_up().is_none());
        let mut parts = RowBuffer::mapped(&file, 0, 2, 40).deal(2);
        assert!(parts.pop().unwrap().given_up().is_none() && parts.pop().unwrap().given_up().is_none());
    }

    #[test]
    fn memory_is_reused_where_it_fits() {
        let mut buffer = RowBuffer::new(4, 100);
        assert!(buffer.reshape(3, 100, Waste::Double) && buffer.rows() == 3);
        assert!(!buffer.reshape(5, 100, Waste::Double) && !buffer.reshape(1, 100, Waste::Double));
        assert_eq!((buffer.rows(), buffer.row(2).len()), (3, 100));
    }
}
