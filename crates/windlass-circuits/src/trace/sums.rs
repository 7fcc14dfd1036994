//! Functions that consist of sums over automorphisms.

use std::sync::Arc;

use num_complex::Complex64;
use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};
use windlass_schemes::evaluator::Evaluator;
use windlass_schemes::plaintext::Plaintext;

use super::chain::TraceChain;
use super::plan::TracePlan;
use crate::linear::{ComplexMap, ComplexSlots, LinearMap};

/// The value of one slot in all slots: a mask, then `total`, a plan of [`TraceChain::total`].
///
/// # Errors
/// [`Error::OutOfRange`] if there is no such slot; [`Error::ContextMismatch`] for a plan of
/// another sum; those of [`TracePlan::apply`] before any work is done; errors of the evaluator.
pub fn replicate<E: Evaluator>(
    evaluator: &E,
    total: &TracePlan,
    ciphertext: &E::Ciphertext,
    slot: usize,
) -> Result<E::Ciphertext> {
    let slots = evaluator.slot_ring();
    Limits::below(slots.slots()).check("the slot", slot)?;
    if *total.chain() != TraceChain::total(slots)? {
        let (left, right) = ("the sum of all slots of the evaluator".into(), "a plan of another sum".into());
        return Err(Error::ContextMismatch { operation: "replicate", left, right });
    }
    total.check("replicate", evaluator, ciphertext)?;
    let mut mask = vec![0; slots.slots()];
    mask[slot] = 1;
    let mask = evaluator.prepare(&Plaintext::from_integers(slots, &mask)?)?;
    total.apply(evaluator, &evaluator.multiply_constant(ciphertext, &mask)?)
}

/// Running sums along a dimension of size D, slot i becoming `Σ_{k≤i} x_k`, as a product of
/// `groups` maps to apply one after the other.
///
/// Map number g is `Σ_{k<r_g} shift by k·stride_g`, zeros moving in (shifts along one dimension
/// compose), with Π r_g ≥ D: one group is the whole lower triangle, ⌈log2 D⌉ groups are the
/// doubling of Halevi–Shoup 2014.
///
/// # Errors
/// [`Error::OutOfRange`] if there is no such dimension, or for a number of groups outside
/// 1..=⌈log2 D⌉.
pub fn running_sum_maps(slot_ring: &Arc<SlotRing>, dimension: usize, groups: usize) -> Result<Vec<LinearMap>> {
    let dimensions = slot_ring.hypercube().dimensions();
    Limits::below(dimensions.len()).check("the dimension", dimension)?;
    let line = &dimensions[dimension];
    shift_radices(line.size, groups)?
        .into_iter()
        .map(|(stride, radix)| {
            LinearMap::matmul_1d(slot_ring, dimension, |_, row, column| {
                u64::from(row >= column && (row - column) % stride == 0 && (row - column) / stride < radix)
            })
        })
        .collect()
}

/// Running sums of complex slots, slot i becoming `Σ_{k≤i} z_k`, as a product of `groups` maps: see
/// [`running_sum_maps`].
///
/// # Errors
/// [`Error::OutOfRange`] for a number of groups outside 1..=log2(slots).
pub fn complex_running_sum_maps(slots: &ComplexSlots, groups: usize) -> Result<Vec<ComplexMap>> {
    let count = slots.count();
    let map = |(stride, radix): (usize, usize)| {
        let term = |shift: usize| {
            let kept = |j: usize| Complex64::new(if j >= shift { 1.0 } else { 0.0 }, 0.0);
            (slots.turn(-(shift as i64), false), (0..count).map(kept).collect())
        };
        ComplexMap::from_terms(slots, (0..radix).map(|k| term(k * stride)))
    };
    shift_radices(count, groups)?.into_iter().map(map).collect()
}

/// Strides and radices of running sums over `size` places in `groups` groups of nearly equal
/// numbers of doublings.
fn shift_radices(size: usize, groups: usize) -> Result<Vec<(usize, usize)>> {
    let steps = size.next_power_of_two().trailing_zeros() as usize;
    Limits::between(1, steps.max(1)).check("the number of groups", groups)?;
    let mut radices = Vec::new();
    let mut done = 0;
    for group in 0..groups {
        let next = steps * (group + 1) / groups;
        radices.push((1 << done, 1 << (next - done)));
        done = next;
    }
    Ok(radices)
}
