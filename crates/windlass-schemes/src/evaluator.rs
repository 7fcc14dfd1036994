//! The interface between circuits and schemes with exact plaintexts.
//!
//! A circuit (a linear map, a polynomial, a bootstrapping stage) is written once over
//! [`Evaluator`]. It runs on the exact mock [`crate::schemes::clear`] and on the BGV/BFV engine.
//! Notation is as in [`crate::switching`]; `n = φ(m)`, and the plaintext ring is `R/(p^r)`.

use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;

use crate::error::{Error, Result};
use crate::plaintext::Plaintext;
#[cfg(doc)]
use crate::switching::Arithmetic;
use crate::switching::{Switching, no_terms};

/// Homomorphic operations on ciphertexts that encrypt elements of `R/(p^r)`. These are the
/// operations that exact schemes have in addition to [`Switching`]. Errors are as there.
pub trait Evaluator: Switching {
    /// The plaintext ring R/(p^r) with its slots.
    fn slot_ring(&self) -> &Arc<SlotRing>;

    /// [`Self::slot_ring`].
    #[deprecated(since = "0.3.0", note = "use slot_ring")]
    fn slots(&self) -> &Arc<SlotRing> {
        self.slot_ring()
    }

    /// The level of fresh ciphertexts. A mock may have only one level.
    fn top_level(&self) -> usize;

    /// Prepares a constant for [`Arithmetic::multiply_constant`] and [`Switching::dot_extended`] at
    /// every level. Cost: one transform for every prime of `QP`.
    fn prepare(&self, constant: &Plaintext) -> Result<Self::Constant> {
        self.prepare_at(constant, self.top_level())
    }
    /// As [`Evaluator::prepare`], but only for levels up to `level`. Size and cost are proportional
    /// to the number of primes of `Q_level·P`.
    ///
    /// # Errors
    /// Also [`crate::Error::OutOfRange`] if there is no such level.
    fn prepare_at(&self, constant: &Plaintext, level: usize) -> Result<Self::Constant>;
    /// [`Evaluator::prepare_at`] for `count` constants, in parallel; `constant(k)` returns constant
    /// k. A scheme may store them in memory in this order, so it should be the order of their use.
    /// The default prepares each separately.
    ///
    /// # Errors
    /// Also those of `constant`.
    fn prepare_many(
        &self,
        count: usize,
        level: usize,
        constant: &(dyn Fn(usize) -> Result<Plaintext> + Sync),
    ) -> Result<Vec<Self::Constant>> {
        (0..count).into_par_iter().map(|k| self.prepare_at(&constant(k)?, level)).collect()
    }
    /// Size in bytes of a constant that is prepared for `level`.
    fn constant_bytes(&self, level: usize) -> usize;

    /// Size in bytes of this constant.
    fn held_bytes(&self, _constant: &Self::Constant) -> usize {
        self.constant_bytes(self.top_level())
    }
    /// Whether constants with repeating values are smaller than [`Self::constant_bytes`]. If so,
    /// [`Self::held_bytes`] returns the size of each.
    fn keeps_periodic_values(&self) -> bool {
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
    /// `a · b`, relinearised. Levels are managed automatically.
    fn multiply(&self, a: &Self::Ciphertext, b: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a²`, relinearised.
    fn square(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext> {
        self.multiply(a, a)
    }
    /// `k · a` for an integer `k`, taken modulo `p^r`.
    fn multiply_scalar(&self, a: &Self::Ciphertext, k: i64) -> Result<Self::Ciphertext>;
    /// The exponent e of the plaintext modulus p^e of a ciphertext: r if it is fresh, and one less
    /// after each division by p.
    fn exponent_of(&self, a: &Self::Ciphertext) -> u32;
    /// The same message modulo the smaller `p^exponent`. This is free. Use it to combine
    /// ciphertexts that were divided by p a different number of times.
    ///
    /// # Errors
    /// Also [`crate::Error::OutOfRange`] if the exponent is 0 or larger than that of `a`.
    fn reduce_exponent(&self, a: &Self::Ciphertext, exponent: u32) -> Result<Self::Ciphertext>;
    /// An element modulo the larger `p^exponent` that is congruent to `a` modulo its `p^e`. This is
    /// free and adds no noise. It is for circuits whose result does not depend on the multiple of
    /// `p^e` (`circuits::SlotTable`).
    ///
    /// **Warning.** The multiple of `p^e` follows from the noise and is unspecified. It is an
    /// element of the whole ring even if `a` holds integers, so the result has no known content.
    ///
    /// # Errors
    /// Also [`crate::Error::OutOfRange`] if the exponent is smaller than that of `a` or larger than r.
    fn raise_exponent(&self, a: &Self::Ciphertext, exponent: u32) -> Result<Self::Ciphertext>;
    /// The same ciphertext with [`crate::Content::Integers`]. The circuit promises that every slot
    /// of its result is an integer, as in [`crate::schemes::Ciphertext::assume_integers`].
    fn declare_integers(&self, a: Self::Ciphertext) -> Self::Ciphertext;
    /// `p · a` modulo `p^{e+1}` for `a` modulo `p^e`: the inverse of [`Evaluator::divide_by_p`].
    ///
    /// # Errors
    /// Also [`crate::Error::OutOfRange`] for `e = r`.
    fn multiply_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;
    /// `a / p`, if the plaintext of `a` is a multiple of `p`. The exponent of the result's
    /// plaintext modulus is one less.
    ///
    /// # Errors
    /// [`crate::Error::NotDivisible`] if the scheme can detect that the division is not exact, or if
    /// `r = 1`.
    fn divide_by_p(&self, a: &Self::Ciphertext) -> Result<Self::Ciphertext>;

    /// `(..((x − s_0)/p − s_1)/p ..)/p` for sums s_i of values and products. Each division is as in
    /// [`Evaluator::divide_by_p`]. A scheme may relinearise once for all products.
    fn divide_out(&self, x: &Self::Ciphertext, subtrahends: &[Subtrahend<'_, Self>]) -> Result<Self::Ciphertext> {
        divided_one_by_one(self, x, subtrahends)
    }

    /// The product of two sums plus a third sum, divided by p as often as `product` says. Values
    /// with non-zero weights may have different plaintext moduli; all are reduced modulo the
    /// smallest. A scheme may bring values to the level of the product once for all sums.
    ///
    /// # Errors
    /// As [`Evaluator::divide_by_p`]; [`crate::Error::ShapeMismatch`] if a weight has no value, or a factor
    /// is empty.
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

    /// Several sums `Σ_i c_i·x_i` of the same values. Row k of `weights`, which must not be all 0,
    /// gives sum k. A scheme may leave each sum with the primes of all of its terms; the next
    /// operation then switches it.
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

/// The value that [`Evaluator::divide_out`] subtracts before a division: `value + a·b`. A missing
/// part counts as 0.
#[derive(Debug)]
pub struct Subtrahend<'a, E: Evaluator + ?Sized> {
    /// A ciphertext.
    pub value: Option<&'a E::Ciphertext>,
    /// The factors of a product.
    pub product: Option<(&'a E::Ciphertext, &'a E::Ciphertext)>,
}

/// `(Σ_k a_k·y_k · Σ_k b_k·y_k + Σ_k c_k·y_k)/p^divisions` for integers a_k, b_k, c_k. The values
/// y_0, y_1, .. are given by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DividedProduct {
    /// The a_k and the b_k; missing ones are 0.
    pub factors: [Vec<i64>; 2],
    /// The c_k.
    pub rest: Vec<i64>,
    /// How often the result is divided by p. The dividend must be a multiple of p^divisions.
    pub divisions: u32,
}

impl DividedProduct {
    /// Whether value k has a weight.
    #[doc(hidden)]
    pub fn takes(&self, k: usize) -> bool {
        let sums = self.factors.iter().chain([&self.rest]);
        sums.into_iter().any(|weights| weights.get(k).is_some_and(|&weight| weight != 0))
    }

    /// Refuses weights without a value.
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
    let used: Vec<usize> = (0..values.len()).filter(|&k| product.takes(k)).collect();
    let exponent = used.iter().map(|&k| evaluator.exponent_of(values[k])).min().ok_or_else(no_terms)?;
    let mut reduced = Vec::with_capacity(used.len());
    for &k in &used {
        reduced.push((k, evaluator.reduce_exponent(values[k], exponent)?));
    }
    let mut result = evaluator.multiply(&sum_of(evaluator, &reduced, left)?, &sum_of(evaluator, &reduced, right)?)?;
    if product.rest.iter().any(|&weight| weight != 0) {
        result = evaluator.add(&result, &sum_of(evaluator, &reduced, &product.rest)?)?;
    }
    (0..product.divisions).try_fold(result, |result, _| evaluator.divide_by_p(&result))
}

/// `Σ_k weights[k]·y_k` over pairs (k, y_k). Missing weights are 0.
fn sum_of<E: Evaluator + ?Sized>(
    evaluator: &E,
    values: &[(usize, E::Ciphertext)],
    weights: &[i64],
) -> Result<E::Ciphertext> {
    let mut terms = Vec::with_capacity(values.len());
    for (k, value) in values {
        match weights.get(*k) {
            None | Some(0) => {}
            Some(&weight) => terms.push((value, weight)),
        }
    }
    evaluator.weighted_sum(&terms, None)
}
