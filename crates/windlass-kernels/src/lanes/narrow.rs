//! Sums of products of residues that are held in 32 bits: what a scan of a table is made of.
//!
//! A residue modulo q < 2^31 is held centred, |x| ≤ (q − 1)/2 < 2^30, so a product is below 2^60 in
//! absolute value and several fit a signed word of 64 bits. Before the word can overflow it is
//! *folded*: its upper half h and lower half l become h·(2^32 mod± q) + l, the same modulo q. At
//! the end Montgomery's reduction divides by 2^32, for which one operand was multiplied before.

use crate::modulus::Modulus;

/// Residues in a vector, on every backend.
pub const WIDTH: usize = 8;

/// What the sums modulo one prime are made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NarrowModulus {
    /// q < 2^31.
    pub q: i32,
    /// q^{-1} mod 2^32.
    pub inverse: i32,
    /// 2^32 mod q, centred.
    pub wrap: i32,
    /// Products that fit between two folds, beside a folded sum.
    pub terms: usize,
}

impl NarrowModulus {
    /// Largest size of q in bits.
    pub const MAX_BITS: u32 = 31;

    /// The constants of a prime below 2^31.
    pub fn new(modulus: Modulus) -> Self {
        let (q, bits) = (modulus.value(), modulus.bits());
        assert!(bits <= Self::MAX_BITS, "primes of tables are below 2^31");
        // Newton: each step doubles the number of right bits, of which q itself has three.
        let inverse = (0..4).fold(q as u32, |x, _| x.wrapping_mul(2u32.wrapping_sub((q as u32).wrapping_mul(x))));
        let wrap = (1u64 << 32) % q;
        let wrap = if wrap > q / 2 { wrap as i64 - q as i64 } else { wrap as i64 };
        // A folded sum is at most 2^31·2^{b−1} + 2^32, a product at most 2^{2(b−1)}.
        let room = (1u128 << 63) - 1 - (1u128 << (bits + 30)) - (1u128 << 32);
        let terms = (room >> (2 * (bits - 1))).min(1 << 20) as usize;
        Self { q: q as i32, inverse: inverse as i32, wrap: wrap as i32, terms }
    }
}

/// Eight signed words of 64 bits, and what becomes of them.
pub(crate) trait Narrow: Copy {
    /// Eight residues of 32 bits, ready for products.
    type Residues: Copy;
    /// Eight sums.
    type Sums: Copy;

    /// Runs `kernel` with the backend's instructions enabled.
    fn vectorize<K: NarrowKernel>(self, kernel: K) -> K::Output;
    /// Eight residues.
    fn load(self, words: &[i32; WIDTH]) -> Self::Residues;
    /// Sums of nothing.
    fn zero(self) -> Self::Sums;
    /// `sums + x·y`.
    fn add_product(self, sums: Self::Sums, x: Self::Residues, y: Self::Residues) -> Self::Sums;
    /// The same modulo q, at most 2^31·q/2 + 2^32 in absolute value.
    fn fold(self, m: &NarrowModulus, sums: Self::Sums) -> Self::Sums;
    /// The folded sums times 2^{−32}, canonical.
    fn store(self, m: &NarrowModulus, words: &mut [u32; WIDTH], sums: Self::Sums);
}

/// An algorithm over [`Narrow`]; `run` and all that it calls must be `#[inline(always)]`.
pub(crate) trait NarrowKernel {
    /// What it returns.
    type Output;
    /// Runs on one backend.
    fn run<N: Narrow>(self, narrow: N) -> Self::Output;
}

/// Plain Rust.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Narrow for Portable {
    type Residues = [i32; WIDTH];
    type Sums = [i64; WIDTH];

    #[inline(always)]
    fn vectorize<K: NarrowKernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn load(self, words: &[i32; WIDTH]) -> Self::Residues {
        *words
    }

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        [0; WIDTH]
    }

    #[inline(always)]
    fn add_product(self, mut sums: Self::Sums, x: Self::Residues, y: Self::Residues) -> Self::Sums {
        for j in 0..WIDTH {
            sums[j] += x[j] as i64 * y[j] as i64;
        }
        sums
    }

    #[inline(always)]
    fn fold(self, m: &NarrowModulus, mut sums: Self::Sums) -> Self::Sums {
        for j in 0..WIDTH {
            sums[j] = (sums[j] >> 32) * m.wrap as i64 + (sums[j] & 0xffff_ffff);
        }
        sums
    }

    #[inline(always)]
    fn store(self, m: &NarrowModulus, words: &mut [u32; WIDTH], sums: Self::Sums) {
        for j in 0..WIDTH {
            let multiple = (sums[j] as i32).wrapping_mul(m.inverse);
            // At most q/2 + 2^{b−2} + 1 in absolute value.
            let mut x = ((sums[j] - multiple as i64 * m.q as i64) >> 32) as i32;
            x += (x >> 31) & m.q;
            x -= if x >= m.q { m.q } else { 0 };
            words[j] = x as u32;
        }
    }
}
