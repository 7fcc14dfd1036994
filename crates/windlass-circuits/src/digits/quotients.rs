//! Polynomials modulo a prime or a power of it: quotients, interpolation. Lowest coefficient first,
//! the last one not 0.

use windlass_ring::slots::PrimePower;

pub(crate) use super::chain::{multiplied, sum};

/// A polynomial.
pub(crate) type Coefficients = Vec<u64>;

/// `Π (X − x)` over these values.
pub(super) fn with_roots(modulus: PrimePower, values: impl IntoIterator<Item = u64>) -> Coefficients {
    let factor = |x: u64| [modulus.neg(modulus.reduce(x)), 1];
    values.into_iter().fold(vec![1], |product, x| multiplied(modulus, &product, &factor(x)))
}

/// The polynomial of least degree with these values modulo a prime, and the one of least degree
/// that vanishes on all x. None if two x are congruent.
pub(super) fn interpolated(field: PrimePower, points: &[(u64, u64)]) -> Option<[Coefficients; 2]> {
    let (mut result, mut null) = (Vec::new(), vec![1]);
    for &(x, value) in points {
        // What is missing at x is made up by a multiple of what vanishes on all before it.
        let missing = field.sub(value, evaluated(field, &result, x));
        let factor = field.mul(missing, field.inv(evaluated(field, &null, x))?);
        result = trimmed(sum(field, &[result, null.clone()], &[1, factor as i64]));
        null = multiplied(field, &null, &[field.neg(x), 1]);
    }
    Some([result, null])
}

/// Quotient and remainder of f by g, the last coefficient of which is a unit.
pub(crate) fn divided(modulus: PrimePower, f: &[u64], g: &[u64]) -> Option<[Coefficients; 2]> {
    let inverse = modulus.inv(*g.last()?)?;
    let (mut rest, mut quotient) = (f.to_vec(), vec![0; (f.len() + 1).saturating_sub(g.len())]);
    for k in (0..quotient.len()).rev() {
        let factor = modulus.mul(rest[k + g.len() - 1], inverse);
        for (rest, &c) in rest[k..].iter_mut().zip(g) {
            *rest = modulus.sub(*rest, modulus.mul(factor, c));
        }
        quotient[k] = factor;
    }
    Some([quotient, rest].map(trimmed))
}

/// `f − g·h`.
pub(super) fn less_product(modulus: PrimePower, f: &[u64], g: &[u64], h: &[u64]) -> Coefficients {
    trimmed(sum(modulus, &[f.to_vec(), multiplied(modulus, g, h)], &[1, -1]))
}

/// `X^by·f`.
pub(super) fn raised(f: &[u64], by: usize) -> Coefficients {
    [vec![0; by], f.to_vec()].concat()
}

fn evaluated(modulus: PrimePower, f: &[u64], x: u64) -> u64 {
    f.iter().rev().fold(0, |value, &c| modulus.add(modulus.mul(value, x), c))
}

pub(crate) fn trimmed(mut f: Coefficients) -> Coefficients {
    while f.last() == Some(&0) {
        f.pop();
    }
    f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotient_times_divisor_and_remainder_are_the_polynomial() {
        let field = PrimePower::new(8191, 1).unwrap();
        let f: Vec<u64> = (0..12u64).map(|k| (k * k * 977 + 5) % 8191).collect();
        for degree in 0..14 {
            let g: Vec<u64> = (0..=degree).map(|k| (k * 313 + 7) % 8191).collect();
            let [quotient, rest] = divided(field, &f, &g).unwrap();
            assert!(rest.len() < g.len(), "degree {degree}");
            assert_eq!(less_product(field, &f, &quotient, &g), rest, "degree {degree}");
        }
    }

    #[test]
    fn interpolation_meets_every_point() {
        let field = PrimePower::new(127, 1).unwrap();
        let points: Vec<(u64, u64)> = (0..14).map(|d| (d * d % 127, (d * 41 + 3) % 127)).collect();
        let [f, null] = interpolated(field, &points).unwrap();
        assert_eq!((f.len(), null.len()), (14, 15));
        for (x, value) in points {
            assert_eq!((evaluated(field, &f, x), evaluated(field, &null, x)), (value, 0), "at {x}");
        }
        assert!(interpolated(field, &[(3, 1), (3, 2)]).is_none());
    }
}
