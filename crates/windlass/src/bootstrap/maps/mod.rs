//! The maps between slots and coefficients, as products of sparse stages.
//!
//! *Thin*: integers a_i in the ℓ slots go to `Σ a_i·b_i`, ℓ elements b_i of the powerful basis, and
//! from any element `Σ_j a_j·b_j` the ℓ coefficients of those b_i come back to the slots. With
//! `V_{ij} = b_j(ζ^{u_i})` the first map is V, E-linear on thin plaintexts; with the dual basis
//! `K_{ji} = b_j^*(ζ^{u_i})` the second is `Tr_E ∘ K` (Halevi–Shoup 2018, §8). Both split into
//! one-dimensional stages.

mod bruun;
mod monomials;
mod packing;
mod radix2;
mod slot_map;
mod tensor;

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_ring::kernels::{Isa, arith};
use windlass_ring::slots::{Hypercube, SlotRing};

use super::error::BootstrapError;
use super::spec::Transform;
use crate::circuits::LinearMap;
use crate::error::Result;
use bruun::Trinomials;
pub(crate) use monomials::{Split, splits, together_to_coefficients, together_to_slots};
pub(crate) use packing::Packing;
use radix2::Butterflies;
pub(crate) use slot_map::Fixed;
use slot_map::SlotMap;
use tensor::Factors;

/// The hypercube that the evaluation maps are made for: one dimension for each factor of m, or ⟨5⟩
/// and ⟨−1⟩ for powers of two.
///
/// # Errors
/// [`crate::Error::Unplannable`] when m has no factorisation of the kind that Halevi–Shoup 2015,
/// §4.2, asks for.
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

/// How the maps are split into elementary stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factoring {
    /// One stage for each factor of a composite m.
    Tensor,
    /// Powers of two: log2 ℓ stages over Z_{p^r}\[Y\], three diagonals each.
    Radix2,
    /// Powers of two and p ≡ 3 mod 4: log2 ℓ − 1 stages over Z_{p^r}, six or seven diagonals each,
    /// and one over its extension.
    Bruun,
}

impl Factoring {
    /// What the transform that was asked for leaves to choose.
    ///
    /// # Errors
    /// [`BootstrapError::Unsupported`] for a transform that m and p do not have.
    pub fn choices(m: u64, p: u64, transform: Transform) -> Result<Vec<Self>> {
        let refuse = |name, needs| {
            let what = format!("{name} stages need {needs}, not m = {m} and p = {p}; use Transform::Automatic");
            Err(BootstrapError::Unsupported { what }.into())
        };
        let power = m.is_power_of_two();
        let bruun = power && p % 4 == 3 && stage_count(m, p)? > 0;
        match transform {
            Transform::Automatic if !power => Ok(vec![Self::Tensor]),
            Transform::Automatic if bruun => Ok(vec![Self::Radix2, Self::Bruun]),
            Transform::Automatic => Ok(vec![Self::Radix2]),
            Transform::Radix2 if !power => refuse("radix-2", "m a power of two"),
            Transform::Radix2 => Ok(vec![Self::Radix2]),
            Transform::Bruun if !bruun => refuse("Bruun's", "m a power of two, p = 3 modulo 4 and two slots"),
            Transform::Bruun => Ok(vec![Self::Bruun]),
        }
    }

    /// Of thin maps for powers of two: the slots hold integers, or elements of Z_{p^r}\[Y\], so
    /// that automorphisms count up to σ or σ² only.
    pub fn fixed(self, slots: &Arc<SlotRing>) -> Option<Fixed> {
        let step = if slots.prime() % 4 == 1 { 1 } else { 2 };
        (self != Self::Tensor).then(|| Fixed::new(slots, step))
    }
}

/// The automorphisms of each elementary stage of the maps that [`thin_to_coefficients`] and
/// [`thin_to_slots`] merge, first stage first.
pub(crate) fn thin_supports(slots: &Arc<SlotRing>, factoring: Factoring) -> Result<[Vec<BTreeSet<u64>>; 2]> {
    let support = |stage: &SlotMap| stage.support().into_iter().collect();
    let supports = |stages: Vec<SlotMap>| stages.iter().map(support).collect::<Vec<BTreeSet<u64>>>();
    if factoring == Factoring::Tensor {
        let there = supports(evaluation_stages(slots, factoring)?);
        return Ok([there.clone(), there.into_iter().rev().collect()]);
    }
    Ok([supports(evaluation_stages(slots, factoring)?), supports(interpolation_stages(slots, factoring))])
}

/// The same for [`packed_to_coefficients`] and [`packed_to_slots`], and of the stage beside those
/// that are merged.
pub(crate) fn packed_supports(
    slots: &Arc<SlotRing>,
    factoring: Factoring,
) -> Result<([Vec<BTreeSet<u64>>; 2], BTreeSet<u64>)> {
    let [mut there, mut back] = thin_supports(slots, factoring)?;
    let inner = match factoring {
        Factoring::Tensor => BTreeSet::new(),
        Factoring::Radix2 => Butterflies::new(slots).in_slots_support(),
        Factoring::Bruun => {
            there.pop();
            back.remove(0);
            Trinomials::new(slots).packed_support()
        }
    };
    Ok(([there, back], inner))
}

/// The thin map from slots to coefficients, first stage first; `ends` says after which elementary
/// stages a merged one ends, ascending, the last being [`stage_count`].
///
/// For powers of two the stages are meant for slots with integers: see [`Factoring::fixed`].
pub(crate) fn thin_to_coefficients(
    slots: &Arc<SlotRing>,
    factoring: Factoring,
    ends: &[usize],
) -> Result<Vec<LinearMap>> {
    merge(evaluation_stages(slots, factoring)?, ends, factoring.fixed(slots).as_ref())
}

fn evaluation_stages(slots: &Arc<SlotRing>, factoring: Factoring) -> Result<Vec<SlotMap>> {
    let (m, p) = (slots.m(), slots.prime());
    Ok(match factoring {
        Factoring::Tensor => {
            let factors = Factors::choose(m, p)?;
            let used = (0..factors.list.len()).filter(|&s| factors.list[s].size > 1);
            used.map(|s| factors.evaluation(slots, s)).collect()
        }
        Factoring::Radix2 => {
            let butterflies = Butterflies::new(slots);
            (0..butterflies.count()).map(|k| butterflies.evaluation(k)).collect()
        }
        Factoring::Bruun => {
            let trinomials = Trinomials::new(slots);
            (0..trinomials.count()).map(|s| trinomials.split(s)).chain([trinomials.values()]).collect()
        }
    })
}

/// For powers of two: the inverse, before the trace.
fn interpolation_stages(slots: &Arc<SlotRing>, factoring: Factoring) -> Vec<SlotMap> {
    if factoring == Factoring::Bruun {
        let trinomials = Trinomials::new(slots);
        return [trinomials.residues()]
            .into_iter()
            .chain((0..trinomials.count()).rev().map(|s| trinomials.join(s)))
            .collect();
    }
    let (m, modulus) = (slots.m(), slots.modulus());
    // 1/n = 1/ℓ of the transform times 1/d of the trace, in the first stage.
    inverse_butterflies(slots, modulus.inv(modulus.reduce(m / 2)).expect("p is odd"))
}

/// The inverse of radix-2 stages times ℓ·factor.
fn inverse_butterflies(slots: &Arc<SlotRing>, factor: u64) -> Vec<SlotMap> {
    let butterflies = Butterflies::new(slots);
    let last = butterflies.count().saturating_sub(1);
    (0..=last)
        .rev()
        .take(butterflies.count())
        .map(|k| butterflies.interpolation(k, if k == last { factor } else { 1 }))
        .collect()
}

/// The thin map from coefficients to slots without its trace, first stage first; the partition
/// counts from the side of the coefficients.
///
/// For powers of two its constants are integers, or elements of Z_{p^r}\[Y\], and the trace has to
/// follow, or the slots to hold such elements: see [`Factoring::fixed`].
pub(crate) fn thin_to_slots(slots: &Arc<SlotRing>, factoring: Factoring, ends: &[usize]) -> Result<Vec<LinearMap>> {
    if factoring != Factoring::Tensor {
        return inverse_transform(slots, factoring, ends, factoring.fixed(slots).as_ref());
    }
    let (m, p) = (slots.m(), slots.prime());
    let factors = Factors::choose(m, p)?;
    let mut stages: Vec<SlotMap> = Vec::new();
    for (s, factor) in factors.list.iter().enumerate().rev() {
        let stage = factors.interpolation(slots, s);
        match stages.last_mut() {
            // The first factor, if it has one slot, still multiplies by its dual: no stage of its
            // own.
            Some(last) if factor.size == 1 => *last = stage.compose(last)?,
            _ => stages.push(stage),
        }
    }
    if slots.slots() == 1 {
        check_partition(ends, 0)?;
        return stages.iter().map(SlotMap::to_linear_map).collect();
    }
    merge(stages, ends, None)
}

/// For powers of two: the merged inverse, before the trace.
fn inverse_transform(
    slots: &Arc<SlotRing>,
    factoring: Factoring,
    ends: &[usize],
    fixed: Option<&Fixed>,
) -> Result<Vec<LinearMap>> {
    let (n, modulus) = (slots.n() as u64, slots.modulus());
    if slots.slots() == 1 {
        check_partition(ends, 0)?;
        let inverse = modulus.inv(modulus.reduce(n)).expect("p is odd");
        let scale = crate::Plaintext::scalar(slots, modulus.centred(inverse));
        return Ok(vec![LinearMap::diagonal(&scale)]);
    }
    merge(interpolation_stages(slots, factoring), ends, fixed)
}

/// How many of the elementary stages a packed map has beside the one inside slots or pairs of them,
/// or along the first factor.
pub(crate) fn packed_stage_count(m: u64, p: u64, factoring: Factoring) -> Result<usize> {
    Ok(match factoring {
        Factoring::Tensor => Factors::choose(m, p)?.list.len() - 1,
        Factoring::Radix2 => stage_count(m, p)?,
        Factoring::Bruun => stage_count(m, p)? - 1,
    })
}

/// From slots `Σ_i c_i·ε_i` (ε of [`Packing::repacked`]) to the element with these coefficients,
/// first stage first.
pub(crate) fn packed_to_coefficients(
    slots: &Arc<SlotRing>,
    factoring: Factoring,
    ends: &[usize],
) -> Result<Vec<LinearMap>> {
    let (m, p) = (slots.m(), slots.prime());
    match factoring {
        Factoring::Tensor => {
            let factors = Factors::choose(m, p)?;
            let mut maps = vec![factors.packed_evaluation(slots).to_linear_map()?];
            let rest = (1..factors.list.len()).map(|s| factors.evaluation(slots, s)).collect();
            maps.extend(merge(rest, ends, None)?);
            Ok(maps)
        }
        Factoring::Radix2 => {
            let mut maps = merge(evaluation_stages(slots, factoring)?, ends, None)?;
            maps.push(Butterflies::new(slots).in_slots(false).to_linear_map()?);
            Ok(maps)
        }
        Factoring::Bruun => {
            let trinomials = Trinomials::new(slots);
            let mut maps = merge((0..trinomials.count()).map(|s| trinomials.split(s)).collect(), ends, None)?;
            maps.push(trinomials.packed_values().to_linear_map()?);
            Ok(maps)
        }
    }
}

/// From an element to slots `Σ_i c_i·η_i` (η of the packing) with its coefficients, first stage
/// first.
pub(crate) fn packed_to_slots(
    slots: &Arc<SlotRing>,
    factoring: Factoring,
    ends: &[usize],
    packing: &Packing,
) -> Result<Vec<LinearMap>> {
    let (m, p, modulus) = (slots.m(), slots.prime(), slots.modulus());
    match factoring {
        Factoring::Tensor => {
            let factors = Factors::choose(m, p)?;
            let stages = (1..factors.list.len()).rev().map(|s| factors.interpolation(slots, s)).collect();
            let mut maps = merge(stages, ends, None)?;
            maps.push(factors.packed_interpolation(slots, packing.basis()).to_linear_map()?);
            Ok(maps)
        }
        Factoring::Radix2 => {
            let mut maps = vec![Butterflies::new(slots).in_slots(true).to_linear_map()?];
            let inverse = modulus.inv(modulus.reduce(slots.slots() as u64)).expect("p is odd");
            maps.extend(merge(inverse_butterflies(slots, inverse), ends, None)?);
            Ok(maps)
        }
        Factoring::Bruun => {
            let trinomials = Trinomials::new(slots);
            let mut maps = vec![trinomials.packed_residues(packing.basis()).to_linear_map()?];
            maps.extend(merge((0..trinomials.count()).rev().map(|s| trinomials.join(s)).collect(), ends, None)?);
            Ok(maps)
        }
    }
}

/// The trace E → Z_{p^e} as maps with all constants 1: for each group of prime factors of d of
/// product at most 8, `Σ_{i<k} σ^{i·step}`.
pub(crate) fn trace_stages(slots: &Arc<SlotRing>) -> Result<Vec<LinearMap>> {
    let (m, p) = (slots.m(), slots.prime());
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

/// The ends of merged stages ascend from above 0 to the number of elementary ones; none for none.
fn check_partition(ends: &[usize], count: usize) -> Result<()> {
    let ascends = ends.first() != Some(&0) && ends.windows(2).all(|pair| pair[0] < pair[1]);
    if ascends && ends.last().copied().unwrap_or(0) == count {
        return Ok(());
    }
    Err(BootstrapError::Partition { ends: ends.to_vec(), count }.into())
}

/// Composes runs of stages (first stage first), modulo the Frobenius powers that make no
/// difference.
fn merge(stages: Vec<SlotMap>, ends: &[usize], fixed: Option<&Fixed>) -> Result<Vec<LinearMap>> {
    check_partition(ends, stages.len())?;
    let mut merged = Vec::new();
    let mut stages = stages.into_iter();
    let mut done = 0;
    for &end in ends {
        let mut run = stages.by_ref().take(end - done);
        let first = run.next().expect("a checked partition ascends from above 0");
        // Equal to the map on elements that σ^step fixes in every slot, and before a trace over all
        // σ^{step·j}.
        let reduced = |map: SlotMap| match fixed {
            Some(fixed) => map.modulo(|t| fixed.representative(t)),
            None => Ok(map),
        };
        let product = run.try_fold(reduced(first)?, |product, stage| reduced(stage.compose(&product)?))?;
        merged.push(product.to_linear_map()?);
        done = end;
    }
    Ok(merged)
}

#[cfg(test)]
mod tests;
