//! Eight doubles in two 256-bit registers.

use std::arch::x86_64::*;

use super::contract::{Kernel, LANES, Lanes};
use super::float::FloatOps;
use crate::isa::Avx2Token;

/// AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) Avx2Token);

/// The lower and the upper four lanes.
type Pair = [__m256d; 2];

/// 2^52: adding it to the bits of an integer below 2^52 gives the double 2^52 + integer.
const TWO_52: f64 = (1u64 << 52) as f64;

#[target_feature(enable = "avx2,fma")]
fn enabled<L: Lanes, K: Kernel>(lanes: L, kernel: K) -> K::Output {
    kernel.run(lanes)
}

macro_rules! on_both {
    ($instruction:ident, $($x:ident),+) => {
        // SAFETY: the Avx2Token in self proves the features.
        unsafe { [$instruction($($x[0]),+), $instruction($($x[1]),+)] }
    };
}

impl FloatOps for Avx2 {
    type Reg = Pair;
    const MANY_REGISTERS: bool = false;

    #[inline(always)]
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output {
        // SAFETY: the Avx2Token in self proves the features.
        unsafe { enabled(lanes, kernel) }
    }

    #[inline(always)]
    fn splat(self, x: f64) -> Pair {
        // SAFETY: Avx2Token.
        unsafe { [_mm256_set1_pd(x); 2] }
    }

    #[inline(always)]
    fn load_bits(self, words: &[u64; LANES]) -> Pair {
        // SAFETY: Avx2Token; both halves of the array are 32 readable bytes.
        unsafe { [_mm256_loadu_pd(words.as_ptr().cast()), _mm256_loadu_pd(words[4..].as_ptr().cast())] }
    }

    #[inline(always)]
    fn store_bits(self, words: &mut [u64; LANES], x: Pair) {
        // SAFETY: Avx2Token; both halves of the array are 32 writable bytes.
        unsafe {
            _mm256_storeu_pd(words.as_mut_ptr().cast(), x[0]);
            _mm256_storeu_pd(words[4..].as_mut_ptr().cast(), x[1]);
        }
    }

    #[inline(always)]
    fn load_integers(self, words: &[u64; LANES]) -> Pair {
        let exponent = self.splat(TWO_52);
        let bits = self.load_bits(words);
        let biased: Pair = on_both!(_mm256_or_pd, bits, exponent);
        self.sub(biased, exponent)
    }

    #[inline(always)]
    fn store_integers(self, words: &mut [u64; LANES], x: Pair) {
        let exponent = self.splat(TWO_52);
        let biased = self.add(x, exponent);
        self.store_bits(words, on_both!(_mm256_xor_pd, biased, exponent));
    }

    #[inline(always)]
    fn add(self, x: Pair, y: Pair) -> Pair {
        on_both!(_mm256_add_pd, x, y)
    }

    #[inline(always)]
    fn sub(self, x: Pair, y: Pair) -> Pair {
        on_both!(_mm256_sub_pd, x, y)
    }

    #[inline(always)]
    fn mul(self, x: Pair, y: Pair) -> Pair {
        on_both!(_mm256_mul_pd, x, y)
    }

    #[inline(always)]
    fn fma(self, x: Pair, y: Pair, z: Pair) -> Pair {
        on_both!(_mm256_fmadd_pd, x, y, z)
    }

    #[inline(always)]
    fn fms(self, x: Pair, y: Pair, z: Pair) -> Pair {
        on_both!(_mm256_fmsub_pd, x, y, z)
    }

    #[inline(always)]
    fn fnma(self, x: Pair, y: Pair, z: Pair) -> Pair {
        on_both!(_mm256_fnmadd_pd, x, y, z)
    }

    #[inline(always)]
    fn round(self, x: Pair) -> Pair {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        // SAFETY: Avx2Token.
        unsafe { [_mm256_round_pd::<NEAREST>(x[0]), _mm256_round_pd::<NEAREST>(x[1])] }
    }

    #[inline(always)]
    fn add_if_negative(self, x: Pair, y: Pair) -> Pair {
        let zero = self.splat(0.0);
        let negative: Pair = on_both!(less, x, zero);
        let added: Pair = on_both!(_mm256_and_pd, negative, y);
        self.add(x, added)
    }

    #[inline(always)]
    fn transpose(self, r: [Pair; LANES]) -> [Pair; LANES] {
        let a = quarter([r[0][0], r[1][0], r[2][0], r[3][0]]);
        let b = quarter([r[0][1], r[1][1], r[2][1], r[3][1]]);
        let c = quarter([r[4][0], r[5][0], r[6][0], r[7][0]]);
        let d = quarter([r[4][1], r[5][1], r[6][1], r[7][1]]);
        [[a[0], c[0]], [a[1], c[1]], [a[2], c[2]], [a[3], c[3]], [b[0], d[0]], [b[1], d[1]], [b[2], d[2]], [b[3], d[3]]]
    }

    #[inline(always)]
    fn permute(self, x: Pair, indices: &[u64; LANES]) -> Pair {
        let (mut words, mut out) = ([0; LANES], [0; LANES]);
        self.store_bits(&mut words, x);
        for i in 0..LANES {
            out[i] = words[indices[i] as usize % LANES];
        }
        self.load_bits(&out)
    }
}

/// All ones where x < y; only called with the features proven.
#[inline(always)]
unsafe fn less(x: __m256d, y: __m256d) -> __m256d {
    // SAFETY: the caller holds an Avx2Token.
    unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(x, y) }
}

/// Transposes four registers; only called with the features proven.
#[inline(always)]
fn quarter(r: [__m256d; 4]) -> [__m256d; 4] {
    // SAFETY: the caller holds an Avx2Token.
    unsafe {
        let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
        let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
        [
            _mm256_permute2f128_pd::<0x20>(a, c),
            _mm256_permute2f128_pd::<0x20>(b, d),
            _mm256_permute2f128_pd::<0x31>(a, c),
            _mm256_permute2f128_pd::<0x31>(b, d),
        ]
    }
}
