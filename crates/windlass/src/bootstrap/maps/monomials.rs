//! Powers of two: splitting elements into elements of a subring by automorphisms and monomials,
//! without constants.

use std::sync::Arc;

use windlass_ring::kernels::arith;
use windlass_ring::slots::SlotRing;

use super::merge::merge;
use super::radix2::{Butterflies, Radix2};
use super::transform::SlotTransform;
use crate::circuits::LinearMap;
use crate::error::Result;
use crate::plaintext::Plaintext;

/// With θ = θ_element and s = `shift`: `A + X^s·B ↦ (x + θ(x), X^{−s}·(x − θ(x))) = (2A, 2B)` where
/// θ fixes A and B, and θ(X^s) = −X^s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// The exponent of the automorphism.
    pub element: u64,
    /// s.
    pub shift: u64,
}

impl Split {
    /// X^{−s} = −X^{n−s}, over the ring of `slots`.
    pub fn down(&self, slots: &Arc<SlotRing>) -> Result<Plaintext> {
        let quotient = slots.quotient();
        monomial(slots, quotient.n() as u64 - self.shift, quotient.modulus().value() - 1)
    }

    /// X^s.
    pub fn up(&self, slots: &Arc<SlotRing>) -> Result<Plaintext> {
        monomial(slots, self.shift, 1)
    }
}

fn monomial(slots: &Arc<SlotRing>, power: u64, factor: u64) -> Result<Plaintext> {
    let mut coefficients = vec![0; slots.n()];
    coefficients[power as usize] = factor;
    Plaintext::new(slots, coefficients)
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
    let elements = (0..span.trailing_zeros()).map(|j| Split { element: 1 + (n >> j), shift: 1 << j }).collect();
    let slots = if in_slots { vec![Split { element: p % m, shift: n / 2 }] } else { Vec::new() };
    [elements, slots]
}

/// From `Σ_k X^k·A_k(Y)` to `Σ_k X^k·(the coefficients of A_k in the slots)/d`, all A_k at once,
/// first stage first.
pub(crate) fn together_to_slots(slots: &Arc<SlotRing>, ends: &[usize]) -> Result<Vec<LinearMap>> {
    on_parts(slots, merge(Radix2.interpolation(slots)?, ends, None)?)
}

/// From `Σ_k X^k·(the coefficients of A_k in the slots)` to `Σ_k X^k·A_k(Y)`, first stage first.
pub(crate) fn together_to_coefficients(slots: &Arc<SlotRing>, ends: &[usize]) -> Result<Vec<LinearMap>> {
    on_parts(slots, merge(Radix2.evaluation(slots)?, ends, None)?)
}

/// Maps of the A_k, done with `Σ_k X^k·A_k`: X^k is ζ^k in every slot while they are.
fn on_parts(slots: &Arc<SlotRing>, mut maps: Vec<LinearMap>) -> Result<Vec<LinearMap>> {
    let butterflies = Butterflies::new(slots);
    maps.insert(0, butterflies.in_slots(true).to_linear_map()?);
    maps.push(butterflies.in_slots(false).to_linear_map()?);
    Ok(maps)
}
