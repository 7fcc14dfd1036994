//! Eight words in one 512-bit register, multiplied by IFMA instructions.

use std::arch::x86_64::*;

use super::avx512::Avx512;
use super::contract::{Kernel, LANES, Lanes};
use super::float::EightFloats;
use super::word52::Word52Ops;
use crate::isa::IfmaToken;

/// AVX-512 F, DQ, VL, IFMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ifma(pub(crate) IfmaToken);

// Kernels that others call stay functions of their own, each with all registers to itself.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx2,fma")]
fn enabled<L: Lanes, K: Kernel>(lanes: L, kernel: K) -> K::Output {
    kernel.run(lanes)
}

impl Word52Ops for Ifma {
    type Reg = __m512i;

    #[inline(always)]
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output {
        // SAFETY: the IfmaToken in self proves the features.
        unsafe { enabled(lanes, kernel) }
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_set1_epi64(x as i64) }
    }

    #[inline(always)]
    fn load(self, words: &[u64; LANES]) -> __m512i {
        // SAFETY: IfmaToken; the array is 64 readable bytes.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, words: &mut [u64; LANES], x: __m512i) {
        // SAFETY: IfmaToken; the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn add(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_add_epi64(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_sub_epi64(x, y) }
    }

    #[inline(always)]
    fn min(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_min_epu64(x, y) }
    }

    #[inline(always)]
    fn and(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_and_si512(x, y) }
    }

    #[inline(always)]
    fn shl(self, x: __m512i, count: u64) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_sllv_epi64(x, _mm512_set1_epi64(count as i64)) }
    }

    #[inline(always)]
    fn shr(self, x: __m512i, count: u64) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_srlv_epi64(x, _mm512_set1_epi64(count as i64)) }
    }

    #[inline(always)]
    fn madd_low(self, sum: __m512i, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_madd52lo_epu64(sum, x, y) }
    }

    #[inline(always)]
    fn madd_high(self, sum: __m512i, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: IfmaToken.
        unsafe { _mm512_madd52hi_epu64(sum, x, y) }
    }

    #[inline(always)]
    fn transpose(self, rows: [__m512i; LANES]) -> [__m512i; LANES] {
        // SAFETY: IfmaToken; the casts keep the bits.
        unsafe {
            let mut doubles = [_mm512_setzero_pd(); LANES];
            for i in 0..LANES {
                doubles[i] = _mm512_castsi512_pd(rows[i]);
            }
            let doubles = Avx512(self.0.avx512()).transpose(doubles);
            let mut columns = rows;
            for i in 0..LANES {
                columns[i] = _mm512_castpd_si512(doubles[i]);
            }
            columns
        }
    }

    #[inline(always)]
    fn permute(self, x: __m512i, indices: &[u64; LANES]) -> __m512i {
        // SAFETY: IfmaToken; the array is 64 readable bytes.
        unsafe { _mm512_permutexvar_epi64(_mm512_loadu_si512(indices.as_ptr().cast()), x) }
    }
}
