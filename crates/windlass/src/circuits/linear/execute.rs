//! Running a plan.

use rayon::prelude::*;

use super::factoring::Layout;
use super::plan::{LinearPlan, PreparedPlan};
use super::tree::Node;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::hoisting::Hoisting;

/// How many inputs are held in base `QP` at a time, beside those that others hang from.
const BATCH: usize = 64;

impl LinearPlan {
    /// Evaluates the map on a ciphertext, with constants that [`LinearPlan::prepare`] converted.
    ///
    /// Cost: what [`LinearPlan::count`] says. Errors: [`crate::Error::MissingGaloisKey`], and what the evaluator reports.
    pub fn apply<E: Evaluator>(
        &self,
        prepared: &PreparedPlan<E>,
        evaluator: &E,
        ciphertext: &E::Ciphertext,
    ) -> Result<E::Ciphertext> {
        run(&self.layout, prepared, evaluator, ciphertext)
    }

    /// [`LinearPlan::prepare`] and [`LinearPlan::apply`] at once, for a map that is used a single time.
    pub fn apply_once<E: Evaluator>(&self, evaluator: &E, ciphertext: &E::Ciphertext) -> Result<E::Ciphertext> {
        self.apply(&self.prepare(evaluator)?, evaluator, ciphertext)
    }
}

/// Evaluates a layout with its constants.
pub(crate) fn run<E: Hoisting>(
    layout: &Layout,
    prepared: &PreparedPlan<E>,
    evaluator: &E,
    ciphertext: &E::Ciphertext,
) -> Result<E::Ciphertext> {
    // Refuses before any work is done if a key is missing.
    if let Some(element) = layout.keys().into_iter().find(|&t| !evaluator.has_key(t)) {
        return Err(super::plan::missing_key(element));
    }
    if layout.is_diagonal() {
        return match &prepared.rows[0] {
            row if !row.weighted.is_empty() => evaluator.scale_by(ciphertext, &row.weighted[0].1),
            row if !row.plain.is_empty() => Ok(ciphertext.clone()),
            _ => evaluator.annihilate(ciphertext),
        };
    }
    let mut sums: Vec<Option<E::Extended>> = (0..prepared.rows.len()).map(|_| None).collect();
    take_inputs(layout, prepared, evaluator, ciphertext, &mut sums)?;
    let sum = gather(layout, evaluator, sums)?.expect("a map with automorphisms has a sum");
    evaluator.mod_down(sum)
}

/// Makes the inputs, level by level of their tree and in batches, and adds their products to the rows.
fn take_inputs<E: Hoisting>(
    layout: &Layout,
    prepared: &PreparedPlan<E>,
    evaluator: &E,
    ciphertext: &E::Ciphertext,
    sums: &mut [Option<E::Extended>],
) -> Result<()> {
    let nodes = layout.inputs.nodes();
    let has_children = layout.inputs.has_children();
    let mut hoisted: Vec<Option<E::Hoisted>> = (0..nodes.len()).map(|_| None).collect();
    let wanted = prepared.wanted(nodes.len());
    if has_children[0] {
        hoisted[0] = Some(evaluator.hoist(ciphertext)?);
    }
    if wanted[0] {
        let input = [evaluator.extend(ciphertext)?];
        prepared.accumulate(evaluator, &[0], &input, sums)?;
    }
    for level in 1..=layout.inputs.depth() {
        let of_level: Vec<usize> = (0..nodes.len()).filter(|&i| nodes[i].depth == level).collect();
        for batch in of_level.chunks(BATCH) {
            let inputs = make_inputs(evaluator, nodes, &hoisted, batch)?;
            prepared.accumulate(evaluator, batch, &inputs, sums)?;
            let next: Vec<Option<E::Hoisted>> = batch
                .par_iter()
                .zip(inputs)
                .map(|(&i, input)| match has_children[i] {
                    true => Ok(Some(evaluator.hoist(&evaluator.mod_down(input)?)?)),
                    false => Ok(None),
                })
                .collect::<Result<_>>()?;
            batch.iter().zip(next).for_each(|(&i, next)| hoisted[i] = next);
        }
        (0..nodes.len()).filter(|&i| nodes[i].depth + 1 == level).for_each(|i| hoisted[i] = None);
    }
    Ok(())
}

/// Brings the rows to the root of the output tree, deepest level first.
fn gather<E: Hoisting>(
    layout: &Layout,
    evaluator: &E,
    mut sums: Vec<Option<E::Extended>>,
) -> Result<Option<E::Extended>> {
    let nodes = layout.outputs.nodes();
    for level in (1..=layout.outputs.depth()).rev() {
        let of_level: Vec<(usize, E::Extended)> = (0..nodes.len())
            .filter(|&o| nodes[o].depth == level)
            .filter_map(|o| sums[o].take().map(|sum| (o, sum)))
            .collect();
        let moved: Vec<E::Extended> = of_level
            .par_iter()
            .map(|(o, sum)| evaluator.extended_automorphism(sum, nodes[*o].step))
            .collect::<Result<_>>()?;
        for ((o, _), moved) in of_level.iter().zip(&moved) {
            let parent = nodes[*o].parent.expect("only the root has no parent");
            add_to(evaluator, &mut sums[parent], moved)?;
        }
    }
    Ok(sums.swap_remove(0))
}

impl<E: Hoisting> PreparedPlan<E> {
    /// Which input nodes occur in a row.
    fn wanted(&self, nodes: usize) -> Vec<bool> {
        let mut wanted = vec![false; nodes];
        for row in &self.rows {
            row.weighted.iter().for_each(|(i, _)| wanted[*i] = true);
            row.plain.iter().for_each(|&i| wanted[i] = true);
        }
        wanted
    }

    /// Adds to every row what it takes from a batch of inputs.
    fn accumulate(
        &self,
        evaluator: &E,
        batch: &[usize],
        inputs: &[E::Extended],
        sums: &mut [Option<E::Extended>],
    ) -> Result<()> {
        debug_assert!(batch.is_sorted(), "batches are runs of node numbers");
        let position = |i: usize| batch.binary_search(&i).ok();
        let (mut targets, mut rows) = (Vec::new(), Vec::new());
        for (o, row) in self.rows.iter().enumerate() {
            let products: Vec<(usize, &E::Constant)> =
                row.weighted.iter().filter_map(|(i, constant)| Some((position(*i)?, constant))).collect();
            if !products.is_empty() {
                targets.push(o);
                rows.push(products);
            }
        }
        let products = evaluator.dot_constants_rows(inputs, &rows)?;
        for (&o, product) in targets.iter().zip(&products) {
            add_to(evaluator, &mut sums[o], product)?;
        }
        for (o, row) in self.rows.iter().enumerate() {
            for i in row.plain.iter().filter_map(|&i| position(i)) {
                add_to(evaluator, &mut sums[o], &inputs[i])?;
            }
        }
        Ok(())
    }
}

/// The inputs of one batch, each from its parent's decomposition.
fn make_inputs<E: Hoisting>(
    evaluator: &E,
    nodes: &[Node],
    hoisted: &[Option<E::Hoisted>],
    batch: &[usize],
) -> Result<Vec<E::Extended>> {
    batch
        .par_iter()
        .map(|&i| {
            let parent = nodes[i].parent.expect("only the root has no parent");
            let source = hoisted[parent].as_ref().expect("a level is made after the one above it");
            evaluator.hoisted_automorphism(source, nodes[i].step)
        })
        .collect()
}

/// `sum ← sum + term`.
fn add_to<E: Hoisting>(evaluator: &E, sum: &mut Option<E::Extended>, term: &E::Extended) -> Result<()> {
    match sum {
        Some(sum) => evaluator.add_extended_assign(sum, term),
        None => {
            *sum = Some(term.clone());
            Ok(())
        }
    }
}
