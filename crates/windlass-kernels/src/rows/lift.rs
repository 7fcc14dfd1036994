//! Passes of plain arithmetic on words, whose instructions are left to the compiler.

use crate::isa::Isa;
use crate::lanes::{Kernel, Lanes, dispatch};
use crate::modulus::Modulus;

/// Small signed integers as residues.
struct Lift<'a, T> {
    out: &'a mut [u64],
    x: &'a [T],
    q: u64,
}

impl<T: Copy + Into<i64>> Kernel for Lift<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            let x: i64 = x.into();
            *out = (x + (x >> 63 & self.q as i64)) as u64;
        }
    }
}

/// `x + scalar`.
struct AddScalar<'a> {
    x: &'a mut [u64],
    scalar: u64,
    q: u64,
}

impl Kernel for AddScalar<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for x in self.x {
            // Below q the difference wraps around.
            let sum = *x + self.scalar;
            *x = sum.min(sum.wrapping_sub(self.q));
        }
    }
}

/// `out = x mod q` for integers above −q and below q. Time does not depend on them.
pub fn lift_signed<T: Copy + Into<i64>>(isa: Isa, q: Modulus, out: &mut [u64], x: &[T]) {
    assert_eq!(out.len(), x.len(), "rows of one length");
    debug_assert!(x.iter().all(|&x| Into::<i64>::into(x).unsigned_abs() < q.value()), "below q");
    dispatch(isa, q, Lift { out, x, q: q.value() });
}

/// `x = x + scalar` for canonical residues.
pub fn add_scalar_assign(isa: Isa, q: Modulus, x: &mut [u64], scalar: u64) {
    debug_assert!(scalar < q.value() && x.iter().all(|&x| x < q.value()), "canonical residues");
    dispatch(isa, q, AddScalar { x, scalar, q: q.value() });
}
