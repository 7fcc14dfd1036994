//! Products of sums of powers of automorphisms.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result, check_same_order};
use windlass_schemes::switching::Switching;

use crate::slot_function::check_integers;

/// `Σ_{j<count} θ_element^j`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PowerSum {
    /// The unit t of θ_t modulo the conductor.
    pub element: u64,
    /// The number of terms, at least 2.
    pub count: u64,
}

/// The old name of [`PowerSum`].
#[deprecated(since = "0.3.0", note = "use PowerSum")]
pub type Factor = PowerSum;

/// `Π_i Σ_{j<c_i} θ_{t_i}^j` modulo a conductor m. The empty chain is the identity. Factors
/// commute: Z_m^* is abelian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceChain {
    conductor: u64,
    /// The order of the slots that it sums along, where its automorphisms depend on one.
    order: Option<Arc<Hypercube>>,
    /// Whether it sums along a bad dimension, where its automorphisms come back to the first slot
    /// by a power of Frobenius.
    needs_integers: bool,
    factors: Vec<PowerSum>,
}

impl TraceChain {
    /// The product of the given sums; factors with one term are left out.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a conductor of 0, a factor of no terms or more than 2^16;
    /// [`Error::Ring`] for an element that is not a unit.
    pub fn new(conductor: u64, factors: impl IntoIterator<Item = PowerSum>) -> Result<Self> {
        Limits::at_least(1).check("the conductor", conductor)?;
        let mut kept = Vec::new();
        for PowerSum { element, count } in factors {
            let element = element % conductor;
            if arith::gcd(element, conductor) != 1 {
                return Err(windlass_ring::RingError::NotAnAutomorphism { element, m: conductor }.into());
            }
            Limits::between(1, 1 << 16).check("the number of terms", count)?;
            if count > 1 {
                kept.push(PowerSum { element, count });
            }
        }
        Ok(Self { conductor, order: None, needs_integers: false, factors: kept })
    }

    /// `Σ_{j<count} θ_g^j`, one factor for each prime of `count`: for a power of two,
    /// rotate-and-add by doubling.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::OutOfRange`] for more than 2^32 terms.
    pub fn powers(conductor: u64, generator: u64, count: u64) -> Result<Self> {
        Limits::between(1, 1u64 << 32).check("the number of terms", count)?;
        if conductor == 0 {
            return Self::new(conductor, [PowerSum { element: generator, count }]);
        }
        let mut stride = 1;
        let factors = primes_of(count).into_iter().map(|prime| {
            let element = arith::pow_mod(generator % conductor, stride, conductor);
            stride *= prime;
            PowerSum { element, count: prime }
        });
        Self::new(conductor, factors.collect::<Vec<_>>())
    }

    /// This chain, then another: the product of both.
    ///
    /// # Errors
    /// [`Error::ContextMismatch`] for chains of different conductors, [`Error::OtherSlotOrder`] for
    /// dimensions of different hypercubes.
    pub fn then(mut self, other: &Self) -> Result<Self> {
        if self.conductor != other.conductor {
            return Err(Error::ContextMismatch {
                operation: "sums of automorphisms in sequence",
                left: format!("m = {}", self.conductor),
                right: format!("m = {}", other.conductor),
            });
        }
        if let (Some(ours), Some(theirs)) = (&self.order, &other.order) {
            check_same_order("sums of automorphisms in sequence", ours, theirs)?;
        }
        self.order = self.order.or_else(|| other.order.clone());
        self.needs_integers |= other.needs_integers;
        self.factors.extend_from_slice(&other.factors);
        Ok(self)
    }

    /// Sums along a dimension of size D: every slot becomes the sum of its hypercolumn.
    ///
    /// In a good dimension for slots of any kind; in a bad one for slots in Z_{p^r}, on which
    /// Frobenius acts trivially: see [`Self::needs_integers`] (else
    /// [`crate::LinearMap::matmul_1d`] with the all-ones matrix). Errors:
    /// [`Error::OutOfRange`] if there is no such dimension.
    pub fn dimension(slot_ring: &SlotRing, dimension: usize) -> Result<Self> {
        let dimensions = slot_ring.hypercube().dimensions();
        Limits::below(dimensions.len()).check("the dimension", dimension)?;
        let line = &dimensions[dimension];
        let chain = Self::powers(slot_ring.m(), line.generator, line.size as u64)?;
        Ok(Self { order: Some(Arc::clone(slot_ring.hypercube())), needs_integers: !line.good, ..chain })
    }

    /// Sums at a distance along a dimension: the slot with coordinate e becomes `Σ_{i<count}` of
    /// those with coordinates e + i·stride, as long as these lie on the line. In a good dimension, a
    /// sum that runs over the end continues at the start.
    ///
    /// **Warning.** In a bad dimension such a slot gets an unspecified value. No error is returned.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such dimension, or for no terms.
    pub fn window_along(slot_ring: &SlotRing, dimension: usize, stride: usize, count: usize) -> Result<Self> {
        Self::shifts_along(slot_ring, dimension, -(stride as i64), count)
    }

    /// Copies along a dimension: [`Self::window_along`] in the other direction. The slot with
    /// coordinate e becomes `Σ_{i<count}` of those with coordinates e − i·stride, as long as these
    /// lie on the line: a vector shorter than `stride`, with zeros in all other slots, is there
    /// `count` times.
    ///
    /// **Warning.** Slots beyond the vector that do not hold zeros are added to the copies. No
    /// error is returned.
    ///
    /// # Errors
    /// As [`Self::window_along`].
    pub fn copies_along(slot_ring: &SlotRing, dimension: usize, stride: usize, count: usize) -> Result<Self> {
        Self::shifts_along(slot_ring, dimension, stride as i64, count)
    }

    fn shifts_along(slot_ring: &SlotRing, dimension: usize, shift: i64, count: usize) -> Result<Self> {
        let cube = slot_ring.hypercube();
        Limits::below(cube.dimensions().len()).check("the dimension", dimension)?;
        let chain = Self::powers(slot_ring.m(), cube.generator_power(dimension, shift), count as u64)?;
        Ok(Self { order: Some(Arc::clone(cube)), ..chain })
    }

    /// Refuses an evaluator of another ring, or with another slot order where that matters, and a
    /// ciphertext that is not known to hold integers if the sum is correct only for integers.
    pub(super) fn check<E: Switching>(
        &self,
        operation: &'static str,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
    ) -> Result<()> {
        self.check_order(operation, evaluator)?;
        if self.needs_integers {
            check_integers("a sum along a bad dimension", evaluator, [ciphertext])
        } else {
            Ok(())
        }
    }

    fn check_order<E: Switching>(&self, operation: &'static str, evaluator: &E) -> Result<()> {
        if self.conductor != evaluator.conductor() {
            let [left, right] = [self.conductor, evaluator.conductor()].map(|m| format!("m = {m}"));
            return Err(Error::ContextMismatch { operation, left, right });
        }
        match (evaluator.slot_order(), &self.order) {
            (Some(theirs), Some(ours)) => check_same_order(operation, theirs, ours),
            _ => Ok(()),
        }
    }

    /// Total sums: every slot becomes the sum of all; for slots as in [`Self::dimension`].
    ///
    /// # Errors
    /// None for a valid slot ring.
    pub fn total(slot_ring: &SlotRing) -> Result<Self> {
        let start = Self::new(slot_ring.m(), [])?;
        (0..slot_ring.hypercube().dimensions().len())
            .try_fold(start, |chain, dimension| chain.then(&Self::dimension(slot_ring, dimension)?))
    }

    /// The trace `E → Z_{p^r}` on every slot: `Σ_{f<d} σ^f` (Halevi–Shoup 2018, §8).
    ///
    /// # Errors
    /// None for a valid slot ring.
    pub fn field_trace(slot_ring: &SlotRing) -> Result<Self> {
        Self::powers(slot_ring.m(), slot_ring.prime(), slot_ring.degree() as u64)
    }

    /// Coefficient selection (Chen–Han 2018, Appendix A.1): `Σ a_i·X^i` becomes step·Σ
    /// a_{i·step}·X^{i·step}, for powers of two m and step.
    ///
    /// log2 step sums of two, `1 + θ_t` with t = 1 + n/2^i: θ_t takes X^{2^i} to −X^{2^i} and fixes
    /// all powers of X^{2^{i+1}}. For p ≡ 1 mod 4 and step = d it is the sum that
    /// [`Self::field_trace`] is.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless m is a power of two from 4 on and step one up to n = m/2.
    pub fn coefficient_selection(m: u64, step: u64) -> Result<Self> {
        let powers = |what, got: u64, least: u64, most: u64| match got.is_power_of_two() {
            true => Limits::between(least, most).check(what, got),
            false => Err(Limits::between(least, most).with("a power of two").refuse(what, got)),
        };
        powers("the index of the ring", m, 4, 1 << 32)?;
        powers("the distance of selected coefficients", step, 1, m / 2)?;
        Self::new(m, (0..step.trailing_zeros()).map(|i| PowerSum { element: 1 + (m >> (i + 1)), count: 2 }))
    }

    /// Sums of `count` consecutive slots in a power-of-two ring whose rotation by one is θ_5
    /// (CKKS): slot j becomes `Σ_{i<count} x_{j + i·stride}`. With stride 1 and all slots: total
    /// sums. Over a matrix of C columns, row-major: row sums (in the first column) with stride 1
    /// and count C, column sums with stride C and the number of rows.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn window(conductor: u64, stride: u64, count: u64) -> Result<Self> {
        if conductor == 0 {
            return Self::new(0, []);
        }
        Self::powers(conductor, arith::pow_mod(5, stride, conductor), count)
    }

    /// Copies of a vector in a power-of-two ring whose rotation by one is θ_5 (CKKS):
    /// [`Self::window`] in the other direction. Slot j becomes `Σ_{i<count} x_{j − i·stride}`.
    ///
    /// **Warning.** Slots beyond the vector that do not hold zeros are added to the copies. No
    /// error is returned.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn copies(conductor: u64, stride: u64, count: u64) -> Result<Self> {
        // The order of 5 modulo a power of two m is m/4.
        let turn = (conductor / 4).max(1);
        Self::window(conductor, turn - stride % turn, count)
    }

    /// Whether it sums slots only where they hold integers: along a bad dimension of the hypercube.
    /// [`Error::NotIntegers`] refuses others.
    pub fn needs_integers(&self) -> bool {
        self.needs_integers
    }

    /// m.
    pub fn conductor(&self) -> u64 {
        self.conductor
    }

    /// The factors.
    pub fn factors(&self) -> &[PowerSum] {
        &self.factors
    }

    /// All products of terms of the factors in a range, with repetitions, the identity first.
    pub(super) fn products(&self, range: std::ops::Range<usize>) -> Vec<u64> {
        let mut products = vec![1];
        for factor in &self.factors[range] {
            let below = products.len();
            let mut power = 1;
            for _ in 1..factor.count {
                power = arith::mul_mod(power, factor.element, self.conductor);
                products.extend_from_within(..below);
                let start = products.len() - below;
                products[start..].iter_mut().for_each(|t| *t = arith::mul_mod(*t, power, self.conductor));
            }
        }
        products
    }

    /// The sum over all terms applied one factor after the other, one key switch for each term
    /// beyond the first: the reference, and the way with the fewest keys. `Σ_{j<c} θ^j v` is taken
    /// by Horner's rule.
    ///
    /// # Errors
    /// As [`super::TracePlan::apply`].
    pub fn sequential<E: Switching>(&self, evaluator: &E, ciphertext: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.check("sum of automorphisms", evaluator, ciphertext)?;
        let mut value: Option<E::Ciphertext> = None;
        for factor in &self.factors {
            let start = value.as_ref().unwrap_or(ciphertext);
            let mut sum: Option<E::Ciphertext> = None;
            for _ in 1..factor.count {
                let moved = evaluator.automorphism(sum.as_ref().unwrap_or(start), factor.element)?;
                sum = Some(evaluator.add(start, &moved)?);
            }
            value = sum;
        }
        Ok(value.unwrap_or_else(|| ciphertext.clone()))
    }

    /// The automorphisms that [`Self::sequential`] needs keys for.
    pub fn sequential_keys(&self) -> BTreeSet<u64> {
        self.factors.iter().map(|factor| factor.element).filter(|&t| t != 1).collect()
    }
}

/// The prime factors, ascending, with repetitions.
fn primes_of(mut count: u64) -> Vec<u64> {
    let mut primes = Vec::new();
    let mut prime = 2;
    while prime * prime <= count {
        while count.is_multiple_of(prime) {
            primes.push(prime);
            count /= prime;
        }
        prime += 1;
    }
    if count > 1 {
        primes.push(count);
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_all_powers() {
        for count in [1, 2, 7, 12, 30, 64] {
            let chain = TraceChain::powers(1009, 11, count).unwrap();
            let mut products = chain.products(0..chain.factors().len());
            let mut powers: Vec<u64> = (0..count).map(|j| arith::pow_mod(11, j, 1009)).collect();
            assert_eq!(products[0], 1);
            products.sort_unstable();
            powers.sort_unstable();
            assert_eq!(products, powers);
        }
    }

    #[test]
    fn malformed_chains_are_refused() {
        assert!(matches!(TraceChain::powers(32, 5, 0), Err(Error::OutOfRange { .. })));
        for empty in [TraceChain::powers(0, 5, 4), TraceChain::window(0, 1, 4), TraceChain::new(0, [])] {
            assert!(matches!(empty, Err(Error::OutOfRange(refused)) if refused.what == "the conductor"));
        }
        assert!(matches!(
            TraceChain::new(32, [3, 4].map(|element| PowerSum { element, count: 2 })),
            Err(Error::Ring(_))
        ));
        let other = TraceChain::powers(64, 5, 2).unwrap();
        assert!(matches!(TraceChain::powers(32, 5, 2).unwrap().then(&other), Err(Error::ContextMismatch { .. })));
    }
}
