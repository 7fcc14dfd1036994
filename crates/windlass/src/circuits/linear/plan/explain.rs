//! Plans in words.

use std::fmt::{self, Write as _};

use super::choice::Method;
use super::doubling::Addend;
use super::layout::Layout;
use super::linear_plan::LinearPlan;
use super::tree::Tree;
use crate::circuits::linear::map::Plannable;

impl<R: Plannable> LinearPlan<R> {
    /// log2 of the factor by which the noise of a ciphertext grows, key switches aside: the largest
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

    /// The plan in words: factoring, operations, time, capacity used, keys and constants. Times are
    /// in seconds or milliseconds and sizes in bytes where the prices know them
    /// ([`super::CostModel::for_context`], [`super::CostModel::measure`]).
    pub fn explain(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("writing to a string cannot fail");
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let (grid, spec) = (self.grid(), self.spec());
        writeln!(
            text,
            "linear map on {}, {} to {} ciphertexts: {} automorphisms, strategy {} ({}), hoisting {:?}",
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
                    .map(|(step, addend)| match addend {
                        Addend::Sum => format!("w + X^{step}(w)"),
                        Addend::Input => format!("v + X^{step}(w)"),
                    })
                    .collect();
                writeln!(text, "  doubling:  {}", steps.join(", "))?;
            }
        }
        writeln!(text, "  uses:      {}", self.count())?;
        writeln!(text, "  time:      {}", spec.cost.in_words(self.price()))?;
        writeln!(text, "  capacity:  {:.1} bits", self.capacity_bits())?;
        let (keys, constants) = (self.required_keys(), self.constants());
        writeln!(text, "  constants: {constants}{}", in_bytes(constants, spec.cost.constant_bytes))?;
        write!(text, "  keys:      {}{}: {keys:?}", keys.len(), in_bytes(keys.len(), spec.cost.key_bytes))
    }
}

/// What so many things of one size take, if it is known.
fn in_bytes(count: usize, each: Option<u64>) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "gigabytes"), (1e6, "megabytes"), (1e3, "kilobytes")];
    let Some(bytes) = each.map(|each| count as f64 * each as f64) else { return String::new() };
    match UNITS.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!(" of {:.1} {unit} in all", bytes / size),
        None => format!(" of {bytes} bytes in all"),
    }
}

fn write_sums(text: &mut String, layout: &Layout) -> fmt::Result {
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
