//! Residues that are held in 32 bits: sums of products, which a scan of a table is made of, and
//! registers of residues, which transforms are made of.
//!
//! A residue modulo q < 2^31 is held centred, |x| ≤ (q − 1)/2 < 2^30, so a product is below 2^60 in
//! absolute value and several fit a signed word of 64 bits. Before the word can overflow it is
//! *folded*: its upper half h and lower half l become h·(2^32 mod± q) + l, the same modulo q. At
//! the end Montgomery's reduction divides by 2^32, for which one operand was multiplied before.
//!
//! In a transform a residue is a word without sign, below 2q or 4q as the algorithm says. It is
//! multiplied by a constant w with its quotient w' = ⌊w·2^32/q⌋ (Shoup): x·w − ⌊x·w'/2^32⌋·q lies in
//! [0, 2q) for every word x, since x·w/q − x·w'/2^32 is in [0, 1) and the floor takes less than 1.

use crate::modulus::Modulus;

/// Residues in a vector, on every backend.
pub const WIDTH: usize = 8;

/// Eight residues in memory.
pub(crate) type Group = [u32; WIDTH];

/// Eight constants and their quotients, in one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Line {
    /// w.
    pub factors: Group,
    /// ⌊w·2^32/q⌋.
    pub quotients: Group,
}

impl Line {
    /// At most eight canonical constants; zeros after them.
    pub fn new(modulus: Modulus, factors: &[u32]) -> Self {
        let mut line = Self::default();
        for (j, &factor) in factors.iter().enumerate() {
            line.factors[j] = factor;
            line.quotients[j] = ((u64::from(factor) << 32) / modulus.value()) as u32;
        }
        line
    }
}

/// What the sums modulo one prime are made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct U32Modulus {
    /// q < 2^31.
    pub q: i32,
    /// q^{-1} mod 2^32.
    pub inverse: i32,
    /// 2^32 mod q, centred.
    pub wrap: i32,
    /// Products that fit between two folds, beside a folded sum.
    pub terms: usize,
}

impl U32Modulus {
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

    /// Products of a canonical residue and a centred one, below q²/2, that fit a sum beside a folded
    /// one: at least two.
    pub fn positive_terms(&self) -> usize {
        let square = self.q as u128 * self.q as u128;
        let folded = ((self.q as u128 / 2 + 1) << 31) + (1 << 32);
        let room = (1u128 << 63) - 1 - folded;
        (room / (square / 2)) as usize
    }

    /// Such products whose sum can be stored without a fold: at most 2^32·q/2, so that a q can be
    /// added or taken off afterwards.
    pub fn terms_before_reduction(&self) -> usize {
        ((1u64 << 32) / self.q as u64) as usize
    }
}

/// Eight signed words of 64 bits, and what becomes of them.
pub(crate) trait U32Lanes: Copy {
    /// Eight residues of 32 bits, ready for products.
    type Residues: Copy;
    /// Eight sums.
    type Sums: Copy;
    /// [`U32Lanes::GROUPS`] groups of eight residues, words without sign.
    type Vector: Copy;
    /// Constants for a vector, with their quotients.
    type Multiplier: Copy;

    /// Groups of eight in a vector: 1 or 2.
    const GROUPS: usize;

    /// Runs `kernel` with the backend's instructions enabled.
    fn vectorize<K: U32Kernel>(self, kernel: K) -> K::Output;
    /// Eight residues.
    fn load(self, words: &[i32; WIDTH]) -> Self::Residues;
    /// Eight words below 2^31.
    fn load_positive(self, words: &Group) -> Self::Residues;
    /// Sums of nothing.
    fn zero(self) -> Self::Sums;
    /// `sums + x·y`.
    fn add_product(self, sums: Self::Sums, x: Self::Residues, y: Self::Residues) -> Self::Sums;
    /// The same modulo q, at most 2^31·q/2 + 2^32 in absolute value.
    fn reduce_partly(self, m: &U32Modulus, sums: Self::Sums) -> Self::Sums;
    /// The folded sums times 2^{−32}, canonical.
    fn store(self, m: &U32Modulus, words: &mut [u32; WIDTH], sums: Self::Sums);

    /// One word everywhere.
    fn splat(self, word: u32) -> Self::Vector;
    /// Group 0 and, where there are two, group `step`.
    fn load_groups(self, words: &[Group], step: usize) -> Self::Vector;
    /// To group 0 and, where there are two, to group `step`.
    fn store_groups(self, words: &mut [Group], step: usize, x: Self::Vector);
    /// Constant `i` of the first line for the first group, of the second for the second.
    fn factor(self, lines: [&Line; 2], i: usize) -> Self::Multiplier;
    /// The first line for the first group, the second for the second.
    fn factors(self, lines: [&Line; 2]) -> Self::Multiplier;
    /// `x + y mod 2^32`.
    fn add(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// `x − y mod 2^32`.
    fn sub(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// The smaller word: with `x − y mod 2^32` for y it is x − y where that is not negative, else
    /// x.
    fn min(self, x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// `x·w mod q` in [0, 2q), x any word; `q` is [`U32Lanes::splat`] of q.
    fn times(self, x: Self::Vector, w: Self::Multiplier, q: Self::Vector) -> Self::Vector;
    /// Transposes the eight rows of eight of each group.
    fn transpose(self, rows: [Self::Vector; WIDTH]) -> [Self::Vector; WIDTH];
    /// Lane j of the result is lane `pattern[j]`, each below 8.
    fn permute(self, words: &Group, pattern: &Group) -> Group;
}

/// An algorithm over [`U32Lanes`]; `run` and all that it calls must be `#[inline(always)]`.
pub(crate) trait U32Kernel {
    /// What it returns.
    type Output;
    /// Runs on one backend.
    fn run<N: U32Lanes>(self, lanes: N) -> Self::Output;
}

/// Plain Rust, with vectors of G groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable<const G: usize>;

impl<const G: usize> U32Lanes for Portable<G> {
    type Residues = [i32; WIDTH];
    type Sums = [i64; WIDTH];
    type Vector = [Group; G];
    type Multiplier = [Line; G];

    const GROUPS: usize = G;

    #[inline(always)]
    fn vectorize<K: U32Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn load(self, words: &[i32; WIDTH]) -> Self::Residues {
        *words
    }

    #[inline(always)]
    fn load_positive(self, words: &Group) -> Self::Residues {
        let mut x = [0; WIDTH];
        for j in 0..WIDTH {
            x[j] = words[j] as i32;
        }
        x
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
    fn reduce_partly(self, m: &U32Modulus, mut sums: Self::Sums) -> Self::Sums {
        for j in 0..WIDTH {
            sums[j] = (sums[j] >> 32) * m.wrap as i64 + (sums[j] & 0xffff_ffff);
        }
        sums
    }

    #[inline(always)]
    fn store(self, m: &U32Modulus, words: &mut [u32; WIDTH], sums: Self::Sums) {
        for j in 0..WIDTH {
            let multiple = (sums[j] as i32).wrapping_mul(m.inverse);
            // At most q/2 + 2^{b−2} + 1 in absolute value.
            let mut x = ((sums[j] - multiple as i64 * m.q as i64) >> 32) as i32;
            x += (x >> 31) & m.q;
            x -= if x >= m.q { m.q } else { 0 };
            words[j] = x as u32;
        }
    }
    #[inline(always)]
    fn splat(self, word: u32) -> Self::Vector {
        [[word; WIDTH]; G]
    }

    #[inline(always)]
    fn load_groups(self, words: &[Group], step: usize) -> Self::Vector {
        let mut x = [[0; WIDTH]; G];
        for g in 0..G {
            x[g] = words[g * step];
        }
        x
    }

    #[inline(always)]
    fn store_groups(self, words: &mut [Group], step: usize, x: Self::Vector) {
        for g in 0..G {
            words[g * step] = x[g];
        }
    }

    #[inline(always)]
    fn factor(self, lines: [&Line; 2], i: usize) -> Self::Multiplier {
        let mut w = [Line::default(); G];
        for g in 0..G {
            w[g] = Line { factors: [lines[g].factors[i]; WIDTH], quotients: [lines[g].quotients[i]; WIDTH] };
        }
        w
    }

    #[inline(always)]
    fn factors(self, lines: [&Line; 2]) -> Self::Multiplier {
        let mut w = [Line::default(); G];
        for g in 0..G {
            w[g] = *lines[g];
        }
        w
    }

    #[inline(always)]
    fn add(self, mut x: Self::Vector, y: Self::Vector) -> Self::Vector {
        for g in 0..G {
            for j in 0..WIDTH {
                x[g][j] = x[g][j].wrapping_add(y[g][j]);
            }
        }
        x
    }

    #[inline(always)]
    fn sub(self, mut x: Self::Vector, y: Self::Vector) -> Self::Vector {
        for g in 0..G {
            for j in 0..WIDTH {
                x[g][j] = x[g][j].wrapping_sub(y[g][j]);
            }
        }
        x
    }

    #[inline(always)]
    fn min(self, mut x: Self::Vector, y: Self::Vector) -> Self::Vector {
        for g in 0..G {
            for j in 0..WIDTH {
                x[g][j] = if x[g][j] < y[g][j] { x[g][j] } else { y[g][j] };
            }
        }
        x
    }

    #[inline(always)]
    fn times(self, mut x: Self::Vector, w: Self::Multiplier, q: Self::Vector) -> Self::Vector {
        for g in 0..G {
            for j in 0..WIDTH {
                let multiple = ((x[g][j] as u64 * w[g].quotients[j] as u64) >> 32) as u32;
                let product = x[g][j].wrapping_mul(w[g].factors[j]);
                x[g][j] = product.wrapping_sub(multiple.wrapping_mul(q[g][j]));
            }
        }
        x
    }

    #[inline(always)]
    fn transpose(self, rows: [Self::Vector; WIDTH]) -> [Self::Vector; WIDTH] {
        let mut out = rows;
        for g in 0..G {
            for i in 0..WIDTH {
                for j in 0..WIDTH {
                    out[i][g][j] = rows[j][g][i];
                }
            }
        }
        out
    }

    #[inline(always)]
    fn permute(self, words: &Group, pattern: &Group) -> Group {
        let mut out = [0; WIDTH];
        for j in 0..WIDTH {
            out[j] = words[pattern[j] as usize % WIDTH];
        }
        out
    }
}
