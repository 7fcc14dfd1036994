//! Slow, obvious versions of the kernels: the oracle of the tests.

use crate::modulus::Modulus;
use crate::ntt::{Axis, Shape};

/// Evaluates powerful-basis coefficients at all points of the shape, axis by axis, by the
/// definition.
///
/// `roots[i]` is the root ω_i of order m_i on axis i.
pub fn forward(shape: &Shape, q: Modulus, roots: &[u64], row: &mut [u64]) {
    for (index, axis) in shape.axes().iter().enumerate() {
        let root = roots[index];
        each_column(shape, index, row, |column| evaluate(axis, q, root, column));
    }
}

/// The inverse of [`forward`]: interpolation, axis by axis.
pub fn inverse(shape: &Shape, q: Modulus, roots: &[u64], row: &mut [u64]) {
    for (index, axis) in shape.axes().iter().enumerate() {
        let root = roots[index];
        each_column(shape, index, row, |column| interpolate(axis, q, root, column));
    }
}

fn each_column(shape: &Shape, index: usize, row: &mut [u64], f: impl Fn(&[u64]) -> Vec<u64>) {
    let dim = shape.axes()[index].dim;
    let inner: usize = shape.axes()[index + 1..].iter().map(|axis| axis.dim).product();
    for start in 0..row.len() / dim {
        let base = start / inner * dim * inner + start % inner;
        let column: Vec<u64> = (0..dim).map(|j| row[base + j * inner]).collect();
        for (j, value) in f(&column).into_iter().enumerate() {
            row[base + j * inner] = value;
        }
    }
}

fn powers(q: Modulus, root: u64, order: u64) -> Vec<u64> {
    std::iter::successors(Some(1), |&power| Some(q.mul(power, root))).take(order as usize).collect()
}

fn evaluate(axis: &Axis, q: Modulus, root: u64, column: &[u64]) -> Vec<u64> {
    let table = powers(q, root, axis.index);
    axis.points
        .iter()
        .map(|&point| {
            let terms = column.iter().enumerate();
            q.reduce_u128(
                terms.map(|(j, &a)| a as u128 * table[(point * j as u64 % axis.index) as usize] as u128).sum(),
            )
        })
        .collect()
}

/// The dual basis of 1, X, .., X^{φ−1} under Σ_points: `a_j = (1/m_i) Σ_u b_u (ω^{−j e_u} −
/// correction)`, where reduction modulo Φ_{ℓ^k}(X) = 1 + Y + .. + Y^{ℓ−1}, Y = X^{ℓ^{k−1}},
/// subtracts the coefficient of the top block.
fn interpolate(axis: &Axis, q: Modulus, root: u64, column: &[u64]) -> Vec<u64> {
    let table = powers(q, root, axis.index);
    let scale = q.inv(q.reduce(axis.index));
    let block = axis.index / axis.prime;
    let coefficient = |j: u64| {
        let sum: u128 = axis
            .points
            .iter()
            .zip(column)
            .map(|(&point, &b)| b as u128 * table[((axis.index - j) * point % axis.index) as usize] as u128)
            .sum();
        q.mul(q.reduce_u128(sum), scale)
    };
    (0..axis.dim as u64).map(|j| q.sub(coefficient(j), coefficient(axis.index - block + j % block))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::isa::Isa;
    use crate::modulus::find_primes;
    use crate::ntt::NttPlan;

    #[test]
    fn reference_transforms_are_inverse_to_each_other() {
        for m in [3, 4, 8, 9, 15, 16, 20, 25, 27, 45, 64, 105, 120] {
            let shape = Arc::new(Shape::new(m).unwrap());
            let q = find_primes(shape.root_order(), 40, 1, &[]).unwrap()[0];
            let plan = NttPlan::new(&shape, q, Isa::Portable).unwrap();
            let row: Vec<u64> = (0..shape.n() as u64).map(|j| q.reduce(j * j * 77 + 5)).collect();
            let roots: Vec<u64> = shape
                .axes()
                .iter()
                .map(|axis| q.root_of_unity(axis.index).expect("the prime has these roots"))
                .collect();
            let mut image = row.clone();
            forward(&shape, q, &roots, &mut image);
            inverse(&shape, q, &roots, &mut image);
            assert_eq!(image, row, "m = {m}");
            // Whatever roots the plan has, its inverse undoes its transform.
            plan.forward(&mut image);
            plan.inverse(&mut image);
            assert_eq!(image, row, "plan for m = {m}");
        }
    }
}
