//! Runs a plan of digit removal.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::{Evaluator, Subtrahend};

use super::method::DigitSpec;
use super::removal::{DigitCircuit, DigitRemoval};
use super::row::{Row, RowStep, Terms};
use crate::slot_function::check_integers;

impl DigitRemoval {
    /// `(x − Σ_{i<v} z_i·p^i)/p^v` in every slot, for integers x modulo p^e in the slots: the
    /// plaintext modulus falls from p^e to p^{e−v}. For odd p, whose digits are balanced, that is
    /// x/p^v rounded to the nearest integer, for p = 2 rounded down. A ciphertext modulo a smaller
    /// power of p may come too; it loses as many digits.
    ///
    /// **Warning.** With a [`DigitSpec::bound`] this holds only for slots whose removed part is within the
    /// bound. Any other slot gets an unspecified value. No error is returned.
    ///
    /// Cost: [`DigitRemoval::products`] ciphertext products.
    ///
    /// # Errors
    /// [`windlass_schemes::Error::NotIntegers`] for slots that are not known to hold integers;
    /// [`windlass_schemes::Error::ContextMismatch`] for another prime, or a plaintext modulus above p^e, of
    /// which the plan would not know the digits; [`windlass_schemes::Error::NotDivisible`] for one of at most
    /// p^v; errors of the evaluator.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.check(evaluator, x)?;
        let rows = match &self.circuit {
            DigitCircuit::Rows(rows) => rows,
            DigitCircuit::Halving(chain) => return chain.apply(evaluator, x),
        };
        let mut made: Vec<Made<E>> = Vec::new();
        for (j, row) in rows.iter().enumerate() {
            let lent = made.iter().enumerate().map(|(i, made)| made.lent(j - 1 - i)).collect::<Vec<_>>();
            let argument = evaluator.divide_out(x, &lent)?;
            made.push(Made::new(evaluator, row, argument)?);
        }
        evaluator.divide_out(x, &made.iter().map(Made::last).collect::<Vec<_>>())
    }

    /// Refuses, before any work, what the plan is not for.
    pub(super) fn check<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<()> {
        check_integers("digit removal", evaluator, [x])?;
        let (prime, exponent) = (evaluator.slot_ring().prime(), evaluator.exponent_of(x));
        let DigitSpec { prime: own, exponent: most, removed, .. } = *self.spec();
        if prime != own || exponent > most {
            return Err(Error::ContextMismatch {
                operation: "digit removal",
                left: format!("digits modulo {own}^{most}"),
                right: format!("a ciphertext modulo {prime}^{exponent}"),
            });
        }
        if exponent <= removed {
            return Err(Error::NotDivisible { prime, exponent });
        }
        Ok(())
    }
}

/// The low digits themselves, `Σ_{i<v} z_i·p^i` modulo p^e: what a [`DigitRemoval`] takes away.
///
/// For odd p that is the residue of x modulo p^v of least absolute value, for p = 2 the one in
/// \[0, 2^v). The difference to x is what Chen–Han's DigitRemove gives (2018, §3.1): x with zeros
/// for its low digits, modulo p^e as before.
#[derive(Debug, Clone)]
pub struct DigitRetention {
    removal: DigitRemoval,
}

impl DigitRetention {
    /// The digits that this plan removes.
    pub fn new(removal: DigitRemoval) -> Self {
        Self { removal }
    }

    /// The plan.
    pub fn removal(&self) -> &DigitRemoval {
        &self.removal
    }

    /// `x − p^v·removed`.
    ///
    /// Cost: that of [`DigitRemoval::apply`], no product more.
    ///
    /// # Errors
    /// As there.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let removed = self.removal.apply(evaluator, x)?;
        let digits = 0..self.removal.spec().removed;
        let high = digits.into_iter().try_fold(removed, |high, _| evaluator.multiply_by_p(&high))?;
        evaluator.sub(x, &high)
    }
}

/// What a row has made.
struct Made<'a, E: Evaluator> {
    row: &'a Row,
    /// Its values by number, except a product that is left for the end and the sum that uses it.
    values: Vec<Option<E::Ciphertext>>,
    /// Of sums that take a product: what comes on top of it, by number.
    rests: BTreeMap<usize, E::Ciphertext>,
    /// The factors of the product that is left for the end.
    late: Option<[E::Ciphertext; 2]>,
}

impl<'a, E: Evaluator> Made<'a, E> {
    /// All values of a row; polynomials of one value share its powers.
    fn new(evaluator: &E, row: &'a Row, argument: E::Ciphertext) -> Result<Self> {
        let mut made = Self { row, values: vec![Some(argument)], rests: BTreeMap::new(), late: None };
        let mut powers: Vec<BTreeMap<usize, E::Ciphertext>> = vec![BTreeMap::new(); row.known.len()];
        for (k, known) in row.known.iter().enumerate().skip(1) {
            let value = match &known.step {
                RowStep::Given => unreachable!("only the argument is given"),
                RowStep::Polynomial { of, plan, .. } => {
                    Some(plan.apply_sharing(evaluator, made.value(*of), &mut powers[*of])?)
                }
                RowStep::Product(factors) => made.product(evaluator, k, factors)?,
                RowStep::Sum { .. } if k == row.last && row.late.is_some() => None,
                RowStep::Sum { product: (product, weight), .. } => {
                    let terms = [(made.value(*product), *weight)];
                    Some(evaluator.weighted_sum(&terms, made.rests.get(&k))?)
                }
            };
            made.values.push(value);
        }
        Ok(made)
    }

    /// Value k, a product, unless it is left for the end. The sums that it is made of and those
    /// that come on top of it are made together.
    fn product(&mut self, evaluator: &E, k: usize, factors: &[Terms; 2]) -> Result<Option<E::Ciphertext>> {
        let on_top = self.row.sums_with(k);
        // One sum for both factors of a square.
        let is_square = factors[0] == factors[1];
        let own = if is_square { &factors[..1] } else { &factors[..] };
        let wanted: Vec<&Terms> = own.iter().chain(on_top.iter().map(|(_, terms)| *terms)).collect();
        let mut sums = self.sums(evaluator, &wanted)?;
        let rests: Vec<E::Ciphertext> = sums.split_off(own.len()).into_iter().map(Cow::into_owned).collect();
        let (left, right) = (sums[0].as_ref(), sums[own.len() - 1].as_ref());
        let (late, product) = match self.row.late == Some(k) {
            true => (Some([left.clone(), right.clone()]), None),
            false if is_square => (None, Some(evaluator.square(left)?)),
            false => (None, Some(evaluator.multiply(left, right)?)),
        };
        let numbers: Vec<usize> = on_top.iter().map(|(number, _)| *number).collect();
        drop(sums);
        self.rests.extend(numbers.into_iter().zip(rests));
        self.late = late.or(self.late.take());
        Ok(product)
    }

    /// Sums of values, made together. A sum that is one value of weight 1 is that value.
    fn sums(&self, evaluator: &E, wanted: &[&Terms]) -> Result<Vec<Cow<'_, E::Ciphertext>>> {
        let alone = |terms: &Terms| matches!(terms[..], [(_, 1)]);
        let others: Vec<&Terms> = wanted.iter().copied().filter(|terms| !alone(terms)).collect();
        let mut others = self.weighted_sums(evaluator, &others)?.into_iter();
        let mut sums = Vec::with_capacity(wanted.len());
        for terms in wanted {
            sums.push(match terms[..] {
                [(k, 1)] => Cow::Borrowed(self.value(k)),
                _ => Cow::Owned(others.next().expect("one for each")),
            });
        }
        Ok(sums)
    }

    /// Sums of values, in one operation.
    fn weighted_sums(&self, evaluator: &E, wanted: &[&Terms]) -> Result<Vec<E::Ciphertext>> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: BTreeSet<usize> = wanted.iter().flat_map(|terms| terms.iter().map(|(k, _)| *k)).collect();
        let values: Vec<&E::Ciphertext> = numbers.iter().map(|k| self.value(*k)).collect();
        let mut weights = Vec::with_capacity(wanted.len());
        for terms in wanted {
            let weight = |k: &usize| terms.iter().find(|(number, _)| number == k).map_or(0, |(_, weight)| *weight);
            weights.push(numbers.iter().map(weight).collect());
        }
        evaluator.weighted_sums(&values, &weights)
    }

    fn value(&self, k: usize) -> &E::Ciphertext {
        self.values[k].as_ref().expect("only the last value takes what is left for the end")
    }

    /// The digit as another row takes it.
    fn lent(&self, number: usize) -> Subtrahend<'_, E> {
        Subtrahend { value: Some(self.value(self.row.for_rows[number])), product: None }
    }

    /// The digit at its last precision.
    fn last(&self) -> Subtrahend<'_, E> {
        match &self.late {
            Some([a, b]) => Subtrahend { value: self.rests.get(&self.row.last), product: Some((a, b)) },
            None => Subtrahend { value: Some(self.value(self.row.last)), product: None },
        }
    }
}
