//! The page's section on primes of 60 bits.

use std::fmt::Write as _;

use super::results::Results;
use super::sixty::{DIGITS, by_size, fastest, kibibytes};
use crate::page::{Table, distinct, or_dash};

/// Algorithm 4.1 beside our kernels: Figure 1 of the paper, and inner products of key switches.
pub fn section(out: &mut String, results: &Results, folder: &str) {
    if fastest(results).is_none() {
        return;
    }
    let _ = write!(
        out,
        "\n## Primes of 60 bits\n\n\
         The paper computes modulo primes of 60 bits, with Barrett's reduction in words of 64 bits (Algorithm\n\
         4.1). Windlass has no rows of that size: products modulo primes below 2^50 are exact in pairs of\n\
         doubles or of 52-bit words, on which all of its kernels and transforms rest.\n\
         `windlass_kernels::barrett` is the paper's algorithm, there to be measured: a·b + c on l rows of n\n\
         residues (log n = 10..15, l = 1..15, as in Figure 1), fused and in two passes, and what Windlass\n\
         needs for the same bits of Q in rows of 50, six for five. Every residue was checked before it was\n\
         timed. Nanoseconds for 60 bits of the modulus, by the paper's size of the operands; medians of all n\n\
         and l of a size.\n\n\
         ![Figure 1]({folder}/sixty.svg)\n"
    );
    let sets = distinct(results.of_part("fma60").map(|r| &*r.of.isa));
    for isa in &sets {
        let _ = write!(out, "\n{}", figure_1(results, isa));
    }
    let _ = write!(
        out,
        "\nInner products of key switches, both halves, n = 2^15 and 600 bits: ten rows of 60 bits with one\n\
         Algorithm 4.1 for each digit, twelve of 50 bits with `rows::dot_pairs`, which reduces once for all\n\
         digits. Sums of 60 bits are cleared first, within the time, which flatters 50 bits at one digit.\n\
         Milliseconds, and how many times as fast 50 bits are at the same log Q.\n\n{}",
        inner_products(results, &sets)
    );
}

fn figure_1(results: &Results, isa: &str) -> Table {
    let [separate, fused, ours] = ["separate", "fused", "ours"].map(|what| by_size(results, isa, what));
    let name = format!("KiB ({isa})");
    let heading =
        [&*name, "two passes, ns", "Algorithm 4.1, ns", "fused gains", "50 bits, ns", "times as fast per bit"];
    let mut table = Table::new(heading);
    for ((&(residues, separate), (_, fused)), (_, ours)) in separate.iter().zip(fused).zip(ours) {
        let size = format!("{:.0}", kibibytes(residues));
        let [two, one, own] = [separate, fused, ours].map(|ns| or_dash(Some(ns), 2));
        table.row([size, two, one, or_dash(Some(separate / fused), 2), own, or_dash(Some(fused / ours), 2)]);
    }
    table
}

fn inner_products(results: &Results, sets: &[&str]) -> Table {
    let heading = ["digits".to_owned()].into_iter();
    let columns = |isa: &&str| [format!("60 bits, {isa}"), format!("50 bits, {isa}"), "times as fast".into()];
    let mut table = Table::new(heading.chain(sets.iter().flat_map(columns)));
    for digits in DIGITS {
        let at = |isa: &str, what| {
            results.of_part("dot60").find(|r| (r.of.k as usize, &*r.of.isa, &*r.of.what) == (digits, isa, what))
        };
        let cells = sets.iter().flat_map(|isa| {
            let [wide, ours] = ["fused", "ours"].map(|what| Some(at(isa, what)?.median_s * 1e3));
            [or_dash(wide, 2), or_dash(ours, 2), or_dash(wide.zip(ours).map(|(wide, ours)| wide / ours), 2)]
        });
        table.row(std::iter::once(digits.to_string()).chain(cells));
    }
    table
}
