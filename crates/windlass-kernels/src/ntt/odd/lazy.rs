//! Values with the bound they are known to satisfy, so that reductions happen exactly where a
//! backend needs them.
//!
//! The bounds are constants after inlining: no test of a bound is left in the compiled code.

use super::cell::Cell;
use crate::lanes::Form;

/// Bounds are the same for any data, so asserting them in the tests of this crate is enough;
/// elsewhere it would only multiply the build time.
macro_rules! assert_bound {
    ($condition:expr) => {
        #[cfg(test)]
        assert!($condition);
    };
}

/// A vector of residues in internal form and its bound, in the units of [`Form`].
#[derive(Clone, Copy)]
pub(super) struct Lazy<V> {
    pub value: V,
    pub bound: u32,
}

/// Arithmetic on [`Lazy`] values.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic<C: Cell> {
    pub cell: C,
}

/// Bound of the values that wait in memory between two steps: one reduced value (or product), no
/// sums.
pub(super) const fn stored<C: Cell>() -> u32 {
    if C::FORM.signed { Form::ONE } else { C::FORM.reduced }
}

impl<C: Cell> Arithmetic<C> {
    /// A value known to satisfy the bound of stored values.
    #[inline(always)]
    pub fn stored(self, value: C::Value) -> Lazy<C::Value> {
        Lazy { value, bound: stored::<C>() }
    }

    /// `x`, reduced if its bound is above `bound`.
    #[inline(always)]
    pub fn fit(self, x: Lazy<C::Value>, bound: u32) -> Lazy<C::Value> {
        if x.bound > bound { self.reduce(x) } else { x }
    }

    /// `x`, reduced.
    #[inline(always)]
    pub fn reduce(self, x: Lazy<C::Value>) -> Lazy<C::Value> {
        if x.bound <= C::FORM.reduced {
            return x;
        }
        assert_bound!(x.bound <= C::FORM.widest);
        Lazy { value: self.cell.reduce(x.value), bound: C::FORM.reduced }
    }

    /// `x + y`.
    #[inline(always)]
    pub fn add(self, x: Lazy<C::Value>, y: Lazy<C::Value>) -> Lazy<C::Value> {
        let (mut x, mut y) = (x, y);
        if x.bound + y.bound > C::FORM.widest {
            if x.bound >= y.bound {
                x = self.reduce(x);
            } else {
                y = self.reduce(y);
            }
        }
        if x.bound + y.bound > C::FORM.widest {
            (x, y) = (self.reduce(x), self.reduce(y));
        }
        let bound = x.bound + y.bound;
        assert_bound!(bound <= C::FORM.widest);
        Lazy { value: self.cell.add(x.value, y.value), bound }
    }

    /// `x - y`.
    #[inline(always)]
    pub fn sub(self, x: Lazy<C::Value>, y: Lazy<C::Value>) -> Lazy<C::Value> {
        let (mut x, mut y) = (x, if C::FORM.signed { y } else { self.fit(y, C::FORM.subtrahend) });
        if C::FORM.difference_within(x.bound, y.bound) > C::FORM.widest {
            if x.bound >= y.bound || !C::FORM.signed {
                x = self.reduce(x);
            } else {
                y = self.reduce(y);
            }
        }
        if C::FORM.difference_within(x.bound, y.bound) > C::FORM.widest {
            (x, y) = (self.reduce(x), self.reduce(y));
        }
        let bound = C::FORM.difference_within(x.bound, y.bound);
        assert_bound!(bound <= C::FORM.widest);
        Lazy { value: self.cell.sub(x.value, y.value, y.bound), bound }
    }

    /// `x * m`.
    #[inline(always)]
    pub fn mul(self, x: Lazy<C::Value>, m: C::Constant) -> Lazy<C::Value> {
        let x = self.fit(x, C::FORM.limit);
        Lazy { value: self.cell.mul(x.value, m), bound: C::FORM.product_of(x.bound) }
    }

    /// `x` times constant `index` of a table of prepared multipliers.
    #[inline(always)]
    pub fn scale(self, x: Lazy<C::Value>, table: &[u64], index: usize) -> Lazy<C::Value> {
        self.mul(x, self.constant(table, index))
    }

    /// `addend` plus `x` times constant `index` of a table of prepared multipliers.
    #[inline(always)]
    pub fn scale_add(self, addend: Lazy<C::Value>, x: Lazy<C::Value>, table: &[u64], index: usize) -> Lazy<C::Value> {
        let x = self.fit(x, C::FORM.limit);
        let product = C::FORM.product_of(x.bound);
        let addend = self.fit(addend, C::FORM.widest - product);
        let bound = addend.bound + product;
        assert_bound!(bound <= C::FORM.widest);
        Lazy { value: self.cell.mul_add(addend.value, x.value, self.constant(table, index)), bound }
    }

    #[inline(always)]
    fn constant(self, table: &[u64], index: usize) -> C::Constant {
        self.cell.constant(&table[index * C::WORDS..(index + 1) * C::WORDS])
    }
}
