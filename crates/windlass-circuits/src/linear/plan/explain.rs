//! Plans in words.

use std::fmt::{self, Write as _};

use windlass_schemes::file_sizes;

use super::choice::Method;
use super::cost::CostModel;
use super::doubling::Addend;
use super::layout::PlanLayout;
use super::linear_plan::LinearPlan;
use super::tree::Tree;
use crate::linear::map::Plannable;

impl<R: Plannable> LinearPlan<R> {
    /// log2 of the growth factor of the noise of a ciphertext, without key switches: the largest
    /// `log2 Σ ‖κ_t‖` over the outputs, ‖·‖ as [`Plannable::norm`] has it. One product with a
    /// constant costs as much.
    ///
    /// Cost: one complex Fourier transform for each constant.
    pub fn capacity_bits(&self) -> f64 {
        let (grid, mut most) = (self.grid(), 1f64);
        for row in 0..grid.rows() {
            let maps = (0..grid.columns()).filter_map(|column| grid.block(row, column));
            let constants = maps.flat_map(|map| map.terms().map(|(_, constant)| constant));
            most = most.max(constants.map(|constant| grid.representation().norm(constant)).sum());
        }
        most.log2()
    }

    /// As [`LinearPlan::explain_at`].
    pub(super) fn in_words(&self, prices: &CostModel) -> String {
        let mut text = String::new();
        self.write(prices, &mut text).expect("writing to a string cannot fail");
        text
    }

    /// The price by another model than that which chose the plan.
    fn price_at(&self, prices: &CostModel) -> f64 {
        let own = &self.spec().cost;
        // What the operations do not account for are constants that are expanded each time.
        let expanded = (self.price() - self.count().price(own)) / own.prepare.max(f64::MIN_POSITIVE);
        self.count().price(prices) + expanded * prices.prepare
    }

    fn write(&self, prices: &CostModel, text: &mut String) -> fmt::Result {
        let (grid, spec) = (self.grid(), self.spec());
        writeln!(
            text,
            "linear map on {}, {} to {} ciphertexts: {} automorphisms, strategy {} ({}), {}",
            grid.representation().describe(),
            grid.columns(),
            grid.rows(),
            grid.support().len(),
            self.strategy(),
            self.strategy().citation(),
            spec.hoisting,
        )?;
        match self.method() {
            Method::Sums { layout, schedule } => {
                write_sums(text, layout)?;
                let products: usize = schedule.sums.values().map(Vec::len).sum();
                writeln!(text, "  sums:      {} of {products} products", schedule.sums.len())?;
            }
            Method::Doubling(doubling) => {
                let steps: Vec<String> = doubling
                    .steps
                    .iter()
                    .map(|step| {
                        let addend = if step.addend == Addend::Sum { "w" } else { "v" };
                        // The first automorphism stands next to what it is of.
                        let moved = step.path.iter().fold("w".into(), |w: String, t| format!("X^{t}({w})"));
                        format!("{addend} + {moved}")
                    })
                    .collect();
                writeln!(text, "  doubling:  {}", steps.join(", "))?;
            }
        }
        writeln!(text, "  uses:      {}", self.count())?;
        writeln!(text, "  time:      {}", prices.in_words(self.price_at(prices)))?;
        writeln!(text, "  capacity:  {:.1} bits", self.capacity_bits())?;
        let (keys, constants) = (self.required_keys(), self.constants());
        writeln!(text, "  constants: {constants}{}", in_bytes(constants, prices.constant_bytes))?;
        write!(text, "  keys:      {}{}: {keys:?}", keys.len(), in_bytes(keys.len(), prices.key_bytes))
    }
}

/// What so many things of one size take, if it is known.
fn in_bytes(count: usize, each: Option<u64>) -> String {
    each.map_or(String::new(), |each| format!(" of {} in all", file_sizes::in_words(count as u64 * each)))
}

fn write_sums(text: &mut String, layout: &PlanLayout) -> fmt::Result {
    for (name, tree) in [("inputs: ", &layout.inputs), ("outputs:", &layout.outputs)] {
        writeln!(text, "  {name}   {} in {} steps: {}", tree.nodes().len(), tree.depth(), steps(tree))?;
    }
    Ok(())
}

/// The automorphisms of a tree, long lists cut short.
fn steps(tree: &Tree) -> String {
    const SHOWN: usize = 8;
    let mut list: Vec<u64> = tree.steps().collect();
    list.sort_unstable();
    list.dedup();
    let shown: Vec<String> = list.iter().take(SHOWN).map(u64::to_string).collect();
    let rest = if list.len() > SHOWN { format!(", .. ({} in all)", list.len()) } else { String::new() };
    format!("X -> X^t for t = {}{rest}", shown.join(", "))
}
