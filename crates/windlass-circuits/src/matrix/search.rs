//! Computes the price of each layout of a matrix product, before any constant is encoded.

use std::collections::{BTreeMap, BTreeSet};

use windlass_rlwe::Limits;
use windlass_schemes::error::{Error, Result};

use super::fold::{Fold, Side};
use super::plan::{Folding, MatrixSpec};
use super::slot_geometry::{Quotients, SlotGeometry};
use crate::linear::PlanSpec;
use crate::linear::map::Axes;
use crate::linear::plan::Pattern;
use crate::trace::{TracePlan, TraceSpec};

/// A matrix by its entries that are not zero.
pub(super) struct Matrix<T> {
    pub height: usize,
    pub width: usize,
    pub entries: Vec<(usize, usize, T)>,
}

impl<T: Copy> Matrix<T> {
    /// # Errors
    /// [`Error::OutOfRange`] for no rows, no columns, or an entry outside.
    pub fn check(&self) -> Result<()> {
        Limits::at_least(1).check("the number of rows", self.height)?;
        Limits::at_least(1).check("the number of columns", self.width)?;
        for &(row, column, _) in &self.entries {
            Limits::below(self.height).check("the row of an entry", row)?;
            Limits::below(self.width).check("the column of an entry", column)?;
        }
        Ok(())
    }
}

/// The fold with the lowest cost for a matrix, with the plan of its sums; `None` if no fold is
/// cheaper.
///
/// # Errors
/// [`Error::Unplannable`] if a fold is asked for and none is possible.
pub(super) fn best_fold<R: SlotGeometry>(
    slots: &R,
    matrix: &Matrix<R::Entry>,
    spec: &MatrixSpec,
) -> Result<Option<(Fold, TracePlan)>> {
    if spec.folding == Folding::Never {
        return Ok(None);
    }
    let (axes, quotients) = (slots.axes(), slots.quotients());
    let sides: &[Side] = if spec.zeros_beyond { &[Side::Rows, Side::Columns] } else { &[Side::Rows] };
    let search = Search { slots, matrix, spec: &spec.linear, sides, axes, quotients };
    let direct = match spec.folding {
        Folding::Always => f64::INFINITY,
        _ => search.products(None, f64::INFINITY).map_or(f64::INFINITY, |(price, _)| price),
    };
    let mut best: Option<(f64, Fold, TracePlan)> = None;
    for fold in search.folds() {
        let least = best.as_ref().map_or(direct, |(least, ..)| *least);
        if let Some((price, sum)) = search.folded(&fold, least)? {
            best = Some((price, fold, sum));
        }
    }
    match best {
        None if spec.folding == Folding::Always => {
            let (rows, columns) = (matrix.height, matrix.width);
            let reason = match search.folds()[..] {
                [] => format!("no dimension of the slots is long enough for {rows} rows of {columns} entries"),
                _ => "every packing needs other keys than those that are given, or more keys than are allowed".into(),
            };
            Err(Error::Unplannable { strategy: "a folded matrix".into(), reason })
        }
        best => Ok(best.map(|(_, fold, sum)| (fold, sum))),
    }
}

struct Search<'a, R: SlotGeometry> {
    slots: &'a R,
    matrix: &'a Matrix<R::Entry>,
    spec: &'a PlanSpec,
    sides: &'a [Side],
    axes: Axes,
    quotients: Quotients,
}

impl<R: SlotGeometry> Search<'_, R> {
    /// The folds worth pricing. One ciphertext must hold all of the side that is multiplied.
    fn folds(&self) -> Vec<Fold> {
        let count = self.slots.count();
        let (height, width) = (self.matrix.height, self.matrix.width);
        let fits = |side: &&Side| match side {
            Side::Rows => height <= count,
            Side::Columns => width <= count,
        };
        let shortened = |side| {
            let lines = self.slots.lines().into_iter();
            lines.flat_map(move |line| Fold::candidates(line, side, height.min(count), width.min(count)))
        };
        match self.matrix.entries.is_empty() {
            true => Vec::new(),
            false => self.sides.iter().filter(fits).flat_map(|&side| shortened(side)).collect(),
        }
    }

    /// The price of a fold and the plan of its sums, if that is below a price and the keys allow it.
    fn folded(&self, fold: &Fold, below: f64) -> Result<Option<(f64, TracePlan)>> {
        let sums = TraceSpec {
            keys: self.spec.keys.clone(),
            most_keys: self.spec.max_keys,
            cost: self.spec.cost,
            ..TraceSpec::default()
        };
        let sum = match TracePlan::new(&self.slots.chain(fold)?, &sums) {
            Err(Error::Unplannable { .. } | Error::MissingGaloisKey { .. }) => return Ok(None),
            sum => sum?,
        };
        let Some((products, keys)) = self.products(Some(fold), below - sum.price()) else { return Ok(None) };
        let keys = keys.union(&sum.required_keys()).count();
        let price = products + sum.price();
        let few = self.spec.max_keys.is_none_or(|most| keys <= most);
        Ok((few && price < below).then_some((price, sum)))
    }

    /// The price of the products and their keys; `None` if they cannot cost less than a price, or
    /// have no plan.
    fn products(&self, fold: Option<&Fold>, below: f64) -> Option<(f64, BTreeSet<u64>)> {
        let blocks = self.supports(fold);
        let diagonals: usize = blocks.values().map(BTreeSet::len).sum();
        if diagonals as f64 * self.spec.cost.multiply_constant.min(self.spec.cost.multiply_base_q) >= below {
            return None;
        }
        let shape = [self.matrix.height, self.matrix.width].map(|size| size.div_ceil(self.slots.count())).into();
        let pattern = Pattern { shape, axes: &self.axes, blocks: &blocks, ones: 0, doubling: None };
        let chosen = pattern.choose(self.slots.conductor(), self.spec).ok()?;
        Some((chosen.price, chosen.method.keys()))
    }

    /// The automorphisms of each block, by (row, column).
    fn supports(&self, fold: Option<&Fold>) -> BTreeMap<(usize, usize), BTreeSet<u64>> {
        let count = self.slots.count();
        let mut seen: BTreeMap<(usize, usize), Vec<bool>> = BTreeMap::new();
        let mut blocks: BTreeMap<(usize, usize), BTreeSet<u64>> = BTreeMap::new();
        for &(row, column, _) in &self.matrix.entries {
            let block = (row / count, column / count);
            let [row, column] = [row, column].map(|slot| slot % count);
            let (to, from) = fold.map_or((row, column), |fold| fold.place(row, column));
            let quotient = self.quotients.of(to, from);
            let seen = seen.entry(block).or_insert_with(|| vec![false; self.quotients.range()]);
            if !std::mem::replace(&mut seen[quotient as usize], true) {
                blocks.entry(block).or_default().insert(self.slots.bringing(quotient, to, from));
            }
        }
        blocks
    }
}
