//! The arithmetic of the small transforms: on a vector of a backend, or on one lane after another if the
//! backend has no vectors.

use crate::lanes::portable::Portable;
use crate::lanes::wide::{self, BY_HALVES};
use crate::lanes::{Form, LANES, Lanes, Part};
use crate::modulus::Modulus;

/// Arithmetic on a part of eight columns; bounds as in [`Form`].
pub(super) trait Cell: Copy {
    /// Residues in internal form.
    type Value: Copy;
    /// A prepared multiplier.
    type Constant: Copy;

    /// Bounds of the internal form.
    const FORM: Form;
    /// Words of a prepared multiplier.
    const WORDS: usize;
    /// Parts that make up eight columns.
    const PARTS: usize;

    /// The part of that number.
    fn part(self, index: usize) -> Self;
    /// A prepared multiplier.
    fn constant(self, words: &[u64]) -> Self::Constant;
    /// Zero.
    fn zero(self) -> Self::Value;
    /// Canonical residues to internal form.
    fn load(self, words: &[u64; LANES]) -> Self::Value;
    /// Internal form, up to the limit, to canonical residues.
    fn store(self, words: &mut [u64; LANES], x: Self::Value);
    /// Internal form from memory.
    fn load_raw(self, words: &[u64; LANES]) -> Self::Value;
    /// Internal form to memory.
    fn store_raw(self, words: &mut [u64; LANES], x: Self::Value);
    /// `x + y`.
    fn add(self, x: Self::Value, y: Self::Value) -> Self::Value;
    /// `x - y`, y of bound at most `bound`.
    fn sub(self, x: Self::Value, y: Self::Value, bound: u32) -> Self::Value;
    /// `x * m`, reduced.
    fn mul(self, x: Self::Value, m: Self::Constant) -> Self::Value;
    /// `addend + x * m`.
    fn mul_add(self, addend: Self::Value, x: Self::Value, m: Self::Constant) -> Self::Value;
    /// x, reduced.
    fn reduce(self, x: Self::Value) -> Self::Value;
}

/// All eight columns in a vector.
#[derive(Clone, Copy)]
pub(super) struct Vectors<L>(pub L);

impl<L: Lanes> Cell for Vectors<L> {
    type Value = L::Vector;
    type Constant = L::Multiplier;

    const FORM: Form = L::FORM;
    const WORDS: usize = L::WORDS;
    const PARTS: usize = 1;

    #[inline(always)]
    fn part(self, _: usize) -> Self {
        self
    }

    #[inline(always)]
    fn constant(self, words: &[u64]) -> L::Multiplier {
        self.0.multiplier(words)
    }

    #[inline(always)]
    fn zero(self) -> L::Vector {
        self.0.zero()
    }

    #[inline(always)]
    fn load(self, words: &[u64; LANES]) -> L::Vector {
        self.0.load(words)
    }

    #[inline(always)]
    fn store(self, words: &mut [u64; LANES], x: L::Vector) {
        self.0.store(words, x);
    }

    #[inline(always)]
    fn load_raw(self, words: &[u64; LANES]) -> L::Vector {
        self.0.load_raw(words)
    }

    #[inline(always)]
    fn store_raw(self, words: &mut [u64; LANES], x: L::Vector) {
        self.0.store_raw(words, x);
    }

    #[inline(always)]
    fn add(self, x: L::Vector, y: L::Vector) -> L::Vector {
        self.0.add(x, y)
    }

    #[inline(always)]
    fn sub(self, x: L::Vector, y: L::Vector, bound: u32) -> L::Vector {
        self.0.sub_within(x, y, bound)
    }

    #[inline(always)]
    fn mul(self, x: L::Vector, m: L::Multiplier) -> L::Vector {
        self.0.mul(x, m)
    }

    #[inline(always)]
    fn mul_add(self, addend: L::Vector, x: L::Vector, m: L::Multiplier) -> L::Vector {
        self.0.mul_add(addend, x, m)
    }

    #[inline(always)]
    fn reduce(self, x: L::Vector) -> L::Vector {
        self.0.reduce(x)
    }
}

/// One of the eight columns, in the internal form and with the prepared multipliers of
/// [`Portable`]. Eight columns side by side would be eight times the code and would not fit in
/// registers.
#[derive(Clone, Copy)]
pub(super) struct OneLane {
    q: u64,
    /// ⌊2^64 / q⌋, the Shoup quotient of 1.
    one: u64,
    lane: usize,
}

impl OneLane {
    pub fn new(q: Modulus) -> Self {
        // q is odd, so it does not divide 2^64 and the quotients of 2^64 − 1 and 2^64 agree.
        Self { q: q.value(), one: u64::MAX / q.value(), lane: 0 }
    }
}

impl Cell for OneLane {
    type Value = u64;
    type Constant = (u64, u64);

    const FORM: Form = Portable::FORM;
    const WORDS: usize = Portable::WORDS;
    const PARTS: usize = LANES;

    #[inline(always)]
    fn part(self, index: usize) -> Self {
        Self { lane: index % LANES, ..self }
    }

    #[inline(always)]
    fn constant(self, words: &[u64]) -> (u64, u64) {
        (words[0], words[1])
    }

    #[inline(always)]
    fn zero(self) -> u64 {
        0
    }

    #[inline(always)]
    fn load(self, words: &[u64; LANES]) -> u64 {
        words[self.lane]
    }

    #[inline(always)]
    fn store(self, words: &mut [u64; LANES], x: u64) {
        let x = self.reduce(x);
        let x = if BY_HALVES { x.min(x.wrapping_sub(2 * self.q)) } else { x };
        words[self.lane] = x.min(x.wrapping_sub(self.q));
    }

    #[inline(always)]
    fn load_raw(self, words: &[u64; LANES]) -> u64 {
        words[self.lane]
    }

    #[inline(always)]
    fn store_raw(self, words: &mut [u64; LANES], x: u64) {
        words[self.lane] = x;
    }

    #[inline(always)]
    fn add(self, x: u64, y: u64) -> u64 {
        x + y
    }

    #[inline(always)]
    fn sub(self, x: u64, y: u64, _: u32) -> u64 {
        x + ((Self::FORM.subtrahend / Form::ONE) as u64 * self.q - y)
    }

    // Shoup's product: in [0, 2q) for any x, or [0, 4q) by halves.
    #[inline(always)]
    fn mul(self, x: u64, (w, quotient): (u64, u64)) -> u64 {
        let k = wide::high::<BY_HALVES>(x, quotient);
        x.wrapping_mul(w).wrapping_sub(k.wrapping_mul(self.q))
    }

    #[inline(always)]
    fn mul_add(self, addend: u64, x: u64, m: (u64, u64)) -> u64 {
        self.add(addend, self.mul(x, m))
    }

    #[inline(always)]
    fn reduce(self, x: u64) -> u64 {
        self.mul(x, (1, self.one))
    }
}
