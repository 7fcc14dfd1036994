//! Two doubles in a 128-bit register, and eight in four of them.
//!
//! There are thirty-two registers. Each holds a [`Quarter`] of eight lanes, so as many vectors stay in
//! registers as with 512-bit ones.

use std::arch::aarch64::*;

use super::contract::{Kernel, LANES, Lanes};
use super::float::{EightFloats, FloatOps};
use crate::isa::NeonToken;

/// Two of eight lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quarter {
    _token: NeonToken,
    /// The first of its lanes: 0, 2, 4 or 6.
    first: usize,
}

/// Doubles in a register.
const WIDTH: usize = 2;

/// Registers for eight doubles.
const QUARTERS: usize = LANES / WIDTH;

impl FloatOps for Quarter {
    type Reg = float64x2_t;
    const MANY_REGISTERS: bool = true;

    #[inline(always)]
    fn splat(self, x: f64) -> float64x2_t {
        // SAFETY: the NeonToken in self proves the feature.
        unsafe { vdupq_n_f64(x) }
    }

    #[inline(always)]
    fn load_bits(self, words: &[u64; LANES]) -> float64x2_t {
        // SAFETY: NeonToken; two words from `first` are 16 readable bytes.
        unsafe { vreinterpretq_f64_u64(vld1q_u64(words.as_ptr().add(self.first))) }
    }

    #[inline(always)]
    fn store_bits(self, words: &mut [u64; LANES], x: float64x2_t) {
        // SAFETY: NeonToken; two words from `first` are 16 writable bytes.
        unsafe { vst1q_u64(words.as_mut_ptr().add(self.first), vreinterpretq_u64_f64(x)) }
    }

    #[inline(always)]
    fn load_integers(self, words: &[u64; LANES]) -> float64x2_t {
        // SAFETY: NeonToken; two words from `first` are 16 readable bytes.
        unsafe { vcvtq_f64_u64(vld1q_u64(words.as_ptr().add(self.first))) }
    }

    // Of a negative integer, the shift leaves a one in every bit.
    #[inline(always)]
    fn store_canonical(self, words: &mut [u64; LANES], x: float64x2_t, q: u64) {
        // SAFETY: NeonToken; two words from `first` are 16 writable bytes.
        unsafe {
            let integer = vcvtq_s64_f64(x);
            let raise = vandq_s64(vshrq_n_s64::<63>(integer), vdupq_n_s64(q as i64));
            vst1q_u64(words.as_mut_ptr().add(self.first), vreinterpretq_u64_s64(vaddq_s64(integer, raise)));
        }
    }

    #[inline(always)]
    fn add(self, x: float64x2_t, y: float64x2_t) -> float64x2_t {
        // SAFETY: NeonToken.
        unsafe { vaddq_f64(x, y) }
    }

    #[inline(always)]
    fn sub(self, x: float64x2_t, y: float64x2_t) -> float64x2_t {
        // SAFETY: NeonToken.
        unsafe { vsubq_f64(x, y) }
    }

    #[inline(always)]
    fn mul(self, x: float64x2_t, y: float64x2_t) -> float64x2_t {
        // SAFETY: NeonToken.
        unsafe { vmulq_f64(x, y) }
    }

    #[inline(always)]
    fn fma(self, x: float64x2_t, y: float64x2_t, z: float64x2_t) -> float64x2_t {
        // SAFETY: NeonToken.
        unsafe { vfmaq_f64(z, x, y) }
    }

    #[inline(always)]
    fn fnma(self, x: float64x2_t, y: float64x2_t, z: float64x2_t) -> float64x2_t {
        // SAFETY: NeonToken.
        unsafe { vfmsq_f64(z, x, y) }
    }

    #[inline(always)]
    fn round(self, x: float64x2_t) -> float64x2_t {
        // SAFETY: NeonToken.
        unsafe { vrndnq_f64(x) }
    }
}

/// All eight lanes: each instruction four times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon(pub(crate) NeonToken);

/// Eight doubles, two a register.
type Four = [float64x2_t; QUARTERS];

/// An operation on each quarter. Written out: a loop here would stand thousands of times in an unrolled
/// transform, and the compiler took minutes to unroll it again (`docs/design/0039`).
macro_rules! each {
    ($self:ident.$operation:ident($($x:ident),+)) => {
        [
            $self.quarter(0).$operation($($x[0]),+),
            $self.quarter(1).$operation($($x[1]),+),
            $self.quarter(2).$operation($($x[2]),+),
            $self.quarter(3).$operation($($x[3]),+),
        ]
    };
}

/// An operation of each quarter on the words of all.
macro_rules! each_of_words {
    ($self:ident.$operation:ident($words:ident)) => {
        [
            $self.quarter(0).$operation($words),
            $self.quarter(1).$operation($words),
            $self.quarter(2).$operation($words),
            $self.quarter(3).$operation($words),
        ]
    };
    ($self:ident.$operation:ident($words:ident, $x:ident $(, $more:ident)*)) => {{
        $self.quarter(0).$operation($words, $x[0] $(, $more)*);
        $self.quarter(1).$operation($words, $x[1] $(, $more)*);
        $self.quarter(2).$operation($words, $x[2] $(, $more)*);
        $self.quarter(3).$operation($words, $x[3] $(, $more)*);
    }};
}

impl Neon {
    // No index reaches beyond the lanes, which loads and stores rely on.
    #[inline(always)]
    fn quarter(self, index: usize) -> Quarter {
        Quarter { _token: self.0, first: WIDTH * (index % QUARTERS) }
    }
}

impl FloatOps for Neon {
    type Reg = Four;
    // Two columns of eight vectors would be 64 registers.
    const MANY_REGISTERS: bool = false;

    #[inline(always)]
    fn splat(self, x: f64) -> Four {
        [self.quarter(0).splat(x); QUARTERS]
    }

    #[inline(always)]
    fn load_bits(self, words: &[u64; LANES]) -> Four {
        each_of_words!(self.load_bits(words))
    }

    #[inline(always)]
    fn store_bits(self, words: &mut [u64; LANES], x: Four) {
        each_of_words!(self.store_bits(words, x));
    }

    #[inline(always)]
    fn load_integers(self, words: &[u64; LANES]) -> Four {
        each_of_words!(self.load_integers(words))
    }

    #[inline(always)]
    fn store_canonical(self, words: &mut [u64; LANES], x: Four, q: u64) {
        each_of_words!(self.store_canonical(words, x, q));
    }

    #[inline(always)]
    fn add(self, x: Four, y: Four) -> Four {
        each!(self.add(x, y))
    }

    #[inline(always)]
    fn sub(self, x: Four, y: Four) -> Four {
        each!(self.sub(x, y))
    }

    #[inline(always)]
    fn mul(self, x: Four, y: Four) -> Four {
        each!(self.mul(x, y))
    }

    #[inline(always)]
    fn fma(self, x: Four, y: Four, z: Four) -> Four {
        each!(self.fma(x, y, z))
    }

    #[inline(always)]
    fn fnma(self, x: Four, y: Four, z: Four) -> Four {
        each!(self.fnma(x, y, z))
    }

    #[inline(always)]
    fn round(self, x: Four) -> Four {
        each!(self.round(x))
    }
}

impl EightFloats for Neon {
    type Part = Quarter;
    const PARTS: usize = QUARTERS;

    #[inline(always)]
    fn part(self, index: usize) -> Quarter {
        self.quarter(index)
    }

    // Every program for this architecture is compiled with these instructions: nothing has to be enabled.
    // Kernels that others call stay functions of their own, each with all registers to itself.
    #[inline(never)]
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output {
        kernel.run(lanes)
    }

    // Sixteen squares of two: lanes 2j and 2j + 1 of rows 2i and 2i + 1.
    #[inline(always)]
    fn transpose(self, rows: [Four; LANES]) -> [Four; LANES] {
        let mut out = rows;
        for i in 0..QUARTERS {
            for j in 0..QUARTERS {
                let (upper, lower) = (rows[2 * i][j], rows[2 * i + 1][j]);
                // SAFETY: the NeonToken in self proves the feature.
                unsafe {
                    out[2 * j][i] = vtrn1q_f64(upper, lower);
                    out[2 * j + 1][i] = vtrn2q_f64(upper, lower);
                }
            }
        }
        out
    }

    #[inline(always)]
    fn permute(self, x: Four, indices: &[u64; LANES]) -> Four {
        let (mut words, mut out) = ([0; LANES], [0; LANES]);
        self.store_bits(&mut words, x);
        self.permute_words(&mut out, &words, indices);
        self.load_bits(&out)
    }

    #[inline(always)]
    fn permute_words(self, out: &mut [u64; LANES], words: &[u64; LANES], indices: &[u64; LANES]) {
        for i in 0..LANES {
            out[i] = words[indices[i] as usize % LANES];
        }
    }
}
