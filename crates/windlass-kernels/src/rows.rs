//! Operations on rows of canonical residues. All slices of one call have the same length.

use crate::isa::Isa;
use crate::modulus::Modulus;

/// `x += y`.
pub fn add_assign(_isa: Isa, q: Modulus, x: &mut [u64], y: &[u64]) {
    assert_eq!(x.len(), y.len());
    x.iter_mut().zip(y).for_each(|(x, &y)| *x = q.add(*x, y));
}

/// `x -= y`.
pub fn sub_assign(_isa: Isa, q: Modulus, x: &mut [u64], y: &[u64]) {
    assert_eq!(x.len(), y.len());
    x.iter_mut().zip(y).for_each(|(x, &y)| *x = q.sub(*x, y));
}

/// `x = -x`.
pub fn neg_assign(_isa: Isa, q: Modulus, x: &mut [u64]) {
    x.iter_mut().for_each(|x| *x = q.neg(*x));
}

/// `x *= y`.
pub fn mul_assign(_isa: Isa, q: Modulus, x: &mut [u64], y: &[u64]) {
    assert_eq!(x.len(), y.len());
    x.iter_mut().zip(y).for_each(|(x, &y)| *x = q.mul(*x, y));
}

/// `out = x * y`.
pub fn mul(_isa: Isa, q: Modulus, out: &mut [u64], x: &[u64], y: &[u64]) {
    assert!(out.len() == x.len() && x.len() == y.len());
    for j in 0..out.len() {
        out[j] = q.mul(x[j], y[j]);
    }
}

/// `acc += x * y`.
pub fn mul_add_assign(_isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64], y: &[u64]) {
    assert!(acc.len() == x.len() && x.len() == y.len());
    for j in 0..acc.len() {
        acc[j] = q.add(acc[j], q.mul(x[j], y[j]));
    }
}

/// `x *= scalar`, `scalar` canonical.
pub fn scale_assign(_isa: Isa, q: Modulus, x: &mut [u64], scalar: u64) {
    x.iter_mut().for_each(|x| *x = q.mul(*x, scalar));
}

/// `acc += scalar * x`, `scalar` canonical.
pub fn scale_add_assign(_isa: Isa, q: Modulus, acc: &mut [u64], x: &[u64], scalar: u64) {
    assert_eq!(acc.len(), x.len());
    acc.iter_mut().zip(x).for_each(|(acc, &x)| *acc = q.add(*acc, q.mul(x, scalar)));
}

/// `x = (x - y) * scalar`: the last step of a rescale or mod-down.
pub fn sub_scale_assign(_isa: Isa, q: Modulus, x: &mut [u64], y: &[u64], scalar: u64) {
    assert_eq!(x.len(), y.len());
    x.iter_mut().zip(y).for_each(|(x, &y)| *x = q.mul(q.sub(*x, y), scalar));
}

/// `out = Σ_i x_i * y_i` over pairs of rows: the inner product of a key switch. At most 64 pairs.
pub fn dot(_isa: Isa, q: Modulus, out: &mut [u64], pairs: &[(&[u64], &[u64])]) {
    for j in 0..out.len() {
        out[j] = q.reduce_u128(pairs.iter().map(|(x, y)| x[j] as u128 * y[j] as u128).sum());
    }
}

/// `out = Σ_i c_i * x_i`: the inner product of a base conversion. The rows `x_i` may hold any values below 2^50 (they are
/// residues modulo other primes); the scalars are canonical. At most 64 terms.
pub fn dot_scalar(_isa: Isa, q: Modulus, out: &mut [u64], terms: &[(&[u64], u64)]) {
    for j in 0..out.len() {
        out[j] = q.reduce_u128(terms.iter().map(|(x, c)| x[j] as u128 * *c as u128).sum());
    }
}

/// `out = x mod q` for values below 2^50.
pub fn reduce(_isa: Isa, q: Modulus, out: &mut [u64], x: &[u64]) {
    assert_eq!(out.len(), x.len());
    out.iter_mut().zip(x).for_each(|(out, &x)| *out = q.reduce(x));
}
