//! Grids of linear maps: matrices larger than one ciphertext.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_ring::slots::SlotRing;
use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};

use super::linear_map::LinearMap;
use super::representation::Representation;

/// A `rows × columns` grid of maps: output `r` is `Σ_c block(r, c)` applied to input `c`.
///
/// A plan of a grid prepares every input once for all outputs, and gathers every output once for
/// all inputs.
#[derive(Clone, Debug)]
pub struct LinearGrid<R: Representation = Arc<SlotRing>> {
    representation: R,
    rows: usize,
    columns: usize,
    blocks: BTreeMap<(usize, usize), LinearMap<R>>,
}

impl<R: Representation> LinearGrid<R> {
    /// The grid of zeros.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] without any row or column.
    pub fn zero(representation: &R, rows: usize, columns: usize) -> Result<Self> {
        for (what, count) in [("the number of outputs", rows), ("the number of inputs", columns)] {
            Limits::at_least(1).check(what, count)?;
        }
        Ok(Self { representation: representation.clone(), rows, columns, blocks: BTreeMap::new() })
    }

    /// One map, as a grid of one row and one column.
    pub fn single(map: &LinearMap<R>) -> Self {
        let blocks = BTreeMap::from([((0, 0), map.clone())]);
        Self { representation: map.representation().clone(), rows: 1, columns: 1, blocks }
    }

    /// Puts a map in place.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::ContextMismatch`].
    pub fn set(&mut self, row: usize, column: usize, map: LinearMap<R>) -> Result<()> {
        let places = [("the row of a block", row, self.rows), ("the column of a block", column, self.columns)];
        for (what, got, count) in places {
            Limits::below(count).check(what, got)?;
        }
        self.representation.check_same(map.representation(), "grid of linear maps")?;
        self.blocks.insert((row, column), map);
        Ok(())
    }

    /// What the constants are written in.
    pub fn representation(&self) -> &R {
        &self.representation
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
    pub fn block(&self, row: usize, column: usize) -> Option<&LinearMap<R>> {
        self.blocks.get(&(row, column))
    }

    /// The automorphisms that occur in any block, increasing.
    pub fn support(&self) -> Vec<u64> {
        let all: BTreeSet<u64> = self.blocks.values().flat_map(LinearMap::support).collect();
        all.into_iter().collect()
    }

    /// The automorphisms of each block, by (row, column).
    pub(in crate::linear) fn supports(&self) -> BTreeMap<(usize, usize), BTreeSet<u64>> {
        self.blocks.iter().map(|(&place, map)| (place, map.support().into_iter().collect())).collect()
    }

    /// The constants of all blocks.
    pub fn constants(&self) -> impl Iterator<Item = &R::Constant> {
        self.blocks.values().flat_map(|map| map.terms().map(|(_, constant)| constant))
    }

    /// The constant of `θ_t` in a block.
    pub(in crate::linear) fn constant(&self, row: usize, column: usize, t: u64) -> Option<&R::Constant> {
        self.block(row, column).and_then(|map| map.constant(t))
    }

    /// The images of plaintexts: the definition.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::ContextMismatch`].
    pub fn apply(&self, inputs: &[R::Constant]) -> Result<Vec<R::Constant>> {
        if inputs.len() != self.columns {
            return Err(Error::ShapeMismatch { what: "inputs of a grid", expected: self.columns, got: inputs.len() });
        }
        let mut outputs = vec![self.representation.zero(); self.rows];
        for (&(row, column), map) in &self.blocks {
            self.representation.add_assign(&mut outputs[row], &map.apply(&inputs[column])?)?;
        }
        Ok(outputs)
    }
}

impl LinearGrid {
    /// The plaintext ring.
    pub fn slot_ring(&self) -> &Arc<SlotRing> {
        &self.representation
    }

    /// [`Self::slot_ring`].
    #[deprecated(since = "0.3.0", note = "use slot_ring")]
    pub fn slots(&self) -> &Arc<SlotRing> {
        self.slot_ring()
    }
}
