//! Composite m: the powerful basis, one stage for each factor of m (Halevi–Shoup 2015, §4.1 and
//! §4.2), some where the factor is a power of two.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::RingError;
use windlass_ring::kernels::{Axis, Shape, arith};
use windlass_ring::slots::{Hypercube, SlotRing};

use super::radix2::Butterflies;
use super::slot_map::SlotMap;
use super::transform::{SlotTransform, Stages, Supports, supports};
use crate::error::Result;

/// Doublings of a power of two in one stage: at most 16 diagonals, or 31 away from the end.
const DOUBLINGS: usize = 4;

/// One factor m_s of m: for the first a product of prime powers on which p has its whole order, a
/// prime power for the others.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    /// m_s.
    pub index: u64,
    axes: Vec<Axis>,
    /// The size k_s: φ(m_1)/d for the first factor, φ(m_s) for the others.
    pub size: usize,
    /// Generators modulo m_s, each with its order modulo those before it (and p, in the first
    /// factor): one where the group is cyclic.
    lines: Vec<(u64, usize)>,
}

impl Factor {
    /// Z_{m_1}^* modulo the powers of p.
    fn first(index: u64, axes: Vec<Axis>, p: u64) -> Result<Self> {
        let cube = Hypercube::automatic(index, p)?;
        let lines = cube.dimensions().iter().map(|line| (line.generator, line.size)).collect();
        Ok(Self { index, axes, size: cube.slots(), lines })
    }

    /// Z_{m_s}^*: ⟨5⟩ × ⟨−1⟩ for powers of two.
    fn whole(axis: &Axis) -> Self {
        let (index, size) = (axis.index, axis.dim);
        let lines = match index {
            4 => vec![(3, 2)],
            _ if axis.prime == 2 => vec![(5, size / 2), (index - 1, 2)],
            _ => vec![(arith::least_generator(index), size)],
        };
        Self { index, axes: vec![axis.clone()], size, lines }
    }

    /// u = 1/t modulo m_s of each place, the last line fastest.
    fn points(&self) -> Vec<u64> {
        let mut points = vec![1];
        for &(generator, size) in &self.lines {
            let back = arith::inv_mod(generator, self.index).expect("generators are units");
            let along = |u: u64| (0..size as u64).map(move |e| u * arith::pow_mod(back, e, self.index) % self.index);
            points = points.into_iter().flat_map(along).collect();
        }
        points
    }
}

/// The factors of m, the one that p has its whole order on first.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    m: u64,
    pub list: Vec<Factor>,
}

impl Factors {
    /// Chooses the first factor: the fewest axes on which p has its full order d and leaves a
    /// cyclic quotient, of these the least index; with any quotient if there are none. All axes
    /// together always do.
    ///
    /// # Errors
    /// [`crate::Error::Ring`] for an m that is no index of a ring, or a p that is no prime or
    /// divides m.
    pub fn choose(m: u64, p: u64) -> Result<Self> {
        let shape = Shape::new(m).map_err(RingError::from)?;
        let degree = arith::multiplicative_order(p % m, m);
        let axes = shape.axes();
        let mut subsets: Vec<Vec<usize>> =
            (1u32..1 << axes.len()).map(|mask| (0..axes.len()).filter(|&i| mask >> i & 1 == 1).collect()).collect();
        let product = |subset: &[usize]| subset.iter().map(|&i| axes[i].index).product::<u64>();
        subsets.sort_by_key(|subset| (subset.len(), product(subset)));
        let mut best = None;
        for subset in subsets {
            let index = product(&subset);
            if arith::multiplicative_order(p % index, index) != degree {
                continue;
            }
            let first = Factor::first(index, subset.iter().map(|&i| axes[i].clone()).collect(), p)?;
            let is_cyclic = first.lines.len() <= 1;
            if is_cyclic || best.is_none() {
                best = Some((first, subset));
            }
            if is_cyclic {
                break;
            }
        }
        let (first, subset) = best.expect("p has its whole order on all axes together");
        let others = (0..axes.len()).filter(|i| !subset.contains(i)).map(|i| Factor::whole(&axes[i]));
        Ok(Self { m, list: std::iter::once(first).chain(others).collect() })
    }

    /// The hypercube with the dimensions of all factors.
    pub fn hypercube(&self, p: u64) -> Result<Hypercube> {
        let lift = |factor: &Factor, generator: u64| {
            let rest = self.m / factor.index;
            let inverse = arith::inv_mod(rest % factor.index, factor.index).expect("the factors are coprime");
            // ≡ g modulo m_s and ≡ 1 modulo the others.
            (1 + (generator + factor.index - 1) % factor.index * (rest * inverse % self.m)) % self.m
        };
        // The first factor last: its generators have their orders modulo p and all the others only.
        let lifted = |factor: &Factor| factor.lines.iter().map(|line| lift(factor, line.0)).collect::<Vec<u64>>();
        let generators: Vec<u64> = self.list.iter().rev().flat_map(lifted).collect();
        Ok(Hypercube::with_generators(self.m, p, &generators)?)
    }

    /// The numbers of the dimensions of factor `s`.
    fn dimensions(&self, s: usize) -> Range<usize> {
        let before: usize = self.list[s + 1..].iter().map(|factor| factor.lines.len()).sum();
        before..before + self.list[s].lines.len()
    }

    /// The place of a slot in each factor, the last of its dimensions fastest.
    fn coordinates(&self, cube: &Hypercube, slot: usize) -> Vec<usize> {
        let all = cube.coordinates(slot);
        let place = |s: usize| {
            let own = all[self.dimensions(s)].iter().zip(&self.list[s].lines);
            own.fold(0, |place, (&coordinate, line)| place * line.1 + coordinate)
        };
        (0..self.list.len()).map(place).collect()
    }

    /// The number of stages of factor `s`: none for one slot.
    fn stage_count(&self, s: usize) -> usize {
        match self.list[s].size {
            1 => 0,
            size if self.is_binary(s) => (size.ilog2() as usize).div_ceil(DOUBLINGS),
            _ => 1,
        }
    }

    /// Whether factor `s` is a power of two that p has no part in: it is gone through by doublings.
    fn is_binary(&self, s: usize) -> bool {
        s > 0 && self.list[s].axes[0].prime == 2
    }

    /// The doublings of factor `s` in the given direction, merged into its stages.
    fn by_doublings(
        &self,
        slots: &Arc<SlotRing>,
        s: usize,
        doubling: impl Fn(&Butterflies, usize) -> SlotMap,
    ) -> Result<Vec<SlotMap>> {
        let dimensions = self.dimensions(s);
        let sign = dimensions.end - 1;
        let butterflies = Butterflies::along(slots, (dimensions.start < sign).then_some(dimensions.start), Some(sign));
        let (count, stages) = (butterflies.count(), self.stage_count(s));
        let merged = |stage: usize| {
            let mut run = (count * stage / stages..count * (stage + 1) / stages).map(|k| doubling(&butterflies, k));
            let first = run.next().expect("no more stages than doublings");
            run.try_fold(first, |product, next| next.compose(&product))
        };
        (0..stages).map(merged).collect()
    }

    /// The stages of factor `s` that evaluate: together `entry(e, j) = b_j(ζ_s^{u(e)})`, with
    /// monomials `b_j`, for thin plaintexts (first factor) or any. Powers of two have the b_j in
    /// the order of reversed bits.
    pub fn evaluation(&self, slots: &Arc<SlotRing>, s: usize) -> Result<Vec<SlotMap>> {
        if self.is_binary(s) {
            return self.by_doublings(slots, s, Butterflies::evaluation);
        }
        let table = Table::new(slots, &self.list[s], self.m);
        Ok(vec![self.stage(slots, s, |row, column| vec![table.monomial(column, table.points[row])])])
    }

    /// The stages of factor `s` that interpolate: together `entry(j, e) = b_j^*(ζ_s^{u(e)})`, b^*
    /// the dual basis for the trace of Z\[X_s\]/Φ_{m_s}.
    pub fn interpolation(&self, slots: &Arc<SlotRing>, s: usize) -> Result<Vec<SlotMap>> {
        if self.is_binary(s) {
            let half = slots.modulus().inv(2).expect("p does not divide m");
            let last = self.list[s].size.ilog2() as usize - 1;
            return self.by_doublings(slots, s, |butterflies, k| butterflies.interpolation(last - k, half));
        }
        let table = Table::new(slots, &self.list[s], self.m);
        Ok(vec![self.stage(slots, s, |row, column| vec![table.dual(row, table.points[column])])])
    }

    /// The first factor on packed slots: slot j holds `Σ_i c_{ji}·ζ^i`, and `P(ζ_1^{u(e)})` comes
    /// out, P with coefficient c_{ji} at monomial j + k_1·i. Z_{p^r}-linear: d Frobenius powers for
    /// each pair of slots (2015, Eq. (5)).
    pub fn packed_evaluation(&self, slots: &Arc<SlotRing>) -> SlotMap {
        let (table, galois) = (Table::new(slots, &self.list[0], self.m), slots.galois());
        let size = self.list[0].size;
        self.stage(slots, 0, |row, column| {
            let point = table.points[row];
            let images: Vec<Vec<u64>> = (0..slots.degree()).map(|i| table.monomial(column + size * i, point)).collect();
            galois.linearised_polynomial(&images)
        })
    }

    /// Its inverse, into the given basis η: slot j receives `Σ_i c_{ji}·η_i`, c_{ji} = Σ_e
    /// Tr(P_e·b_{ji}^*(ζ_1^{u(e)})): the f-th Frobenius power has the constant
    /// `Σ_i σ^f(b_{ji}^*)·η_i`.
    pub fn packed_interpolation(&self, slots: &Arc<SlotRing>, basis: &[Vec<u64>]) -> SlotMap {
        let (table, galois) = (Table::new(slots, &self.list[0], self.m), slots.galois());
        let size = self.list[0].size;
        self.stage(slots, 0, |row, column| {
            let duals: Vec<Vec<u64>> =
                (0..slots.degree()).map(|i| table.dual(row + size * i, table.points[column])).collect();
            let constant = |f: usize| {
                duals.iter().zip(basis).fold(vec![0; slots.degree()], |sum, (dual, element)| {
                    galois.add(&sum, &galois.mul(&galois.frobenius(dual, f), element))
                })
            };
            (0..slots.degree()).map(constant).collect()
        })
    }

    /// The coordinates of every slot, and back.
    fn places(&self, slots: &SlotRing) -> (Vec<Vec<usize>>, HashMap<Vec<usize>, usize>) {
        let cube = slots.hypercube();
        let places: Vec<Vec<usize>> = (0..slots.slots()).map(|slot| self.coordinates(cube, slot)).collect();
        let slot_of = places.iter().enumerate().map(|(slot, place)| (place.clone(), slot)).collect();
        (places, slot_of)
    }

    /// The same k_s × k_s matrix on every hypercolumn of factor s. Its entries are linearised
    /// polynomials: the constants of 1, σ, σ², ..
    fn stage(&self, slots: &Arc<SlotRing>, s: usize, entry: impl Fn(usize, usize) -> Vec<Vec<u64>> + Sync) -> SlotMap {
        let size = self.list[s].size;
        let matrix: Vec<Vec<Vec<u64>>> = (0..size * size).into_par_iter().map(|i| entry(i / size, i % size)).collect();
        let (places, slot_of) = self.places(slots);
        SlotMap::from_rows(slots, |row, put| {
            let mut place = places[row].clone();
            for column in 0..size {
                place[s] = column;
                let constants = &matrix[places[row][s] * size + column];
                constants.iter().enumerate().for_each(|(f, value)| put(slot_of[&place], f, value));
            }
        })
    }
}

/// One stage for each factor of a composite m, or some for a power of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompositeTensor;

impl SlotTransform for CompositeTensor {
    fn name(&self) -> &'static str {
        "tensor"
    }

    fn citation(&self) -> &'static str {
        "Halevi–Shoup 2015, §4.1 and §4.2"
    }

    fn refusal(&self, m: u64, _: u64) -> Option<&'static str> {
        m.is_power_of_two().then_some("an m that is no power of two")
    }

    /// One for each factor with more than one slot, of powers of two more.
    fn stage_count(&self, m: u64, p: u64) -> Result<usize> {
        let factors = Factors::choose(m, p)?;
        Ok((0..factors.list.len()).map(|s| factors.stage_count(s)).sum())
    }

    fn evaluation(&self, slots: &Arc<SlotRing>) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let used = (0..factors.list.len()).filter(|&s| factors.list[s].size > 1);
        Ok(Stages::of(together(used.map(|s| factors.evaluation(slots, s)))?))
    }

    fn interpolation(&self, slots: &Arc<SlotRing>) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let mut stages: Vec<SlotMap> = Vec::new();
        for (s, factor) in factors.list.iter().enumerate().rev() {
            let of_factor = factors.interpolation(slots, s)?;
            match stages.last_mut() {
                // The first factor, if it has one slot, still multiplies by its dual: no stage of
                // its own.
                Some(last) if factor.size == 1 => *last = of_factor[0].compose(last)?,
                _ => stages.extend(of_factor),
            }
        }
        if slots.slots() == 1 {
            return Ok(Stages { first: stages.pop(), merged: Vec::new(), last: None });
        }
        Ok(Stages::of(stages))
    }

    fn packed_stage_count(&self, m: u64, p: u64) -> Result<usize> {
        let factors = Factors::choose(m, p)?;
        Ok((1..factors.list.len()).map(|s| factors.stage_count(s)).sum())
    }

    fn packed_evaluation(&self, slots: &Arc<SlotRing>) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let merged = together((1..factors.list.len()).map(|s| factors.evaluation(slots, s)))?;
        Ok(Stages { first: Some(factors.packed_evaluation(slots)), merged, last: None })
    }

    fn packed_interpolation(&self, slots: &Arc<SlotRing>, basis: &[Vec<u64>]) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let merged = together((1..factors.list.len()).rev().map(|s| factors.interpolation(slots, s)))?;
        Ok(Stages { first: None, merged, last: Some(factors.packed_interpolation(slots, basis)) })
    }

    fn packed_supports(&self, slots: &Arc<SlotRing>) -> Result<([Supports; 2], BTreeSet<u64>)> {
        let both = [self.evaluation(slots)?, self.interpolation(slots)?].map(|stages| supports(&stages.merged));
        Ok((both, BTreeSet::new()))
    }
}

/// The stages of one factor after the other.
fn together(stages: impl Iterator<Item = Result<Vec<SlotMap>>>) -> Result<Vec<SlotMap>> {
    Ok(stages.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Values of monomials and of their duals at the points of one factor.
struct Table<'a> {
    slots: &'a SlotRing,
    factor: &'a Factor,
    /// u modulo m_s of each place: the slot of t holds α(ζ^{1/t}).
    points: Vec<u64>,
    /// ζ_i^k for each axis.
    powers: Vec<Vec<Vec<u64>>>,
    /// 1/m_s.
    inverse: u64,
}

impl<'a> Table<'a> {
    fn new(slots: &'a SlotRing, factor: &'a Factor, m: u64) -> Self {
        let galois = slots.galois();
        let modulus = slots.modulus();
        let powers = factor.axes.iter().map(|axis| {
            let root = galois.zeta_power(m / axis.index);
            std::iter::successors(Some(galois.constant(1)), |power| Some(galois.mul(power, &root)))
                .take(axis.index as usize)
                .collect()
        });
        let inverse = modulus.inv(modulus.reduce(factor.index)).expect("p does not divide m");
        Self { slots, factor, points: factor.points(), powers: powers.collect(), inverse }
    }

    /// The exponents of monomial number j on each axis, the last axis fastest.
    fn exponents(&self, j: usize) -> Vec<u64> {
        let mut rest = j;
        let mut exponents: Vec<u64> = self
            .factor
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let exponent = rest % axis.dim;
                rest /= axis.dim;
                exponent as u64
            })
            .collect();
        exponents.reverse();
        exponents
    }

    /// X_i^k at the point u.
    fn power(&self, axis: usize, k: u64, u: u64) -> &[u64] {
        let index = self.factor.axes[axis].index;
        &self.powers[axis][(k % index * (u % index) % index) as usize]
    }

    fn monomial(&self, j: usize, u: u64) -> Vec<u64> {
        let galois = self.slots.galois();
        self.exponents(j)
            .into_iter()
            .enumerate()
            .fold(galois.constant(1), |product, (axis, k)| galois.mul(&product, self.power(axis, k, u)))
    }

    /// `Π_i X_i^{−j_0}·(Y_i^{−j_1} − Y_i)/m_i` with Y_i = X_i^{ℓ^{k−1}} and j = j_0 + ℓ^{k−1}·j_1.
    fn dual(&self, j: usize, u: u64) -> Vec<u64> {
        let galois = self.slots.galois();
        let start = galois.constant(self.inverse);
        self.exponents(j).into_iter().enumerate().fold(start, |product, (i, k)| {
            let axis = &self.factor.axes[i];
            let block = axis.index / axis.prime;
            let (low, high) = (k % block, k / block * block);
            let difference = galois.sub(self.power(i, axis.index - high, u), self.power(i, block, u));
            galois.mul(&galois.mul(&product, self.power(i, axis.index - low, u)), &difference)
        })
    }
}
