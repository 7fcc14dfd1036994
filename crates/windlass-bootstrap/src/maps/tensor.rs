//! Composite m: the powerful basis, one stage for each factor of m (Halevi–Shoup 2015, §4.1 and
//! §4.2), some where the factor is a power of two.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::{Hypercube, SlotRing};
use windlass_schemes::error::Result;

use super::factors::{DOUBLINGS, Factors, IndexFactor};
use super::radix2::Butterflies;
use super::slot_map::SlotMap;
use super::transform::{SlotTransform, StageSupports, Stages, supports};

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
        m.is_power_of_two().then_some("an m that is not a power of two")
    }

    /// One for each factor with more than one slot, of powers of two more.
    fn stage_count(&self, slots: &Hypercube) -> Result<usize> {
        Ok(Factors::of_hypercube(slots)?.list.iter().map(stage_count).sum())
    }

    fn evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let tensor = Tensor::new(slot_ring)?;
        let used = tensor.all().filter(|&s| tensor.factors.list[s].size > 1);
        Ok(Stages::of(together(used.map(|s| tensor.evaluation(s)))?))
    }

    fn interpolation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let tensor = Tensor::new(slot_ring)?;
        let (single, several): (Vec<usize>, Vec<usize>) =
            tensor.all().rev().partition(|&s| tensor.factors.list[s].size == 1);
        let mut stages = together(several.into_iter().map(|s| tensor.interpolation(s)))?;
        // Factors with one slot still multiply by their duals: no stages of their own.
        let duals = together(single.into_iter().map(|s| tensor.interpolation(s)))?;
        match stages.last_mut() {
            Some(last) => *last = duals.iter().try_fold(last.clone(), |last, dual| dual.compose(&last))?,
            None => {
                let first = duals.into_iter().map(Ok).reduce(|a, b| b?.compose(&a?)).transpose()?;
                return Ok(Stages { first, merged: Vec::new(), last: None });
            }
        }
        Ok(Stages::of(stages))
    }

    fn packed_stage_count(&self, slots: &Hypercube) -> Result<usize> {
        let factors = Factors::of_hypercube(slots)?;
        Ok(factors.list[factors.first..].iter().map(stage_count).sum())
    }

    fn packed_evaluation(&self, slot_ring: &Arc<SlotRing>) -> Result<Stages> {
        let tensor = Tensor::new(slot_ring)?;
        let merged = together(tensor.others().map(|s| tensor.evaluation(s)))?;
        Ok(Stages { first: Some(tensor.packed_evaluation()), merged, last: None })
    }

    fn packed_interpolation(&self, slot_ring: &Arc<SlotRing>, basis: &[Vec<u64>]) -> Result<Stages> {
        let tensor = Tensor::new(slot_ring)?;
        let merged = together(tensor.others().rev().map(|s| tensor.interpolation(s)))?;
        Ok(Stages { first: None, merged, last: Some(tensor.packed_interpolation(basis)) })
    }

    fn packed_supports(&self, slot_ring: &Arc<SlotRing>) -> Result<[StageSupports; 2]> {
        let tensor = Tensor::new(slot_ring)?;
        let block = Some(tensor.support(0..tensor.factors.first, slot_ring.degree()));
        let of = |s: usize, stages: &dyn Fn(usize) -> Result<Vec<SlotMap>>| match tensor.factors.list[s].is_doubled {
            true => Ok(supports(&stages(s)?)),
            false => Ok(vec![tensor.support(s..s + 1, 1)]),
        };
        let forth = tensor.others().map(|s| of(s, &|s| tensor.evaluation(s)));
        let back = tensor.others().rev().map(|s| of(s, &|s| tensor.interpolation(s)));
        let [forth, back] =
            [forth.collect::<Result<Vec<_>>>()?, back.collect::<Result<Vec<_>>>()?].map(|one| one.concat());
        Ok([
            StageSupports { first: block.clone(), merged: forth, last: None },
            StageSupports { first: None, merged: back, last: block },
        ])
    }
}

/// The stages of one factor after the other.
fn together(stages: impl Iterator<Item = Result<Vec<SlotMap>>>) -> Result<Vec<SlotMap>> {
    Ok(stages.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The number of stages of a factor: none for one slot.
fn stage_count(factor: &IndexFactor) -> usize {
    match factor.size {
        1 => 0,
        size if factor.is_doubled => (size.ilog2() as usize).div_ceil(DOUBLINGS),
        _ => 1,
    }
}

/// The stages of a ring over [`Factors::hypercube`].
struct Tensor<'a> {
    slot_ring: &'a Arc<SlotRing>,
    factors: Factors,
}

impl<'a> Tensor<'a> {
    fn new(slot_ring: &'a Arc<SlotRing>) -> Result<Self> {
        Ok(Self { slot_ring, factors: Factors::of_hypercube(slot_ring.hypercube())? })
    }

    /// The numbers of all factors.
    fn all(&self) -> Range<usize> {
        0..self.factors.list.len()
    }

    /// The numbers of those beside the first factor.
    fn others(&self) -> Range<usize> {
        self.factors.first..self.factors.list.len()
    }

    /// The doublings of factor `s` in the given direction, merged into its stages.
    fn by_doublings(&self, s: usize, doubling: impl Fn(&Butterflies, usize) -> SlotMap) -> Result<Vec<SlotMap>> {
        let dimensions = self.factors.dimensions(s..s + 1);
        let (five, sign) = (dimensions.start, dimensions.len() == 2);
        let butterflies = Butterflies::along(self.slot_ring, Some(five), sign.then_some(five + 1));
        let (count, stages) = (butterflies.count(), stage_count(&self.factors.list[s]));
        let merged = |stage: usize| {
            let mut run = (count * stage / stages..count * (stage + 1) / stages).map(|k| doubling(&butterflies, k));
            let first = run.next().expect("no more stages than doublings");
            run.try_fold(first, |product, next| next.compose(&product))
        };
        (0..stages).map(merged).collect()
    }

    /// The stages of factor `s` that evaluate: together `entry(e, j) = b_j(ζ_s^{u(e)})`, for
    /// integers, or any elements where p has no part in the factor. The monomials b_j are the first
    /// k_s; of a factor that is gone through by doublings X_s^{j·d_s} (or X_s^{j·d_s/2}), j with its
    /// bits reversed.
    fn evaluation(&self, s: usize) -> Result<Vec<SlotMap>> {
        let factor = &self.factors.list[s];
        if factor.is_doubled {
            return self.by_doublings(s, Butterflies::evaluation);
        }
        let table = Table::new(self.slot_ring, factor);
        Ok(vec![self.stage(s..s + 1, |row, column| vec![table.monomial(column, table.points[row])])])
    }

    /// The stages of factor `s` that interpolate: together `entry(j, e) = b_j^*(ζ_s^{u(e)})`, b^*
    /// the dual basis for the trace of Z\[X_s\]/Φ_{m_s}.
    fn interpolation(&self, s: usize) -> Result<Vec<SlotMap>> {
        let (factor, modulus) = (&self.factors.list[s], self.slot_ring.modulus());
        if factor.is_doubled {
            // The dual of X_s^i is X_s^{−i}·2/m_s.
            let scale = modulus.inv(modulus.reduce(factor.index / 2)).expect("p does not divide m");
            let last = factor.size.ilog2() as usize - 1;
            let inverse = |butterflies: &Butterflies, k: usize| {
                butterflies.interpolation(last - k, if k == 0 { scale } else { 1 })
            };
            return self.by_doublings(s, inverse);
        }
        let table = Table::new(self.slot_ring, factor);
        Ok(vec![self.stage(s..s + 1, |row, column| vec![table.dual(row, table.points[column])])])
    }

    /// The first factor on packed slots: slot j holds `Σ_i c_{ji}·ζ^i`, and `P(ζ_1^{u(e)})` comes
    /// out, P with coefficient c_{ji} at monomial j + k_1·i. Z_{p^r}-linear: d Frobenius powers for
    /// each pair of slots (2015, Eq. (5)).
    fn packed_evaluation(&self) -> SlotMap {
        let (first, galois, d) = (self.factors.joint(), self.slot_ring.galois(), self.slot_ring.degree());
        let table = Table::new(self.slot_ring, &first);
        self.stage(0..self.factors.first, |row, column| {
            let image = |i: usize| table.monomial(column + first.size * i, table.points[row]);
            galois.linearised_polynomial(&(0..d).map(image).collect::<Vec<_>>())
        })
    }

    /// Its inverse, into the given basis η: slot j receives `Σ_i c_{ji}·η_i`, c_{ji} = Σ_e
    /// Tr(P_e·b_{ji}^*(ζ_1^{u(e)})): the f-th Frobenius power has the constant
    /// `Σ_i σ^f(b_{ji}^*)·η_i`.
    fn packed_interpolation(&self, basis: &[Vec<u64>]) -> SlotMap {
        let (first, galois, d) = (self.factors.joint(), self.slot_ring.galois(), self.slot_ring.degree());
        let table = Table::new(self.slot_ring, &first);
        self.stage(0..self.factors.first, |row, column| {
            let dual = |i: usize| table.dual(row + first.size * i, table.points[column]);
            let duals: Vec<Vec<u64>> = (0..d).map(dual).collect();
            let constant = |f: usize| {
                duals.iter().zip(basis).fold(vec![0; d], |sum, (dual, element)| {
                    galois.add(&sum, &galois.mul(&galois.frobenius(dual, f), element))
                })
            };
            (0..d).map(constant).collect()
        })
    }

    /// The automorphisms of a stage of these factors: from each place to each, with so many Frobenius
    /// powers.
    fn support(&self, factors: Range<usize>, powers: usize) -> BTreeSet<u64> {
        let (cube, m) = (self.slot_ring.hypercube(), self.slot_ring.m());
        let size: usize = self.factors.list[factors.clone()].iter().map(|factor| factor.size).product();
        let apart = self.factors.dimensions(factors).last().map_or(1, |last| cube.stride(last));
        let p = cube.prime() % m;
        let powers: Vec<u64> = std::iter::successors(Some(1), |t| Some(t * p % m)).take(powers).collect();
        let between =
            |row: usize, column: usize| cube.evaluation_exponent(column * apart) * cube.element(row * apart) % m;
        let pairs = (0..size * size).map(|i| between(i / size, i % size)).collect::<BTreeSet<u64>>();
        pairs.iter().flat_map(|t| powers.iter().map(move |power| t * power % m)).collect()
    }

    /// The same matrix on every hypercolumn of these factors, which are neighbouring dimensions:
    /// places are as far apart as those of the last. The entries are linearised polynomials: the
    /// constants of 1, σ, σ², ..
    fn stage(&self, factors: Range<usize>, entry: impl Fn(usize, usize) -> Vec<Vec<u64>> + Sync) -> SlotMap {
        let size: usize = self.factors.list[factors.clone()].iter().map(|factor| factor.size).product();
        let matrix: Vec<Vec<Vec<u64>>> = (0..size * size).into_par_iter().map(|i| entry(i / size, i % size)).collect();
        let apart = self.factors.dimensions(factors).last().map_or(1, |last| self.slot_ring.hypercube().stride(last));
        SlotMap::from_rows(self.slot_ring, |row, put| {
            let place = row / apart % size;
            for column in 0..size {
                let slot = row - place * apart + column * apart;
                let constants = &matrix[place * size + column];
                constants.iter().enumerate().for_each(|(f, value)| put(slot, f, value));
            }
        })
    }
}

/// Values of monomials and of their duals at the points of one factor.
struct Table<'a> {
    slot_ring: &'a SlotRing,
    factor: &'a IndexFactor,
    /// u modulo m_s of each place: the slot of t holds α(ζ^{1/t}).
    points: Vec<u64>,
    /// ζ_i^k for each axis.
    powers: Vec<Vec<Vec<u64>>>,
    /// 1/m_s.
    inverse: u64,
}

impl<'a> Table<'a> {
    fn new(slot_ring: &'a SlotRing, factor: &'a IndexFactor) -> Self {
        let galois = slot_ring.galois();
        let modulus = slot_ring.modulus();
        let powers = factor.axes.iter().map(|axis| {
            let root = galois.zeta_power(slot_ring.m() / axis.index);
            std::iter::successors(Some(galois.constant(1)), |power| Some(galois.mul(power, &root)))
                .take(axis.index as usize)
                .collect()
        });
        let inverse = modulus.inv(modulus.reduce(factor.index)).expect("p does not divide m");
        Self { slot_ring, factor, points: factor.points(), powers: powers.collect(), inverse }
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
        let galois = self.slot_ring.galois();
        self.exponents(j)
            .into_iter()
            .enumerate()
            .fold(galois.constant(1), |product, (axis, k)| galois.mul(&product, self.power(axis, k, u)))
    }

    /// `Π_i X_i^{−j_0}·(Y_i^{−j_1} − Y_i)/m_i` with Y_i = X_i^{ℓ^{k−1}} and j = j_0 + ℓ^{k−1}·j_1.
    fn dual(&self, j: usize, u: u64) -> Vec<u64> {
        let galois = self.slot_ring.galois();
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
