//! Functions of the integers in slots: powers, equality, membership, comparison, tables.
//!
//! Over a field of p elements every function is a polynomial, and its degree determines its cost.
//! The indicator of 0 is `1 − x^{p−1}`, by Fermat's theorem. A table over all residues has degree
//! up to p − 1. A table over k arguments that are known in advance has degree at most k − 1.

use std::ops::RangeInclusive;

use windlass_ring::slots::{PrimePower, SlotRing};
use windlass_rlwe::Limits;
use windlass_schemes::Integer;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::{Content, Plaintext};
use windlass_schemes::switching::Switching;

use super::interpolation::{interpolate, interpolate_everywhere, with_roots};
use super::polynomial::{PolynomialPlan, log2_ceil};

/// `x^e` in the least depth, ⌈log2 e⌉.
///
/// The squares `x^{2^i}` are made one after the other, and those that the binary digits of e name
/// are multiplied up on the way, the lowest first: what is multiplied up below `x^{2^i}` has depth i
/// at most, so that each product adds one level. ⌊log2 e⌋ squares and one product for each further
/// digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Power {
    exponent: u64,
}

impl Power {
    /// The power with this exponent.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for 0.
    pub fn new(exponent: u64) -> Result<Self> {
        Limits::at_least(1).check("the exponent of a power", exponent)?;
        Ok(Self { exponent })
    }

    /// e.
    pub fn exponent(&self) -> u64 {
        self.exponent
    }

    /// Products of ciphertexts, squares included.
    pub fn products(&self) -> usize {
        (self.exponent.ilog2() + self.exponent.count_ones() - 1) as usize
    }

    /// Products in sequence, ⌈log2 e⌉.
    pub fn depth(&self) -> usize {
        log2_ceil(self.exponent as usize)
    }

    /// `x^e`.
    ///
    /// # Errors
    /// Errors of the evaluator.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.raise(x, |a| evaluator.square(a), |a, b| evaluator.multiply(a, b))
    }

    fn raise<C: Clone>(
        &self,
        x: &C,
        square: impl Fn(&C) -> Result<C>,
        multiply: impl Fn(&C, &C) -> Result<C>,
    ) -> Result<C> {
        let mut current = x.clone();
        let mut product: Option<C> = None;
        for digit in 0..=self.exponent.ilog2() {
            if digit > 0 {
                current = square(&current)?;
            }
            if self.exponent >> digit & 1 == 1 {
                product = Some(match product {
                    Some(product) => multiply(&product, &current)?,
                    None => current.clone(),
                });
            }
        }
        Ok(product.expect("a power is at least the first"))
    }
}

/// The largest degree of a table: that of all residues modulo a prime of 17 bits.
const MAX_DEGREE: usize = 1 << 17;

/// The longest range or list that is interpolated or multiplied out in quadratic time.
const MAX_POINTS: usize = 1 << 12;

/// A function of the integer in each slot, modulo a prime p.
///
/// Slots must hold integers, and others are refused: of an element x of a larger field `x^{p−1}` is
/// 1 only where x is an integer. For p^r with r > 1 most functions are no polynomials, and none is
/// offered.
#[derive(Debug, Clone)]
pub struct SlotFunction {
    name: String,
    prime: u64,
    polynomial: PolynomialPlan,
    /// Whether the value is `1 − f(x)^{p−1}`: 1 where the polynomial f is 0, and 0 elsewhere.
    indicator: bool,
}

impl SlotFunction {
    /// The function with these values at 0, 1, .., p − 1; values that are missing are 0.
    ///
    /// Cost: an interpolation of about p·log p steps where p − 1 has small factors.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a plaintext modulus that is not a prime; [`Error::ShapeMismatch`]
    /// for more than p values.
    pub fn from_table<T: Integer>(ring: &SlotRing, values: &[T]) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        let p = modulus.value();
        if values.len() as u64 > p {
            let (what, expected) = ("values of a table (at most)", p as usize);
            return Err(Error::ShapeMismatch { what, expected, got: values.len() });
        }
        check_table(modulus)?;
        let mut residues: Vec<u64> = values.iter().map(|value| value.residue(modulus)).collect();
        residues.resize(p as usize, 0);
        let name = format!("a table over all residues modulo {p}");
        Ok(Self::of_polynomial(name, modulus, &interpolate_everywhere(modulus, &residues), false))
    }

    /// The function with `f(x)` at every x of a range. The degree is below the length of the range.
    ///
    /// **Warning.** An argument outside the range gets an unspecified value. No error is returned.
    ///
    /// Cost: quadratic in the length of the range, up to 2^12; longer ones are tables over all
    /// residues, 0 outside the range.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a plaintext modulus that is not a prime; [`Error::OutOfRange`] for a
    /// range that is empty, longer than p, or longer than 2^12 for p above 2^17.
    pub fn on_range<T: Integer>(ring: &SlotRing, range: RangeInclusive<i64>, f: impl Fn(i64) -> T) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        let length = (*range.end() as i128 - *range.start() as i128 + 1).clamp(0, i128::from(u64::MAX)) as u64;
        let limits = match modulus.value() as usize <= MAX_DEGREE {
            true => Limits::between(1, modulus.value()).with("the plaintext modulus"),
            false => Limits::between(1, MAX_POINTS).with("for a plaintext modulus above 2^17"),
        };
        limits.check("the length of the range of arguments", length)?;
        let name = format!("a table over {length} arguments modulo {}", modulus.value());
        let points = range.map(|x| (x.residue(modulus), f(x).residue(modulus)));
        let coefficients = if length as usize <= MAX_POINTS {
            interpolate(modulus, &points.collect::<Vec<_>>())
        } else {
            let mut values = vec![0; modulus.value() as usize];
            points.for_each(|(x, value)| values[x as usize] = value);
            interpolate_everywhere(modulus, &values)
        };
        Ok(Self::of_polynomial(name, modulus, &coefficients, false))
    }

    /// 1 where the slot is 0, and 0 elsewhere: `1 − x^{p−1}`. Two ciphertexts are equal where their
    /// difference is 0.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a plaintext modulus that is not a prime.
    pub fn is_zero(ring: &SlotRing) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        Ok(Self::of_polynomial(format!("a test for zero modulo {}", modulus.value()), modulus, &[0, 1], true))
    }

    /// 1 where the slot is one of the listed integers, and 0 elsewhere: `1 − (Π (x − v))^{p−1}`.
    ///
    /// Lists of 2√p integers and more are a table over all residues, of less degree than the power.
    ///
    /// # Errors
    /// As [`Self::is_zero`]; [`Error::OutOfRange`] for more than 2^12 different integers where p is
    /// above 2^17.
    pub fn contains<T: Integer>(ring: &SlotRing, list: &[T]) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        let mut residues: Vec<u64> = list.iter().map(|value| value.residue(modulus)).collect();
        residues.sort_unstable();
        residues.dedup();
        let name = format!("membership in a list of {} modulo {}", residues.len(), modulus.value());
        let long = residues.len() as u64 >= 2 * (modulus.value() as f64).sqrt() as u64;
        if long && check_table(modulus).is_ok() {
            let holds = |x: u64| u64::from(residues.binary_search(&x).is_ok());
            let values: Vec<u64> = (0..modulus.value()).map(holds).collect();
            return Ok(Self::of_polynomial(name, modulus, &interpolate_everywhere(modulus, &values), false));
        }
        Limits::at_most(MAX_POINTS).check("the number of different integers in a list", residues.len())?;
        Ok(Self::of_polynomial(name, modulus, &with_roots(modulus, &residues), true))
    }

    /// 1 where `−bound ≤ x < 0` and 0 where `0 ≤ x ≤ bound`: the comparison `a < b` of integers
    /// that differ by no more than the bound is this function of `a − b`.
    ///
    /// **Warning.** For any other x the result is unspecified. No error is returned.
    ///
    /// # Errors
    /// As [`Self::on_range`]; the bound must be below p/2.
    pub fn is_negative(ring: &SlotRing, bound: u64) -> Result<Self> {
        let half = (ring.modulus().value() - 1) / 2;
        Limits::at_most(half).with("which is (p - 1)/2").check("the bound of a comparison", bound)?;
        let function = Self::on_range(ring, -(bound as i64)..=bound as i64, |x| i64::from(x < 0))?;
        Ok(Self { name: format!("a comparison of integers that differ by at most {bound}"), ..function })
    }

    fn of_polynomial(name: String, modulus: PrimePower, coefficients: &[u64], indicator: bool) -> Self {
        let centred: Vec<i64> = coefficients.iter().map(|&c| modulus.centred(c)).collect();
        Self { name, prime: modulus.value(), polynomial: PolynomialPlan::new(&centred), indicator }
    }

    /// What it is, in words.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Products of ciphertexts, squares included.
    pub fn products(&self) -> usize {
        self.polynomial.products() + self.power().map_or(0, |power| power.products())
    }

    /// Products in sequence.
    pub fn depth(&self) -> usize {
        self.polynomial.depth() + self.power().map_or(0, |power| power.depth())
    }

    /// Whether 0 goes to 0.
    pub fn keeps_zero(&self) -> bool {
        self.polynomial.keeps_zero() != self.indicator
    }

    fn power(&self) -> Option<Power> {
        self.indicator.then_some(Power { exponent: self.prime - 1 })
    }

    /// The value of the function in every slot.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for an evaluator of another plaintext modulus;
    /// [`Error::NotIntegers`] for slots that are not known to hold integers; what the evaluator
    /// reports.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let modulus = evaluator.slot_ring().modulus();
        if modulus.value() != self.prime {
            return Err(Error::ContextMismatch {
                operation: "function of slots",
                left: format!("a function modulo {}", self.prime),
                right: format!("slots modulo {}", modulus.value()),
            });
        }
        check_integers(&self.name, evaluator, [x])?;
        let value = self.polynomial.apply(evaluator, x)?;
        let Some(power) = self.power() else { return Ok(value) };
        let power = evaluator.negate(&power.apply(evaluator, &value)?)?;
        evaluator.add_plain(&power, &Plaintext::one(evaluator.slot_ring()))
    }
}

/// Refuses slots that are not known to hold integers.
///
/// # Errors
/// [`Error::NotIntegers`].
pub(crate) fn check_integers<'a, E: Switching + 'a>(
    circuit: &str,
    evaluator: &E,
    inputs: impl IntoIterator<Item = &'a E::Ciphertext>,
) -> Result<()> {
    match inputs.into_iter().all(|x| evaluator.content(x) == Content::Integers) {
        true => Ok(()),
        false => Err(Error::NotIntegers { circuit: circuit.to_owned() }),
    }
}

/// # Errors
/// [`Error::Unplannable`] where r > 1.
fn prime_modulus(ring: &SlotRing) -> Result<PrimePower> {
    let modulus = ring.modulus();
    if modulus.exponent() == 1 {
        return Ok(modulus);
    }
    let reason = format!("most functions modulo {}^{} are not polynomials", modulus.prime(), modulus.exponent());
    Err(Error::Unplannable { strategy: "interpolation".into(), reason })
}

/// Refuses tables over all residues where these are too many.
fn check_table(modulus: PrimePower) -> Result<()> {
    let limits = Limits::at_most(MAX_DEGREE).with("for a table over all residues");
    Ok(limits.check("the plaintext modulus", modulus.value())?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass_ring::kernels::arith;

    use super::*;
    use windlass_schemes::schemes::clear::Clear;

    #[test]
    fn powers_have_the_depth_and_the_products_that_they_state() {
        for exponent in (1..1200).chain([65_535, 65_536, 131_070]) {
            let power = Power::new(exponent).unwrap();
            let products = std::cell::Cell::new(0);
            let count = |depth| {
                products.set(products.get() + 1);
                Ok(depth + 1)
            };
            let depth = power.raise(&0usize, |a| count(*a), |a, b| count(*a.max(b))).unwrap();
            assert_eq!((depth, products.get()), (power.depth(), power.products()), "x^{exponent}");
        }
    }

    #[test]
    fn what_would_take_forever_is_refused() {
        let p = (1u64 << 40..).find(|&p| p % 64 == 1 && arith::is_prime(p)).unwrap();
        let ring = SlotRing::new(64, p, 1, windlass_ring::kernels::Isa::Portable).unwrap();
        assert!(matches!(SlotFunction::from_table(&ring, &[0, 1]), Err(Error::OutOfRange(_))));
        assert!(matches!(SlotFunction::on_range(&ring, 0..=1 << 30, |x| x), Err(Error::OutOfRange(_))));
        assert!(matches!(SlotFunction::on_range(&ring, i64::MIN..=i64::MAX, |x| x), Err(Error::OutOfRange(_))));
        assert!(matches!(SlotFunction::is_negative(&ring, 1 << 20), Err(Error::OutOfRange(_))));
        let list: Vec<u64> = (0..5000).collect();
        assert!(matches!(SlotFunction::contains(&ring, &list), Err(Error::OutOfRange(_))));
        assert!(SlotFunction::contains(&ring, &list[..20]).is_ok() && SlotFunction::is_zero(&ring).is_ok());
    }

    #[test]
    fn long_ranges_are_tables() {
        let ring = Arc::new(SlotRing::new(16, 8209, 1, windlass_ring::kernels::Isa::Portable).unwrap());
        let square = SlotFunction::on_range(&ring, -2500..=2500, |x| x * x).unwrap();
        let clear = Clear::new(&ring);
        let x = clear.encrypt(&Plaintext::from_integers(&ring, &[-2500, 1234]).unwrap()).unwrap();
        let values = square.apply(&clear, &x).unwrap().plaintext().to_integers().unwrap();
        assert_eq!(values[..2], [2500 * 2500 % 8209, 1234 * 1234 % 8209]);
    }
}
