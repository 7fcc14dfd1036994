//! Sums in base `Q`: plans without double hoisting, and maps that need no automorphism.
//!
//! The same three phases as in base `QP`, with a mod-down behind every automorphism: what
//! Halevi–Shoup 2018 measures, and what encrypted matrices need.

use rayon::prelude::*;
use windlass_schemes::error::Result;
use windlass_schemes::switching::{Arithmetic, Switching};

use super::work::{Products, Run};
use crate::linear::plan::HoistMode;

/// `[column][input node]`: the inputs that are made.
pub(super) type Inputs<E> = Vec<Vec<Option<<E as Arithmetic>::Ciphertext>>>;

/// The outputs of a plan; `None` stands for zero.
pub(super) fn outputs<E: Switching>(
    run: &Run<'_, E>,
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

impl<E: Switching> Run<'_, E> {
    /// Makes the inputs in base `Q`, level by level; what only others are made from is let go.
    pub(super) fn inputs(&self) -> Result<Inputs<E>> {
        let nodes = self.layout.inputs.nodes();
        let mut inputs: Inputs<E> = Vec::new();
        for (column, (ciphertext, made)) in self.inputs.iter().zip(&self.schedule.made).enumerate() {
            let wanted = &self.schedule.wanted[column];
            let mut of_column: Vec<Option<E::Ciphertext>> = vec![None; nodes.len()];
            of_column[0] = Some((*ciphertext).clone());
            let parents = self.layout.inputs.parents(made);
            for level in 1..=self.layout.inputs.depth() {
                let hoisted: Vec<Option<E::Hoisted>> = (0..nodes.len())
                    .into_par_iter()
                    .map(|i| match &of_column[i] {
                        Some(parent) if self.shares(parents[i] && nodes[i].depth + 1 == level) => {
                            self.evaluator.hoist(parent).map(Some)
                        }
                        _ => Ok(None),
                    })
                    .collect::<Result<_>>()?;
                let next: Vec<usize> = (0..nodes.len()).filter(|&i| made[i] && nodes[i].depth == level).collect();
                let images = |&i: &usize| {
                    let parent = nodes[i].parent.expect("only the root has no parent");
                    match (&hoisted[parent], &of_column[parent]) {
                        (Some(hoisted), _) => {
                            let image = self.evaluator.hoisted_automorphism(hoisted, nodes[i].step)?;
                            self.evaluator.mod_down(image)
                        }
                        (None, Some(source)) => self.evaluator.automorphism(source, nodes[i].step),
                        (None, None) => unreachable!("a level is made after the one above it"),
                    }
                };
                let images: Vec<E::Ciphertext> = next.par_iter().map(images).collect::<Result<_>>()?;
                next.iter().zip(images).for_each(|(&i, image)| of_column[i] = Some(image));
                let passed = (0..nodes.len()).filter(|&i| nodes[i].depth + 1 == level && !wanted[i]);
                passed.for_each(|i| of_column[i] = None);
            }
            inputs.push(of_column);
        }
        Ok(inputs)
    }

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
