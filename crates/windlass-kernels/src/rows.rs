//! Operations on rows of canonical residues. All slices of one call have the same length.
//!
//! Rows are taken eight words at a time by the backend; a ragged end goes through a padded copy.

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

/// Declares an operation by its expression over vectors; `$needs` names the operands it loads.
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
columns!(MulInto, |l, out, x, y| l.mul_lanes(l.load(x), l.load(y)));
columns!(Mul, |l, out, x, _y| l.mul_lanes(l.load(out), l.load(x)));
columns!(MulAdd, |l, out, x, y| l.add(l.mul_lanes(l.load(x), l.load(y)), l.load(out)));
columns!(Reduce, |l, out, x, _y| l.load_wide(x));
columns!(Scale(scalar), |l, m, out, _x| l.mul(l.load(out), m));
columns!(ScaleAdd(scalar), |l, m, out, x| l.add(l.mul(l.load(x), m), l.load(out)));
columns!(SubScale(scalar), |l, m, out, x| l.mul(l.sub(l.load(out), l.load(x)), m));

fn pass<C: Columns>(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64], columns: C) {
    assert!(out.len() == x.len() && out.len() == y.len(), "rows of one length");
    debug_assert!(out.iter().all(|&word| word >> Modulus::MAX_BITS == 0));
    dispatch(isa, q, Pass { out, x, y, columns });
}

/// An operation on one row alone: the operand slots repeat nothing.
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
    assert!(out.len() == x.len() && out.len() == y.len(), "rows of one length");
    dispatch(isa, q, Pass { out, x, y, columns: MulInto });
}

/// `acc += x * y`.
pub fn mul_add_assign(isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64], y: &[u64]) {
    pass(isa, q, acc, x, y, MulAdd);
}

/// `x *= scalar`, `scalar` canonical.
pub fn mul_scalar_assign(isa: Isa, q: Modulus, x: &mut [u64], scalar: u64) {
    dispatch(isa, q, Single { out: x, columns: Scale::new(scalar) });
}

/// `acc += scalar * x`, `scalar` canonical.
pub fn mul_scalar_add_assign(isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64], scalar: u64) {
    pass(isa, q, acc, x, x, ScaleAdd::new(scalar));
}

/// `x = (x - y) * scalar`: the last step of a rescale or mod-down.
pub fn sub_mul_scalar_assign(isa: Isa, q: Modulus, x: &mut [u64], y: &[u64], scalar: u64) {
    pass(isa, q, x, y, y, SubScale::new(scalar));
}

/// `out = x mod q` for values below 2^50.
pub fn reduce(isa: Isa, q: Modulus, out: &mut [u64], x: &[u64]) {
    assert_eq!(out.len(), x.len(), "rows of one length");
    dispatch(isa, q, Pass { out, x, y: x, columns: Reduce });
}

/// Most pairs or terms of one [`dot`] or [`dot_scalar`].
pub const MAX_TERMS: usize = 64;

/// Σ over pairs of rows, or of rows and scalars: `out` is written, never read.
struct Dot<'a, 'b> {
    out: &'a mut [u64],
    pairs: &'a [(&'b [u64], &'b [u64])],
}

struct DotScalar<'a, 'b> {
    out: &'a mut [u64],
    terms: &'a [(&'b [u64], u64)],
}

/// The eight columns from `start`, padded with zeros past the end.
#[inline(always)]
fn columns_at(row: &[u64], start: usize, whole: bool) -> [u64; LANES] {
    if whole {
        let mut columns = [0; LANES];
        columns.copy_from_slice(&row[start..start + LANES]);
        return columns;
    }
    let mut columns = [0; LANES];
    let rest = &row[start..];
    columns[..rest.len()].copy_from_slice(rest);
    columns
}

#[inline(always)]
fn store_at<L: Lanes>(l: L, out: &mut [u64], start: usize, value: L::Vector) {
    let mut columns = [0; LANES];
    l.store(&mut columns, value);
    let length = LANES.min(out.len() - start);
    if length == LANES {
        out[start..start + LANES].copy_from_slice(&columns);
    } else {
        out[start..].copy_from_slice(&columns[..length]);
    }
}

impl Kernel for Dot<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let length = self.out.len();
        for start in (0..length).step_by(LANES) {
            let whole = start + LANES <= length;
            let mut sum = l.sum_zero();
            let mut taken = 0;
            for (x, y) in self.pairs {
                if taken == L::TERMS {
                    sum = l.sum_from(l.sum_reduce(sum));
                    taken = 1;
                }
                sum = l.sum_add(sum, &columns_at(x, start, whole), &columns_at(y, start, whole));
                taken += 1;
            }
            store_at(l, self.out, start, l.sum_reduce(sum));
        }
    }
}

impl Kernel for DotScalar<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let mut scalars = [0; MAX_TERMS];
        for (prepared, (_, scalar)) in scalars.iter_mut().zip(self.terms) {
            *prepared = l.sum_scalar(*scalar);
        }
        let length = self.out.len();
        for start in (0..length).step_by(LANES) {
            let whole = start + LANES <= length;
            let mut sum = l.sum_zero();
            let mut taken = 0;
            for ((x, _), &scalar) in self.terms.iter().zip(&scalars) {
                if taken == L::TERMS {
                    sum = l.sum_from(l.sum_reduce(sum));
                    taken = 1;
                }
                sum = l.sum_add_scalar(sum, &columns_at(x, start, whole), scalar);
                taken += 1;
            }
            store_at(l, self.out, start, l.sum_reduce(sum));
        }
    }
}

/// `out = Σ_i x_i * y_i` over pairs of rows: the inner product of a key switch. At most [`MAX_TERMS`] pairs.
pub fn dot(isa: Isa, q: Modulus, out: &mut [u64], pairs: &[(&[u64], &[u64])]) {
    assert!(pairs.iter().all(|(x, y)| x.len() == out.len() && y.len() == out.len()), "rows of one length");
    dispatch(isa, q, Dot { out, pairs });
}

/// `out = Σ_i c_i * x_i`: the inner product of a base conversion. The rows `x_i` may hold any values below 2^50 (they are
/// residues modulo other primes); the scalars are canonical. At most [`MAX_TERMS`] terms.
pub fn dot_scalar(isa: Isa, q: Modulus, out: &mut [u64], terms: &[(&[u64], u64)]) {
    assert!(terms.len() <= MAX_TERMS, "at most {MAX_TERMS} terms");
    assert!(terms.iter().all(|(x, _)| x.len() == out.len()), "rows of one length");
    dispatch(isa, q, DotScalar { out, terms });
}

#[cfg(test)]
mod tests;
