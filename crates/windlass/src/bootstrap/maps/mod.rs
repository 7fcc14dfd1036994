//! The maps between slots and coefficients, as products of sparse stages.
//!
//! *Thin*: integers a_i in the ℓ slots go to `Σ a_i·b_i`, ℓ elements b_i of the powerful basis, and from any element `Σ_j a_j·b_j` the ℓ
//! coefficients of those b_i come back to the slots. With `V_{ij} = b_j(ζ^{u_i})` the first map is V, E-linear on thin plaintexts; with the
//! dual basis `K_{ji} = b_j^*(ζ^{u_i})` the second is `Tr_E ∘ K` (Halevi–Shoup 2018, §8). Both split into one-dimensional stages.

mod monomials;
mod packing;
mod radix2;
mod slot_map;
mod tensor;

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::kernels::{Isa, arith};
use windlass_ring::slots::{Hypercube, SlotRing};

use crate::circuits::LinearMap;
use crate::error::{Error, Result};
pub(crate) use monomials::{Split, splits, together_to_coefficients, together_to_slots};
pub(crate) use packing::Packing;
use radix2::Butterflies;
use slot_map::SlotMap;
use tensor::Factors;

/// The hypercube that the evaluation maps are made for: one dimension for each factor of m, or ⟨5⟩ and ⟨−1⟩ for powers of two.
///
/// # Errors
/// [`Error::Unplannable`] when m has no factorisation of the kind that Halevi–Shoup 2015, §4.2, asks for.
pub fn evaluation_hypercube(m: u64, p: u64) -> Result<Hypercube> {
    if m.is_power_of_two() { radix2::hypercube(m, p) } else { Factors::choose(m, p)?.hypercube(p) }
}

/// R/(p^r) over [`evaluation_hypercube`].
pub(crate) fn evaluation_ring(m: u64, p: u64, r: u32) -> Result<Arc<SlotRing>> {
    Ok(Arc::new(SlotRing::with_hypercube(evaluation_hypercube(m, p)?, r, Isa::best())?))
}

/// How many elementary stages there are: what a partition is a partition of.
pub fn stage_count(m: u64, p: u64) -> Result<usize> {
    if m.is_power_of_two() {
        let slots = m / 2 / arith::multiplicative_order(p % m, m);
        return Ok(slots.trailing_zeros() as usize);
    }
    Ok(Factors::choose(m, p)?.list.iter().filter(|factor| factor.size > 1).count())
}

/// The automorphisms of each elementary stage of the thin map to the coefficients, first stage first.
pub(crate) fn stage_supports(slots: &Arc<SlotRing>) -> Result<Vec<BTreeSet<u64>>> {
    Ok(elementary_stages(slots)?.iter().map(SlotMap::support).collect())
}

/// The thin map from slots to coefficients, first stage first; `ends` says after which elementary stages a merged one ends, ascending, the last
/// being [`stage_count`].
pub(crate) fn thin_to_coefficients(slots: &Arc<SlotRing>, ends: &[usize]) -> Result<Vec<LinearMap>> {
    merge(elementary_stages(slots)?, ends)
}

fn elementary_stages(slots: &Arc<SlotRing>) -> Result<Vec<SlotMap>> {
    let (m, p) = (slots.quotient().m(), slots.hypercube().prime());
    let stages: Vec<SlotMap> = if m.is_power_of_two() {
        let butterflies = Butterflies::new(slots);
        (0..butterflies.count()).map(|k| butterflies.evaluation(k)).collect()
    } else {
        let factors = Factors::choose(m, p)?;
        (0..factors.list.len()).filter(|&s| factors.list[s].size > 1).map(|s| factors.evaluation(slots, s)).collect()
    };
    Ok(stages)
}

/// The thin map from coefficients to slots without its trace, first stage first; the partition counts from the side of the coefficients.
pub(crate) fn thin_to_slots(slots: &Arc<SlotRing>, ends: &[usize]) -> Result<Vec<LinearMap>> {
    let (m, p, modulus) = (slots.quotient().m(), slots.hypercube().prime(), slots.quotient().modulus());
    if m.is_power_of_two() {
        let butterflies = Butterflies::new(slots);
        let last = butterflies.count().saturating_sub(1);
        // 1/n = 1/ℓ of the transform times 1/d of the trace, in the first stage.
        let inverse = modulus.inv(modulus.reduce(m / 2)).expect("p is odd");
        let stages: Vec<SlotMap> = (0..butterflies.count())
            .rev()
            .map(|k| butterflies.interpolation(k, if k == last { inverse } else { 1 }))
            .collect();
        if stages.is_empty() {
            let scale = crate::Plaintext::scalar(slots, modulus.centred(inverse));
            return Ok(vec![LinearMap::diagonal(&scale)]);
        }
        return merge(stages, ends);
    }
    let factors = Factors::choose(m, p)?;
    let mut stages: Vec<SlotMap> = Vec::new();
    let mut ends = ends.to_vec();
    for s in (0..factors.list.len()).rev() {
        stages.push(factors.interpolation(slots, s));
        if factors.list[s].size == 1 {
            // A factor with one slot still multiplies by its dual: merged into the stage beside it.
            let at = stages.len() - 1;
            ends.iter_mut().filter(|end| **end >= at).for_each(|end| *end += 1);
        }
    }
    merge(stages, &ends)
}

/// How many of the elementary stages a packed map has beside the one inside or along the first factor.
pub(crate) fn packed_stage_count(m: u64, p: u64) -> Result<usize> {
    if m.is_power_of_two() { stage_count(m, p) } else { Ok(Factors::choose(m, p)?.list.len() - 1) }
}

/// From slots `Σ_i c_i·ε_i` (ε of [`Packing::repacked`]) to the element with these coefficients, first stage first.
pub(crate) fn packed_to_coefficients(slots: &Arc<SlotRing>, ends: &[usize]) -> Result<Vec<LinearMap>> {
    let (m, p) = (slots.quotient().m(), slots.hypercube().prime());
    if m.is_power_of_two() {
        let butterflies = Butterflies::new(slots);
        let mut maps = merge((0..butterflies.count()).map(|k| butterflies.evaluation(k)).collect(), ends)?;
        maps.push(butterflies.in_slots(false).to_linear_map()?);
        return Ok(maps);
    }
    let factors = Factors::choose(m, p)?;
    let mut maps = vec![factors.packed_evaluation(slots).to_linear_map()?];
    maps.extend(merge((1..factors.list.len()).map(|s| factors.evaluation(slots, s)).collect(), ends)?);
    Ok(maps)
}

/// From an element to slots `Σ_i c_i·η_i` (η of the packing) with its coefficients, first stage first.
pub(crate) fn packed_to_slots(slots: &Arc<SlotRing>, ends: &[usize], packing: &Packing) -> Result<Vec<LinearMap>> {
    let (m, p, modulus) = (slots.quotient().m(), slots.hypercube().prime(), slots.quotient().modulus());
    if m.is_power_of_two() {
        let butterflies = Butterflies::new(slots);
        let mut maps = vec![butterflies.in_slots(true).to_linear_map()?];
        let last = butterflies.count().saturating_sub(1);
        let inverse = modulus.inv(modulus.reduce(slots.slots() as u64)).expect("p is odd");
        let stages = (0..butterflies.count())
            .rev()
            .map(|k| butterflies.interpolation(k, if k == last { inverse } else { 1 }))
            .collect();
        maps.extend(merge(stages, ends)?);
        return Ok(maps);
    }
    let factors = Factors::choose(m, p)?;
    let stages = (1..factors.list.len()).rev().map(|s| factors.interpolation(slots, s)).collect();
    let mut maps = merge(stages, ends)?;
    maps.push(factors.packed_interpolation(slots, packing.basis()).to_linear_map()?);
    Ok(maps)
}

/// The trace E → Z_{p^e} as maps with all constants 1: for each group of prime factors of d of product at most 8, `Σ_{i<k} σ^{i·step}`.
pub(crate) fn trace_stages(slots: &Arc<SlotRing>) -> Result<Vec<LinearMap>> {
    let (m, p) = (slots.quotient().m(), slots.hypercube().prime());
    let mut groups: Vec<u64> = Vec::new();
    for (prime, exponent) in arith::factor(slots.degree() as u64) {
        for _ in 0..exponent {
            match groups.last_mut() {
                Some(group) if *group * prime <= 4 => *group *= prime,
                _ => groups.push(prime),
            }
        }
    }
    let one = crate::Plaintext::one(slots);
    let mut step = 1u64;
    groups
        .into_iter()
        .map(|size| {
            let terms = (0..size).map(|i| (arith::pow_mod(p % m, i * step, m), one.clone()));
            let map = LinearMap::from_terms(slots, terms);
            step *= size;
            map
        })
        .collect()
}

/// Composes runs of stages (first stage first).
fn merge(stages: Vec<SlotMap>, ends: &[usize]) -> Result<Vec<LinearMap>> {
    if ends.last().copied().unwrap_or(0) != stages.len() || ends.windows(2).any(|pair| pair[0] >= pair[1]) {
        let range = format!("ascending and end with {}, the number of elementary stages", stages.len());
        return Err(Error::OutOfRange {
            what: "the last entry of the partition",
            got: ends.last().map_or(0, |&end| end as i64),
            range,
        });
    }
    let mut merged = Vec::new();
    let mut stages = stages.into_iter();
    let mut done = 0;
    for &end in ends {
        let mut run = stages.by_ref().take(end - done);
        let first = run.next().expect("the partition ascends");
        merged.push(run.fold(first, |product, stage| stage.compose(&product)).to_linear_map()?);
        done = end;
    }
    Ok(merged)
}

#[cfg(test)]
mod tests;
