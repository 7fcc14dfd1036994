//! Chains of products. Linear combinations of the products give a digit to higher precision.

use std::ops::RangeInclusive;

use windlass_ring::slots::PrimePower;
use windlass_rlwe::Limits;
use windlass_schemes::error::Result;

use super::polynomials::{MAX_DEGREE, counterexample};

/// Products w_1, w_2, .. of sums of earlier ones, from the argument w_0 of a digit, and sums of
/// them that know the digit.
///
/// Steps one after another ([`super::DigitRoute`]) use one polynomial for each precision. A chain
/// uses one product for each w_k, of any precision: four products give 16 bits, where polynomials
/// of least degree need seven. All weights count modulo p^c if they lead to a value of precision c.
/// No weight is a constant term, so 0 maps to 0.
///
/// A plan refuses a chain ([`windlass_schemes::Error::Unplannable`]) that breaks one of these rules:
///
/// - A factor of w_k has at least one weight and at most k: it uses earlier products only.
/// - The last weight of each factor and of each value is not 0.
/// - Values are listed by increasing precision.
/// - Each value is congruent to the digit modulo p^precision for every argument that can occur. All of them are tried.
/// - As a polynomial of w_0, each value has a degree of at most 2048.
///
/// For p = 2 an even number has a square of 0 modulo 4, an odd one of 1. So one product knows the lowest bit
/// modulo 4:
///
/// ```
/// use windlass_circuits::{ChainValue, DigitChain};
///
/// let chain = DigitChain {
///     products: vec![[vec![1], vec![1]]], // w_1 = w_0·w_0
///     values: vec![
///         ChainValue { precision: 1, weights: vec![1] },    // w_0 modulo 2
///         ChainValue { precision: 2, weights: vec![0, 1] }, // w_1 modulo 4
///     ],
/// };
/// for x in 0..16 {
///     let products = [x, x * x];
///     let last = &chain.values[1];
///     let value: i64 = products.iter().zip(&last.weights).map(|(w, c)| w * c).sum();
///     assert_eq!(value % (1 << last.precision), x % 2);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigitChain {
    /// The factors of w_1, w_2, ..: in each, the weights of w_0, w_1, ..; 0 for values that do not
    /// occur.
    pub products: Vec<[Vec<i64>; 2]>,
    /// What knows the digit, by rising precision.
    pub values: Vec<ChainValue>,
}

/// A sum of the products of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainValue {
    /// It knows the digit modulo p^precision.
    pub precision: u32,
    /// The weights of w_0, w_1, .., the last one not 0.
    pub weights: Vec<i64>,
}

impl DigitChain {
    /// The first value that knows the digit so well.
    pub(super) fn value(&self, precision: u32) -> Option<&ChainValue> {
        self.values.iter().find(|value| value.precision >= precision)
    }

    /// Why it is no chain for these digits, if so. Exact: every value is written as a polynomial
    /// and compared with the digits on all arguments that matter.
    pub(super) fn flaw(&self, prime: u64, digits: &RangeInclusive<i64>) -> Result<Option<String>> {
        let shape = |weights: &Vec<i64>, most: usize| weights.len() <= most && weights.last().is_some_and(|&c| c != 0);
        let products_fit = self.products.iter().enumerate().all(|(k, product)| product.iter().all(|f| shape(f, k + 1)));
        if !products_fit || !self.values.iter().all(|value| shape(&value.weights, self.products.len() + 1)) {
            return Ok(Some("a sum in the chain is empty, ends in 0 or uses a later product".into()));
        }
        if !self.values.is_sorted_by_key(|value| value.precision) {
            return Ok(Some("the precision of its values must increase".into()));
        }
        for value in &self.values {
            let modulus = PrimePower::new(prime, value.precision)?;
            let polynomial = self.polynomial(modulus, &value.weights)?;
            if let Some(x) = counterexample(modulus, &polynomial, 1, digits.into()) {
                let precision = value.precision;
                return Ok(Some(format!("its value modulo {prime}^{precision} does not take {x} to its digit")));
            }
        }
        Ok(None)
    }

    /// A sum of its products as a polynomial of the argument, lowest coefficient first.
    fn polynomial(&self, modulus: PrimePower, weights: &[i64]) -> Result<Vec<i64>> {
        let mut powers: Vec<Vec<u64>> = vec![vec![0, 1]];
        for [left, right] in self.products.iter().take(weights.len().saturating_sub(1)) {
            let product = multiplied(modulus, &sum(modulus, &powers, left), &sum(modulus, &powers, right));
            let limits = Limits::at_most(MAX_DEGREE).with("products of a chain double it at most");
            limits.check("the degree of a digit polynomial", product.len().saturating_sub(1))?;
            powers.push(product);
        }
        Ok(sum(modulus, &powers, weights).into_iter().map(|c| modulus.centred(c)).collect())
    }
}

/// `Σ c_k·f_k`.
pub(crate) fn sum(modulus: PrimePower, polynomials: &[Vec<u64>], weights: &[i64]) -> Vec<u64> {
    let terms = polynomials.iter().zip(weights).filter(|&(_, &c)| c != 0);
    let mut sum = vec![0; terms.clone().map(|(f, _)| f.len()).max().unwrap_or(0)];
    for (f, &c) in terms {
        let c = modulus.reduce_i64(c);
        sum.iter_mut().zip(f).for_each(|(sum, &x)| *sum = modulus.add(*sum, modulus.mul(c, x)));
    }
    sum
}

pub(crate) fn multiplied(modulus: PrimePower, f: &[u64], g: &[u64]) -> Vec<u64> {
    let mut product = vec![0; (f.len() + g.len()).saturating_sub(1)];
    for (i, &x) in f.iter().enumerate() {
        for (j, &y) in g.iter().enumerate() {
            product[i + j] = modulus.add(product[i + j], modulus.mul(x, y));
        }
    }
    product
}

/// For p = 2: 2, 4, 8, 16 and 22 bits with one product each, 44 with two more.
///
/// Found by search (`examples/search_digit_chains.rs`). All are even polynomials of the argument,
/// since squares know most: that of an odd number is 1 modulo 8, that of an even one 4 times a
/// square, so that u = x² knows two bits and u² four (Halevi–Shoup 2015, §5.3.1). Weights on earlier
/// products are as good as free: their noise is far below that of the last one, whose weights are
/// small for that reason.
pub(super) fn chain_of_bits() -> DigitChain {
    let of_22_bits = [0, 327_680, 783, 2_077_546, 9_842, 1];
    // 3y² − 2y³ = y·(3y − 2y²) doubles the precision of y.
    let doubling = of_22_bits.map(|weight| 3 * weight).into_iter().chain([-2]);
    let values: [(u32, &[i64]); 7] = [
        (1, &[1]),
        (2, &[0, 1]),
        (4, &[0, 0, 1]),
        (8, &[0, 32, 120, 5]),
        (16, &[0, 15_360, 692, 24_129, 1]),
        (22, &of_22_bits),
        (44, &[0, 0, 0, 0, 0, 0, 0, 1]),
    ];
    DigitChain {
        products: vec![
            [vec![1], vec![1]],
            [vec![0, 1], vec![0, 1]],
            [vec![0, 0, 1], vec![0, 20, 1]],
            [vec![0, 14, -1, 1], vec![0, 3_722, 157, 1]],
            [vec![0, 29, -60, -43, 1], vec![0, 29_101, 7_964, 419_515, -1]],
            [of_22_bits.to_vec(), of_22_bits.to_vec()],
            [of_22_bits.to_vec(), doubling.collect()],
        ],
        values: values.map(|(precision, weights)| ChainValue { precision, weights: weights.to_vec() }).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In machine words: every residue of 2^16, and others up to 2^44. (Plans prove it for all.)
    #[test]
    fn bits_of_residues() {
        let chain = chain_of_bits();
        let far = (1..20_000u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for x in (0..1u64 << 16).chain(far) {
            let sum = |values: &[u64], weights: &[i64]| {
                let terms = values.iter().zip(weights).map(|(x, &c)| x.wrapping_mul(c as u64));
                terms.fold(0, u64::wrapping_add)
            };
            let mut products = vec![x];
            for [left, right] in &chain.products {
                products.push(sum(&products, left).wrapping_mul(sum(&products, right)));
            }
            for value in &chain.values {
                let got = sum(&products, &value.weights) % (1 << value.precision);
                assert_eq!(got, x % 2, "{x} modulo 2^{}", value.precision);
            }
        }
    }
}
