//! Sizes and figures of Algorithm 4.1 on primes of 60 bits, beside primes of 50.

use std::collections::BTreeMap;

use super::results::Results;

/// Bits of the paper's primes.
pub const WIDE_BITS: usize = 60;
/// Bits of ours.
pub const OUR_BITS: usize = 50;
/// Digits of the key switches of the page: k = 10, 5, 1.
pub const DIGITS: [usize; 3] = [1, 2, 10];
/// Rows of 50 bits with at least the bits of l rows of 60.
pub fn rows_of_same_bits(l: usize) -> usize {
    (l * WIDE_BITS).div_ceil(OUR_BITS)
}

/// The fastest instruction set that Figure 1 was taken on.
pub fn fastest(results: &Results) -> Option<&str> {
    results.of_part("fma60").last().map(|r| &*r.of.isa)
}

/// n·l, powers of two alone, and nanoseconds for 60 bits of the modulus: the medians of all n and l.
pub fn by_size(results: &Results, isa: &str, what: &str) -> Vec<(usize, f64)> {
    let mut sizes: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for r in results.of_part("fma60").filter(|r| (&*r.of.isa, &*r.of.what) == (isa, what)) {
        let residues = r.of.l << r.of.k;
        let bits = if what == "ours" { rows_of_same_bits(r.of.l) * OUR_BITS } else { r.of.l * WIDE_BITS };
        if residues.is_power_of_two() {
            let ns = r.median_s * 1e9 / (bits << r.of.k) as f64 * WIDE_BITS as f64;
            sizes.entry(residues).or_default().push(ns);
        }
    }
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    sizes.into_iter().map(|(residues, all)| (residues, median(all))).collect()
}

/// The paper's size of the operands: three arrays of words (and a modulus for each row, which is
/// left out).
pub fn kibibytes(residues: usize) -> f64 {
    (3 * 8 * residues) as f64 / 1024.0
}
