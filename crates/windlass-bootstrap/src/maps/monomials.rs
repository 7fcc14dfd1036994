//! Splits elements of the slots into their coefficients with monomials, for powers of two.
//!
//! Packed bootstrapping removes digits of integers, so it first splits an element of degree d into
//! its d coefficients. The usual way takes linear maps with constants, and products with constants
//! spend capacity. For powers of two monomials suffice. Let the automorphism θ fix A and B and negate
//! X^s. Then x = A + X^s·B has
//!
//! ```text
//! x + θ(x) = 2A,   X^{−s}·(x − θ(x)) = 2B.
//! ```
//!
//! A split takes one key switch if its key exists. A product with a monomial adds no noise. log2 d
//! levels of splits give the d coefficients, each times d.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_circuits::LinearMap;
use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;
use windlass_schemes::plaintext::Plaintext;

use super::merge::{Runs, merge};
use super::radix2::{Butterflies, Radix2};
use super::transform::{SlotTransform, StageSupports, Stages, supports};

/// With θ = θ_element and s = `shift`: `A + X^s·B ↦ (x + θ(x), X^{−s}·(x − θ(x))) = (2A, 2B)` where
/// θ fixes A and B, and θ(X^s) = −X^s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// The exponent of the automorphism.
    pub element: u64,
    /// The automorphisms that make it up, one after the other: itself, or others that have keys.
    pub route: Vec<u64>,
    /// s.
    pub shift: u64,
}

impl Split {
    fn new(element: u64, shift: u64) -> Self {
        Self { element, route: vec![element], shift }
    }

    /// The same by powers of the Frobenius map that have keys: the fewest whose product is
    /// θ_element. The element itself if there are no such powers.
    pub fn by_keys(self, (m, p): (u64, u64), keys: &BTreeSet<u64>) -> Self {
        let powers = std::iter::successors(Some(p % m), |t| Some(t * p % m)).take_while(|&t| t != 1);
        let keys: Vec<u64> = powers.filter(|t| keys.contains(t)).collect();
        let route = shortest_product(self.element, m, &keys).unwrap_or_else(|| vec![self.element]);
        Self { route, ..self }
    }

    /// X^{−s} = −X^{n−s}, over the ring of `slot_ring`.
    pub fn down(&self, slot_ring: &Arc<SlotRing>) -> Result<Plaintext> {
        let quotient = slot_ring.quotient();
        monomial(slot_ring, quotient.n() as u64 - self.shift, quotient.modulus().value() - 1)
    }

    /// X^s.
    pub fn up(&self, slot_ring: &Arc<SlotRing>) -> Result<Plaintext> {
        monomial(slot_ring, self.shift, 1)
    }
}

/// The fewest of `keys` with this product modulo m, found breadth first among all products.
fn shortest_product(element: u64, m: u64, keys: &[u64]) -> Option<Vec<u64>> {
    let mut reached: BTreeMap<u64, Vec<u64>> = BTreeMap::from([(1 % m, Vec::new())]);
    let mut next = vec![1 % m];
    while !next.is_empty() && !reached.contains_key(&element) {
        let mut further = Vec::new();
        for from in next {
            for &key in keys {
                let to = from * key % m;
                if !reached.contains_key(&to) {
                    let route = [&reached[&from][..], &[key]].concat();
                    reached.insert(to, route);
                    further.push(to);
                }
            }
        }
        next = further;
    }
    reached.remove(&element)
}

fn monomial(slot_ring: &Arc<SlotRing>, power: u64, factor: u64) -> Result<Plaintext> {
    let mut coefficients = vec![0; slot_ring.n()];
    coefficients[power as usize] = factor;
    Plaintext::new(slot_ring, coefficients)
}

/// The splits from `Σ_k X^k·A_k(Y)` to the A_k, and those of elements of F in the slots into
/// integers, both from first to last.
///
/// p ≡ 1 mod 4: X^{2^j} ↦ −X^{2^j} for 2^j < d, by t = 1 + n/2^j. p ≡ 3 mod 4: for 2^j < d/2; then
/// √−1 = X^{n/2} ↦ −√−1 by the Frobenius map. All of them together multiply by d.
pub(crate) fn splits(m: u64, p: u64) -> [Vec<Split>; 2] {
    let (n, d) = (m / 2, arith::multiplicative_order(p % m, m));
    let in_slots = p % 4 == 3;
    let span = if in_slots { d / 2 } else { d };
    let elements = (0..span.trailing_zeros()).map(|j| Split::new(1 + (n >> j), 1 << j)).collect();
    let slots = if in_slots { vec![Split::new(p % m, n / 2)] } else { Vec::new() };
    [elements, slots]
}

/// From `Σ_k X^k·A_k(Y)` to `Σ_k X^k·(the coefficients of A_k in the slots)/d`, all A_k at once,
/// first stage first.
pub(crate) fn together_to_slots(slot_ring: &Arc<SlotRing>, runs: &Runs) -> Result<Vec<LinearMap>> {
    merge(on_parts(slot_ring, Radix2.interpolation(slot_ring)?)?, runs, None)
}

/// From `Σ_k X^k·(the coefficients of A_k in the slots)` to `Σ_k X^k·A_k(Y)`, first stage first.
pub(crate) fn together_to_coefficients(slot_ring: &Arc<SlotRing>, runs: &Runs) -> Result<Vec<LinearMap>> {
    merge(on_parts(slot_ring, Radix2.evaluation(slot_ring)?)?, runs, None)
}

/// The automorphisms of the stages of [`together_to_coefficients`] and [`together_to_slots`].
pub(crate) fn together_supports(slot_ring: &Arc<SlotRing>) -> Result<[StageSupports; 2]> {
    let beside = || Some(Butterflies::new(slot_ring).in_slots_support());
    let of = |stages: Stages| StageSupports { first: beside(), merged: supports(&stages.merged), last: beside() };
    Ok([of(Radix2.evaluation(slot_ring)?), of(Radix2.interpolation(slot_ring)?)])
}

/// Stages of the A_k, done with `Σ_k X^k·A_k`: X^k is ζ^k in every slot while they are.
fn on_parts(slot_ring: &Arc<SlotRing>, stages: Stages) -> Result<Stages> {
    let butterflies = Butterflies::new(slot_ring);
    let Stages { first, merged, .. } = stages;
    let in_slots = butterflies.in_slots(true);
    // A single slot has no stages, but a factor.
    let first = first.map_or_else(|| Ok(in_slots.clone()), |factor| factor.compose(&in_slots))?;
    Ok(Stages { first: Some(first), merged, last: Some(butterflies.in_slots(false)) })
}
