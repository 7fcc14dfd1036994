//! Eight words of 64 bits without sign: what a reduction of residues above 50 bits is made of.
//!
//! Windlass computes modulo primes below 2^50 on [`super::Lanes`]. This arithmetic serves
//! [`crate::barrett`] alone, which measures how residues of 60 bits would do instead.

use super::LANES;

/// Eight words.
pub(crate) type Octet = [u64; LANES];

/// Arithmetic modulo 2^64 on eight words at a time, as in Inoue–Suzuki–Yamana 2022, §2.4.
pub(crate) trait Words: Copy {
    /// Eight words.
    type Vector: Copy;
    /// A distance of shifts, the same in all lanes.
    type Distance: Copy;

    /// Runs `kernel` with the backend's instructions enabled.
    fn vectorize<K: WordsKernel>(self, kernel: K) -> K::Output;
    /// Eight words from memory.
    fn load(self, words: &Octet) -> Self::Vector;
    /// Eight words to memory.
    fn store(self, words: &mut Octet, x: Self::Vector);
    /// One word everywhere.
    fn splat(self, word: u64) -> Self::Vector;
    /// A distance from 1 to 63.
    fn distance(self, bits: u32) -> Self::Distance;
    /// The lower word of `x·y`.
    fn mul_low(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// The upper word of `x·y`.
    fn mul_high(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// The lower word of `(2^64·high + low) >> distance`.
    fn shift_right_double(self, low: Self::Vector, high: Self::Vector, by: Self::Distance) -> Self::Vector;
    /// `x + y mod 2^64`.
    fn add(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// `x − y mod 2^64`.
    fn sub(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// The smaller word.
    fn min(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
}

/// An algorithm over [`Words`]; `run` and all that it calls must be `#[inline(always)]`.
pub(crate) trait WordsKernel {
    /// What it returns.
    type Output;
    /// Runs on one backend.
    fn run<W: Words>(self, words: W) -> Self::Output;
}

/// Plain Rust.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

#[inline(always)]
fn each(f: impl Fn(usize) -> u64) -> Octet {
    let mut out = [0; LANES];
    for j in 0..LANES {
        out[j] = f(j);
    }
    out
}

impl Words for Portable {
    type Vector = Octet;
    type Distance = u32;

    #[inline(always)]
    fn vectorize<K: WordsKernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn load(self, words: &Octet) -> Octet {
        *words
    }

    #[inline(always)]
    fn store(self, words: &mut Octet, x: Octet) {
        *words = x;
    }

    #[inline(always)]
    fn splat(self, word: u64) -> Octet {
        [word; LANES]
    }

    #[inline(always)]
    fn distance(self, bits: u32) -> u32 {
        bits
    }

    #[inline(always)]
    fn mul_low(self, x: Octet, y: Octet) -> Octet {
        each(|j| x[j].wrapping_mul(y[j]))
    }

    #[inline(always)]
    fn mul_high(self, x: Octet, y: Octet) -> Octet {
        each(|j| ((u128::from(x[j]) * u128::from(y[j])) >> 64) as u64)
    }

    #[inline(always)]
    fn shift_right_double(self, low: Octet, high: Octet, by: u32) -> Octet {
        each(|j| low[j] >> by | high[j] << (64 - by))
    }

    #[inline(always)]
    fn add(self, x: Octet, y: Octet) -> Octet {
        each(|j| x[j].wrapping_add(y[j]))
    }

    #[inline(always)]
    fn sub(self, x: Octet, y: Octet) -> Octet {
        each(|j| x[j].wrapping_sub(y[j]))
    }

    #[inline(always)]
    fn min(self, x: Octet, y: Octet) -> Octet {
        each(|j| x[j].min(y[j]))
    }
}
