//! Operations on rows of canonical residues. All slices of one call have the same length.
//!
//! Rows are taken eight words at a time by the backend; a ragged end goes through a padded copy.
//! Rows that begin at multiples of 64 bytes are faster: an unaligned vector of eight words
//! straddles two cache lines.

mod columns;
mod combine;
mod fma;
mod lift;
mod sums;

pub use combine::{MAX_TERMS, dot_scalar, dot_sources, to_sources};
pub use fma::mul_add_assign;
pub use lift::{add_scalar_assign, lift_signed};
pub use sums::{PairSum, dot, dot_pairs, tensor};

use crate::isa::Isa;
use crate::lanes::{Kernel, LANES, Lanes, dispatch};
use crate::modulus::Modulus;

/// One operation on eight columns: out from (out, x, y).
trait Columns {
    fn prepare(&mut self, l: impl Lanes);
    fn apply<L: Lanes>(&self, l: L, out: &mut [u64; LANES], x: &[u64; LANES], y: &[u64; LANES]);
}

struct Pass<'a, C> {
    out: &'a mut [u64],
    x: &'a [u64],
    y: &'a [u64],
    columns: C,
}

impl<C: Columns> Kernel for Pass<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        self.columns.prepare(l);
        let (out, out_tail) = self.out.as_chunks_mut::<LANES>();
        let (x, x_tail) = self.x.as_chunks::<LANES>();
        let (y, y_tail) = self.y.as_chunks::<LANES>();
        let whole = out.len();
        let (x, y) = (&x[..whole], &y[..whole]);
        for j in 0..whole {
            self.columns.apply(l, &mut out[j], &x[j], &y[j]);
        }
        if !out_tail.is_empty() {
            let mut padded = [[0; LANES]; 3];
            let length = out_tail.len();
            padded[0][..length].copy_from_slice(out_tail);
            padded[1][..length].copy_from_slice(x_tail);
            padded[2][..length].copy_from_slice(y_tail);
            let [mut result, x, y] = padded;
            self.columns.apply(l, &mut result, &x, &y);
            out_tail.copy_from_slice(&result[..length]);
        }
    }
}

/// Declares an operation by its expression over vectors. The form with `(scalar)` multiplies by a prepared
/// scalar.
macro_rules! columns {
    ($name:ident, |$l:ident, $out:ident, $x:ident, $y:ident| $value:expr) => {
        struct $name;
        impl Columns for $name {
            #[inline(always)]
            fn prepare(&mut self, _: impl Lanes) {}
            #[inline(always)]
            fn apply<L: Lanes>(&self, $l: L, $out: &mut [u64; LANES], $x: &[u64; LANES], $y: &[u64; LANES]) {
                let value = $value;
                $l.store($out, value);
            }
        }
    };
    ($name:ident(scalar), |$l:ident, $m:ident, $out:ident, $x:ident| $value:expr) => {
        struct $name {
            scalar: u64,
            words: [u64; 2],
        }
        impl $name {
            fn new(scalar: u64) -> Self {
                Self { scalar, words: [0; 2] }
            }
        }
        impl Columns for $name {
            #[inline(always)]
            fn prepare(&mut self, l: impl Lanes) {
                self.words = l.prepare(self.scalar);
            }
            #[inline(always)]
            fn apply<L: Lanes>(&self, $l: L, $out: &mut [u64; LANES], $x: &[u64; LANES], _: &[u64; LANES]) {
                let $m = $l.multiplier(&self.words);
                let value = $value;
                $l.store($out, value);
            }
        }
    };
}

columns!(Add, |l, out, x, _y| l.add(l.load(out), l.load(x)));
columns!(Sub, |l, out, x, _y| l.sub(l.load(out), l.load(x)));
columns!(Neg, |l, out, _x, _y| l.sub(l.zero(), l.load(out)));
columns!(AddInto, |l, _out, x, y| l.add(l.load(x), l.load(y)));
columns!(SubInto, |l, _out, x, y| l.sub(l.load(x), l.load(y)));
columns!(MulInto, |l, out, x, y| l.mul_lanes(l.load(x), l.load(y)));
columns!(Mul, |l, out, x, _y| l.mul_lanes(l.load(out), l.load(x)));
columns!(Reduce, |l, out, x, _y| l.load_wide(x));
columns!(Scale(scalar), |l, m, out, _x| l.mul(l.load(out), m));
columns!(ScaleInto(scalar), |l, m, _out, x| l.mul(l.load(x), m));
columns!(ScaleAdd(scalar), |l, m, out, x| l.add(l.mul(l.load(x), m), l.load(out)));
columns!(SubScale(scalar), |l, m, out, x| l.mul(l.sub(l.load(out), l.load(x)), m));

/// `(out - x)·scalar + y`.
struct SubScaleAdd(SubScale);

impl Columns for SubScaleAdd {
    #[inline(always)]
    fn prepare(&mut self, l: impl Lanes) {
        self.0.prepare(l);
    }

    #[inline(always)]
    fn apply<L: Lanes>(&self, l: L, out: &mut [u64; LANES], x: &[u64; LANES], y: &[u64; LANES]) {
        let m = l.multiplier(&self.0.words);
        let value = l.add(l.mul(l.sub(l.load(out), l.load(x)), m), l.load(y));
        l.store(out, value);
    }
}

fn pass<C: Columns>(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64], columns: C) {
    assert!(out.len() == x.len() && out.len() == y.len(), "rows of one length");
    debug_assert!(out.iter().all(|&word| word >> Modulus::MAX_BITS == 0));
    dispatch(isa, q, Pass { out, x, y, columns });
}

/// As [`pass`], for an operation that does not read what is in `out`.
fn into<C: Columns>(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64], columns: C) {
    assert!(out.len() == x.len() && out.len() == y.len(), "rows of one length");
    dispatch(isa, q, Pass { out, x, y, columns });
}

/// An operation on one row alone. The operands x and y are zeros and are not read.
struct Single<'a, C> {
    out: &'a mut [u64],
    columns: C,
}

impl<C: Columns> Kernel for Single<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        const NONE: [u64; LANES] = [0; LANES];
        self.columns.prepare(l);
        let (out, tail) = self.out.as_chunks_mut::<LANES>();
        for out in out {
            self.columns.apply(l, out, &NONE, &NONE);
        }
        if !tail.is_empty() {
            let mut padded = NONE;
            padded[..tail.len()].copy_from_slice(tail);
            self.columns.apply(l, &mut padded, &NONE, &NONE);
            tail.copy_from_slice(&padded[..tail.len()]);
        }
    }
}

/// `out = x + y`.
pub fn add(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64]) {
    into(isa, q, out, x, y, AddInto);
}

/// `out = x - y`.
pub fn sub(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64]) {
    into(isa, q, out, x, y, SubInto);
}

/// `x += y`.
pub fn add_assign(isa: Isa, q: Modulus, x: &mut [u64], y: &[u64]) {
    pass(isa, q, x, y, y, Add);
}

/// `x -= y`.
pub fn sub_assign(isa: Isa, q: Modulus, x: &mut [u64], y: &[u64]) {
    pass(isa, q, x, y, y, Sub);
}

/// `x = -x`.
pub fn neg_assign(isa: Isa, q: Modulus, x: &mut [u64]) {
    dispatch(isa, q, Single { out: x, columns: Neg });
}

/// `x *= y`.
pub fn mul_assign(isa: Isa, q: Modulus, x: &mut [u64], y: &[u64]) {
    pass(isa, q, x, y, y, Mul);
}

/// `out = x * y`.
pub fn mul(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64]) {
    into(isa, q, out, x, y, MulInto);
}

/// `x *= scalar`, `scalar` canonical.
pub fn mul_scalar_assign(isa: Isa, q: Modulus, x: &mut [u64], scalar: u64) {
    dispatch(isa, q, Single { out: x, columns: Scale::new(scalar) });
}

/// `out = scalar * x`, `scalar` canonical.
pub fn mul_scalar(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], scalar: u64) {
    into(isa, q, out, x, x, ScaleInto::new(scalar));
}

/// `acc += scalar * x`, `scalar` canonical.
pub fn mul_scalar_add_assign(isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64], scalar: u64) {
    pass(isa, q, acc, x, x, ScaleAdd::new(scalar));
}

/// `x = (x - y) * scalar`: the last step of a rescale or mod-down.
pub fn sub_mul_scalar_assign(isa: Isa, q: Modulus, x: &mut [u64], y: &[u64], scalar: u64) {
    pass(isa, q, x, y, y, SubScale::new(scalar));
}

/// `x = (x - y) * scalar + z`: the same, and what was set aside is added.
pub fn sub_mul_scalar_add_assign(isa: Isa, q: Modulus, x: &mut [u64], y: &[u64], scalar: u64, z: &[u64]) {
    assert!(x.len() == y.len() && x.len() == z.len(), "rows of one length");
    dispatch(isa, q, Pass { out: x, x: y, y: z, columns: SubScaleAdd(SubScale::new(scalar)) });
}

/// `out = x mod q` for values below 2^50.
pub fn reduce(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64]) {
    into(isa, q, out, x, x, Reduce);
}

#[cfg(test)]
mod tests;
