//! The page's section on sums with the paper's log P.

use std::fmt::Write as _;

use super::parameters::{STEPS, long_spec, spec};
use super::results::{GRID, Place, Results};
use crate::page::{Table, or_dash};

/// Sums with as many bits in P as the paper's, beside those with as many as are needed.
pub fn sums(out: &mut String, results: &Results, isa: &str, threads: usize) {
    let mut table = Table::new(["k, l", "log P there and here", "best h", "ms", "over that with our log P"]);
    for (k, l) in GRID {
        let at = |h: usize| Some((h, results.seconds("long", (k, l), &h.to_string(), isa, threads)?));
        let best = (1..=STEPS as usize).filter_map(at).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((h, seconds)) = best else { continue };
        let ours = results.best(Place { k, l, isa, threads }).map(|(_, ours)| seconds / ours);
        let log_p = |bits: Vec<u32>| bits.iter().sum::<u32>();
        let (long, short) = (log_p(long_spec(k).special_prime_bits), log_p(spec(k).special_prime_bits));
        let bits = format!("{long} ({short})");
        table.row([format!("{k}, {l}"), bits, h.to_string(), or_dash(Some(seconds * 1e3), 1), or_dash(ours, 2)]);
    }
    if !table.is_empty() {
        let _ = write!(
            out,
            "\n## Sums with the paper's log P ({isa}, {threads} thread)\n\n\
             P of exactly 60k bits, which for k = 5 and 10 takes 6 and 12 primes of 50 bits (for k = 1 it is\n\
             so above). log Q, n and the digits are the paper's. Primes of 60 bits themselves would take a second\n\
             set of kernels and transforms; what those would gain or lose is under \"Primes of 60 bits\".\n\n{table}"
        );
    }
}
