//! Powers of two: the homomorphic number-theoretic transform in radix-2 stages (Ma et al. 2024).

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::kernels::arith;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_schemes::error::Result;

use super::packing::Packing;
use super::slot_map::SlotMap;
use super::transform::{SlotTransform, StageSupports, Stages, supports};

/// The hypercube ⟨−1, 5⟩ for p ≡ 1 mod 4, ⟨5⟩ for p ≡ 3 mod 4.
pub(crate) fn hypercube(m: u64, p: u64) -> Result<Hypercube> {
    let degree = arith::multiplicative_order(p % m, m);
    let slots = m / 2 / degree;
    let generators: &[u64] = match (p % 4, slots) {
        (_, 1) => &[],
        (3, _) => &[5],
        (_, 2) => &[m - 1],
        _ => &[5, m - 1],
    };
    Ok(Hypercube::with_generators(m, p, generators)?)
}

/// Of each slot whether the sign is −1, and the position, by the dimensions of 5 and of −1: its
/// exponent is `sign·5^(position + 1)` modulo the order of the largest root, and `sign·5^(position
/// − count + 1)` modulo m, so that pairs at one distance have one automorphism, in bad dimensions
/// too.
pub(super) fn positions(slot_ring: &SlotRing, five: Option<usize>, sign: Option<usize>) -> Vec<(bool, usize)> {
    let cube = slot_ring.hypercube();
    let along = |slot, dimension: Option<usize>| dimension.map_or(0, |s| cube.coordinate(slot, s));
    let last = five.map_or(0, |s| cube.dimensions()[s].size - 1);
    // The slot of t holds α(ζ^{1/t}).
    (0..slot_ring.slots()).map(|slot| (along(slot, sign) == 1, last - along(slot, five))).collect()
}

/// Where slots stand in the transform: the exponent of slot i is `sign·5^(position + 1)` modulo the
/// order of the largest root.
pub(crate) struct Butterflies {
    slot_ring: Arc<SlotRing>,
    places: Vec<(bool, usize)>,
    /// How far apart the slots of neighbouring positions are, and those of both signs.
    strides: [usize; 2],
    /// The number of positions.
    length: usize,
    split: bool,
}

impl Butterflies {
    /// For a ring over [`hypercube`].
    pub fn new(slot_ring: &Arc<SlotRing>) -> Self {
        let dimensions = slot_ring.hypercube().dimensions();
        let five = dimensions.iter().position(|dimension| dimension.generator == 5);
        let sign = dimensions.iter().position(|dimension| dimension.generator != 5);
        Self::along(slot_ring, five, sign)
    }

    /// Along the dimensions of 5 and of −1 of a factor of m that is a power of two; of the second
    /// alone where 5 is 1.
    pub fn along(slot_ring: &Arc<SlotRing>, five: Option<usize>, sign: Option<usize>) -> Self {
        let cube = slot_ring.hypercube();
        let length = five.map_or(1, |dimension| cube.dimensions()[dimension].size);
        let places = positions(slot_ring, five, sign);
        let strides = [five, sign].map(|dimension| dimension.map_or(0, |dimension| cube.stride(dimension)));
        Self { slot_ring: Arc::clone(slot_ring), places, strides, length, split: sign.is_some() }
    }

    /// The number of stages: log2 ℓ, ℓ the number of slots along these dimensions.
    pub fn count(&self) -> usize {
        self.length.trailing_zeros() as usize + usize::from(self.split)
    }

    fn negative(&self, value: &[u64]) -> Vec<u64> {
        value.iter().map(|&x| self.slot_ring.modulus().neg(x)).collect()
    }

    /// Stage k of the evaluation: the pairs at distance 2^k (k = 0 pairs the signs where p ≡ 1 mod
    /// 4), applied from k = 0 up.
    ///
    /// With A(Y) = A_0(Y²) + Y·A_1(Y²): `(a, b) ↦ (a + ρb, a − ρb)`, ρ = Y at the point of the
    /// first.
    pub fn evaluation(&self, k: usize) -> SlotMap {
        let one = self.slot_ring.galois().constant(1);
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let (low, high, second, exponent) = self.pair(k, row);
            let root = self.slot_ring.galois().zeta_power(exponent);
            put(low, 0, &one);
            put(high, 0, &if second { self.negative(&root) } else { root });
        })
    }

    /// Twice the inverse of stage k, applied from the last down: `(a, b) ↦ (a + b, ρ^{−1}(a − b))`;
    /// times `factor`.
    pub fn interpolation(&self, k: usize, factor: u64) -> SlotMap {
        let modulus = self.slot_ring.modulus();
        let constant = self.slot_ring.galois().constant(factor);
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            let (low, high, second, exponent) = self.pair(k, row);
            let inverse = self.slot_ring.galois().zeta_power(self.slot_ring.m() - exponent);
            let scaled: Vec<u64> = inverse.iter().map(|&x| modulus.mul(x, modulus.reduce(factor))).collect();
            if second {
                put(low, 0, &scaled);
                put(high, 0, &self.negative(&scaled));
            } else {
                put(low, 0, &constant);
                put(high, 0, &constant);
            }
        })
    }

    /// Inside every slot i: `ζ^k·f ↦ ζ^{u_i·k}·f` for 0 ≤ k < d/\[F : Z\] and f ∈ F = Z_{p^r}\[Y\],
    /// or the inverse. From `Σ_k ζ^k·A_k(Y)` to the element.
    pub fn in_slots(&self, inverse: bool) -> SlotMap {
        let (m, d) = (self.slot_ring.m(), self.slot_ring.degree() as u64);
        let span = if self.split { d } else { d / 2 };
        let galois = self.slot_ring.galois();
        let lambdas: Vec<Vec<Vec<u64>>> = (0..self.slot_ring.slots())
            .into_par_iter()
            .map(|slot| {
                let u = self.slot_ring.hypercube().evaluation_exponent(slot);
                let mut exponents = vec![0; d as usize];
                for k in 0..span {
                    // ζ^{uk} = ζ^{k'}·Y^q with k' = uk mod span.
                    let (product, rest) = (u * k % m, u * k % span);
                    let (from, to) = if inverse { (rest, (k + rest + m - product) % m) } else { (k, product) };
                    exponents[from as usize] = to;
                    if !self.split {
                        exponents[(from + span) as usize] = (to + span) % m;
                    }
                }
                let images: Vec<Vec<u64>> = exponents.into_iter().map(|exponent| galois.zeta_power(exponent)).collect();
                galois.linearised_polynomial(&images)
            })
            .collect();
        SlotMap::from_rows(&self.slot_ring, |row, put| {
            lambdas[row].iter().enumerate().for_each(|(f, value)| put(row, f, value));
        })
    }

    /// The automorphisms of [`Self::in_slots`]: powers of σ, or of σ² where that fixes F.
    pub fn in_slots_support(&self) -> BTreeSet<u64> {
        let (m, p) = (self.slot_ring.m(), self.slot_ring.prime());
        let step = if self.split { 1 } else { 2 };
        (0..self.slot_ring.degree() as u64).step_by(step).map(|f| arith::pow_mod(p % m, f, m)).collect()
    }

    /// The pair of stage k that a slot belongs to, whether it is the second of it, and for ρ its
    /// exponent as a power of ζ.
    fn pair(&self, k: usize, row: usize) -> (usize, usize, bool, u64) {
        let m = self.slot_ring.m();
        let (sign, position) = self.places[row];
        let at = |wanted: bool, place: usize| {
            let [step, across] = self.strides;
            row + position * step - place * step + usize::from(wanted) * across - usize::from(sign) * across
        };
        if self.split && k == 0 {
            return (at(false, position), at(true, position), sign, m / 4);
        }
        let half = 1usize << (k - self.split as usize);
        let (block, inside) = (position / (2 * half) * 2 * half, position % half);
        let order = 8 * half as u64;
        let exponent = arith::pow_mod(5, inside as u64 + 1, order);
        let root = if sign { order - exponent } else { exponent };
        (at(sign, block + inside), at(sign, block + inside + half), position & half != 0, m / order * root)
    }
}

/// What thin maps of powers of two meet in the slots: integers, or elements of Z_{p^r}\[Y\], which
/// this power of the Frobenius map fixes.
pub(super) fn fixed_step(slot_ring: &SlotRing) -> usize {
    if slot_ring.prime() % 4 == 1 { 1 } else { 2 }
}

/// log2 ℓ.
pub(super) fn stage_count(m: u64, p: u64) -> usize {
    (m / 2 / arith::multiplicative_order(p % m, m)).ilog2() as usize
}

/// Powers of two: log2 ℓ stages over Z_{p^r}\[Y\], three diagonals each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Radix2;

impl Radix2 {
    /// The inverse of all stages times ℓ·factor.
    fn inverse(slot_ring: &Arc<SlotRing>, factor: u64) -> Vec<SlotMap> {
        let butterflies = Butterflies::new(slot_ring);
        let last = butterflies.count().saturating_sub(1);
        let stage = |k: usize| butterflies.interpolation(k, if k == last { factor } else { 1 });
        (0..butterflies.count()).rev().map(stage).collect()
    }

    /// 1/x modulo p^r.
    fn inverse_of(slot_ring: &SlotRing, x: u64) -> u64 {
        slot_ring.modulus().inv(slot_ring.modulus().reduce(x)).expect("p is odd")
    }
}

impl SlotTransform for Radix2 {
    fn name(&self) -> &'static str {
        "radix2"
    }

    fn citation(&self) -> &'static str {
        "Ma–Huang–Wang–Wang, eprint 2024/164"
    }

    fn refusal(&self, m: u64, _: u64) -> Option<&'static str> {
        (!m.is_power_of_two()).then_some("m a power of two")
    }

    fn fixed_step(&self, slot_ring: &SlotRing) -> Option<usize> {
        Some(fixed_step(slot_ring))
    }

    fn stage_count(&self, slots: &Hypercube) -> Result<usize> {
        Ok(stage_count(slots.m(), slots.prime()))
    }

    fn evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let butterflies = Butterflies::new(slot_ring);
        Ok(Stages::of((0..butterflies.count()).map(|k| butterflies.evaluation(k)).collect()))
    }

    /// 1/n = 1/ℓ of the transform times 1/d of the trace, in the first stage.
    fn interpolation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let inverse = Self::inverse_of(slot_ring, slot_ring.n() as u64);
        let mut stages = Stages::of(Self::inverse(slot_ring, inverse));
        if stages.merged.is_empty() {
            let scale = slot_ring.galois().constant(inverse);
            stages.first = Some(SlotMap::from_rows(slot_ring, |row, put| put(row, 0, &scale)));
        }
        Ok(stages)
    }

    fn packing(&self, slot_ring: &Arc<SlotRing>) -> Packing {
        Packing::monomial(slot_ring)
    }

    fn allows_monomials(&self) -> bool {
        true
    }

    fn packed_stage_count(&self, slots: &Hypercube) -> Result<usize> {
        self.stage_count(slots)
    }

    fn packed_evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        Ok(Stages { last: Some(Butterflies::new(slot_ring).in_slots(false)), ..self.evaluation(slot_ring)? })
    }

    fn packed_interpolation(&self, slot_ring: &Arc<SlotRing>, _: &[Vec<u64>]) -> Result<Stages> {
        let merged = Self::inverse(slot_ring, Self::inverse_of(slot_ring, slot_ring.slots() as u64));
        Ok(Stages { first: Some(Butterflies::new(slot_ring).in_slots(true)), merged, last: None })
    }

    fn packed_supports(&self, slot_ring: &Arc<SlotRing>) -> Result<[StageSupports; 2]> {
        let [forth, back] =
            [self.evaluation(slot_ring)?, self.interpolation(slot_ring)?].map(|one| supports(&one.merged));
        let in_slots = Some(Butterflies::new(slot_ring).in_slots_support());
        Ok([
            StageSupports { first: None, merged: forth, last: in_slots.clone() },
            StageSupports { first: in_slots, merged: back, last: None },
        ])
    }
}
