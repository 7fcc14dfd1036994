//! Scans of tables: sums of products of residues in 32 bits, for a whole table in one pass.
//!
//! A table of R rows and C columns of polynomials is held in evaluation form, centred residues of 32
//! bits, eight at a time: a *block* is eight evaluation points modulo one prime. Within a block the
//! columns stand in pairs, `[pair][row][2]` groups of eight, so that a scan reads the table once
//! from end to end; a query's block, `[row][2]` groups (its two ciphertext parts), is small and
//! stays near the processor while all columns pass.

use crate::isa::Isa;
use crate::lanes::dispatch_u32;
use crate::lanes::u32_lanes::{U32Kernel, U32Lanes, U32Modulus};
use crate::modulus::Modulus;

pub use crate::lanes::u32_lanes::WIDTH;

/// Eight residues of two columns, or of two ciphertext parts.
pub type Two = [[i32; WIDTH]; 2];

/// Sums of one query for a pair of columns: `[column][part]`, canonical.
pub type Sums = [[[u32; WIDTH]; 2]; 2];

/// Largest size in bits of the primes of tables.
pub const MAX_BITS: u32 = U32Modulus::MAX_BITS;

/// A canonical residue as tables hold it: centred.
pub fn table_word(q: Modulus, residue: u64) -> i32 {
    let q = q.value() as i64;
    let x = residue as i64;
    (if x > q / 2 { x - q } else { x }) as i32
}

/// The residue of a word of a table.
pub fn residue_of(q: Modulus, word: i32) -> u64 {
    q.reduce_i64(word as i64)
}

/// A factor that residues of queries carry: the scan divides by it.
pub fn query_factor(q: Modulus) -> u64 {
    (1u64 << 32) % q.value()
}

struct Scan<'a> {
    modulus: U32Modulus,
    rows: usize,
    table: &'a [Two],
    queries: &'a [&'a [Two]],
    out: &'a mut [Sums],
}

impl U32Kernel for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn run<N: U32Lanes>(self, lanes: N) {
        let Self { modulus, rows, table, queries, out } = self;
        let m = &modulus;
        for (pair, out) in table.chunks_exact(rows).zip(out.chunks_exact_mut(queries.len())) {
            for (query, out) in queries.iter().zip(out) {
                let mut sums = [[lanes.zero(); 2]; 2];
                for (pair, query) in pair.chunks(m.terms).zip(query.chunks(m.terms)) {
                    for (columns, parts) in pair.iter().zip(query) {
                        let [x, y] = [lanes.load(&columns[0]), lanes.load(&columns[1])];
                        let [b, a] = [lanes.load(&parts[0]), lanes.load(&parts[1])];
                        sums[0][0] = lanes.add_product(sums[0][0], x, b);
                        sums[0][1] = lanes.add_product(sums[0][1], x, a);
                        sums[1][0] = lanes.add_product(sums[1][0], y, b);
                        sums[1][1] = lanes.add_product(sums[1][1], y, a);
                    }
                    for column in &mut sums {
                        for part in column {
                            *part = lanes.reduce_partly(m, *part);
                        }
                    }
                }
                for column in 0..2 {
                    for part in 0..2 {
                        lanes.store(m, &mut out[column][part], sums[column][part]);
                    }
                }
            }
        }
    }
}

/// For every pair of columns and every query `Σ_row table·query/2^32 mod q`, all of one block.
///
/// `table` is `[pairs][rows]`, each query `[rows]`, `out` `[pairs][queries]`. Words of the table
/// and of the queries are at most (q − 1)/2 in absolute value, as [`table_word`] gives them; those
/// of queries are of residues multiplied by [`query_factor`]. Words beyond that give wrong sums and
/// nothing worse. Cost: one pass through the table; four products for each of its `Two` and query.
pub fn scan(isa: Isa, q: Modulus, rows: usize, table: &[Two], queries: &[&[Two]], out: &mut [Sums]) {
    assert!(rows > 0 && table.len() % rows == 0, "whole columns");
    assert!(queries.iter().all(|query| query.len() == rows), "queries of as many rows as the table");
    assert_eq!(out.len(), table.len() / rows * queries.len(), "a place for every sum");
    if queries.is_empty() {
        return;
    }
    dispatch_u32(isa, Scan { modulus: U32Modulus::new(q), rows, table, queries, out });
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;
    use crate::modulus::find_primes;

    #[test]
    fn sums_are_those_of_the_definition() {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        for (bits, rows, pairs, queries) in [(31, 1, 1, 1), (31, 23, 2, 3), (30, 64, 3, 2), (26, 300, 1, 2)] {
            let q = find_primes(8192, bits, 1, &[]).unwrap()[0];
            let mut two = || -> ([[u64; WIDTH]; 2], Two) {
                let words = [(); 2].map(|()| [(); WIDTH].map(|()| rng.next_u64() % q.value()));
                (words, words.map(|words| words.map(|x| table_word(q, x))))
            };
            let table: Vec<_> = (0..rows * pairs).map(|_| two()).collect();
            let asked: Vec<Vec<_>> = (0..queries).map(|_| (0..rows).map(|_| two()).collect()).collect();
            let words: Vec<Two> = table.iter().map(|(_, words)| *words).collect();
            let held: Vec<Vec<Two>> = asked.iter().map(|rows| rows.iter().map(|(_, words)| *words).collect()).collect();
            let held: Vec<&[Two]> = held.iter().map(Vec::as_slice).collect();
            let divide = q.inv(query_factor(q));
            let expected = |pair: usize, query: usize, column: usize, part: usize, j: usize| {
                let sum = (0..rows).fold(0, |sum, row| {
                    q.add(sum, q.mul(table[pair * rows + row].0[column][j], asked[query][row].0[part][j]))
                });
                q.mul(sum, divide) as u32
            };
            for isa in Isa::available() {
                let mut out = vec![Sums::default(); pairs * queries];
                scan(isa, q, rows, &words, &held, &mut out);
                for (index, sums) in out.iter().enumerate() {
                    for (column, part, j) in (0..2 * 2 * WIDTH).map(|k| (k / 16, k / 8 % 2, k % 8)) {
                        let right = expected(index / queries, index % queries, column, part, j);
                        assert_eq!(sums[column][part][j], right, "{} {bits} bits", isa.name());
                    }
                }
            }
        }
    }

    #[test]
    fn words_are_centred_and_lead_back() {
        let q = find_primes(8192, 30, 1, &[]).unwrap()[0];
        for x in [0, 1, q.value() / 2, q.value() / 2 + 1, q.value() - 1] {
            let word = table_word(q, x);
            assert!(word.unsigned_abs() as u64 <= q.value() / 2);
            assert_eq!(residue_of(q, word), x);
        }
    }
}
