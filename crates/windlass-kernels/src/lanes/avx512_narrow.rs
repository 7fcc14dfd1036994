//! Eight sums in one 512-bit register.

use std::arch::x86_64::*;

use super::narrow::{Narrow, NarrowKernel, NarrowModulus, WIDTH};
use crate::isa::Avx512Token;

/// AVX-512 F and VL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(pub(crate) Avx512Token);

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn enabled<K: NarrowKernel>(narrow: Avx512, kernel: K) -> K::Output {
    kernel.run(narrow)
}

impl Narrow for Avx512 {
    type Residues = __m512i;
    type Sums = __m512i;

    #[inline(always)]
    fn vectorize<K: NarrowKernel>(self, kernel: K) -> K::Output {
        // SAFETY: the Avx512Token in self proves the features.
        unsafe { enabled(self, kernel) }
    }

    #[inline(always)]
    fn load(self, words: &[i32; WIDTH]) -> __m512i {
        // SAFETY: Avx512Token; the array is 32 readable bytes.
        unsafe { _mm512_cvtepi32_epi64(_mm256_loadu_si256(words.as_ptr().cast())) }
    }

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn add_product(self, sums: __m512i, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_add_epi64(sums, _mm512_mul_epi32(x, y)) }
    }

    #[inline(always)]
    fn fold(self, m: &NarrowModulus, sums: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe {
            let high = _mm512_mul_epi32(_mm512_srli_epi64::<32>(sums), _mm512_set1_epi64(m.wrap as i64));
            _mm512_add_epi64(high, _mm512_and_si512(sums, _mm512_set1_epi64(0xffff_ffff)))
        }
    }

    #[inline(always)]
    fn store(self, m: &NarrowModulus, words: &mut [u32; WIDTH], sums: __m512i) {
        // SAFETY: Avx512Token; the array is 32 writable bytes.
        unsafe {
            let multiple = _mm512_mul_epu32(sums, _mm512_set1_epi64(m.inverse as u32 as i64));
            let rest = _mm512_sub_epi64(sums, _mm512_mul_epi32(multiple, _mm512_set1_epi64(m.q as i64)));
            let (x, q) = (_mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(rest)), _mm256_set1_epi32(m.q));
            let x = _mm256_add_epi32(x, _mm256_and_si256(_mm256_srai_epi32::<31>(x), q));
            // The smaller one without sign is the canonical one.
            _mm256_storeu_si256(words.as_mut_ptr().cast(), _mm256_min_epu32(x, _mm256_sub_epi32(x, q)));
        }
    }
}
