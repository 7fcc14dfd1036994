//! Eight words of 64 bits in two 256-bit registers, their products from those of halves.

use std::arch::x86_64::*;

use super::word64::{Octet, Words, WordsKernel};
use crate::isa::Avx2Token;

/// AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) Avx2Token);

/// Four words and four more.
type Pair = [__m256i; 2];

#[target_feature(enable = "avx2,fma")]
fn enabled<K: WordsKernel>(words: Avx2, kernel: K) -> K::Output {
    kernel.run(words)
}

/// The lower words of products; this and the functions below are only called with the features
/// proven.
#[inline(always)]
fn mul_low(x: __m256i, y: __m256i) -> __m256i {
    // SAFETY: the caller holds an Avx2Token.
    unsafe {
        let (upper_x, upper_y) = (_mm256_srli_epi64::<32>(x), _mm256_srli_epi64::<32>(y));
        let mixed = _mm256_add_epi64(_mm256_mul_epu32(upper_x, y), _mm256_mul_epu32(x, upper_y));
        _mm256_add_epi64(_mm256_mul_epu32(x, y), _mm256_slli_epi64::<32>(mixed))
    }
}

/// The upper words.
#[inline(always)]
fn mul_high(x: __m256i, y: __m256i) -> __m256i {
    // SAFETY: the caller holds an Avx2Token.
    unsafe {
        let (upper_x, upper_y) = (_mm256_srli_epi64::<32>(x), _mm256_srli_epi64::<32>(y));
        // Each sum is at most (2^32 − 1)² + 2^32 − 1 < 2^64.
        let carry = _mm256_srli_epi64::<32>(_mm256_mul_epu32(x, y));
        let first = _mm256_add_epi64(_mm256_mul_epu32(upper_x, y), carry);
        let lower = _mm256_and_si256(first, _mm256_set1_epi64x(0xffff_ffff));
        let second = _mm256_add_epi64(_mm256_mul_epu32(x, upper_y), lower);
        let carries = _mm256_add_epi64(_mm256_srli_epi64::<32>(first), _mm256_srli_epi64::<32>(second));
        _mm256_add_epi64(_mm256_mul_epu32(upper_x, upper_y), carries)
    }
}

/// The smaller words: compared as signed ones, their highest bits turned over.
#[inline(always)]
fn min(x: __m256i, y: __m256i) -> __m256i {
    // SAFETY: the caller holds an Avx2Token.
    unsafe {
        let top = _mm256_set1_epi64x(i64::MIN);
        let greater = _mm256_cmpgt_epi64(_mm256_xor_si256(x, top), _mm256_xor_si256(y, top));
        _mm256_blendv_epi8(x, y, greater)
    }
}

impl Words for Avx2 {
    type Vector = Pair;
    /// What the lower word goes to the right, and the upper one to the left.
    type Distance = [__m128i; 2];

    #[inline(always)]
    fn vectorize<K: WordsKernel>(self, kernel: K) -> K::Output {
        // SAFETY: the Avx2Token in self proves the features.
        unsafe { enabled(self, kernel) }
    }

    #[inline(always)]
    fn load(self, words: &Octet) -> Pair {
        let at = words.as_ptr();
        // SAFETY: Avx2Token; the array is 64 readable bytes.
        unsafe { [_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(4).cast())] }
    }

    #[inline(always)]
    fn store(self, words: &mut Octet, x: Pair) {
        let at = words.as_mut_ptr();
        // SAFETY: Avx2Token; the array is 64 writable bytes.
        unsafe {
            _mm256_storeu_si256(at.cast(), x[0]);
            _mm256_storeu_si256(at.add(4).cast(), x[1]);
        }
    }

    #[inline(always)]
    fn splat(self, word: u64) -> Pair {
        // SAFETY: Avx2Token.
        unsafe { [_mm256_set1_epi64x(word as i64); 2] }
    }

    #[inline(always)]
    fn distance(self, bits: u32) -> [__m128i; 2] {
        // SAFETY: Avx2Token.
        unsafe { [_mm_cvtsi32_si128(bits as i32), _mm_cvtsi32_si128(64 - bits as i32)] }
    }

    #[inline(always)]
    fn mul_low(self, x: Pair, y: Pair) -> Pair {
        [mul_low(x[0], y[0]), mul_low(x[1], y[1])]
    }

    #[inline(always)]
    fn mul_high(self, x: Pair, y: Pair) -> Pair {
        [mul_high(x[0], y[0]), mul_high(x[1], y[1])]
    }

    #[inline(always)]
    fn shift_right_double(self, low: Pair, high: Pair, [right, left]: [__m128i; 2]) -> Pair {
        // SAFETY: Avx2Token.
        unsafe {
            [
                _mm256_or_si256(_mm256_srl_epi64(low[0], right), _mm256_sll_epi64(high[0], left)),
                _mm256_or_si256(_mm256_srl_epi64(low[1], right), _mm256_sll_epi64(high[1], left)),
            ]
        }
    }

    #[inline(always)]
    fn add(self, x: Pair, y: Pair) -> Pair {
        // SAFETY: Avx2Token.
        unsafe { [_mm256_add_epi64(x[0], y[0]), _mm256_add_epi64(x[1], y[1])] }
    }

    #[inline(always)]
    fn sub(self, x: Pair, y: Pair) -> Pair {
        // SAFETY: Avx2Token.
        unsafe { [_mm256_sub_epi64(x[0], y[0]), _mm256_sub_epi64(x[1], y[1])] }
    }

    #[inline(always)]
    fn min(self, x: Pair, y: Pair) -> Pair {
        [min(x[0], y[0]), min(x[1], y[1])]
    }
}
