//! Where the slots are: their units, and their places on the lines of the hypercube.

use std::collections::{BTreeSet, HashMap};

use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::error::Result;

use crate::linear::map::{inverse_mod, power_mod};

/// Where the slots are: their units, and the way back.
pub(super) struct SlotUnits {
    units: Vec<u64>,
    slot_of: HashMap<u64, usize>,
}

impl SlotUnits {
    pub fn of(slot_ring: &SlotRing) -> Self {
        let units: Vec<u64> = (0..slot_ring.slots()).map(|j| slot_ring.hypercube().evaluation_exponent(j)).collect();
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

/// The quotients `u_{j'}/u_j` of slots that differ only on the given dimensions.
pub(super) fn quotients(slot_ring: &SlotRing, dimensions: &[usize]) -> Vec<u64> {
    let m = slot_ring.m();
    let mut set = BTreeSet::from([1]);
    for &s in dimensions {
        let dimension = &slot_ring.hypercube().dimensions()[s];
        let inverse = inverse_mod(dimension.generator % m, m);
        let powers: Vec<u64> = (0..dimension.size as u64)
            .flat_map(|e| [power_mod(dimension.generator, e, m), power_mod(inverse, e, m)])
            .collect();
        set = set.iter().flat_map(|&t| powers.iter().map(move |&power| t * power % m)).collect();
    }
    set.into_iter().collect()
}

/// Coordinates of the slots along one dimension.
pub(super) struct Line {
    coordinate: Vec<usize>,
    hypercolumn: Vec<usize>,
}

impl Line {
    /// # Errors
    /// [`windlass_schemes::Error::OutOfRange`] if there is no such dimension.
    pub(super) fn of(slot_ring: &SlotRing, dimension: usize) -> Result<Self> {
        let dimensions = slot_ring.hypercube().dimensions();
        Limits::below(dimensions.len()).check("the dimension", dimension)?;
        let mut seen: HashMap<Vec<usize>, usize> = HashMap::new();
        let (mut coordinate, mut hypercolumn) = (Vec::new(), Vec::new());
        for j in 0..slot_ring.slots() {
            let mut coordinates = slot_ring.hypercube().coordinates(j);
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

/// The size of a dimension, checked.
pub(super) fn dimension_size(slot_ring: &SlotRing, dimension: usize) -> Result<usize> {
    Line::of(slot_ring, dimension)?;
    Ok(slot_ring.hypercube().dimensions()[dimension].size)
}
