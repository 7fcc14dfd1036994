//! Builders: matrices on the slots, as linear maps.
//!
//! Slot `j` of `α` is `α(ζ^{u_j})` for a unit `u_j`, so slot `j` of `θ_t(α)` is `α(ζ^{u_j·t})`: it is slot `j'` of `α`
//! exactly if `u_j·t = u_{j'}`, and its image under the f-th power of Frobenius if `u_j·t = u_{j'}·p^f`. A matrix entry at
//! (row `j`, column `j'`) therefore belongs in slot `j` of the constant of `t = u_{j'}/u_j`. In a bad dimension the rows
//! that wrap around have another `t` than those that do not: the masks of Halevi–Shoup 2018, Eq. (7), arise by themselves.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use windlass_ring::slots::SlotRing;

use super::axes::{inverse_mod, power_mod};
use super::map::LinearMap;
use crate::error::{Error, Result};
use crate::plaintext::Plaintext;

/// Where the slots are: their units, and the way back.
pub(super) struct SlotUnits {
    units: Vec<u64>,
    slot_of: HashMap<u64, usize>,
}

impl SlotUnits {
    pub(super) fn of(slots: &SlotRing) -> Self {
        let units: Vec<u64> = (0..slots.slots()).map(|j| slots.hypercube().evaluation_exponent(j)).collect();
        let slot_of = units.iter().enumerate().map(|(j, &u)| (u, j)).collect();
        Self { units, slot_of }
    }

    /// The pairs (row, column) whose entry belongs to `θ_t`.
    pub(super) fn pairs(&self, m: u64, t: u64) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.units
            .iter()
            .enumerate()
            .filter_map(move |(row, &unit)| self.slot_of.get(&(unit * t % m)).map(|&column| (row, column)))
    }
}

/// The quotients `u_{j'}/u_j` of slots that differ on the given dimensions alone.
pub(super) fn quotients(slots: &SlotRing, dimensions: &[usize]) -> Vec<u64> {
    let m = slots.m();
    let mut set = BTreeSet::from([1]);
    for &s in dimensions {
        let dimension = &slots.hypercube().dimensions()[s];
        let inverse = inverse_mod(dimension.generator % m, m);
        let powers: Vec<u64> = (0..dimension.size as u64)
            .flat_map(|e| [power_mod(dimension.generator, e, m), power_mod(inverse, e, m)])
            .collect();
        set = set.iter().flat_map(|&t| powers.iter().map(move |&power| t * power % m)).collect();
    }
    set.into_iter().collect()
}

/// The map with the matrix whose entry at (row slot, column slot) is written into a zeroed buffer of d coefficients.
fn from_entries(
    slots: &Arc<SlotRing>,
    candidates: &[u64],
    entry: impl Fn(usize, usize, &mut [u64]) + Sync,
) -> Result<LinearMap> {
    let (m, d, units) = (slots.m(), slots.degree(), SlotUnits::of(slots));
    let terms: Vec<Option<(u64, Plaintext)>> = candidates
        .par_iter()
        .map(|&t| {
            let mut values = vec![0u64; slots.slots() * d];
            for (row, column) in units.pairs(m, t) {
                entry(row, column, &mut values[row * d..(row + 1) * d]);
            }
            let zero = values.iter().all(|&value| value == 0);
            if zero { Ok(None) } else { Ok(Some((t, Plaintext::from_slots(slots, &values)?.recognised()))) }
        })
        .collect::<Result<_>>()?;
    LinearMap::from_terms(slots, terms.into_iter().flatten())
}

/// Coordinates of the slots along one dimension.
pub(super) struct Line {
    coordinate: Vec<usize>,
    hypercolumn: Vec<usize>,
}

impl Line {
    /// Errors: [`Error::OutOfRange`] if there is no such dimension.
    pub(super) fn of(slots: &SlotRing, dimension: usize) -> Result<Self> {
        let dimensions = slots.hypercube().dimensions();
        if dimension >= dimensions.len() {
            let range = format!("less than the number of dimensions, {}", dimensions.len());
            return Err(Error::OutOfRange { what: "the dimension", got: dimension.into(), range });
        }
        let mut seen: HashMap<Vec<usize>, usize> = HashMap::new();
        let (mut coordinate, mut hypercolumn) = (Vec::new(), Vec::new());
        for j in 0..slots.slots() {
            let mut coordinates = slots.hypercube().coordinates(j);
            coordinate.push(std::mem::take(&mut coordinates[dimension]));
            let next = seen.len();
            hypercolumn.push(*seen.entry(coordinates).or_insert(next));
        }
        Ok(Self { coordinate, hypercolumn })
    }

    /// (hypercolumn, row, column) of two slots on one line.
    pub(super) fn on_one(&self, row: usize, column: usize) -> Option<(usize, usize, usize)> {
        let same = self.hypercolumn[row] == self.hypercolumn[column];
        same.then(|| (self.hypercolumn[row], self.coordinate[row], self.coordinate[column]))
    }
}

impl LinearMap {
    /// `MatMul1D`: one `D × D` matrix over `E` for every hypercolumn of dimension `s`:
    /// `T(v)[c, i] = Σ_k entry(c, i, k) · v[c, k]` (Halevi–Shoup 2018, §3.1).
    ///
    /// `entry(hypercolumn, row, column, out)` writes the d coefficients of an element of `E` into a zeroed buffer.
    /// Hypercolumns are numbered in the order of their first slot. Cost: one encoding for each diagonal, of which there are
    /// D in a good dimension and 2D−1 in a bad one. Errors: [`Error::OutOfRange`] if there is no such dimension.
    pub fn matmul_1d_extension(
        slots: &Arc<SlotRing>,
        dimension: usize,
        entry: impl Fn(usize, usize, usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        let line = Line::of(slots, dimension)?;
        from_entries(slots, &quotients(slots, &[dimension]), |row, column, out| {
            if let Some((hypercolumn, row, column)) = line.on_one(row, column) {
                entry(hypercolumn, row, column, out);
            }
        })
    }

    /// [`LinearMap::matmul_1d_extension`] for a matrix of integers, taken modulo `p^r`.
    pub fn matmul_1d(
        slots: &Arc<SlotRing>,
        dimension: usize,
        entry: impl Fn(usize, usize, usize) -> u64 + Sync,
    ) -> Result<Self> {
        let modulus = slots.modulus().value();
        Self::matmul_1d_extension(slots, dimension, |c, i, k, out| out[0] = entry(c, i, k) % modulus)
    }

    /// `MatMulFull`: an `ℓ × ℓ` matrix over `E` on all slots: `T(v)[i] = Σ_k entry(i, k) · v[k]` (§7, Eq. (8)).
    ///
    /// Cost: at most `Π_s (2 D_s − 1)` encodings, ℓ if every dimension is good.
    pub fn matmul_full_extension(
        slots: &Arc<SlotRing>,
        entry: impl Fn(usize, usize, &mut [u64]) + Sync,
    ) -> Result<Self> {
        let dimensions: Vec<usize> = (0..slots.hypercube().dimensions().len()).collect();
        from_entries(slots, &quotients(slots, &dimensions), entry)
    }

    /// [`LinearMap::matmul_full_extension`] for a matrix of integers, taken modulo `p^r`.
    pub fn matmul_full(slots: &Arc<SlotRing>, entry: impl Fn(usize, usize) -> u64 + Sync) -> Result<Self> {
        let modulus = slots.modulus().value();
        Self::matmul_full_extension(slots, |row, column, out| out[0] = entry(row, column) % modulus)
    }

    /// Rotation by `amount` along a dimension of size D: slot `i` of the result is slot `(i − amount) mod D` of the input.
    /// In a good dimension this is one automorphism, in a bad one two with masks (§2.3, Eq. (3)).
    pub fn rotation(slots: &Arc<SlotRing>, dimension: usize, amount: i64) -> Result<Self> {
        let size = dimension_size(slots, dimension)? as i64;
        let amount = amount.rem_euclid(size);
        Self::matmul_1d(slots, dimension, |_, row, column| {
            u64::from((row as i64 - column as i64 - amount).rem_euclid(size) == 0)
        })
    }

    /// Shift by `amount` along a dimension, with zeros moving in: slot `i` of the result is slot `i − amount` of the input, or
    /// 0 if there is none.
    pub fn shift(slots: &Arc<SlotRing>, dimension: usize, amount: i64) -> Result<Self> {
        Self::matmul_1d(slots, dimension, |_, row, column| u64::from(row as i64 - column as i64 == amount))
    }

    /// The `power`-th power of Frobenius, `σ = θ_p`, on every slot.
    pub fn frobenius(slots: &Arc<SlotRing>, power: usize) -> Result<Self> {
        let exponent = (power % slots.degree()) as u64;
        Self::automorphism(slots, power_mod(slots.prime(), exponent, slots.m()))
    }

    /// The slot-wise trace `E → Z_{p^r}`: `Σ_{f<d} σ^f`. All constants are 1.
    pub fn trace(slots: &Arc<SlotRing>) -> Result<Self> {
        let m = slots.m();
        let one = Plaintext::one(slots);
        Self::from_terms(slots, (0..slots.degree() as u64).map(|f| (power_mod(slots.prime(), f, m), one.clone())))
    }
}

/// The size of a dimension, checked.
pub(super) fn dimension_size(slots: &SlotRing, dimension: usize) -> Result<usize> {
    Line::of(slots, dimension)?;
    Ok(slots.hypercube().dimensions()[dimension].size)
}
