//! Counts what kernels do, for measurements.
//!
//! Counting is off until a program asks for it. Then every counted kernel adds to counters of the whole
//! process, whatever thread runs it: two or three additions for a row of some thousand words. Without it
//! a kernel reads one flag.
//!
//! Counted are the transforms of [`NttPlan`](crate::NttPlan), base conversions
//! ([`rows::dot_sources`](crate::rows::dot_sources)) and, by those who call
//! [`rows::dot_pairs`](crate::rows::dot_pairs), the words of keys and of constants that it reads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is counted, in words of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Words of rows that are transformed, in either direction.
    Transformed,
    /// Multiply-adds of base conversions.
    Converted,
    /// Words of keys that are read. Each is multiplied by one digit.
    Keys,
    /// Products of both parts of a ciphertext with one word of a constant.
    Constants,
    /// Words that hold these constants in memory: fewer where their values repeat.
    ConstantWords,
}

/// How much was done since counting began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Words transformed.
    pub transformed: u64,
    /// Multiply-adds of base conversions.
    pub converted: u64,
    /// Words of keys read.
    pub keys: u64,
    /// Products with words of constants.
    pub constants: u64,
    /// Words of constants read.
    pub constant_words: u64,
}

impl Counts {
    /// What was done after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.combined(earlier, |now, then| now - then)
    }

    /// What was done in both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combined(other, |a, b| a + b)
    }

    fn combined(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            transformed: f(self.transformed, other.transformed),
            converted: f(self.converted, other.converted),
            keys: f(self.keys, other.keys),
            constants: f(self.constants, other.constants),
            constant_words: f(self.constant_words, other.constant_words),
        }
    }
}

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static COUNTERS: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];

/// Counts from now on, in this process.
pub fn start_counting() {
    IS_COUNTING.store(true, Ordering::Relaxed);
}

/// Whether anyone counts.
#[inline]
pub fn is_counting() -> bool {
    IS_COUNTING.load(Ordering::Relaxed)
}

/// What all threads have done so far; zero before [`start_counting`].
pub fn counts() -> Counts {
    let [transformed, converted, keys, constants, constant_words] =
        COUNTERS.each_ref().map(|counter| counter.load(Ordering::Relaxed));
    Counts { transformed, converted, keys, constants, constant_words }
}

/// Adds words to a counter, if anyone counts.
#[inline]
pub fn add(kind: Kind, words: usize) {
    if is_counting() {
        COUNTERS[kind as usize].fetch_add(words as u64, Ordering::Relaxed);
    }
}
