//! The page's section on a sum inside an application.

use std::fmt::Write as _;

use super::parameters::{DEGREE, FEATURES, PRIMES, TOP};
use super::results::Results;
use crate::page::{Table, distinct, or_dash};

/// Both ways of summing, the whole and the sum alone.
pub fn section(out: &mut String, results: &Results) {
    let Some(isa) = results.of_part("application").last().map(|r| &*r.of.isa) else { return };
    let heading = ["k, threads", "rotate and add, ms", "planned, ms", "gain", "sums alone, ms", "gain"];
    let mut table = Table::new(heading);
    for k in PRIMES {
        for threads in distinct(results.of_part("application").map(|r| r.threads)) {
            let ms = |what: &str| Some(1e3 * results.seconds("application", (k, TOP), what, isa, threads)?);
            let gain = |slow: Option<f64>, fast: Option<f64>| or_dash(slow.zip(fast).map(|(s, f)| s / f), 2);
            let (whole, planned) = (ms("sequential"), ms("planned"));
            let (sum, planned_sum) = (ms("sequential sum"), ms("planned sum"));
            let alone = format!("{} and {}", or_dash(sum, 1), or_dash(planned_sum, 1));
            table.row([
                format!("{k}, {threads}"),
                or_dash(whole, 1),
                or_dash(planned, 1),
                gain(whole, planned),
                alone,
                gain(sum, planned_sum),
            ]);
        }
    }
    let _ = write!(
        out,
        "\n## A sum inside an application ({isa})\n\n\
         What the paper leaves open: logistic regression of encrypted rows with encrypted weights, as many\n\
         rows of {FEATURES} features as a ciphertext has room for. A product at level {TOP}, the sum of\n\
         {FEATURES} slots, and the polynomial of degree {DEGREE} near 1/(1 + e^-x), by the same engine on the same\n\
         ciphertexts. Once the sum is rotate-and-add, a key switch with its own mod-down for each of seven\n\
         steps; once it is what the planner chooses by its prices: unrolled, each group hoisted, with one\n\
         mod-down for each. Every slot of both answers was checked.\n\n{table}"
    );
}
