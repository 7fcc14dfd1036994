//! Products of fixed-point numbers.

use windlass_schemes::error::Result;
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::Plaintext;

use super::method::DigitSpec;
use super::removal::DigitRemoval;

/// `a·b/p^k` in every slot, rounded to the nearest integer: the product of numbers that are held as
/// the integers nearest to p^k times them (the truncation of Chen–Han 2018, §1.2).
///
/// It loses its k low digits, so that the plaintext modulus falls from p^e to p^{e−k}; of operands
/// with different ones the larger is reduced. The product is right as long as a·b lies within
/// (−p^e/2, p^e/2) for the modulus p^e at which it is made; for p = 2, where half a unit of the
/// result comes on top of it, as long as −2^{e−1} ≤ a·b + 2^{k−1} < 2^{e−1}.
///
#[cfg_attr(not(doctest), doc = include_str!("../examples/fixed_point.md"))]
#[derive(Debug, Clone)]
pub struct FixedPointProduct {
    /// Modulo p^e, p^{e−k}, .., as long as digits are left.
    rescalings: Vec<DigitRemoval>,
}

impl FixedPointProduct {
    /// For fresh integers modulo p^exponent with `fraction` digits behind the point.
    ///
    /// # Errors
    /// As [`DigitRemoval::new`], for the removal of `fraction` of `exponent` digits.
    pub fn new(prime: u64, exponent: u32, fraction: u32) -> Result<Self> {
        let plan = |exponent| DigitRemoval::new(DigitSpec::new(prime, exponent, fraction));
        let mut rescalings = vec![plan(exponent)?];
        let smaller = (1..).map(|dropped| exponent.saturating_sub(dropped * fraction));
        for exponent in smaller.take_while(|&exponent| exponent > fraction) {
            rescalings.push(plan(exponent)?);
        }
        Ok(Self { rescalings })
    }

    /// The removals of digits behind products, by the plaintext modulus, the largest first. One
    /// product has those of its removal and one more.
    pub fn rescalings(&self) -> &[DigitRemoval] {
        &self.rescalings
    }

    /// The product.
    ///
    /// # Errors
    /// As [`DigitRemoval::apply`], before any work.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, a: &E::Ciphertext, b: &E::Ciphertext) -> Result<E::Ciphertext> {
        let exponent = evaluator.exponent_of(a).min(evaluator.exponent_of(b));
        let fits = |rescaling: &&DigitRemoval| rescaling.spec().exponent >= exponent;
        let rescaling = self.rescalings.iter().rfind(fits).unwrap_or(&self.rescalings[0]);
        let [a, b] = [evaluator.reduce_exponent(a, exponent)?, evaluator.reduce_exponent(b, exponent)?];
        rescaling.check(evaluator, &a)?;
        rescaling.check(evaluator, &b)?;

        // Binary digits round down: half a unit of the result comes first.
        let product = evaluator.multiply(&a, &b)?;
        let DigitSpec { prime, removed, .. } = *rescaling.spec();
        if prime > 2 {
            return rescaling.apply(evaluator, &product);
        }
        let half = Plaintext::scalar(evaluator.slot_ring(), 1 << (removed - 1));
        rescaling.apply(evaluator, &evaluator.add_plain(&product, &half)?)
    }
}
