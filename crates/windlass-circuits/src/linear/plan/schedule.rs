//! Which parts of a layout the blocks of a grid use.

use std::collections::{BTreeMap, BTreeSet};

use super::cost::OperationCount;
use super::layout::PlanLayout;
use super::spec::HoistMode;

/// One product: input node `input` of ciphertext `column` times `θ_o^{-1}(κ_t)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term {
    pub column: usize,
    pub input: usize,
    pub t: u64,
}

/// The work of one layout on one grid.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    /// By (grid row, output node): the products that are summed there. Empty sums are left out.
    pub sums: BTreeMap<(usize, usize), Vec<Term>>,
    /// `[column][input node]`: which are multiplied by a constant.
    pub wanted: Vec<Vec<bool>>,
    /// `[column][input node]`: which are made, because they or others after them are wanted.
    pub made: Vec<Vec<bool>>,
    /// `[row][output node]`: which hold something once all before them are gathered.
    pub gathered: Vec<Vec<bool>>,
}

impl Schedule {
    /// For a grid of (rows, columns) with these automorphisms in its blocks.
    pub(crate) fn new(
        (rows, columns): (usize, usize),
        blocks: &BTreeMap<(usize, usize), BTreeSet<u64>>,
        layout: &PlanLayout,
    ) -> Self {
        let (inputs, outputs) = (layout.inputs.nodes().len(), layout.outputs.nodes().len());
        let mut sums: BTreeMap<(usize, usize), Vec<Term>> = BTreeMap::new();
        let mut wanted = vec![vec![false; inputs]; columns];
        let mut filled = vec![vec![false; outputs]; rows];
        for (&(row, column), block) in blocks {
            for (output, products) in layout.rows.iter().enumerate() {
                for &(input, t) in products.iter().filter(|(_, t)| block.contains(t)) {
                    sums.entry((row, output)).or_default().push(Term { column, input, t });
                    wanted[column][input] = true;
                    filled[row][output] = true;
                }
            }
        }
        let made = wanted.iter().map(|wanted| layout.inputs.reaching(wanted.clone())).collect();
        let gathered = filled.into_iter().map(|filled| layout.outputs.reaching(filled)).collect();
        Self { sums, wanted, made, gathered }
    }

    /// How often each operation is used; `ones` constants are 1 and need no product.
    pub(crate) fn count(&self, layout: &PlanLayout, ones: usize, hoisting: HoistMode) -> OperationCount {
        let marked = |list: &[Vec<bool>]| list.iter().flatten().filter(|&&x| x).count();
        // Without the identity at the root.
        let beyond_root = |list: &[Vec<bool>]| marked(list) - list.iter().filter(|nodes| nodes[0]).count();
        let (inputs, outputs) = (beyond_root(&self.made), beyond_root(&self.gathered));
        let parents: Vec<Vec<bool>> = self.made.iter().map(|made| layout.inputs.parents(made)).collect();
        let links = marked(&self.made.iter().map(|made| layout.inputs.links(made)).collect::<Vec<_>>());
        let products = self.sums.values().map(Vec::len).sum::<usize>() - ones;
        let base_q = hoisting != HoistMode::Double || layout.is_diagonal();
        let common = OperationCount {
            constant_products: products,
            base_q_products: if base_q { products } else { 0 },
            keys: layout.keys().len(),
            ..OperationCount::default()
        };
        let busy_rows = self.gathered.iter().filter(|nodes| nodes[0]).count();
        match hoisting {
            _ if layout.is_diagonal() => common,
            HoistMode::Double => OperationCount {
                hoists: marked(&parents) - links,
                hoisted_automorphisms: inputs - links,
                extended_automorphisms: outputs + links,
                mod_downs: beyond_root(&parents) - links + busy_rows,
                ..common
            },
            HoistMode::Single => OperationCount {
                hoists: marked(&parents),
                hoisted_automorphisms: inputs,
                automorphisms: outputs,
                mod_downs: inputs,
                ..common
            },
            HoistMode::Off => OperationCount { automorphisms: inputs + outputs, ..common },
        }
    }
}
