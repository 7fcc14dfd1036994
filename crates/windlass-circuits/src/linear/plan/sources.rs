//! The constants that a plan multiplies by.

use std::collections::HashMap;

use super::choice::Method;
use super::linear_plan::LinearPlan;
use crate::linear::map::{Plannable, inverse_mod};

/// A constant that a plan multiplies by: `θ_back` of one of the map's, wherever it is used.
pub(crate) struct Source<'a, R: Plannable> {
    pub constant: &'a R::Constant,
    pub back: u64,
    /// The products that it takes part in: (sum, position in the sum).
    pub uses: Vec<(usize, usize)>,
}

impl<R: Plannable> LinearPlan<R> {
    /// How many constants are prepared: those of products, equal ones once.
    pub fn constants(&self) -> usize {
        self.sources().len()
    }

    /// The constants `θ_o^{-1}(κ_t)` that need products, in the order of their first use: input by
    /// input ciphertext, batch by batch, sum by sum. One that the map holds once, and that the same
    /// output takes back, is prepared once.
    pub(in crate::linear) fn sources(&self) -> Vec<Source<'_, R>> {
        let representation = self.grid().representation();
        let (layout, schedule) = match self.method() {
            Method::Sums { layout, schedule } => (layout, schedule),
            Method::Doubling(doubling) => {
                let constant = self.grid().constant(0, 0, 1).expect("doubling has the identity among its terms");
                let source = Source { constant, back: 1, uses: vec![(0, 0)] };
                return if doubling.plain { Vec::new() } else { vec![source] };
            }
        };
        let batches = layout.batches();
        let mut products = Vec::new();
        for (index, (&(row, output), terms)) in schedule.sums.iter().enumerate() {
            let back = inverse_mod(layout.outputs.nodes()[output].element, representation.conductor());
            for (position, term) in terms.iter().enumerate() {
                let constant = self.grid().constant(row, term.column, term.t);
                let constant = constant.expect("the schedule was made from the grid");
                // An automorphism leaves 1 as it is.
                if !representation.is_one(constant) {
                    products.push((term.column, batches[term.input], (index, position), constant, back));
                }
            }
        }
        products.sort_by_key(|&(column, batch, place, ..)| (column, batch, place));
        let mut known: HashMap<(usize, u64), usize> = HashMap::new();
        let mut sources: Vec<Source<'_, R>> = Vec::new();
        for (_, _, place, constant, back) in products {
            let next = sources.len();
            let same = representation.place(constant).map(|address| *known.entry((address, back)).or_insert(next));
            match same.filter(|&same| same < next) {
                Some(same) => sources[same].uses.push(place),
                None => sources.push(Source { constant, back, uses: vec![place] }),
            }
        }
        sources
    }
}
