//! Functions of the integers in slots: powers, equality, membership, comparison, tables.
//!
//! Over a field of p elements every function is a polynomial. What a function costs is the degree
//! that it needs: an indicator is a power by Fermat's theorem, `1 − x^{p−1}` is 1 at 0 and 0
//! elsewhere; a table over all residues has degree up to p − 1; a table over k arguments that are
//! known beforehand needs no more than degree k − 1.

use std::ops::RangeInclusive;

use windlass_ring::kernels::arith;
use windlass_ring::slots::{PrimePower, SlotRing};

use windlass_rlwe::Limits;

use super::polynomial::{PolynomialPlan, product_of_many};
use crate::error::{Error, Result};
use crate::evaluator::Evaluator;
use crate::integer::Integer;
use crate::plaintext::{Content, Plaintext};

/// `x^e` in the least depth, ⌈log2 e⌉.
///
/// The squares `x^{2^i}` are made one after the other, and those that the binary digits of e name
/// are multiplied in a balanced tree: ⌊log2 e⌋ squares and one product for each further digit.
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

    /// `x^e`.
    ///
    /// # Errors
    /// What the evaluator reports.
    pub fn apply<E: Evaluator>(&self, evaluator: &E, x: &E::Ciphertext) -> Result<E::Ciphertext> {
        let mut factors = Vec::new();
        let mut square = x.clone();
        for digit in 0..=self.exponent.ilog2() {
            if digit > 0 {
                square = evaluator.square(&square)?;
            }
            if self.exponent >> digit & 1 == 1 {
                factors.push(square.clone());
            }
        }
        product_of_many(evaluator, &factors)
    }
}

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
    /// [`Error::Unplannable`] for a plaintext modulus that is no prime; [`Error::ShapeMismatch`]
    /// for more than p values.
    pub fn from_table<T: Integer>(ring: &SlotRing, values: &[T]) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        let p = modulus.value();
        if values.len() as u64 > p {
            let (what, expected) = ("values of a table (at most)", p as usize);
            return Err(Error::ShapeMismatch { what, expected, got: values.len() });
        }
        let mut residues: Vec<u64> = values.iter().map(|value| value.residue(modulus)).collect();
        residues.resize(p as usize, 0);
        let name = format!("a table over all residues modulo {p}");
        Ok(Self::of_polynomial(name, modulus, &interpolate_everywhere(modulus, &residues), false))
    }

    /// The function with `f(x)` at every x of a range, and anything elsewhere: for arguments that
    /// are known to lie there. The degree is below the length of the range.
    ///
    /// Cost: quadratic in the length of the range.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a plaintext modulus that is no prime; [`Error::OutOfRange`] for a
    /// range that is empty or longer than p.
    pub fn on_range<T: Integer>(ring: &SlotRing, range: RangeInclusive<i64>, f: impl Fn(i64) -> T) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        let length = (*range.end() as i128 - *range.start() as i128 + 1).max(0);
        let limits = Limits::between(1, modulus.value()).with("the plaintext modulus");
        limits.check("the length of the range of arguments", length.min(i128::from(u64::MAX)) as u64)?;
        let name = format!("a table over {length} arguments modulo {}", modulus.value());
        let points: Vec<(u64, u64)> = range.map(|x| (x.residue(modulus), f(x).residue(modulus))).collect();
        Ok(Self::of_polynomial(name, modulus, &interpolate(modulus, &points), false))
    }

    /// 1 where the slot is 0, and 0 elsewhere: `1 − x^{p−1}`. Two ciphertexts are equal where their
    /// difference is 0.
    ///
    /// # Errors
    /// [`Error::Unplannable`] for a plaintext modulus that is no prime.
    pub fn is_zero(ring: &SlotRing) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        Ok(Self::of_polynomial(format!("a test for zero modulo {}", modulus.value()), modulus, &[0, 1], true))
    }

    /// 1 where the slot is one of the listed integers, and 0 elsewhere: `1 − (Π (x − v))^{p−1}`.
    ///
    /// # Errors
    /// As [`Self::is_zero`].
    pub fn contains<T: Integer>(ring: &SlotRing, list: &[T]) -> Result<Self> {
        let modulus = prime_modulus(ring)?;
        let mut residues: Vec<u64> = list.iter().map(|value| value.residue(modulus)).collect();
        residues.sort_unstable();
        residues.dedup();
        let name = format!("membership in a list of {} modulo {}", residues.len(), modulus.value());
        // An indicator of long lists has a smaller degree than its power would have.
        let direct = residues.len() as u64 >= 2 * (modulus.value() as f64).sqrt() as u64;
        if direct {
            let holds = |x: u64| u64::from(residues.binary_search(&x).is_ok());
            let values: Vec<u64> = (0..modulus.value()).map(holds).collect();
            return Ok(Self::of_polynomial(name, modulus, &interpolate_everywhere(modulus, &values), false));
        }
        Ok(Self::of_polynomial(name, modulus, &with_roots(modulus, &residues), true))
    }

    /// 1 where `−bound ≤ x < 0` and 0 where `0 ≤ x ≤ bound`: the comparison `a < b` of integers
    /// that differ by no more than the bound is this function of `a − b`.
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
        let power = self.power().map_or(0, |power| power.exponent().next_power_of_two().ilog2() as usize);
        self.polynomial.depth() + power
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
        let modulus = evaluator.slots().modulus();
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
        evaluator.add_plain(&power, &Plaintext::one(evaluator.slots()))
    }
}

/// Refuses slots that are not known to hold integers. Errors: [`Error::NotIntegers`].
pub(in crate::circuits) fn check_integers<'a, E: Evaluator + 'a>(
    circuit: &str,
    evaluator: &E,
    inputs: impl IntoIterator<Item = &'a E::Ciphertext>,
) -> Result<()> {
    match inputs.into_iter().all(|x| evaluator.content(x) == Content::Integers) {
        true => Ok(()),
        false => Err(Error::NotIntegers { circuit: circuit.to_owned() }),
    }
}

/// Errors: [`Error::Unplannable`] where r > 1.
fn prime_modulus(ring: &SlotRing) -> Result<PrimePower> {
    let modulus = ring.modulus();
    if modulus.exponent() == 1 {
        return Ok(modulus);
    }
    let reason = format!("modulo {}^{} most functions are no polynomials", modulus.prime(), modulus.exponent());
    Err(Error::Unplannable { strategy: "interpolation".into(), reason })
}

/// Π (X − v), lowest coefficient first.
fn with_roots(modulus: PrimePower, roots: &[u64]) -> Vec<u64> {
    let mut product = vec![1];
    for &root in roots {
        product.push(0);
        for k in (0..product.len()).rev() {
            let below = if k > 0 { product[k - 1] } else { 0 };
            product[k] = modulus.sub(below, modulus.mul(root, product[k]));
        }
    }
    product
}

/// The polynomial of degree below k through k points, by Newton's divided differences.
fn interpolate(modulus: PrimePower, points: &[(u64, u64)]) -> Vec<u64> {
    let mut differences: Vec<u64> = points.iter().map(|&(_, value)| value).collect();
    for step in 1..points.len() {
        for k in (step..points.len()).rev() {
            let rise = modulus.sub(differences[k], differences[k - 1]);
            let run = modulus.sub(points[k].0, points[k - step].0);
            differences[k] = modulus.mul(rise, modulus.inv(run).expect("arguments differ modulo p"));
        }
    }
    // Horner's rule over the factors (X − x_k), from the last difference down.
    let mut polynomial: Vec<u64> = Vec::with_capacity(points.len());
    for (&(x, _), &difference) in points.iter().zip(&differences).rev() {
        polynomial.push(0);
        for k in (0..polynomial.len()).rev() {
            let below = if k > 0 { polynomial[k - 1] } else { difference };
            polynomial[k] = modulus.sub(below, modulus.mul(x, polynomial[k]));
        }
    }
    polynomial
}

/// The polynomial of degree below p with the given values at 0, .., p − 1.
///
/// Its coefficients are `c_0 = f(0)`, `c_k = −Σ_{a≠0} f(a)·a^{−k}` for 0 < k < p − 1 and
/// `c_{p−1} = −Σ_a f(a)`. With `a = g^i` for a generator g the sums are one discrete Fourier
/// transform of length p − 1 over the field itself.
fn interpolate_everywhere(modulus: PrimePower, values: &[u64]) -> Vec<u64> {
    let p = modulus.value();
    if p == 2 {
        return vec![values[0], modulus.sub(values[1], values[0])];
    }
    let generator = primitive_root(p);
    let mut argument = 1;
    let mut in_order = Vec::with_capacity(p as usize - 1);
    for _ in 1..p {
        in_order.push(values[argument as usize]);
        argument = modulus.mul(argument, generator);
    }
    let root = modulus.inv(generator).expect("a generator is a unit");
    let sums = fourier(modulus, &in_order, root);
    let mut coefficients: Vec<u64> = sums.iter().map(|&sum| modulus.neg(sum)).collect();
    coefficients.push(modulus.sub(coefficients[0], values[0]));
    coefficients[0] = values[0];
    coefficients
}

/// `Σ_i x_i·root^{ik}` for all k, by splitting off one prime factor of the length after the other
/// (Cooley–Tukey).
fn fourier(modulus: PrimePower, x: &[u64], root: u64) -> Vec<u64> {
    let length = x.len();
    let Some(&(radix, _)) = arith::factor(length as u64).first() else { return x.to_vec() };
    let (radix, rest) = (radix as usize, length / radix as usize);
    let outer = modulus.pow(root, radix as u64);
    let parts: Vec<Vec<u64>> = (0..radix)
        .map(|start| {
            let part: Vec<u64> = x[start..].iter().step_by(radix).copied().collect();
            fourier(modulus, &part, outer)
        })
        .collect();
    let mut out = Vec::with_capacity(length);
    let mut power = 1;
    for k in 0..length {
        // Horner's rule in root^k over the parts.
        let sum = parts.iter().rev().fold(0, |sum, part| modulus.add(modulus.mul(sum, power), part[k % rest]));
        out.push(sum);
        power = modulus.mul(power, root);
    }
    out
}

/// The least generator of the units modulo an odd prime.
fn primitive_root(p: u64) -> u64 {
    let factors = arith::factor(p - 1);
    let generates = |g: u64| factors.iter().all(|&(q, _)| arith::pow_mod(g, (p - 1) / q, p) != 1);
    (2..p).find(|&g| generates(g)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(modulus: PrimePower, polynomial: &[u64], x: u64) -> u64 {
        polynomial.iter().rev().fold(0, |sum, &c| modulus.add(modulus.mul(sum, x), c))
    }

    #[test]
    fn interpolation_meets_every_point() {
        for p in [2u64, 3, 5, 17, 31, 127, 257] {
            let modulus = PrimePower::new(p, 1).unwrap();
            let values: Vec<u64> = (0..p).map(|x| (x * x * 7 + x / 3 + 1) % p).collect();
            let everywhere = interpolate_everywhere(modulus, &values);
            let points: Vec<(u64, u64)> = (0..p).map(|x| (x, values[x as usize])).collect();
            let newton = interpolate(modulus, &points);
            assert_eq!(everywhere, newton, "p = {p}");
            for (x, &wanted) in (0..p).zip(&values) {
                assert_eq!(value(modulus, &everywhere, x), wanted, "p = {p}, x = {x}");
            }
            let few = interpolate(modulus, &points[..points.len().min(4)]);
            assert!(few.len() <= 4 && points.iter().take(4).all(|&(x, y)| value(modulus, &few, x) == y));
        }
    }

    #[test]
    fn roots_are_roots() {
        let modulus = PrimePower::new(31, 1).unwrap();
        let polynomial = with_roots(modulus, &[3, 7, 30]);
        for x in 0..31 {
            assert_eq!(value(modulus, &polynomial, x) == 0, [3, 7, 30].contains(&x));
        }
    }

    #[test]
    fn a_large_prime_takes_no_time() {
        let modulus = PrimePower::new(65537, 1).unwrap();
        let values: Vec<u64> = (0..65537).map(|x| x % 3).collect();
        let polynomial = interpolate_everywhere(modulus, &values);
        for x in [0, 1, 2, 255, 65535, 65536] {
            assert_eq!(value(modulus, &polynomial, x), x % 3);
        }
    }
}
