//! Residues as doubles: products are exact pairs (high, low) by fused multiply-add, quotients are
//! rounded by adding and subtracting 1.5·2^52 (as FLINT's fft_small does).

use super::contract::{Form, Kernel, LANES, Lanes, Part, ROOMY_BITS, TWO_52};
use crate::modulus::Modulus;

/// The vector instructions on the doubles of a part of eight lanes. A value proves that they exist.
pub(crate) trait FloatOps: Copy {
    /// One double for each lane.
    type Reg: Copy;

    /// Whether registers hold two columns of eight vectors.
    const MANY_REGISTERS: bool;

    /// One double in all lanes.
    fn splat(self, x: f64) -> Self::Reg;
    /// Doubles by their bits.
    fn load_bits(self, words: &[u64; LANES]) -> Self::Reg;
    /// Doubles by their bits.
    fn store_bits(self, words: &mut [u64; LANES], x: Self::Reg);
    /// Integers below 2^52 to doubles.
    fn load_integers(self, words: &[u64; LANES]) -> Self::Reg;
    /// Whole doubles in (−q, q) to integers in [0, q): q is added to negative ones. q < 2^51.
    fn store_canonical(self, words: &mut [u64; LANES], x: Self::Reg, q: u64);
    /// `x + y`.
    fn add(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// `x - y`.
    fn sub(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// `x * y`.
    fn mul(self, x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// `x * y + z`, rounded once.
    fn fma(self, x: Self::Reg, y: Self::Reg, z: Self::Reg) -> Self::Reg;
    /// `z - x * y`, rounded once.
    fn fnma(self, x: Self::Reg, y: Self::Reg, z: Self::Reg) -> Self::Reg;
    /// To the nearest whole number.
    fn round(self, x: Self::Reg) -> Self::Reg;
}

/// The vector instructions on eight doubles.
pub(crate) trait EightFloats: FloatOps {
    /// Those of one register.
    type Part: FloatOps;
    /// Registers for eight doubles.
    const PARTS: usize;

    /// The part of that number.
    fn part(self, index: usize) -> Self::Part;
    /// Runs `kernel` with the instructions enabled.
    fn vectorize<L: Lanes, K: Kernel>(self, lanes: L, kernel: K) -> K::Output;
    /// See [`Lanes::transpose`].
    fn transpose(self, rows: [Self::Reg; LANES]) -> [Self::Reg; LANES];
    /// See [`Lanes::permute`].
    fn permute(self, x: Self::Reg, indices: &[u64; LANES]) -> Self::Reg;
    /// See [`Lanes::permute_words`].
    #[inline(always)]
    fn permute_words(self, out: &mut [u64; LANES], words: &[u64; LANES], indices: &[u64; LANES]) {
        self.store_bits(out, self.permute(self.load_bits(words), indices));
    }
}

/// Adding and subtracting it rounds |x| ≤ 2^51 to the nearest whole number.
const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;

/// Start of the high accumulator: 2^103. In [2^103, 2^104) a double is a multiple of 2^51.
const SUM_START: f64 = (1u128 << 103) as f64;

/// The representative of a canonical residue in (−q/2, q/2).
fn centre(x: u64, q: u64) -> f64 {
    if x > q / 2 { -((q - x) as f64) } else { x as f64 }
}

/// Arithmetic modulo q on doubles. Internal form: whole doubles in (−4q, 4q), so |x| < 2^52.
///
/// `ROOMY` is for q < 2^48: (−16q, 16q), which small transforms hardly ever have to reduce.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Float<O, const ROOMY: bool = false> {
    ops: O,
    q: u64,
    modulus: f64,
    inverse: f64,
    /// Below 2^9: quotients of values up to 2^53 are not within 1/2 + 2^-8.
    tiny: bool,
}

impl<O: FloatOps, const ROOMY: bool> Float<O, ROOMY> {
    pub(crate) fn new(ops: O, q: Modulus) -> Self {
        debug_assert!(!ROOMY || q.bits() <= ROOMY_BITS);
        let q = q.value();
        Self { ops, q, modulus: q as f64, inverse: 1.0 / q as f64, tiny: q < 1 << 9 }
    }

    /// A multiplier with its quotient by q, so that a product finds its own quotient while it is
    /// multiplied: one step less in a chain of six, which counts where few chains fit into
    /// registers.
    #[inline(always)]
    fn expand(self, w: O::Reg) -> (O::Reg, O::Reg) {
        if O::MANY_REGISTERS { (w, w) } else { (w, self.ops.mul(w, self.ops.splat(self.inverse))) }
    }

    /// `x * y - round(x * y / q) * q` for |x·y| ≤ 2q²: below (1/2 + |xy|/q · 2^−52)·q in absolute
    /// value.
    ///
    /// high = fl(x·y) and low = high − x·y is exact. The quotient's argument high·fl(1/q) is off by
    /// less than |xy/q|·2^−52 ≤ 2q·2^-52 < 1/2, and |xy/q| ≤ 2q < 2^51 is within reach of MAGIC.
    /// high − k·q = result + low is whole and below 2^52, so both last steps are exact.
    #[inline(always)]
    fn product(self, x: O::Reg, y: O::Reg) -> O::Reg {
        let o = self.ops;
        let magic = o.splat(MAGIC);
        let high = o.mul(x, y);
        let quotient = o.sub(o.fma(high, o.splat(self.inverse), magic), magic);
        let low = o.fnma(x, y, high);
        o.sub(o.fnma(quotient, o.splat(self.modulus), high), low)
    }
}

impl<O: FloatOps, const ROOMY: bool> Part for Float<O, ROOMY> {
    type Vector = O::Reg;
    /// A multiplier and its quotient by q.
    type Multiplier = (O::Reg, O::Reg);
    type Sum = (O::Reg, O::Reg);
    type Combination = (O::Reg, O::Reg);

    // Multipliers are centred, |w| ≤ q/2: the product of a value of bound B is below 1/2 +
    // B·2^50·2^−53, or B·2^48·2^-53 where there is room. The quotient of a value at the limit is at
    // most 2q < 2^51, or 8q < 2^51, within reach of MAGIC, and what goes to `reduce` below 2^53.
    const FORM: Form = Form {
        signed: true,
        limit: Form::ONE * if ROOMY { 16 } else { 4 },
        widest: Form::ONE * if ROOMY { 32 } else { 8 },
        subtrahend: Form::ONE * if ROOMY { 16 } else { 4 },
        lifts: false,
        reduced: Form::ONE / 2 + 1,
        product: Form::ONE / 2,
        product_divisor: if ROOMY { 32 } else { 8 },
    };
    const WORDS: usize = 1;
    const TWO_COLUMNS: bool = O::MANY_REGISTERS;
    // Products below 2^100 on top of 2^103, low parts of at most 2^50 each: eight fill both
    // accumulators.
    const TERMS: usize = 8;
    // The low parts, 2^50 each, and a remainder in (−2q, 2q), are whole doubles up to 2^53.
    const COMBINED: usize = 6;

    fn prepare(self, multiplier: u64) -> [u64; 2] {
        [centre(multiplier, self.q).to_bits(), 0]
    }

    #[inline(always)]
    fn multiplier(self, words: &[u64]) -> Self::Multiplier {
        self.expand(self.ops.splat(f64::from_bits(words[0])))
    }

    fn prepare_root(self, root: u64) -> u64 {
        centre(root, self.q).to_bits()
    }

    #[inline(always)]
    fn root(self, word: u64) -> Self::Multiplier {
        self.expand(self.ops.splat(f64::from_bits(word)))
    }

    #[inline(always)]
    fn roots(self, words: &[u64; LANES]) -> Self::Multiplier {
        self.expand(self.ops.load_bits(words))
    }

    #[inline(always)]
    fn zero(self) -> O::Reg {
        self.ops.splat(0.0)
    }

    #[inline(always)]
    fn load(self, words: &[u64; LANES]) -> O::Reg {
        self.ops.load_integers(words)
    }

    // Below 2^50 the quotient is off by less than 1/2 + 2^50/3·2^−52.
    #[inline(always)]
    fn load_wide(self, words: &[u64; LANES]) -> O::Reg {
        self.reduce(self.ops.load_integers(words))
    }

    #[inline(always)]
    fn store(self, words: &mut [u64; LANES], x: O::Reg) {
        self.ops.store_canonical(words, self.reduce(x), self.q);
    }

    #[inline(always)]
    fn load_raw(self, words: &[u64; LANES]) -> O::Reg {
        self.ops.load_bits(words)
    }

    #[inline(always)]
    fn store_raw(self, words: &mut [u64; LANES], x: O::Reg) {
        self.ops.store_bits(words, x);
    }

    #[inline(always)]
    fn add(self, x: O::Reg, y: O::Reg) -> O::Reg {
        self.ops.add(x, y)
    }

    #[inline(always)]
    fn sub(self, x: O::Reg, y: O::Reg) -> O::Reg {
        self.ops.sub(x, y)
    }

    #[inline(always)]
    fn mul(self, x: O::Reg, m: Self::Multiplier) -> O::Reg {
        let mut product = [x];
        self.mul_many(&mut product, &[m]);
        product[0]
    }

    // The operations of `product`, one stage after another. The quotient x·fl(w·fl(1/q)), rounded
    // once, is off by less than |xw/q|·2^−52 as well.
    #[inline(always)]
    fn mul_many<const N: usize>(self, x: &mut [O::Reg; N], m: &[Self::Multiplier; N]) {
        let o = self.ops;
        let magic = o.splat(MAGIC);
        let mut high = [magic; N];
        let mut quotient = [magic; N];
        for i in 0..N {
            high[i] = o.mul(x[i], m[i].0);
            if !O::MANY_REGISTERS {
                quotient[i] = o.fma(x[i], m[i].1, magic);
            }
        }
        for i in 0..N {
            if O::MANY_REGISTERS {
                quotient[i] = o.fma(high[i], o.splat(self.inverse), magic);
            }
            x[i] = o.fnma(x[i], m[i].0, high[i]);
        }
        for i in 0..N {
            quotient[i] = o.sub(quotient[i], magic);
        }
        for i in 0..N {
            high[i] = o.fnma(quotient[i], o.splat(self.modulus), high[i]);
        }
        for i in 0..N {
            x[i] = o.sub(high[i], x[i]);
        }
    }

    #[inline(always)]
    fn mul_lanes(self, x: O::Reg, y: O::Reg) -> O::Reg {
        self.product(x, y)
    }

    // Whole numbers are exact to 8q, or 32q where there is room, up to 2^53; the quotient is no
    // more, and off by little more than 1/2.
    #[inline(always)]
    fn reduce(self, x: O::Reg) -> O::Reg {
        let o = self.ops;
        let magic = o.splat(MAGIC);
        let quotient = o.sub(o.fma(x, o.splat(self.inverse), magic), magic);
        o.fnma(quotient, o.splat(self.modulus), x)
    }

    #[inline(always)]
    fn sum_zero(self) -> Self::Sum {
        (self.ops.splat(SUM_START), self.ops.splat(0.0))
    }

    // The high accumulator stays in [2^103, 2^104], so it takes up a multiple of 2^51 that is
    // within 2^50 of x·y.
    #[inline(always)]
    fn sum_add(self, sum: Self::Sum, x: &[u64; LANES], y: &[u64; LANES]) -> Self::Sum {
        let o = self.ops;
        let (x, y) = (o.load_integers(x), o.load_integers(y));
        let next = o.fma(x, y, sum.0);
        (next, o.sub(sum.1, o.fnma(x, y, o.sub(next, sum.0))))
    }

    #[inline(always)]
    fn sum_reduce(self, sum: Self::Sum) -> O::Reg {
        self.reduce(self.folded(sum))
    }

    #[inline(always)]
    fn store_sum(self, words: &mut [u64; LANES], sum: Self::Sum) {
        self.store(words, self.folded(sum));
    }

    #[inline(always)]
    fn sum_from(self, x: O::Reg) -> Self::Sum {
        (self.ops.splat(SUM_START), x)
    }

    fn coefficient(self, scalar: u64) -> u64 {
        (scalar as f64).to_bits()
    }

    #[inline(always)]
    fn combination(self) -> Self::Combination {
        self.sum_zero()
    }

    #[inline(always)]
    fn combine(self, sum: Self::Combination, x: &[u64; LANES], coefficient: u64) -> Self::Combination {
        self.combine_doubles(sum, self.ops.load_integers(x), coefficient)
    }

    /// A double, by its bits.
    #[inline(always)]
    fn source(word: u64) -> u64 {
        (f64::from_bits(word | TWO_52.to_bits()) - TWO_52).to_bits()
    }

    #[inline(always)]
    fn source_value(source: u64) -> f64 {
        f64::from_bits(source)
    }

    #[inline(always)]
    fn combine_source(self, sum: Self::Combination, x: &[u64; LANES], coefficient: u64) -> Self::Combination {
        self.combine_doubles(sum, self.ops.load_bits(x), coefficient)
    }

    #[inline(always)]
    fn store_combination(self, words: &mut [u64; LANES], sum: Self::Combination) {
        let x = self.combined(sum);
        self.ops.store_canonical(words, if self.tiny { self.reduce(x) } else { x }, self.q);
    }

    #[inline(always)]
    fn combination_from(self, words: &[u64; LANES]) -> Self::Combination {
        self.sum_from(self.load(words))
    }

    // In (−q, q), or (−2q, 2q) for a tiny q: in absolute value at most 2^50, as a low part.
    #[inline(always)]
    fn fold_combination(self, sum: Self::Combination) -> Self::Combination {
        self.sum_from(self.combined(sum))
    }
}

impl<O: EightFloats, const ROOMY: bool> Lanes for Float<O, ROOMY> {
    type Part = Float<O::Part, ROOMY>;
    const PARTS: usize = O::PARTS;

    #[inline(always)]
    fn part(self, index: usize) -> Self::Part {
        let Self { ops, q, modulus, inverse, tiny } = self;
        Float { ops: ops.part(index), q, modulus, inverse, tiny }
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

    #[inline(always)]
    fn permute_words(self, out: &mut [u64; LANES], words: &[u64; LANES], indices: &[u64; LANES]) {
        self.ops.permute_words(out, words, indices);
    }
}

impl<O: FloatOps, const ROOMY: bool> Float<O, ROOMY> {
    /// Adds x·y, y the double of a coefficient.
    #[inline(always)]
    fn combine_doubles(self, sum: (O::Reg, O::Reg), x: O::Reg, coefficient: u64) -> (O::Reg, O::Reg) {
        let o = self.ops;
        let y = o.splat(f64::from_bits(coefficient));
        let next = o.fma(x, y, sum.0);
        (next, o.sub(sum.1, o.fnma(x, y, o.sub(next, sum.0))))
    }

    /// A combination to (−q, q), or to (−2q, 2q) if q is tiny.
    ///
    /// high < 6·2^50·q + 2^53 is a multiple of 2^51 below 2^103, and the quotient, below 2^53, is
    /// off by less than 3/2 + 1/2: so the remainder is in (−2q, 2q), whole, and exact. With the low
    /// part it is at most 2^53 in absolute value.
    #[inline(always)]
    fn combined(self, sum: (O::Reg, O::Reg)) -> O::Reg {
        let o = self.ops;
        let high = o.sub(sum.0, o.splat(SUM_START));
        let quotient = o.round(o.mul(high, o.splat(self.inverse)));
        let rest = o.fnma(quotient, o.splat(self.modulus), high);
        self.reduce_wide(o.add(rest, sum.1))
    }

    /// A sum to (−9q/2, 9q/2), and to (−4q, 4q) unless q is tiny.
    ///
    /// high ≤ 8·(q² + 2^50) is a multiple of 2^51 below 2^103 + 2^53, and the quotient, at most
    /// 2^53 for the largest q, is off by less than 2 + 1/2: the remainder, in (−5q/2, 5q/2), is
    /// whole and exact.
    #[inline(always)]
    fn folded(self, sum: (O::Reg, O::Reg)) -> O::Reg {
        let o = self.ops;
        let rest = self.reduce_wide(o.sub(sum.0, o.splat(SUM_START)));
        o.add(rest, self.reduce_wide(sum.1))
    }

    /// Whole |x| ≤ 2^53 to (−2q, 2q), for any q ≥ 3: the quotient is below 2^53/3 and off by less
    /// than 3/2. For q ≥ 2^9 it is below 2^44, and off by less than 1/2 + 2^-8: (−q, q).
    #[inline(always)]
    fn reduce_wide(self, x: O::Reg) -> O::Reg {
        let o = self.ops;
        o.fnma(o.round(o.mul(x, o.splat(self.inverse))), o.splat(self.modulus), x)
    }
}
