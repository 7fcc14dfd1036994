//! Rows of residues of up to 62 bits with the 64-bit Barrett reduction of Inoue–Suzuki–Yamana 2022,
//! Algorithm 4.1: what Windlass would compute with if its primes had 60 bits instead of 50.
//!
//! Nothing else in Windlass uses it: it is there to be measured beside
//! [`crate::rows::mul_add_assign`] and the sums of [`crate::rows::dot_pairs`].
//!
//! For q of N bits and products u = x·y < q² the quotient u/q is estimated as ⌊c·μ/2^64⌋ with
//! c = ⌊u/2^{N−1}⌋ < 2^{N+1} and μ = ⌊2^{N+63}/q⌋ < 2^64. (The listing shifts by L − 1 and has
//! μ = ⌊2^L/q⌋: the first L is N, the second N + 63.) The estimate is never above the quotient, and
//! below it by less than
//!
//! > (u mod 2^{N−1})/q + c/2^64 + 1 < 1 + 1/2 + 1,
//!
//! so u − estimate·q < 5q/2, and with an addend below q it is below 7q/2 < 2^64 for N ≤ 62. The
//! paper then reduces from [0, 8q) in three steps; two would do.

use crate::isa::Isa;
use crate::lanes::word64::{Octet, Words, WordsKernel};
use crate::lanes::{LANES, dispatch_words};

/// An odd modulus below 2^62 with the constants of its reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrettModulus {
    value: u64,
    /// N.
    bits: u32,
    /// μ = ⌊2^{N+63}/q⌋.
    factor: u64,
}

impl BarrettModulus {
    /// Largest size in bits.
    pub const MAX_BITS: u32 = 62;

    /// The constants of an odd modulus from 3 to 2^62; none for others.
    pub fn new(value: u64) -> Option<Self> {
        let bits = 64 - value.leading_zeros();
        if value < 3 || value % 2 == 0 || bits > Self::MAX_BITS {
            return None;
        }
        // q > 2^{N−1}, since it is no power of two: μ < 2^64.
        let factor = ((1u128 << (bits + 63)) / u128::from(value)) as u64;
        Some(Self { value, bits, factor })
    }

    /// q.
    pub fn value(self) -> u64 {
        self.value
    }
}

/// The constants in registers.
#[derive(Clone, Copy)]
struct Constants<W: Words> {
    q: W::Vector,
    twice: W::Vector,
    four_times: W::Vector,
    factor: W::Vector,
    shift: W::Distance,
}

impl<W: Words> Constants<W> {
    #[inline(always)]
    fn new(w: W, m: BarrettModulus) -> Self {
        Self {
            q: w.splat(m.value),
            twice: w.splat(2 * m.value),
            four_times: w.splat(4 * m.value),
            factor: w.splat(m.factor),
            shift: w.distance(m.bits - 1),
        }
    }

    /// `x·y mod q` in [0, 5q/2): lines 1 to 6 of Algorithm 4.1.
    #[inline(always)]
    fn product(&self, w: W, x: W::Vector, y: W::Vector) -> W::Vector {
        let (high, low) = (w.mul_high(x, y), w.mul_low(x, y));
        let leading = w.shift_right_double(low, high, self.shift);
        let quotient = w.mul_high(leading, self.factor);
        w.sub(low, w.mul_low(quotient, self.q))
    }

    /// Takes `multiple` off where it can be taken off.
    #[inline(always)]
    fn less(w: W, x: W::Vector, multiple: W::Vector) -> W::Vector {
        w.min(w.sub(x, multiple), x)
    }

    /// From [0, 4q) to [0, q).
    #[inline(always)]
    fn below_four(&self, w: W, x: W::Vector) -> W::Vector {
        Self::less(w, Self::less(w, x, self.twice), self.q)
    }

    /// From [0, 8q), as far as that fits a word, to [0, q): line 10.
    #[inline(always)]
    fn below_eight(&self, w: W, x: W::Vector) -> W::Vector {
        self.below_four(w, Self::less(w, x, self.four_times))
    }
}

/// One operation on eight columns.
trait Columns {
    fn apply<W: Words>(w: W, m: &Constants<W>, out: W::Vector, x: W::Vector, y: W::Vector) -> W::Vector;
}

/// `x·y + out`: Algorithm 4.1.
struct MulAdd;
/// `out·x`: the product that the paper's MultAdd begins with.
struct Mul;
/// `out + x`: what it ends with.
struct Add;

impl Columns for MulAdd {
    #[inline(always)]
    fn apply<W: Words>(w: W, m: &Constants<W>, out: W::Vector, x: W::Vector, y: W::Vector) -> W::Vector {
        m.below_eight(w, w.add(m.product(w, x, y), out))
    }
}

impl Columns for Mul {
    #[inline(always)]
    fn apply<W: Words>(w: W, m: &Constants<W>, out: W::Vector, x: W::Vector, _: W::Vector) -> W::Vector {
        m.below_four(w, m.product(w, out, x))
    }
}

impl Columns for Add {
    #[inline(always)]
    fn apply<W: Words>(w: W, m: &Constants<W>, out: W::Vector, x: W::Vector, _: W::Vector) -> W::Vector {
        Constants::less(w, w.add(out, x), m.q)
    }
}

struct Pass<'a, C> {
    modulus: BarrettModulus,
    out: &'a mut [u64],
    x: &'a [u64],
    y: &'a [u64],
    columns: std::marker::PhantomData<C>,
}

impl<C: Columns> Pass<'_, C> {
    #[inline(always)]
    fn eight<W: Words>(w: W, m: &Constants<W>, out: &mut Octet, x: &Octet, y: &Octet) {
        let value = C::apply(w, m, w.load(out), w.load(x), w.load(y));
        w.store(out, value);
    }
}

impl<C: Columns> WordsKernel for Pass<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<W: Words>(self, w: W) {
        let m = Constants::new(w, self.modulus);
        let (out, out_tail) = self.out.as_chunks_mut::<LANES>();
        let (x, x_tail) = self.x.as_chunks::<LANES>();
        let (y, y_tail) = self.y.as_chunks::<LANES>();
        for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
            Self::eight(w, &m, out, x, y);
        }
        if !out_tail.is_empty() {
            let mut padded = [[0; LANES]; 3];
            for (padded, tail) in padded.iter_mut().zip([&*out_tail, x_tail, y_tail]) {
                padded[..tail.len()].copy_from_slice(tail);
            }
            let [mut result, x, y] = padded;
            Self::eight(w, &m, &mut result, &x, &y);
            out_tail.copy_from_slice(&result[..out_tail.len()]);
        }
    }
}

fn pass<C: Columns>(isa: Isa, modulus: BarrettModulus, out: &mut [u64], x: &[u64], y: &[u64], _: C) {
    assert!(out.len() == x.len() && out.len() == y.len(), "rows of one length");
    debug_assert!([&*out, x, y].iter().all(|row| row.iter().all(|&word| word < modulus.value)));
    dispatch_words(isa, Pass::<C> { modulus, out, x, y, columns: std::marker::PhantomData });
}

/// `acc += x·y` on rows of canonical residues, reduced once: Algorithm 4.1 of the paper.
///
/// For eight columns two upper and two lower words of products, one shift of double words, one
/// addition, one subtraction and a reduction from [0, 8q); AVX-512 takes four products of 32 bits
/// for each upper word.
pub fn mul_add_assign(isa: Isa, q: BarrettModulus, acc: &mut [u64], x: &[u64], y: &[u64]) {
    pass(isa, q, acc, x, y, MulAdd);
}

/// `x *= y` on rows of canonical residues, with the same reduction.
pub fn mul_assign(isa: Isa, q: BarrettModulus, x: &mut [u64], y: &[u64]) {
    pass(isa, q, x, y, y, Mul);
}

/// `x += y` on rows of canonical residues.
pub fn add_assign(isa: Isa, q: BarrettModulus, x: &mut [u64], y: &[u64]) {
    pass(isa, q, x, y, y, Add);
}

#[cfg(test)]
mod tests;
