//! Signed integers modulo a prime, in constant time.

use windlass_kernels::{Isa, Modulus, rows};

/// Residues of signed coefficients. A function of its own, so that a tool which looks for branches
/// on secrets can name it.
#[inline(never)]
pub(crate) fn residues(isa: Isa, q: Modulus, coefficients: &[i64], x: &mut [u64]) {
    // No branch on a coefficient and no division: they may be secret. Whether all are short depends
    // on their distribution alone.
    let largest = coefficients.iter().fold(0, |all, a| all | a.unsigned_abs());
    if largest < q.value() {
        return rows::lift_signed(isa, q, x, coefficients);
    }
    let (q, reciprocal) = (q.value(), u64::MAX / q.value());
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

/// Signed coefficients of a public element, in as few bytes as they need.
#[derive(Debug)]
pub(crate) enum Signed {
    /// Each in a byte.
    Bytes(Vec<i8>),
    /// Others.
    Words(Vec<i64>),
}

impl Signed {
    /// Writes the residues.
    pub(crate) fn residues(&self, isa: Isa, q: Modulus, x: &mut [u64]) {
        match self {
            // Smaller primes have roots of order m ≤ 128 alone.
            Self::Bytes(coefficients) if q.value() > 1 << 7 => rows::lift_signed(isa, q, x, coefficients),
            Self::Bytes(coefficients) => {
                let words: Vec<i64> = coefficients.iter().map(|&a| a.into()).collect();
                residues(isa, q, &words, x);
            }
            Self::Words(coefficients) => residues(isa, q, coefficients, x),
        }
    }
}

impl From<Vec<i64>> for Signed {
    fn from(coefficients: Vec<i64>) -> Self {
        match coefficients.iter().all(|&a| i8::try_from(a).is_ok()) {
            true => Self::Bytes(coefficients.into_iter().map(|a| a as i8).collect()),
            false => Self::Words(coefficients),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes where all fit, and primes below 128 too.
    #[test]
    fn residues_of_bytes_and_words() {
        for q in [17, 113, 137, 1_152_921_504_606_830_593 >> 20 | 1].into_iter().filter_map(|q| Modulus::new(q).ok()) {
            for (last, in_bytes) in [(127, true), (128, false), (i64::MIN, false)] {
                let coefficients = vec![-128, -1, 0, 1, 100, -77, 3, last];
                let expected: Vec<u64> =
                    coefficients.iter().map(|&a: &i64| (a as i128).rem_euclid(q.value().into()) as u64).collect();
                let signed = Signed::from(coefficients);
                assert_eq!(matches!(signed, Signed::Bytes(_)), in_bytes);
                for isa in Isa::available() {
                    let mut row = vec![0; 8];
                    signed.residues(isa, q, &mut row);
                    assert_eq!(row, expected, "q = {}, {}", q.value(), isa.name());
                }
            }
        }
    }
}
