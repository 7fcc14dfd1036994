//! Four doubles in a 256-bit register, and eight in two of them.
//!
//! There are sixteen registers. A kernel that holds many vectors at a time therefore processes one
//! [`Half`] of its lanes after the other: eight halves and their products stay in registers, but eight
//! pairs would be spilled to memory.

use std::arch::x86_64::*;

use super::contract::{Kernel, LANES, Lanes, TWO_52};
use super::float::{EightFloats, FloatOps};
use crate::isa::Avx2Token;

/// Four of eight lanes, by AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Half {
    _token: Avx2Token,
    /// The first of its lanes, 0 or 4.
    first: usize,
}

/// 1.5·2^52: adding it to a whole |x| ≤ 2^51 puts x into the low bits, in two's complement.
const CENTRE: f64 = 1.5 * TWO_52;

// Kernels that others call stay functions of their own, each with all registers to itself.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn enabled<L: Lanes, K: Kernel>(lanes: L, kernel: K) -> K::Output {
    kernel.run(lanes)
}

impl FloatOps for Half {
    type Reg = __m256d;
    const MANY_REGISTERS: bool = false;

    #[inline(always)]
    fn splat(self, x: f64) -> __m256d {
        // SAFETY: the Avx2Token in self proves the features.
        unsafe { _mm256_set1_pd(x) }
    }

    #[inline(always)]
    fn load_bits(self, words: &[u64; LANES]) -> __m256d {
        // SAFETY: Avx2Token; four words from `first` are 32 readable bytes.
        unsafe { _mm256_loadu_pd(words.as_ptr().add(self.first).cast()) }
    }

    #[inline(always)]
    fn store_bits(self, words: &mut [u64; LANES], x: __m256d) {
        // SAFETY: Avx2Token; four words from `first` are 32 writable bytes.
        unsafe { _mm256_storeu_pd(words.as_mut_ptr().add(self.first).cast(), x) }
    }

    #[inline(always)]
    fn load_integers(self, words: &[u64; LANES]) -> __m256d {
        let exponent = self.splat(TWO_52);
        // SAFETY: Avx2Token.
        let biased = unsafe { _mm256_or_pd(self.load_bits(words), exponent) };
        self.sub(biased, exponent)
    }

    // x + 1.5·2^52 holds x in its low bits, negative ones too; from there on these are integers.
    #[inline(always)]
    fn store_canonical(self, words: &mut [u64; LANES], x: __m256d, q: u64) {
        let bias = self.splat(CENTRE);
        // SAFETY: Avx2Token.
        unsafe {
            let biased = _mm256_castpd_si256(_mm256_add_pd(x, bias));
            let integer = _mm256_sub_epi64(biased, _mm256_castpd_si256(bias));
            let raised = _mm256_add_epi64(integer, _mm256_set1_epi64x(q as i64));
            let signs = _mm256_castsi256_pd(integer);
            self.store_bits(words, _mm256_blendv_pd(signs, _mm256_castsi256_pd(raised), signs));
        }
    }

    #[inline(always)]
    fn add(self, x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: Avx2Token.
        unsafe { _mm256_add_pd(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: Avx2Token.
        unsafe { _mm256_sub_pd(x, y) }
    }

    #[inline(always)]
    fn mul(self, x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: Avx2Token.
        unsafe { _mm256_mul_pd(x, y) }
    }

    #[inline(always)]
    fn fma(self, x: __m256d, y: __m256d, z: __m256d) -> __m256d {
        // SAFETY: Avx2Token.
        unsafe { _mm256_fmadd_pd(x, y, z) }
    }

    #[inline(always)]
    fn fnma(self, x: __m256d, y: __m256d, z: __m256d) -> __m256d {
        // SAFETY: Avx2Token.
        unsafe { _mm256_fnmadd_pd(x, y, z) }
    }

    #[inline(always)]
    fn round(self, x: __m256d) -> __m256d {
        // SAFETY: Avx2Token.
        unsafe { _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x) }
    }
}

/// Transposes four registers; only called with the features proven.
#[inline(always)]
fn square(r: [__m256d; 4]) -> [__m256d; 4] {
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

/// All eight lanes: twice the instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) Avx2Token);

/// The lower and the upper four lanes.
type Pair = [__m256d; 2];

impl Avx2 {
    #[inline(always)]
    fn halves(self) -> [Half; 2] {
        [Half { _token: self.0, first: 0 }, Half { _token: self.0, first: 4 }]
    }
}

/// Both halves of an operation.
macro_rules! both {
    ($self:ident.$operation:ident($($x:ident),+)) => {{
        let [low, high] = $self.halves();
        [low.$operation($($x[0]),+), high.$operation($($x[1]),+)]
    }};
}

impl FloatOps for Avx2 {
    type Reg = Pair;
    const MANY_REGISTERS: bool = false;

    #[inline(always)]
    fn splat(self, x: f64) -> Pair {
        [self.halves()[0].splat(x); 2]
    }

    #[inline(always)]
    fn load_bits(self, words: &[u64; LANES]) -> Pair {
        let [low, high] = self.halves();
        [low.load_bits(words), high.load_bits(words)]
    }

    #[inline(always)]
    fn store_bits(self, words: &mut [u64; LANES], x: Pair) {
        let [low, high] = self.halves();
        low.store_bits(words, x[0]);
        high.store_bits(words, x[1]);
    }

    #[inline(always)]
    fn load_integers(self, words: &[u64; LANES]) -> Pair {
        let [low, high] = self.halves();
        [low.load_integers(words), high.load_integers(words)]
    }

    #[inline(always)]
    fn store_canonical(self, words: &mut [u64; LANES], x: Pair, q: u64) {
        let [low, high] = self.halves();
        low.store_canonical(words, x[0], q);
        high.store_canonical(words, x[1], q);
    }

    #[inline(always)]
    fn add(self, x: Pair, y: Pair) -> Pair {
        both!(self.add(x, y))
    }

    #[inline(always)]
    fn sub(self, x: Pair, y: Pair) -> Pair {
        both!(self.sub(x, y))
    }

    #[inline(always)]
    fn mul(self, x: Pair, y: Pair) -> Pair {
        both!(self.mul(x, y))
    }

    #[inline(always)]
    fn fma(self, x: Pair, y: Pair, z: Pair) -> Pair {
        both!(self.fma(x, y, z))
    }

    #[inline(always)]
    fn fnma(self, x: Pair, y: Pair, z: Pair) -> Pair {
        both!(self.fnma(x, y, z))
    }

    #[inline(always)]
    fn round(self, x: Pair) -> Pair {
        both!(self.round(x))
    }
}

impl EightFloats for Avx2 {
    type Part = Half;
    const PARTS: usize = 2;

    #[inline(always)]
    fn part(self, index: usize) -> Half {
        // No index reaches beyond the lanes, which loads and stores rely on.
        Half { _token: self.0, first: LANES / 2 * (index % Self::PARTS) }
    }

    #[inline(always)]
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output {
        // SAFETY: the Avx2Token in self proves the features.
        unsafe { enabled(lanes, kernel) }
    }

    #[inline(always)]
    fn transpose(self, mut r: [Pair; LANES]) -> [Pair; LANES] {
        let a = square([r[0][0], r[1][0], r[2][0], r[3][0]]);
        let b = square([r[0][1], r[1][1], r[2][1], r[3][1]]);
        let c = square([r[4][0], r[5][0], r[6][0], r[7][0]]);
        let d = square([r[4][1], r[5][1], r[6][1], r[7][1]]);
        for i in 0..4 {
            r[i] = [a[i], c[i]];
            r[4 + i] = [b[i], d[i]];
        }
        r
    }

    #[inline(always)]
    fn permute(self, x: Pair, indices: &[u64; LANES]) -> Pair {
        let (mut words, mut out) = ([0; LANES], [0; LANES]);
        self.store_bits(&mut words, x);
        self.permute_words(&mut out, &words, indices);
        self.load_bits(&out)
    }

    // Word by word: a register of words that have just been stored would wait for all of them.
    #[inline(always)]
    fn permute_words(self, out: &mut [u64; LANES], words: &[u64; LANES], indices: &[u64; LANES]) {
        for i in 0..LANES {
            out[i] = words[indices[i] as usize % LANES];
        }
    }
}
