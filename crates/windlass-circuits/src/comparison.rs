//! Functions of two values in each slot, and of a value and an encrypted list.
//!
//! Over a field they reduce to functions of one value: a equals b if `a − b` is 0, and x is in a
//! list if `Π_i (x − v_i)` is 0.

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;

use super::polynomial::product_of_many;
use super::slot_function::{SlotFunction, check_integers};

/// A function of the difference of two integers in each slot, modulo a prime p.
///
#[cfg_attr(not(doctest), doc = include_str!("examples/comparison.md"))]
#[derive(Debug, Clone)]
pub struct Comparison {
    name: String,
    function: SlotFunction,
}

impl Comparison {
    /// 1 where `a = b`, and 0 elsewhere: `1 − (a − b)^{p−1}`.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a plaintext modulus that is not a prime.
    pub fn equals(ring: &SlotRing) -> Result<Self> {
        let name = format!("a test for equality modulo {}", ring.modulus().value());
        Ok(Self { name, function: SlotFunction::is_zero(ring)? })
    }

    /// 1 where `a < b` and 0 where `a ≥ b`, for integers that differ by no more than the bound.
    ///
    /// **Warning.** If a and b differ by more than the bound, the result is unspecified. No error is returned.
    ///
    /// # Errors
    /// As [`Self::equals`]; [`Error::OutOfRange`] for a bound that is not below p/2.
    pub fn is_less(ring: &SlotRing, bound: u64) -> Result<Self> {
        Ok(Self::of_difference(SlotFunction::is_negative(ring, bound)?))
    }

    /// `f(a − b)`.
    pub fn of_difference(function: SlotFunction) -> Self {
        Self { name: function.name().to_owned(), function }
    }

    /// What it is, in words.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Products of ciphertexts, squares included.
    pub fn products(&self) -> usize {
        self.function.products()
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.function.depth()
    }

    /// The value of the function in every slot.
    ///
    /// # Errors
    /// As [`SlotFunction::apply`].
    pub fn apply<E: Evaluator>(&self, evaluator: &E, a: &E::Ciphertext, b: &E::Ciphertext) -> Result<E::Ciphertext> {
        check_integers(&self.name, evaluator, [a, b])?;
        let difference = evaluator.sub(a, b)?;
        evaluator.with_refreshes(&difference, &|evaluator, x| self.function.apply(evaluator, x))
    }
}

/// 1 where the slot of x is that of one of k encrypted values, and 0 elsewhere:
/// `1 − (Π_i (x − v_i))^{p−1}`, modulo a prime p. Of a public list, see [`SlotFunction::contains`].
#[derive(Debug, Clone)]
pub struct Membership {
    count: usize,
    is_zero: SlotFunction,
}

impl Membership {
    /// In lists of `count` values.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a plaintext modulus that is not a prime; [`Error::OutOfRange`] for
    /// an empty list, and for more than 2^20 values.
    pub fn new(ring: &SlotRing, count: usize) -> Result<Self> {
        Limits::between(1, 1 << 20).check("the length of a list", count)?;
        Ok(Self { count, is_zero: SlotFunction::is_zero(ring)? })
    }

    /// What it is, in words.
    pub fn name(&self) -> String {
        format!("membership in an encrypted list of {}", self.count)
    }

    /// Products of ciphertexts, squares included.
    pub fn products(&self) -> usize {
        self.count - 1 + self.is_zero.products()
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.count.next_power_of_two().ilog2() as usize + self.is_zero.depth()
    }

    /// Whether the slots of x are in the list, slot by slot.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for a list of another length; as [`SlotFunction::apply`].
    pub fn apply<E: Evaluator>(
        &self,
        evaluator: &E,
        x: &E::Ciphertext,
        list: &[E::Ciphertext],
    ) -> Result<E::Ciphertext> {
        if list.len() != self.count {
            return Err(Error::ShapeMismatch { what: "values of a list", expected: self.count, got: list.len() });
        }
        check_integers(&self.name(), evaluator, list.iter().chain([x]))?;
        let differences: Vec<E::Ciphertext> =
            list.par_iter().map(|value| evaluator.sub(x, value)).collect::<Result<_>>()?;
        let product = product_of_many(evaluator, &differences)?;
        evaluator.with_refreshes(&product, &|evaluator, product| self.is_zero.apply(evaluator, product))
    }
}
