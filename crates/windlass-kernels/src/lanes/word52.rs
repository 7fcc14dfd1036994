//! Residues as integers, multiplied by 52-bit multiply-add: Shoup products with 52-bit quotients.

use super::contract::{Form, Kernel, LANES, Lanes, Part, ROOMY_BITS};
use crate::modulus::Modulus;

/// The vector instructions on eight words. A value proves that they exist.
pub(crate) trait Word52Ops: Copy {
    /// Eight words.
    type Reg: Copy;

    /// Runs `kernel` with the instructions enabled.
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output;
    /// One word in all lanes.
    fn splat(self, x: u64) -> Self::Reg;
    /// From memory.
    fn load(self, words: &[u64; LANES]) -> Self::Reg;
    /// To memory.
    fn store(self, words: &mut [u64; LANES], x: Self::Reg);
    /// `x + y mod 2^64`.
    fn add(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// `x - y mod 2^64`.
    fn sub(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// The smaller, unsigned.
    fn min(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// Bitwise and.
    fn and(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// `x << count`.
    fn shl(self, x: Self::Reg, count: u64) -> Self::Reg;
    /// `x >> count`.
    fn shr(self, x: Self::Reg, count: u64) -> Self::Reg;
    /// `sum + (x·y mod 2^52)` of the low 52 bits of x and y.
    fn madd_low(self, sum: Self::Reg, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// `sum + ⌊x·y / 2^52⌋` of the low 52 bits of x and y.
    fn madd_high(self, sum: Self::Reg, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// See [`Lanes::transpose`].
    fn transpose(self, rows: [Self::Reg; LANES]) -> [Self::Reg; LANES];
    /// See [`Lanes::permute`].
    fn permute(self, x: Self::Reg, indices: &[u64; LANES]) -> Self::Reg;
}

const MASK: u64 = (1 << 52) - 1;

/// Arithmetic modulo q on 52-bit words. Internal form: integers in [0, 4q), so below 2^52.
///
/// `ROOMY` is for q < 2^48: integers in [0, 16q), which small transforms hardly ever have to
/// reduce. What counts of a word are then its low 52 bits, and multiplication looks at no others:
/// so words are masked where they leave this form, and not after each product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word52<O, const ROOMY: bool = false> {
    ops: O,
    q: u64,
    /// 2^52 − q, the low words of −q.
    negated: u64,
    /// ⌊2^52 / q⌋, the Shoup quotient of 1.
    one: u64,
    /// q^{−1} mod 2^52.
    montgomery: u64,
    /// 2^52 mod q and its Shoup quotient.
    high: (u64, u64),
    /// With 2^{b−1} < q < 2^b: the shift 52 − b and μ = ⌊2^{b+51}/q⌋ < 2^52 of Barrett's reduction.
    shift: u64,
    barrett: u64,
}

impl<O: Word52Ops, const ROOMY: bool> Word52<O, ROOMY> {
    pub(crate) fn new(ops: O, modulus: Modulus) -> Self {
        debug_assert!(!ROOMY || modulus.bits() <= ROOMY_BITS);
        let (q, bits) = (modulus.value(), modulus.bits() as u64);
        let high = (1 << 52) % q;
        let barrett = ((1u128 << (bits + 51)) / q as u128) as u64;
        let high = (high, quotient(high, q));
        // Newton's iteration: q is its own inverse modulo 8, and each step doubles the bits.
        let montgomery = (0..5).fold(q, |x, _| x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x)))) & MASK;
        Self { ops, q, montgomery, negated: (1 << 52) - q, one: (1 << 52) / q, high, shift: 52 - bits, barrett }
    }

    /// `x * w` in [0, 2q) for x < 2^52.
    #[inline(always)]
    fn shoup(self, x: O::Reg, w: O::Reg, w_quotient: O::Reg) -> O::Reg {
        self.shoup_add(self.ops.splat(0), x, w, w_quotient)
    }

    /// `addend + x * w`, the product in [0, 2q), for x < 2^52 and a sum below 2^52.
    #[inline(always)]
    fn shoup_add(self, addend: O::Reg, x: O::Reg, w: O::Reg, w_quotient: O::Reg) -> O::Reg {
        let o = self.ops;
        let k = o.madd_high(o.splat(0), x, w_quotient);
        self.clean(o.madd_low(o.madd_low(addend, x, w), k, o.splat(self.negated)))
    }

    /// The low 52 bits, where they have to be alone.
    #[inline(always)]
    fn clean(self, x: O::Reg) -> O::Reg {
        if ROOMY { x } else { self.masked(x) }
    }

    #[inline(always)]
    fn masked(self, x: O::Reg) -> O::Reg {
        self.ops.and(x, self.ops.splat(MASK))
    }

    /// The root w and its quotient, from the quotient: w = ⌊w'·q/2^52⌋ + 1.
    #[inline(always)]
    fn expand(self, quotient: O::Reg) -> (O::Reg, O::Reg) {
        let o = self.ops;
        (o.madd_high(o.splat(1), quotient, o.splat(self.q)), quotient)
    }

    /// Any x < 2^52 to [0, 2q).
    #[inline(always)]
    fn reduce_word(self, x: O::Reg) -> O::Reg {
        let o = self.ops;
        let k = o.madd_high(o.splat(0), x, o.splat(self.one));
        self.clean(o.madd_low(x, k, o.splat(self.negated)))
    }

    /// `x − multiple` where that is not negative, else x.
    #[inline(always)]
    fn subtract_if_fits(self, x: O::Reg, multiple: u64) -> O::Reg {
        self.ops.min(x, self.ops.sub(x, self.ops.splat(multiple)))
    }
}

fn quotient(w: u64, q: u64) -> u64 {
    (((w as u128) << 52) / q as u128) as u64
}

impl<O: Word52Ops, const ROOMY: bool> Part for Word52<O, ROOMY> {
    type Vector = O::Reg;
    type Multiplier = (O::Reg, O::Reg);
    /// Low and high words.
    type Sum = (O::Reg, O::Reg);
    /// Low and high words, the high one with q added.
    type Combination = (O::Reg, O::Reg);

    const FORM: Form = Form {
        signed: false,
        limit: Form::ONE * if ROOMY { 16 } else { 4 },
        widest: Form::ONE * if ROOMY { 16 } else { 4 },
        subtrahend: Form::ONE * if ROOMY { 8 } else { 2 },
        lifts: ROOMY,
        reduced: Form::ONE * 2,
        product: Form::ONE * 2 - 1,
        product_divisor: u32::MAX,
    };
    const WORDS: usize = 2;
    const TWO_COLUMNS: bool = true;
    // High words of products below 2^100 are below 2^48: fifteen, and the carry of the low words,
    // fit in 52 bits.
    const TERMS: usize = 15;
    // After Montgomery's reduction below 2q for what is there at first and q/4 for each product: at
    // most 4q.
    const COMBINED: usize = 9;

    fn prepare(self, multiplier: u64) -> [u64; 2] {
        [multiplier, quotient(multiplier, self.q)]
    }

    #[inline(always)]
    fn multiplier(self, words: &[u64]) -> Self::Multiplier {
        (self.ops.splat(words[0]), self.ops.splat(words[1]))
    }

    // Only the quotient w' = ⌊w·2^52/q⌋: q is odd and w is not 0, so w·2^52/q − 1 < w' < w·2^52/q,
    // w − 1 < w'·q/2^52 < w.
    fn prepare_root(self, root: u64) -> u64 {
        debug_assert!(root != 0 && root < self.q);
        quotient(root, self.q)
    }

    #[inline(always)]
    fn root(self, word: u64) -> Self::Multiplier {
        self.expand(self.ops.splat(word))
    }

    #[inline(always)]
    fn roots(self, words: &[u64; LANES]) -> Self::Multiplier {
        self.expand(self.ops.load(words))
    }

    #[inline(always)]
    fn zero(self) -> O::Reg {
        self.ops.splat(0)
    }

    #[inline(always)]
    fn load(self, words: &[u64; LANES]) -> O::Reg {
        self.ops.load(words)
    }

    #[inline(always)]
    fn load_wide(self, words: &[u64; LANES]) -> O::Reg {
        self.reduce_word(self.ops.load(words))
    }

    #[inline(always)]
    fn store(self, words: &mut [u64; LANES], x: O::Reg) {
        let x = self.reduce(x);
        let x = self.subtract_if_fits(if ROOMY { self.masked(x) } else { x }, self.q);
        self.ops.store(words, x);
    }

    #[inline(always)]
    fn load_raw(self, words: &[u64; LANES]) -> O::Reg {
        self.ops.load(words)
    }

    #[inline(always)]
    fn store_raw(self, words: &mut [u64; LANES], x: O::Reg) {
        self.ops.store(words, x);
    }

    #[inline(always)]
    fn add(self, x: O::Reg, y: O::Reg) -> O::Reg {
        self.ops.add(x, y)
    }

    #[inline(always)]
    fn sub(self, x: O::Reg, y: O::Reg) -> O::Reg {
        self.sub_within(x, y, Self::FORM.subtrahend)
    }

    #[inline(always)]
    fn sub_within(self, x: O::Reg, y: O::Reg, bound: u32) -> O::Reg {
        let multiple = (Self::FORM.lift(bound) / Form::ONE) as u64;
        self.ops.add(x, self.ops.sub(self.ops.splat(multiple * self.q), y))
    }

    #[inline(always)]
    fn mul(self, x: O::Reg, m: Self::Multiplier) -> O::Reg {
        self.shoup(x, m.0, m.1)
    }

    #[inline(always)]
    fn mul_add(self, addend: O::Reg, x: O::Reg, m: Self::Multiplier) -> O::Reg {
        self.shoup_add(addend, x, m.0, m.1)
    }

    // The same operations as in `shoup`, one stage after another.
    #[inline(always)]
    fn mul_many<const N: usize>(self, x: &mut [O::Reg; N], m: &[Self::Multiplier; N]) {
        let o = self.ops;
        let (zero, negated) = (o.splat(0), o.splat(self.negated));
        let mut k = [zero; N];
        for i in 0..N {
            k[i] = o.madd_high(zero, x[i], m[i].1);
        }
        for i in 0..N {
            x[i] = o.madd_low(zero, x[i], m[i].0);
        }
        for i in 0..N {
            x[i] = self.clean(o.madd_low(x[i], k[i], negated));
        }
    }

    // Barrett: top = ⌊xy/2^{b−1}⌋ < 2^{b+1}; ⌊top·μ/2^52⌋ is at most 5/2 below xy/q, so the
    // remainder is in [0, 4q).
    #[inline(always)]
    fn mul_lanes(self, x: O::Reg, y: O::Reg) -> O::Reg {
        let o = self.ops;
        let zero = o.splat(0);
        let top = o.madd_high(zero, o.shl(x, 1), o.shl(y, self.shift));
        let k = o.madd_high(zero, top, o.splat(self.barrett));
        let r = o.madd_low(o.madd_low(zero, x, y), k, o.splat(self.negated));
        self.reduce(self.clean(r))
    }

    #[inline(always)]
    fn reduce(self, x: O::Reg) -> O::Reg {
        if ROOMY { self.reduce_word(x) } else { self.subtract_if_fits(x, 2 * self.q) }
    }

    #[inline(always)]
    fn sum_zero(self) -> Self::Sum {
        (self.ops.splat(0), self.ops.splat(0))
    }

    #[inline(always)]
    fn sum_add(self, sum: Self::Sum, x: &[u64; LANES], y: &[u64; LANES]) -> Self::Sum {
        let o = self.ops;
        let (x, y) = (o.load(x), o.load(y));
        (o.madd_low(sum.0, x, y), o.madd_high(sum.1, x, y))
    }

    #[inline(always)]
    fn sum_reduce(self, sum: Self::Sum) -> O::Reg {
        let o = self.ops;
        let high = o.add(sum.1, o.shr(sum.0, 52));
        let low = self.reduce_word(o.and(sum.0, o.splat(MASK)));
        self.reduce(o.add(self.shoup(high, o.splat(self.high.0), o.splat(self.high.1)), low))
    }

    #[inline(always)]
    fn sum_from(self, x: O::Reg) -> Self::Sum {
        (if ROOMY { self.masked(x) } else { x }, self.ops.splat(0))
    }

    /// In Montgomery's form: scalar·2^52.
    fn coefficient(self, scalar: u64) -> u64 {
        (((scalar as u128) << 52) % self.q as u128) as u64
    }

    #[inline(always)]
    fn combination(self) -> Self::Combination {
        (self.ops.splat(0), self.ops.splat(self.q))
    }

    #[inline(always)]
    fn combine(self, sum: Self::Combination, x: &[u64; LANES], coefficient: u64) -> Self::Combination {
        let o = self.ops;
        let (x, y) = (o.load(x), o.splat(coefficient));
        (o.madd_low(sum.0, x, y), o.madd_high(sum.1, x, y))
    }

    // S = low + 2^52·high − m·q with m ≡ low/q mod 2^52 is 0 mod 2^52: S/2^52 = high + ⌊low/2^52⌋ −
    // ⌊m·q/2^52⌋. Each product is below 2^50·q, so S/2^52 is in (−q, terms·q/4).
    #[inline(always)]
    fn store_combination(self, words: &mut [u64; LANES], sum: Self::Combination) {
        let o = self.ops;
        let zero = o.splat(0);
        let m = o.madd_low(zero, sum.0, o.splat(self.montgomery));
        let high = o.add(sum.1, o.shr(sum.0, 52));
        self.store(words, o.sub(high, o.madd_high(zero, m, o.splat(self.q))));
    }

    #[inline(always)]
    fn combination_from(self, words: &[u64; LANES]) -> Self::Combination {
        (self.ops.splat(0), self.ops.add(self.ops.load(words), self.ops.splat(self.q)))
    }
}

impl<O: Word52Ops, const ROOMY: bool> Lanes for Word52<O, ROOMY> {
    type Part = Self;
    const PARTS: usize = 1;

    #[inline(always)]
    fn part(self, _: usize) -> Self {
        self
    }

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        self.ops.vectorize(self, kernel)
    }

    #[inline(always)]
    fn transpose(self, rows: [O::Reg; LANES]) -> [O::Reg; LANES] {
        self.ops.transpose(rows)
    }

    #[inline(always)]
    fn permute(self, x: O::Reg, indices: &[u64; LANES]) -> O::Reg {
        self.ops.permute(x, indices)
    }
}
