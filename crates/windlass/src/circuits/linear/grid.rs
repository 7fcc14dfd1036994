//! Grids of linear maps: matrices larger than one ciphertext.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_ring::slots::SlotRing;

use super::map::LinearMap;
use super::matrix::{check_rectangular, check_slot, dense_entries};
use super::schedule::Pattern;
use crate::error::{Error, Result};
use crate::plaintext::Plaintext;

/// (row, column, value).
type Entry = (usize, usize, u64);

/// A `rows × columns` grid of maps: output `r` is `Σ_c block(r, c)` applied to input `c`.
///
/// A plan of a grid prepares every input once for all outputs, and gathers every output once for all inputs.
#[derive(Clone, Debug)]
pub struct LinearGrid {
    slots: Arc<SlotRing>,
    rows: usize,
    columns: usize,
    blocks: BTreeMap<(usize, usize), LinearMap>,
}

impl LinearGrid {
    /// The grid of zeros. Errors: [`Error::OutOfRange`] without any row or column.
    pub fn zero(slots: &Arc<SlotRing>, rows: usize, columns: usize) -> Result<Self> {
        for (what, count) in [("the number of outputs", rows), ("the number of inputs", columns)] {
            if count == 0 {
                return Err(Error::OutOfRange { what, got: 0.into(), range: "at least 1".to_owned() });
            }
        }
        Ok(Self { slots: Arc::clone(slots), rows, columns, blocks: BTreeMap::new() })
    }

    /// One map, as a grid of one row and one column.
    pub fn single(map: &LinearMap) -> Self {
        let blocks = BTreeMap::from([((0, 0), map.clone())]);
        Self { slots: Arc::clone(map.slots()), rows: 1, columns: 1, blocks }
    }

    /// A matrix over Z_{p^r} of any size by its entries `(row, column, value)`: entry `i` of a vector is slot `i mod ℓ` of ciphertext
    /// `⌊i/ℓ⌋`. Places in the last ciphertexts beyond the matrix hold zeros.
    ///
    /// Errors: [`Error::OutOfRange`] for an entry outside `height × width`, or an empty matrix.
    pub fn from_sparse(
        slots: &Arc<SlotRing>,
        height: usize,
        width: usize,
        entries: impl IntoIterator<Item = (usize, usize, u64)>,
    ) -> Result<Self> {
        let count = slots.slots();
        let mut grid = Self::zero(slots, height.div_ceil(count), width.div_ceil(count))?;
        let mut parts: BTreeMap<(usize, usize), Vec<Entry>> = BTreeMap::new();
        for (row, column, value) in entries {
            check_slot("the row of an entry", row, height)?;
            check_slot("the column of an entry", column, width)?;
            parts.entry((row / count, column / count)).or_default().push((row % count, column % count, value));
        }
        for ((row, column), entries) in parts {
            grid.set(row, column, LinearMap::from_sparse(slots, entries)?)?;
        }
        Ok(grid)
    }

    /// A dense matrix `matrix[row][column]` over Z_{p^r} of any size, laid out as in [`Self::from_sparse`].
    ///
    /// Errors: [`Error::ShapeMismatch`] for rows of different lengths, [`Error::OutOfRange`] for an empty matrix.
    pub fn from_dense(slots: &Arc<SlotRing>, matrix: &[Vec<u64>]) -> Result<Self> {
        check_rectangular(matrix)?;
        Self::from_sparse(slots, matrix.len(), matrix.first().map_or(0, Vec::len), dense_entries(matrix))
    }

    /// Puts a map in place. Errors: [`Error::OutOfRange`], [`Error::ContextMismatch`].
    pub fn set(&mut self, row: usize, column: usize, map: LinearMap) -> Result<()> {
        check_slot("the row of a block", row, self.rows)?;
        check_slot("the column of a block", column, self.columns)?;
        crate::plaintext::check_same_ring(&self.slots, map.slots(), "LinearGrid::set")?;
        self.blocks.insert((row, column), map);
        Ok(())
    }

    /// The plaintext ring.
    pub fn slots(&self) -> &Arc<SlotRing> {
        &self.slots
    }

    /// The number of outputs.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of inputs.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The map at a place, if it is not zero.
    pub fn block(&self, row: usize, column: usize) -> Option<&LinearMap> {
        self.blocks.get(&(row, column))
    }

    /// The automorphisms that occur in any block, increasing.
    pub fn support(&self) -> Vec<u64> {
        let all: BTreeSet<u64> = self.blocks.values().flat_map(LinearMap::support).collect();
        all.into_iter().collect()
    }

    /// The constants of all blocks.
    pub fn constants(&self) -> impl Iterator<Item = &Plaintext> {
        self.blocks.values().flat_map(|map| map.terms().map(|(_, constant)| constant))
    }

    /// Which automorphisms each block has.
    pub(super) fn pattern(&self) -> Pattern {
        let blocks = self.blocks.iter().map(|(&place, map)| (place, map.support().into_iter().collect())).collect();
        Pattern { rows: self.rows, columns: self.columns, blocks }
    }

    /// The constant of `θ_t` in a block.
    pub(super) fn constant(&self, row: usize, column: usize, t: u64) -> Option<&Plaintext> {
        self.block(row, column).and_then(|map| map.constant(t))
    }

    /// The images of plaintexts: the definition. Errors: [`Error::ShapeMismatch`], [`Error::ContextMismatch`].
    pub fn apply(&self, inputs: &[Plaintext]) -> Result<Vec<Plaintext>> {
        if inputs.len() != self.columns {
            return Err(Error::ShapeMismatch { what: "inputs of a grid", expected: self.columns, got: inputs.len() });
        }
        let mut outputs = vec![Plaintext::zero(&self.slots); self.rows];
        for (&(row, column), map) in &self.blocks {
            outputs[row] = outputs[row].add(&map.apply(&inputs[column])?)?;
        }
        Ok(outputs)
    }
}
