//! Integer arithmetic in plain Rust: Shoup products with 64-bit quotients.

use super::contract::{Form, Kernel, LANES, Lanes, Part};
use super::wide;
use crate::modulus::Modulus;

/// Arithmetic modulo q as fits this processor.
pub(crate) type Portable = Integers<{ wide::BY_HALVES }>;

/// Arithmetic modulo q on arrays. Internal form: integers in [0, 2^14·q), which is below 2^64.
///
/// `BY_HALVES`: products of words are made of halves, and quotients up to 2 too small.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integers<const BY_HALVES: bool> {
    q: u64,
    /// ⌊2^64 / q⌋, the Shoup quotient of 1.
    one: u64,
    /// 2^64 mod q and its Shoup quotient.
    high: (u64, u64),
    /// What `sub` adds: 64 q.
    offset: u64,
}

type Words = [u64; LANES];

impl<const BY_HALVES: bool> Integers<BY_HALVES> {
    /// What [`Self::shoup`] gives is below this many times q.
    const SHOUP: u32 = 2 + wide::shortfall(BY_HALVES);

    pub(crate) fn new(q: Modulus) -> Self {
        let q = q.value();
        let high = ((1u128 << 64) % q as u128) as u64;
        // q is odd, so it does not divide 2^64 and the quotients of 2^64 − 1 and 2^64 agree.
        Self { q, one: u64::MAX / q, high: (high, quotient(high, q)), offset: 64 * q }
    }

    /// `x * w` in [0, 2q) for any x; `w_quotient = ⌊w·2^64/q⌋`. A quotient that is 2 too small gives
    /// [0, 4q).
    #[inline(always)]
    fn shoup(self, x: u64, w: u64, w_quotient: u64) -> u64 {
        let k = wide::high::<BY_HALVES>(x, w_quotient);
        x.wrapping_mul(w).wrapping_sub(k.wrapping_mul(self.q))
    }

    /// The root w from its quotient w': ⌊w'·q/2^64⌋ + 1.
    #[inline(always)]
    fn expand(self, quotient: u64) -> u64 {
        (wide::product::<BY_HALVES>(quotient, self.q) >> 64) as u64 + 1
    }

    /// [0, 4q) to [0, q).
    #[inline(always)]
    fn canonical(self, x: u64) -> u64 {
        let x = if BY_HALVES { x.min(x.wrapping_sub(2 * self.q)) } else { x };
        x.min(x.wrapping_sub(self.q))
    }

    /// A double word to [0, 4q), or [0, 8q).
    #[inline(always)]
    fn fold(self, x: u128) -> u64 {
        self.shoup((x >> 64) as u64, self.high.0, self.high.1) + self.shoup(x as u64, 1, self.one)
    }
}

fn quotient(w: u64, q: u64) -> u64 {
    (((w as u128) << 64) / q as u128) as u64
}

#[inline(always)]
fn map(x: Words, f: impl Fn(u64) -> u64) -> Words {
    let mut out = x;
    for i in 0..LANES {
        out[i] = f(x[i]);
    }
    out
}

#[inline(always)]
fn zip(x: Words, y: Words, f: impl Fn(u64, u64) -> u64) -> Words {
    let mut out = x;
    for i in 0..LANES {
        out[i] = f(x[i], y[i]);
    }
    out
}

impl<const BY_HALVES: bool> Part for Integers<BY_HALVES> {
    type Vector = Words;
    type Multiplier = (Words, Words);
    type Sum = [u128; LANES];
    type Combination = [u128; LANES];

    const FORM: Form = Form {
        signed: false,
        limit: Form::ONE << 14,
        widest: Form::ONE << 14,
        subtrahend: Form::ONE * 64,
        lifts: false,
        reduced: Form::ONE * Self::SHOUP,
        product: Form::ONE * Self::SHOUP - 1,
        product_divisor: u32::MAX,
    };
    const WORDS: usize = 2;
    const TWO_COLUMNS: bool = false;
    const TERMS: usize = 1 << 20;
    const COMBINED: usize = 1 << 20;
    const ONE_BY_ONE: bool = true;

    fn prepare(self, multiplier: u64) -> [u64; 2] {
        [multiplier, quotient(multiplier, self.q)]
    }

    #[inline(always)]
    fn multiplier(self, words: &[u64]) -> Self::Multiplier {
        ([words[0]; LANES], [words[1]; LANES])
    }

    // Only the quotient w' = ⌊w·2^64/q⌋: q is odd and w is not 0, so w·2^64/q − 1 < w' < w·2^64/q,
    // w − 1 < w'·q/2^64 < w.
    fn prepare_root(self, root: u64) -> u64 {
        debug_assert!(root != 0 && root < self.q);
        quotient(root, self.q)
    }

    #[inline(always)]
    fn root(self, word: u64) -> Self::Multiplier {
        ([self.expand(word); LANES], [word; LANES])
    }

    #[inline(always)]
    fn roots(self, words: &Words) -> Self::Multiplier {
        (map(*words, |word| self.expand(word)), *words)
    }

    #[inline(always)]
    fn zero(self) -> Words {
        [0; LANES]
    }

    #[inline(always)]
    fn load(self, words: &Words) -> Words {
        *words
    }

    #[inline(always)]
    fn load_wide(self, words: &Words) -> Words {
        self.reduce(*words)
    }

    #[inline(always)]
    fn store(self, words: &mut Words, x: Words) {
        *words = map(self.reduce(x), |x| self.canonical(x));
    }

    #[inline(always)]
    fn load_raw(self, words: &Words) -> Words {
        *words
    }

    #[inline(always)]
    fn store_raw(self, words: &mut Words, x: Words) {
        *words = x;
    }

    #[inline(always)]
    fn add(self, x: Words, y: Words) -> Words {
        zip(x, y, |x, y| x + y)
    }

    #[inline(always)]
    fn sub(self, x: Words, y: Words) -> Words {
        zip(x, y, |x, y| x + (self.offset - y))
    }

    #[inline(always)]
    fn mul(self, x: Words, m: Self::Multiplier) -> Words {
        let mut out = x;
        for i in 0..LANES {
            out[i] = self.shoup(x[i], m.0[i], m.1[i]);
        }
        out
    }

    #[inline(always)]
    fn mul_lanes(self, x: Words, y: Words) -> Words {
        self.reduce(zip(x, y, |x, y| self.fold(wide::product::<BY_HALVES>(x, y))))
    }

    #[inline(always)]
    fn reduce(self, x: Words) -> Words {
        map(x, |x| self.shoup(x, 1, self.one))
    }

    #[inline(always)]
    fn sum_zero(self) -> Self::Sum {
        [0; LANES]
    }

    #[inline(always)]
    fn sum_add(self, mut sum: Self::Sum, x: &Words, y: &Words) -> Self::Sum {
        for i in 0..LANES {
            sum[i] += wide::product::<BY_HALVES>(x[i], y[i]);
        }
        sum
    }

    #[inline(always)]
    fn sum_reduce(self, sum: Self::Sum) -> Words {
        let mut out = [0; LANES];
        for i in 0..LANES {
            out[i] = self.fold(sum[i]);
        }
        self.reduce(out)
    }

    #[inline(always)]
    fn sum_from(self, x: Words) -> Self::Sum {
        x.map(|x| x as u128)
    }

    fn coefficient(self, scalar: u64) -> u64 {
        scalar
    }

    #[inline(always)]
    fn combination(self) -> Self::Combination {
        [0; LANES]
    }

    #[inline(always)]
    fn combine(self, sum: Self::Combination, x: &Words, coefficient: u64) -> Self::Combination {
        self.sum_add(sum, x, &[coefficient; LANES])
    }

    #[inline(always)]
    fn store_combination(self, words: &mut Words, sum: Self::Combination) {
        self.store(words, self.sum_reduce(sum));
    }

    #[inline(always)]
    fn combination_from(self, words: &Words) -> Self::Combination {
        self.sum_from(*words)
    }
}

impl<const BY_HALVES: bool> Lanes for Integers<BY_HALVES> {
    type Part = Self;
    const PARTS: usize = 1;

    #[inline(always)]
    fn part(self, _: usize) -> Self {
        self
    }

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn transpose(self, rows: [Words; LANES]) -> [Words; LANES] {
        let mut columns = rows;
        for i in 0..LANES {
            for j in 0..LANES {
                columns[i][j] = rows[j][i];
            }
        }
        columns
    }

    #[inline(always)]
    fn permute(self, x: Words, indices: &Words) -> Words {
        map(*indices, |index| x[index as usize % LANES])
    }
}
