//! Complex vectors as constants.

use std::sync::Arc;

use num_complex::Complex64;
use sha2::{Digest, Sha256};
use windlass_schemes::error::{Error, Result};
use windlass_schemes::schemes::ckks::CkksContext;

use super::axes::{Axes, Axis, inverse_mod};
use super::linear_map::LinearMap;
use super::representation::{Plannable, Representation};

/// Vectors of s complex slots of a CKKS context, s a divisor of n/2.
///
/// Automorphisms are rotations (t = 5^r: slot j becomes slot j + r), conjugation (t = −1), and
/// their products.
#[derive(Debug, Clone)]
pub struct ComplexSlots {
    context: Arc<CkksContext>,
    count: usize,
    is_centred: bool,
}

/// A map on vectors of complex slots. Every R-linear map on C^s has exactly one such form with
/// rotations below s.
pub type ComplexMap = LinearMap<ComplexSlots>;

impl ComplexSlots {
    /// `count` slots.
    ///
    /// # Errors
    /// [`Error::SlotCount`].
    pub fn new(context: &Arc<CkksContext>, count: usize) -> Result<Self> {
        context.check_slots(count)?;
        Ok(Self { context: Arc::clone(context), count, is_centred: false })
    }

    /// The same slots, with rotations by −s/2 + 1 to s/2 instead of 0 to s − 1: neighbours on both
    /// sides are then near each other for a plan with few keys. For s = n/2 they are the same.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[doc(hidden)]
    pub fn centred(context: &Arc<CkksContext>, count: usize) -> Result<Self> {
        Ok(Self { is_centred: true, ..Self::new(context, count)? })
    }

    /// The parameters.
    pub fn context(&self) -> &Arc<CkksContext> {
        &self.context
    }

    /// The number of slots.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The automorphism that rotates by `amount` (slot j takes slot j + amount), then conjugates if
    /// asked for.
    pub fn turn(&self, amount: i64, conjugate: bool) -> u64 {
        let (count, amount) = (self.count as i64, amount.rem_euclid(self.count as i64));
        let amount = if self.is_centred && 2 * amount > count { amount - count } else { amount };
        let rotation = self.context.rotation_element(amount);
        if conjugate { self.conductor() - rotation } else { rotation }
    }

    /// What θ_t does: (rotation, conjugation). Modulo 4, powers of 5 are 1 and their negatives 3.
    pub(super) fn rotation(&self, t: u64) -> (usize, bool) {
        let m = self.conductor();
        let conjugate = t % 4 == 3;
        let power = if conjugate { m - t } else { t };
        (logarithm(power, m) % self.count, conjugate)
    }
}

/// r below m/4 with 5^r ≡ power, for a power of two m: bit by bit, as `5^{2^i} ≡ 1 + 2^{i+2} (mod
/// 2^{i+3})`.
fn logarithm(power: u64, m: u64) -> usize {
    let (mut rest, mut square, mut r) = (power % m, 5 % m, 0);
    for bit in 0..m.ilog2().saturating_sub(2) {
        if rest % (1 << (bit + 3)) != 1 {
            rest = rest * inverse_mod(square, m) % m;
            r |= 1 << bit;
        }
        square = square * square % m;
    }
    r
}

impl Representation for ComplexSlots {
    type Constant = Vec<Complex64>;

    fn conductor(&self) -> u64 {
        2 * self.context.spec().n as u64
    }

    /// Rotations by multiples of the number of slots do nothing.
    fn element(&self, t: u64) -> Result<u64> {
        let (m, t) = (self.conductor(), t % self.conductor());
        if t.is_multiple_of(2) {
            return Err(windlass_ring::RingError::NotAnAutomorphism { element: t, m }.into());
        }
        let (amount, conjugate) = self.rotation(t);
        Ok(self.turn(amount as i64, conjugate))
    }

    fn check_same(&self, other: &Self, operation: &'static str) -> Result<()> {
        let same_context = Arc::ptr_eq(&self.context, &other.context) || self.context.spec() == other.context.spec();
        if same_context && (self.count, self.is_centred) == (other.count, other.is_centred) {
            return Ok(());
        }
        Err(Error::ContextMismatch { operation, left: self.describe(), right: other.describe() })
    }

    fn check(&self, constant: &Vec<Complex64>, _: &'static str) -> Result<()> {
        if constant.len() != self.count {
            return Err(Error::ShapeMismatch { what: "slots", expected: self.count, got: constant.len() });
        }
        self.context.check_values(constant, f64::INFINITY)
    }

    fn zero(&self) -> Vec<Complex64> {
        vec![Complex64::ZERO; self.count]
    }

    fn one(&self) -> Vec<Complex64> {
        vec![Complex64::ONE; self.count]
    }

    fn is_zero(&self, constant: &Vec<Complex64>) -> bool {
        constant.iter().all(|&z| z == Complex64::ZERO)
    }

    fn add_assign(&self, a: &mut Vec<Complex64>, b: &Vec<Complex64>) -> Result<()> {
        a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
        self.context.check_values(a, f64::INFINITY)
    }

    fn multiply(&self, a: &Vec<Complex64>, b: &Vec<Complex64>) -> Result<Vec<Complex64>> {
        let product: Vec<Complex64> = a.iter().zip(b).map(|(x, y)| x * y).collect();
        self.context.check_values(&product, f64::INFINITY)?;
        Ok(product)
    }

    fn automorphism(&self, a: &Vec<Complex64>, t: u64) -> Result<Vec<Complex64>> {
        let (amount, conjugate) = self.rotation(t);
        let at = |j: usize| a[(j + amount) % a.len()];
        Ok((0..a.len()).map(|j| if conjugate { at(j).conj() } else { at(j) }).collect())
    }
}

impl Plannable for ComplexSlots {
    type Packed = Vec<Complex64>;

    fn axes(&self) -> Axes {
        let m = self.conductor();
        let rotations = Axis { generator: 5, size: self.context.most_slots(), frobenius: false };
        Axes::new(m, vec![rotations, Axis { generator: m - 1, size: 2, frobenius: true }])
    }

    /// Never: a product with 1 changes the scale, and all terms of a sum need the same.
    fn is_one(&self, _: &Vec<Complex64>) -> bool {
        false
    }

    /// The largest magnitude.
    fn norm(&self, constant: &Vec<Complex64>) -> f64 {
        constant.iter().map(|z| z.norm()).fold(0.0, f64::max)
    }

    fn pack(&self, constant: Vec<Complex64>) -> Vec<Complex64> {
        constant
    }

    fn unpack(&self, packed: &Vec<Complex64>) -> Result<Vec<Complex64>> {
        Ok(packed.clone())
    }

    fn digest(&self, constant: &Vec<Complex64>) -> [u8; 32] {
        let mut hash = Sha256::new();
        for z in constant {
            hash.update(z.re.to_le_bytes());
            hash.update(z.im.to_le_bytes());
        }
        hash.finalize().into()
    }

    fn packed_bytes(&self, packed: &Vec<Complex64>) -> usize {
        size_of_val(packed.as_slice())
    }

    fn describe(&self) -> String {
        format!("{} complex slots, n = {}", self.count, self.context.spec().n)
    }
}

#[cfg(test)]
mod tests {
    use super::logarithm;

    #[test]
    fn logarithms_of_powers_of_five() {
        for m in [8u64, 16, 1 << 17] {
            let mut power = 1;
            for r in 0..(m as usize / 4).min(500) {
                assert_eq!(logarithm(power, m), r);
                power = power * 5 % m;
            }
        }
    }
}
