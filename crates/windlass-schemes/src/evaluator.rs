//! The one interface between circuits and schemes of exact plaintexts.
//!
//! A circuit (a linear map, a polynomial, a bootstrapping stage) is written once over [`Evaluator`]
//! and runs on the exact mock [`crate::schemes::clear`] and on the BGV/BFV engine alike. Notation
//! as in [`crate::switching`]; `n = φ(m)`, plaintext ring `R/(p^r)`.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;

use crate::error::{Error, Result};
use crate::plaintext::Plaintext;
use crate::switching::{Switching, no_terms};

/// Homomorphic operations on ciphertexts that encrypt elements of `R/(p^r)`: what exact schemes
/// have beside [`Switching`], with the same errors.
pub trait Evaluator: Switching {
    /// The plaintext ring.
    fn slots(&self) -> &Arc<SlotRing>;
    /// The level of fresh ciphertexts; a mock may have but one.
    fn top_level(&self) -> usize;

    /// Prepares a constant for [`Switching::multiply_constant`] and [`Switching::dot_extended`] at
    /// every level. Cost: one transform for every prime of `QP`.
    fn prepare(&self, constant: &Plaintext) -> Result<Self::Constant> {
        self.prepare_at(constant, self.top_level())
    }
    /// [`Evaluator::prepare`] for levels up to `level` alone: size and cost are proportional to
    /// the primes of all of them and the special ones. Errors: also [`crate::Error::OutOfRange`]
    /// if there is no such level.
    fn prepare_at(&self, constant: &Plaintext, level: usize) -> Result<Self::Constant>;
    /// [`Evaluator::prepare_at`] of `count` constants, in parallel; `constant(k)` gives number k. A
    /// scheme may lay them out in memory in this order, which should be that of their use; the
    /// default prepares each by itself. Errors: also those of `constant`.
    fn prepare_many(
        &self,
        count: usize,
        level: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<Self::Constant>> {
        (0..count).into_par_iter().map(|k| self.prepare_at(&constant(k)?, level)).collect()
    }
    /// Bytes that one constant takes when it is prepared for `level`.
    fn constant_bytes(&self, level: usize) -> usize;

    /// Bytes that this constant takes.
    fn held_bytes(&self, _constant: &Self::Constant) -> usize {
        self.constant_bytes(self.top_level())
    }
    /// Whether constants whose values repeat take less than [`Self::constant_bytes`]; then
    /// [`Self::held_bytes`] says what each takes.
    fn folds_constants(&self) -> bool {
        false
    }

    /// `a − b`.
    fn sub(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `−a`.
    fn negate(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a + b` for a public `b`.
    fn add_plain(&self, a: &Self::Ciphertext, b: &Plaintext) -> Result<Self::Ciphertext>;
    /// `a − b` for a public `b`.
    fn sub_plain(&self, a: &Self::Ciphertext, b: &Plaintext) -> Result<Self::Ciphertext>;
    /// `a · b`, relinearised; manages levels by itself.
    fn multiply(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a²`, relinearised.
    fn square(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.multiply(a, a)
    }
    /// `k · a` for an integer `k`, taken modulo `p^r`.
    fn multiply_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext>;
    /// The exponent e of the plaintext modulus p^e of a ciphertext: r when it is fresh, one less
    /// after each division by p.
    fn exponent_of(&self, a: &Self::Ciphertext) -> u32;
    /// The same message modulo the smaller `p^exponent`, which costs nothing: so ciphertexts meet
    /// that were divided by p unequally often. Errors: also [`crate::Error::OutOfRange`] for an
    /// exponent that is 0 or larger than that of `a`.
    fn reduce_exponent(&self, a: &Self::Ciphertext, exponent: u32) -> Result<Self::Ciphertext>;
    /// Some element that is congruent to `a` modulo its `p^e`, modulo the larger `p^exponent`: what
    /// stands above `p^e` follows from the noise and is unspecified. It is an element of the whole
    /// ring, whatever `a` holds, so that the content is any. Costs nothing and adds no noise. For
    /// circuits whose result does not depend on it (`circuits::SlotTable`). Errors: also
    /// [`crate::Error::OutOfRange`] for an exponent that is smaller than that of `a` or larger than r.
    fn raise_exponent(&self, a: &Self::Ciphertext, exponent: u32) -> Result<Self::Ciphertext>;
    /// The same ciphertext with [`crate::Content::Integers`]: the promise of a circuit that its
    /// result is an integer in every slot, as that of [`crate::schemes::Ciphertext::assume_integers`].
    fn declare_integers(&self, a: Self::Ciphertext) -> Self::Ciphertext;
    /// `p · a` modulo `p^{e+1}` for `a` modulo `p^e`: the inverse of [`Evaluator::divide_by_p`].
    /// Errors: also [`crate::Error::OutOfRange`] for `e = r`.
    fn multiply_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a / p` where the plaintext of `a` is a multiple of `p`; the result's plaintext modulus is
    /// `p^{r−1}`.
    ///
    /// Errors: [`crate::Error::NotDivisible`] where the scheme can see that the division is not
    /// exact, or `r = 1`.
    fn divide_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// `(..((x − s_0)/p − s_1)/p ..)/p` for sums s_i of values and products, each division as
    /// [`Evaluator::divide_by_p`]. A scheme may relinearise once for all products.
    fn divide_out(&self, x: &Self::Ciphertext, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Self::Ciphertext> {
        divided_one_by_one(self, x, subtrahends)
    }

    /// A product of two sums, a sum on top, divided by p as often as the product says: values with
    /// a weight may have plaintext moduli of their own and are taken modulo the smallest of them.
    /// A scheme may bring values to the level of the product once for all sums.
    ///
    /// Errors: as [`Evaluator::divide_by_p`], [`crate::Error::ShapeMismatch`] for weights of values
    /// that are not there, and an empty factor.
    fn divided_product(&self, values: &[&Self::Ciphertext], product: &DividedProduct) -> Result<Self::Ciphertext> {
        divided_by_parts(self, values, product)
    }

    /// `Σ_i a_i · b_i` for ciphertexts, relinearised. A scheme may relinearise once for the sum.
    /// The list must not be empty.
    fn dot_ciphertexts(&self, pairs: &[(&Self::Ciphertext, &Self::Ciphertext)]) -> Result<Self::Ciphertext> {
        let ((a, b), rest) = pairs.split_first().ok_or_else(no_terms)?;
        rest.iter().try_fold(self.multiply(a, b)?, |sum, (a, b)| self.add(&sum, &self.multiply(a, b)?))
    }
    /// `Σ_i c_i·x_i`, plus `toward` if it is given, for integers c_i. A scheme may choose
    /// representatives of the c_i modulo p^r that keep the noise small. The list must not be empty.
    fn weighted_sum(
        &self,
        terms: &[(&Self::Ciphertext, i64)],
        toward: Option<&Self::Ciphertext>,
    ) -> Result<Self::Ciphertext> {
        let scaled = |x: &Self::Ciphertext, c: i64| if c == 1 { Ok(x.clone()) } else { self.multiply_scalar(x, c) };
        let (&(x, c), rest) = terms.split_first().ok_or_else(no_terms)?;
        let first = scaled(x, c)?;
        let sum = rest.iter().try_fold(first, |sum, &(x, c)| self.add(&sum, &scaled(x, c)?))?;
        toward.map_or(Ok(sum.clone()), |base| self.add(base, &sum))
    }

    /// Several sums `Σ_i c_i·x_i` of the same values: row k of `weights` gives sum k, not all of it 0.
    /// A scheme may leave each with the primes of all of its terms, for the next operation to switch.
    fn weighted_sums(&self, values: &[&Self::Ciphertext], weights: &[Vec<i64>]) -> Result<Vec<Self::Ciphertext>> {
        weighted_one_by_one(self, values, weights)
    }
}

/// [`Evaluator::weighted_sums`] by [`Evaluator::weighted_sum`].
pub(crate) fn weighted_one_by_one<E: Evaluator + ?Sized>(
    evaluator: &E,
    values: &[&E::Ciphertext],
    weights: &[Vec<i64>],
) -> Result<Vec<E::Ciphertext>> {
    let one = |weights: &Vec<i64>| {
        let terms = values.iter().zip(weights).map(|(x, &c)| (*x, c)).filter(|&(_, c)| c != 0);
        evaluator.weighted_sum(&terms.collect::<Vec<_>>(), None)
    };
    weights.iter().map(one).collect()
}

/// [`Evaluator::divide_out`] by the other operations.
pub(crate) fn divided_one_by_one<E: Evaluator + ?Sized>(
    evaluator: &E,
    x: &E::Ciphertext,
    subtrahends: &[Subtrahend<'_, E>],
) -> Result<E::Ciphertext> {
    subtrahends.iter().try_fold(x.clone(), |mut rest, Subtrahend { value, product }| {
        if let Some(value) = value {
            rest = evaluator.sub(&rest, value)?;
        }
        if let Some((a, b)) = product {
            rest = evaluator.sub(&rest, &evaluator.multiply(a, b)?)?;
        }
        evaluator.divide_by_p(&rest)
    })
}

/// What [`Evaluator::divide_out`] subtracts before a division: `value + a·b`, as far as they are
/// given.
#[derive(Debug)]
pub struct Subtrahend<'a, E: Evaluator + ?Sized> {
    /// A ciphertext.
    pub value: Option<&'a E::Ciphertext>,
    /// The factors of a product.
    pub product: Option<(&'a E::Ciphertext, &'a E::Ciphertext)>,
}

/// `(Σ_k a_k·y_k · Σ_k b_k·y_k + Σ_k c_k·y_k)/p^divisions` for integers a_k, b_k, c_k: a product
/// that takes values y_0, y_1, .. by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DividedProduct {
    /// The a_k and the b_k; what they lack is 0.
    pub factors: [Vec<i64>; 2],
    /// The c_k.
    pub rest: Vec<i64>,
    /// How often the result is divided by p: it must be a multiple.
    pub divisions: u32,
}

impl DividedProduct {
    /// Refuses weights of values that are not there.
    #[doc(hidden)]
    pub fn check(&self, values: usize) -> Result<()> {
        let sums = self.factors.iter().chain([&self.rest]);
        let named = sums.filter_map(|weights| weights.iter().rposition(|&weight| weight != 0)).max();
        match named {
            Some(last) if last >= values => {
                Err(Error::ShapeMismatch { what: "the values of a product", expected: last + 1, got: values })
            }
            _ => Ok(()),
        }
    }
}

/// [`Evaluator::divided_product`] by the other operations.
pub(crate) fn divided_by_parts<E: Evaluator + ?Sized>(
    evaluator: &E,
    values: &[&E::Ciphertext],
    product: &DividedProduct,
) -> Result<E::Ciphertext> {
    product.check(values.len())?;
    let [left, right] = &product.factors;
    let sums = [left, right, &product.rest];
    let takes = |k: usize| sums.iter().any(|weights| weights.get(k).is_some_and(|&weight| weight != 0));
    let used: Vec<usize> = (0..values.len()).filter(|&k| takes(k)).collect();
    let exponent = used.iter().map(|&k| evaluator.exponent_of(values[k])).min().ok_or_else(no_terms)?;
    let reduced: Vec<E::Ciphertext> =
        used.iter().map(|&k| evaluator.reduce_exponent(values[k], exponent)).collect::<Result<_>>()?;
    let sum = |weights: &[i64]| {
        let weight = |k: &usize| weights.get(*k).copied().unwrap_or(0);
        let terms = reduced.iter().zip(used.iter().map(weight)).filter(|&(_, weight)| weight != 0);
        evaluator.weighted_sum(&terms.collect::<Vec<_>>(), None)
    };
    let mut result = evaluator.multiply(&sum(left)?, &sum(right)?)?;
    if product.rest.iter().any(|&weight| weight != 0) {
        result = evaluator.add(&result, &sum(&product.rest)?)?;
    }
    (0..product.divisions).try_fold(result, |result, _| evaluator.divide_by_p(&result))
}
