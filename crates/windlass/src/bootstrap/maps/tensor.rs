//! Composite m: the powerful basis, one stage for each factor of m (Halevi–Shoup 2015, §4.1 and
//! §4.2).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::kernels::{Axis, Shape, arith};
use windlass_ring::slots::{Hypercube, SlotRing};

use super::slot_map::SlotMap;
use super::transform::{SlotTransform, Stages, Supports, supports};
use crate::error::{Error, Result};

/// One factor m_s of m: a prime power, or for the first factor a product of some, such that
/// Z_{m_s}^* modulo the powers of p is cyclic.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    /// m_s.
    pub index: u64,
    axes: Vec<Axis>,
    /// The size k_s: φ(m_1)/d for the first factor, φ(m_s) for the others.
    pub size: usize,
    /// The generator modulo m_s.
    generator: u64,
}

/// The factors of m, the one that p has its whole order on first.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    m: u64,
    pub list: Vec<Factor>,
}

impl Factors {
    /// Chooses the first factor: the fewest axes on which p has its full order d and leaves a
    /// cyclic quotient, of these the least index.
    ///
    /// # Errors
    /// [`Error::Unplannable`] when there is none.
    pub fn choose(m: u64, p: u64) -> Result<Self> {
        let shape = Shape::new(m).map_err(windlass_ring::RingError::from)?;
        let degree = arith::multiplicative_order(p % m, m);
        let axes = shape.axes();
        let mut subsets: Vec<Vec<usize>> =
            (1u32..1 << axes.len()).map(|mask| (0..axes.len()).filter(|&i| mask >> i & 1 == 1).collect()).collect();
        let product = |subset: &[usize]| subset.iter().map(|&i| axes[i].index).product::<u64>();
        subsets.sort_by_key(|subset| (subset.len(), product(subset)));
        for subset in subsets {
            let index = product(&subset);
            let size = (arith::totient(index) / degree) as usize;
            if arith::multiplicative_order(p % index, index) != degree {
                continue;
            }
            if let Some(generator) = generator_above(index, p, size) {
                let first = Factor { index, axes: subset.iter().map(|&i| axes[i].clone()).collect(), size, generator };
                let others = (0..axes.len()).filter(|i| !subset.contains(i)).map(|i| Factor {
                    index: axes[i].index,
                    axes: vec![axes[i].clone()],
                    size: axes[i].dim,
                    generator: if axes[i].dim > 1 { arith::least_generator(axes[i].index) } else { 1 },
                });
                return Ok(Self { m, list: std::iter::once(first).chain(others).collect() });
            }
        }
        let reason = format!(
            "no factor of m = {m} has the whole order {degree} of {p} and a cyclic quotient (Halevi-Shoup 2015, 4.2)"
        );
        Err(Error::Unplannable { strategy: "evaluation map from the powerful basis".into(), reason })
    }

    /// The hypercube with one dimension for each factor with more than one slot.
    pub fn hypercube(&self, p: u64) -> Result<Hypercube> {
        let lift = |factor: &Factor| {
            let rest = self.m / factor.index;
            let inverse = arith::inv_mod(rest % factor.index, factor.index).expect("the factors are coprime");
            // ≡ g modulo m_s and ≡ 1 modulo the others.
            (1 + (factor.generator + factor.index - 1) % factor.index * (rest * inverse % self.m)) % self.m
        };
        // The first factor last: its generator has order k_1 modulo p and all the others only.
        let generators: Vec<u64> = self.list.iter().rev().filter(|factor| factor.size > 1).map(lift).collect();
        Ok(Hypercube::with_generators(self.m, p, &generators)?)
    }

    /// The place of a slot in each factor, and back.
    fn coordinates(&self, cube: &Hypercube, slot: usize) -> Vec<usize> {
        let mut used = cube.coordinates(slot).into_iter();
        let mut next = |factor: &Factor| if factor.size > 1 { used.next().expect("a dimension each") } else { 0 };
        let mut places: Vec<usize> = self.list.iter().rev().map(&mut next).collect();
        places.reverse();
        places
    }

    /// The stage of factor `s` that evaluates: `entry(e, j) = b_j(ζ_s^{u(e)})`, with monomials
    /// `b_j`, for thin plaintexts (first factor) or any.
    pub fn evaluation(&self, slots: &Arc<SlotRing>, s: usize) -> SlotMap {
        let table = Table::new(slots, &self.list[s], self.m);
        self.stage(slots, s, |row, column| vec![table.monomial(column, table.exponent(row))])
    }

    /// The stage of factor `s` that interpolates: `entry(j, e) = b_j^*(ζ_s^{u(e)})`, b^* the dual
    /// basis for the trace of Z\[X_s\]/Φ_{m_s}.
    pub fn interpolation(&self, slots: &Arc<SlotRing>, s: usize) -> SlotMap {
        let table = Table::new(slots, &self.list[s], self.m);
        self.stage(slots, s, |row, column| vec![table.dual(row, table.exponent(column))])
    }

    /// The first factor on packed slots: slot j holds `Σ_i c_{ji}·ζ^i`, and `P(ζ_1^{u(e)})` comes
    /// out, P with coefficient c_{ji} at monomial j + k_1·i. Z_{p^r}-linear: d Frobenius powers for
    /// each pair of slots (2015, Eq. (5)).
    pub fn packed_evaluation(&self, slots: &Arc<SlotRing>) -> SlotMap {
        let (table, galois) = (Table::new(slots, &self.list[0], self.m), slots.galois());
        let size = self.list[0].size;
        self.stage(slots, 0, |row, column| {
            let point = table.exponent(row);
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
                (0..slots.degree()).map(|i| table.dual(row + size * i, table.exponent(column))).collect();
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

/// One stage for each factor of a composite m.
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

    /// One for each factor with more than one slot.
    fn stage_count(&self, m: u64, p: u64) -> Result<usize> {
        Ok(Factors::choose(m, p)?.list.iter().filter(|factor| factor.size > 1).count())
    }

    fn evaluation(&self, slots: &Arc<SlotRing>) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let used = (0..factors.list.len()).filter(|&s| factors.list[s].size > 1);
        Ok(Stages::of(used.map(|s| factors.evaluation(slots, s)).collect()))
    }

    fn interpolation(&self, slots: &Arc<SlotRing>) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let mut stages: Vec<SlotMap> = Vec::new();
        for (s, factor) in factors.list.iter().enumerate().rev() {
            let stage = factors.interpolation(slots, s);
            match stages.last_mut() {
                // The first factor, if it has one slot, still multiplies by its dual: no stage of
                // its own.
                Some(last) if factor.size == 1 => *last = stage.compose(last)?,
                _ => stages.push(stage),
            }
        }
        if slots.slots() == 1 {
            return Ok(Stages { first: stages.pop(), merged: Vec::new(), last: None });
        }
        Ok(Stages::of(stages))
    }

    fn packed_stage_count(&self, m: u64, p: u64) -> Result<usize> {
        Ok(Factors::choose(m, p)?.list.len() - 1)
    }

    fn packed_evaluation(&self, slots: &Arc<SlotRing>) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let merged = (1..factors.list.len()).map(|s| factors.evaluation(slots, s)).collect();
        Ok(Stages { first: Some(factors.packed_evaluation(slots)), merged, last: None })
    }

    fn packed_interpolation(&self, slots: &Arc<SlotRing>, basis: &[Vec<u64>]) -> Result<Stages> {
        let factors = Factors::choose(slots.m(), slots.prime())?;
        let merged = (1..factors.list.len()).rev().map(|s| factors.interpolation(slots, s)).collect();
        Ok(Stages { first: None, merged, last: Some(factors.packed_interpolation(slots, basis)) })
    }

    fn packed_supports(&self, slots: &Arc<SlotRing>) -> Result<([Supports; 2], BTreeSet<u64>)> {
        let both = [self.evaluation(slots)?, self.interpolation(slots)?].map(|stages| supports(&stages.merged));
        Ok((both, BTreeSet::new()))
    }
}

/// Values of monomials and of their duals at the points of one factor.
struct Table<'a> {
    slots: &'a SlotRing,
    factor: &'a Factor,
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
        Self { slots, factor, powers: powers.collect(), inverse }
    }

    /// u modulo m_s of coordinate e: the slot of t holds α(ζ^{1/t}).
    fn exponent(&self, e: usize) -> u64 {
        let back = arith::inv_mod(self.factor.generator, self.factor.index).unwrap_or(1);
        arith::pow_mod(back, e as u64, self.factor.index)
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

/// A generator of Z_m^* modulo the powers of p, which has the given order; `None` if the quotient
/// is not cyclic. Prefers one whose order in Z_m^* is no larger (a good dimension).
fn generator_above(m: u64, p: u64, size: usize) -> Option<u64> {
    if size == 1 {
        return Some(1);
    }
    let mut powers_of_p = vec![false; m as usize];
    let mut power = 1 % m;
    while !powers_of_p[power as usize] {
        powers_of_p[power as usize] = true;
        power = power * (p % m) % m;
    }
    let primes = arith::factor(size as u64);
    let generates = |&g: &u64| {
        arith::gcd(g, m) == 1
            && primes.iter().all(|&(q, _)| !powers_of_p[arith::pow_mod(g, size as u64 / q, m) as usize])
    };
    let good = |g: &u64| arith::pow_mod(*g, size as u64, m) == 1;
    (2..m).filter(good).find(generates).or_else(|| (2..m).find(generates))
}
