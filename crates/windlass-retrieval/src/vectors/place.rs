//! The places of the dimensions of a query, and of the numbers of a table, among the coefficients.

use serde::{Deserialize, Serialize};

use crate::setting::N;
use crate::shape::index_bits;

/// How vectors are laid out: `group` dimensions in each row of the table, `rows` rows out of each
/// of `ciphertexts` ciphertexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorLayout {
    /// g, a power of two.
    pub group: usize,
    /// Rows that one ciphertext expands to.
    pub rows: usize,
    /// Ciphertexts of one query.
    pub ciphertexts: usize,
}

impl VectorLayout {
    /// Steps of the expansion.
    pub fn depth(&self) -> u32 {
        index_bits(self.rows)
    }

    /// s = 2^depth: coefficients of one row of the query are that far from each other.
    pub fn stride(&self) -> usize {
        1 << self.depth()
    }

    /// R, the rows of the table.
    pub fn all_rows(&self) -> usize {
        self.rows * self.ciphertexts
    }

    /// Vectors in one column of the table: n/g.
    pub fn vectors(&self) -> usize {
        N / self.group
    }

    /// The coefficient of the score of vector j of a column.
    pub fn output(&self, j: usize) -> usize {
        let stride = self.stride();
        j % stride + j / stride * self.group * stride
    }

    /// The coefficients of a query's ciphertext, from the vector: ciphertext `index` holds
    /// coordinate `(index·rows + r)·g + i` at r + s·i.
    pub fn query(&self, vector: &[i32], index: usize) -> Vec<i64> {
        let mut coefficients = vec![0; N];
        let first = index * self.rows * self.group;
        let own = vector.iter().skip(first).take(self.rows * self.group);
        for (k, &value) in own.enumerate() {
            coefficients[k / self.group + k % self.group * self.stride()] = i64::from(value);
        }
        coefficients
    }

    /// The coefficients of the table at row `row`, from the vectors of one column: the number of
    /// vector j in dimension row·g + i stands at out(j) − s·i, negated where that wraps around.
    pub fn table(&self, vectors: &[i8], dimension: usize, row: usize, coefficients: &mut [i64]) {
        coefficients.fill(0);
        let from = row * self.group;
        let to = (from + self.group).min(dimension);
        for (j, vector) in vectors.chunks_exact(dimension).enumerate() {
            let output = self.output(j);
            for (i, &value) in vector.get(from..to).unwrap_or_default().iter().enumerate() {
                let shift = i * self.stride();
                let value = i64::from(value);
                match output.checked_sub(shift) {
                    Some(place) => coefficients[place] = value,
                    None => coefficients[output + N - shift] = -value,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product in Z[X]/(X^n + 1), at one coefficient.
    fn product_at(a: &[i64], b: &[i64], place: usize) -> i64 {
        (0..N).map(|k| if k <= place { a[k] * b[place - k] } else { -a[k] * b[N + place - k] }).sum()
    }

    /// What the expansion makes of the query's row: Σ_i coefficient[r + s·i]·X^{s·i}.
    fn expanded(layout: &VectorLayout, query: &[i64], r: usize) -> Vec<i64> {
        let mut row = vec![0; N];
        (r..N).step_by(layout.stride()).for_each(|place| row[place - r] = query[place]);
        row
    }

    #[test]
    fn scores_stand_where_they_are_looked_for() {
        for (dimension, group, rows, ciphertexts) in [(5, 1, 5, 1), (11, 2, 3, 2), (16, 8, 1, 2), (70, 16, 5, 1)] {
            let layout = VectorLayout { group, rows, ciphertexts };
            assert!(layout.all_rows() * group >= dimension && group * layout.stride() <= N);
            let vectors: Vec<i8> = (0..layout.vectors() * dimension).map(|k| (k * k % 251) as i8).collect();
            let query: Vec<i32> = (0..dimension).map(|k| 3 * k as i32 - 7).collect();
            let sent: Vec<Vec<i64>> = (0..ciphertexts).map(|index| layout.query(&query, index)).collect();
            let mut table = vec![vec![0; N]; layout.all_rows()];
            table.iter_mut().enumerate().for_each(|(row, out)| layout.table(&vectors, dimension, row, out));
            for j in [0, 1, layout.vectors() / 2 + 1, layout.vectors() - 1] {
                let vector = &vectors[j * dimension..(j + 1) * dimension];
                let wanted: i64 = vector.iter().zip(&query).map(|(&x, &q)| i64::from(x) * i64::from(q)).sum();
                let found: i64 = (0..layout.all_rows())
                    .map(|row| {
                        let own = expanded(&layout, &sent[row / rows], row % rows);
                        product_at(&own, &table[row], layout.output(j))
                    })
                    .sum();
                assert_eq!(found, wanted, "{layout:?} {j}");
            }
        }
    }
}
