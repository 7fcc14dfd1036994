//! The costs of digit removal by every method, for the rows of Chen–Han 2018, Table 3.

use windlass::circuits::{ChenHan, DigitRemoval, DigitSpec, HaleviShoup, LeastDegree, Method};

fn main() -> windlass::Result<()> {
    for (p, e, v) in [(2, 11, 5), (2, 21, 13), (5, 6, 3), (17, 4, 2), (31, 3, 1), (127, 3, 1)] {
        let cost = |method| -> windlass::Result<String> {
            let plan = DigitRemoval::new(DigitSpec { method, ..DigitSpec::new(p, e, v) })?;
            Ok(format!("{}, {}", plan.products(), plan.depth()))
        };
        let costs = [Method::Of(&HaleviShoup), Method::Of(&ChenHan), Method::Of(&LeastDegree)].map(cost);
        let [old, new, least] = costs;
        println!("| ({p}, {e}, {v}) | {} | {} | {} |", old?, new?, least?);
    }
    Ok(())
}
