//! Signed integers modulo a prime, in constant time.

use windlass_kernels::Modulus;

/// Residues of signed coefficients. A function of its own, so that a tool which looks for branches
/// on secrets can name it.
#[inline(never)]
pub(crate) fn residues(q: Modulus, coefficients: &[i64], x: &mut [u64]) {
    let (q, reciprocal) = (q.value(), u64::MAX / q.value());
    // No branch on a coefficient and no division: they may be secret. Whether all are short depends
    // on their distribution alone.
    let largest = coefficients.iter().fold(0, |all, a| all | a.unsigned_abs());
    if largest < q {
        x.iter_mut().zip(coefficients).for_each(|(x, &a)| *x = (a + (a >> 63 & q as i64)) as u64);
        return;
    }
    for (x, &a) in x.iter_mut().zip(coefficients) {
        // The quotient is short by at most one.
        let magnitude = a.unsigned_abs();
        let quotient = ((magnitude as u128 * reciprocal as u128) >> 64) as u64;
        let rest = magnitude - quotient * q;
        let lifted = rest - (q & 0u64.wrapping_sub((rest >= q) as u64));
        let negative = 0u64.wrapping_sub((a < 0) as u64 & (lifted != 0) as u64);
        *x = (lifted ^ negative).wrapping_sub(negative).wrapping_add(q & negative);
    }
}
