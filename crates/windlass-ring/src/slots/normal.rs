//! Bases of E = GR(p^r; d) with their duals for the trace.

use super::galois::GaloisRing;
use super::prime_power::PrimePower;

impl GaloisRing {
    /// θ with a normal basis, and the θ* dual to it: Tr(θ*·σ^i(θ)) = \[i = 0\].
    pub fn normal_element(&self) -> (Vec<u64>, Vec<u64>) {
        let d = self.degree();
        let prime = self.modulus().prime();
        // Candidates with the base-p digits of 1, 2, .. as coefficients: a good part of all elements
        // is normal.
        for seed in 1u64.. {
            let mut rest = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut next = || {
                rest = rest.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                (rest >> 33) % prime
            };
            let theta: Vec<u64> = (0..d).map(|_| next()).collect();
            let basis: Vec<Vec<u64>> = (0..d).map(|k| self.frobenius(&theta, k)).collect();
            if let Some(mut duals) = self.dual_basis(&basis) {
                return (theta, duals.swap_remove(0));
            }
        }
        unreachable!("every Galois ring has a normal basis")
    }

    /// The basis dual for the trace: Tr(b_i^*·b_j) = \[i = j\]; `None` when the elements are no basis.
    pub fn dual_basis(&self, basis: &[Vec<u64>]) -> Option<Vec<Vec<u64>>> {
        // With b_j = Σ_k B_{jk}·ζ^k and t_k = Tr(b_i^*·ζ^k): Σ_k B_{jk}·t_k = [i = j], so t is column i
        // of B^{−1}.
        let inverse = inverse_matrix(self.modulus(), basis)?;
        let d = basis.len();
        Some((0..d).map(|i| self.from_dual(&(0..d).map(|k| inverse[k][i]).collect::<Vec<u64>>())).collect())
    }
}

/// The inverse of a square matrix modulo p^e by elimination with unit pivots.
fn inverse_matrix(modulus: PrimePower, matrix: &[Vec<u64>]) -> Option<Vec<Vec<u64>>> {
    let d = matrix.len();
    let mut rows: Vec<Vec<u64>> = matrix
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().copied().chain((0..d).map(|j| u64::from(i == j))).collect())
        .collect();
    for column in 0..d {
        let pivot = (column..d).find(|&i| rows[i][column] % modulus.prime() != 0)?;
        rows.swap(column, pivot);
        let inverse = modulus.inv(rows[column][column])?;
        rows[column].iter_mut().for_each(|x| *x = modulus.mul(*x, inverse));
        let top = rows[column].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if i != column && factor != 0 {
                row.iter_mut().zip(&top).for_each(|(x, &y)| *x = modulus.sub(*x, modulus.mul(factor, y)));
            }
        }
    }
    Some(rows.into_iter().map(|row| row[d..].to_vec()).collect())
}
