//! Residues to integers and back.

use num_bigint::{BigInt, BigUint};
use num_traits::Zero;
use zeroize::Zeroizing;

use crate::basis::Basis;
use crate::poly::{Coeff, Poly};
use crate::ring::Ring;
use windlass_kernels::{Modulus, arith::Reducer, overflow};

/// Columns that are lifted together.
const COLUMNS: usize = 1024;

/// Lifts coefficients from residues to centred integers.
#[derive(Debug)]
pub struct IntegerLift {
    basis: Basis,
    product: BigUint,
    /// Π/q_i.
    cofactors: Vec<BigUint>,
    /// (Π/q_i)^{-1} mod q_i.
    weights: Vec<u64>,
}

impl IntegerLift {
    /// Constants for one basis.
    pub fn new(ring: &Ring, basis: &Basis) -> Self {
        let primes: Vec<u64> = basis.indices().map(|index| ring.modulus(index).value()).collect();
        let product: BigUint = primes.iter().map(|&q| BigUint::from(q)).product();
        let cofactors: Vec<BigUint> = primes.iter().map(|&q| &product / q).collect();
        let weights = basis
            .indices()
            .zip(&cofactors)
            .map(|(index, cofactor)| {
                let q = ring.modulus(index);
                q.inv((cofactor % q.value()).iter_u64_digits().next().unwrap_or(0))
            })
            .collect();
        Self { basis: basis.clone(), product, cofactors, weights }
    }

    /// The product of the primes.
    pub fn product(&self) -> &BigUint {
        &self.product
    }

    /// The coefficients as integers in (−Π/2, Π/2). Variable time.
    pub fn centred(&self, poly: &Poly<Coeff>) -> Vec<BigInt> {
        assert_eq!(poly.basis(), &self.basis);
        let ring = poly.ring();
        let half = &self.product >> 1;
        (0..ring.n())
            .map(|j| {
                let mut sum = BigUint::zero();
                for (row, index) in self.basis.indices().enumerate() {
                    sum += &self.cofactors[row] * ring.modulus(index).mul(poly.row(row)[j], self.weights[row]);
                }
                sum %= &self.product;
                if sum > half { BigInt::from(sum) - BigInt::from(self.product.clone()) } else { BigInt::from(sum) }
            })
            .collect()
    }

    /// The centred coefficients modulo t < 2^50, and max_j |x_j|/Π, in [0, 1/2], off by less than
    /// 2^{−40}. The residues are right for every coefficient with |x| < (1/2 − 2^{−30})·Π. Time and
    /// memory accesses do not depend on them.
    ///
    /// With w_i = x·(Π/q_i)^{−1} mod q_i, the fractional part of Σ_i w_i/q_i is x/Π, and what is
    /// rounded away says how often Π is to be subtracted from Σ_i w_i·(Π/q_i). All of it is done
    /// for a few columns at a time, which stay near the processor.
    pub fn centred_mod(&self, poly: &Poly<Coeff>, t: u64) -> (Vec<u64>, f64) {
        assert_eq!(poly.basis(), &self.basis);
        let (ring, n, count) = (poly.ring(), poly.ring().n(), self.basis.len());
        let primes: Vec<Modulus> = self.basis.indices().map(|index| ring.modulus(index)).collect();
        let inverses: Vec<f64> = primes.iter().map(|q| 1.0 / q.value() as f64).collect();
        let modulo_t = |x: &BigUint| (x % t).iter_u64_digits().next().unwrap_or(0);
        let cofactors: Vec<u64> = self.cofactors.iter().map(modulo_t).collect();
        let (reducer, wrap) = (Reducer::new(t), (t - modulo_t(&self.product)) % t);
        // What is lifted is a phase, which with its ciphertext determines the secret: wiped after
        // use.
        let mut weighed = Zeroizing::new(vec![0; COLUMNS * count]);
        let mut excess = Zeroizing::new(vec![0; COLUMNS]);
        let (mut residues, mut largest) = (Vec::with_capacity(n), 0.0);
        for start in (0..n).step_by(COLUMNS) {
            let columns = COLUMNS.min(n - start);
            for (row, &q) in primes.iter().enumerate() {
                let (x, out) = (&poly.row(row)[start..][..columns], &mut weighed[COLUMNS * row..][..columns]);
                windlass_kernels::rows::mul_scalar(ring.isa(), q, out, x, self.weights[row]);
            }
            let rows: Vec<&[u64]> = weighed.chunks(COLUMNS).map(|row| &row[..columns]).collect();
            let terms: Vec<_> = rows.iter().copied().zip(inverses.iter().copied()).collect();
            let excess = &mut excess[..columns];
            largest = f64::max(largest, overflow::rounded_sum_with_distance(ring.isa(), excess, &terms));
            residues.extend((0..columns).map(|j| {
                let first = u128::from(excess[j]) * u128::from(wrap);
                let terms = rows.iter().zip(&cofactors);
                reducer.reduce_wide(terms.fold(first, |sum, (row, &c)| sum + u128::from(row[j]) * u128::from(c)))
            }));
        }
        (residues, largest)
    }
}

/// The centred coefficients in floating point, each off by less than 2^{−50} of itself. Time and
/// memory accesses do not depend on them.
///
/// In balanced mixed radix: x = Σ u_i·(q_0·..·q_{i−1}) with |u_i| < q_i/2, in which the last digit
/// that is not zero dominates all others, so that rounding stays small against x. Cost O(n·k²) for
/// k primes.
pub fn centred_floats(poly: &Poly<Coeff>) -> Zeroizing<Vec<f64>> {
    let primes: Vec<Modulus> = poly.basis().indices().map(|index| poly.ring().modulus(index)).collect();
    let radix: Vec<Radix> = (0..primes.len()).map(|i| Radix::new(&primes[..=i])).collect();
    let mut digits = Zeroizing::new(vec![0i64; radix.len()]);
    let value = |j: usize| {
        let mut sum = 0.0;
        for (i, radix) in radix.iter().enumerate() {
            digits[i] = radix.digit(poly.row(i)[j], &digits[..i]);
            sum += digits[i] as f64 * radix.weight;
        }
        sum
    };
    Zeroizing::new((0..poly.ring().n()).map(value).collect())
}

/// The centred coefficients modulo 2^128, in two's complement. Time and memory accesses do not depend on them.
///
/// In balanced mixed radix as [`centred_floats`], with the products of primes modulo 2^128.
pub fn centred_words(poly: &Poly<Coeff>) -> Zeroizing<Vec<u128>> {
    let primes: Vec<Modulus> = poly.basis().indices().map(|index| poly.ring().modulus(index)).collect();
    let radix: Vec<Radix> = (0..primes.len()).map(|i| Radix::new(&primes[..=i])).collect();
    let product = |before: &[Modulus]| before.iter().fold(1u128, |all, p| all.wrapping_mul(u128::from(p.value())));
    let weights: Vec<u128> = (0..primes.len()).map(|i| product(&primes[..i])).collect();
    let mut digits = Zeroizing::new(vec![0i64; radix.len()]);
    let value = |j: usize| {
        let mut sum = 0u128;
        for (i, radix) in radix.iter().enumerate() {
            digits[i] = radix.digit(poly.row(i)[j], &digits[..i]);
            sum = sum.wrapping_add((i128::from(digits[i]) as u128).wrapping_mul(weights[i]));
        }
        sum
    };
    Zeroizing::new((0..poly.ring().n()).map(value).collect())
}

/// One place of the balanced mixed radix.
struct Radix {
    reducer: Reducer,
    /// The inverses of the primes before, modulo this one.
    inverses: Vec<u64>,
    /// The least multiple of the prime from 2^50 on: added to a digit it leaves nothing negative.
    offset: u64,
    /// The product of the primes before.
    weight: f64,
}

impl Radix {
    /// The place of the last of `primes`.
    fn new(primes: &[Modulus]) -> Self {
        let (q, before) = (primes[primes.len() - 1], &primes[..primes.len() - 1]);
        Self {
            reducer: Reducer::new(q.value()),
            inverses: before.iter().map(|p| q.inv(q.reduce(p.value()))).collect(),
            offset: (1u64 << 50).next_multiple_of(q.value()),
            weight: before.iter().map(|p| p.value() as f64).product(),
        }
    }

    /// The digit of a number with this residue, after the digits before.
    fn digit(&self, residue: u64, before: &[i64]) -> i64 {
        let subtract = |rest: u64, (&digit, &inverse): (&i64, &u64)| {
            self.reducer.mul(self.reducer.reduce((rest + self.offset).wrapping_add_signed(-digit)), inverse)
        };
        self.reducer.centred(before.iter().zip(&self.inverses).fold(residue, subtract))
    }
}

impl Poly<Coeff> {
    /// The polynomial with the given integer coefficients.
    pub fn from_integers(ring: &std::sync::Arc<Ring>, basis: &Basis, coefficients: &[BigInt]) -> Self {
        assert_eq!(coefficients.len(), ring.n());
        let mut out = Self::unspecified(ring, basis);
        out.fill(|_, q, row| {
            for (x, a) in row.iter_mut().zip(coefficients) {
                let digit = (a.magnitude() % q.value()).iter_u64_digits().next().unwrap_or(0);
                *x = if a.sign() == num_bigint::Sign::Minus { q.neg(digit) } else { digit };
            }
        });
        out
    }
}
