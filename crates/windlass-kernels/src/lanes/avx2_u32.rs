//! Eight sums in two 256-bit registers: the even ones and the odd ones. Eight residues in one.

use std::arch::x86_64::*;

use super::u32_lanes::{Group, Line, U32Kernel, U32Lanes, U32Modulus, WIDTH};
use crate::isa::Avx2Token;

/// AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) Avx2Token);

#[target_feature(enable = "avx2,fma")]
fn enabled<K: U32Kernel>(lanes: Avx2, kernel: K) -> K::Output {
    kernel.run(lanes)
}

/// The reduction of the sums in one register: what is sought lies in the upper halves.
#[inline(always)]
fn reduced(sums: __m256i, q: __m256i, inverse: __m256i) -> __m256i {
    // SAFETY: the caller holds an Avx2Token.
    unsafe { _mm256_sub_epi64(sums, _mm256_mul_epi32(_mm256_mul_epu32(sums, inverse), q)) }
}

/// Constants, their quotients, and the quotients of the odd lanes in the places of the even ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Multiplier {
    factors: __m256i,
    quotients: __m256i,
    odd: __m256i,
}

/// Eight words of 32 bits; only called with the features proven.
#[inline(always)]
fn load(words: &Group) -> __m256i {
    // SAFETY: the caller holds an Avx2Token; the array is 32 readable bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// The upper halves of the words of 64 bits, the lower ones cleared of them; only called with the
/// features proven.
#[inline(always)]
fn odd(x: __m256i) -> __m256i {
    // SAFETY: the caller holds an Avx2Token.
    unsafe { _mm256_srli_epi64::<32>(x) }
}

impl U32Lanes for Avx2 {
    type Residues = [__m256i; 2];
    type Sums = [__m256i; 2];
    type Vector = __m256i;
    type Multiplier = Multiplier;

    const GROUPS: usize = 1;

    #[inline(always)]
    fn vectorize<K: U32Kernel>(self, kernel: K) -> K::Output {
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
    fn load_positive(self, words: &Group) -> Self::Residues {
        let all = load(words);
        [all, odd(all)]
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
    fn reduce_partly(self, m: &U32Modulus, sums: Self::Sums) -> Self::Sums {
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
    fn store(self, m: &U32Modulus, words: &mut [u32; WIDTH], sums: Self::Sums) {
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
    #[inline(always)]
    fn splat(self, word: u32) -> __m256i {
        // SAFETY: Avx2Token.
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    fn load_groups(self, words: &[Group], _: usize) -> __m256i {
        load(&words[0])
    }

    #[inline(always)]
    fn store_groups(self, words: &mut [Group], _: usize, x: __m256i) {
        // SAFETY: Avx2Token; the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(words[0].as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn factor(self, lines: [&Line; 2], i: usize) -> Multiplier {
        let quotients = self.splat(lines[0].quotients[i]);
        Multiplier { factors: self.splat(lines[0].factors[i]), quotients, odd: quotients }
    }

    #[inline(always)]
    fn factors(self, lines: [&Line; 2]) -> Multiplier {
        let quotients = load(&lines[0].quotients);
        Multiplier { factors: load(&lines[0].factors), quotients, odd: odd(quotients) }
    }

    #[inline(always)]
    fn add(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: Avx2Token.
        unsafe { _mm256_add_epi32(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: Avx2Token.
        unsafe { _mm256_sub_epi32(x, y) }
    }

    #[inline(always)]
    fn min(self, x: __m256i, y: __m256i) -> __m256i {
        // SAFETY: Avx2Token.
        unsafe { _mm256_min_epu32(x, y) }
    }

    #[inline(always)]
    fn times(self, x: __m256i, w: Multiplier, q: __m256i) -> __m256i {
        // SAFETY: Avx2Token.
        unsafe {
            let even = odd(_mm256_mul_epu32(x, w.quotients));
            let multiple = _mm256_blend_epi32::<0b1010_1010>(even, _mm256_mul_epu32(odd(x), w.odd));
            _mm256_sub_epi32(_mm256_mullo_epi32(x, w.factors), _mm256_mullo_epi32(multiple, q))
        }
    }

    #[inline(always)]
    fn transpose(self, r: [__m256i; WIDTH]) -> [__m256i; WIDTH] {
        // SAFETY: Avx2Token.
        unsafe {
            // 2×2 blocks of words, then 4×4, then 8×8.
            let low = |i: usize| _mm256_unpacklo_epi32(r[i], r[i + 1]);
            let high = |i: usize| _mm256_unpackhi_epi32(r[i], r[i + 1]);
            let a = [low(0), high(0), low(2), high(2), low(4), high(4), low(6), high(6)];
            let low = |i: usize| _mm256_unpacklo_epi64(a[i], a[i + 2]);
            let high = |i: usize| _mm256_unpackhi_epi64(a[i], a[i + 2]);
            let b = [low(0), high(0), low(1), high(1), low(4), high(4), low(5), high(5)];
            let first = |i: usize| _mm256_permute2x128_si256::<0x20>(b[i], b[i + 4]);
            let second = |i: usize| _mm256_permute2x128_si256::<0x31>(b[i], b[i + 4]);
            [first(0), first(1), first(2), first(3), second(0), second(1), second(2), second(3)]
        }
    }

    #[inline(always)]
    fn permute(self, words: &Group, pattern: &Group) -> Group {
        let mut out = [0; WIDTH];
        // SAFETY: Avx2Token; the array is 32 writable bytes.
        unsafe {
            let moved = _mm256_permutevar8x32_epi32(load(words), load(pattern));
            _mm256_storeu_si256(out.as_mut_ptr().cast(), moved);
        }
        out
    }
}
