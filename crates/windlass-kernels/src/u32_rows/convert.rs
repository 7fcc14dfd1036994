//! Into and out of rows of 32-bit words: remainders of a row of 50-bit residues, and the digits of integers
//! modulo a product of two primes. Plain arithmetic, compiled for the instruction set.

use super::rows::canonical;
use crate::isa::Isa;
use crate::lanes::dispatch_u32;
use crate::lanes::u32_lanes::{U32Kernel, U32Lanes, U32Modulus};
use crate::modulus::Modulus;

/// Columns taken together.
const BLOCK: usize = 64;

/// From centred residues modulo a prime p < 2^50 to residues modulo a prime q < 2^31 that is above
/// p/2^32 (2^18 is enough), divided by 2^32: a step of Montgomery's reduction.
#[derive(Debug, Clone, Copy)]
pub struct Lowering {
    q: u32,
    /// q^{-1} mod 2^32.
    inverse: u32,
    /// ⌊p/2⌋.
    half: u64,
    /// −p/2^32 mod q.
    wrap: u32,
}

impl Lowering {
    /// From p to q.
    pub fn new(p: Modulus, q: Modulus) -> Self {
        assert!(p.value() >> 32 < q.value(), "q is above p/2^32");
        let m = U32Modulus::new(q);
        let wrap = q.neg(q.mul(q.reduce(p.value()), q.inv(q.reduce(1 << 32)))) as u32;
        Self { q: q.value() as u32, inverse: m.inverse as u32, half: p.value() / 2, wrap }
    }

    /// `out ≡ y/2^32`, in [0, 2q), y the representative in (−p/2, p/2) of a canonical residue. No
    /// branch depends on it.
    pub fn apply(&self, isa: Isa, source: &[u64], out: &mut [u32]) {
        assert_eq!(source.len(), out.len(), "rows of one length");
        debug_assert!(source.iter().all(|&x| x <= 2 * self.half));
        dispatch_u32(isa, Lower { constants: *self, source, out });
    }
}

struct Lower<'a> {
    constants: Lowering,
    source: &'a [u64],
    out: &'a mut [u32],
}

impl U32Kernel for Lower<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, _: N) {
        let Lowering { q, inverse, half, wrap } = self.constants;
        for (out, &x) in self.out.iter_mut().zip(self.source) {
            let multiple = (x as u32).wrapping_mul(inverse);
            // x − multiple·q is a multiple of 2^32 in (−2^32·q, p): add q, and it is in
            // (0, q + p/2^32].
            let rest = (x.wrapping_sub(multiple as u64 * q as u64) >> 32) as u32;
            let rest = rest.wrapping_add(q);
            let less = rest.wrapping_sub(q);
            let rest = if rest < less { rest } else { less };
            *out = rest + (wrap & ((x > half) as u32).wrapping_neg());
        }
    }
}

/// Digits of integers modulo Q = q_0·q_1, given by their residues: of the centred integer, the
/// lowest d bits rounded away, ℓ digits in [−2^{β−1}, 2^{β−1}], lowest first.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    modulus: [Modulus; 2],
    /// q_0^{-1} mod q_1 and its quotient.
    inverse: [u32; 2],
    /// d.
    dropped: u32,
    /// β.
    base_bits: u32,
    digits: usize,
    /// What makes all digits of all centred integers positive: half of 2^d, and 2^{β−1} for each
    /// digit.
    bias: u64,
}

impl Cut {
    /// ℓ·β is at most 62 bits, and with d no fewer bits than Q has; β is at most 31, since digits are
    /// words. The primes have one size.
    pub fn new(q: [Modulus; 2], digits: u32, base_bits: u32, dropped: u32) -> Self {
        assert!(q[0].value() < 2 * q[1].value() && q.iter().all(|q| q.bits() <= U32Modulus::MAX_BITS));
        let product = q[0].value() * q[1].value();
        assert!((1..=31).contains(&base_bits), "digits of 32 bits");
        assert!(digits >= 1 && digits * base_bits + dropped <= 62, "integers of a word");
        assert!(product >> (digits * base_bits + dropped) == 0, "enough digits");
        let inverse = q[1].inv(q[1].reduce(q[0].value()));
        let places = (0..digits).map(|k| 1u64 << (dropped + k * base_bits + base_bits - 1)).sum::<u64>();
        Self {
            modulus: q,
            inverse: [inverse as u32, ((inverse << 32) / q[1].value()) as u32],
            dropped,
            base_bits,
            digits: digits as usize,
            bias: places + ((1 << dropped) >> 1),
        }
    }

    /// What is to be added to the words of digits: −2^{β−1}.
    pub fn offset(&self) -> i64 {
        -(1i64 << (self.base_bits - 1))
    }

    /// Digit k plus 2^{β−1}, of all integers, into row k of `out`. Residues are canonical; no branch
    /// depends on them.
    pub fn apply(&self, isa: Isa, residues: [&[u32]; 2], out: &mut [u32]) {
        let n = residues[0].len();
        assert!(residues[1].len() == n && n % BLOCK == 0, "whole blocks");
        assert_eq!(out.len(), self.digits * n, "a row for each digit");
        debug_assert!(residues.iter().zip(self.modulus).all(|(row, q)| canonical(q, row)));
        dispatch_u32(isa, Digits { cut: *self, residues, out });
    }
}

struct Digits<'a> {
    cut: Cut,
    residues: [&'a [u32]; 2],
    out: &'a mut [u32],
}

impl U32Kernel for Digits<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, _: N) {
        let Cut { modulus, inverse: [inverse, quotient], dropped, base_bits, digits, bias } = self.cut;
        let [q0, q1] = modulus.map(|q| q.value() as u32);
        let product = q0 as u64 * q1 as u64;
        let (half, n) = (product / 2, self.residues[0].len());
        let below = |x: u32| if x < x.wrapping_sub(q1) { x } else { x.wrapping_sub(q1) };
        let (first, second) = (self.residues[0].as_chunks::<BLOCK>().0, self.residues[1].as_chunks::<BLOCK>().0);
        for (block, (first, second)) in first.iter().zip(second).enumerate() {
            let mut rest = [0u64; BLOCK];
            for j in 0..BLOCK {
                // (y − x)·q_0^{-1} mod q_1, by Shoup; x + q_0·that is the integer.
                let (x, y) = (first[j], second[j]);
                let difference = y.wrapping_sub(below(x)).wrapping_add(q1);
                let multiple = ((difference as u64 * quotient as u64) >> 32) as u32;
                let high = below(difference.wrapping_mul(inverse).wrapping_sub(multiple.wrapping_mul(q1)));
                let integer = x as u64 + q0 as u64 * high as u64;
                let centre = product & ((integer > half) as u64).wrapping_neg();
                rest[j] = integer.wrapping_add(bias).wrapping_sub(centre) >> dropped;
            }
            for k in 0..digits {
                let mask = if k + 1 == digits { u32::MAX } else { (1 << base_bits) - 1 };
                let out = &mut self.out[k * n + block * BLOCK..][..BLOCK];
                for j in 0..BLOCK {
                    out[j] = rest[j] as u32 & mask;
                    rest[j] >>= base_bits;
                }
            }
        }
    }
}
