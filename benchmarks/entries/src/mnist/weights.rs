//! Sums of rows with small public weights.

use rayon::prelude::*;
use windlass::ring::kernels::Modulus;

/// Columns that are taken together: their sums stay in registers.
const COLUMNS: usize = 16;

/// Groups of columns that are gathered together, so that a row is read in pieces of some length.
const GROUPS: usize = 8;

/// Small integers, sorted by their size: rows of one weight are added up first, and multiplied
/// once.
#[derive(Debug)]
pub struct Weights {
    /// For each sum and each magnitude the rows with that weight, and those with its negative.
    sums: Vec<Vec<(i64, Vec<u32>, Vec<u32>)>>,
}

impl Weights {
    /// `[sums][rows]`.
    pub fn new(weights: &[Vec<i64>]) -> Self {
        let of = |row: &Vec<i64>, weight: i64| -> Vec<u32> {
            row.iter().enumerate().filter(|(_, w)| **w == weight).map(|(index, _)| index as u32).collect()
        };
        let magnitudes = |row: &Vec<i64>| {
            let largest = row.iter().map(|w| w.abs()).max().unwrap_or(0);
            (1..=largest).map(|weight| (weight, of(row, weight), of(row, -weight))).collect()
        };
        Self { sums: weights.iter().map(magnitudes).collect() }
    }

    /// Σ_r weight_r·row_r modulo q for each sum: `[sums][n]`, n a multiple of 128. Nothing is
    /// reduced in between: Σ|weight_r|·q must be below 2^63.
    ///
    /// Cost: an addition for each weight that is not zero, and column.
    pub fn apply(&self, q: Modulus, rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let n = rows.first().map_or(0, Vec::len);
        let mut out = vec![vec![0; n]; self.sums.len()];
        let wide = COLUMNS * GROUPS;
        let blocks: Vec<Vec<u64>> =
            (0..n / wide).into_par_iter().map(|block| self.block(q, rows, block * wide)).collect();
        for (block, sums) in blocks.iter().enumerate() {
            for (out, sums) in out.iter_mut().zip(sums.chunks_exact(wide)) {
                out[block * wide..][..wide].copy_from_slice(sums);
            }
        }
        out
    }

    /// All sums over some columns: `[sums][COLUMNS · GROUPS]`.
    fn block(&self, q: Modulus, rows: &[Vec<u64>], start: usize) -> Vec<u64> {
        let mut gathered: [Vec<[u64; COLUMNS]>; GROUPS] = std::array::from_fn(|_| Vec::with_capacity(rows.len()));
        for row in rows {
            let columns = row[start..][..COLUMNS * GROUPS].as_chunks::<COLUMNS>().0;
            gathered.iter_mut().zip(columns).for_each(|(group, columns)| group.push(*columns));
        }
        let mut out = Vec::with_capacity(self.sums.len() * COLUMNS * GROUPS);
        for sum in &self.sums {
            for group in &gathered {
                out.extend(weigh(sum, group).map(|x| q.reduce_i64(x)));
            }
        }
        out
    }
}

/// One sum over sixteen columns.
fn weigh(sum: &[(i64, Vec<u32>, Vec<u32>)], rows: &[[u64; COLUMNS]]) -> [i64; COLUMNS] {
    let mut total = [0i64; COLUMNS];
    for (weight, plus, minus) in sum {
        let mut part = [0u64; COLUMNS];
        for &row in plus {
            let row = &rows[row as usize];
            (0..COLUMNS).for_each(|k| part[k] = part[k].wrapping_add(row[k]));
        }
        for &row in minus {
            let row = &rows[row as usize];
            (0..COLUMNS).for_each(|k| part[k] = part[k].wrapping_sub(row[k]));
        }
        (0..COLUMNS).for_each(|k| total[k] += weight * part[k] as i64);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_schoolbook_arithmetic() {
        let q = Modulus::new((1 << 48) - 59).unwrap();
        let (count, n) = (9, 256);
        let rows: Vec<Vec<u64>> = (0..count as u64)
            .map(|r| (0..n as u64).map(|j| (r * 977 + j).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q.value()).collect())
            .collect();
        let weights = vec![vec![0, 1, -1, 2, -7, 7, 0, 3, -3], vec![0; count], vec![-7; count]];
        let sums = Weights::new(&weights).apply(q, &rows);
        for (weights, sum) in weights.iter().zip(sums) {
            for j in 0..n {
                let exact: i128 = weights.iter().zip(&rows).map(|(&w, row)| i128::from(w) * i128::from(row[j])).sum();
                assert_eq!(i128::from(sum[j]), exact.rem_euclid(i128::from(q.value())));
            }
        }
    }
}
