//! Transforms of small fixed length in registers: `X_k = Σ_j x_j w^{jk}`.
//!
//! Multiplications are few:
//!
//! - 3, 4, 5 and 7 points take 1, 1, 5 and 8. The lengths 5 and 7 have the form of Winograd: one
//!   rational constant, then constants of the even part (from cosines) and of the odd part (from sines).
//! - 8 and 16 points are mixed radix with twiddles.
//! - 6 and 10 points are products of coprime lengths without twiddles (Good–Thomas).
//!
//! Inputs and outputs are in natural order, except for 6 and 10 points. There input j is at the place of
//! the pair (j mod 2, j mod 3) or (j mod 2, j mod 5), row-major. Outputs are in such an order too, with
//! the second residue multiplied by a constant.

use super::cell::Cell;
use super::lazy::{Arithmetic, Lazy};
use crate::modulus::Modulus;

/// A transform of `R` points.
pub(super) trait Codelet<const R: usize> {
    /// Whether it is ever the leaf of a convolution, which has an even number of points.
    const LEAF: bool;
    /// Whether twiddles ever follow: not where the length is a product of coprime factors, nor for
    /// a lone factor of 2.
    const TWIDDLED: bool;
    /// Number of [`constants`].
    const CONSTANTS: usize;

    /// `table` holds the constants of [`constants`], prepared.
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; R]) -> [Lazy<C::Value>; R];
}

/// Lengths that have a codelet, besides 1.
pub(super) const LENGTHS: [usize; 9] = [2, 3, 4, 5, 6, 7, 8, 10, 16];

/// Multiplications and additions of a codelet.
pub(super) fn operations(length: usize) -> (usize, usize) {
    match length {
        2 => (0, 2),
        3 => (1, 7),
        4 => (1, 8),
        5 => (5, 17),
        6 => (2, 20),
        7 => (8, 38),
        8 => (5, 24),
        10 => (10, 44),
        16 => (17, 64),
        _ => unreachable!("no codelet of length {length}"),
    }
}

/// The constants of the codelet of `length` for the root w of that order (1 for length 2).
pub(super) fn constants(q: Modulus, length: usize, w: u64) -> Vec<u64> {
    let half = q.inv(2);
    let cosine = |j: u64| q.mul(half, q.add(q.pow(w, j), q.inv(q.pow(w, j))));
    let sine = |j: u64| q.mul(half, q.sub(q.pow(w, j), q.inv(q.pow(w, j))));
    match length {
        2 => vec![],
        3 | 4 => vec![w],
        5 => vec![
            q.neg(q.inv(4)),
            q.mul(half, q.sub(cosine(1), cosine(2))),
            sine(2),
            q.sub(sine(1), sine(2)),
            q.neg(q.add(sine(1), sine(2))),
        ],
        // Any root of order 3 or 5 serves: it only permutes the frequencies.
        6 => constants(q, 3, q.pow(w, 2)),
        10 => constants(q, 5, q.pow(w, 2)),
        7 => {
            let sixth = q.inv(6);
            let h = [1u64, 3].map(|j| q.add(cosine(j), sixth));
            let s = [sine(1), q.neg(sine(3)), sine(2)];
            let mean = q.mul(q.inv(3), q.add(s[0], q.add(s[1], s[2])));
            let z = [q.sub(s[0], mean), q.sub(s[1], mean)];
            let cyclic = |h: [u64; 2]| [h[1], q.sub(h[0], h[1]), q.neg(q.add(h[0], q.add(h[1], h[1])))];
            [&[q.neg(sixth)][..], &cyclic(h), &[mean], &cyclic(z)].concat()
        }
        8 => vec![w, q.pow(w, 2), q.pow(w, 3)],
        16 => [4, 1, 2, 3, 2, 4, 6, 3, 6, 9].map(|e| q.pow(w, e)).to_vec(),
        _ => unreachable!("no codelet of length {length}"),
    }
}

/// One point: a copy.
pub(super) struct One;
/// Two points.
pub(super) struct Two;
/// Three points.
pub(super) struct Three;
/// Four points.
pub(super) struct Four;
/// Five points.
pub(super) struct Five;
/// 2 × 3 points.
pub(super) struct Six;
/// Seven points.
pub(super) struct Seven;
/// Eight points.
pub(super) struct Eight;
/// 2 × 5 points.
pub(super) struct Ten;
/// 4 × 4 points.
pub(super) struct Sixteen;

impl Codelet<1> for One {
    const LEAF: bool = false;
    const TWIDDLED: bool = true;
    const CONSTANTS: usize = 0;

    #[inline(always)]
    fn transform<C: Cell>(_: Arithmetic<C>, _: &[u64], x: [Lazy<C::Value>; 1]) -> [Lazy<C::Value>; 1] {
        x
    }
}

impl Codelet<2> for Two {
    const LEAF: bool = true;
    const TWIDDLED: bool = false;
    const CONSTANTS: usize = 0;

    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, _: &[u64], x: [Lazy<C::Value>; 2]) -> [Lazy<C::Value>; 2] {
        [a.add(x[0], x[1]), a.sub(x[0], x[1])]
    }
}

impl Codelet<3> for Three {
    const LEAF: bool = false;
    const TWIDDLED: bool = true;
    const CONSTANTS: usize = 1;

    // w² = −1 − w.
    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 3]) -> [Lazy<C::Value>; 3] {
        let m = a.scale(a.sub(x[1], x[2]), table, 0);
        [a.add(x[0], a.add(x[1], x[2])), a.add(a.sub(x[0], x[2]), m), a.sub(a.sub(x[0], x[1]), m)]
    }
}

impl Codelet<4> for Four {
    const LEAF: bool = true;
    const TWIDDLED: bool = true;
    const CONSTANTS: usize = 1;

    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 4]) -> [Lazy<C::Value>; 4] {
        let (even, odd) = (a.add(x[0], x[2]), a.add(x[1], x[3]));
        let (difference, turned) = (a.sub(x[0], x[2]), a.scale(a.sub(x[1], x[3]), table, 0));
        [a.add(even, odd), a.add(difference, turned), a.sub(even, odd), a.sub(difference, turned)]
    }
}

impl Codelet<5> for Five {
    const LEAF: bool = false;
    const TWIDDLED: bool = true;
    const CONSTANTS: usize = 5;

    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 5]) -> [Lazy<C::Value>; 5] {
        let (a1, a2) = (a.add(x[1], x[4]), a.add(x[2], x[3]));
        let (d1, d2) = (a.sub(x[1], x[4]), a.sub(x[2], x[3]));
        let sum = a.add(a1, a2);
        let mean = a.scale_add(x[0], sum, table, 0);
        let e = a.scale(a.sub(a1, a2), table, 1);
        let g = a.scale(a.add(d1, d2), table, 2);
        let (s1, s2) = (a.scale_add(g, d1, table, 3), a.scale_add(g, d2, table, 4));
        let (c1, c2) = (a.add(mean, e), a.sub(mean, e));
        [a.add(x[0], sum), a.add(c1, s1), a.add(c2, s2), a.sub(c2, s2), a.sub(c1, s1)]
    }
}

/// `Σ_v h_{u+v} x_v` (indices mod 3) for a kernel of sum zero, by three products.
#[inline(always)]
fn cyclic_three<C: Cell>(a: Arithmetic<C>, table: &[u64], at: usize, x: [Lazy<C::Value>; 3]) -> [Lazy<C::Value>; 2] {
    let (p, r) = (a.sub(x[0], x[2]), a.sub(x[1], x[2]));
    let g = a.scale(a.add(p, r), table, at);
    [a.scale_add(g, p, table, at + 1), a.scale_add(g, r, table, at + 2)]
}

impl Codelet<7> for Seven {
    const LEAF: bool = false;
    const TWIDDLED: bool = true;
    const CONSTANTS: usize = 8;

    // The generator 3 orders the pairs ±1, ±3, ±2; the odd part turns sign after three steps.
    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 7]) -> [Lazy<C::Value>; 7] {
        let even = [a.add(x[1], x[6]), a.add(x[3], x[4]), a.add(x[2], x[5])];
        let odd = [a.sub(x[1], x[6]), a.sub(x[4], x[3]), a.sub(x[2], x[5])];
        let sum = a.add(even[0], a.add(even[1], even[2]));
        let mean = a.scale_add(x[0], sum, table, 0);
        let y = cyclic_three(a, table, 1, even);
        let total = a.scale(a.add(odd[0], a.add(odd[1], odd[2])), table, 4);
        let z = cyclic_three(a, table, 5, odd);
        let c = [a.add(mean, y[0]), a.add(mean, y[1]), a.sub(mean, a.add(y[0], y[1]))];
        let s = [a.add(total, z[0]), a.add(total, z[1]), a.sub(total, a.add(z[0], z[1]))];
        [
            a.add(x[0], sum),
            a.add(c[0], s[0]),
            a.add(c[2], s[2]),
            a.sub(c[1], s[1]),
            a.add(c[1], s[1]),
            a.sub(c[2], s[2]),
            a.sub(c[0], s[0]),
        ]
    }
}

impl Codelet<6> for Six {
    const LEAF: bool = true;
    const TWIDDLED: bool = false;
    const CONSTANTS: usize = 1;

    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 6]) -> [Lazy<C::Value>; 6] {
        let u = Three::transform(a, table, [a.add(x[0], x[3]), a.add(x[1], x[4]), a.add(x[2], x[5])]);
        let v = Three::transform(a, table, [a.sub(x[0], x[3]), a.sub(x[1], x[4]), a.sub(x[2], x[5])]);
        [u[0], u[1], u[2], v[0], v[1], v[2]]
    }
}

impl Codelet<10> for Ten {
    const LEAF: bool = true;
    const TWIDDLED: bool = false;
    const CONSTANTS: usize = 5;

    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 10]) -> [Lazy<C::Value>; 10] {
        let sums = [a.add(x[0], x[5]), a.add(x[1], x[6]), a.add(x[2], x[7]), a.add(x[3], x[8]), a.add(x[4], x[9])];
        let differences =
            [a.sub(x[0], x[5]), a.sub(x[1], x[6]), a.sub(x[2], x[7]), a.sub(x[3], x[8]), a.sub(x[4], x[9])];
        let (u, v) = (Five::transform(a, table, sums), Five::transform(a, table, differences));
        [u[0], u[1], u[2], u[3], u[4], v[0], v[1], v[2], v[3], v[4]]
    }
}

impl Codelet<8> for Eight {
    const LEAF: bool = true;
    const TWIDDLED: bool = true;
    const CONSTANTS: usize = 3;

    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 8]) -> [Lazy<C::Value>; 8] {
        let fourth = &table[C::WORDS..];
        let even = [a.add(x[0], x[4]), a.add(x[1], x[5]), a.add(x[2], x[6]), a.add(x[3], x[7])];
        let odd = [
            a.sub(x[0], x[4]),
            a.scale(a.sub(x[1], x[5]), table, 0),
            a.scale(a.sub(x[2], x[6]), table, 1),
            a.scale(a.sub(x[3], x[7]), table, 2),
        ];
        let (e, o) = (Four::transform(a, fourth, even), Four::transform(a, fourth, odd));
        [e[0], o[0], e[1], o[1], e[2], o[2], e[3], o[3]]
    }
}

/// Row k of sixteen points with its twiddles.
#[inline(always)]
fn twisted<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 4], k: usize) -> [Lazy<C::Value>; 4] {
    [x[0], a.scale(x[1], table, k), a.scale(x[2], table, 3 + k), a.scale(x[3], table, 6 + k)]
}

impl Codelet<16> for Sixteen {
    const LEAF: bool = true;
    const TWIDDLED: bool = true;
    const CONSTANTS: usize = 10;

    // Written out: the compiler drops the bounds only after it has unrolled a loop, and this one is
    // too long for that.
    #[inline(always)]
    fn transform<C: Cell>(a: Arithmetic<C>, table: &[u64], x: [Lazy<C::Value>; 16]) -> [Lazy<C::Value>; 16] {
        let c = [
            Four::transform(a, table, [x[0], x[4], x[8], x[12]]),
            Four::transform(a, table, [x[1], x[5], x[9], x[13]]),
            Four::transform(a, table, [x[2], x[6], x[10], x[14]]),
            Four::transform(a, table, [x[3], x[7], x[11], x[15]]),
        ];
        let r = [
            Four::transform(a, table, [c[0][0], c[1][0], c[2][0], c[3][0]]),
            Four::transform(a, table, twisted(a, table, [c[0][1], c[1][1], c[2][1], c[3][1]], 1)),
            Four::transform(a, table, twisted(a, table, [c[0][2], c[1][2], c[2][2], c[3][2]], 2)),
            Four::transform(a, table, twisted(a, table, [c[0][3], c[1][3], c[2][3], c[3][3]], 3)),
        ];
        [
            r[0][0], r[1][0], r[2][0], r[3][0], r[0][1], r[1][1], r[2][1], r[3][1], r[0][2], r[1][2], r[2][2], r[3][2],
            r[0][3], r[1][3], r[2][3], r[3][3],
        ]
    }
}
