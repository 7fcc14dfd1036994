//! Chains that divide after each product and remove all low digits in one circuit.

use windlass_ring::slots::PrimePower;
use windlass_rlwe::Limits;
use windlass_schemes::error::Result;
use windlass_schemes::evaluator::{DividedProduct, Evaluator};

/// Values y_1, y_2, .. of products, most of them divided by p, from the argument y_0 modulo p^e; the
/// last is the argument without its low digits.
///
/// For p = 2 the bit of 2^j in x is the binomial coefficient C(x, 2^j) modulo 2 (Lucas), and
/// C(y, 2) = y·(y − 1)/2 goes from a value to the next one up to products of earlier bits. A chain
/// corrects those with weights on earlier values, so that one product is spent on each digit, for
/// r = 1: v for v digits, which the depth of v demands anyway. The rows of a digit removal
/// ([`super::DigitRoute`], [`super::DigitChain`]) raise the precision of every digit by itself.
/// Moreover the plaintext modulus falls with every division, and the noise with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HalvingChain {
    /// y_1, y_2, .., each from the values before it.
    pub products: Vec<DividedProduct>,
}

impl HalvingChain {
    /// Why it does not take the `removed` low digits off integers modulo p^e, if so. Exact: every
    /// residue is tried, and every division.
    pub(super) fn flaw(&self, prime: u64, exponent: u32, removed: u32) -> Result<Option<String>> {
        let modulus = PrimePower::new(prime, exponent)?;
        let limits = Limits::at_most(MAX_RESIDUES).with("a chain of halvings is proved on every one");
        limits.check("the number of residues", modulus.value())?;
        let Some(exponents) = self.exponents(exponent) else {
            return Ok(Some("a product uses a later value, uses no value, or divides too often".into()));
        };
        if exponents.last() != Some(&(exponent - removed)) {
            return Ok(Some(format!("its last value is not known modulo {prime}^{}", exponent - removed)));
        }
        let wrong = (0..modulus.value()).find_map(|x| match self.value_at(prime, &exponents, x) {
            None => Some(format!("at {x} a product is not a multiple of {prime}")),
            Some(y) if y == without_digits(prime, exponent, removed, x) => None,
            Some(_) => Some(format!("it does not remove the low digits of {x}")),
        });
        Ok(wrong)
    }

    /// The exponents of the plaintext moduli of y_0, y_1, ..
    fn exponents(&self, exponent: u32) -> Option<Vec<u32>> {
        let mut exponents = vec![exponent];
        for product in &self.products {
            let sums = [&product.factors[0], &product.factors[1], &product.rest];
            let named = sums.iter().map(|weights| weights.len()).max().unwrap_or(0);
            let is_empty = |weights: &Vec<i64>| weights.iter().all(|&weight| weight == 0);
            if named > exponents.len() || product.factors.iter().any(is_empty) {
                return None;
            }
            let takes = |k: usize| sums.iter().any(|weights| weights.get(k).is_some_and(|&weight| weight != 0));
            let least = (0..named).filter(|&k| takes(k)).map(|k| exponents[k]).min()?;
            exponents.push(least.checked_sub(product.divisions).filter(|&left| left > 0)?);
        }
        Some(exponents)
    }

    /// The last value for the argument x; none where a division is not exact.
    fn value_at(&self, prime: u64, exponents: &[u32], x: u64) -> Option<u64> {
        let mut values = vec![x];
        for (product, exponent) in self.products.iter().zip(&exponents[1..]) {
            let modulus = i128::from(prime.pow(exponent + product.divisions));
            let sum = |weights: &[i64]| {
                let terms = weights.iter().zip(&values).map(|(&c, &y)| i128::from(c) * i128::from(y));
                terms.sum::<i128>().rem_euclid(modulus)
            };
            let [left, right] = &product.factors;
            let whole = (sum(left) * sum(right) + sum(&product.rest)).rem_euclid(modulus);
            let divisor = i128::from(prime.pow(product.divisions));
            if whole % divisor != 0 {
                return None;
            }
            values.push((whole / divisor) as u64);
        }
        values.last().copied()
    }

    /// How many of its products are divided.
    pub(super) fn divided(&self) -> usize {
        self.products.iter().filter(|product| product.divisions > 0).count()
    }

    /// The multiplicative depth.
    pub(super) fn depth(&self) -> usize {
        let mut depths = vec![0];
        for product in &self.products {
            let deepest = |weights: &[i64]| {
                let taken = weights.iter().zip(&depths).filter(|(weight, _)| **weight != 0);
                taken.map(|(_, depth)| *depth).max().unwrap_or(0)
            };
            let [left, right] = &product.factors;
            depths.push(deepest(&product.rest).max(1 + deepest(left).max(deepest(right))));
        }
        depths.last().copied().unwrap_or(0)
    }

    /// The last value, of an encrypted argument.
    pub(super) fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let mut values = vec![x.clone()];
        for product in &self.products {
            let next = evaluator.divided_product(&values.iter().collect::<Vec<_>>(), product)?;
            values.push(next);
        }
        Ok(values.pop().expect("the argument is one"))
    }
}

/// A proof on all residues takes a millisecond for so many.
const MAX_RESIDUES: u64 = 1 << 16;

/// `(x − Σ_{i<v} z_i·p^i)/p^v` modulo p^{e−v}, digits balanced for odd p.
fn without_digits(prime: u64, exponent: u32, removed: u32, x: u64) -> u64 {
    let p = i128::from(prime);
    let mut rest = i128::from(x);
    for _ in 0..removed {
        let digit = rest.rem_euclid(p);
        let balanced = if p > 2 && digit > p / 2 { digit - p } else { digit };
        rest = (rest - balanced) / p;
    }
    rest.rem_euclid(i128::from(prime.pow(exponent - removed))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For odd p a residue is z + p·rest, |z| below p/2; for p = 2, z is 0 or 1.
    #[test]
    fn digits_that_chains_are_held_against_are_balanced() {
        for (p, e, least) in [(2_i64, 6, 0), (3, 4, -1), (5, 3, -2), (7, 2, -3)] {
            for x in 0..p.pow(e) {
                let rest = without_digits(p as u64, e, 1, x as u64) as i64;
                let digits = (least..least + p).filter(|digit| (x - p * rest - digit) % p.pow(e) == 0);
                assert_eq!(digits.count(), 1, "{x} modulo {p}^{e}");
                assert!((0..p.pow(e - 1)).contains(&rest), "{x} modulo {p}^{e}: {rest}");
            }
        }
    }
}
