//! Plans in words.

use std::fmt::{self, Write as _};

use windlass_ring::norm;

use super::doubling::Addend;
use super::factoring::Layout;
use super::plan::{LinearPlan, Method};
use super::tree::Tree;

impl LinearPlan {
    /// log2 of the factor by which the noise of a ciphertext grows, key switches aside: the largest `log2 Σ ‖κ_t‖` over the outputs, ‖·‖
    /// the canonical norm of centred coefficients. One product with a constant costs as much.
    ///
    /// Cost: one complex Fourier transform for each constant.
    pub fn capacity_bits(&self) -> f64 {
        let modulus = self.grid.slots().modulus();
        let shape = self.grid.slots().shape();
        let row = |row: usize| {
            let maps = (0..self.grid.columns()).filter_map(|column| self.grid.block(row, column));
            let constants = maps.flat_map(|map| map.terms().map(|(_, constant)| constant));
            let norm = |coefficients: &[u64]| {
                let centred: Vec<i64> = coefficients.iter().map(|&x| modulus.centred(x)).collect();
                norm::canonical_norm(shape, &centred)
            };
            constants.map(|constant| norm(constant.coefficients())).sum::<f64>()
        };
        (0..self.grid.rows()).map(row).fold(1.0, f64::max).log2()
    }

    /// The plan in words: factoring, operations, keys, price (a time in milliseconds, if the prices were measured), capacity used.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("writing to a string cannot fail");
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let slots = self.grid.slots();
        writeln!(
            text,
            "linear map on m = {}, {} slots, {} to {} ciphertexts: {} automorphisms, strategy {}, hoisting {:?}",
            slots.m(),
            slots.slots(),
            self.grid.columns(),
            self.grid.rows(),
            self.grid.support().len(),
            self.strategy(),
            self.spec.hoisting,
        )?;
        match &self.method {
            Method::Sums { layout, schedule } => {
                write_sums(text, layout)?;
                let products: usize = schedule.sums.values().map(Vec::len).sum();
                writeln!(text, "  sums:     {} of {products} products", schedule.sums.len())?;
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
                writeln!(text, "  doubling: {}", steps.join(", "))?;
            }
        }
        writeln!(text, "  uses:     {}", self.count())?;
        writeln!(text, "  time:     {:.2} ({})", self.price(), self.spec.cost.unit())?;
        writeln!(text, "  capacity: {:.1} bits", self.capacity_bits())?;
        write!(text, "  keys:     {:?}", self.required_keys())
    }
}

fn write_sums(text: &mut String, layout: &Layout) -> fmt::Result {
    for (name, tree) in [("inputs: ", &layout.inputs), ("outputs:", &layout.outputs)] {
        writeln!(text, "  {name}  {} in {} steps: {}", tree.nodes().len(), tree.depth(), steps(tree))?;
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
