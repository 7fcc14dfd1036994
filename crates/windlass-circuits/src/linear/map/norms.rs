//! Norms of maps on complex slots.
//!
//! The largest row sum of |a| bounds what values become, and the spectral norm what happens to
//! errors that are spread evenly, and to the Euclidean norm of values. The spectral norm is bounded
//! from above: by √(‖A‖_1·‖A‖_∞), and where A has few rows or columns by the powers of its Gram
//! matrix G, λ(G) ≤ ‖G^{2^k}‖_∞^{1/2^k}, which for a unitary matrix is exact.

use num_complex::Complex64;
use windlass_schemes::schemes::ckks::Operator;

use super::complex::ComplexSlots;
use super::grid::LinearGrid;

/// The most rows or columns of a Gram matrix.
const GRAM: usize = 128;

/// The most products that a Gram matrix may take.
const PRODUCTS: usize = 1 << 25;

/// How often a Gram matrix is squared: in 128 dimensions its norm is within 4 % after six times.
const SQUARINGS: u32 = 6;

/// Room for roundings of the norms.
const ROUNDING: f64 = 1e-9;

impl LinearGrid<ComplexSlots> {
    /// What each output is as an operator on all inputs.
    ///
    /// Cost: a few passes over the constants.
    pub(crate) fn operators(&self) -> Vec<Operator> {
        let slots = self.representation().count();
        (0..self.rows()).map(|row| Row { grid: self, row, slots }.operator()).collect()
    }
}

/// The largest sum of the absolute values of a row and a bound on the spectral norm of a matrix
/// `(rows, columns)` by its entries (row, column, value).
pub(crate) fn norms_of_entries((height, width): (usize, usize), entries: &[(usize, usize, Complex64)]) -> (f64, f64) {
    let (mut rows, mut columns) = (vec![0.0f64; height], vec![0.0f64; width]);
    for &(row, column, z) in entries {
        rows[row] += z.norm();
        columns[column] += z.norm();
    }
    let largest = |sums: &[f64]| sums.iter().copied().fold(0.0, f64::max);
    let (row_sum, by_sums) = (largest(&rows), (largest(&rows) * largest(&columns)).sqrt());
    let (small, large) = (height.min(width), height.max(width));
    let mut spectral = by_sums;
    if small <= GRAM && small * small * large <= PRODUCTS {
        let mut matrix = vec![Complex64::ZERO; small * large];
        for &(row, column, z) in entries {
            let (i, k) = if height <= width { (row, column) } else { (column, row) };
            matrix[i * large + k] += z;
        }
        spectral = spectral.min(spectral_norm(&matrix, small, large));
    }
    (row_sum * (1.0 + ROUNDING), spectral * (1.0 + ROUNDING))
}

/// The matrix of one output.
struct Row<'a> {
    grid: &'a LinearGrid<ComplexSlots>,
    row: usize,
    slots: usize,
}

impl Row<'_> {
    /// Does something with each entry: (row, column over all inputs, entry).
    fn each(&self, mut done: impl FnMut(usize, usize, Complex64)) {
        for column in 0..self.grid.columns() {
            let Some(map) = self.grid.block(self.row, column) else { continue };
            for (t, constant) in map.terms() {
                let (amount, _) = self.grid.representation().rotation(t);
                for (j, &z) in constant.iter().enumerate().filter(|(_, z)| **z != Complex64::ZERO) {
                    done(j, column * self.slots + (j + amount) % self.slots, z);
                }
            }
        }
    }

    /// Whether conjugates are taken of what goes in.
    fn conjugates(&self) -> bool {
        let terms = (0..self.grid.columns()).filter_map(|column| self.grid.block(self.row, column));
        let mut elements = terms.flat_map(|map| map.support());
        elements.any(|t| self.grid.representation().rotation(t).1)
    }

    fn operator(&self) -> Operator {
        let mut rows = vec![(0.0f64, 0.0f64); self.slots];
        let mut columns = vec![0.0f64; self.slots * self.grid.columns()];
        self.each(|row, column, z| {
            let size = z.norm();
            rows[row].0 += size;
            rows[row].1 += size * size;
            columns[column] += size;
        });
        let (absolute, squares) = rows.iter().fold((0.0f64, 0.0f64), |(a, b), &(x, y)| (a.max(x), b.max(y)));
        let largest_column = columns.iter().copied().fold(0.0, f64::max);
        let width = |own: &[f64]| own.iter().rposition(|&x| x > 0.0).map_or(0, |at| at + 1);
        let widths = columns.chunks(self.slots).map(width).collect();
        let by_sums = (absolute * largest_column).sqrt();
        let by_powers = self.by_powers(numbers(rows.iter().map(|x| x.0)), numbers(columns.into_iter()));
        let spectral = by_powers.map_or(by_sums, |own| own.min(by_sums)) * (1.0 + ROUNDING);
        let [absolute, euclidean] = [absolute, squares.sqrt()].map(|x| x * (1.0 + ROUNDING));
        Operator { slots: self.slots, absolute, euclidean, spectral, widths }
    }

    /// ‖A‖_2 by powers of A·A* or A*·A, whichever is smaller; none if that is too large.
    fn by_powers(
        &self,
        (rows, rows_used): (Vec<usize>, usize),
        (columns, columns_used): (Vec<usize>, usize),
    ) -> Option<f64> {
        let (small, large) = (rows_used.min(columns_used), rows_used.max(columns_used));
        if small > GRAM || small * small * large > PRODUCTS || self.conjugates() {
            return None;
        }
        // The transpose has the same norm.
        let mut matrix = vec![Complex64::ZERO; small * large];
        self.each(|row, column, z| {
            let (row, column) = (rows[row], columns[column]);
            let (i, k) = if rows_used <= columns_used { (row, column) } else { (column, row) };
            matrix[i * large + k] += z;
        });
        Some(spectral_norm(&matrix, small, large))
    }
}

/// The places that are not zero, numbered in their order, and how many there are.
fn numbers(sizes: impl Iterator<Item = f64>) -> (Vec<usize>, usize) {
    let mut next = 0;
    let number = |size: f64| {
        let own = next;
        next += usize::from(size > 0.0);
        own
    };
    (sizes.map(number).collect(), next)
}

/// Bound on ‖A‖_2 of a matrix `[small][large]`.
fn spectral_norm(matrix: &[Complex64], small: usize, large: usize) -> f64 {
    if small == 0 {
        return 0.0;
    }
    let row = |i: usize| &matrix[i * large..(i + 1) * large];
    let dot = |a: &[Complex64], b: &[Complex64]| a.iter().zip(b).map(|(x, y)| x * y.conj()).sum::<Complex64>();
    let mut gram = vec![Complex64::ZERO; small * small];
    for i in 0..small {
        for k in 0..small {
            gram[i * small + k] = dot(row(i), row(k));
        }
    }
    // log2 λ(G) ≤ (log2 of what was taken out of G^{2^k} + log2 ‖·‖_∞) / 2^k.
    let (mut taken, mut best) = (0.0f64, f64::INFINITY);
    for k in 0..=SQUARINGS {
        let rows = gram.chunks(small).map(|row| row.iter().map(|z| z.norm()).sum::<f64>());
        let norm = rows.fold(0.0, f64::max);
        if !(norm > 0.0 && norm.is_finite()) {
            return if norm == 0.0 { 0.0 } else { f64::INFINITY };
        }
        taken += norm.log2();
        best = best.min(taken / f64::from(1u32 << k));
        gram.iter_mut().for_each(|z| *z /= norm);
        // Hermitian: a product with itself is one with rows for columns.
        let squared = |at: usize| dot(&gram[at / small * small..][..small], &gram[at % small * small..][..small]);
        gram = (0..small * small).map(squared).collect();
        taken *= 2.0;
    }
    (best / 2.0).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::map::ComplexMap;
    use windlass_schemes::schemes::ckks::{CkksContext, CkksSpec};

    fn slots(count: usize) -> ComplexSlots {
        let spec = CkksSpec {
            n: 64,
            scale_bits: 40,
            depth: 1,
            base_prime_bits: vec![50],
            special_prime_bits: vec![50],
            digits: 2,
            secret: windlass_rlwe::SecretDistribution::Ternary,
            assurance: windlass_rlwe::Assurance::Insecure { name: "insecure_norms".into() },
            refresh_levels: Vec::new(),
        };
        ComplexSlots::new(&CkksContext::new(&spec).unwrap(), count).unwrap()
    }

    fn norms(slots: &ComplexSlots, entries: Vec<(usize, usize, f64)>) -> Operator {
        let entries = entries.into_iter().map(|(row, column, x)| (row, column, Complex64::from(x)));
        let map = ComplexMap::sparse_matrix(slots, entries).unwrap();
        LinearGrid::single(&map).operators().swap_remove(0)
    }

    fn close(got: f64, expected: f64, slack: f64) {
        assert!(got >= expected && got <= expected * (1.0 + slack), "{got}, {expected}");
    }

    #[test]
    fn norms_of_known_matrices() {
        let slots = slots(16);
        // A permutation of 11: as diagonals it would be up to 21.
        let permutation = norms(&slots, (0..11).map(|i| (i, 7 * i % 11, 1.0)).collect());
        [permutation.absolute, permutation.euclidean, permutation.spectral]
            .into_iter()
            .for_each(|x| close(x, 1.0, 1e-8));
        assert_eq!(permutation.widths, [11]);
        // A reflection 1 − 2vvᵀ, v = (1, .., 1)/√12.
        let entry = |i: usize, k: usize| f64::from(u8::from(i == k)) - 2.0 / 12.0;
        let all = |f: fn(usize, usize) -> bool, entry: &dyn Fn(usize, usize) -> f64| -> Vec<(usize, usize, f64)> {
            let places = (0..12).flat_map(|i| (0..12).map(move |k| (i, k)));
            places.filter(|&(i, k)| f(i, k)).map(|(i, k)| (i, k, entry(i, k))).collect()
        };
        let reflection = norms(&slots, all(|_, _| true, &entry));
        close(reflection.absolute, 5.0 / 6.0 + 11.0 / 6.0, 1e-8);
        close(reflection.euclidean, 1.0, 1e-8);
        close(reflection.spectral, 1.0, 1e-8);
        // A row, and a column.
        let row = norms(&slots, all(|i, _| i == 0, &|_, _| 0.5));
        close(row.absolute, 6.0, 1e-8);
        close(row.euclidean, 3f64.sqrt(), 1e-8);
        close(row.spectral, 3f64.sqrt(), 1e-8);
        let column = norms(&slots, all(|_, k| k == 3, &|_, _| 0.5));
        close(column.absolute, 0.5, 1e-8);
        close(column.spectral, 3f64.sqrt(), 1e-8);
        assert_eq!(column.widths, [4]);
        // Singular values 3 and 1 and smaller ones.
        let diagonal = norms(&slots, vec![(0, 0, 3.0), (1, 1, -1.0), (2, 2, 0.25)]);
        close(diagonal.spectral, 3.0, 1e-8);
        // No map at all.
        let zero = LinearGrid::zero(&slots, 1, 1).unwrap().operators().swap_remove(0);
        assert_eq!((zero.absolute, zero.euclidean, zero.spectral, zero.widths), (0.0, 0.0, 0.0, vec![0]));
    }

    /// x and its conjugate, each with 1: twice the real part.
    #[test]
    fn conjugates_count_beside() {
        let slots = slots(16);
        let one = vec![Complex64::ONE; 16];
        let map = ComplexMap::from_terms(&slots, [(1, one.clone()), (slots.turn(0, true), one)]).unwrap();
        let known = LinearGrid::single(&map).operators().swap_remove(0);
        close(known.absolute, 2.0, 1e-8);
        close(known.spectral, 2.0, 1e-8);
    }
}
