//! Keeps the memory of polynomials for later ones, because fresh pages cost more than the arithmetic on
//! them.

use std::collections::VecDeque;

use crate::buffer::{RowBuffer, Waste};

/// Spare buffers, those returned last at the end.
#[derive(Debug)]
pub(crate) struct BufferPool {
    buffers: VecDeque<RowBuffer>,
    /// Words of all of them.
    words: usize,
    /// The most words, and buffers, that are kept.
    most: (usize, usize),
}

/// The most words that are kept, unless [`POLYNOMIALS`] are more: 512 MiB.
const WORDS: usize = 1 << 26;

/// Polynomials modulo all primes that are kept: what removing digits or refreshing a list returns
/// at once and soon takes again. It was in use before, so the peak of a process hardly changes.
const POLYNOMIALS: usize = 96;

/// The most buffers that are kept.
const BUFFERS: usize = 4096;

impl BufferPool {
    /// None yet, for a ring of dimension n with so many primes.
    pub fn new(n: usize, primes: usize) -> Self {
        let words = WORDS.max(POLYNOMIALS * RowBuffer::words(primes, n));
        Self { buffers: VecDeque::new(), words: 0, most: (words, BUFFERS) }
    }

    /// A buffer of `rows` rows of n words with unspecified contents, of which at most the part
    /// `waste` of what is needed is left over.
    pub fn take(&mut self, rows: usize, n: usize, waste: Waste) -> Option<RowBuffer> {
        // The last one returned is the likeliest to be in cache.
        let fit = (0..self.buffers.len()).rev().find(|&index| self.buffers[index].reshape(rows, n, waste))?;
        let buffer = self.buffers.remove(fit)?;
        self.words -= buffer.capacity();
        Some(buffer)
    }

    /// Keeps a buffer, unless it alone is half of what is kept. Where there would be too much, what
    /// was returned first gives way: sizes that are no longer asked for, such as those of setting
    /// up. Gives what is to be dropped.
    pub fn put(&mut self, buffer: RowBuffer) -> Vec<RowBuffer> {
        let (most_words, most_buffers) = self.most;
        if buffer.capacity() == 0 || buffer.capacity() > most_words / 2 {
            return vec![buffer];
        }
        self.words += buffer.capacity();
        self.buffers.push_back(buffer);
        let mut dropped = Vec::new();
        while self.words > most_words || self.buffers.len() > most_buffers {
            let Some(first) = self.buffers.pop_front() else { break };
            self.words -= first.capacity();
            dropped.push(first);
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(rows: usize) -> RowBuffer {
        RowBuffer::new(rows, 64)
    }

    #[test]
    fn what_was_returned_first_gives_way() {
        let (three, four) = (buffer(3).capacity(), buffer(4).capacity());
        let mut pool = BufferPool { most: (4 * three, BUFFERS), ..BufferPool::new(64, 4) };
        for rows in [3, 4, 3] {
            assert!(pool.put(buffer(rows)).is_empty());
        }
        let dropped: Vec<usize> = pool.put(buffer(3)).iter().map(RowBuffer::capacity).collect();
        assert_eq!((dropped, pool.words), (vec![three], 2 * three + four));
        // What is large is not kept, and empties nothing.
        assert_eq!(pool.put(buffer(7))[0].rows(), 7);
        assert_eq!((pool.buffers.len(), pool.words), (3, 2 * three + four));
        // Buffers are counted, too.
        pool.most.1 = 3;
        assert_eq!(pool.put(buffer(1))[0].capacity(), four);
    }

    #[test]
    fn large_rings_keep_more() {
        assert_eq!(BufferPool::new(1 << 12, 8).most.0, WORDS);
        let (n, primes) = (42336, 40);
        let words = BufferPool::new(n, primes).most.0;
        assert!(words >= 96 * n * primes && words < 97 * n * primes, "{words}");
    }

    #[test]
    fn what_is_held_for_long_wastes_little() {
        let mut pool = BufferPool::new(64, 12);
        assert!(pool.put(buffer(12)).is_empty() && pool.put(buffer(9)).is_empty());
        assert!(pool.take(7, 64, Waste::Eighth).is_none());
        assert_eq!(pool.take(8, 64, Waste::Eighth).unwrap().capacity(), buffer(9).capacity());
        assert!(pool.take(5, 64, Waste::Double).is_none());
        assert_eq!(pool.take(6, 64, Waste::Double).unwrap().rows(), 6);
        assert_eq!(pool.words, 0);
    }
}
