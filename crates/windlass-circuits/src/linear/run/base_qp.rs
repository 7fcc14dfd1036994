//! Sums in base `QP`: double hoisting (Bossuat et al. 2021).
//!
//! `Σ_o θ_o( Σ_i κ'_{oi}·θ_i(v) )` in three phases, with one mod-down at the end.
//!
//! *Inputs*: the tree of inputs is walked level by level, beginning with v. A node from which
//! others hang is decomposed once; each child is an inner product with a key, left in base `QP`.
//!
//! *Products*: inputs are taken in batches, and every sum takes what it needs from a batch in one
//! fused accumulation, so that each constant goes through memory once. Children from which nothing
//! hangs are multiplied while they are made, and never held.
//!
//! *Outputs*: sums are brought to the root of the tree of outputs, deepest level first, each step
//! an automorphism in base `QP`.

use std::collections::{BTreeMap, HashMap};
use std::slice::from_ref;

use rayon::prelude::*;
use windlass_schemes::error::Result;
use windlass_schemes::switching::{MixedRow, Switching};

use super::prepare::TermConstant;
use super::work::{LayoutRun, Products};
use crate::linear::plan::{BATCH, batch_size};

/// How many constants are expanded at a time, where they are held as coefficients.
const EXPANDED: usize = 64;
/// How many inputs are held for them: few, since each takes as much memory as two expanded ones.
const IMAGES: usize = 16;
/// The fewest automorphisms of one decomposition that are worth a fused product.
const FUSED: usize = 3;

/// Sums at work, in the order of the prepared plan.
type Sums<E> = Vec<Option<<E as Switching>::Extended>>;

/// What one sum takes from a batch of inputs.
struct Row {
    /// The place of the sum in [`Sums`].
    sum: usize,
    /// (position of the input in the batch, constant).
    terms: Vec<(usize, TermConstant)>,
}

impl Row {
    /// The numbers of the constants that are expanded on use.
    fn packed(&self) -> impl Iterator<Item = usize> {
        self.terms.iter().filter_map(|&(_, factor)| match factor {
            TermConstant::Packed(number) => Some(number),
            TermConstant::One | TermConstant::Ready(_) => None,
        })
    }
}

/// The outputs of a plan; `None` stands for zero.
pub(super) fn outputs<E: Switching>(
    run: &LayoutRun<'_, E>,
    products: &Products<'_, E::Constant>,
) -> Result<Vec<Option<E::Ciphertext>>> {
    let mut sums: Sums<E> = (0..products.sums.len()).map(|_| None).collect();
    for column in 0..run.inputs.len() {
        let mut column = Column::new(run, products, column);
        let mut level = column.root()?;
        for _ in 0..run.layout.inputs.depth() {
            level = column.descend(level, &mut sums)?;
        }
        column.multiply_pending(&mut sums)?;
    }
    let places = products.sums.iter().map(|sum| (sum.row, sum.output));
    let placed = places.zip(sums).filter_map(|(place, sum)| sum.map(|sum| (place, sum)));
    gather(run, placed.collect())
}

/// One input ciphertext at work.
struct Column<'a, E: Switching> {
    run: &'a LayoutRun<'a, E>,
    products: &'a Products<'a, E::Constant>,
    column: usize,
    /// The nodes from which others hang.
    parents: Vec<bool>,
    /// Those of them from which exactly one hangs.
    links: Vec<bool>,
    /// The inputs that meet a constant which is expanded on use.
    expands: Vec<bool>,
    /// Inputs in base `QP` that wait for their products: (node, input).
    pending: Vec<(usize, E::Extended)>,
}

/// Inputs of one depth from which others hang.
struct Level<E: Switching> {
    hoisted: BTreeMap<usize, E::Hoisted>,
    /// Links of chains, still to be multiplied.
    chained: Vec<(usize, E::Extended)>,
}

impl<E: Switching> Level<E> {
    fn empty() -> Self {
        Self { hoisted: BTreeMap::new(), chained: Vec::new() }
    }
}

impl<'a, E: Switching> Column<'a, E> {
    fn new(run: &'a LayoutRun<'a, E>, products: &'a Products<'a, E::Constant>, column: usize) -> Self {
        let (tree, made) = (&run.layout.inputs, &run.schedule.made[column]);
        let (parents, links) = (tree.parents(made), tree.links(made));
        let mut expands = vec![false; tree.nodes().len()];
        for term in products.sums.iter().flat_map(|sum| &sum.terms).filter(|term| term.column == column) {
            expands[term.input] |= matches!(term.constant, TermConstant::Packed(_));
        }
        Self { run, products, column, parents, links, expands, pending: Vec::new() }
    }

    /// The input ciphertext itself: the root of the tree.
    fn root(&mut self) -> Result<Level<E>> {
        let (evaluator, ciphertext) = (self.run.evaluator, self.run.inputs[self.column]);
        if self.run.schedule.wanted[self.column][0] {
            self.pending.push((0, evaluator.extend(ciphertext)?));
        }
        let mut level = Level::empty();
        if self.parents[0] {
            level.hoisted.insert(0, evaluator.hoist(ciphertext)?);
        }
        Ok(level)
    }

    /// From the inputs of one depth to those of the next.
    fn descend(&mut self, level: Level<E>, sums: &mut Sums<E>) -> Result<Level<E>> {
        let mut next = Level::empty();
        // What hangs from a link of a chain needs no mod-down of the link's first half: giant
        // steps.
        let step = |(parent, image): &(usize, E::Extended)| {
            let child = self.children(*parent)[0];
            let step = self.run.layout.inputs.nodes()[child].step;
            Ok((child, self.run.evaluator.extended_automorphism(image, step)?))
        };
        let moved: Vec<(usize, E::Extended)> = level.chained.par_iter().map(step).collect::<Result<_>>()?;
        self.wait(level.chained.into_iter(), sums)?;
        self.place(moved, &mut next, sums)?;
        // Children of one decomposition: those from which nothing hangs are multiplied as they are
        // made.
        for (&parent, source) in &level.hoisted {
            let children = self.children(parent);
            let (inner, leaves): (Vec<usize>, Vec<usize>) = children.into_iter().partition(|&i| self.parents[i]);
            self.multiply_leaves(source, &leaves, sums)?;
            for batch in inner.chunks(BATCH) {
                let images = self.images(source, batch)?;
                self.place(batch.iter().copied().zip(images).collect(), &mut next, sums)?;
            }
        }
        Ok(next)
    }

    /// The nodes that are made from one.
    fn children(&self, parent: usize) -> Vec<usize> {
        let (nodes, made) = (self.run.layout.inputs.nodes(), &self.run.schedule.made[self.column]);
        (0..nodes.len()).filter(|&i| made[i] && nodes[i].parent == Some(parent)).collect()
    }

    /// Puts images where they are needed next: links are kept, other parents decomposed, and all
    /// that are no links wait for their products.
    fn place(&mut self, images: Vec<(usize, E::Extended)>, next: &mut Level<E>, sums: &mut Sums<E>) -> Result<()> {
        let (kept, rest): (Vec<_>, Vec<_>) = images.into_iter().partition(|(i, _)| self.links[*i]);
        next.chained.extend(kept);
        let evaluator = self.run.evaluator;
        let sources = rest.par_iter().filter(|(i, _)| self.parents[*i]);
        let sources = sources.map(|(i, image)| Ok((*i, evaluator.hoist(&evaluator.mod_down(image.clone())?)?)));
        next.hoisted.extend(sources.collect::<Result<Vec<(usize, E::Hoisted)>>>()?);
        self.wait(rest.into_iter(), sums)
    }

    /// `θ_step` of a decomposed ciphertext for some of its children.
    fn images(&self, source: &E::Hoisted, batch: &[usize]) -> Result<Vec<E::Extended>> {
        let nodes = self.run.layout.inputs.nodes();
        batch.par_iter().map(|&i| self.run.evaluator.hoisted_automorphism(source, nodes[i].step)).collect()
    }

    /// Multiplies children from which nothing hangs.
    ///
    /// A fused product makes them for all sums that it is given. Where constants are expanded on
    /// use that is a sum or two at a time, so that each child would be made again for every sum:
    /// there they are made once and wait.
    fn multiply_leaves(&mut self, source: &E::Hoisted, leaves: &[usize], sums: &mut Sums<E>) -> Result<()> {
        if leaves.len() < FUSED {
            let images = self.images(source, leaves)?;
            return self.wait(leaves.iter().copied().zip(images), sums);
        }
        let nodes = self.run.layout.inputs.nodes();
        for batch in leaves.chunks(batch_size(leaves.len())) {
            if batch.iter().any(|&i| self.expands[i]) {
                for few in batch.chunks(IMAGES) {
                    let images = self.images(source, few)?;
                    self.wait(few.iter().copied().zip(images), sums)?;
                    self.multiply_pending(sums)?;
                }
                continue;
            }
            let rows = self.rows_of(batch);
            if rows.is_empty() {
                continue;
            }
            let steps: Vec<u64> = batch.iter().map(|&i| nodes[i].step).collect();
            let constants = self.constants(&rows, &[]);
            let products = self.run.evaluator.dots_hoisted(from_ref(source), &steps, &constants)?.swap_remove(0);
            self.add_to_sums(&rows, products, sums)?;
        }
        Ok(())
    }

    fn wait(&mut self, inputs: impl Iterator<Item = (usize, E::Extended)>, sums: &mut Sums<E>) -> Result<()> {
        let wanted = &self.run.schedule.wanted[self.column];
        self.pending.extend(inputs.filter(|(i, _)| wanted[*i]));
        if self.pending.len() >= BATCH { self.multiply_pending(sums) } else { Ok(()) }
    }

    /// Multiplies the inputs that wait. Constants that are held as coefficients are expanded for as
    /// many sums at a time as memory allows, at least one.
    fn multiply_pending(&mut self, sums: &mut Sums<E>) -> Result<()> {
        let (batch, inputs): (Vec<usize>, Vec<E::Extended>) = std::mem::take(&mut self.pending).into_iter().unzip();
        let inputs: Vec<&E::Extended> = inputs.iter().collect();
        let rows = self.rows_of(&batch);
        let mut rest = &rows[..];
        while !rest.is_empty() {
            let mut count = 0;
            let fits = |row: &&Row| {
                count += row.packed().count();
                count <= EXPANDED
            };
            let (now, later) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            let numbers: Vec<usize> = now.iter().flat_map(Row::packed).collect();
            let expanded = (self.products.expand)(&numbers)?;
            let products = self.run.evaluator.dot_extended(&inputs, &self.constants(now, &expanded))?;
            self.add_to_sums(now, products, sums)?;
            rest = later;
        }
        Ok(())
    }

    /// What every sum takes from a batch of inputs; sums that take nothing are left out.
    fn rows_of(&self, batch: &[usize]) -> Vec<Row> {
        let position: HashMap<usize, usize> = batch.iter().enumerate().map(|(at, &i)| (i, at)).collect();
        let mut rows = Vec::new();
        for (sum, prepared) in self.products.sums.iter().enumerate() {
            let of_column = prepared.terms.iter().filter(|term| term.column == self.column);
            let terms: Vec<_> =
                of_column.filter_map(|term| Some((*position.get(&term.input)?, term.constant))).collect();
            if !terms.is_empty() {
                rows.push(Row { sum, terms });
            }
        }
        rows
    }

    /// The constants of rows; `expanded` holds those that are expanded on use, in their order.
    fn constants<'c>(&'c self, rows: &[Row], expanded: &'c [E::Constant]) -> Vec<MixedRow<'c, E::Constant>> {
        let mut expanded = expanded.iter();
        let mut constant = |&(at, factor): &(usize, TermConstant)| match factor {
            TermConstant::One => (at, None),
            TermConstant::Ready(number) => (at, Some(&self.products.ready[number])),
            TermConstant::Packed(_) => (at, expanded.next()),
        };
        rows.iter().map(|row| row.terms.iter().map(&mut constant).collect()).collect()
    }

    /// Adds the product of each row to its sum.
    fn add_to_sums(&self, rows: &[Row], products: Vec<E::Extended>, sums: &mut Sums<E>) -> Result<()> {
        for (row, product) in rows.iter().zip(products) {
            match &mut sums[row.sum] {
                Some(sum) => self.run.evaluator.add_extended_assign(sum, &product)?,
                empty => *empty = Some(product),
            }
        }
        Ok(())
    }
}

/// Brings sums at (row, output node) to the root of the output tree, deepest level first, and down
/// to base `Q`.
fn gather<E: Switching>(
    run: &LayoutRun<'_, E>,
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
