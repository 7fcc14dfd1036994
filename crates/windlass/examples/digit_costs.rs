//! The costs of digit removal by every method, for the rows of Chen–Han 2018, Table 3.

use windlass::circuits::{ChenHan, DigitMethod, DigitRemoval, DigitSpec, HaleviShoup, LeastDegree, Method, Searched};

fn main() {
    for (p, e, v) in [(2, 8, 7), (2, 11, 5), (2, 16, 8), (2, 21, 13), (5, 6, 3), (17, 4, 2), (31, 3, 1), (127, 3, 1)] {
        let cost = |method| match DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) }) {
            Ok(plan) => format!("{}, {}", plan.products(), plan.depth()),
            Err(_) => "–".to_owned(),
        };
        let methods: [&dyn DigitMethod; 4] = [&HaleviShoup, &ChenHan, &LeastDegree, &Searched];
        println!("| ({p}, {e}, {v}) | {} |", methods.map(|method| cost(Method::Of(method))).join(" | "));
    }
}
