//! Sums in base `Q`: plans without double hoisting, and maps that need no automorphism.
//!
//! The three phases are those in base `QP`, with a mod-down after every automorphism. Halevi–Shoup 2018
//! measures this form, and encrypted matrices need it.

use rayon::prelude::*;
use windlass_schemes::error::Result;
use windlass_schemes::switching::{Arithmetic, Switching};

use super::work::{LayoutRun, Products};
use crate::linear::plan::HoistMode;

/// `[column][input node]`: the inputs that are made.
pub(super) type Inputs<E> = Vec<Vec<Option<<E as Arithmetic>::Ciphertext>>>;

/// The outputs of a plan; `None` stands for zero.
pub(super) fn outputs<E: Switching>(
    run: &LayoutRun<'_, E>,
    products: &Products<'_, E::Constant>,
) -> Result<Vec<Option<E::Ciphertext>>> {
    let inputs = run.inputs()?;
    let sums: Vec<E::Ciphertext> = products
        .sums
        .par_iter()
        .map(|sum| {
            let terms = sum.terms.iter().map(|term| {
                let input = inputs[term.column][term.input].as_ref().expect("wanted inputs are made");
                products.multiply(run.evaluator, input, term.constant)
            });
            total(run.evaluator, terms)
        })
        .collect::<Result<_>>()?;
    let places = products.sums.iter().map(|sum| (sum.row, sum.output));
    run.gather(places.zip(sums))
}

/// The sum of one or more ciphertexts.
fn total<E: Switching>(
    evaluator: &E,
    mut products: impl Iterator<Item = Result<E::Ciphertext>>,
) -> Result<E::Ciphertext> {
    let first = products.next().expect("no sum is empty")?;
    products.try_fold(first, |sum, product| evaluator.add(&sum, &product?))
}

impl<E: Switching> LayoutRun<'_, E> {
    /// Makes the inputs in base `Q`. An input that only others are made from is let go after them.
    pub(super) fn inputs(&self) -> Result<Inputs<E>> {
        (0..self.inputs.len()).map(|column| self.inputs_of_column(column)).collect()
    }

    /// The inputs of one ciphertext, level by level of their tree.
    fn inputs_of_column(&self, column: usize) -> Result<Vec<Option<E::Ciphertext>>> {
        let nodes = self.layout.inputs.nodes();
        let (made, wanted) = (&self.schedule.made[column], &self.schedule.wanted[column]);
        let mut inputs: Vec<Option<E::Ciphertext>> = vec![None; nodes.len()];
        inputs[0] = Some(self.inputs[column].clone());
        for level in 1..=self.layout.inputs.depth() {
            let next: Vec<usize> = (0..nodes.len()).filter(|&i| made[i] && nodes[i].depth == level).collect();
            let images = self.images(&inputs, made, level, &next)?;
            next.iter().zip(images).for_each(|(&i, image)| inputs[i] = Some(image));
            let passed = (0..nodes.len()).filter(|&i| nodes[i].depth + 1 == level && !wanted[i]);
            passed.for_each(|i| inputs[i] = None);
        }
        Ok(inputs)
    }

    /// The inputs of one level, each an automorphism of its parent. A parent of several is hoisted
    /// once.
    fn images(
        &self,
        inputs: &[Option<E::Ciphertext>],
        made: &[bool],
        level: usize,
        next: &[usize],
    ) -> Result<Vec<E::Ciphertext>> {
        let (nodes, parents) = (self.layout.inputs.nodes(), self.layout.inputs.parents(made));
        let hoist = |i: usize| match &inputs[i] {
            Some(parent) if self.shares(parents[i] && nodes[i].depth + 1 == level) => {
                self.evaluator.hoist(parent).map(Some)
            }
            _ => Ok(None),
        };
        let hoisted: Vec<Option<E::Hoisted>> = (0..nodes.len()).into_par_iter().map(hoist).collect::<Result<_>>()?;
        let image = |&i: &usize| {
            let parent = nodes[i].parent.expect("only the root has no parent");
            match (&hoisted[parent], &inputs[parent]) {
                (Some(hoisted), _) => {
                    let image = self.evaluator.hoisted_automorphism(hoisted, nodes[i].step)?;
                    self.evaluator.mod_down(image)
                }
                (None, Some(source)) => self.evaluator.automorphism(source, nodes[i].step),
                (None, None) => unreachable!("a level is made after the one above it"),
            }
        };
        next.par_iter().map(image).collect()
    }

    /// Whether a node is hoisted for its children.
    fn shares(&self, parent: bool) -> bool {
        parent && self.mode != HoistMode::Off
    }

    /// Brings sums at (row, output node) to the root of the output tree, deepest level first.
    pub(super) fn gather(
        &self,
        sums: impl Iterator<Item = ((usize, usize), E::Ciphertext)>,
    ) -> Result<Vec<Option<E::Ciphertext>>> {
        let nodes = self.layout.outputs.nodes();
        let mut places: Vec<Vec<Option<E::Ciphertext>>> = vec![vec![None; nodes.len()]; self.schedule.gathered.len()];
        sums.for_each(|((row, output), sum)| places[row][output] = Some(sum));
        for row in &mut places {
            for level in (1..=self.layout.outputs.depth()).rev() {
                let of_level: Vec<usize> =
                    (0..nodes.len()).filter(|&o| nodes[o].depth == level && row[o].is_some()).collect();
                let moved: Vec<E::Ciphertext> = of_level
                    .par_iter()
                    .map(|&o| self.evaluator.automorphism(row[o].as_ref().expect("filtered"), nodes[o].step))
                    .collect::<Result<_>>()?;
                for (&o, moved) in of_level.iter().zip(moved) {
                    let parent = nodes[o].parent.expect("only the root has no parent");
                    row[parent] = Some(match row[parent].take() {
                        Some(sum) => self.evaluator.add(&sum, &moved)?,
                        None => moved,
                    });
                }
            }
        }
        Ok(places.into_iter().map(|mut row| row.swap_remove(0)).collect())
    }
}
