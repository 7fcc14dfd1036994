//! Eight words of 64 bits in one 512-bit register, upper words of products from those of halves.

use std::arch::x86_64::*;

use super::word64::{Octet, Words, WordsKernel};
use crate::isa::Avx512Token;

/// AVX-512 F and DQ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(pub(crate) Avx512Token);

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn enabled<K: WordsKernel>(words: Avx512, kernel: K) -> K::Output {
    kernel.run(words)
}

impl Words for Avx512 {
    type Vector = __m512i;
    /// What the lower word goes to the right, and the upper one to the left.
    type Distance = [__m128i; 2];

    #[inline(always)]
    fn vectorize<K: WordsKernel>(self, kernel: K) -> K::Output {
        // SAFETY: the Avx512Token in self proves the features.
        unsafe { enabled(self, kernel) }
    }

    #[inline(always)]
    fn load(self, words: &Octet) -> __m512i {
        // SAFETY: Avx512Token; the array is 64 readable bytes.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, words: &mut Octet, x: __m512i) {
        // SAFETY: Avx512Token; the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn splat(self, word: u64) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_set1_epi64(word as i64) }
    }

    #[inline(always)]
    fn distance(self, bits: u32) -> [__m128i; 2] {
        // SAFETY: Avx512Token.
        unsafe { [_mm_cvtsi32_si128(bits as i32), _mm_cvtsi32_si128(64 - bits as i32)] }
    }

    #[inline(always)]
    fn mul_low(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_mullo_epi64(x, y) }
    }

    #[inline(always)]
    fn mul_high(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe {
            let (upper_x, upper_y) = (_mm512_srli_epi64::<32>(x), _mm512_srli_epi64::<32>(y));
            // Each sum is at most (2^32 − 1)² + 2^32 − 1 < 2^64.
            let carry = _mm512_srli_epi64::<32>(_mm512_mul_epu32(x, y));
            let first = _mm512_add_epi64(_mm512_mul_epu32(upper_x, y), carry);
            let lower = _mm512_and_si512(first, _mm512_set1_epi64(0xffff_ffff));
            let second = _mm512_add_epi64(_mm512_mul_epu32(x, upper_y), lower);
            let carries = _mm512_add_epi64(_mm512_srli_epi64::<32>(first), _mm512_srli_epi64::<32>(second));
            _mm512_add_epi64(_mm512_mul_epu32(upper_x, upper_y), carries)
        }
    }

    #[inline(always)]
    fn shift_right_double(self, low: __m512i, high: __m512i, [right, left]: [__m128i; 2]) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_or_si512(_mm512_srl_epi64(low, right), _mm512_sll_epi64(high, left)) }
    }

    #[inline(always)]
    fn add(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_add_epi64(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_sub_epi64(x, y) }
    }

    #[inline(always)]
    fn min(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_min_epu64(x, y) }
    }
}
