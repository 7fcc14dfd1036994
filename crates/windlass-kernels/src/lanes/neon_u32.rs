//! Eight sums in four 128-bit registers, eight residues in two.

use std::arch::aarch64::*;

use super::u32_lanes::{Group, Line, U32Kernel, U32Lanes, U32Modulus, WIDTH};
use crate::isa::NeonToken;

/// NEON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon(pub(crate) NeonToken);

/// Words in a register.
const FOUR: usize = WIDTH / 2;

/// Eight words, four a register.
type Pair = [uint32x4_t; 2];

/// Constants and their quotients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Multiplier {
    factors: Pair,
    quotients: Pair,
}

/// Eight words; this and the functions below are only called with the feature proven.
#[inline(always)]
fn load(words: &Group) -> Pair {
    // SAFETY: the caller holds a NeonToken; the array is 32 readable bytes.
    unsafe { [vld1q_u32(words.as_ptr()), vld1q_u32(words.as_ptr().add(FOUR))] }
}

#[inline(always)]
fn store(words: &mut Group, x: Pair) {
    // SAFETY: the caller holds a NeonToken; the array is 32 writable bytes.
    unsafe {
        vst1q_u32(words.as_mut_ptr(), x[0]);
        vst1q_u32(words.as_mut_ptr().add(FOUR), x[1]);
    }
}

#[inline(always)]
fn splat(word: u32) -> Pair {
    // SAFETY: the caller holds a NeonToken.
    unsafe { [vdupq_n_u32(word); 2] }
}

/// The upper halves of the products.
#[inline(always)]
fn mul_high(x: uint32x4_t, y: uint32x4_t) -> uint32x4_t {
    // SAFETY: the caller holds a NeonToken.
    unsafe {
        let low = vmull_u32(vget_low_u32(x), vget_low_u32(y));
        let high = vmull_high_u32(x, y);
        vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high))
    }
}

/// An operation on both registers.
macro_rules! both {
    ($instruction:ident($x:ident, $y:ident)) => {
        // SAFETY: the NeonToken in self proves the feature.
        unsafe { [$instruction($x[0], $y[0]), $instruction($x[1], $y[1])] }
    };
}

impl U32Lanes for Neon {
    type Residues = [int32x4_t; 2];
    type Sums = [int64x2_t; 4];
    type Vector = Pair;
    type Multiplier = Multiplier;

    const GROUPS: usize = 1;

    // Every program for this architecture is compiled with these instructions.
    #[inline(never)]
    fn vectorize<K: U32Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn load(self, words: &[i32; WIDTH]) -> Self::Residues {
        // SAFETY: NeonToken; the array is 32 readable bytes.
        unsafe { [vld1q_s32(words.as_ptr()), vld1q_s32(words.as_ptr().add(FOUR))] }
    }

    #[inline(always)]
    fn load_positive(self, words: &Group) -> Self::Residues {
        let [low, high] = load(words);
        // SAFETY: NeonToken.
        unsafe { [vreinterpretq_s32_u32(low), vreinterpretq_s32_u32(high)] }
    }

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        // SAFETY: NeonToken.
        unsafe { [vdupq_n_s64(0); 4] }
    }

    #[inline(always)]
    fn add_product(self, sums: Self::Sums, x: Self::Residues, y: Self::Residues) -> Self::Sums {
        // SAFETY: NeonToken.
        unsafe {
            [
                vmlal_s32(sums[0], vget_low_s32(x[0]), vget_low_s32(y[0])),
                vmlal_high_s32(sums[1], x[0], y[0]),
                vmlal_s32(sums[2], vget_low_s32(x[1]), vget_low_s32(y[1])),
                vmlal_high_s32(sums[3], x[1], y[1]),
            ]
        }
    }

    #[inline(always)]
    fn reduce_partly(self, m: &U32Modulus, mut sums: Self::Sums) -> Self::Sums {
        // SAFETY: NeonToken.
        unsafe {
            let (wrap, low) = (vdup_n_s32(m.wrap), vdupq_n_s64(0xffff_ffff));
            for i in 0..sums.len() {
                sums[i] = vmlal_s32(vandq_s64(sums[i], low), vshrn_n_s64::<32>(sums[i]), wrap);
            }
        }
        sums
    }

    // At most q/2 + 2^{b−2} + 1 in absolute value, then below 2q, then below q: of x and x − q, taken
    // without signs, the smaller one.
    #[inline(always)]
    fn store(self, m: &U32Modulus, words: &mut [u32; WIDTH], sums: Self::Sums) {
        // SAFETY: NeonToken.
        unsafe {
            let (q, inverse) = (vdup_n_s32(m.q), vdup_n_s32(m.inverse));
            let mut out = splat(0);
            for i in 0..2 {
                let [first, second] = [sums[2 * i], sums[2 * i + 1]].map(|sum| {
                    let multiple = vmul_s32(vmovn_s64(sum), inverse);
                    vshrn_n_s64::<32>(vmlsl_s32(sum, multiple, q))
                });
                let (x, q) = (vcombine_s32(first, second), vdupq_n_s32(m.q));
                let x = vreinterpretq_u32_s32(vaddq_s32(x, vandq_s32(vshrq_n_s32::<31>(x), q)));
                out[i] = vminq_u32(x, vsubq_u32(x, vreinterpretq_u32_s32(q)));
            }
            store(words, out);
        }
    }

    #[inline(always)]
    fn splat(self, word: u32) -> Pair {
        splat(word)
    }

    #[inline(always)]
    fn load_groups(self, words: &[Group], _: usize) -> Pair {
        load(&words[0])
    }

    #[inline(always)]
    fn store_groups(self, words: &mut [Group], _: usize, x: Pair) {
        store(&mut words[0], x);
    }

    #[inline(always)]
    fn factor(self, lines: [&Line; 2], i: usize) -> Multiplier {
        let line = lines[0];
        Multiplier { factors: splat(line.factors[i]), quotients: splat(line.quotients[i]) }
    }

    #[inline(always)]
    fn factors(self, lines: [&Line; 2]) -> Multiplier {
        let line = lines[0];
        Multiplier { factors: load(&line.factors), quotients: load(&line.quotients) }
    }

    #[inline(always)]
    fn add(self, x: Pair, y: Pair) -> Pair {
        both!(vaddq_u32(x, y))
    }

    #[inline(always)]
    fn sub(self, x: Pair, y: Pair) -> Pair {
        both!(vsubq_u32(x, y))
    }

    #[inline(always)]
    fn min(self, x: Pair, y: Pair) -> Pair {
        both!(vminq_u32(x, y))
    }

    #[inline(always)]
    fn times(self, x: Pair, w: Multiplier, q: Pair) -> Pair {
        let mut out = x;
        for i in 0..2 {
            let multiple = mul_high(x[i], w.quotients[i]);
            // SAFETY: NeonToken.
            out[i] = unsafe { vmlsq_u32(vmulq_u32(x[i], w.factors[i]), multiple, q[i]) };
        }
        out
    }

    // Squares of four: pairs of words change places, then pairs of pairs.
    #[inline(always)]
    fn transpose(self, rows: [Pair; WIDTH]) -> [Pair; WIDTH] {
        let mut out = rows;
        for i in 0..2 {
            for j in 0..2 {
                let square = transposed([rows[4 * i][j], rows[4 * i + 1][j], rows[4 * i + 2][j], rows[4 * i + 3][j]]);
                for k in 0..FOUR {
                    out[4 * j + k][i] = square[k];
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

/// Four rows of four words.
#[inline(always)]
fn transposed(rows: [uint32x4_t; FOUR]) -> [uint32x4_t; FOUR] {
    // SAFETY: the caller holds a NeonToken.
    unsafe {
        let (a, b) = (vtrn1q_u32(rows[0], rows[1]), vtrn2q_u32(rows[0], rows[1]));
        let (c, d) = (vtrn1q_u32(rows[2], rows[3]), vtrn2q_u32(rows[2], rows[3]));
        let [a, b, c, d] = [a, b, c, d].map(|x| vreinterpretq_u64_u32(x));
        [vtrn1q_u64(a, c), vtrn1q_u64(b, d), vtrn2q_u64(a, c), vtrn2q_u64(b, d)].map(|x| vreinterpretq_u32_u64(x))
    }
}
