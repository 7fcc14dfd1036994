//! Values with the bound they are known to satisfy, so that reductions happen exactly where a backend needs them.
//!
//! The bounds are constants after inlining: no test of a bound is left in the compiled code.

use crate::lanes::{Form, Lanes};

/// A vector of residues in internal form and its bound, in the units of [`Form`].
#[derive(Clone, Copy)]
pub(super) struct Lazy<V> {
    pub value: V,
    pub bound: u32,
}

/// Arithmetic on [`Lazy`] values.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic<L: Lanes> {
    pub lanes: L,
}

/// Bound of the values that wait in memory between two steps: one reduced value (or product), no sums.
pub(super) const fn stored<L: Lanes>() -> u32 {
    if L::FORM.signed { Form::ONE } else { L::FORM.reduced }
}

impl<L: Lanes> Arithmetic<L> {
    /// A value known to satisfy the bound of stored values.
    #[inline(always)]
    pub fn stored(self, value: L::Vector) -> Lazy<L::Vector> {
        Lazy { value, bound: stored::<L>() }
    }

    /// `x`, reduced if its bound is above `bound`.
    #[inline(always)]
    pub fn fit(self, x: Lazy<L::Vector>, bound: u32) -> Lazy<L::Vector> {
        if x.bound > bound { self.reduce(x) } else { x }
    }

    /// `x`, reduced.
    #[inline(always)]
    pub fn reduce(self, x: Lazy<L::Vector>) -> Lazy<L::Vector> {
        if x.bound <= L::FORM.reduced {
            return x;
        }
        debug_assert!(x.bound <= L::FORM.limit);
        Lazy { value: self.lanes.reduce(x.value), bound: L::FORM.reduced }
    }

    /// `x + y`.
    #[inline(always)]
    pub fn add(self, x: Lazy<L::Vector>, y: Lazy<L::Vector>) -> Lazy<L::Vector> {
        let (mut x, mut y) = (x, y);
        if x.bound + y.bound > L::FORM.limit {
            if x.bound >= y.bound {
                x = self.reduce(x);
            } else {
                y = self.reduce(y);
            }
        }
        if x.bound + y.bound > L::FORM.limit {
            (x, y) = (self.reduce(x), self.reduce(y));
        }
        let bound = x.bound + y.bound;
        debug_assert!(bound <= L::FORM.limit);
        Lazy { value: self.lanes.add(x.value, y.value), bound }
    }

    /// `x - y`.
    #[inline(always)]
    pub fn sub(self, x: Lazy<L::Vector>, y: Lazy<L::Vector>) -> Lazy<L::Vector> {
        let (mut x, mut y) = (x, self.fit(y, L::FORM.subtrahend));
        if L::FORM.difference(x.bound, y.bound) > L::FORM.limit {
            if x.bound >= y.bound || !L::FORM.signed {
                x = self.reduce(x);
            } else {
                y = self.reduce(y);
            }
        }
        if L::FORM.difference(x.bound, y.bound) > L::FORM.limit {
            (x, y) = (self.reduce(x), self.reduce(y));
        }
        let bound = L::FORM.difference(x.bound, y.bound);
        debug_assert!(bound <= L::FORM.limit);
        Lazy { value: self.lanes.sub(x.value, y.value), bound }
    }

    /// `x * m`.
    #[inline(always)]
    pub fn mul(self, x: Lazy<L::Vector>, m: L::Multiplier) -> Lazy<L::Vector> {
        debug_assert!(x.bound <= L::FORM.limit);
        Lazy { value: self.lanes.mul(x.value, m), bound: L::FORM.product_of(x.bound) }
    }

    /// `x` times constant `index` of a table of prepared multipliers.
    #[inline(always)]
    pub fn scale(self, x: Lazy<L::Vector>, table: &[u64], index: usize) -> Lazy<L::Vector> {
        self.mul(x, self.lanes.multiplier(&table[index * L::WORDS..(index + 1) * L::WORDS]))
    }
}
