//! Sums in base `QP`: double hoisting.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::execute::Run;
use super::factoring::Layout;
use super::prepare::{Held, PreparedPlan};
use crate::error::Result;
use crate::switching::{MixedRow, Switching};

/// How many inputs are held in base `QP` at a time, beside those that others hang from.
const BATCH: usize = 64;
/// How many constants are expanded at a time, where they are held as coefficients.
const EXPANDED: usize = 64;
/// The fewest automorphisms of one decomposition that are worth a fused product.
const FUSED: usize = 3;

/// Sums at work, in the order of the prepared plan.
type Sums<E> = Vec<Option<<E as Switching>::Extended>>;

/// What one sum takes from a batch: (position in the batch, constant).
type Row<'a, E> = Vec<(usize, &'a Held<<E as Switching>::Constant>)>;

/// The outputs of a plan; `None` stands for zero.
pub(super) fn apply<E: Switching>(run: &Run<'_, E>, prepared: &PreparedPlan<E>) -> Result<Vec<Option<E::Ciphertext>>> {
    let mut sums: Sums<E> = (0..prepared.sums.len()).map(|_| None).collect();
    for column in 0..run.inputs.len() {
        Column { run, prepared, column, pending: Vec::new() }.take(&mut sums)?;
    }
    let places = prepared.sums.iter().map(|sum| (sum.row, sum.output));
    let placed = places.zip(sums).filter_map(|(place, sum)| sum.map(|sum| (place, sum)));
    gather(run, placed.collect())
}

/// Inputs in one of as few equal batches as there can be.
fn batch_size(inputs: usize) -> usize {
    inputs.div_ceil(inputs.div_ceil(BATCH).max(1)).max(1)
}

/// The order in which input nodes are used: those of one number together.
pub(super) fn batches(layout: &Layout) -> Vec<usize> {
    let nodes = layout.inputs.nodes();
    let leaves = nodes.len() - 1;
    (0..nodes.len()).map(|i| if i == 0 { 0 } else { 1 + (i - 1) / batch_size(leaves) }).collect()
}

/// One input ciphertext at work.
struct Column<'a, E: Switching> {
    run: &'a Run<'a, E>,
    prepared: &'a PreparedPlan<E>,
    column: usize,
    /// Inputs in base `QP` that wait for their products: (node, input).
    pending: Vec<(usize, E::Extended)>,
}

/// Inputs from which others hang.
struct Level<E: Switching> {
    hoisted: BTreeMap<usize, E::Hoisted>,
    /// Links of chains, still to be multiplied.
    chained: Vec<(usize, E::Extended)>,
}

impl<E: Switching> Column<'_, E> {
    /// Makes the inputs, level by level of their tree, and adds their products to the sums.
    ///
    /// The links of a chain stay in base `QP`: what hangs from one needs no mod-down of its first half.
    fn take(mut self, sums: &mut Sums<E>) -> Result<()> {
        let (run, ciphertext) = (self.run, &self.run.inputs[self.column]);
        let (made, wanted) = (&run.schedule.made[self.column], &run.schedule.wanted[self.column]);
        let nodes = run.layout.inputs.nodes();
        let (parents, links) = (run.layout.inputs.parents(made), run.layout.inputs.links(made));
        if wanted[0] {
            self.pending.push((0, run.evaluator.extend(ciphertext)?));
        }
        let mut level = Level::<E> { hoisted: BTreeMap::new(), chained: Vec::new() };
        if parents[0] {
            level.hoisted.insert(0, run.evaluator.hoist(ciphertext)?);
        }
        for _ in 0..run.layout.inputs.depth() {
            let mut next = Level { hoisted: BTreeMap::new(), chained: Vec::new() };
            let children =
                |parent: usize| (0..nodes.len()).filter(move |&i| made[i] && nodes[i].parent == Some(parent));
            let moved = level.chained.par_iter().map(|(parent, image)| {
                let child = children(*parent).next().expect("one hangs from a link");
                Ok((child, run.evaluator.extended_automorphism(image, nodes[child].step)?))
            });
            let moved: Vec<(usize, E::Extended)> = moved.collect::<Result<_>>()?;
            self.wait(level.chained.into_iter(), sums)?;
            self.place(moved, &parents, &links, &mut next, sums)?;
            for (&parent, source) in &level.hoisted {
                let (inner, leaves): (Vec<usize>, Vec<usize>) = children(parent).partition(|&i| parents[i]);
                self.take_leaves(source, &leaves, sums)?;
                for batch in inner.chunks(BATCH) {
                    let images = self.images(source, batch)?;
                    self.place(batch.iter().copied().zip(images).collect(), &parents, &links, &mut next, sums)?;
                }
            }
            level = next;
        }
        self.flush(sums)
    }

    /// Puts images where they are needed next: links are kept, other parents decomposed, and all that are no links wait for their products.
    fn place(
        &mut self,
        images: Vec<(usize, E::Extended)>,
        parents: &[bool],
        links: &[bool],
        next: &mut Level<E>,
        sums: &mut Sums<E>,
    ) -> Result<()> {
        let (kept, rest): (Vec<_>, Vec<_>) = images.into_iter().partition(|(i, _)| links[*i]);
        next.chained.extend(kept);
        let evaluator = self.run.evaluator;
        let sources = rest.par_iter().filter(|(i, _)| parents[*i]);
        let sources = sources.map(|(i, image)| Ok((*i, evaluator.hoist(&evaluator.mod_down(image.clone())?)?)));
        next.hoisted.extend(sources.collect::<Result<Vec<(usize, E::Hoisted)>>>()?);
        self.wait(rest.into_iter(), sums)
    }

    /// `θ_step` of a decomposed ciphertext for some of its children.
    fn images(&self, source: &E::Hoisted, batch: &[usize]) -> Result<Vec<E::Extended>> {
        let nodes = self.run.layout.inputs.nodes();
        batch.par_iter().map(|&i| self.run.evaluator.hoisted_automorphism(source, nodes[i].step)).collect()
    }

    fn take_leaves(&mut self, source: &E::Hoisted, leaves: &[usize], sums: &mut Sums<E>) -> Result<()> {
        if leaves.len() < FUSED {
            let images = self.images(source, leaves)?;
            return self.wait(leaves.iter().copied().zip(images), sums);
        }
        let nodes = self.run.layout.inputs.nodes();
        for batch in leaves.chunks(batch_size(leaves.len())) {
            let steps: Vec<u64> = batch.iter().map(|&i| nodes[i].step).collect();
            self.products(batch, sums, |rows| self.run.evaluator.dot_hoisted(source, &steps, rows))?;
        }
        Ok(())
    }

    fn wait(&mut self, inputs: impl Iterator<Item = (usize, E::Extended)>, sums: &mut Sums<E>) -> Result<()> {
        let wanted = &self.run.schedule.wanted[self.column];
        self.pending.extend(inputs.filter(|(i, _)| wanted[*i]));
        if self.pending.len() >= BATCH { self.flush(sums) } else { Ok(()) }
    }

    fn flush(&mut self, sums: &mut Sums<E>) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let (batch, inputs): (Vec<usize>, Vec<E::Extended>) = std::mem::take(&mut self.pending).into_iter().unzip();
        self.products(&batch, sums, |rows| self.run.evaluator.dot_extended(&inputs, rows))
    }

    /// Adds to every sum what it takes from a batch of inputs. `dot` gets rows of (position in the batch, constant or 1).
    fn products(
        &self,
        batch: &[usize],
        sums: &mut Sums<E>,
        dot: impl Fn(&[MixedRow<'_, E::Constant>]) -> Result<Vec<E::Extended>>,
    ) -> Result<()> {
        let position: HashMap<usize, usize> = batch.iter().enumerate().map(|(at, &i)| (i, at)).collect();
        let mut rows: Vec<(usize, Row<'_, E>)> = Vec::new();
        for (index, sum) in self.prepared.sums.iter().enumerate() {
            let mine = sum.terms.iter().filter(|term| term.column == self.column);
            let row: Row<'_, E> = mine.filter_map(|term| Some((*position.get(&term.input)?, &term.constant))).collect();
            if !row.is_empty() {
                rows.push((index, row));
            }
        }
        let packed = |row: &Row<'_, E>| row.iter().filter(|(_, c)| matches!(c, Held::Packed(_))).count();
        let mut rest = &rows[..];
        while !rest.is_empty() {
            // As many rows as may be expanded at a time, at least one.
            let mut expanded = 0;
            let fit = |(_, row): &&(usize, Row<'_, E>)| {
                expanded += packed(row);
                expanded <= EXPANDED
            };
            let taken = rest.iter().take_while(fit).count().max(1);
            let (now, later) = rest.split_at(taken);
            self.resolved(now, sums, &dot)?;
            rest = later;
        }
        Ok(())
    }

    fn resolved(
        &self,
        rows: &[(usize, Row<'_, E>)],
        sums: &mut Sums<E>,
        dot: impl Fn(&[MixedRow<'_, E::Constant>]) -> Result<Vec<E::Extended>>,
    ) -> Result<()> {
        let expand = |&(_, constant): &(usize, &Held<E::Constant>)| match constant {
            Held::Packed(packed) => (self.run.expand)(packed).map(Some),
            _ => Ok(None),
        };
        let expanded: Vec<Vec<Option<E::Constant>>> =
            rows.par_iter().map(|(_, row)| row.par_iter().map(expand).collect()).collect::<Result<_>>()?;
        let constants: Vec<MixedRow<'_, E::Constant>> =
            rows.iter().zip(&expanded).map(|((_, row), expanded)| resolve::<E>(row, expanded)).collect();
        for ((index, _), product) in rows.iter().zip(dot(&constants)?) {
            match &mut sums[*index] {
                Some(sum) => self.run.evaluator.add_extended_assign(sum, &product)?,
                empty => *empty = Some(product),
            }
        }
        Ok(())
    }
}

/// A row with its constants where they are: held, or expanded for now.
fn resolve<'a, E: Switching>(row: &'a Row<'a, E>, expanded: &'a [Option<E::Constant>]) -> MixedRow<'a, E::Constant> {
    let mut constants = Vec::with_capacity(row.len());
    for ((at, held), expanded) in row.iter().zip(expanded) {
        let constant = match held {
            Held::Ready(constant) => Some(constant),
            _ => expanded.as_ref(),
        };
        constants.push((*at, constant));
    }
    constants
}

/// Brings sums at (row, output node) to the root of the output tree, deepest level first, and down to base `Q`.
fn gather<E: Switching>(
    run: &Run<'_, E>,
    mut sums: BTreeMap<(usize, usize), E::Extended>,
) -> Result<Vec<Option<E::Ciphertext>>> {
    let nodes = run.layout.outputs.nodes();
    for level in (1..=run.layout.outputs.depth()).rev() {
        let keys: Vec<(usize, usize)> = sums.keys().copied().filter(|&(_, o)| nodes[o].depth == level).collect();
        let of_level: Vec<_> = keys.into_iter().map(|key| (key, sums.remove(&key).expect("listed"))).collect();
        let moved: Vec<E::Extended> = of_level
            .par_iter()
            .map(|((_, o), sum)| run.evaluator.extended_automorphism(sum, nodes[*o].step))
            .collect::<Result<_>>()?;
        for (((row, o), _), moved) in of_level.iter().zip(moved) {
            let parent = nodes[*o].parent.expect("only the root has no parent");
            match sums.get_mut(&(*row, parent)) {
                Some(sum) => run.evaluator.add_extended_assign(sum, &moved)?,
                None => {
                    sums.insert((*row, parent), moved);
                }
            }
        }
    }
    let rows: Vec<Option<E::Extended>> = (0..run.schedule.gathered.len()).map(|row| sums.remove(&(row, 0))).collect();
    rows.into_par_iter().map(|sum| sum.map(|sum| run.evaluator.mod_down(sum)).transpose()).collect()
}
