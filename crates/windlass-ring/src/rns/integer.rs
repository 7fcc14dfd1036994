//! Residues to integers and back.

use num_bigint::{BigInt, BigUint};
use num_traits::Zero;
use zeroize::Zeroizing;

use crate::basis::Basis;
use crate::poly::{Coeff, Poly};
use crate::ring::Ring;
use windlass_kernels::overflow;

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

    /// x_j·(Π/q_i)^{−1} mod q_i, so that x_j/Π is the fractional part of their sum over the q_i. What is lifted is a phase, which with
    /// its ciphertext determines the secret: wiped after use.
    fn weighed(&self, poly: &Poly<Coeff>) -> Vec<Zeroizing<Vec<u64>>> {
        let ring = poly.ring();
        let weigh = |(row, index): (usize, usize)| {
            let mut x = Zeroizing::new(poly.row(row).to_vec());
            windlass_kernels::rows::mul_scalar_assign(ring.isa(), ring.modulus(index), &mut x, self.weights[row]);
            x
        };
        self.basis.indices().enumerate().map(weigh).collect()
    }

    /// max_j |x_j|/Π of the centred coefficients, in [0, 1/2]; off by less than 2^{−40}.
    pub fn largest_fraction(&self, poly: &Poly<Coeff>) -> f64 {
        assert_eq!(poly.basis(), &self.basis);
        let mut sums = Zeroizing::new(vec![0.0f64; poly.ring().n()]);
        for (row, index) in self.weighed(poly).iter().zip(self.basis.indices()) {
            let inverse = 1.0 / poly.ring().modulus(index).value() as f64;
            sums.iter_mut().zip(row.iter()).for_each(|(sum, &x)| *sum += x as f64 * inverse);
        }
        sums.iter().map(|&sum| (sum - sum.round()).abs()).fold(0.0, f64::max)
    }

    /// The centred coefficients modulo t < 2^50. Right for every coefficient with |x| < (1/2 − 2^{−30})·Π.
    pub fn centred_mod(&self, poly: &Poly<Coeff>, t: u64) -> Vec<u64> {
        assert_eq!(poly.basis(), &self.basis);
        let ring = poly.ring();
        let weighed = self.weighed(poly);
        let mut excess = Zeroizing::new(vec![0; ring.n()]);
        let terms: Vec<_> = self
            .basis
            .indices()
            .zip(&weighed)
            .map(|(index, row)| (&row[..], 1.0 / ring.modulus(index).value() as f64))
            .collect();
        overflow::rounded_sum(ring.isa(), &mut excess, &terms);
        let modulo_t = |x: &BigUint| (x % t).iter_u64_digits().next().unwrap_or(0);
        let cofactors: Vec<u64> = self.cofactors.iter().map(modulo_t).collect();
        let wrap = (t - modulo_t(&self.product)) % t;
        (0..ring.n())
            .map(|j| {
                let sum =
                    weighed.iter().zip(&cofactors).fold(0u128, |sum, (row, &c)| sum + (row[j] % t) as u128 * c as u128);
                ((sum + (excess[j] % t) as u128 * wrap as u128) % t as u128) as u64
            })
            .collect()
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
