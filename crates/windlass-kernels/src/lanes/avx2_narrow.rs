//! Eight sums in two 256-bit registers: the even ones and the odd ones.

use std::arch::x86_64::*;

use super::narrow::{Narrow, NarrowKernel, NarrowModulus, WIDTH};
use crate::isa::Avx2Token;

/// AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) Avx2Token);

#[target_feature(enable = "avx2,fma")]
fn enabled<K: NarrowKernel>(narrow: Avx2, kernel: K) -> K::Output {
    kernel.run(narrow)
}

/// The reduction of the sums in one register: what is sought lies in the upper halves.
#[inline(always)]
fn reduced(sums: __m256i, q: __m256i, inverse: __m256i) -> __m256i {
    // SAFETY: the caller holds an Avx2Token.
    unsafe { _mm256_sub_epi64(sums, _mm256_mul_epi32(_mm256_mul_epu32(sums, inverse), q)) }
}

impl Narrow for Avx2 {
    type Residues = [__m256i; 2];
    type Sums = [__m256i; 2];

    #[inline(always)]
    fn vectorize<K: NarrowKernel>(self, kernel: K) -> K::Output {
        // SAFETY: the Avx2Token in self proves the features.
        unsafe { enabled(self, kernel) }
    }

    #[inline(always)]
    fn load(self, words: &[i32; WIDTH]) -> Self::Residues {
        // SAFETY: Avx2Token; the array is 32 readable bytes.
        unsafe {
            let all = _mm256_loadu_si256(words.as_ptr().cast());
            [all, _mm256_srli_epi64::<32>(all)]
        }
    }

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        // SAFETY: Avx2Token.
        unsafe { [_mm256_setzero_si256(); 2] }
    }

    #[inline(always)]
    fn add_product(self, sums: Self::Sums, x: Self::Residues, y: Self::Residues) -> Self::Sums {
        // SAFETY: Avx2Token.
        unsafe {
            [
                _mm256_add_epi64(sums[0], _mm256_mul_epi32(x[0], y[0])),
                _mm256_add_epi64(sums[1], _mm256_mul_epi32(x[1], y[1])),
            ]
        }
    }

    #[inline(always)]
    fn fold(self, m: &NarrowModulus, sums: Self::Sums) -> Self::Sums {
        // SAFETY: Avx2Token.
        unsafe {
            let (wrap, low) = (_mm256_set1_epi64x(m.wrap as i64), _mm256_set1_epi64x(0xffff_ffff));
            let [even, odd] = sums;
            [
                _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64::<32>(even), wrap), _mm256_and_si256(even, low)),
                _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64::<32>(odd), wrap), _mm256_and_si256(odd, low)),
            ]
        }
    }

    #[inline(always)]
    fn store(self, m: &NarrowModulus, words: &mut [u32; WIDTH], sums: Self::Sums) {
        // SAFETY: Avx2Token; the array is 32 writable bytes.
        unsafe {
            let (q, inverse) = (_mm256_set1_epi32(m.q), _mm256_set1_epi32(m.inverse));
            let even = _mm256_srli_epi64::<32>(reduced(sums[0], q, inverse));
            let odd = reduced(sums[1], q, inverse);
            let x = _mm256_blend_epi32::<0b1010_1010>(even, odd);
            let x = _mm256_add_epi32(x, _mm256_and_si256(_mm256_srai_epi32::<31>(x), q));
            let less = _mm256_sub_epi32(x, q);
            // The smaller one without sign is the canonical one.
            _mm256_storeu_si256(words.as_mut_ptr().cast(), _mm256_min_epu32(x, less));
        }
    }
}
