//! Remainders modulo a fixed monic polynomial.

use super::convolution::{Convolver, Prepared, add_multiple, log_of};
use super::prime_power::PrimePower;

/// Degrees below this are divided by the schoolbook method.
const SCHOOLBOOK: usize = 48;

/// A monic polynomial modulo p^r, prepared for remainders.
#[derive(Debug, Clone)]
pub(crate) struct Divisor {
    coefficients: Vec<u64>,
    /// None for schoolbook division.
    transforms: Option<Transforms>,
}

/// What division by Newton's quotient multiplies by.
#[derive(Debug, Clone)]
struct Transforms {
    /// 1/reversed(f) modulo x^degree, at a length of at least 2·degree.
    inverse: Prepared,
    /// f modulo x^N + 1, N ≥ degree.
    short: Prepared,
    /// f, at a length of at least 2·degree.
    long: Prepared,
}

impl Divisor {
    /// `coefficients` from the constant term up, the last one 1.
    pub fn new(convolver: &Convolver, coefficients: Vec<u64>) -> Self {
        debug_assert_eq!(coefficients.last(), Some(&1));
        let degree = coefficients.len() - 1;
        let transforms = (degree >= SCHOOLBOOK).then(|| {
            let reversed: Vec<u64> = coefficients.iter().rev().copied().collect();
            let long = log_of(2 * degree);
            Transforms {
                inverse: convolver.prepare(&series_inverse(convolver, &reversed, degree), long),
                short: convolver.prepare(&wrapped(convolver.modulus(), &coefficients, log_of(degree)), log_of(degree)),
                long: convolver.prepare(&coefficients, long),
            }
        });
        Self { coefficients, transforms }
    }

    /// The transform of f of length 2^log, when there is one with room for all of f.
    pub fn prepared(&self, log: u32) -> Option<&Prepared> {
        self.transforms.as_ref().map(|transforms| &transforms.long).filter(|prepared| prepared.log() == log)
    }

    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// All coefficients, the leading 1 included.
    pub fn coefficients(&self) -> &[u64] {
        &self.coefficients
    }

    /// `a mod f`, exactly `degree` coefficients.
    pub fn rem(&self, convolver: &Convolver, a: &[u64]) -> Vec<u64> {
        let degree = self.degree();
        if a.len() <= degree {
            let mut rest = a.to_vec();
            rest.resize(degree, 0);
            return rest;
        }
        let Some(transforms) = &self.transforms else {
            return self.schoolbook(convolver.modulus(), a);
        };
        if a.len() > 2 * degree {
            // Block by block from the top, each time twice the degree.
            let (low, top) = a.split_at(a.len() - 2 * degree);
            return self.rem(convolver, &[low, &self.rem(convolver, top)].concat());
        }
        let length = a.len() - degree;
        let reversed: Vec<u64> = a.iter().rev().take(length).copied().collect();
        let mut quotient = convolver.mul_prepared(&[(&reversed, &transforms.inverse)], length);
        quotient.reverse();
        // The rest has at most `degree` coefficients, so it may be computed modulo x^N + 1 for any
        // N ≥ degree.
        let product = convolver.mul_prepared(&[(&quotient, &transforms.short)], degree);
        let rest = wrapped(convolver.modulus(), a, transforms.short.log());
        product.iter().zip(rest).map(|(&x, a)| convolver.modulus().sub(a, x)).collect()
    }

    /// `a·b mod f`.
    pub fn mul(&self, convolver: &Convolver, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.rem(convolver, &convolver.mul(a, b))
    }

    /// `x^exponent mod f`.
    pub fn power_of_x(&self, convolver: &Convolver, exponent: u64) -> Vec<u64> {
        let mut result = vec![1];
        for bit in (0..64 - exponent.leading_zeros()).rev() {
            result = self.mul(convolver, &result, &result);
            if exponent >> bit & 1 == 1 {
                result.insert(0, 0);
                result = self.rem(convolver, &result);
            }
        }
        self.rem(convolver, &result)
    }

    fn schoolbook(&self, modulus: PrimePower, a: &[u64]) -> Vec<u64> {
        let degree = self.degree();
        let mut rest = a.to_vec();
        // Every entry takes at most `degree` < 48 products: below 2^64 without reduction when p^r <
        // 2^29.
        let lazy = modulus.value() >> 29 == 0;
        for top in (degree..rest.len()).rev() {
            let factor = modulus.neg(modulus.reduce(rest[top]));
            let terms = &mut rest[top - degree..top];
            if factor == 0 {
                continue;
            } else if lazy {
                add_multiple(terms, factor, &self.coefficients[..degree]);
            } else {
                let add = |(x, &f): (&mut u64, &u64)| *x = modulus.add(*x, modulus.mul(factor, f));
                terms.iter_mut().zip(&self.coefficients).for_each(add);
            }
        }
        rest.truncate(degree);
        rest.iter_mut().for_each(|x| *x = modulus.reduce(*x));
        rest
    }
}

/// a modulo x^{2^log} + 1.
fn wrapped(modulus: PrimePower, a: &[u64], log: u32) -> Vec<u64> {
    let mut rest = a[..a.len().min(1 << log)].to_vec();
    for (index, block) in a.chunks(1 << log).enumerate().skip(1) {
        for (x, &y) in rest.iter_mut().zip(block) {
            *x = if index % 2 == 1 { modulus.sub(*x, y) } else { modulus.add(*x, y) };
        }
    }
    rest
}

/// 1/f modulo x^length for f with constant term 1, by Newton's iteration g ← g·(2 − f·g).
pub(crate) fn series_inverse(convolver: &Convolver, f: &[u64], length: usize) -> Vec<u64> {
    debug_assert_eq!(f[0], 1);
    let modulus = convolver.modulus();
    let mut inverse = vec![1];
    while inverse.len() < length {
        let next = (2 * inverse.len()).min(length);
        let mut error = convolver.mul(&f[..f.len().min(next)], &inverse);
        error.resize(next, 0);
        error.iter_mut().for_each(|x| *x = modulus.neg(*x));
        error[0] = modulus.add(error[0], modulus.reduce(2));
        inverse = convolver.mul(&inverse, &error);
        inverse.resize(next, 0);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_leave_the_quotient_times_the_divisor() {
        let modulus = PrimePower::new(3, 7).unwrap();
        let convolver = Convolver::new(modulus, 2000);
        let entry = |j: u64| modulus.reduce(j * j * 12347 + 5 * j + 1);
        for degree in [1usize, 2, 47, 48, 200] {
            let mut f: Vec<u64> = (0..degree as u64).map(entry).collect();
            f.push(1);
            let divisor = Divisor::new(&convolver, f.clone());
            for length in [1usize, degree / 2, degree, 3 * degree + 1] {
                let quotient: Vec<u64> = (9..9 + length as u64).map(entry).collect();
                let rest: Vec<u64> = (1000..1000 + degree as u64).map(entry).collect();
                let mut a = convolver.mul(&quotient, &f);
                a.resize(a.len().max(degree), 0);
                a.iter_mut().zip(&rest).for_each(|(a, &b)| *a = modulus.add(*a, b));
                assert_eq!(divisor.rem(&convolver, &a), rest, "degree {degree}, quotient of {length}");
            }
        }
    }
}
