//! Eight sums in one 512-bit register. Sixteen residues in one.

use std::arch::x86_64::*;

use super::u32_lanes::{Group, Line, U32Kernel, U32Lanes, U32Modulus, WIDTH};
use crate::isa::Avx512Token;

/// AVX-512 F and VL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(pub(crate) Avx512Token);

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2,fma")]
fn enabled<K: U32Kernel>(lanes: Avx512, kernel: K) -> K::Output {
    kernel.run(lanes)
}

/// Constants, their quotients, and the quotients of the odd lanes in the places of the even ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Multiplier {
    factors: __m512i,
    quotients: __m512i,
    odd: __m512i,
}

/// Two groups of eight words; only called with the features proven.
#[inline(always)]
fn load(first: &Group, second: &Group) -> __m512i {
    // SAFETY: the caller holds an Avx512Token; both arrays are 32 readable bytes.
    unsafe {
        let first = _mm256_loadu_si256(first.as_ptr().cast());
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), _mm256_loadu_si256(second.as_ptr().cast()))
    }
}

/// One word for each group; only called with the features proven.
#[inline(always)]
fn spread(first: u32, second: u32) -> __m512i {
    // SAFETY: the caller holds an Avx512Token.
    unsafe {
        let first = _mm512_castsi256_si512(_mm256_set1_epi32(first as i32));
        _mm512_inserti64x4::<1>(first, _mm256_set1_epi32(second as i32))
    }
}

/// The upper halves of the words of 64 bits, the lower ones cleared of them; only called with the
/// features proven.
#[inline(always)]
fn odd(x: __m512i) -> __m512i {
    // SAFETY: the caller holds an Avx512Token.
    unsafe { _mm512_srli_epi64::<32>(x) }
}

impl U32Lanes for Avx512 {
    type Residues = __m512i;
    type Sums = __m512i;
    type Vector = __m512i;
    type Multiplier = Multiplier;

    const GROUPS: usize = 2;

    #[inline(always)]
    fn vectorize<K: U32Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the Avx512Token in self proves the features.
        unsafe { enabled(self, kernel) }
    }

    #[inline(always)]
    fn load(self, words: &[i32; WIDTH]) -> __m512i {
        // SAFETY: Avx512Token; the array is 32 readable bytes.
        unsafe { _mm512_cvtepi32_epi64(_mm256_loadu_si256(words.as_ptr().cast())) }
    }

    #[inline(always)]
    fn load_positive(self, words: &Group) -> __m512i {
        // SAFETY: Avx512Token; the array is 32 readable bytes.
        unsafe { _mm512_cvtepu32_epi64(_mm256_loadu_si256(words.as_ptr().cast())) }
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
    fn reduce_partly(self, m: &U32Modulus, sums: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe {
            let high = _mm512_mul_epi32(_mm512_srli_epi64::<32>(sums), _mm512_set1_epi64(m.wrap as i64));
            _mm512_add_epi64(high, _mm512_and_si512(sums, _mm512_set1_epi64(0xffff_ffff)))
        }
    }

    #[inline(always)]
    fn store(self, m: &U32Modulus, words: &mut [u32; WIDTH], sums: __m512i) {
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
    #[inline(always)]
    fn splat(self, word: u32) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_set1_epi32(word as i32) }
    }

    #[inline(always)]
    fn load_groups(self, words: &[Group], step: usize) -> __m512i {
        load(&words[0], &words[step])
    }

    #[inline(always)]
    fn store_groups(self, words: &mut [Group], step: usize, x: __m512i) {
        // SAFETY: Avx512Token; both arrays are 32 writable bytes.
        unsafe {
            _mm256_storeu_si256(words[0].as_mut_ptr().cast(), _mm512_castsi512_si256(x));
            _mm256_storeu_si256(words[step].as_mut_ptr().cast(), _mm512_extracti64x4_epi64::<1>(x));
        }
    }

    #[inline(always)]
    fn factor(self, [first, second]: [&Line; 2], i: usize) -> Multiplier {
        let quotients = spread(first.quotients[i], second.quotients[i]);
        Multiplier { factors: spread(first.factors[i], second.factors[i]), quotients, odd: quotients }
    }

    #[inline(always)]
    fn factors(self, [first, second]: [&Line; 2]) -> Multiplier {
        let quotients = load(&first.quotients, &second.quotients);
        Multiplier { factors: load(&first.factors, &second.factors), quotients, odd: odd(quotients) }
    }

    #[inline(always)]
    fn add(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_add_epi32(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_sub_epi32(x, y) }
    }

    #[inline(always)]
    fn min(self, x: __m512i, y: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe { _mm512_min_epu32(x, y) }
    }

    #[inline(always)]
    fn times(self, x: __m512i, w: Multiplier, q: __m512i) -> __m512i {
        // SAFETY: Avx512Token.
        unsafe {
            let even = odd(_mm512_mul_epu32(x, w.quotients));
            let multiple = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_mul_epu32(odd(x), w.odd));
            _mm512_sub_epi32(_mm512_mullo_epi32(x, w.factors), _mm512_mullo_epi32(multiple, q))
        }
    }

    #[inline(always)]
    fn transpose(self, r: [__m512i; WIDTH]) -> [__m512i; WIDTH] {
        // SAFETY: Avx512Token.
        unsafe {
            // 2×2 blocks of words, then 4×4, then 8×8, in both halves alike.
            let low = |i: usize| _mm512_unpacklo_epi32(r[i], r[i + 1]);
            let high = |i: usize| _mm512_unpackhi_epi32(r[i], r[i + 1]);
            let a = [low(0), high(0), low(2), high(2), low(4), high(4), low(6), high(6)];
            let low = |i: usize| _mm512_unpacklo_epi64(a[i], a[i + 2]);
            let high = |i: usize| _mm512_unpackhi_epi64(a[i], a[i + 2]);
            let b = [low(0), high(0), low(1), high(1), low(4), high(4), low(5), high(5)];
            let (lower, upper) =
                (_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
            let first = |i: usize| _mm512_permutex2var_epi64(b[i], lower, b[i + 4]);
            let second = |i: usize| _mm512_permutex2var_epi64(b[i], upper, b[i + 4]);
            [first(0), first(1), first(2), first(3), second(0), second(1), second(2), second(3)]
        }
    }

    #[inline(always)]
    fn permute(self, words: &Group, pattern: &Group) -> Group {
        let mut out = [0; WIDTH];
        // SAFETY: Avx512Token; all arrays are 32 bytes.
        unsafe {
            let words = _mm256_loadu_si256(words.as_ptr().cast());
            let moved = _mm256_permutevar8x32_epi32(words, _mm256_loadu_si256(pattern.as_ptr().cast()));
            _mm256_storeu_si256(out.as_mut_ptr().cast(), moved);
        }
        out
    }
}
