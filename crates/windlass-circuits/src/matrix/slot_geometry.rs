//! The slot geometry of a representation: the line of each slot, and the automorphism that moves
//! one slot to another.

use std::sync::Arc;

use num_complex::Complex64;
use windlass_ring::slots::SlotRing;
use windlass_schemes::error::Result;

use super::fold::{Fold, Line, Side};
use crate::linear::map::norms_of_entries;
use crate::linear::{ComplexSlots, LinearGrid, Planned, Representation};
use crate::trace::TraceChain;

/// Slots that matrices can be folded on.
pub(super) trait SlotGeometry: Planned {
    /// An entry of a matrix.
    type Entry: Copy;

    /// The largest sum of the absolute values of a row, and a bound on the spectral norm, where
    /// bounds on values are kept.
    fn norms(_: (usize, usize), _: &[(usize, usize, Self::Entry)]) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// The number of slots.
    fn count(&self) -> usize;

    /// The lines on which they lie.
    fn lines(&self) -> Vec<Line>;

    /// Which automorphisms bring slots to others.
    fn quotients(&self) -> Quotients;

    /// The automorphism that brings slot `from` to slot `to`, whose quotient is known.
    fn bringing(&self, quotient: u64, to: usize, from: usize) -> u64;

    /// The sum of the blocks of a fold, or the one that makes the copies for it.
    fn chain(&self, fold: &Fold) -> Result<TraceChain>;

    /// The matrix with these entries.
    fn grid(
        &self,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, Self::Entry)>,
    ) -> Result<LinearGrid<Self>>;
}

/// The units u_j of the slots modulo a number: θ_t brings slot k to slot j for t ≡ u_k/u_j.
pub(super) struct Quotients {
    modulus: u64,
    units: Vec<u64>,
    inverses: Vec<u64>,
}

impl Quotients {
    /// A number below [`Self::range`] that is the same for pairs of slots that one automorphism
    /// takes to each other.
    pub fn of(&self, to: usize, from: usize) -> u64 {
        self.units[from] * self.inverses[to] % self.modulus
    }

    /// The modulus.
    pub fn range(&self) -> usize {
        self.modulus as usize
    }
}

impl SlotGeometry for Arc<SlotRing> {
    type Entry = u64;

    fn count(&self) -> usize {
        self.slots()
    }

    fn lines(&self) -> Vec<Line> {
        let cube = self.hypercube();
        let line = |(dimension, axis): (usize, &windlass_ring::slots::Dimension)| Line {
            dimension,
            size: axis.size,
            stride: cube.stride(dimension),
        };
        cube.dimensions().iter().enumerate().map(line).collect()
    }

    fn quotients(&self) -> Quotients {
        let cube = self.hypercube();
        let units = (0..self.slots()).map(|slot| cube.evaluation_exponent(slot)).collect();
        let inverses = (0..self.slots()).map(|slot| cube.element(slot)).collect();
        Quotients { modulus: self.m(), units, inverses }
    }

    fn bringing(&self, quotient: u64, _: usize, _: usize) -> u64 {
        quotient
    }

    fn chain(&self, fold: &Fold) -> Result<TraceChain> {
        let (dimension, distance) = (fold.line.dimension, fold.distance);
        match fold.side {
            Side::Rows => TraceChain::window_along(self, dimension, distance, fold.blocks),
            Side::Columns => TraceChain::copies_along(self, dimension, distance, fold.blocks),
        }
    }

    fn grid(
        &self,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, u64)>,
    ) -> Result<LinearGrid> {
        LinearGrid::from_sparse(self, height, width, entries)
    }
}

impl SlotGeometry for ComplexSlots {
    type Entry = Complex64;

    fn norms(shape: (usize, usize), entries: &[(usize, usize, Complex64)]) -> (f64, f64) {
        norms_of_entries(shape, entries)
    }

    fn count(&self) -> usize {
        ComplexSlots::count(self)
    }

    fn lines(&self) -> Vec<Line> {
        vec![Line { dimension: 0, size: ComplexSlots::count(self), stride: 1 }]
    }

    /// Slot j + r comes to slot j by θ_t with t = 5^r, and r counts modulo the number s of slots:
    /// that is the order of 5 modulo 4s.
    fn quotients(&self) -> Quotients {
        let (count, modulus) = (ComplexSlots::count(self), 4 * ComplexSlots::count(self) as u64);
        let units: Vec<u64> = std::iter::successors(Some(1), |unit| Some(5 * unit % modulus)).take(count).collect();
        let inverses = (0..count).map(|slot| units[(count - slot) % count]).collect();
        Quotients { modulus, units, inverses }
    }

    fn bringing(&self, _: u64, to: usize, from: usize) -> u64 {
        self.turn(from as i64 - to as i64, false)
    }

    fn chain(&self, fold: &Fold) -> Result<TraceChain> {
        let (distance, blocks) = (fold.distance as u64, fold.blocks as u64);
        match fold.side {
            Side::Rows => TraceChain::window(self.conductor(), distance, blocks),
            Side::Columns => TraceChain::copies(self.conductor(), distance, blocks),
        }
    }

    fn grid(
        &self,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, Complex64)>,
    ) -> Result<LinearGrid<ComplexSlots>> {
        LinearGrid::sparse_matrix(self, height, width, entries)
    }
}
