//! The fingerprint of a plan, which is the same in every process.

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::choice::Method;
use super::doubling::Addend;
use super::linear_plan::LinearPlan;
use super::tree::Tree;
use crate::linear::map::Plannable;

impl<R: Plannable> LinearPlan<R> {
    /// SHA-256 of the factoring that was chosen and of the constants that it multiplies by, in the
    /// order of their use: what constants in a file are tied to their plan by.
    ///
    /// Planning is deterministic: processes that build the same map in the same way, with the same
    /// specification, get the same fingerprint. A copy of a constant that stands for itself in one
    /// of them and shares memory in the other makes it differ.
    ///
    /// Cost: one pass of SHA-256 through the packed constants, over the current threads.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"windlass linear plan 1\n");
        let grid = self.grid();
        let mut number = |x: usize| hash.update((x as u64).to_le_bytes());
        number(grid.representation().conductor() as usize);
        number(grid.rows());
        number(grid.columns());
        match self.method() {
            Method::Sums { layout, schedule } => {
                number(0);
                tree(&layout.inputs, &mut number);
                tree(&layout.outputs, &mut number);
                for (&(row, output), terms) in &schedule.sums {
                    [row, output, terms.len()].into_iter().for_each(&mut number);
                    terms.iter().for_each(|term| [term.column, term.input].into_iter().for_each(&mut number));
                }
            }
            Method::Doubling(doubling) => {
                number(1);
                for step in &doubling.steps {
                    step.path.iter().for_each(|&t| number(t as usize));
                    number(usize::from(step.addend == Addend::Sum));
                }
            }
        }
        let sources = self.sources();
        let digests: Vec<[u8; 32]> =
            sources.par_iter().map(|source| grid.representation().digest(source.constant)).collect();
        for (source, digest) in sources.iter().zip(digests) {
            hash.update(digest);
            hash.update(source.back.to_le_bytes());
            for &(sum, position) in &source.uses {
                hash.update((sum as u64).to_le_bytes());
                hash.update((position as u64).to_le_bytes());
            }
        }
        hash.finalize().into()
    }
}

/// Which automorphisms are reached, and how.
fn tree(tree: &Tree, number: &mut impl FnMut(usize)) {
    number(tree.nodes().len());
    for node in tree.nodes() {
        number(node.parent.map_or(0, |parent| parent + 1));
        number(node.step as usize);
    }
}
