//! Eight doubles in one 512-bit register.

use std::arch::x86_64::*;

use super::contract::{Kernel, LANES, Lanes};
use super::float::{EightFloats, FloatOps};
use crate::isa::Avx512Token;

/// AVX-512 F, DQ, VL and AVX2, FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(pub(crate) Avx512Token);

// Kernels that others call stay functions of their own, each with all registers to itself.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn enabled<L: Lanes, K: Kernel>(lanes: L, kernel: K) -> K::Output {
    kernel.run(lanes)
}

impl FloatOps for Avx512 {
    type Reg = __m512d;
    const MANY_REGISTERS: bool = true;

    #[inline(always)]
    fn splat(self, x: f64) -> __m512d {
        // SAFETY: Avx512Token.
        unsafe { _mm512_set1_pd(x) }
    }

    #[inline(always)]
    fn load_bits(self, words: &[u64; LANES]) -> __m512d {
        // SAFETY: Avx512Token; the array is 64 readable bytes.
        unsafe { _mm512_loadu_pd(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_bits(self, words: &mut [u64; LANES], x: __m512d) {
        // SAFETY: Avx512Token; the array is 64 writable bytes.
        unsafe { _mm512_storeu_pd(words.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn load_integers(self, words: &[u64; LANES]) -> __m512d {
        // SAFETY: Avx512Token; the array is 64 readable bytes.
        unsafe { _mm512_cvtepi64_pd(_mm512_loadu_si512(words.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store_canonical(self, words: &mut [u64; LANES], x: __m512d, q: u64) {
        // SAFETY: Avx512Token; the array is 64 writable bytes.
        unsafe {
            let negative = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, _mm512_setzero_pd());
            let x = _mm512_mask_add_pd(x, negative, x, _mm512_set1_pd(q as f64));
            _mm512_storeu_si512(words.as_mut_ptr().cast(), _mm512_cvtpd_epi64(x));
        }
    }

    #[inline(always)]
    fn add(self, x: __m512d, y: __m512d) -> __m512d {
        // SAFETY: Avx512Token.
        unsafe { _mm512_add_pd(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m512d, y: __m512d) -> __m512d {
        // SAFETY: Avx512Token.
        unsafe { _mm512_sub_pd(x, y) }
    }

    #[inline(always)]
    fn mul(self, x: __m512d, y: __m512d) -> __m512d {
        // SAFETY: Avx512Token.
        unsafe { _mm512_mul_pd(x, y) }
    }

    #[inline(always)]
    fn fma(self, x: __m512d, y: __m512d, z: __m512d) -> __m512d {
        // SAFETY: Avx512Token.
        unsafe { _mm512_fmadd_pd(x, y, z) }
    }

    #[inline(always)]
    fn fnma(self, x: __m512d, y: __m512d, z: __m512d) -> __m512d {
        // SAFETY: Avx512Token.
        unsafe { _mm512_fnmadd_pd(x, y, z) }
    }

    #[inline(always)]
    fn round(self, x: __m512d) -> __m512d {
        // SAFETY: Avx512Token.
        unsafe { _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x) }
    }
}

impl EightFloats for Avx512 {
    type Part = Self;
    const PARTS: usize = 1;

    #[inline(always)]
    fn part(self, _: usize) -> Self {
        self
    }

    #[inline(always)]
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output {
        // SAFETY: the Avx512Token in self proves the features.
        unsafe { enabled(lanes, kernel) }
    }

    #[inline(always)]
    fn transpose(self, r: [__m512d; LANES]) -> [__m512d; LANES] {
        // SAFETY: Avx512Token.
        unsafe {
            // 2×2 blocks, then 4×4, then 8×8.
            let even = |i: usize| _mm512_unpacklo_pd(r[i], r[i + 1]);
            let odd = |i: usize| _mm512_unpackhi_pd(r[i], r[i + 1]);
            let a = [even(0), odd(0), even(2), odd(2), even(4), odd(4), even(6), odd(6)];
            let low = |i: usize| _mm512_shuffle_f64x2::<0x88>(a[i], a[i + 2]);
            let high = |i: usize| _mm512_shuffle_f64x2::<0xdd>(a[i], a[i + 2]);
            let b = [low(0), low(1), high(0), high(1), low(4), low(5), high(4), high(5)];
            let first = |i: usize| _mm512_shuffle_f64x2::<0x88>(b[i], b[i + 4]);
            let second = |i: usize| _mm512_shuffle_f64x2::<0xdd>(b[i], b[i + 4]);
            [first(0), first(1), first(2), first(3), second(0), second(1), second(2), second(3)]
        }
    }

    #[inline(always)]
    fn permute(self, x: __m512d, indices: &[u64; LANES]) -> __m512d {
        // SAFETY: Avx512Token; the array is 64 readable bytes.
        unsafe { _mm512_permutexvar_pd(_mm512_loadu_si512(indices.as_ptr().cast()), x) }
    }
}
